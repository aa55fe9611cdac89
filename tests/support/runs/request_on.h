// What a test asks of a step.
#pragma once

#include <filesystem>
#include <string>

#include "kdgat/kinds.h"
#include "kdgat/stage.h"

namespace kdgat::test {

/// Of `step`, in `run_dir`, which is made, on the data folder `data`.
inline Request request_on(const std::filesystem::path& data, const std::filesystem::path& run_dir,
                          const std::string& step, int64_t seed = Request().seed,
                          const nlohmann::json& facts = nlohmann::json::object()) {
  Request out;
  out.step = step;
  out.seed = seed;
  out.run_dir = run_dir;
  std::filesystem::create_directories(run_dir);
  out.inputs["graphs"] = {{"data", kind::kGraphs, data, facts}};
  return out;
}

}  // namespace kdgat::test
