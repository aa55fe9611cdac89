#include "data/domain.h"

namespace kdgat::graph {

std::string Domain::synth_headline(const nlohmann::json& values,
                                   const nlohmann::json& facts) const {
  return "synthetic " + wording().headline(facts) + ", seed " + values.at("seed").dump();
}

InjectReport Domain::inject(const InjectCall&) const {
  throw Error(ExitCode::kUsage, std::string(name()) + " data have no attacks");
}

ConvertReport Domain::convert(const ConvertCall&) const {
  throw Error(ExitCode::kUsage, std::string(name()) + " data have no other forms");
}

}  // namespace kdgat::graph
