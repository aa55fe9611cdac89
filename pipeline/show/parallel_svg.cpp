#include "pipeline/show/parallel_svg.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "kdgat/text.h"
#include "pipeline/show/chart_svg.h"
#include "pipeline/show/markup.h"
#include "pipeline/show/text.h"

namespace kdgat {
namespace {

constexpr double kTop = 34, kHeight = 220, kBottom = 14, kSide = 46, kBetween = 110,
                 kLabelHeight = 13;

/// Where values stand on one axis.
class AxisScale {
 public:
  AxisScale(const ParallelAxis& axis, const std::vector<ParallelItem>& items, std::size_t column)
      : axis_(axis) {
    for (const ParallelItem& item : items) {
      const std::string& value = item.values[column];
      if (value.empty()) continue;
      const auto number = finite_number(value);
      is_numeric_ = is_numeric_ && number.has_value();
      if (number) numbers_.push_back(*number);
      if (std::find(words_.begin(), words_.end(), value) == words_.end()) words_.push_back(value);
    }
    if (!is_numeric_ || numbers_.empty()) {
      is_numeric_ = false;
      return;
    }
    const auto [least, most] = std::minmax_element(numbers_.begin(), numbers_.end());
    from_ = *least;
    to_ = *most;
    is_log_ = from_ > 0 && to_ / from_ >= 16;
  }

  /// Pixels from the top; nullopt for an item without a value.
  std::optional<double> place(const std::string& value) const {
    if (value.empty()) return std::nullopt;
    double share = 0.5;
    if (is_numeric_) {
      const double low = scaled(from_), high = scaled(to_);
      if (high > low) share = (scaled(*finite_number(value)) - low) / (high - low);
    } else if (words_.size() > 1) {
      const auto at = std::find(words_.begin(), words_.end(), value) - words_.begin();
      share = static_cast<double>(at) / static_cast<double>(words_.size() - 1);
    }
    return kTop + kHeight * (1 - share);
  }

  /// What is written beside the axis where there is room, both ends first.
  std::vector<std::string> ticks() const {
    std::vector<std::string> out = words_;
    if (!is_numeric_) return out;
    std::sort(out.begin(), out.end(), [](const auto& one, const auto& other) {
      return *finite_number(one) < *finite_number(other);
    });
    if (out.size() > 2) std::rotate(out.begin() + 1, out.end() - 1, out.end());
    return out;
  }

  std::string label(const std::string& value) const {
    if (!is_numeric_) return value;
    const double number = *finite_number(value);
    if (axis_.is_bytes) return format_bytes(static_cast<uint64_t>(std::max(0.0, number)));
    return short_number(number);
  }

 private:
  double scaled(double value) const { return is_log_ ? std::log(value) : value; }

  const ParallelAxis& axis_;
  bool is_numeric_ = true, is_log_ = false;
  std::vector<double> numbers_;
  std::vector<std::string> words_;
  double from_ = 0, to_ = 0;
};

}  // namespace

std::string parallel_svg(const std::string& title, const std::vector<ParallelAxis>& axes,
                         const std::vector<ParallelItem>& items) {
  if (axes.size() < 2 || items.empty()) return "";
  std::vector<AxisScale> scales;
  for (std::size_t i = 0; i < axes.size(); ++i) scales.emplace_back(axes[i], items, i);
  const auto x_of = [](std::size_t axis) { return kSide + kBetween * static_cast<double>(axis); };
  const double width = x_of(axes.size() - 1) + kSide + 24;
  std::string out = "<svg class=\"chart\" viewBox=\"0 0 " + pixels(width) + " " +
                    pixels(kTop + kHeight + kBottom) + "\" role=\"img\" aria-label=\"" +
                    escaped(title) + "\">\n";
  const auto line_of = [&](const ParallelItem& item) {
    std::string path;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const auto y = scales[i].place(item.values[i]);
      if (y) path += (path.empty() ? "M" : "L") + pixels(x_of(i)) + " " + pixels(*y);
    }
    const std::string classes =
        std::string(item.is_chosen ? "l1" : "lx fine") + (item.is_dashed ? " dashed" : "");
    return "<path class=\"" + classes + "\" d=\"" + path + "\">" +
           element("title", escaped(item.words)) + "</path>\n";
  };
  for (const bool chosen : {false, true}) {
    for (const ParallelItem& item : items) {
      if (item.is_chosen == chosen) out += line_of(item);
    }
  }
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::string x = pixels(x_of(i));
    out += R"(<path class="axis" d="M)" + x + " " + pixels(kTop) + "V" + pixels(kTop + kHeight);
    out += "\"/>\n<text x=\"" + x + R"(" y="18" text-anchor="middle">)" + escaped(axes[i].title);
    out += "</text>\n";
    std::vector<double> taken;
    for (const std::string& tick : scales[i].ticks()) {
      const double y = *scales[i].place(tick);
      const bool is_free = std::all_of(taken.begin(), taken.end(), [y](double other) {
        return std::abs(other - y) >= kLabelHeight;
      });
      if (!is_free) continue;
      taken.push_back(y);
      out += "<text class=\"muted\" x=\"" + pixels(x_of(i) + 5) + "\" y=\"" + pixels(y + 4) +
             "\">" + escaped(scales[i].label(tick)) + "</text>\n";
    }
  }
  return out + "</svg>\n";
}

}  // namespace kdgat
