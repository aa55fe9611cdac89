#include <catch2/catch.hpp>
#include <set>

#include "engine/arrays/random.h"
#include "engine/graph/graph_store.h"
#include "support/graphs/random_graphs.h"
#include "support/programs/command.h"

namespace kdgat::graph {
namespace {

using test::random_store;
using test::RandomGraphs;

/// Counts graphs; fails if one stands twice or a part is not ascending.
std::size_t check_parts(const Split& split) {
  std::set<int64_t> seen;
  std::size_t count = 0;
  for (const auto& [name, ids] : split.parts) {
    CHECK(std::is_sorted(ids.begin(), ids.end()));
    seen.insert(ids.begin(), ids.end());
    count += ids.size();
  }
  CHECK(seen.size() == count);
  return count;
}

/// Whether a row of a source file belongs to windows of two parts.
bool shares_rows(const GraphStore& store, const Split& split) {
  std::map<std::pair<int32_t, int64_t>, std::string> owner;
  for (const auto& [name, ids] : split.parts) {
    for (const int64_t id : ids) {
      for (int64_t row = store.row_begin()[id]; row < store.row_end()[id]; ++row) {
        const auto [at, is_new] = owner.emplace(std::pair(store.source_of()[id], row), name);
        if (!is_new && at->second != name) return true;
      }
    }
  }
  return false;
}

TEST_CASE("random numbers are the published ones on every machine", "[split]") {
  arrays::Random random(1234567);
  CHECK(random.next() == 6457827717110365317ULL);
  CHECK(random.next() == 3203168211198807973ULL);
}

TEST_CASE("a time split never lets windows that share rows straddle parts", "[split]") {
  const test::ScratchFolder folder;
  arrays::Random random(7);
  for (int round = 0; round < 40; ++round) {
    RandomGraphs wanted;
    wanted.seed = random.next();
    wanted.max_nodes = 1;
    wanted.window = 20;
    wanted.stride = round % 2 == 0 ? 20 : 1 + static_cast<int64_t>(random.below(25));
    wanted.files.clear();
    for (uint64_t f = 1 + random.below(6); f > 0; --f) {
      wanted.files.push_back(static_cast<int64_t>(random.below(round % 3 == 0 ? 8 : 300)));
    }
    if (round % 4 == 1) wanted.test_scenarios = {"test_01"};
    const GraphStore store = random_store(folder / "g", wanted);
    SplitOptions options;
    options.seed = round;
    options.val_fraction = random.uniform() * 0.5;
    const Split split = make_split(store, options);
    INFO("round " << round);
    const std::size_t kept = check_parts(split);
    CHECK_FALSE(shares_rows(store, split));
    CHECK(split.parts.count("train") + split.parts.count("val") == 2);
    if (wanted.stride >= wanted.window) CHECK(kept == static_cast<std::size_t>(store.graphs()));
  }
}

TEST_CASE("a time split takes its fractions from all over each file", "[split]") {
  const test::ScratchFolder folder;
  RandomGraphs wanted;
  wanted.files = {1000, 200};
  const GraphStore store = random_store(folder / "g", wanted);
  SplitOptions options;
  options.val_fraction = 0.25;
  const Split split = make_split(store, options);
  CHECK(split.parts.at("test").size() == 240);  // a fifth
  CHECK(split.parts.at("val").size() == 240);   // a quarter of the rest
  CHECK(split.parts.at("train").size() == 720);
  for (const int64_t quarter : {0, 250, 500, 750}) {
    const auto in_quarter = [quarter](int64_t id) { return id >= quarter && id < quarter + 250; };
    for (const char* part : {"test", "val"}) {
      const std::vector<int64_t>& ids = split.parts.at(part);
      CHECK(std::any_of(ids.begin(), ids.end(), in_quarter));
    }
  }
}

TEST_CASE("many short files together give the fraction", "[split]") {
  const test::ScratchFolder folder;
  RandomGraphs wanted;
  wanted.files.assign(200, 1);
  const GraphStore store = random_store(folder / "g", wanted);
  SplitOptions options;
  options.test_fraction = 0;
  const Split split = make_split(store, options);
  CHECK(split.parts.at("val").size() == 40);
  CHECK(split.parts.count("test") == 0);
}

TEST_CASE("overlapping windows beside a validation block are dropped from training", "[split]") {
  const test::ScratchFolder folder;
  RandomGraphs wanted;
  wanted.files = {400};
  wanted.window = 100;
  wanted.stride = 50;
  const GraphStore store = random_store(folder / "g", wanted);
  SplitOptions options;
  options.test_fraction = 0;
  const Split split = make_split(store, options);
  CHECK(split.parts.at("val").size() == 80);
  const std::size_t dropped = 400 - check_parts(split);
  CHECK(dropped >= 1);
  CHECK(dropped <= 8);  // one on either side of each of four blocks
}

TEST_CASE("a random split follows the published rule", "[split]") {
  const test::ScratchFolder folder;
  RandomGraphs wanted;
  wanted.files = {33, 44, 10, 5};
  wanted.test_scenarios = {"test_01", "test_02"};
  const GraphStore store = random_store(folder / "g", wanted);
  SplitOptions options;
  options.kind = "random";
  const Split split = make_split(store, options);
  CHECK(check_parts(split) == 92);
  CHECK(split.parts.at("train").size() == 61);  // floor(0.8 * 77)
  CHECK(split.parts.at("val").size() == 16);
  CHECK(split.parts.at("test/test_01").size() == 10);
  CHECK(split.parts.at("test/test_02").size() == 5);
  CHECK(split.parts.count("test") == 0);
  for (const int64_t id : split.parts.at("test/test_01")) CHECK(store.source_of()[id] == 2);
}

TEST_CASE("a random split of data without test files cuts off a test part first", "[split]") {
  const test::ScratchFolder folder;
  RandomGraphs wanted;
  wanted.files = {100};
  const GraphStore store = random_store(folder / "g", wanted);
  SplitOptions options;
  options.kind = "random";
  const Split split = make_split(store, options);
  CHECK(check_parts(split) == 100);
  CHECK(split.parts.at("test").size() == 20);
  CHECK(split.parts.at("val").size() == 16);
  CHECK(split.parts.at("train").size() == 64);
}

TEST_CASE("a test file outside of any scenario is the part test", "[split]") {
  const test::ScratchFolder folder;
  RandomGraphs wanted;
  wanted.files = {40, 7};
  wanted.test_scenarios = {""};
  const Split split = make_split(random_store(folder / "g", wanted), {});
  CHECK(split.parts.at("test").size() == 7);
}

TEST_CASE("a split depends on its seed and on nothing else", "[split]") {
  const test::ScratchFolder folder;
  RandomGraphs wanted;
  wanted.files = {200, 100};
  const GraphStore store = random_store(folder / "g", wanted);
  for (const char* kind : {"time", "random"}) {
    SplitOptions options;
    options.kind = kind;
    const Split split = make_split(store, options);
    CHECK(make_split(store, options).parts == split.parts);
    options.seed = 43;
    CHECK(make_split(store, options).parts != split.parts);
  }
}

TEST_CASE("an empty store has an empty split", "[split]") {
  const test::ScratchFolder folder;
  write_graph_store(folder / "g", {});
  const GraphStore store = GraphStore::open(folder / "g");
  for (const char* kind : {"time", "random"}) {
    SplitOptions options;
    options.kind = kind;
    CHECK(check_parts(make_split(store, options)) == 0);
  }
}

/// Sources of `sizes` graphs; all graphs of source s are of class s modulo `classes`. `numbered`:
/// each is a group by its number.
GraphStore grouped_store(const std::filesystem::path& path, const std::vector<int64_t>& sizes,
                         int32_t classes, bool independent = false, bool numbered = false) {
  GraphStoreData data;
  data.node_features = 1;
  data.node_feature_names = {"one"};
  data.sections.positions.emplace();
  data.sections.targets.emplace();
  for (int32_t c = 0; c < classes; ++c) {
    data.sections.targets->classes.push_back(std::to_string(c));
  }
  for (std::size_t s = 0; s < sizes.size(); ++s) {
    Source source{"s" + std::to_string(s), "", "train", "swc", sizes[s], 0, 0, sizes[s]};
    source.first_graph = static_cast<int64_t>(data.y.size());
    source.independent = independent;
    if (numbered) source.group = static_cast<int64_t>(s);
    for (int64_t g = 0; g < sizes[s]; ++g) {
      data.x.push_back(1);
      data.sections.positions->pos.insert(data.sections.positions->pos.end(), {0, 0, 0});
      data.node_ptr.push_back(data.node_ptr.back() + 1);
      data.edge_ptr.push_back(0);
      data.y.push_back(static_cast<int32_t>(s) % classes);
      data.source_of.push_back(static_cast<int32_t>(s));
      data.row_begin.push_back(g);
      data.row_end.push_back(g + 1);
    }
    data.sources.push_back(source);
  }
  write_graph_store(path, data);
  return GraphStore::open(path);
}

std::set<int32_t> sources_of(const GraphStore& store, const std::vector<int64_t>& ids) {
  std::set<int32_t> out;
  for (const int64_t id : ids) out.insert(store.source_of()[static_cast<std::size_t>(id)]);
  return out;
}

TEST_CASE("a split by groups never lets a source straddle parts", "[split]") {
  const test::ScratchFolder folder;
  arrays::Random random(11);
  for (int round = 0; round < 40; ++round) {
    std::vector<int64_t> sizes(4 + random.below(40));
    for (int64_t& size : sizes) size = 1 + static_cast<int64_t>(random.below(30));
    const auto classes = static_cast<int32_t>(1 + random.below(6));
    const GraphStore store = grouped_store(folder / "g", sizes, classes);
    SplitOptions options;
    options.kind = round % 2 == 0 ? "group" : "time";  // the same of graphs in space
    options.seed = round;
    options.folds = round % 3 == 0 ? 0 : 2 + static_cast<int64_t>(random.below(3));
    std::set<int32_t> tested;
    std::size_t tested_count = 0;
    for (int64_t fold = 0; fold < std::max<int64_t>(1, options.folds); ++fold) {
      options.fold = fold;
      const Split split = make_split(store, options);
      INFO("round " << round << ", fold " << fold);
      CHECK(check_parts(split) == static_cast<std::size_t>(store.graphs()));
      CHECK(split.options.at("kind") == "group");
      CHECK(split.options.contains("fold") == (options.folds > 0));
      std::set<int32_t> seen;
      std::size_t count = 0;
      for (const auto& [name, ids] : split.parts) {
        const std::set<int32_t> part = sources_of(store, ids);
        seen.insert(part.begin(), part.end());
        count += part.size();
      }
      CHECK(seen.size() == count);
      CHECK(make_split(store, options).parts == split.parts);
      const std::set<int32_t> test = sources_of(store, split.parts.at("test"));
      tested.insert(test.begin(), test.end());
      tested_count += test.size();
    }
    if (options.folds > 0) {  // each source in the test part of one fold
      CHECK(tested.size() == sizes.size());
      CHECK(tested_count == sizes.size());
    }
  }
}

TEST_CASE("folds have their share of each class, as far as whole sources allow", "[split]") {
  const test::ScratchFolder folder;
  const GraphStore store = grouped_store(folder / "g", std::vector<int64_t>(64, 10), 8);
  SplitOptions options;
  options.kind = "group";
  options.folds = 4;
  for (options.fold = 0; options.fold < 4; ++options.fold) {
    const Split split = make_split(store, options);
    CHECK(split.parts.at("test").size() == 160);
    std::map<int32_t, int> of_class;
    for (const int64_t id : split.parts.at("test"))
      ++of_class[store.y()[static_cast<std::size_t>(id)]];
    CHECK(of_class.size() == 8);
    for (const auto& [label, graphs] : of_class) CHECK(graphs == 20);
    std::set<int32_t> val;
    for (const int64_t id : split.parts.at("val"))
      val.insert(store.y()[static_cast<std::size_t>(id)]);
    CHECK(val.size() == 8);
  }
  const std::vector<int64_t> first =
      make_split(store, (options.fold = 0, options)).parts.at("test");
  options.seed = 43;
  CHECK(make_split(store, options).parts.at("test") != first);
}

TEST_CASE("no part stays empty where each class has few sources", "[split]") {
  const test::ScratchFolder folder;
  const GraphStore store = grouped_store(folder / "g", std::vector<int64_t>(12, 1), 4);
  const Split split = make_split(store, {});
  CHECK(split.parts.at("test").size() >= 2);
  CHECK(split.parts.at("val").size() >= 1);
  CHECK(split.parts.at("train").size() >= 7);
}

TEST_CASE("of a few large groups each part that wants some has one", "[split]") {
  const test::ScratchFolder folder;
  for (const std::size_t groups : {2U, 3U, 4U}) {
    const std::vector<int64_t> sizes(groups, 100);
    const GraphStore store = grouped_store(folder / "g", sizes, 1, false, true);
    SplitOptions options;
    options.kind = "group";
    options.test_fraction = groups > 2 ? 0.2 : 0;
    const Split split = make_split(store, options);
    for (const char* part : {"train", "val"}) CHECK(split.parts.at(part).size() >= 100);
    if (groups > 2) CHECK(split.parts.at("test").size() == 100);
  }
}

TEST_CASE("sources of one group stay together", "[split]") {
  const test::ScratchFolder folder;
  GraphStoreData data;
  data.node_features = 1;
  data.node_feature_names = {"one"};
  for (int32_t s = 0; s < 12; ++s) {
    Source source{"s" + std::to_string(s), "", "train", "log", 10, 0, 10 * s, 10};
    source.group = s % 4;
    for (int64_t g = 0; g < 10; ++g) {
      data.x.push_back(1);
      data.node_ptr.push_back(data.node_ptr.back() + 1);
      data.edge_ptr.push_back(0);
      data.y.push_back(static_cast<int32_t>(g % 2));
      data.source_of.push_back(s);
      data.row_begin.push_back(g);
      data.row_end.push_back(g + 1);
    }
    data.sources.push_back(source);
  }
  write_graph_store(folder / "g", data);
  const GraphStore store = GraphStore::open(folder / "g");
  CHECK(store.sources()[5].group == 1);
  const Split split = make_split(store, {.kind = "group"});
  std::map<int64_t, std::set<std::string>> parts_of;
  for (const auto& [part, ids] : split.parts) {
    CHECK_FALSE(ids.empty());
    for (const int32_t source : sources_of(store, ids)) parts_of[source % 4].insert(part);
  }
  for (const auto& [group, parts] : parts_of) CHECK(parts.size() == 1);
  CHECK(check_parts(split) == 120);
}

TEST_CASE("graphs of an independent source may be parted", "[split]") {
  const test::ScratchFolder folder;
  const GraphStore store = grouped_store(folder / "g", {100}, 1, true);
  CHECK(store.sources()[0].independent);
  const Split split = make_split(store, {});
  CHECK(split.parts.at("test").size() == 20);
  CHECK(split.parts.at("val").size() == 16);
  CHECK(split.parts.at("train").size() == 64);
}

TEST_CASE("folds that cannot be are a usage error", "[split]") {
  const test::ScratchFolder folder;
  const GraphStore store = grouped_store(folder / "g", {5, 5}, 1);
  SplitOptions options;
  options.folds = 4;
  CHECK_THROWS_WITH(make_split(store, options), "split=group: 4 folds of 2 groups");
  options.folds = 2;
  options.fold = 2;
  CHECK_THROWS_WITH(make_split(store, options), "fold is not below folds");
}

TEST_CASE("an unknown kind or a fraction of 1 or more is a usage error", "[split]") {
  const test::ScratchFolder folder;
  const GraphStore store = random_store(folder / "g");
  SplitOptions options;
  options.kind = "folds";
  CHECK_THROWS_WITH(make_split(store, options), Catch::Contains("one of time, random, group"));
  options = {};
  options.val_fraction = 1;
  CHECK_THROWS_WITH(make_split(store, options), Catch::Contains("val_fraction is outside"));
}

TEST_CASE("a split is read back for its own store only", "[split]") {
  const test::ScratchFolder folder;
  RandomGraphs wanted;
  wanted.files = {60, 10};
  wanted.test_scenarios = {"test_01_known"};
  const GraphStore store = random_store(folder / "g", wanted);
  const Split split = make_split(store, {});
  write_split(folder / "s", split);
  const Split read = load_split(folder / "s", store);
  CHECK(read.parts == split.parts);
  CHECK(read.options == split.options);
  CHECK(read.store_hash == store.content_hash());

  wanted.seed = 2;
  const GraphStore other = random_store(folder / "other", wanted);
  CHECK_THROWS_WITH(load_split(folder / "s", other), Catch::Contains("another graph store"));
  CHECK_THROWS_WITH(load_split(folder / "g", store), Catch::Contains("not a split"));

  Split wrong = split;
  wrong.parts["val"].push_back(70);
  write_split(folder / "s", wrong);
  CHECK_THROWS_WITH(load_split(folder / "s", store), Catch::Contains("names graph 70 of 70"));

  write_split(folder / "s", split);
  std::string bytes = test::read_text(folder / "s");
  bytes[bytes.size() - 8] ^= 1;
  std::ofstream(folder / "s", std::ios::binary) << bytes;
  CHECK_THROWS_WITH(load_split(folder / "s", store), Catch::Contains("differs from its hash"));
  std::filesystem::resize_file(folder / "s", bytes.size() - 1);
  CHECK_THROWS_WITH(load_split(folder / "s", store), Catch::Contains("truncated"));
}

}  // namespace
}  // namespace kdgat::graph
