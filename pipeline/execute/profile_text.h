// A resolved profile as text: a YAML file that resolves to itself, and JSON. Starts nothing.
#pragma once

#include <iosfwd>
#include <nlohmann/json.hpp>

#include "pipeline/profile/profile.h"

namespace kdgat {

/// As YAML; with `origin` who set each value stands beside it.
void write_profile(std::ostream& out, const Profile& profile, bool origin);
/// The same as JSON; with `origin` each value is {"value", "origin"}.
nlohmann::ordered_json profile_json(const Profile& profile, bool origin);

}  // namespace kdgat
