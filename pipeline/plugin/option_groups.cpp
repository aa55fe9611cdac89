#include "pipeline/plugin/option_groups.h"

#include <algorithm>
#include <iterator>

#include "kdgat/options.h"
#include "pipeline/plugin/schema.h"

namespace kdgat {

using nlohmann::json;

namespace {

using Names = std::vector<std::string>;

std::size_t purpose_of(const json& option) {
  const auto* const end = std::end(kPurposeTitles) - 1;
  return std::find(std::begin(kPurposeTitles), end, read_option(option).purpose) -
         std::begin(kPurposeTitles);
}

}  // namespace

std::vector<OptionGroup> grouped_options(const json& schema) {
  std::vector<OptionGroup> out;
  for (const char* title : kPurposeTitles) out.push_back({title, {}});
  for (const std::string& name : own_option_names(schema)) {
    out[purpose_of(option_schema(schema, name))].names.push_back(name);
  }
  std::erase_if(out, [](const OptionGroup& group) { return group.names.empty(); });
  return out;
}

Names first_options(const json& schema) {
  Names out;
  for (const OptionGroup& group : grouped_options(schema)) {
    std::copy_if(
        group.names.begin(), group.names.end(), std::back_inserter(out),
        [&](const std::string& name) { return read_option(option_schema(schema, name)).advice; });
  }
  return out;
}

std::string options_text_of(const json& schema, const Names& names) {
  std::string out;
  for (const std::string& name : names) {
    out += options_text({{"properties", {{name, option_schema(schema, name)}}}});
  }
  return out;
}

std::string options_by_purpose(const json& schema) {
  std::string out;
  for (const OptionGroup& group : grouped_options(schema)) {
    out += (out.empty() ? "" : "\n") + group.title + "\n" + options_text_of(schema, group.names);
  }
  return out.empty() ? options_text(schema) : out;
}

json options_of_verb(json schema, const std::string& verb) {
  for (const std::string& name : own_option_names(schema)) {
    const Names set_by = read_option(option_schema(schema, name)).set_by;
    if (std::find(set_by.begin(), set_by.end(), verb) != set_by.end()) {
      schema["properties"].erase(name);
    }
  }
  return schema;
}

}  // namespace kdgat
