// Which options come first and what an option is for: the one place for help and documentation.
// Names of options alone; which stage has one is said by the stages.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace kdgat {

/// An option that most people look at first, and what to know of it.
struct FirstOption {
  std::string name, advice;
};

/// The ten, in the order in which they are worth a look.
const std::vector<FirstOption>& first_options();

/// Options of one purpose: names, beginnings that end with * and ends that begin with it. A name
/// belongs to the first purpose that takes it.
struct OptionPurpose {
  std::string title;
  std::vector<std::string> patterns;
};

const std::vector<OptionPurpose>& option_purposes();

/// The options of one purpose.
struct OptionGroup {
  std::string title;
  std::vector<std::string> names;
};

/// `names` by purpose, in the order of the patterns; those without a purpose last, below "Others".
/// Purposes without a name are left out.
std::vector<OptionGroup> grouped_options(const std::vector<std::string>& names);

/// Names of first_options() and patterns of option_purposes() that none of `names` is like.
std::vector<std::string> unknown_in_groups(const std::vector<std::string>& names);

/// Own names of the first options that a schema has, in their order.
std::vector<std::string> first_of(const nlohmann::json& options_schema);

/// Help of the options named, in this order.
std::string options_text_of(const nlohmann::json& options_schema,
                            const std::vector<std::string>& names);

/// Help of all options, a heading for each purpose.
std::string options_by_purpose(const nlohmann::json& options_schema);

}  // namespace kdgat
