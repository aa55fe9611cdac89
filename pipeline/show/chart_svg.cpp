#include "pipeline/show/chart_svg.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <set>

#include "kdgat/text.h"
#include "pipeline/show/chart_scale.h"
#include "pipeline/show/markup.h"
#include "pipeline/show/text.h"

namespace kdgat {
namespace {

constexpr double kLetter = 6.2;  // mean width of one, in pixels
constexpr double kLineHeight = 16;
constexpr double kForXTick = 55, kForYTick = 45;  // between two ticks, about
constexpr double kSpanHeight = 5;
constexpr int kDashes = 4, kShapes = 5;

// Blue, vermilion, green, purple, brown, teal, crimson, slate: lightness differs, too.
constexpr std::array<const char*, kColours> kOnLight = {"#0b66b0", "#c85200", "#00805a", "#8e44ad",
                                                        "#7a5c00", "#0090a8", "#c2185b", "#4a5a6a"};
constexpr std::array<const char*, kColours> kOnDark = {"#6cb6ff", "#ff9b57", "#4ad6a0", "#d3a4ee",
                                                       "#d9b84a", "#5fd4e6", "#ff86ae", "#a9b8c6"};

double width_of(const std::string& text) { return chart_text_width(text); }

std::string class_of(const char* kind, int colour) {
  return kind + (colour < 0 ? std::string("x") : std::to_string(colour % kColours));
}

class Picture {
 public:
  /// There is something finite to draw.
  Picture(const Chart& chart, const std::vector<double>& xs, const std::vector<double>& ys)
      : chart_(chart),
        x_scale_(chart.x, xs, static_cast<int>(chart.width / kForXTick), false),
        y_scale_(chart.y, ys, static_cast<int>(chart.height / kForYTick), true) {
    constexpr double kEdge = 10;
    double labels = 0;
    for (const ChartScale::Tick& tick : y_scale_.ticks)
      labels = std::max(labels, width_of(tick.text));
    left_ = labels + 10 + (y_scale_.title.empty() ? 4 : 18);
    double beyond = kEdge + 2;  // room for the label of a tick at the right end
    for (const ChartScale::Tick& tick : x_scale_.ticks) {
      beyond = std::max(beyond, width_of(tick.text) / 2 * (tick.at > 0.95 ? 1 : 0));
    }
    width_ = chart.width - left_ - beyond;
    top_ = kEdge + (chart.stands_alone ? 26 : 0);
    legend();
    const bool is_named = std::any_of(chart.bands.begin(), chart.bands.end(),
                                      [](const ChartBand& band) { return !band.name.empty(); }) ||
                          std::any_of(chart.rules.begin(), chart.rules.end(),
                                      [](const ChartRule& rule) { return !rule.is_short; });
    top_ += (chart.has_markers ? 10 : 4) + (is_named ? 14 : 0);  // a ring reaches beyond the plot
    height_ = chart.height - top_ - 22 - (x_scale_.title.empty() ? 0 : 16);
  }

  std::string draw() {
    const std::string legend = std::exchange(out_, "");
    for (std::size_t i = 0; i < chart_.bands.size(); ++i) draw_band(chart_.bands[i], i % 2 == 0);
    for (const ChartSpan& span : chart_.spans) {
      if (span.is_tint) draw_span(span);
    }
    axes();
    for (const ChartArea& area : chart_.areas) draw_area(area);
    for (const ChartLine& line : chart_.lines) draw_line(line);
    for (const ChartSpan& span : chart_.spans) {
      if (!span.is_tint) draw_span(span);
    }
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
           "\" role=\"img\" aria-label=\"" + name + "\">\n" +
           element("style", chart_style() + "\n@media screen and (prefers-color-scheme:dark){" +
                                chart_style(true) + "}") +
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
    const auto entry = [&](const std::string& whole, const std::string& classes) {
      const std::string name = chart_text_within(whole, width_ - kSample - 5);
      const double needed = kSample + 5 + width_of(name);
      if (is_first || at + needed > left_ + width_) {
        at = left_;
        top_ += kLineHeight;
        is_first = false;
      }
      if (classes.starts_with("tint ") || classes.starts_with("strip ")) {
        rect(at, top_ - 12, kSample, classes.starts_with("strip ") ? kSpanHeight : 9, classes);
      } else {
        line(at, top_ - 8, at + kSample, top_ - 8, classes);
      }
      text(at + kSample + 5, top_ - 4, name);
      const double middle = at + kSample / 2;
      at += needed + kGap;
      return middle;
    };
    for (const ChartLine& one : chart_.lines) {
      if (one.is_in_legend && !one.name.empty() && !one.points.empty()) {
        const double middle = entry(one.name, line_class(one));
        if (has_marker(one)) marker(middle, top_ - 8, one.colour);
      }
    }
    std::set<std::string> said;
    for (const ChartSpan& span : chart_.spans) {
      if (said.insert(span.name).second) entry(span.name, span_class(span));
    }
    for (const ChartRule& rule : chart_.rules) {
      if (rule.is_short && said.insert(rule.name).second) {
        entry(rule.name, class_of("l", rule.colour));
      }
    }
  }

  std::string line_class(const ChartLine& line) const {
    const std::string dashes =
        line.is_dashed     ? " dashed"
        : has_marker(line) ? " p" + std::to_string((line.colour + line.colour / kColours) % kDashes)
                           : "";
    return class_of("l", line.colour) + dashes;
  }
  bool has_marker(const ChartLine& line) const {
    return chart_.has_markers && !line.is_dashed && line.colour >= 0;
  }
  static std::string span_class(const ChartSpan& span) {
    return (span.is_tint ? "tint " : "strip ") + class_of("f", span.colour);
  }

  void rect(double at_x, double at_y, double wide, double high, const std::string& classes,
            const std::string& words = "") {
    out_ += "<rect class=\"" + classes + "\" x=\"" + pixels(at_x) + "\" y=\"" + pixels(at_y) +
            "\" width=\"" + pixels(wide) + "\" height=\"" + pixels(high) + "\"" +
            (words.empty() ? "/>\n" : ">" + element("title", escaped(words)) + "</rect>\n");
  }

  /// A disc, a square, a triangle, a diamond or a triangle upside down.
  void marker(double at_x, double at_y, int colour) {
    constexpr double kSize = 3.4;
    using Corners = std::vector<std::pair<double, double>>;
    static const std::array<Corners, kShapes> shapes = {{{},
                                                         {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}},
                                                         {{0, -1.3}, {1.2, 0.9}, {-1.2, 0.9}},
                                                         {{0, -1.4}, {1.4, 0}, {0, 1.4}, {-1.4, 0}},
                                                         {{0, 1.3}, {1.2, -0.9}, {-1.2, -0.9}}}};
    const std::string classes = "sign " + class_of("f", colour);
    const Corners& corners = shapes[static_cast<std::size_t>(colour) % kShapes];
    if (corners.empty()) return dot(at_x, at_y, kSize, classes);
    std::string points;
    for (const auto& [dx, dy] : corners) {
      points +=
          (points.empty() ? "" : " ") + pixels(at_x + kSize * dx) + "," + pixels(at_y + kSize * dy);
    }
    out_ += "<polygon class=\"" + classes + "\" points=\"" + points + "\"/>\n";
  }

  /// Some markers along a line that is drawn through these places, evenly by its length. Lines of
  /// other colours have theirs elsewhere, so that two which run together are seen to be two.
  void markers(const std::vector<std::pair<double, double>>& places, int colour) {
    constexpr int kSigns = 4;
    double length = 0;
    const auto distance = [&](std::size_t i) {
      const double x = places[i].first - places[i - 1].first;
      const double y = places[i].second - places[i - 1].second;
      return std::sqrt(x * x + y * y);  // hypot would ask for a newer C library
    };
    for (std::size_t i = 1; i < places.size(); ++i) length += distance(i);
    const double step = length / kSigns;
    double next = step * (colour % kColours + 0.5) / kColours, passed = 0;
    for (std::size_t i = 1; i < places.size() && step > 0; ++i) {
      const double here = distance(i);
      for (; here > 0 && next <= passed + here; next += step) {
        const double share = (next - passed) / here;
        marker(places[i - 1].first + share * (places[i].first - places[i - 1].first),
               places[i - 1].second + share * (places[i].second - places[i - 1].second), colour);
      }
      passed += here;
    }
  }

  void draw_span(const ChartSpan& span) {
    constexpr double kLeast = 1.5;  // a shorter one is still to be seen
    const double from = x(span.from);
    const double wide = std::max(kLeast, x(span.to) - from);
    rect(from, top_, wide, span.is_tint ? height_ : kSpanHeight, span_class(span), span.words);
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
    for (const ChartScale::Tick& tick : y_scale_.ticks) {
      const double at = top_ + height_ * (1 - tick.at);
      line(left_, at, left_ + width_, at, "grid");
      text(left_ - 6, at + 4, tick.text, "text-anchor=\"end\"");
    }
    double taken = -1e9;  // where the label before ends
    for (const ChartScale::Tick& tick : x_scale_.ticks) {
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

  /// What a line of many points looks like: of those in one column of the picture, the first and
  /// the last, the lowest and the highest. Nothing that could be seen is left out.
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

  void draw_area(const ChartArea& area) {
    std::string upper, lower;
    for (const ChartArea::Place& place : area.places) {
      if (!x_scale_.has(place.x) || !y_scale_.has(place.low) || !y_scale_.has(place.high)) continue;
      const std::string at = pixels(x(place.x)) + ",";
      upper += at + pixels(y(place.high)) + " ";
      lower.insert(0, at + pixels(y(place.low)) + " ");
    }
    if (upper.empty()) return;
    lower.pop_back();
    out_ += "<polygon class=\"tint " + class_of("f", area.colour) + "\" points=\"" + upper + lower +
            "\"/>\n";
  }

  void draw_line(const ChartLine& line) {
    // Of few lines each answers at many points, of many at few: the words of one take 150 bytes.
    constexpr std::size_t kAnswering = 60, kInAll = 120, kLeast = 8;
    const std::size_t answering =
        std::clamp(kInAll / std::max<std::size_t>(1, chart_.lines.size()), kLeast, kAnswering);
    std::vector<std::pair<double, double>> points;
    for (const auto& point : line.points) {
      if (x_scale_.has(point.first) && y_scale_.has(point.second)) points.push_back(point);
    }
    if (points.empty()) return;
    std::string path;
    Points places;
    for (const auto& [at, value] : thinned(points)) {
      places.emplace_back(x(at), y(value));
      path += (path.empty() ? "M" : "L") + pixels(x(at)) + " " + pixels(y(value));
    }
    out_ += "<path class=\"line " + line_class(line) + "\" d=\"" + path + "\"/>\n";
    if (has_marker(line)) markers(places, line.colour);
    if (points.size() == 1) {
      dot(x(points[0].first), y(points[0].second), 3, class_of("f", line.colour));
    }
    if (line.name.empty() || !line.has_words) return;
    const std::size_t every = (points.size() + answering - 1) / answering;
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
    if (chart_.has_markers) {  // a disc would be one more marker
      dot(x(mark.x), y(mark.y), 6, "ring " + class_of("l", mark.colour), mark.words);
    } else {
      dot(x(mark.x), y(mark.y), 4, "mark " + class_of("f", mark.colour), mark.words);
    }
  }

  const Chart& chart_;
  ChartScale x_scale_, y_scale_;
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
  for (const ChartArea& area : chart.areas) {
    for (const ChartArea::Place& place : area.places) {
      if (!std::isfinite(place.low) || !std::isfinite(place.high)) continue;
      ys.insert(ys.end(), {place.low, place.high});
    }
  }
  if (xs.empty() && !chart.stands_alone) return "";
  if (xs.empty()) xs = ys = {0, 1};
  for (const ChartBand& band : chart.bands) xs.insert(xs.end(), {band.from, band.to});
  return Picture(chart, xs, ys).draw();
}

double chart_text_width(const std::string& text) {
  return kLetter * static_cast<double>(text_width(text));
}

std::string chart_text_within(const std::string& text, double width) {
  const auto most = static_cast<std::size_t>(std::max(1.0, width / kLetter));
  if (text_width(text) <= most) return text;
  std::string out;
  std::size_t letters = 0;
  for (const char c : text) {
    const bool begins = (c & 0xC0) != 0x80;  // else it continues a letter of UTF-8
    if (begins && ++letters == most) break;
    out += c;
  }
  return out + "…";
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
                    "}.chart .dashed{stroke-dasharray:6 4}.chart .p1{stroke-dasharray:9 3}"
                    ".chart .p2{stroke-dasharray:2 3}.chart .p3{stroke-dasharray:9 3 2 3}"
                    ".chart .tint{fill-opacity:.2}.chart .pale{fill-opacity:.35}"
                    ".chart .ring{fill-opacity:0;stroke-width:2.2}"
                    ".chart .whisker{stroke-width:1.5;stroke:" +
                    ink +
                    "}.chart .fine{stroke-width:1}"
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
