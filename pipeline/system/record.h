// Records: structs that are kept, or printed, as JSON. A struct lists its keys once in
// `static auto keys()`; reading, writing and the words of `kdgat help json` walk that list.
//
//   struct RunGit {
//     std::string commit;
//     std::optional<bool> dirty;
//     static auto keys() {
//       return std::tuple{key("commit", &RunGit::commit, "its hash"),
//                         key("dirty", &RunGit::dirty, "with changes")};
//     }
//   };
//
// Member types: texts, numbers, bool, paths, JSON as it stands, other records, structs of the SDK
// that are read from JSON, and std::optional, std::vector and std::map (by text) of them. An
// optional without a value is left out, or null where its key is or_null(). A key of which no help
// tells needs no words.
#pragma once

#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace kdgat {

template <class Record, class T>
struct Key {
  const char* name;
  T Record::*member;
  const char* words;
  bool is_null = false;
  bool is_own = false;
  const char* type = nullptr;

  /// Written as null where there is no value, or no finite number.
  Key or_null() && {
    is_null = true;
    return *this;
  }
  /// Each record has another one, so that it is not worth while to keep equal texts once.
  Key own() && {
    is_own = true;
    return *this;
  }
  /// What `kdgat help json` says of its type ("open", "@run_git"); of an optional, that it is
  /// always there.
  Key of_type(const char* said) && {
    type = said;
    return *this;
  }
};

template <class Record, class T>
constexpr Key<Record, T> key(const char* name, T Record::*member, const char* words = "") {
  return {name, member, words};
}

namespace record {

template <class T>
concept IsRecord = requires {
  T::keys();
};

template <class T>
struct Of {
  using type = void;
};
template <class T>
struct Of<std::optional<T>> {
  static constexpr bool is_optional = true;
  using type = T;
};
template <class T>
struct Of<std::vector<T>> {
  static constexpr bool is_list = true;
  using type = T;
};
template <class T>
struct Of<std::map<std::string, T>> {
  static constexpr bool is_map = true;
  using type = T;
};
template <class T>
concept IsOptional = requires {
  Of<T>::is_optional;
};
template <class T>
concept IsList = requires {
  Of<T>::is_list;
};
template <class T>
concept IsMap = requires {
  Of<T>::is_map;
};
template <class T>
concept IsText = std::is_same_v<T, std::string> || std::is_same_v<T, std::filesystem::path>;
template <class T>
concept IsJson = std::is_same_v<T, nlohmann::json>;

/// "" if the value can be read as a T, else what it should be: "a text".
template <class T>
const char* wanted(const nlohmann::json& value) {
  if constexpr (IsOptional<T>) return wanted<typename Of<T>::type>(value);
  if constexpr (IsText<T>) return value.is_string() ? "" : "a text";
  if constexpr (std::is_same_v<T, bool>) return value.is_boolean() ? "" : "true or false";
  if constexpr (std::is_arithmetic_v<T>) return value.is_number() ? "" : "a number";
  if constexpr (IsList<T>) return value.is_array() ? "" : "a list";
  if constexpr (IsRecord<T> || IsMap<T>) return value.is_object() ? "" : "an object";
  return "";
}

template <class T>
T read(const nlohmann::json& value);

template <class T>
void read_into(const nlohmann::json& value, T& to) {
  if (*wanted<T>(value) != '\0') return;
  if constexpr (IsOptional<T>) {
    using Inner = typename Of<T>::type;
    const bool wants_whole = std::is_integral_v<Inner> && !std::is_same_v<Inner, bool>;
    if (!wants_whole || value.is_number_integer()) read_into(value, to.emplace());
  } else if constexpr (IsText<T>) {
    to = value.get<std::string>();
  } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    const bool fits = std::is_signed_v<T> || value >= 0;
    if (value.is_number_integer() && fits) to = value.get<T>();
  } else if constexpr (std::is_arithmetic_v<T> || IsJson<T>) {
    to = value.get<T>();
  } else if constexpr (IsList<T>) {
    for (const nlohmann::json& item : value) {
      if (*wanted<typename Of<T>::type>(item) == '\0') read_into(item, to.emplace_back());
    }
  } else if constexpr (IsMap<T>) {
    for (const auto& [name, item] : value.items()) read_into(item, to[name]);
  } else if constexpr (IsRecord<T>) {
    to = read<T>(value);
  } else {
    value.get_to(to);
  }
}

/// What is absent or of another type keeps its default; in a list it is left out.
template <class T>
T read(const nlohmann::json& from) {
  T out;
  if (!from.is_object()) return out;
  const auto take = [&](const auto& key) {
    const auto found = from.find(key.name);
    if (found != from.end() && !found->is_null()) read_into(*found, out.*(key.member));
  };
  std::apply([&](const auto&... key) { (take(key), ...); }, T::keys());
  return out;
}

/// What does not have the type of its key, as `"threads" is not a number`; "" if there is none.
/// What is null is absent.
template <class T>
std::string problem(const nlohmann::json& from) {
  std::string out;
  const auto check = [&](const auto& key) {
    using Member = std::decay_t<decltype(std::declval<T>().*(key.member))>;
    const auto found = from.find(key.name);
    if (!out.empty() || found == from.end() || found->is_null()) return;
    const char* const right = wanted<Member>(*found);
    if (*right != '\0') out = std::string("\"") + key.name + "\" is not " + right;
  };
  std::apply([&](const auto&... key) { (check(key), ...); }, T::keys());
  return out;
}

template <class Json, class T>
Json write(const T& value) {
  if constexpr (IsRecord<T>) {
    Json out = Json::object();
    const auto put = [&](const auto& key) {
      const auto& member = value.*(key.member);
      Json written = write<Json>(member);
      if constexpr (IsOptional<std::decay_t<decltype(member)>>) {
        if (!member && !key.is_null) return;
      }
      out[key.name] = std::move(written);
    };
    std::apply([&](const auto&... key) { (put(key), ...); }, T::keys());
    return out;
  } else if constexpr (IsOptional<T>) {
    return value ? write<Json>(*value) : Json();
  } else if constexpr (IsList<T>) {
    Json out = Json::array();
    for (const auto& item : value) out.push_back(write<Json>(item));
    return out;
  } else if constexpr (IsMap<T>) {
    Json out = Json::object();
    for (const auto& [name, item] : value) out[name] = write<Json>(item);
    return out;
  } else if constexpr (IsText<T>) {
    return std::string(value);
  } else if constexpr (std::is_floating_point_v<T>) {
    return std::isfinite(value) ? Json(value) : Json();
  } else {
    return value;
  }
}

template <class T>
std::string type_of() {
  if constexpr (IsOptional<T> || IsList<T> || IsMap<T>) return type_of<typename Of<T>::type>();
  if constexpr (IsText<T>) return "string";
  if constexpr (std::is_same_v<T, bool>) return "boolean";
  if constexpr (std::is_integral_v<T>) return "integer";
  if constexpr (std::is_floating_point_v<T>) return "number";
  if constexpr (IsRecord<T>) return "object";
  return "any";
}

/// The lines of a form of JSON (verbs/json/json_forms.h), each path behind `prefix`.
template <class T>
std::string keys_text(const std::string& prefix = "") {
  std::string out;
  const auto add = [&](const auto& key) {
    using Member = std::decay_t<decltype(std::declval<T>().*(key.member))>;
    std::string path = prefix + key.name;
    if constexpr (IsList<Member>) path += "[]";
    std::string type = key.type == nullptr ? type_of<Member>() : key.type;
    if (key.is_null) type += "|null";
    const bool may_lack = IsOptional<Member> && !key.is_null && key.type == nullptr;
    out += path + (may_lack ? "? " : " ") + (IsMap<Member> ? "object" : type) + " " + key.words;
    out += '\n';
    if constexpr (IsMap<Member>) out += path + ".* " + type + " its value\n";
    if constexpr (IsRecord<Member> || IsList<Member> || IsOptional<Member>) {
      using Inner = std::conditional_t<IsRecord<Member>, Member, typename Of<Member>::type>;
      if constexpr (IsRecord<Inner>) {
        if (key.type == nullptr) out += keys_text<Inner>(path + ".");
      }
    }
  };
  std::apply([&](const auto&... key) { (add(key), ...); }, T::keys());
  return out;
}

}  // namespace record
}  // namespace kdgat
