#include "engine/arrays/column.h"

#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <vector>

#include "engine/arrays/random.h"
#include "kdgat/error.h"
#include "support/programs/command.h"

using namespace kdgat;
using namespace kdgat::arrays;
using Catch::Contains;

namespace {

constexpr std::size_t kSmall = 4096;  // bytes kept in memory, so that little moves to a file

/// What a test may write to one file; back to what it was at the end.
class FileLimit {
 public:
  explicit FileLimit(rlim_t bytes) : before_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &was_);
    const rlimit less = {bytes, was_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &less);
  }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;
  ~FileLimit() {
    ::setrlimit(RLIMIT_FSIZE, &was_);
    std::signal(SIGXFSZ, before_);
  }

 private:
  rlimit was_{};
  void (*before_)(int);
};

}  // namespace

TEST_CASE("a column is a vector, in memory and in a file", "[column]") {
  const test::ScratchFolder folder;
  for (const bool spills : {false, true}) {
    Column<int32_t> column;
    if (spills) column.spill_to(folder.path(), kSmall);
    std::vector<int32_t> plain;
    Random random(3);
    for (int step = 0; step < 4000; ++step) {
      const auto value = static_cast<int32_t>(random.below(1000));
      switch (random.below(8)) {
        case 0: {
          const std::vector<int32_t> more(random.below(3000), value);
          column.append(more);
          plain.insert(plain.end(), more.begin(), more.end());
          break;
        }
        case 1: {
          const std::size_t size =
              plain.size() + random.below(50) - std::min<std::size_t>(plain.size(), 25);
          column.resize(size, value);
          plain.resize(size, value);
          break;
        }
        case 2:
          if (!plain.empty()) {
            column.pop_back();
            plain.pop_back();
          }
          break;
        default:
          column.push_back(value);
          plain.push_back(value);
      }
      REQUIRE(column.size() == plain.size());
    }
    CHECK(column.is_file() == spills);
    CHECK(column == Column<int32_t>(plain));
    const Column<int32_t> copy = column;  // NOLINT(performance-unnecessary-copy-initialization)
    CHECK_FALSE(copy.is_file());
    const Column<int32_t> moved = std::move(column);
    CHECK(moved.is_file() == spills);
    CHECK(moved == copy);
  }
  CHECK(std::filesystem::is_empty(folder.path()));  // the file has no name
}

TEST_CASE("a column keeps its values beyond several growths of its file", "[column]") {
  const test::ScratchFolder folder;
  Column<int64_t> column;
  column.spill_to(folder.path(), kSmall);
  constexpr int64_t kCount = 12'000'000;  // 96 MB
  for (int64_t i = 0; i < kCount; ++i) column.push_back(i * i);
  int64_t wrong = 0;
  for (int64_t i = 0; i < kCount; ++i) wrong += column[static_cast<std::size_t>(i)] != i * i;
  CHECK(wrong == 0);
}

TEST_CASE("a column says where there is no room for its file", "[column]") {
  const test::ScratchFolder folder;
  Column<int64_t> column;
  column.spill_to(folder.path() / "missing", kSmall);
  CHECK_THROWS_WITH(column.resize(kSmall), Contains("missing") && Contains("No such file"));

  Column<int64_t> large;
  large.spill_to(folder.path(), kSmall);
  large.resize(kSmall, 7);
  const FileLimit limit(std::size_t{20} << 20);
  try {
    large.resize(std::size_t{4} << 20);
    FAIL("a file of 32 MiB was written where 20 are allowed");
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::kData);
    CHECK_THAT(error.what(), Contains("cannot write in " + folder.path().string()));
  }
  CHECK(large.size() == kSmall);  // and what it had is still there
  CHECK(large.back() == 7);
}
