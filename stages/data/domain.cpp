#include "data/domain.h"

namespace kdgat::graph {

std::string Domain::synth_headline(const nlohmann::json& values,
                                   const nlohmann::json& facts) const {
  return "synthetic " + wording().headline(facts) + ", seed " + values.at("seed").dump();
}

void require_hashes(const std::filesystem::path& store) {
  std::vector<Diagnostic> problems = verify_hashes(SafetensorsFile::open(store));
  if (!problems.empty()) throw Error(ExitCode::kData, std::move(problems));
}

}  // namespace kdgat::graph
