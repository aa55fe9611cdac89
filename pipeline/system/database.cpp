#include "pipeline/system/database.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <stdexcept>
#include <utility>

#include "pipeline/system/owned_fd.h"

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

void Statement::expect(int code) const { check(code, ::sqlite3_db_handle(statement_.get())); }

void Statement::bind(int mark, std::string_view text) {
  expect(::sqlite3_bind_text64(statement_.get(), mark, text.data(), text.size(), SQLITE_TRANSIENT,
                               SQLITE_UTF8));
}

void Statement::bind(int mark, int64_t value) {
  expect(::sqlite3_bind_int64(statement_.get(), mark, value));
}

void Statement::bind(int mark, double value) {
  expect(::sqlite3_bind_double(statement_.get(), mark, value));
}

void Statement::bind_null(int mark) { expect(::sqlite3_bind_null(statement_.get(), mark)); }

bool Statement::next() {
  const int code = ::sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  const int reset = ::sqlite3_reset(statement_.get());
  expect(code == SQLITE_DONE ? reset : code);
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
  constexpr int kOfOneThread = SQLITE_OPEN_NOMUTEX;
  const int code = ::sqlite3_open_v2(
      ":memory:", &handle,
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY | kOfOneThread, nullptr);
  handle_.reset(handle);
  check(code, handle);
}

TableBytes::TableBytes(std::size_t size)
    : bytes_(static_cast<char*>(::sqlite3_malloc64(size)), ::sqlite3_free), size_(size) {
  if (!bytes_) throw std::runtime_error("out of memory");
  // In pages of 4 kB, to clear the memory takes longer than to read the file into it.
  constexpr std::size_t kLargePage = std::size_t{1} << 21;
  void* from = bytes_.get();
  std::size_t room = size;
  if (std::align(kLargePage, kLargePage, from, room) != nullptr) {
    ::madvise(from, room / kLargePage * kLargePage, MADV_HUGEPAGE);
  }
}

std::optional<TableBytes> TableBytes::of_file(const std::filesystem::path& file,
                                              std::size_t largest) {
  const OwnedFd from(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat about {};
  if (from.get() < 0 || ::fstat(from.get(), &about) != 0 || !S_ISREG(about.st_mode)) return {};
  const auto size = static_cast<std::size_t>(about.st_size);
  if (size == 0 || size > largest) return {};
  TableBytes out(size);
  for (std::size_t at = 0; at < size;) {
    const ssize_t got = ::read(from.get(), out.bytes_.get() + at, size - at);
    if (got <= 0) return {};
    at += static_cast<std::size_t>(got);
  }
  return out;
}

Database::Database(TableBytes bytes, std::size_t size) : Database() {
  const auto room = static_cast<int64_t>(bytes.size_);
  check(::sqlite3_deserialize(handle_.get(), kMain,
                              reinterpret_cast<unsigned char*>(bytes.bytes_.release()),
                              static_cast<int64_t>(size), room,
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
