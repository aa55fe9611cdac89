// What a profile may have meant: hints for names that are not known, and the name of a data set that
// is given by its path alone. Private to pipeline/profile_*.cpp.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "pipeline/profile/profile.h"

namespace kdgat {

/// What names a key of a profile can have.
struct KnownNames {
  const std::vector<StepSpec>& steps;
  const PluginCatalog& catalog;
  const SectionSchemas& sections;
  const nlohmann::json& keys;  ///< the host's own, as a schema
};

/// For an option that neither the host nor a step of the profile has.
std::string hint_for_option(const std::string& key, const KnownNames& known);

/// For X in X.key that is neither a step nor a stage.
std::string hint_for_target(const std::string& target, const std::string& key,
                            const KnownNames& known);

/// The name of the data set at this path: a plain name without endings, as folders of runs and
/// records have it.
std::string dataset_name(const std::string& path);

}  // namespace kdgat
