#include "pipeline/show/chart_svg.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <set>

#include "kdgat/text.h"
#include "pipeline/show/markup.h"
#include "pipeline/show/text.h"

namespace kdgat {
namespace {

constexpr double kLetter = 6.2;  // mean width of one, in pixels
constexpr double kLineHeight = 16;
constexpr double kForXTick = 55, kForYTick = 45;  // between two ticks, about
constexpr double kMiB = 1 << 20, kGiB = 1 << 30;

// Blue, vermilion, green, purple, brown, teal, crimson, slate: lightness differs, too.
constexpr std::array<const char*, kColours> kOnLight = {"#0b66b0", "#c85200", "#00805a", "#8e44ad",
                                                        "#7a5c00", "#0090a8", "#c2185b", "#4a5a6a"};
constexpr std::array<const char*, kColours> kOnDark = {"#6cb6ff", "#ff9b57", "#4ad6a0", "#d3a4ee",
                                                       "#d9b84a", "#5fd4e6", "#ff86ae", "#a9b8c6"};

double width_of(const std::string& text) { return kLetter * static_cast<double>(text_width(text)); }

std::string class_of(const char* kind, int colour) {
  return kind + (colour < 0 ? std::string("x") : std::to_string(colour % kColours));
}

/// The distance between ticks, of 1, 2 or 5 times a power of ten, for about `wanted` of them.
double tick_step(double range, int wanted) {
  const double rough = range / wanted;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double step : {1.0, 2.0, 5.0}) {
    if (rough <= step * power * (1 + 1e-9)) return step * power;
  }
  return 10 * power;
}

/// Where values stand on an axis, and its ticks.
class Scale {
 public:
  struct Tick {
    double at = 0;  ///< 0 .. 1
    std::string text;
  };

  /// About `wanted` ticks. `is_rounded`: the ends go to round numbers. `values` are finite and not
  /// none.
  Scale(const Axis& axis, const std::vector<double>& values, int wanted, bool is_rounded)
      : axis_(axis) {
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    low_ = axis.from.value_or(*least);
    high_ = axis.to.value_or(*most);
    is_log_ = low_ > 0 && (axis.scale == Axis::Scale::kLog ||
                           (axis.scale == Axis::Scale::kByValues && high_ / kWideSpan > low_));
    title = axis.title;
    if (is_log_) {
      by_powers();
    } else {
      evenly(wanted, is_rounded);
    }
  }

  /// 0 at the low end, 1 at the high one.
  double at(double value) const {
    const double share =
        is_log_ ? (std::log(value) - std::log(low_)) / (std::log(high_) - std::log(low_))
                : (value - low_) / (high_ - low_);
    return std::clamp(share, -0.01, 1.01);
  }
  bool has(double value) const { return std::isfinite(value) && (!is_log_ || value > 0); }

  /// A value in words.
  std::string words(double value) const {
    if (axis_.ticks == Axis::Ticks::kBytes) {
      return format_bytes(static_cast<uint64_t>(std::max(0.0, value)));
    }
    return short_number(value);
  }

  std::vector<Tick> ticks;
  std::string title;

 private:
  void evenly(int wanted, bool is_rounded) {
    const bool is_bytes = axis_.ticks == Axis::Ticks::kBytes;
    const bool is_whole = axis_.ticks == Axis::Ticks::kWhole;
    if (!axis_.from && is_rounded && low_ > 0 && low_ < 0.6 * high_) low_ = 0;
    if (is_bytes) low_ = 0;
    if (!(high_ > low_)) {
      const double some = is_whole ? 0.5 : std::max(std::abs(low_) * 0.1, is_bytes ? kMiB : 1e-3);
      if (!is_bytes && !axis_.from) low_ -= some;
      if (!axis_.to || !(high_ > low_)) high_ += some;
    }
    const double unit = !is_bytes ? 1 : high_ >= 2 * kGiB ? kGiB : kMiB;
    if (is_bytes) title += (title.empty() ? "" : ", ") + std::string(unit == kGiB ? "GiB" : "MiB");
    double step = tick_step((high_ - low_) / unit, wanted) * unit;
    if (is_whole) step = std::max(1.0, std::round(step));
    if (is_rounded) {
      if (!axis_.from) low_ = std::floor(low_ / step + 1e-9) * step;
      if (!axis_.to) high_ = std::ceil(high_ / step - 1e-9) * step;
    }
    const auto first = static_cast<int64_t>(std::ceil(low_ / step - 1e-9));
    const auto last = static_cast<int64_t>(std::floor(high_ / step + 1e-9));
    for (int64_t k = first; k <= last; ++k) {
      const double value = static_cast<double>(k) * step;
      ticks.push_back({at(value), short_number(value / unit)});
    }
  }

  void by_powers() {
    constexpr double kMostDecades = 6, kFewDecades = 2;
    const auto power = [](double value) { return std::pow(10, std::floor(std::log10(value))); };
    const double least = low_, most = high_;
    low_ = power(least);
    for (const double step : {2.0, 5.0}) {
      if (!axis_.from && step * power(least) <= least) low_ = step * power(least);
    }
    high_ = 10 * power(most);
    for (const double step : {5.0, 2.0, 1.0}) {
      if (!axis_.to && step * power(most) >= most) high_ = step * power(most);
    }
    if (axis_.from) low_ = least;
    if (axis_.to) high_ = most;
    const double decades = std::log10(high_) - std::log10(low_);
    const int every = std::max(1, static_cast<int>(std::ceil(decades / kMostDecades)));
    const auto exponent = [](double value) {
      return static_cast<int>(std::floor(std::log10(value)));
    };
    const int first = exponent(low_), last = exponent(high_ * (1 + 1e-9));
    for (int k = first; k <= last; ++k) {
      for (const double step : {1.0, 2.0, 5.0}) {
        const double value = step * std::pow(10, k);
        const bool is_wanted = step == 1 ? (k - first) % every == 0 : decades <= kFewDecades;
        if (!is_wanted || value < low_ * (1 - 1e-9) || value > high_ * (1 + 1e-9)) continue;
        ticks.push_back({at(value), short_number(value)});
      }
    }
    title += (title.empty() ? "" : ", ") + std::string("logarithmic");
  }

  const Axis& axis_;
  double low_ = 0, high_ = 1;
  bool is_log_ = false;
};

class Picture {
 public:
  /// There is something finite to draw.
  Picture(const Chart& chart, const std::vector<double>& xs, const std::vector<double>& ys)
      : chart_(chart),
        x_scale_(chart.x, xs, static_cast<int>(chart.width / kForXTick), false),
        y_scale_(chart.y, ys, static_cast<int>(chart.height / kForYTick), true) {
    constexpr double kEdge = 10;
    double labels = 0;
    for (const Scale::Tick& tick : y_scale_.ticks) labels = std::max(labels, width_of(tick.text));
    left_ = labels + 10 + (y_scale_.title.empty() ? 4 : 18);
    width_ = chart.width - left_ - kEdge - 2;
    top_ = kEdge + (chart.stands_alone ? 26 : 0);
    legend();
    const bool is_named = std::any_of(chart.bands.begin(), chart.bands.end(),
                                      [](const ChartBand& band) { return !band.name.empty(); }) ||
                          std::any_of(chart.rules.begin(), chart.rules.end(),
                                      [](const ChartRule& rule) { return !rule.is_short; });
    top_ += 4 + (is_named ? 14 : 0);
    height_ = chart.height - top_ - 22 - (x_scale_.title.empty() ? 0 : 16);
  }

  std::string draw() {
    const std::string legend = std::exchange(out_, "");
    for (std::size_t i = 0; i < chart_.bands.size(); ++i) draw_band(chart_.bands[i], i % 2 == 0);
    axes();
    for (const ChartLine& line : chart_.lines) draw_line(line);
    for (const ChartRule& rule : chart_.rules) draw_rule(rule);
    for (const ChartMark& mark : chart_.marks) draw_mark(mark);
    return opening() + legend + out_ + "</svg>\n";
  }

 private:
  double x(double value) const { return left_ + width_ * x_scale_.at(value); }
  double y(double value) const { return top_ + height_ * (1 - y_scale_.at(value)); }

  std::string opening() const {
    const std::string size = "viewBox=\"0 0 " + format_number("%g", chart_.width) + " " +
                             format_number("%g", chart_.height) + "\"";
    const std::string name = escaped(chart_.title);
    if (!chart_.stands_alone) {
      return "<svg class=\"chart\" " + size + " role=\"img\" aria-label=\"" + name + "\">\n";
    }
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" " + size + " width=\"" +
           format_number("%g", chart_.width) + "\" height=\"" + format_number("%g", chart_.height) +
           "\" role=\"img\" aria-label=\"" + name + "\">\n" + element("style", chart_style()) +
           "\n<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n<text x=\"" + pixels(left_) +
           "\" y=\"24\" style=\"font-size:16px;font-weight:bold\">" + name + "</text>\n";
  }

  void text(double at_x, double at_y, const std::string& words, const std::string& more = "") {
    out_ += "<text x=\"" + pixels(at_x) + "\" y=\"" + pixels(at_y) + "\"" +
            (more.empty() ? "" : " " + more) + ">" + escaped(words) + "</text>\n";
  }
  void line(double x1, double y1, double x2, double y2, const std::string& classes) {
    out_ += "<path class=\"" + classes + "\" d=\"M" + pixels(x1) + " " + pixels(y1) + "L" +
            pixels(x2) + " " + pixels(y2) + "\"/>\n";
  }
  void dot(double at_x, double at_y, double radius, const std::string& classes,
           const std::string& words = "") {
    out_ += "<circle class=\"" + classes + "\" cx=\"" + pixels(at_x) + "\" cy=\"" + pixels(at_y) +
            "\" r=\"" + format_number("%g", radius) + "\"" +
            (words.empty() ? "/>\n" : ">" + element("title", escaped(words)) + "</circle>\n");
  }

  /// Only what is drawn has a place in it; rows as wide as the plot.
  void legend() {
    constexpr double kSample = 20, kGap = 14;
    double at = left_;
    bool is_first = true;
    const auto entry = [&](const std::string& name, const std::string& classes) {
      const double needed = kSample + 5 + width_of(name);
      if (is_first || at + needed > left_ + width_) {
        at = left_;
        top_ += kLineHeight;
        is_first = false;
      }
      line(at, top_ - 8, at + kSample, top_ - 8, classes);
      text(at + kSample + 5, top_ - 4, name);
      at += needed + kGap;
    };
    for (const ChartLine& one : chart_.lines) {
      if (one.is_in_legend && !one.name.empty() && !one.points.empty()) {
        entry(one.name, line_class(one));
      }
    }
    std::set<std::string> said;
    for (const ChartRule& rule : chart_.rules) {
      if (rule.is_short && said.insert(rule.name).second) {
        entry(rule.name, class_of("l", rule.colour));
      }
    }
  }

  static std::string line_class(const ChartLine& line) {
    return class_of("l", line.colour) + (line.is_dashed ? " dashed" : "");
  }

  void draw_band(const ChartBand& band, bool is_tinted) {
    const double from = x(band.from), wide = x(band.to) - from;
    out_ += "<rect class=\"" + std::string(is_tinted ? "band" : "paper") + "\" x=\"" +
            pixels(from) + "\" y=\"" + pixels(top_) + "\" width=\"" + pixels(wide) +
            "\" height=\"" + pixels(height_) + "\">" + element("title", escaped(band.words)) +
            "</rect>\n";
    // A name that does not fit would lie on that of its neighbour.
    if (!band.name.empty() && wide > width_of(band.name)) {
      text(from + wide / 2, top_ - 5, band.name, "class=\"muted\" text-anchor=\"middle\"");
    }
  }

  void axes() {
    const double base = top_ + height_;
    for (const Scale::Tick& tick : y_scale_.ticks) {
      const double at = top_ + height_ * (1 - tick.at);
      line(left_, at, left_ + width_, at, "grid");
      text(left_ - 6, at + 4, tick.text, "text-anchor=\"end\"");
    }
    double taken = -1e9;  // where the label before ends
    for (const Scale::Tick& tick : x_scale_.ticks) {
      const double at = left_ + width_ * tick.at, half = width_of(tick.text) / 2;
      line(at, base, at, base + 4, "axis");
      if (at - half < taken + 4) continue;
      text(at, base + 16, tick.text, "text-anchor=\"middle\"");
      taken = at + half;
    }
    line(left_, base, left_ + width_, base, "axis");
    if (!x_scale_.title.empty()) {
      text(left_ + width_ / 2, base + 32, x_scale_.title, "class=\"muted\" text-anchor=\"middle\"");
    }
    if (!y_scale_.title.empty()) {
      const std::string middle = pixels(top_ + height_ / 2);
      text(12, top_ + height_ / 2, y_scale_.title,
           "class=\"muted\" text-anchor=\"middle\" transform=\"rotate(-90 12 " + middle + ")\"");
    }
  }

  using Points = std::vector<std::pair<double, double>>;

  /// What a line of many points looks like: of those in one column of the picture, the first and the
  /// last, the lowest and the highest. Nothing that could be seen is left out.
  Points thinned(const Points& points) const {
    constexpr std::size_t kOfAColumn = 4;
    const auto column = [&](std::size_t i) { return std::floor(x(points[i].first)); };
    const auto is_lower = [](const auto& a, const auto& b) { return a.second < b.second; };
    Points out;
    for (std::size_t first = 0, end = 0; first < points.size(); first = end) {
      while (end < points.size() && column(end) == column(first)) ++end;
      const auto from = points.begin() + static_cast<std::ptrdiff_t>(first);
      const auto to = points.begin() + static_cast<std::ptrdiff_t>(end);
      if (end - first <= kOfAColumn) {
        out.insert(out.end(), from, to);
        continue;
      }
      const auto [low, high] = std::minmax_element(from, to, is_lower);
      std::array<Points::const_iterator, kOfAColumn> kept = {from, low, high, to - 1};
      std::sort(kept.begin(), kept.end());
      const auto last = std::unique(kept.begin(), kept.end());
      for (auto point = kept.begin(); point != last; ++point) out.push_back(**point);
    }
    return out;
  }

  void draw_line(const ChartLine& line) {
    constexpr std::size_t kAnswering = 60;
    std::vector<std::pair<double, double>> points;
    for (const auto& point : line.points) {
      if (x_scale_.has(point.first) && y_scale_.has(point.second)) points.push_back(point);
    }
    if (points.empty()) return;
    std::string path;
    for (const auto& [at, value] : thinned(points)) {
      path += (path.empty() ? "M" : "L") + pixels(x(at)) + " " + pixels(y(value));
    }
    out_ += "<path class=\"line " + line_class(line) + "\" d=\"" + path + "\"/>\n";
    if (points.size() == 1) {
      dot(x(points[0].first), y(points[0].second), 3, class_of("f", line.colour));
    }
    if (line.name.empty()) return;
    const std::size_t every = (points.size() + kAnswering - 1) / kAnswering;
    for (std::size_t i = 0; i < points.size(); i += every) {
      const auto& [at, value] = points[i];
      dot(x(at), y(value), 5, "hit " + class_of("f", line.colour),
          line.name + ": " + y_scale_.words(value) + " at " + x_scale_.words(at) +
              (chart_.x.title.empty() ? "" : " (" + chart_.x.title + ")"));
    }
  }

  void draw_rule(const ChartRule& rule) {
    if (!x_scale_.has(rule.x)) return;
    const double at = x(rule.x), base = top_ + height_;
    if (rule.is_short) return line(at, base, at, base - 10, class_of("l", rule.colour));
    line(at, top_, at, base, class_of("l", rule.colour) + " fine dashed");
    const double half = width_of(rule.name) / 2;
    text(std::clamp(at, left_ + half, left_ + width_ - half), top_ - 4, rule.name,
         "class=\"muted\" text-anchor=\"middle\"");
  }

  void draw_mark(const ChartMark& mark) {
    if (!x_scale_.has(mark.x) || !y_scale_.has(mark.y)) return;
    dot(x(mark.x), y(mark.y), 4, "mark " + class_of("f", mark.colour), mark.words);
  }

  const Chart& chart_;
  Scale x_scale_, y_scale_;
  double left_ = 0, top_ = 0, width_ = 0, height_ = 0;
  std::string out_;
};

}  // namespace

std::string chart_svg(const Chart& chart) {
  std::vector<double> xs, ys;
  for (const ChartLine& line : chart.lines) {
    for (const auto& [x, y] : line.points) {
      if (!std::isfinite(x) || !std::isfinite(y)) continue;
      xs.push_back(x);
      ys.push_back(y);
    }
  }
  if (xs.empty() && !chart.stands_alone) return "";
  if (xs.empty()) xs = ys = {0, 1};
  for (const ChartBand& band : chart.bands) xs.insert(xs.end(), {band.from, band.to});
  return Picture(chart, xs, ys).draw();
}

std::string fill_class(int colour) { return class_of("f", colour); }

std::string chart_style(bool is_dark) {
  const auto& palette = is_dark ? kOnDark : kOnLight;
  const char* ink = is_dark ? "#e8eaed" : "#1b2026";
  const char* muted = is_dark ? "#a5aeb8" : "#56616d";
  std::string out = ".chart{font:11px system-ui,sans-serif}.chart text{fill:" + std::string(ink) +
                    "}.chart text.muted{fill:" + muted +
                    "}.chart path{fill:none;stroke-width:1.8;stroke-linejoin:round}"
                    ".chart .grid{stroke-width:1;stroke:" +
                    (is_dark ? "#343b44" : "#dde2e8") +
                    "}.chart .axis{stroke-width:1;stroke:" + muted +
                    "}.chart .paper{fill:" + (is_dark ? "#15191f" : "#fff") +
                    "}.chart .band{fill:" + (is_dark ? "#1d232b" : "#f1f4f8") +
                    "}.chart .dashed{stroke-dasharray:6 4}.chart .fine{stroke-width:1}"
                    ".chart .mark{stroke:" +
                    (is_dark ? "#15191f" : "#fff") +
                    ";stroke-width:1.5}.chart .hit{fill-opacity:0}.chart .hit:hover{fill-opacity:1}"
                    ".lx{stroke:" +
                    muted + "}.fx{fill:" + muted + "}";
  for (int i = 0; i < kColours; ++i) {
    const char* colour = palette[static_cast<std::size_t>(i)];
    out +=
        "." + class_of("l", i) + "{stroke:" + colour + "}." + class_of("f", i) + "{fill:" + colour;
    out += "}";
  }
  return out;
}

}  // namespace kdgat
