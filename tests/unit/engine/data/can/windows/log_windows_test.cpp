#include "engine/data/can/windows/log_windows.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstring>

#include "engine/arrays/random.h"
#include "engine/file/line_reader.h"
#include "support/can/log_text.h"
#include "support/graphs/import_options.h"
#include "support/programs/command.h"

namespace kdgat::data {
namespace {

/// Rows with known and unknown ids, of 11 and 29 bits, and two captures.
std::string log_text(int rows, uint64_t seed) {
  arrays::Random random(seed);
  std::string out = "timestamp,arbitration_id,data_field,attack\n";
  for (int i = 0; i < rows; ++i) {
    const uint64_t pick = random.below(12);
    char row[80];
    std::snprintf(row, sizeof row, "%d.25,%X,%04X,%d\n", i % (rows / 2 + 7),
                  static_cast<unsigned>(pick < 10 ? 0x100 + pick : 0x18DAF100 + pick),
                  static_cast<unsigned>(random.below(65536)),
                  static_cast<int>(random.below(50) == 0));
    out += row;
  }
  return out;
}

template <class T>
bool same(const arrays::Buffer<T>& a, const arrays::Buffer<T>& b) {
  return a.size() == b.size() &&
         (a.size() == 0 ||
          std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(T)) == 0);
}

TEST_CASE("windows that no import could have made are refused", "[log_windows]") {
  const nlohmann::json sound = {{"window", 50}, {"stride", 20}, {"chunk_rows", 0}};
  CHECK(shape_of(sound).stride == 20);
  const auto refused = [&](const char* key, const nlohmann::json& value) {
    nlohmann::json import = sound;
    import[key] = value;
    return test::data_error([&] { shape_of(import); });
  };
  CHECK(refused("stride", -1) == "import.stride is -1, not a number from 1 to 1048576.0");
  CHECK_FALSE(refused("stride", 0).empty());
  for (const char* key : {"window", "stride", "chunk_rows"}) {
    CHECK_FALSE(refused(key, int64_t{1} << 40).empty());
    CHECK_FALSE(refused(key, "many").empty());
    CHECK_FALSE(refused(key, nullptr).empty());
  }
  CHECK_FALSE(test::data_error([&] { shape_of(nullptr); }).empty());

  CHECK(vocabulary_of({1, 5, 0xFFFFFFFF}).size() == 3);
  CHECK(vocabulary_of(nlohmann::json::array()).empty());
  for (const nlohmann::json& ids :
       {nlohmann::json(), nlohmann::json(3), nlohmann::json{5, 1}, nlohmann::json{1, 1},
        nlohmann::json{-1, 2}, nlohmann::json{0.5}, nlohmann::json{int64_t{1} << 32},
        nlohmann::json{"a"}}) {
    CHECK(test::data_error([&] { vocabulary_of(ids); }) ==
          "vocabulary is not a list of ascending ids");
  }
}

TEST_CASE("windows read from a log are those of an import, bit for bit", "[log_windows]") {
  struct Case {
    int64_t window, stride, chunk_rows;
    int rows;
  };
  for (const Case& c : {Case{100, 100, 0, 1234},
                        {50, 20, 300, 1001},
                        {20, 70, 0, 800},
                        {10, 10, 7, 90},
                        {100, 100, 0, 40}}) {
    INFO("window " << c.window << " stride " << c.stride << " chunk_rows " << c.chunk_rows);
    const test::ScratchFolder folder;
    test::write_text(folder / "in/train_01/a.csv", log_text(400, 1));
    test::write_gzip(folder / "in/test_01/b.csv.gz", log_text(c.rows, 2));
    graph::ImportOptions options;
    options.window = c.window;
    options.stride = c.stride;
    options.chunk_rows = c.chunk_rows;
    graph::import_logs(folder / "in", folder / "out", options);
    const graph::GraphStore store = graph::GraphStore::open(folder / "out/graphs.safetensors");
    std::vector<int64_t> wanted;
    for (int64_t g = 0; g < store.graphs(); ++g) {
      const auto source = static_cast<std::size_t>(store.source_of()[static_cast<std::size_t>(g)]);
      if (store.sources()[source].role == "test") wanted.push_back(g);
    }
    for (const int64_t most : {int64_t{1}, int64_t{3}, int64_t{1000}}) {
      CanLog log(file::ByteReader(folder / "in/test_01/b.csv.gz"), "auto", false);
      LogWindows windows(log, {c.window, c.stride, c.chunk_rows},
                         Vocabulary(store.ids()->vocabulary));
      std::size_t done = 0;
      while (const int64_t graphs = windows.read(most)) {
        CHECK(graphs <= most);
        for (int64_t g = 0; g < graphs; ++g, ++done) {
          REQUIRE(done < wanted.size());
          graph::GraphBatch ours, stored;
          graph::gather(windows.graphs(), std::vector<int64_t>{g}, true, ours);
          graph::gather(store, std::vector<int64_t>{wanted[done]}, true, stored);
          CHECK(same(ours.x, stored.x));
          CHECK(same(ours.edge_attr, stored.edge_attr));
          CHECK(same(ours.in_ptr, stored.in_ptr));
          CHECK(same(ours.in_source, stored.in_source));
          CHECK(same(ours.y, stored.y));
          const int64_t row = store.row_begin()[static_cast<std::size_t>(wanted[done])];
          CHECK(windows.row(g) == row);
          CHECK(windows.ids(g) == stored.nodes);
          CHECK(windows.time(g) == static_cast<double>(row % (c.rows / 2 + 7)) + 0.25);
        }
      }
      CHECK(done == wanted.size());
      CHECK(windows.read(most) == 0);
    }
  }
}

TEST_CASE("a window of a pipe is there when its last row is", "[log_windows]") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const auto path = "/proc/self/fd/" + std::to_string(ends[0]);
  const std::string text = log_text(60, 3);
  auto write_rows = [&, at = std::size_t{0}](int rows) mutable {
    std::size_t end = at;
    for (; rows > 0; --rows) end = text.find('\n', end) + 1;
    REQUIRE(::write(ends[1], text.data() + at, end - at) == static_cast<ssize_t>(end - at));
    at = end;
  };
  write_rows(1 + 12);  // the header; the form is recognised from ten rows
  CanLog log(file::ByteReader(path), "auto", false);
  LogWindows windows(log, {10, 10, 0}, Vocabulary(std::vector<int64_t>{0x100}));
  CHECK(windows.read(1) == 1);
  CHECK(windows.row(0) == 0);
  write_rows(9);  // rows 12..20: the frame after row 19 gives it its target
  CHECK(windows.read(1) == 1);
  CHECK(windows.row(0) == 10);
  ::close(ends[1]);
  CHECK(windows.read(1) == 0);
  ::close(ends[0]);
}

TEST_CASE("waiting for a pipe ends when asked", "[log_windows]") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  int asked = 0;
  file::LineReader reader("/proc/self/fd/" + std::to_string(ends[0]), [&] { return ++asked > 2; });
  std::string_view line;
  CHECK(test::error_of([&] { reader.next(line); }, ExitCode::kInterrupted).find("interrupted") !=
        std::string::npos);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_CASE("members of a gzip file follow one another, other bytes end it", "[line_reader]") {
  const test::ScratchFolder folder;
  test::write_gzip(folder / "a", "one\ntw");
  test::write_gzip(folder / "b", "o\nthree");
  const std::string a = test::read_text(folder / "a"), b = test::read_text(folder / "b");
  for (const std::string after : {"", "\x1f", "garbage"}) {
    test::write_text(folder / "all", a + b + after);
    file::LineReader reader(folder / "all");
    std::vector<std::string> lines;
    for (std::string_view line; reader.next(line);) lines.emplace_back(line);
    CHECK(lines == std::vector<std::string>{"one", "two", "three"});
  }
}

}  // namespace
}  // namespace kdgat::data
