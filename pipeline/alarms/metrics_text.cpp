#include "pipeline/alarms/metrics_text.h"

#include <array>
#include <charconv>
#include <cmath>

namespace kdgat {
namespace {

/// Backslashes and ends of lines, and quotes where the text stands between some.
std::string escaped_text(const std::string& text, bool is_quoted) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '\\' || (is_quoted && c == '"')) out += '\\';
    out += c;
  }
  return out;
}

std::string sample_value(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

}  // namespace

std::string prometheus_text(const std::vector<Metric>& metrics) {
  std::string out;
  for (const Metric& metric : metrics) {
    out += "# HELP " + metric.name + " " + escaped_text(metric.help, false) + "\n";
    out += "# TYPE " + metric.name + " " + metric.type + "\n";
    for (const MetricSample& sample : metric.samples) {
      out += metric.name + sample.suffix;
      std::string between = "{";
      for (const auto& [label, value] : sample.labels) {
        out += between + label + "=\"" + escaped_text(value, true) + "\"";
        between = ",";
      }
      if (!sample.labels.empty()) out += "}";
      out += " " + sample_value(sample.value) + "\n";
    }
  }
  return out;
}

}  // namespace kdgat
