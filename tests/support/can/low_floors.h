// Floors that every window with something odd reaches.
#pragma once

#include <nlohmann/json.hpp>

#include "engine/data/can/windows/relative_windows.h"
#include "engine/decision/detector/floors.h"

namespace kdgat::test {

inline decision::Floors low_floors() {
  nlohmann::json all;
  for (const std::string& name : data::relative_names()) all[name] = 1e-30;
  return decision::Floors::from_json(all, "low");
}

}  // namespace kdgat::test
