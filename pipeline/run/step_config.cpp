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
  StepConfig out;
  out.is_there = in.is_object();
  out.options = below(in, "options");
  out.origin = below(in, "origin");
  out.seed = below(in, "seed");
  out.version = below(in, "version");
  out.device = word(in, "device");
  out.threads = static_cast<int>(number(in, "threads", 0));
  for (const auto& [port, list] : below(in, "inputs").items()) {
    if (!list.is_array()) continue;
    for (const json& one : list) {
      out.inputs[port].push_back(
          {word(one, "name"), word(one, "kind"), word(one, "path"), below(one, "facts")});
    }
  }
  const json& graphs = below(below(below(in, "ingredients"), "inputs"), kind::kGraphs);
  if (graphs.is_array() && !graphs.empty()) out.data = word(graphs.front(), "fingerprint");
  return out;
}

}  // namespace kdgat
