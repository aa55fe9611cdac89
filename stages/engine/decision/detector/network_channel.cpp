#include "engine/decision/detector/network_channel.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "kdgat/atomic_file.h"
#include "kdgat/error.h"
#include "kdgat/parse_json.h"

namespace kdgat::decision {
namespace {

using nlohmann::json;

constexpr const char* kChannelFormat = "kdgat.channel";
constexpr int kChannelVersion = 1;
constexpr std::array<std::size_t, 1> kOnly = {0};  // the one column

/// -ln of a raw score's tail probability: log-odds of what is rare. The same number for the
/// threshold and for what it is compared with.
float rarity(const Tails& tails, float raw) {
  return static_cast<float>(tails.score({&raw, 1}) * std::log(10.0));
}

}  // namespace

NetworkChannel NetworkChannel::fit(std::span<const Stretch> benign, double per_hour) {
  NetworkChannel out;
  out.budget = budget_of(benign, per_hour, /*take_supported=*/false);
  std::vector<float> all;
  for (const Stretch& one : benign) all.insert(all.end(), one.scores.begin(), one.scores.end());
  out.tails = Tails::fit(all, 1, kOnly);
  std::vector<Stretch> rare(benign.begin(), benign.end());
  for (Stretch& one : rare) {
    for (float& score : one.scores) score = rarity(out.tails, score);
  }
  out.threshold = static_cast<float>(threshold_for(rare, out.budget.allowed));
  return out;
}

float ChannelOnLog::score(float raw) {
  if (!own_.empty() && !own_tails_) own_tails_ = Tails::fit(own_, 1, kOnly);
  float rare = rarity(channel_.tails, raw);
  if (own_tails_) rare = std::min(rare, rarity(*own_tails_, raw));
  return rare - channel_.threshold;
}

void NetworkChannel::write(const std::filesystem::path& file) const {
  json out = {{"format", kChannelFormat},     {"version", kChannelVersion},
              {"network", network},           {"detector", detector},
              {"threshold", threshold},       {"false_alarms_per_hour", budget.per_hour},
              {"benign_hours", budget.hours}, {"benign_alarms", budget.allowed.windows},
              {"tails", tails.json()}};
  write_file(file, sealed_text(std::move(out)));
}

NetworkChannel NetworkChannel::read(const std::filesystem::path& file, const Warn& warn) {
  const std::string name = file.string();
  LargeJson content(checked_json_file(file));
  json& in = content.value;
  if (!in.is_object() || in.value("format", json()) != kChannelFormat ||
      in.value("version", json()) != kChannelVersion) {
    throw Error(ExitCode::kData, name + ": not a channel of this version of kdgat",
                "run the fusion again");
  }
  check_seal(in, file,
             {"format", "version", "network", "detector", "threshold", "false_alarms_per_hour",
              "benign_hours", "benign_alarms", "tails"},
             warn);
  NetworkChannel out;
  try {
    in.at("network").get_to(out.network);
    in.at("detector").get_to(out.detector);
    in.at("threshold").get_to(out.threshold);
    in.at("false_alarms_per_hour").get_to(out.budget.per_hour);
    in.at("benign_hours").get_to(out.budget.hours);
    in.at("benign_alarms").get_to(out.budget.allowed.windows);
    out.tails = Tails::from_json(in.at("tails"), 1, name);
  } catch (const json::exception& error) {
    throw Error(ExitCode::kData, name + ": " + error.what(), "run the fusion again");
  }
  if (!std::isfinite(out.threshold)) {
    throw Error(ExitCode::kData, name + ": the threshold is not finite", "run the fusion again");
  }
  return out;
}

}  // namespace kdgat::decision
