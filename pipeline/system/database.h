// Tables in memory that SQL asks, and their bytes: what the host uses of SQLite. Errors of SQLite
// (no memory, SQL that is wrong, bytes that are no tables) are std::runtime_error.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace kdgat {

/// One command of SQL, to be run many times. Lives no longer than its Database.
class Statement {
 public:
  /// The value of the ?-th mark, from 1 on.
  void bind(int mark, std::string_view text);
  void bind(int mark, int64_t value);
  void bind(int mark, double value);
  void bind_null(int mark);

  /// Goes to the next row of the answer; false behind the last one, then it begins anew.
  bool next();
  /// Runs a command that has no answer.
  void run() {
    while (next()) continue;
  }

  // Of the row: columns from 0 on.
  std::string text(int column) const;
  int64_t integer(int column) const;
  double number(int column) const;
  bool is_null(int column) const;

 private:
  friend class Database;
  explicit Statement(sqlite3_stmt* statement);
  void expect(int code) const;  // throws for one that is a failure
  std::unique_ptr<sqlite3_stmt, void (*)(sqlite3_stmt*)> statement_;
};

/// Bytes of a file in memory that a Database takes over.
class TableBytes {
 public:
  /// None if it is no regular file, cannot be read or is larger than `largest` bytes.
  static std::optional<TableBytes> of_file(const std::filesystem::path& file, std::size_t largest);
  std::string_view view() const { return {bytes_.get(), size_}; }

 private:
  friend class Database;
  explicit TableBytes(std::size_t size);
  std::unique_ptr<char, void (*)(void*)> bytes_;
  std::size_t size_;
};

/// For one thread at a time.
class Database {
 public:
  Database();
  /// Of the first `size` bytes, which bytes() gave.
  Database(TableBytes bytes, std::size_t size);

  Statement prepare(const std::string& sql) const;
  /// Runs commands that have no values and no answers.
  void run(const char* sql);
  /// The file that SQLite would write.
  std::string bytes() const;

 private:
  std::unique_ptr<sqlite3, void (*)(sqlite3*)> handle_;
};

}  // namespace kdgat
