#include "pipeline/system/database.h"

#include <sqlite3.h>

#include <cstring>
#include <stdexcept>

namespace kdgat {
namespace {

constexpr const char* kMain = "main";

void close_statement(sqlite3_stmt* statement) { ::sqlite3_finalize(statement); }
void close_handle(sqlite3* handle) { ::sqlite3_close(handle); }

void check(int code, sqlite3* handle) {
  if (code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW) return;
  throw std::runtime_error(handle != nullptr ? ::sqlite3_errmsg(handle) : ::sqlite3_errstr(code));
}

}  // namespace

Statement::Statement(sqlite3_stmt* statement) : statement_(statement, close_statement) {}

void Statement::bind(int mark, std::string_view text) {
  check(::sqlite3_bind_text64(statement_.get(), mark, text.data(), text.size(), SQLITE_TRANSIENT,
                              SQLITE_UTF8),
        ::sqlite3_db_handle(statement_.get()));
}

void Statement::bind(int mark, int64_t value) {
  check(::sqlite3_bind_int64(statement_.get(), mark, value), ::sqlite3_db_handle(statement_.get()));
}

void Statement::bind(int mark, double value) {
  check(::sqlite3_bind_double(statement_.get(), mark, value),
        ::sqlite3_db_handle(statement_.get()));
}

void Statement::bind_null(int mark) {
  check(::sqlite3_bind_null(statement_.get(), mark), ::sqlite3_db_handle(statement_.get()));
}

bool Statement::next() {
  const int code = ::sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  const int reset = ::sqlite3_reset(statement_.get());
  check(code == SQLITE_DONE ? reset : code, ::sqlite3_db_handle(statement_.get()));
  return false;
}

std::string Statement::text(int column) const {
  const unsigned char* text = ::sqlite3_column_text(statement_.get(), column);
  if (text == nullptr) return {};
  return {reinterpret_cast<const char*>(text),
          static_cast<std::size_t>(::sqlite3_column_bytes(statement_.get(), column))};
}

int64_t Statement::integer(int column) const {
  return ::sqlite3_column_int64(statement_.get(), column);
}

double Statement::number(int column) const {
  return ::sqlite3_column_double(statement_.get(), column);
}

bool Statement::is_null(int column) const {
  return ::sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

Database::Database() : handle_(nullptr, close_handle) {
  sqlite3* handle = nullptr;
  const int code =
      ::sqlite3_open_v2(":memory:", &handle,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY, nullptr);
  handle_.reset(handle);
  check(code, handle);
}

Database::Database(std::string_view bytes) : Database() {
  auto* copy = static_cast<unsigned char*>(::sqlite3_malloc64(bytes.size()));
  if (copy == nullptr) throw std::runtime_error("out of memory");
  std::memcpy(copy, bytes.data(), bytes.size());
  check(::sqlite3_deserialize(handle_.get(), kMain, copy, static_cast<int64_t>(bytes.size()),
                              static_cast<int64_t>(bytes.size()),
                              SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE),
        handle_.get());
}

Statement Database::prepare(const std::string& sql) const {
  sqlite3_stmt* statement = nullptr;
  check(::sqlite3_prepare_v2(handle_.get(), sql.c_str(), -1, &statement, nullptr), handle_.get());
  return Statement(statement);
}

void Database::run(const char* sql) {
  check(::sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr), handle_.get());
}

std::string Database::bytes() const {
  sqlite3_int64 size = 0;
  unsigned char* bytes = ::sqlite3_serialize(handle_.get(), kMain, &size, 0);
  if (bytes == nullptr) throw std::runtime_error("out of memory");
  std::string out(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
  ::sqlite3_free(bytes);
  return out;
}

}  // namespace kdgat
