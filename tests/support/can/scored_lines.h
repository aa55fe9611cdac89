// What kdgat score prints: lines of CSV, or of JSON.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

namespace kdgat::test {

/// Fields by the names of the head.
using Row = std::map<std::string, std::string>;

inline std::vector<std::string> fields_of(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> out;
  for (std::string one; std::getline(in, one, ',');) out.push_back(one);
  if (line.ends_with(',')) out.emplace_back();
  return out;
}

inline std::vector<Row> table_of(const std::string& csv) {
  std::istringstream in(csv);
  std::string line;
  REQUIRE(std::getline(in, line));
  const std::vector<std::string> names = fields_of(line);
  std::vector<Row> out;
  while (std::getline(in, line)) {
    const std::vector<std::string> fields = fields_of(line);
    REQUIRE(fields.size() == names.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (i == 0) out.emplace_back();
      out.back()[names[i]] = fields[i];
    }
  }
  return out;
}

/// Fields of the rows of a log in the form of can-train-and-test.
inline std::vector<std::vector<std::string>> log_rows(const std::filesystem::path& log) {
  std::ifstream in(log);
  std::string line;
  std::getline(in, line);
  std::vector<std::vector<std::string>> out;
  while (std::getline(in, line)) out.push_back(fields_of(line));
  return out;
}

inline std::vector<nlohmann::json> json_lines(const std::string& text) {
  std::istringstream in(text);
  std::vector<nlohmann::json> out;
  for (std::string line; std::getline(in, line);) out.push_back(nlohmann::json::parse(line));
  return out;
}

inline int64_t count_decisions(const std::vector<Row>& rows, const std::string& decision) {
  return std::count_if(rows.begin(), rows.end(),
                       [&](const Row& row) { return row.at("decision") == decision; });
}

}  // namespace kdgat::test
