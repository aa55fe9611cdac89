// What a person reads of a data set: lines and tables, worded by its domain and printed by the
// host.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace kdgat::data {

/// The first column is read from the left, all others from the right.
struct DescribedTable {
  struct Row {
    std::vector<std::string> cells;
    bool is_heading = false;  ///< its one cell takes no part in the columns
  };
  std::vector<Row> rows;

  void add(std::vector<std::string> cells) { rows.push_back({std::move(cells), false}); }
  void add_heading(const std::string& text) { rows.push_back({{text}, true}); }
};

struct Description {
  enum class Kind { kText, kTable, kOptions };  ///< the last: those that the store was made with
  struct Block {
    Kind kind;
    std::string text;  ///< with its line ends
    DescribedTable table;
  };
  std::vector<Block> blocks;

  Description& text(std::string text) {
    blocks.push_back({Kind::kText, std::move(text), {}});
    return *this;
  }
  Description& table(DescribedTable table) {
    blocks.push_back({Kind::kTable, "", std::move(table)});
    return *this;
  }
  Description& options() {
    blocks.push_back({Kind::kOptions, "", {}});
    return *this;
  }
};

/// Splits "folder/file" so that a table names each folder once.
class FolderNames {
 public:
  std::string name(DescribedTable& table, const std::string& path);

 private:
  std::string last_;
};

/// A table of more files is no help: --json has them all.
inline constexpr std::size_t kMostFiles = 100;

/// Of {"p50","p95","p99","max"}: "23/27/29/30".
std::string sizes_text(const nlohmann::json& counts);
/// ": train 1,024, val 256, test 300"; the last of all parts whose names begin so.
std::string parts_text(const nlohmann::json& imported);
/// Where a store stands that an import wrote or found: "; written to data\n".
std::string place_text(const nlohmann::json& imported);

}  // namespace kdgat::data
