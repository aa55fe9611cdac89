#include "pipeline/show/bars_svg.h"

#include <algorithm>
#include <cmath>

#include "kdgat/text.h"
#include "pipeline/show/chart_scale.h"
#include "pipeline/show/markup.h"

namespace kdgat {
namespace {

constexpr double kBarRow = 22, kBarHeight = 13, kBarGap = 8, kAboveBars = 6, kBelowBars = 40;

std::string bar_number(double value) { return format_number("%.3f", value); }

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

}  // namespace

std::string bars_svg(const BarChart& chart) {
  std::vector<Bar> bars = chart.bars;
  std::erase_if(bars, [](const Bar& bar) { return !std::isfinite(bar.value); });
  if (bars.empty()) return "";
  double names = 0;
  for (const Bar& bar : bars) names = std::max(names, chart_text_width(bar.name));
  const double numbers = chart_text_width("0.000") + kBarGap;
  const double left = std::min(names, chart.width / 2) + kBarGap;
  const double width = chart.width - left - numbers;
  const double height = kAboveBars + kBarRow * static_cast<double>(bars.size());
  const Axis axis{.title = chart.axis, .from = chart.from, .to = chart.to};
  const ChartScale scale(axis, {chart.from, chart.to}, 4, false);
  const auto x = [&](double value) { return left + width * std::clamp(scale.at(value), 0.0, 1.0); };

  std::string out = "<svg class=\"chart\" viewBox=\"0 0 " + format_number("%g", chart.width) + " " +
                    format_number("%g", height + kBelowBars) + "\" role=\"img\" aria-label=\"" +
                    escaped(chart.title) + "\">\n";
  for (const ChartScale::Tick& tick : scale.ticks) {
    const double at = left + width * tick.at;
    out += line_between(at, kAboveBars, at, height, "grid");
    out += text_at(at, height + 15, tick.text, "text-anchor=\"middle\"");
  }
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const Bar& bar = bars[i];
    const double middle = kAboveBars + kBarRow * (static_cast<double>(i) + 0.5), end = x(bar.value);
    out += text_at(left - kBarGap, middle + 4, bar.name, "text-anchor=\"end\"");
    out += "<rect class=\"" + std::string(bar.is_pale ? "pale " : "") + fill_class(bar.colour) +
           "\"" + attribute("x", left) + attribute("y", middle - kBarHeight / 2) +
           attribute("width", std::max(1.0, end - left)) + attribute("height", kBarHeight) + ">" +
           element("title", escaped(bar.words.empty() ? bar.name + ": " + bar_number(bar.value)
                                                      : bar.words)) +
           "</rect>\n";
    if (bar.low && bar.high && std::isfinite(*bar.low) && std::isfinite(*bar.high)) {
      const double low = x(*bar.low), high = x(*bar.high);
      out += line_between(low, middle, high, middle, "whisker");
      out += line_between(low, middle - 4, low, middle + 4, "whisker");
      out += line_between(high, middle - 4, high, middle + 4, "whisker");
    }
    out += text_at(chart.width, middle + 4, bar_number(bar.value), "text-anchor=\"end\"");
  }
  out += line_between(left, height, left + width, height, "axis");
  out +=
      text_at(left + width / 2, height + 32, scale.title, "class=\"muted\" text-anchor=\"middle\"");
  return out + "</svg>\n";
}

}  // namespace kdgat
