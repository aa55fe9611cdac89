// JSON Schema of options: the only validator, and the source of --help, flags, docs and messages.
// Knows the subset that kdgat/options.h writes (type, items, minimum, maximum, enum, default,
// description, extensions that begin with x-); knows no profile and no stage.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/system/record.h"

namespace kdgat {

/// A value as someone wrote it. `text` is the source of an unquoted scalar ("" for others), so that
/// `precision: 32` may still be the text "32".
struct Value {
  nlohmann::json value;
  std::string text;
  std::vector<Value> items;  ///< of a list; `value` then holds their values
};

/// An unquoted scalar, typed by the YAML 1.2 core schema: null, true/false, integers, floats, else
/// text (so `no` is a text).
Value plain_scalar(const std::string& text);

/// A value as the option stores it, or what is wrong with it ("0 is outside [1e-06, 1]").
struct Checked {
  nlohmann::json value;
  std::string problem;  ///< "" = good
};

/// In the schema of a text: it may be any bytes, as names of files may. Others are UTF-8.
inline constexpr const char* kAnyBytes = "x-any-bytes";
/// Published names.
inline constexpr const char* kAliases = "x-aliases";

/// What the schema of one option, or of one element of a list, says.
struct OptionSchema {
  std::string type;          ///< "array" of a list
  nlohmann::json items;      ///< schema of the elements of a list; null of others
  nlohmann::json choices;    ///< allowed texts, or of a list of its elements; null = any
  nlohmann::json examples;   ///< to offer where any is allowed
  nlohmann::json otherwise;  ///< its default; null = none
  std::optional<double> low, high;
  std::size_t fewest = 0;  ///< elements
  std::vector<std::string> aliases, set_by;
  std::string words, purpose;
  std::optional<std::string> advice;  ///< of one that matters first
  bool is_runtime = false, is_later = false, is_any_bytes = false;

  static auto keys() {
    using O = OptionSchema;
    return std::tuple{key("type", &O::type),         key("items", &O::items),
                      key("enum", &O::choices),      key("examples", &O::examples),
                      key("default", &O::otherwise), key("minimum", &O::low),
                      key("maximum", &O::high),      key("minItems", &O::fewest),
                      key("description", &O::words), key(kAliases, &O::aliases),
                      key("x-set-by", &O::set_by),   key("x-purpose", &O::purpose),
                      key("x-first", &O::advice),    key("x-runtime", &O::is_runtime),
                      key("x-later", &O::is_later),  key(kAnyBytes, &O::is_any_bytes)};
  }
  /// What it says of each element, of a list; itself of others.
  OptionSchema element() const;
};
OptionSchema read_option(const nlohmann::json& option_schema);

/// A choice that ends with :N or :P is a form: every:N takes every:5, a whole number from 1 on;
/// fragmentation:P takes fragmentation:1.5, a number above 1.
bool is_form(const std::string& choice);
bool has_forms(const nlohmann::json& choices);
/// The pattern of JSON Schema that choices come to, forms among them or not.
std::string pattern_of(const nlohmann::json& choices);

/// 1 becomes 1.0 for a number, 1e3 becomes 1000 for an integer, `a,b` and `a` lists for a list.
Checked check_value(const nlohmann::json& schema, const Value& value);

/// The schemas of options by their own names; an empty object if there are none.
const nlohmann::json& options_in(const nlohmann::json& options_schema);
/// The option's own name when `name` is it or one of its aliases; "" if the schema has none such.
std::string own_option_name(const nlohmann::json& options_schema, const std::string& name);
std::vector<std::string> own_option_names(const nlohmann::json& options_schema);
/// Own names, then aliases.
std::vector<std::string> option_names(const nlohmann::json& options_schema);
/// The schema of one option by its own name.
const nlohmann::json& option_schema(const nlohmann::json& options_schema, const std::string& own);

/// One paragraph an option: flag, what it is, bounds, default, published names. `prefix` stands
/// before every name ("data.").
std::string options_text(const nlohmann::json& options_schema, const std::string& prefix = "");

/// `batch_size` as a flag: --batch-size.
std::string flag_of(const std::string& option);
}  // namespace kdgat
