// NumberTables: numbers as tables of C, with a count of their bytes. Knows no model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace kdgat::exporting {

/// A type of C and the bytes that one of it takes.
struct CType {
  const char* name;
  int64_t bytes;
};
inline constexpr CType kCFloat{"float", 4}, kCDouble{"double", 8}, kCInt8{"int8_t", 1},
    kCUint8{"uint8_t", 1}, kCInt16{"int16_t", 2}, kCUint16{"uint16_t", 2}, kCUint32{"uint32_t", 4};
/// The smallest one without a sign that holds whole numbers below `end`.
CType c_type_below(std::size_t end);

/// #define NAME VALUE as a line, and the same of a whole number without a sign.
std::string c_define(const std::string& name, const std::string& value);
std::string c_define(const std::string& name, int64_t value);
/// "{a, b, c}".
std::string c_braced(const std::vector<std::string>& members);

class NumberTables {
 public:
  /// static const TYPE NAME[] of these entries, each as text. A table of C has an entry at least:
  /// of none there is one `empty`.
  void add(const CType& type, const std::string& name, const std::vector<std::string>& entries,
           const std::string& empty = "0");
  /// Of whole numbers.
  template <class T>
  void add_numbers(const CType& type, const std::string& name, const std::vector<T>& numbers) {
    std::vector<std::string> entries;
    entries.reserve(numbers.size());
    for (const T& one : numbers) entries.push_back(std::to_string(one));
    add(type, name, entries);
  }

  /// static const TYPE NAME of these members: what points at the tables. The compiler sees through
  /// it, so it takes no bytes.
  void add_struct(const std::string& type, const std::string& name,
                  const std::vector<std::string>& members);

  const std::string& text() const { return text_; }
  int64_t bytes() const { return bytes_; }

 private:
  std::string text_;
  int64_t bytes_ = 0;
};

}  // namespace kdgat::exporting
