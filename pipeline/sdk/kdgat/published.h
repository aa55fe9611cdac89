// What a stage knows of the profiles of a published program whose keys stand in sections within
// sections: which key here each of them is. The host reads such a profile by it and knows none.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace kdgat {

/// A published key that has no option here: accepted at the values of `neutral` (none: at any),
/// with `reason` told.
struct PublishedKey {
  std::string name;
  std::vector<nlohmann::json> neutral;
  std::string reason;
};

struct PublishedProfile {
  std::string section;  ///< a profile that has it runs the stage, with `defaults` below its own
  /// "model_config.common_params.epochs" -> "options.textgcn.max_epochs", or the name of one of
  /// `keys`.
  std::map<std::string, std::string> paths;
  std::string options;  ///< what stands below this path are options of the stage
  std::vector<PublishedKey> keys;
  std::map<std::string, std::string> refused;  ///< sections that are: path -> hint
  /// What the program takes for granted where its profile says nothing.
  std::vector<std::pair<std::string, nlohmann::json>> defaults;
};

inline void to_json(nlohmann::json& out, const PublishedKey& key) {
  out = {{"name", key.name}, {"neutral", key.neutral}, {"reason", key.reason}};
}
inline void from_json(const nlohmann::json& in, PublishedKey& key) {
  key = {in.at("name"), in.at("neutral"), in.at("reason")};
}

inline void to_json(nlohmann::json& out, const PublishedProfile& profile) {
  out = {{"section", profile.section}, {"paths", profile.paths},
         {"options", profile.options}, {"keys", profile.keys},
         {"refused", profile.refused}, {"defaults", profile.defaults}};
}
inline void from_json(const nlohmann::json& in, PublishedProfile& profile) {
  in.at("section").get_to(profile.section);
  in.at("paths").get_to(profile.paths);
  in.at("options").get_to(profile.options);
  in.at("keys").get_to(profile.keys);
  in.at("refused").get_to(profile.refused);
  in.at("defaults").get_to(profile.defaults);
}

}  // namespace kdgat
