// JSON that others may have written. It is read strictly: no name stands twice in an object,
// nothing is nested deeper than kDeepestJson (copying and comparing call themselves for each
// level), and no text is larger than kLargestJson. Running out of memory throws std::bad_alloc and
// never aborts.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kdgat/error.h"
#include "kdgat/small_file.h"

namespace kdgat {

inline constexpr int kDeepestJson = 100;

/// Empties a value without asking for memory. The library's own destructor asks for some, and ends
/// the program where there is none left.
inline void dismantle(nlohmann::json& value) noexcept {
  if (auto* list = value.get_ptr<nlohmann::json::array_t*>()) {
    for (nlohmann::json& one : *list) dismantle(one);
    list->clear();
  } else if (auto* object = value.get_ptr<nlohmann::json::object_t*>()) {
    for (auto& one : *object) dismantle(one.second);
    object->clear();
  }
}

/// A large value whose end needs no memory, even while std::bad_alloc passes.
struct LargeJson {
  explicit LargeJson(nlohmann::json from) : value(std::move(from)) {}
  LargeJson(const LargeJson&) = delete;
  LargeJson& operator=(const LargeJson&) = delete;
  ~LargeJson() { dismantle(value); }

  nlohmann::json value;
};

/// Why a text is refused, and the byte up to which it was read where that is known.
struct JsonFault {
  std::string what;
  std::optional<std::size_t> byte;
};

namespace detail {

/// Builds a value from the events of nlohmann's parser.
class StrictJson {
 public:
  explicit StrictJson(int deepest) : deepest_(deepest) {}
  ~StrictJson() { dismantle(root_); }
  StrictJson(const StrictJson&) = delete;
  StrictJson& operator=(const StrictJson&) = delete;

  using json = nlohmann::json;
  bool null() { return put(nullptr); }
  bool boolean(bool value) { return put(value); }
  bool number_integer(json::number_integer_t value) { return put(value); }
  bool number_unsigned(json::number_unsigned_t value) { return put(value); }
  bool number_float(json::number_float_t value, const std::string&) { return put(value); }
  bool string(std::string& value) { return put(std::move(value)); }
  bool binary(json::binary_t&) { return false; }
  bool start_object(std::size_t) { return open(json::value_t::object); }
  bool start_array(std::size_t) { return open(json::value_t::array); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }

  bool key(std::string& name) {
    auto& object = open_.back()->get_ref<json::object_t&>();
    const auto [place, is_new] = object.emplace(name, nullptr);
    names_.back() = place->first;
    value_ = &place->second;
    if (!is_new) fault_ = {"\"" + path() + "\" is given twice", {}};
    return is_new;
  }
  template <class Fault>
  bool parse_error(std::size_t byte, const std::string&, const Fault& fault) {
    fault_ = {"not valid JSON: " + words_of(fault.what()), byte};
    return false;
  }

  JsonFault& fault() { return fault_; }
  json take() { return std::move(root_); }

 private:
  template <class T>
  bool put(T&& value) {
    slot() = std::forward<T>(value);
    return true;
  }
  bool open(json::value_t kind) {
    if (static_cast<int>(open_.size()) == deepest_) {
      fault_ = {"JSON nested deeper than " + std::to_string(deepest_) + " levels", {}};
      return false;
    }
    json& place = slot();
    place = kind;
    open_.push_back(&place);
    names_.emplace_back();
    return true;
  }
  bool close() {
    open_.pop_back();
    names_.pop_back();
    return true;
  }
  /// Where the next value belongs. Elements of a list may move while it grows, so a pointer is held
  /// to the last one alone, and only while it is open.
  json& slot() {
    if (open_.empty()) return root_;
    if (open_.back()->is_object()) return *value_;
    auto& list = open_.back()->get_ref<json::array_t&>();
    names_.back() = std::to_string(list.size());
    return list.emplace_back();
  }
  std::string path() const {
    std::string out;
    for (const std::string& name : names_) out += (out.empty() ? "" : ".") + name;
    return out;
  }
  /// What nlohmann says without its "[json.exception...] parse error at line 3, column 5:".
  static std::string words_of(const std::string& what) {
    const std::size_t column = what.find("column ");
    const std::size_t colon = column == std::string::npos ? column : what.find(": ", column);
    if (colon != std::string::npos) return what.substr(colon + 2);
    const std::size_t bracket = what.find("] ");
    return bracket == std::string::npos ? what : what.substr(bracket + 2);
  }

  int deepest_;
  json root_;
  json* value_ = nullptr;           // of the name that was read last
  std::vector<json*> open_;         // lists and objects around the next value
  std::vector<std::string> names_;  // where each of them is just now
  JsonFault fault_;
};

}  // namespace detail

/// What `text` holds; nothing and the reason in `fault` where it is refused, as it is if it has
/// more than `largest` bytes.
inline std::optional<nlohmann::json> strict_json(std::string_view text, JsonFault& fault,
                                                 int deepest = kDeepestJson,
                                                 std::size_t largest = kLargestJson) {
  if (text.size() > largest) {
    fault = {larger_than(text.size(), largest), {}};
    return std::nullopt;
  }
  detail::StrictJson built(deepest);
  if (nlohmann::json::sax_parse(text.begin(), text.end(), &built)) return built.take();
  fault = std::move(built.fault());
  return std::nullopt;
}

/// What `text` holds; a discarded value where it is refused.
inline nlohmann::json json_or_none(std::string_view text) {
  JsonFault fault;
  auto read = strict_json(text, fault);
  return read ? std::move(*read) : nlohmann::json(nlohmann::json::value_t::discarded);
}

/// What `text` holds, which stands in `where`. Throws Error(kData) with the reason, at where:line
/// if the line is known and `where` is not empty.
inline nlohmann::json checked_json(std::string_view text, const std::string& where) {
  JsonFault fault;
  if (auto read = strict_json(text, fault)) return std::move(*read);
  std::string place = where;
  if (fault.byte && !where.empty()) {
    std::size_t line = 1;
    for (const char c : text.substr(0, *fault.byte)) line += c == '\n' ? 1 : 0;
    place += ":" + std::to_string(line);
  }
  throw Error(ExitCode::kData, fault.what, "", place);
}

/// What a file holds. Throws Error(kData) as checked_json() and small_file().
inline nlohmann::json checked_json_file(const std::filesystem::path& file) {
  return checked_json(small_file(file, kLargestJson), file.string());
}

}  // namespace kdgat
