// Holds JSON against the JSON Schemas that the program publishes. Stricter than these: a key that a
// schema does not name is a problem, unless it says that there may be others.
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace kdgat::test {

inline bool has_json_type(const nlohmann::json& value, const std::string& type) {
  if (type == "integer") {
    return value.is_number_integer() ||
           (value.is_number() && value.get<double>() == static_cast<double>(value.get<int64_t>()));
  }
  return type == "object"    ? value.is_object()
         : type == "array"   ? value.is_array()
         : type == "string"  ? value.is_string()
         : type == "boolean" ? value.is_boolean()
         : type == "number"  ? value.is_number()
         : type == "null"    ? value.is_null()
                             : false;
}

/// "runs[].id: missing", ...: every problem, in the order of the schema.
inline void add_schema_problems(const nlohmann::json& value, const nlohmann::json& schema,
                                const std::string& path, std::vector<std::string>& problems) {
  using nlohmann::json;
  if (schema.contains("const") && value != schema.at("const")) {
    problems.push_back(path + ": is " + value.dump());
  }
  if (schema.contains("type")) {
    const json& type = schema.at("type");
    const bool fits = type.is_string()
                          ? has_json_type(value, type)
                          : std::any_of(type.begin(), type.end(),
                                        [&](const json& one) { return has_json_type(value, one); });
    if (!fits) {
      problems.push_back(path + ": is " + value.dump().substr(0, 60) + ", not " + type.dump());
      return;
    }
  }
  if (value.is_array() && schema.contains("items")) {
    for (const json& item : value) {
      add_schema_problems(item, schema.at("items"), path + "[]", problems);
    }
  }
  if (!value.is_object()) return;
  const json none = json::object();
  const json& properties = schema.contains("properties") ? schema.at("properties") : none;
  const json others = schema.value("additionalProperties", json(false));
  if (schema.contains("required")) {
    for (const json& key : schema.at("required")) {
      if (!value.contains(key.get<std::string>())) {
        problems.push_back(path + "." + key.get<std::string>() + ": missing");
      }
    }
  }
  for (const auto& [key, member] : value.items()) {
    const std::string below = path + "." + key;
    if (properties.contains(key)) {
      add_schema_problems(member, properties.at(key), below, problems);
    } else if (others.is_object()) {
      add_schema_problems(member, others, below, problems);
    } else if (others == false) {
      problems.push_back(below + ": no such key in the schema");
    }
  }
}

inline std::vector<std::string> schema_problems(const nlohmann::json& value,
                                                const nlohmann::json& schema) {
  std::vector<std::string> problems;
  add_schema_problems(value, schema, "", problems);
  return problems;
}

}  // namespace kdgat::test
