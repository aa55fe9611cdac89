#include "pipeline/execute/profile_text.h"

#include <algorithm>
#include <map>
#include <ostream>
#include <utility>
#include <vector>

#include "kdgat/text.h"
#include "pipeline/plugin/schema.h"
#include "pipeline/records/mlflow_address.h"
#include "pipeline/records/record_options.h"
#include "pipeline/show/quantity.h"
#include "pipeline/show/text.h"

namespace kdgat {

using nlohmann::json;
using nlohmann::ordered_json;

namespace {

/// A text plain where YAML reads it back as the same text, quoted otherwise.
std::string yaml_text(const json& value) {
  if (value.is_array()) {
    std::string out = "[";
    for (const json& item : value) out += (out.size() > 1 ? ", " : "") + yaml_text(item);
    return out + "]";
  }
  if (!value.is_string()) return value_text(value);
  const std::string text = value.get<std::string>();
  const bool safe = !text.empty() && text != "-" && plain_scalar(text).value.is_string() &&
                    text.find_first_not_of(
                        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                        "0123456789_-./ ") == std::string::npos &&
                    text.front() != ' ' && text.back() != ' ' && text.front() != '-';
  return safe ? text : value.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// The keys of the host, as a profile has them: in both forms the same, each once.
std::vector<std::pair<std::string, json>> host_values(const Profile& profile) {
  const auto targets = load_options<RecordOptions>(profile.records);
  std::vector<std::pair<std::string, json>> out = {
      {"dataset", profile.dataset},
      {"device", profile.device},
      {"threads", profile.threads},
      {"nproc", profile.nproc},
      {"memory_limit", exact_bytes(profile.memory_limit)},
      {"allocator", profile.allocator},
      {"records", targets.records},
      {"mlflow_uri", without_password(targets.mlflow_uri)},
      {"mlflow_experiment", targets.mlflow_experiment},
      {"seed", profile.seed},
      {"require", profile.require},
      {"root", profile.root.string()}};
  if (!profile.seeds.empty()) {
    const auto seed =
        std::find_if(out.begin(), out.end(), [](const auto& one) { return one.first == "seed"; });
    out.insert(seed + 1, {"seeds", profile.seeds});
  }
  return out;
}

/// The profile as a file that resolves to itself.
class YamlWriter {
 public:
  YamlWriter(std::ostream& out, bool origin) : out_(out), origin_(origin) {}

  void write(const Profile& profile) {
    for (const auto& [key, value] : host_values(profile)) {
      line(0, key, yaml_text(value), origin_of(profile.origin, key));
    }
    out_ << "data:\n";
    if (!profile.data.path.empty())
      line(1, "path", yaml_text(profile.data.path), profile.data.where);
    settings(1, profile.data.import);
    if (profile.data.synthetic) {
      line(1, "synth", "", profile.data.where);
      settings(2, profile.data.synth);
    }
    out_ << "stages:\n";
    for (const StepSpec& step : profile.steps) {
      line(1, yaml_text(step.name), "", step.where);
      if (step.stage != step.name) line(2, "stage", yaml_text(step.stage), "");
      if (!step.needs.empty()) line(2, "needs", yaml_text(step.needs), "");
      if (step.allocator) line(2, "allocator", yaml_text(*step.allocator), step.allocator_origin);
      settings(2, step.options);
    }
  }

 private:
  static std::string origin_of(const std::map<std::string, std::string>& origins,
                               const std::string& key) {
    const auto found = origins.find(key);
    return found == origins.end() ? "" : found->second;
  }

  void settings(int depth, const Settings& settings) {
    for (const auto& [key, value] : settings.values.items()) {
      line(depth, key, yaml_text(value), origin_of(settings.origin, key));
    }
  }

  void line(int depth, const std::string& key, const std::string& value,
            const std::string& origin) {
    std::string text = std::string(static_cast<size_t>(depth) * 2, ' ') + key + ":" +
                       (value.empty() ? "" : " ") + value;
    if (origin_ && !origin.empty()) {
      constexpr size_t kColumn = 44;
      text += std::string(text.size() < kColumn ? kColumn - text.size() : 1, ' ') + "# " + origin;
    }
    out_ << text << '\n';
  }

  std::ostream& out_;
  bool origin_;
};

}  // namespace

void write_profile(std::ostream& out, const Profile& profile, bool origin) {
  YamlWriter(out, origin).write(profile);
}

ordered_json profile_json(const Profile& profile, bool origin) {
  const auto one = [&](const json& value, const std::string& from) -> ordered_json {
    if (!origin) return ordered_json(value);
    return ordered_json{{"value", value}, {"origin", from}};
  };
  const auto settings = [&](const Settings& from) {
    ordered_json out = ordered_json::object();
    for (const auto& [key, value] : from.values.items()) out[key] = one(value, from.origin.at(key));
    return out;
  };
  ordered_json out;
  for (const auto& [key, value] : host_values(profile)) {
    out[key] = one(value, profile.origin.at(key));
  }
  out["data"] = settings(profile.data.import);
  if (!profile.data.path.empty()) out["data"]["path"] = one(profile.data.path, profile.data.where);
  if (profile.data.synthetic) out["data"]["synth"] = settings(profile.data.synth);
  out["stages"] = ordered_json::object();
  for (const StepSpec& step : profile.steps) {
    ordered_json& body = out["stages"][step.name] = ordered_json::object();
    if (step.stage != step.name) body["stage"] = step.stage;
    if (!step.needs.empty()) body["needs"] = step.needs;
    if (step.allocator) body["allocator"] = one(*step.allocator, step.allocator_origin);
    body.update(settings(step.options));
  }
  return out;
}

}  // namespace kdgat
