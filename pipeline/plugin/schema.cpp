#include "pipeline/plugin/schema.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <sstream>

#include "kdgat/text.h"
#include "pipeline/show/json_lookup.h"
#include "pipeline/show/text.h"

namespace kdgat {

using nlohmann::json;

OptionSchema OptionSchema::element() const { return type == "array" ? read_option(items) : *this; }

OptionSchema read_option(const json& schema) { return record::read<OptionSchema>(schema); }

namespace {

template <class T>
bool parse_all(std::string_view text, T& out) {
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

std::string bounds_text(const OptionSchema& option) {
  if (!option.low && !option.high) return "";
  const auto bound = [](const std::optional<double>& one) {
    return one ? value_text(*one) : std::string("...");
  };
  return "[" + bound(option.low) + ", " + bound(option.high) + "]";
}

std::string choices_text(const json& choices) {
  std::string out;
  for (const json& choice : choices) {
    const std::string text = choice.is_string() ? choice.get<std::string>() : choice.dump();
    out += (out.empty() ? "" : ", ") + (text.empty() ? "\"\"" : text);
  }
  return out;
}

Checked check_bounds(const OptionSchema& option, json value) {
  const double number = value.get<double>();
  if ((option.low && number < *option.low) || (option.high && number > *option.high)) {
    return {nullptr, quoted_value(value) + " is outside " + bounds_text(option)};
  }
  return {std::move(value), ""};
}

Checked check_read(const OptionSchema& option, const Value& value);

Checked check_list(const OptionSchema& option, const Value& value) {
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
  if (items.size() < option.fewest) return {nullptr, "[] is empty"};
  json out = json::array();
  const OptionSchema element = option.element();
  for (const Value& item : items) {
    Checked checked = check_read(element, item);
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

Checked check_text(const OptionSchema& option, const Value& value) {
  std::string text;
  if (value.value.is_string()) {
    text = value.value.get<std::string>();
  } else if (!value.value.is_array() && !value.value.is_object()) {
    text = value.text;  // precision: 32 means the text
  } else {
    return {nullptr, quoted_value(value.value) + " is not a text"};
  }
  // Stages are told of options in JSON, which holds nothing else.
  if (!option.is_any_bytes && !is_utf8(text)) {
    return {nullptr, shortened(escaped_name(text), kLongestValue) + " is not UTF-8"};
  }
  if (!option.choices.is_null() && !is_choice(option.choices, text)) {
    return {nullptr, quoted_value(text) + " is not one of " + choices_text(option.choices)};
  }
  return {text, ""};
}

std::string type_word(const OptionSchema& option) {
  if (option.type == "array") {
    const std::string item = type_word(option.element());
    return item + " " + item + " ...";
  }
  if (option.type == "boolean") return "true|false";
  if (option.type == "integer") return "N";
  if (option.type == "number") return "X";
  return "TEXT";
}

Checked check_read(const OptionSchema& option, const Value& value) {
  const std::string& type = option.type;
  const json& v = value.value;
  if (type == "array") return check_list(option, value);
  if (type == "string") return check_text(option, value);
  if (v.is_null()) return {nullptr, "has no value"};
  if (type == "boolean") {
    if (v.is_boolean()) return {v, ""};
    return {nullptr, quoted_value(v) + " is not true or false"};
  }
  if (type == "number") {
    if (v.is_number()) return check_bounds(option, v.get<double>());
    return {nullptr, quoted_value(v) + " is not a number"};
  }
  if (v.is_number_integer()) return check_bounds(option, v.get<int64_t>());
  if (v.is_number_float() && v.get<double>() == std::floor(v.get<double>()) &&
      std::abs(v.get<double>()) < 9e15) {
    return check_bounds(option, static_cast<int64_t>(v.get<double>()));
  }
  return {nullptr, quoted_value(v) + " is not a whole number"};
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
  return check_read(read_option(schema), value);
}

const json& options_in(const json& schema) {
  static const json none = json::object();
  const json& found = below(schema, "properties");
  return found.is_object() ? found : none;
}

std::string own_option_name(const json& schema, const std::string& name) {
  if (options_in(schema).contains(name)) return name;
  for (const auto& [own, option] : options_in(schema).items()) {
    const json& aliases = below(option, kAliases);
    if (std::find(aliases.begin(), aliases.end(), json(name)) != aliases.end()) return own;
  }
  return "";
}

std::vector<std::string> own_option_names(const json& schema) {
  std::vector<std::string> out;
  for (const auto& [name, option] : options_in(schema).items()) out.push_back(name);
  return out;
}

std::vector<std::string> option_names(const json& schema) {
  std::vector<std::string> own = own_option_names(schema), published;
  for (const std::string& name : own) {
    for (const json& alias : below(option_schema(schema, name), kAliases)) {
      published.push_back(alias);
    }
  }
  own.insert(own.end(), published.begin(), published.end());
  return own;
}

const json& option_schema(const json& schema, const std::string& own) {
  return options_in(schema).at(own);
}

std::string options_text(const json& schema, const std::string& prefix) {
  if (options_in(schema).empty()) return "  (none)\n";
  constexpr size_t kIndent = 34;
  std::string out;
  for (const auto& [name, described] : options_in(schema).items()) {
    const OptionSchema option = read_option(described), element = option.element();
    std::string head = "  " + flag_of(prefix + name) + " " + type_word(option);
    std::string body = option.words;
    if (!element.choices.is_null()) body += " One of " + choices_text(element.choices) + ".";
    if (const std::string bounds = bounds_text(element); !bounds.empty()) body += " " + bounds;
    if (!option.otherwise.is_null()) body += " (default " + value_text(option.otherwise) + ")";
    for (const std::string& alias : option.aliases) {
      body += (&alias == &option.aliases.front() ? " (also " : " ") + alias;
    }
    if (!option.aliases.empty()) body += ")";
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
