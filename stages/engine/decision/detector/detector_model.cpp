#include "engine/decision/detector/detector_model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "engine/data/can/frames/protocol_ids.h"
#include "engine/decision/detector/sealed_json.h"
#include "kdgat/atomic_file.h"
#include "kdgat/error.h"
#include "kdgat/parse_json.h"

namespace kdgat::decision {
namespace {

using nlohmann::json;

constexpr const char* kFormat = "kdgat.detector";
constexpr int kVersion = 6;

json as_json(const Decision& decision) {
  return {{"classifier", decision.classifier},
          {"tails", decision.tails},
          {"false_alarms_per_hour", decision.budget.per_hour},
          {"benign_hours", decision.budget.hours},
          {"benign_alarms", decision.budget.allowed.windows}};
}

/// A number of an object in `file`, from `least` to `most`.
double ranged_number(const json& in, const char* key, double least, double most,
                     const std::string& file) {
  const json& value = in.at(key);
  const double number = value.is_number() ? value.get<double>() : std::nan("");
  if (number >= least && number <= most) return number;
  throw Error(
      ExitCode::kData,
      std::string("\"") + key + "\" is not a number in its range: " + value.dump().substr(0, 40),
      "", file);
}

int64_t ranged_count(const json& in, const char* key, int64_t least, int64_t most,
                     const std::string& file) {
  const json& value = in.at(key);
  const bool is_whole = value.is_number_integer() &&
                        (!value.is_number_unsigned() || value.get<uint64_t>() <= INT64_MAX);
  const int64_t number = is_whole ? value.get<int64_t>() : 0;
  if (is_whole && number >= least && number <= most) return number;
  throw Error(ExitCode::kData,
              std::string("\"") + key + "\" is not a whole number from " + std::to_string(least) +
                  " to " + std::to_string(most) + ": " + value.dump().substr(0, 40),
              "", file);
}

Decision decision_of(const json& in, const std::string& file) {
  constexpr double kMostLogOdds = 1e6, kMostTens = 1e6, kMostHours = 1e9;
  constexpr int64_t kMostWindows = int64_t{1} << 50;
  Decision out;
  out.classifier = ranged_number(in, "classifier", -kMostLogOdds, kMostLogOdds, file);
  out.tails = ranged_number(in, "tails", 0, kMostTens, file);
  out.budget.per_hour = ranged_number(in, "false_alarms_per_hour", 0, kMostHours, file);
  out.budget.hours = ranged_number(in, "benign_hours", 0, kMostHours, file);
  out.budget.allowed.windows = ranged_count(in, "benign_alarms", 0, kMostWindows, file);
  return out;
}

std::map<int32_t, Decision> decisions_of(const json& in, const std::string& file) {
  std::map<int32_t, Decision> out;
  for (const auto& [own, decision] : in.items()) {
    const json number = json::parse(own, nullptr, false);
    constexpr int kMostOwn = 1'000'000;
    if (!number.is_number_integer() || number < 0 || number > kMostOwn) {
      throw Error(ExitCode::kData, file + ": a threshold of a profile of no such number of windows",
                  own);
    }
    out[number.get<int32_t>()] = decision_of(decision, file);
  }
  if (out.empty()) throw Error(ExitCode::kData, file + ": no threshold");
  return out;
}

KOfN alarm_rule_of(const json& in, const std::string& file) {
  const json& alarm = in.at("alarm");
  const KOfN out{ranged_count(alarm, "windows", 0, KOfN::kMostOf, file),
                 ranged_count(alarm, "of", 0, KOfN::kMostOf, file)};
  if (out.k < 1 || out.k > out.n || out.n > KOfN::kMostOf) {
    throw Error(ExitCode::kData, file + ": an alarm of " + std::to_string(out.k) + " of " +
                                     std::to_string(out.n) + " windows");
  }
  return out;
}

}  // namespace

std::optional<std::filesystem::path> detector_file(const std::filesystem::path& path) {
  std::error_code ignored;
  if (path.extension() == ".json") return path;
  if (std::filesystem::is_regular_file(path / kDetectorFile, ignored)) return path / kDetectorFile;
  return {};
}

const Decision& DetectorModel::decision(int64_t own) const {
  if (own == 0) return decisions.begin()->second;
  const auto ratio = [&](const auto& one) {
    // Those of known vehicles are for others only where there are none.
    if (one.first == 0) return std::numeric_limits<double>::infinity();
    return std::abs(std::log(static_cast<double>(own) / one.first));
  };
  return std::min_element(decisions.begin(), decisions.end(),
                          [&](const auto& a, const auto& b) { return ratio(a) < ratio(b); })
      ->second;
}

double DetectorModel::score(const PartScores& scores, const Decision& decision) {
  return kdgat_score_of(scores.classifier, scores.tails, decision.classifier, decision.tails);
}

PartScores DetectorModel::scores_of(const data::RelativeWindow& window,
                                    const Decision& decision) const {
  PartScores out = scores_of(window);
  if (!floors.are_reached(window.x)) {
    out.classifier = std::min(out.classifier, decision.classifier);
    out.tails = std::min(out.tails, decision.tails);
  }
  out.tails = kdgat_tails_of_sure(out.tails, decision.tails, window.x.data(),
                                  static_cast<uint32_t>(window.broken));
  return out;
}

std::string DetectorModel::text() const {
  json list = json::array();
  for (const data::Vehicle& one : vehicles) {
    json& vehicle = list.emplace_back();
    vehicle = {{"name", one.name}, {"profile", one.profile.json()}};
    if (one.own > 0) vehicle["own_windows"] = one.own;
  }
  json thresholds = json::object();
  for (const auto& [own, decision] : decisions) {
    thresholds[std::to_string(own)] = as_json(decision);
  }
  json out = {{"format", kFormat},
              {"version", kVersion},
              {"window", window},
              {"own_seconds", own_seconds},
              {"columns", data::relative_names()},
              {"thresholds", std::move(thresholds)},
              {"vehicles", std::move(list)},
              {"classifier", classifier.json()},
              {"tails", tails.json()},
              {"evidence", floors.json()},
              {"alarm", {{"windows", alarm_rule.k}, {"of", alarm_rule.n}}}};
  if (frames) out["frames"] = frames->json();
  return sealed_text(std::move(out));
}

void DetectorModel::write(const std::filesystem::path& file) const { write_file(file, text()); }

DetectorModel DetectorModel::read(const std::filesystem::path& file, const Warn& warn) {
  const std::string name = file.string();
  LargeJson content(checked_json_file(file));
  json& in = content.value;
  try {
    if (!in.is_object() || in.value("format", json()) != kFormat) {
      throw Error(ExitCode::kData, name + ": not a detector");
    }
    if (in.value("version", json()) != kVersion) {
      throw Error(ExitCode::kData, name + ": a detector of another version", "train it again");
    }
    check_seal(in, file,
               {"format", "version", "window", "own_seconds", "columns", "thresholds", "vehicles",
                "classifier", "tails", "evidence", "alarm", "frames"},
               warn);
    if (in.at("columns") != json(data::relative_names())) {
      throw Error(ExitCode::kData, name + ": a detector of other columns", "train it again");
    }
    const int64_t window = ranged_count(in, "window", 2, data::kMostWindow, name);
    constexpr int64_t kMostCount = int64_t{1} << 50;
    std::vector<data::Vehicle> vehicles;
    for (const json& one : in.at("vehicles")) {
      vehicles.push_back({one.at("name"), data::VehicleProfile::from_json(one.at("profile"), name),
                          one.contains("own_windows")
                              ? ranged_count(one, "own_windows", 0, kMostCount, name)
                              : 0});
    }
    constexpr double kMostSeconds = 1e5;
    const double own = ranged_number(in, "own_seconds", 0, kMostSeconds, name);
    Tails tails = Tails::from_json(in.at("tails"), data::kRelativeColumns, name);
    if (tails.tails().empty()) throw Error(ExitCode::kData, "\"tails\" is empty", "", name);
    WindowClassifier classifier = WindowClassifier::from_json(in.at("classifier"), name);
    if (const RelativeNetwork* network = classifier.network();
        network != nullptr && network->window() != window) {
      throw Error(ExitCode::kData,
                  "its network is of windows of " + std::to_string(network->window()) +
                      " frames, not " + std::to_string(window),
                  "", name);
    }
    return {window,
            own,
            decisions_of(in.at("thresholds"), name),
            std::move(vehicles),
            std::move(classifier),
            std::move(tails),
            Floors::from_json(in.at("evidence"), name),
            alarm_rule_of(in, name),
            in.contains("frames") ? std::optional(FrameTrees::from_json(in.at("frames"), name))
                                  : std::nullopt};
  } catch (const json::exception& e) {
    throw Error(ExitCode::kData, name + ": not a detector: " + e.what());
  }
}

}  // namespace kdgat::decision
