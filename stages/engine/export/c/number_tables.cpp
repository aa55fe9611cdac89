#include "engine/export/c/number_tables.h"

namespace kdgat::exporting {

CType c_type_below(std::size_t end) {
  constexpr std::size_t kBytes = 1U << 8, kHalves = 1U << 16;
  return end <= kBytes ? kCUint8 : end <= kHalves ? kCUint16 : kCUint32;
}

std::string c_define(const std::string& name, const std::string& value) {
  return "#define " + name + " " + value + "\n";
}

std::string c_define(const std::string& name, int64_t value) {
  return c_define(name, std::to_string(value) + "u");
}

std::string c_braced(const std::vector<std::string>& members) {
  std::string out = "{";
  for (const std::string& one : members) out += (out.size() == 1 ? "" : ", ") + one;
  return out + "}";
}

void NumberTables::add(const CType& type, const std::string& name,
                       const std::vector<std::string>& entries, const std::string& empty) {
  constexpr std::size_t kWidth = 100;
  const std::vector<std::string> none{empty};
  const std::vector<std::string>& all = entries.empty() ? none : entries;
  text_ += "static const " + std::string(type.name) + " " + name + "[" +
           std::to_string(all.size()) + "] = {";
  std::size_t column = kWidth;  // the first entry begins a line
  for (const std::string& entry : all) {
    if (column + entry.size() + 2 > kWidth) {
      text_ += "\n  ";
      column = 2;
    } else {
      text_ += ' ';
      ++column;
    }
    text_ += entry + ",";
    column += entry.size() + 1;
  }
  text_.back() = '\n';
  text_ += "};\n";
  bytes_ += static_cast<int64_t>(all.size()) * type.bytes;
}

void NumberTables::add_struct(const std::string& type, const std::string& name,
                              const std::vector<std::string>& members) {
  text_ += "static const " + type + " " + name + " = {";
  for (const std::string& one : members) text_ += "\n  " + one + ",";
  text_.back() = '\n';
  text_ += "};\n";
}

}  // namespace kdgat::exporting
