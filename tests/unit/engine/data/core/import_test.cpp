#include <catch2/catch.hpp>
#include <cmath>

#include "support/can/log_text.h"
#include "support/graphs/import_options.h"
#include "support/programs/command.h"

namespace kdgat::data {
namespace {

using test::data_error;
using test::write_text;
namespace fs = std::filesystem;

/// `rows` rows whose ids are `first`, `first`+1, .. and back after `ids` of them.
std::string log_text(int rows, int first, int ids, const std::string& label = ",0") {
  std::string out =
      "timestamp,arbitration_id,data_field" + std::string(label.empty() ? "" : ",attack") + "\n";
  for (int i = 0; i < rows; ++i) {
    char row[64];
    std::snprintf(row, sizeof row, "%d.5,%03X,%02X", i, first + i % ids, i % 256);
    out += row + label + "\n";
  }
  return out;
}

graph::ImportOptions published() {
  graph::ImportOptions options;
  options.split = "random";
  options.deduplicate = false;
  options.chunk_rows = 5000;
  return options;
}

bool is_empty_or_absent(const std::filesystem::path& folder) {
  return !std::filesystem::exists(folder) || std::filesystem::is_empty(folder);
}

TEST_CASE("ids of test files alone are out of the vocabulary", "[import]") {
  const test::ScratchFolder folder;
  write_text(folder / "in/train_01/a.csv", log_text(300, 0x100, 3));
  write_text(folder / "in/test_01/b.csv", log_text(300, 0x102, 2, ",1"));
  const ImportReport report = graph::import_logs(folder / "in", folder / "out", {});
  CHECK(report.rows == 600);
  CHECK(report.graphs == 4);
  const graph::GraphStore store = graph::GraphStore::open(folder / "out/graphs.safetensors");
  CHECK(store.verify().empty());
  CHECK(store.ids()->count() == 4);
  CHECK(std::vector<int64_t>(store.ids()->vocabulary.begin(), store.ids()->vocabulary.end()) ==
        std::vector<int64_t>{0x100, 0x101, 0x102});
  // The test file comes first by name; its nodes are 102 (known) and 103 (not known).
  REQUIRE(store.sources()[0].role == "test");
  CHECK(store.sources()[0].scenario == "test_01");
  CHECK(store.x()[0] == 2);
  CHECK(store.x()[11] == 3);
  CHECK(store.y()[0] == 1);
  CHECK(store.y()[3] == 0);
}

TEST_CASE("logs of a folder for validation are the validation part", "[import]") {
  const test::ScratchFolder folder;
  write_text(folder / "in/Train/a.csv", log_text(300, 0x100, 3));
  write_text(folder / "in/VAL/drive1/b.csv", log_text(300, 0x102, 2));
  write_text(folder / "in/test/c.csv", log_text(300, 0x100, 3));
  graph::import_logs(folder / "in", folder / "out", {});
  const graph::GraphStore store = graph::GraphStore::open(folder / "out/graphs.safetensors");
  CHECK(store.ids()->count() == 4);  // 103 is of validation alone
  const graph::Split split = graph::load_split(folder / "out/split.safetensors", store);
  CHECK(split.parts.at("train").size() == 2);
  CHECK(split.parts.at("test/test").size() == 2);
  REQUIRE(split.parts.at("val").size() == 2);
  for (const int64_t graph : split.parts.at("val")) {
    const int32_t source = store.source_of()[static_cast<std::size_t>(graph)];
    CHECK(store.sources()[static_cast<std::size_t>(source)].path == "VAL/drive1/b.csv");
  }
}

TEST_CASE("rows without labels give -1, or benign where that is assumed", "[import]") {
  const test::ScratchFolder folder;
  write_text(folder / "a.csv", log_text(300, 0x100, 3, ""));
  graph::import_logs(folder / "a.csv", folder / "out", {});
  CHECK(graph::GraphStore::open(folder / "out/graphs.safetensors").y()[0] == -1);
  graph::ImportOptions options;
  options.assume = "benign";
  CHECK_FALSE(graph::import_logs(folder / "a.csv", folder / "out", options).reused);
  CHECK(graph::GraphStore::open(folder / "out/graphs.safetensors").y()[0] == 0);
}

TEST_CASE("the same input and options are read once", "[import]") {
  const test::ScratchFolder folder;
  write_text(folder / "a.csv", log_text(300, 0x100, 3));
  graph::ImportOptions options;
  CHECK_FALSE(graph::import_logs(folder / "a.csv", folder / "out", options).reused);
  options.seed = 43;  // the split alone
  const ImportReport again = graph::import_logs(folder / "a.csv", folder / "out", options);
  CHECK(again.reused);
  CHECK(again.rows == 300);
  options.window = 50;
  CHECK_FALSE(graph::import_logs(folder / "a.csv", folder / "out", options).reused);
  write_text(folder / "a.csv", log_text(301, 0x100, 3));
  CHECK_FALSE(graph::import_logs(folder / "a.csv", folder / "out", options).reused);
}

TEST_CASE("standard input is imported", "[import]") {
  const test::ScratchFolder folder;
  write_text(folder / "a.csv", log_text(300, 0x100, 3));
  const test::StandardInput input(folder / "a.csv");
  CHECK(graph::import_logs("-", folder / "out", {}).graphs == 2);
}

TEST_CASE("files that give no row or no graph are refused and leave nothing", "[import]") {
  const test::ScratchFolder folder;
  const auto fails = [&](const std::string& text, const graph::ImportOptions& options = {}) {
    write_text(folder / "a.csv", text);
    const std::string message =
        data_error([&] { graph::import_logs(folder / "a.csv", folder / "out", options); });
    CHECK(is_empty_or_absent(folder / "out"));
    return message;
  };
  const std::string name = (folder / "a.csv").string();
  CHECK_THAT(fails(""), Catch::StartsWith(name + ": the file is empty\n") &&
                            Catch::Contains("no other kind was recognised"));
  CHECK(fails("timestamp,arbitration_id,data_field,attack\n") ==
        name + ": no row could be read as can-train-and-test");
  graph::ImportOptions forced;
  forced.format = "candump";
  CHECK_THAT(fails(log_text(3, 1, 1), forced), Catch::Contains("no row could be read as candump"));
  CHECK_THAT(fails(log_text(1, 1, 1)), Catch::Contains("a graph needs two rows"));
  graph::ImportOptions strict;
  strict.strict = true;
  CHECK(fails(log_text(3, 1, 1) + "bad\n", strict) == name + ":5: too few fields: bad");
}

TEST_CASE("a cancelled import leaves nothing", "[import]") {
  const test::ScratchFolder folder;
  write_text(folder / "a.csv", log_text(40'000, 0x100, 3));
  int asked = 0;
  const auto cancelled = [&asked] { return ++asked == 2; };
  CHECK(test::error_of(
            [&] { graph::import_logs(folder / "a.csv", folder / "out", {}, {}, cancelled); },
            ExitCode::kInterrupted) == "interrupted while reading " + (folder / "a.csv").string());
  CHECK(is_empty_or_absent(folder / "out"));
}

TEST_CASE("progress ends at the size of the input", "[import]") {
  const test::ScratchFolder folder;
  test::write_gzip(folder / "a.csv", log_text(40'000, 0x100, 3));
  int64_t done = 0, total = 0;
  graph::import_logs(folder / "a.csv", folder / "out", {}, [&](int64_t bytes, int64_t all) {
    CHECK(bytes >= done);
    done = bytes;
    total = all;
  });
  CHECK(done == total);
  CHECK(total == static_cast<int64_t>(std::filesystem::file_size(folder / "a.csv")));
}

TEST_CASE("the published options give the published counts", "[import]") {
  const auto logs = test::shared_path("data/hcrl_sa");
  if (!logs) return;
  const test::ScratchFolder folder;
  graph::import_logs(*logs, folder.path(), published());
  const graph::GraphStore store = graph::GraphStore::open(folder / "graphs.safetensors");
  CHECK(store.ids()->count() == 2049);
  std::map<std::string, std::pair<int64_t, int64_t>> counts;  // graphs, attack
  for (int64_t g = 0; g < store.graphs(); ++g) {
    const auto at = static_cast<std::size_t>(g);
    const graph::Source& source = store.sources()[static_cast<std::size_t>(store.source_of()[at])];
    auto& [graphs, attacks] = counts[source.role == "train" ? "train" : source.scenario];
    ++graphs;
    attacks += store.y()[at];
  }
  CHECK(counts["train"] == std::pair<int64_t, int64_t>(9364, 1295));
  CHECK(counts["test_01_known_vehicle_known_attack"] == std::pair<int64_t, int64_t>(3994, 1928));
  CHECK(counts["test_02_unknown_vehicle_known_attack"] == std::pair<int64_t, int64_t>(1861, 754));

  graph::ImportOptions unchunked = published();
  unchunked.chunk_rows = 0;
  unchunked.exclude = {"Spark", "spark", "fuzzing-kia", "DoS-sonata"};
  CHECK(graph::import_logs(*logs, folder.path(), unchunked).graphs == 9367);
}

TEST_CASE("a table of labels next to a log is part of what an import depends on", "[import]") {
  const test::ScratchFolder folder;
  std::string log = "timestamp,arbitration_id,data_field\n";
  for (int i = 0; i < 400; ++i) {
    log += std::to_string(i) + ".0,1A" + std::to_string(i % 6) + ",00\n";
  }
  write_text(folder / "in/a.csv", log);
  const auto imported = [&] { return graph::import_logs(folder / "in", folder / "out", {}); };
  CHECK_FALSE(imported().reused);
  CHECK(imported().reused);
  write_text(folder / "in/a.labels.csv", "begin,end\n10,20\n");
  CHECK_FALSE(imported().reused);
  CHECK(imported().reused);
  write_text(folder / "in/a.labels.csv", "begin,end\n10,200\n");
  CHECK_FALSE(imported().reused);
  fs::remove(folder / "in/a.labels.csv");
  CHECK_FALSE(imported().reused);
}

TEST_CASE("an import that is used again names the files of now", "[import]") {
  const test::ScratchFolder folder;
  std::string log = "timestamp,arbitration_id,data_field,note\n";
  for (int i = 0; i < 300; ++i) {
    log += std::to_string(i) + ".0,1A" + std::to_string(i % 6) + ",00,x\n";
  }
  write_text(folder / "in/a.csv", log);
  write_text(folder / "in/README.txt", "of these logs");
  const auto unused = [&] {
    return unused_in(graph::import_logs(folder / "in", folder / "out", {}).warnings);
  };
  CHECK(unused() == nlohmann::json{{"column", 1}, {"file", 1}});
  write_text(folder / "in/b.cvs", log);
  CHECK(unused() == nlohmann::json{{"column", 1}, {"file", 2}});
  CHECK(graph::import_logs(folder / "in", folder / "out", {}).reused);
}

TEST_CASE("windows of a real log equal the golden file", "[import]") {
  const auto logs = test::shared_path("data/hcrl_sa");
  const auto golden_path = test::shared_path("fixtures/graphs_fuzzing_sonata.safetensors");
  if (!logs || !golden_path) return;
  const test::ScratchFolder folder;
  graph::import_logs(*logs, folder.path(), published());
  const graph::GraphStore store = graph::GraphStore::open(folder / "graphs.safetensors");
  const file::SafetensorsFile golden = file::SafetensorsFile::open(*golden_path);
  const auto whole = [&](const char* name) {
    const auto values = golden.tensor(name).as<int64_t>();
    return std::vector<int64_t>(values.begin(), values.end());
  };
  const auto vocabulary = whole("vocabulary");
  CHECK(std::equal(vocabulary.begin(), vocabulary.end(), store.ids()->vocabulary.begin(),
                   store.ids()->vocabulary.end()));
  const auto source =
      std::find_if(store.sources().begin(), store.sources().end(), [](const graph::Source& s) {
        return s.path == "train_02_with_attacks/fuzzing-sonata.csv.gz";
      });
  REQUIRE(source != store.sources().end());
  const auto node_ptr = whole("node_ptr"), edge_ptr = whole("edge_ptr"), y = whole("y"),
             edge_index = whole("edge_index");
  const std::size_t graphs = y.size(), edges = edge_index.size() / 2;
  REQUIRE(graphs == 64);
  const auto first = static_cast<std::size_t>(source->first_graph + whole("first_window").at(0));
  const int64_t node0 = store.node_ptr()[first], edge0 = store.edge_ptr()[first];
  for (std::size_t g = 0; g < graphs; ++g) {
    CHECK(store.y()[first + g] == y[g]);
    CHECK(store.node_ptr()[first + g + 1] - node0 == node_ptr[g + 1]);
    CHECK(store.edge_ptr()[first + g + 1] - edge0 == edge_ptr[g + 1]);
  }
  const auto at = static_cast<std::size_t>(edge0);
  CHECK(std::equal(edge_index.begin(), edge_index.begin() + static_cast<std::ptrdiff_t>(edges),
                   store.edge_source().begin() + edge0));
  CHECK(std::equal(edge_index.begin() + static_cast<std::ptrdiff_t>(edges), edge_index.end(),
                   store.edge_target().begin() + edge0));
  const auto compare = [](std::span<const float> wanted, const float* got) {
    std::size_t far = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      far += !(std::abs(got[i] - wanted[i]) <= 1e-5F + 1e-4F * std::abs(wanted[i]));
    }
    CHECK(far == 0);
  };
  compare(golden.tensor("x").as<float>(), store.x().data() + node0 * 11);
  compare(golden.tensor("edge_attr").as<float>(), store.edge_attr().data() + at * 11);
}

}  // namespace
}  // namespace kdgat::data
