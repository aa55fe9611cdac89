// Options by what they are for, and which come first, as their rows in the stages say
// (kdgat/options.h): for help and documentation.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace kdgat {

/// The options of one purpose.
struct OptionGroup {
  std::string title;
  std::vector<std::string> names;
};

/// The options of a schema by purpose, in the order of kPurposeTitles; purposes without an option
/// are left out. A purpose that is not in that list counts as none.
std::vector<OptionGroup> grouped_options(const nlohmann::json& options_schema);

/// Options that most people look at first, in the order of grouped_options().
std::vector<std::string> first_options(const nlohmann::json& options_schema);

/// Help of the options named, in this order.
std::string options_text_of(const nlohmann::json& options_schema,
                            const std::vector<std::string>& names);

/// Help of all options, a heading for each purpose.
std::string options_by_purpose(const nlohmann::json& options_schema);

/// Without the options that a verb in front of the stage sets by words of its own.
nlohmann::json options_of_verb(nlohmann::json options_schema, const std::string& verb);

}  // namespace kdgat
