#include "pipeline/plugin/schema.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <sstream>

#include "kdgat/text.h"
#include "pipeline/show/text.h"

namespace kdgat {

using nlohmann::json;

namespace {

template <class T>
bool parse_all(std::string_view text, T& out) {
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

std::string bounds_text(const json& schema) {
  const bool low = schema.contains("minimum"), high = schema.contains("maximum");
  const auto bound = [&](const char* name) { return value_text(schema[name].get<double>()); };
  if (low && high) {
    return "[" + bound("minimum") + ", " + bound("maximum") + "]";
  }
  if (low) return "[" + bound("minimum") + ", ...]";
  return high ? "[..., " + bound("maximum") + "]" : "";
}

std::string choices_text(const json& schema) {
  std::string out;
  for (const json& choice : schema.at("enum")) {
    const std::string text = choice.is_string() ? choice.get<std::string>() : choice.dump();
    out += (out.empty() ? "" : ", ") + (text.empty() ? "\"\"" : text);
  }
  return out;
}

Checked check_bounds(const json& schema, json value) {
  const double number = value.get<double>();
  const bool outside = (schema.contains("minimum") && number < schema["minimum"].get<double>()) ||
                       (schema.contains("maximum") && number > schema["maximum"].get<double>());
  if (outside) return {nullptr, quoted_value(value) + " is outside " + bounds_text(schema)};
  return {std::move(value), ""};
}

Checked check_list(const json& schema, const Value& value) {
  std::vector<Value> items = value.items;
  if (!value.value.is_array()) {
    if (value.value.is_null()) return {nullptr, "has no value; expected a list"};
    std::string word =
        value.text.empty() && value.value.is_string() ? value.value.get<std::string>() : value.text;
    const bool is_bracketed = word.size() >= 2 && word.front() == '[' && word.back() == ']';
    if (is_bracketed) word = word.substr(1, word.size() - 2);  // as a list is written in a profile
    std::stringstream words(word);
    while (std::getline(words, word, ',')) {
      if (is_bracketed) word.erase(0, word.find_first_not_of(' '));
      items.push_back(plain_scalar(word));
    }
  }
  if (items.size() < schema.value("minItems", 0U)) return {nullptr, "[] is empty"};
  json out = json::array();
  for (const Value& item : items) {
    Checked checked = check_value(schema.at("items"), item);
    if (!checked.problem.empty()) return checked;
    out.push_back(std::move(checked.value));
  }
  return {std::move(out), ""};
}

/// Whether a text is one of the choices, or of the form of one.
bool is_choice(const json& choices, const std::string& text) {
  return std::any_of(choices.begin(), choices.end(), [&](const json& choice) {
    if (choice == text) return !is_form(text);
    if (!choice.is_string() || !is_form(choice)) return false;
    const std::string form = choice.get<std::string>(), name = form.substr(0, form.size() - 1);
    if (!text.starts_with(name)) return false;
    const std::string number = text.substr(name.size());
    if (number.empty() || std::isdigit(static_cast<unsigned char>(number.front())) == 0)
      return false;
    if (form.back() == 'N') {
      int64_t whole = 0;
      return parse_all(number, whole) && whole >= 1;
    }
    double real = 0;
    return parse_all(number, real) && std::isfinite(real) && real > 1;
  });
}

Checked check_text(const json& schema, const Value& value) {
  std::string text;
  if (value.value.is_string()) {
    text = value.value.get<std::string>();
  } else if (!value.value.is_array() && !value.value.is_object()) {
    text = value.text;  // precision: 32 means the text
  } else {
    return {nullptr, quoted_value(value.value) + " is not a text"};
  }
  // Stages are told of options in JSON, which holds nothing else.
  if (!schema.value(kAnyBytes, false) && !is_utf8(text)) {
    return {nullptr, shortened(escaped_name(text), kLongestValue) + " is not UTF-8"};
  }
  if (schema.contains("enum")) {
    const json& choices = schema["enum"];
    if (!is_choice(choices, text)) {
      return {nullptr, quoted_value(text) + " is not one of " + choices_text(schema)};
    }
  }
  return {text, ""};
}

std::string type_word(const json& schema) {
  const std::string type = schema.value("type", "");
  if (type == "array") {
    const std::string item = type_word(schema.at("items"));
    return item + " " + item + " ...";
  }
  if (type == "boolean") return "true|false";
  if (type == "integer") return "N";
  if (type == "number") return "X";
  return "TEXT";
}

}  // namespace

Value plain_scalar(const std::string& text) {
  if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL") {
    return {nullptr, text, {}};
  }
  if (text == "true" || text == "True" || text == "TRUE") return {true, text, {}};
  if (text == "false" || text == "False" || text == "FALSE") return {false, text, {}};
  const bool numeric = text.find_first_not_of("0123456789+-.eE") == std::string::npos &&
                       text.find_first_of("0123456789") != std::string::npos &&
                       std::tolower(text[0]) != 'e';
  if (int64_t whole = 0; numeric && parse_all(text, whole)) return {whole, text, {}};
  if (double real = 0; numeric && parse_all(text, real) && std::isfinite(real)) {
    return {real, text, {}};
  }
  return {text, text, {}};
}

bool is_form(const std::string& choice) { return choice.ends_with(":N") || choice.ends_with(":P"); }

bool has_forms(const json& choices) {
  return std::any_of(choices.begin(), choices.end(), [](const json& choice) {
    return choice.is_string() && is_form(choice.get<std::string>());
  });
}

std::string pattern_of(const json& choices) {
  std::string out;
  for (const json& choice : choices) {
    const std::string text = choice.is_string() ? choice.get<std::string>() : choice.dump();
    const char* number = text.ends_with(":N") ? "[1-9][0-9]*" : "[0-9]+(\\.[0-9]+)?";
    out += (out.empty() ? "" : "|") +
           (is_form(text) ? text.substr(0, text.size() - 1) + number : text);
  }
  return "^(" + out + ")$";
}

Checked check_value(const json& schema, const Value& value) {
  const std::string type = schema.value("type", "");
  const json& v = value.value;
  if (type == "array") return check_list(schema, value);
  if (type == "string") return check_text(schema, value);
  if (v.is_null()) return {nullptr, "has no value"};
  if (type == "boolean") {
    if (v.is_boolean()) return {v, ""};
    return {nullptr, quoted_value(v) + " is not true or false"};
  }
  if (type == "number") {
    if (v.is_number()) return check_bounds(schema, v.get<double>());
    return {nullptr, quoted_value(v) + " is not a number"};
  }
  if (v.is_number_integer()) return check_bounds(schema, v.get<int64_t>());
  if (v.is_number_float() && v.get<double>() == std::floor(v.get<double>()) &&
      std::abs(v.get<double>()) < 9e15) {
    return check_bounds(schema, static_cast<int64_t>(v.get<double>()));
  }
  return {nullptr, quoted_value(v) + " is not a whole number"};
}

std::string own_option_name(const json& schema, const std::string& name) {
  const auto properties = schema.find("properties");
  if (properties == schema.end()) return "";
  if (properties->contains(name)) return name;
  for (const auto& [own, option] : properties->items()) {
    const auto aliases = option.find("x-aliases");
    if (aliases != option.end() &&
        std::find(aliases->begin(), aliases->end(), json(name)) != aliases->end()) {
      return own;
    }
  }
  return "";
}

std::vector<std::string> own_option_names(const json& schema) {
  std::vector<std::string> out;
  const auto properties = schema.find("properties");
  if (properties == schema.end()) return out;
  for (const auto& [name, option] : properties->items()) out.push_back(name);
  return out;
}

std::vector<std::string> option_names(const json& schema) {
  std::vector<std::string> own, published;
  const auto properties = schema.find("properties");
  if (properties == schema.end()) return own;
  for (const auto& [name, option] : properties->items()) {
    own.push_back(name);
    const auto aliases = option.find("x-aliases");
    if (aliases == option.end()) continue;
    for (const json& alias : *aliases) published.push_back(alias);
  }
  own.insert(own.end(), published.begin(), published.end());
  return own;
}

const json& option_schema(const json& schema, const std::string& own) {
  return schema.at("properties").at(own);
}

std::string options_text(const json& schema, const std::string& prefix) {
  const auto properties = schema.find("properties");
  if (properties == schema.end() || properties->empty()) return "  (none)\n";
  constexpr size_t kIndent = 34;
  std::string out;
  for (const auto& [name, option] : properties->items()) {
    std::string head = "  " + flag_of(prefix + name) + " " + type_word(option);
    const json& element = option.contains("items") ? option["items"] : option;
    std::string body = option.value("description", "");
    if (element.contains("enum")) body += " One of " + choices_text(element) + ".";
    if (const std::string bounds = bounds_text(element); !bounds.empty()) body += " " + bounds;
    if (option.contains("default")) body += " (default " + value_text(option["default"]) + ")";
    if (option.contains("x-aliases")) {
      body += " (also";
      for (const json& alias : option["x-aliases"]) body += " " + alias.get<std::string>();
      body += ")";
    }
    head += head.size() + 1 < kIndent ? std::string(kIndent - head.size(), ' ')
                                      : "\n" + std::string(kIndent, ' ');
    out += head + wrapped(body, kIndent) + "\n";
  }
  return out;
}

std::string flag_of(const std::string& option) {
  std::string flag = "--" + option;
  std::replace(flag.begin(), flag.end(), '_', '-');
  std::replace(flag.begin(), flag.end(), ' ', '-');
  return flag;
}

}  // namespace kdgat
