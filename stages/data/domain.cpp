#include "data/domain.h"

namespace kdgat::graph {

std::string Domain::synth_headline(const nlohmann::json& values,
                                   const nlohmann::json& facts) const {
  return "synthetic " + wording().headline(facts) + ", seed " + values.at("seed").dump();
}

}  // namespace kdgat::graph
