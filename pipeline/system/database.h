// Tables in memory that SQL asks, and their bytes: what the host uses of SQLite. Errors of SQLite
// (no memory, SQL that is wrong, bytes that are no tables) are std::runtime_error.
#pragma once

#include <cstdint>
#include <memory>
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
  std::unique_ptr<sqlite3_stmt, void (*)(sqlite3_stmt*)> statement_;
};

class Database {
 public:
  Database();
  /// Of bytes that bytes() gave, copied.
  explicit Database(std::string_view bytes);

  Statement prepare(const std::string& sql) const;
  /// Runs commands that have no values and no answers.
  void run(const char* sql);
  /// The file that SQLite would write.
  std::string bytes() const;

 private:
  std::unique_ptr<sqlite3, void (*)(sqlite3*)> handle_;
};

}  // namespace kdgat
