#include "engine/decision/detector/floors.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "engine/data/can/windows/relative_windows.h"
#include "kdgat/error.h"

namespace kdgat::decision {
namespace {

using data::Relative;
using nlohmann::json;

kdgat_floor floor_of(Relative column, float least) {
  return {static_cast<uint32_t>(column), least};
}

}  // namespace

Floors::Floors()
    : floors_{floor_of(Relative::kUnknown, 1),   floor_of(Relative::kLength, 1e-6F),
              floor_of(Relative::kSurplus, .1F), floor_of(Relative::kNew, 2),
              floor_of(Relative::kBack, 2),      floor_of(Relative::kCrowdNew, .5F),
              floor_of(Relative::kSilence, 2),   floor_of(Relative::kTight, 1.5F)} {}

json Floors::json() const {
  const std::vector<std::string> names = data::relative_names();
  nlohmann::json out = nlohmann::json::object();
  for (const kdgat_floor& one : floors_) out[names[one.column]] = one.least;
  return out;
}

Floors Floors::from_json(const nlohmann::json& json, const std::string& file) {
  const std::vector<std::string> names = data::relative_names();
  std::vector<kdgat_floor> out;
  for (const auto& [name, least] : json.items()) {
    const auto at = std::find(names.begin(), names.end(), name);
    if (!json.is_object() || at == names.end() || !least.is_number() || !(least > 0)) {
      throw Error(ExitCode::kData, "\"evidence\" has no column \"" + name + "\" above 0", "", file);
    }
    out.push_back({static_cast<uint32_t>(at - names.begin()), least.get<float>()});
  }
  if (out.empty()) throw Error(ExitCode::kData, "\"evidence\" is empty", "", file);
  std::sort(out.begin(), out.end(),
            [](const kdgat_floor& a, const kdgat_floor& b) { return a.column < b.column; });
  return Floors(std::move(out));
}

}  // namespace kdgat::decision
