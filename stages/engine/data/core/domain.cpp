#include "engine/data/core/domain.h"

namespace kdgat::data {

std::string Domain::synth_headline(const nlohmann::json& values,
                                   const nlohmann::json& facts) const {
  return "synthetic " + wording().headline(facts) + ", seed " + values.at("seed").dump();
}

void Domain::stream_synthetic(const nlohmann::json&, const std::function<void(std::string_view)>&,
                              const std::function<bool()>&) const {
  throw Error(ExitCode::kUsage,
              std::string(name()) + " data are several files, and cannot go to standard output",
              "-o DIR writes them to a folder");
}

InjectReport Domain::inject(const InjectCall&) const {
  throw Error(ExitCode::kUsage, std::string(name()) + " data have no attacks");
}

ConvertReport Domain::convert(const ConvertCall&) const {
  throw Error(ExitCode::kUsage, std::string(name()) + " data have no other forms");
}

}  // namespace kdgat::data
