#include "pipeline/run/step_config.h"

#include "kdgat/kinds.h"
#include "pipeline/show/json_lookup.h"
#include "pipeline/system/json_file.h"

namespace kdgat {

using nlohmann::json;

const StepInput* StepConfig::input(const std::string& port) const {
  const auto found = inputs.find(port);
  return found == inputs.end() || found->second.empty() ? nullptr : &found->second.front();
}

StepConfig read_step_config(const std::filesystem::path& step_folder) {
  const json in = read_json(step_folder / "config.json");
  auto out = record::read<StepConfig>(in);
  out.is_there = in.is_object();
  const json& graphs = below(below(below(in, "ingredients"), "inputs"), kind::kGraphs);
  if (graphs.is_array() && !graphs.empty()) out.data = word(graphs.front(), "fingerprint");
  return out;
}

}  // namespace kdgat
