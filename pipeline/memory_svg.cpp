#include "pipeline/memory_svg.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace kdgat {
namespace {

// The picture, in pixels.
constexpr double kWidth = 960, kHeight = 440;
constexpr double kLeft = 78, kRight = 20, kTop = 84, kBottom = 56;
constexpr double kPlotWidth = kWidth - kLeft - kRight, kPlotHeight = kHeight - kTop - kBottom;

// Of Okabe and Ito: told apart by the colour-blind, too.
constexpr const char* kTensors = "#0072b2";
constexpr const char* kReserved = "#e69f00";
constexpr const char* kResident = "#7f7f7f";
constexpr const char* kPlanned = "#009e73";
constexpr const char* kSplit = "#d55e00";

std::string number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f", value);
  return text.data();
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

/// The distance between ticks, of 1, 2 or 5 times a power of ten, for about `wanted` of them.
double tick_step(double most, int wanted) {
  const double rough = most / wanted;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double step : {1.0, 2.0, 5.0}) {
    if (rough <= step * power) return step * power;
  }
  return 10 * power;
}

class Picture {
 public:
  Picture(const std::string& title, const std::vector<StepMemory>& steps) : steps_(steps) {
    for (const StepMemory& step : steps) {
      seconds_ += step.seconds;
      for (const MemorySeries* series : {&step.tensors, &step.reserved, &step.resident}) {
        for (const auto& [at, bytes] : *series) bytes_ = std::max(bytes_, bytes);
      }
      bytes_ = std::max(bytes_, step.planned_peak());
    }
    seconds_ = std::max(seconds_, 0.001);
    unit_ = bytes_ >= 2 * kGiB ? kGiB : kMiB;
    bytes_ = std::max(bytes_, unit_);
    y_step_ = tick_step(bytes_ / unit_, 5) * unit_;
    bytes_ = std::ceil(bytes_ / y_step_) * y_step_;
    out_ = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + number(kWidth) + " " +
           number(kHeight) + "\" width=\"" + number(kWidth) + "\" height=\"" + number(kHeight) +
           "\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#222\">\n"
           "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n";
    text(kLeft, 24, title, "font-size=\"16\" font-weight=\"bold\"");
  }

  std::string draw() {
    legend();
    double first = 0;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      band(first, steps_[i], i % 2 == 0);
      first += steps_[i].seconds;
    }
    axes();
    first = 0;
    for (const StepMemory& step : steps_) {
      curves(first, step);
      first += step.seconds;
    }
    return out_ + "</svg>\n";
  }

 private:
  static constexpr double kMiB = 1 << 20, kGiB = 1 << 30;

  double x(double seconds) const { return kLeft + kPlotWidth * seconds / seconds_; }
  double y(double bytes) const { return kTop + kPlotHeight * (1 - bytes / bytes_); }

  void text(double at_x, double at_y, const std::string& words, const std::string& more = "") {
    out_ += "<text x=\"" + number(at_x) + "\" y=\"" + number(at_y) + "\" " + more + ">" +
            escaped(words) + "</text>\n";
  }
  void line(double x1, double y1, double x2, double y2, const std::string& stroke,
            const std::string& more = "") {
    out_ += "<line x1=\"" + number(x1) + "\" y1=\"" + number(y1) + "\" x2=\"" + number(x2) +
            "\" y2=\"" + number(y2) + "\" stroke=\"" + stroke + "\" " + more + "/>\n";
  }

  /// Only what is drawn has a place in the legend.
  void legend() {
    const auto any = [&](auto has) { return std::any_of(steps_.begin(), steps_.end(), has); };
    double at = kLeft;
    const auto entry = [&](const char* colour, const char* more, const std::string& words) {
      line(at, 42, at + 22, 42, colour, std::string("stroke-width=\"2.5\" ") + more);
      text(at + 28, 46, words);
      at += 48 + 6.6 * static_cast<double>(words.size());
    };
    if (any([](const StepMemory& s) { return !s.tensors.empty(); }))
      entry(kTensors, "", "tensors, peak of each epoch");
    if (any([](const StepMemory& s) { return !s.reserved.empty(); }))
      entry(kReserved, "", "reserved by the allocator");
    if (any([](const StepMemory& s) { return !s.resident.empty(); }))
      entry(kResident, "", "process (RssAnon)");
    if (any([](const StepMemory& s) { return s.planned_peak() >= 0; }))
      entry(kPlanned, "stroke-dasharray=\"6 4\"", "planned peak of tensors");
    const auto has_event = [&](const char* kind) {
      return any([&](const StepMemory& s) {
        return std::any_of(s.events.begin(), s.events.end(),
                           [&](const auto& event) { return event.second == kind; });
      });
    };
    if (has_event("split")) entry(kSplit, "", "split");
    if (has_event("release")) entry("#222", "", "given back");
  }

  void band(double first, const StepMemory& step, bool is_dark) {
    const double left = x(first), width = kPlotWidth * step.seconds / seconds_;
    out_ += "<rect x=\"" + number(left) + "\" y=\"" + number(kTop) + "\" width=\"" + number(width) +
            "\" height=\"" + number(kPlotHeight) + "\" fill=\"" + (is_dark ? "#f1f4f8" : "#fff") +
            "\"><title>" + escaped(step.step) + ", " + number(step.seconds) + " s</title></rect>\n";
    // A name that does not fit its band would lie on that of its neighbour.
    constexpr double kLetter = 7;
    if (width > kLetter * static_cast<double>(step.step.size())) {
      text(left + width / 2, kTop - 8, step.step, "text-anchor=\"middle\" fill=\"#555\"");
    }
  }

  void axes() {
    const int lines = static_cast<int>(bytes_ * 1.0001 / y_step_);
    for (int i = 0; i <= lines; ++i) {
      const double bytes = i * y_step_;
      line(kLeft, y(bytes), kLeft + kPlotWidth, y(bytes), "#d8dde3");
      std::array<char, 32> label{};
      std::snprintf(label.data(), label.size(), "%g", bytes / unit_);
      text(kLeft - 8, y(bytes) + 4, label.data(), "text-anchor=\"end\"");
    }
    text(16, kTop + kPlotHeight / 2, unit_ == kGiB ? "GiB" : "MiB",
         "text-anchor=\"middle\" transform=\"rotate(-90 16 " + number(kTop + kPlotHeight / 2) +
             ")\"");
    const double step = tick_step(seconds_, 8);
    const int ticks = static_cast<int>(seconds_ / step);
    for (int i = 0; i <= ticks; ++i) {
      const double at = i * step;
      line(x(at), kTop + kPlotHeight, x(at), kTop + kPlotHeight + 5, "#222");
      std::array<char, 32> label{};
      std::snprintf(label.data(), label.size(), "%g", at);
      text(x(at), kTop + kPlotHeight + 19, label.data(), "text-anchor=\"middle\"");
    }
    text(kLeft + kPlotWidth / 2, kHeight - 14, "seconds of the steps, one after another",
         "text-anchor=\"middle\"");
    line(kLeft, kTop, kLeft, kTop + kPlotHeight, "#222");
    line(kLeft, kTop + kPlotHeight, kLeft + kPlotWidth, kTop + kPlotHeight, "#222");
  }

  void curve(double first, const MemorySeries& series, const char* colour) {
    if (series.empty()) return;
    std::string points;
    for (const auto& [at, bytes] : series)
      points += number(x(first + at)) + "," + number(y(bytes)) + " ";
    out_ += "<polyline fill=\"none\" stroke=\"" + std::string(colour) +
            "\" stroke-width=\"1.8\" stroke-linejoin=\"round\" points=\"" + points + "\"/>\n";
    if (series.size() > 1) return;
    out_ += "<circle r=\"3\" cx=\"" + number(x(first + series[0].first)) + "\" cy=\"" +
            number(y(series[0].second)) + "\" fill=\"" + colour + "\"/>\n";
  }

  void curves(double first, const StepMemory& step) {
    curve(first, step.resident, kResident);
    curve(first, step.reserved, kReserved);
    if (const double planned = step.planned_peak(); planned >= 0) {
      line(x(first), y(planned), x(first + step.seconds), y(planned), kPlanned,
           "stroke-width=\"1.8\" stroke-dasharray=\"6 4\"");
    }
    curve(first, step.tensors, kTensors);
    for (const auto& [at, kind] : step.events) {
      const double left = x(first + at), base = kTop + kPlotHeight;
      if (kind == "split") line(left, base, left, base - 14, kSplit, "stroke-width=\"2.5\"");
      if (kind == "release") line(left, base, left, base - 7, "#222");
    }
  }

  const std::vector<StepMemory>& steps_;
  double seconds_ = 0, bytes_ = 0, unit_ = kMiB, y_step_ = 0;
  std::string out_;
};

}  // namespace

std::string memory_svg(const std::string& title, const std::vector<StepMemory>& steps) {
  return Picture(title, steps).draw();
}

}  // namespace kdgat
