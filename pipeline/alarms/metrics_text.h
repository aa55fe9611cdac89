// Numbers of a run as Prometheus reads them: its text format, version 0.0.4. Knows no number by
// name.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace kdgat {

struct MetricSample {
  std::vector<std::pair<std::string, std::string>> labels{};
  double value = 0;
  std::string suffix{};  ///< behind the metric's name: "_sum" and "_count" of a summary
};

struct Metric {
  std::string name;  ///< letters, digits and underscores
  std::string help;
  std::string type;  ///< "counter", "gauge", "summary"
  std::vector<MetricSample> samples;
};

/// "# HELP", "# TYPE" and a line for each sample; numbers as short as they can be read back from.
std::string prometheus_text(const std::vector<Metric>& metrics);

}  // namespace kdgat
