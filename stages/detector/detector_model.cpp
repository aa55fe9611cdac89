#include "detector/detector_model.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "data/can/protocol_ids.h"
#include "kdgat/atomic_file.h"
#include "kdgat/error.h"
#include "kdgat/parse_json.h"

namespace kdgat::detector {
namespace {

using nlohmann::json;

constexpr const char* kFormat = "kdgat.detector";

json as_json(const Budget& budget) {
  return {{"threshold", budget.threshold},
          {"false_alarms_per_hour", budget.per_hour},
          {"benign_hours", budget.hours},
          {"benign_events", budget.events}};
}

Budget budget_of(const json& in, const std::string& file) {
  Budget out;
  out.threshold = in.at("threshold");
  out.per_hour = in.at("false_alarms_per_hour");
  out.hours = in.at("benign_hours");
  out.events = in.at("benign_events");
  if (!std::isfinite(out.threshold))
    throw Error(ExitCode::kData, file + ": a threshold is not finite");
  return out;
}

}  // namespace

std::vector<uint32_t> Vehicle::ids() const {
  std::vector<uint32_t> out;
  for (const graph::IdProfile& one : profile.ids) {
    if (!graph::is_diagnostic(one.id)) out.push_back(graph::without_priority(one.key()));
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

int64_t DetectorModel::parameters() const {
  return static_cast<int64_t>(classifier.forest().nodes.size());
}

void DetectorModel::write(const std::filesystem::path& file) const {
  json list = json::array();
  for (const Vehicle& one : vehicles) {
    list.push_back({{"name", one.name}, {"profile", one.profile.json()}});
  }
  const json out = {{"format", kFormat},
                    {"version", 1},
                    {"window", window},
                    {"columns", graph::relative_names()},
                    {"known", as_json(known)},
                    {"adapted", as_json(adapted)},
                    {"vehicles", std::move(list)},
                    {"classifier", classifier.to_json()}};
  write_file(file, out.dump() + "\n");
}

DetectorModel DetectorModel::read(const std::filesystem::path& file) {
  const std::string name = file.string();
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw Error(ExitCode::kData, "cannot read " + name);
  const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  try {
    const json in = checked_json(text, name);
    if (in.at("format") != kFormat || in.at("version") != 1) {
      throw Error(ExitCode::kData, name + ": not a detector of this version");
    }
    if (in.at("columns") != json(graph::relative_names())) {
      throw Error(ExitCode::kData, name + ": a detector of other columns", "train it again");
    }
    constexpr int64_t kMostWindow = 10000;
    const int64_t window = in.at("window");
    if (window < 2 || window > kMostWindow) {
      throw Error(ExitCode::kData, name + ": windows of " + std::to_string(window) + " frames");
    }
    std::vector<Vehicle> vehicles;
    for (const json& one : in.at("vehicles")) {
      vehicles.push_back(
          {one.at("name"), graph::VehicleProfile::from_json(one.at("profile"), name)});
    }
    return {window, budget_of(in.at("known"), name), budget_of(in.at("adapted"), name),
            std::move(vehicles), trees::BoostedTrees::from_json(in.at("classifier"))};
  } catch (const json::exception& e) {
    throw Error(ExitCode::kData, name + ": not a detector: " + e.what());
  }
}

}  // namespace kdgat::detector
