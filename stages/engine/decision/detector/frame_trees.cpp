#include "engine/decision/detector/frame_trees.h"

#include <nlohmann/json.hpp>
#include <span>

#include "engine/data/can/windows/frame_columns.h"
#include "kdgat/error.h"

namespace kdgat::decision {

using nlohmann::json;

std::vector<InjectedFrame> FrameTrees::injected(const data::RelativeWindows& windows) const {
  const std::vector<float> values = windows.frame_columns();
  const auto columns = static_cast<std::size_t>(trees_.columns());
  std::vector<InjectedFrame> out;
  for (std::size_t i = 0; i < windows.frames().size(); ++i) {
    const double score = trees_.score(std::span(values).subspan(i * columns, columns));
    if (score <= 0) continue;
    const data::ComparedFrame& frame = windows.frames()[i];
    out.push_back(
        {windows.window().first_row + static_cast<int64_t>(i), frame.key, frame.time, score});
  }
  return out;
}

json FrameTrees::json() const {
  return {{"columns", data::frame_column_names()}, {"trees", trees_.to_json()}};
}

FrameTrees FrameTrees::from_json(const nlohmann::json& in, const std::string& file) {
  const std::vector<std::string> names = data::frame_column_names();
  FrameTrees out(trees::BoostedTrees::from_json(in.at("trees")));
  if (in.at("columns") != nlohmann::json(names) || out.trees_.columns() != std::ssize(names)) {
    throw Error(ExitCode::kData, file + ": \"frames\" is of other columns", "train it again");
  }
  return out;
}

}  // namespace kdgat::decision
