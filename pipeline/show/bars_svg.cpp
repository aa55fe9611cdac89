#include "pipeline/show/bars_svg.h"

#include <algorithm>
#include <cmath>

#include "kdgat/text.h"
#include "pipeline/show/chart_scale.h"
#include "pipeline/show/markup.h"

namespace kdgat {
namespace {

constexpr double kBarRow = 22, kBarHeight = 13, kBarGap = 8, kAboveBars = 6, kBelowBars = 40;
constexpr double kMoreRow = 14, kMoreHeight = 10;  // where several bars have one name
constexpr double kLegendRow = 16, kSampleWidth = 14;

std::string attribute(const char* name, double value) {
  return std::string(" ") + name + "=\"" + pixels(value) + "\"";
}

std::string line_between(double x1, double y1, double x2, double y2, const char* classes) {
  return "<path class=\"" + std::string(classes) + "\" d=\"M" + pixels(x1) + " " + pixels(y1) +
         "L" + pixels(x2) + " " + pixels(y2) + "\"/>\n";
}

std::string text_at(double x, double y, const std::string& words, const char* more) {
  return "<text" + attribute("x", x) + attribute("y", y) + " " + more + ">" + escaped(words) +
         "</text>\n";
}

std::string box(const std::string& classes, double x, double y, double width, double height) {
  return "<rect class=\"" + classes + "\"" + attribute("x", x) + attribute("y", y) +
         attribute("width", width) + attribute("height", height);
}

/// A chart of at least one bar while it is drawn.
class BarPicture {
 public:
  BarPicture(const BarChart& chart, std::vector<Bar> bars)
      : chart_(chart),
        bars_(std::move(bars)),
        axis_{.title = chart.axis, .from = chart.from, .to = chart.to},
        scale_(axis_, values(), 4, !chart.from || !chart.to) {
    double names = 0, numbers = 0;
    for (const Bar& bar : bars_) {
      names = std::max(names, chart_text_width(bar.name));
      numbers = std::max(numbers, chart_text_width(number(bar)));
    }
    left_ = std::min(names, chart.width / 2) + kBarGap;
    width_ = chart.width - left_ - numbers - kBarGap;
    has_more_ = std::any_of(bars_.begin(), bars_.end(), [](const Bar& bar) { return bar.is_more; });
  }

  std::string draw() {
    legend();
    const double top = at_;
    for (std::size_t i = 0; i < bars_.size(); ++i) draw_bar(bars_[i], i == 0);
    const std::string bars = std::exchange(out_, "");
    const double base = at_;
    for (const ChartScale::Tick& tick : scale_.ticks) {
      const double at = left_ + width_ * tick.at;
      out_ += line_between(at, top, at, base, "grid");
      out_ += text_at(at, base + 15, tick.text, "text-anchor=\"middle\"");
    }
    out_ += bars;
    if (x(0) > left_) out_ += line_between(x(0), top, x(0), base, "axis");
    out_ += line_between(left_, base, left_ + width_, base, "axis");
    out_ += text_at(left_ + width_ / 2, base + 32, scale_.title,
                    "class=\"muted\" text-anchor=\"middle\"");
    return "<svg class=\"chart\" viewBox=\"0 0 " + format_number("%g", chart_.width) + " " +
           format_number("%g", base + kBelowBars) + "\" role=\"img\" aria-label=\"" +
           escaped(chart_.title) + "\">\n" + legend_ + out_ + "</svg>\n";
  }

 private:
  /// What the axis goes around.
  std::vector<double> values() const {
    std::vector<double> out{0};
    for (const Bar& bar : bars_) out.push_back(bar.value);
    return out;
  }

  double x(double value) const { return left_ + width_ * std::clamp(scale_.at(value), 0.0, 1.0); }

  std::string number(const Bar& bar) const {
    if (!bar.number.empty()) return bar.number;
    return format_number(chart_.has_signs ? "%+.3f" : "%.3f", bar.value);
  }

  void legend() {
    double at = 0;
    for (const auto& [whole, colour] : chart_.legend) {
      const std::string words = chart_text_within(whole, chart_.width - kSampleWidth - 5);
      const double needed = kSampleWidth + 5 + chart_text_width(words);
      if (at > 0 && at + needed > chart_.width) {
        at = 0;
        at_ += kLegendRow;
      }
      legend_ += box(fill_class(colour), at, at_, kSampleWidth, kMoreHeight) + "/>\n";
      legend_ += text_at(at + kSampleWidth + 5, at_ + 9, words, "text-anchor=\"start\"");
      at += needed + kSampleWidth;
    }
    if (!chart_.legend.empty()) at_ += kLegendRow + kBarGap;
  }

  void draw_bar(const Bar& bar, bool is_first) {
    if (has_more_ && !bar.is_more && !is_first) at_ += kBarGap;
    const double row = has_more_ ? kMoreRow : kBarRow, high = has_more_ ? kMoreHeight : kBarHeight;
    const double middle = at_ + row / 2, zero = x(0), end = x(bar.value);
    at_ += row;
    if (!bar.is_more) {
      out_ += text_at(left_ - kBarGap, middle + 4, chart_text_within(bar.name, left_ - kBarGap),
                      "text-anchor=\"end\"");
    }
    out_ +=
        box((bar.is_pale ? "pale " : "") + fill_class(bar.colour), std::min(zero, end),
            middle - high / 2, std::max(1.0, std::abs(end - zero)), high) +
        ">" +
        element("title", escaped(bar.words.empty() ? bar.name + ": " + number(bar) : bar.words)) +
        "</rect>\n";
    if (bar.low && bar.high && std::isfinite(*bar.low) && std::isfinite(*bar.high)) {
      const double low = x(*bar.low), upper = x(*bar.high);
      out_ += line_between(low, middle, upper, middle, "whisker");
      out_ += line_between(low, middle - 4, low, middle + 4, "whisker");
      out_ += line_between(upper, middle - 4, upper, middle + 4, "whisker");
    }
    out_ += text_at(chart_.width, middle + 4, number(bar), "text-anchor=\"end\"");
  }

  const BarChart& chart_;
  const std::vector<Bar> bars_;
  const Axis axis_;  // which the scale refers to
  const ChartScale scale_;
  double left_ = 0, width_ = 0, at_ = kAboveBars;  ///< at_: where the next row begins
  bool has_more_ = false;
  std::string legend_, out_;
};

}  // namespace

std::string bars_svg(const BarChart& chart) {
  std::vector<Bar> bars = chart.bars;
  std::erase_if(bars, [](const Bar& bar) { return !std::isfinite(bar.value); });
  if (bars.empty()) return "";
  return BarPicture(chart, std::move(bars)).draw();
}

}  // namespace kdgat
