#include "export/c/number_tables.h"

#include <algorithm>

namespace kdgat::exporting {

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

}  // namespace kdgat::exporting
