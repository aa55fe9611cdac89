#include "engine/graph/pack.h"

#include <catch2/catch.hpp>

#include "engine/arrays/random.h"
#include "support/graphs/random_graphs.h"
#include "support/programs/command.h"

namespace kdgat::graph {
namespace {

using test::all_ids;
using test::random_store;
using test::RandomGraphs;

/// Compares with the plainest way to say what a batch holds.
void check_batch(const GraphStore& store, const std::vector<int64_t>& ids, bool with_edge_attr,
                 const GraphBatch& batch) {
  const int64_t width = store.node_features(), edge_width = store.edge_features();
  REQUIRE(batch.graphs == static_cast<int64_t>(ids.size()));
  REQUIRE(batch.y.size() == batch.graphs);
  REQUIRE(batch.node_ptr.size() == batch.graphs + 1);
  REQUIRE(batch.x.size() == batch.nodes * width);
  REQUIRE(batch.in_ptr.size() == batch.nodes + 1);
  REQUIRE(batch.in_source.size() == batch.edges);
  REQUIRE(batch.edge_attr.size() == (with_edge_attr ? batch.edges * edge_width : 0));
  int64_t node = 0, edge = 0;
  for (int64_t i = 0; i < batch.graphs; ++i) {
    const int64_t id = ids[static_cast<std::size_t>(i)];
    REQUIRE(batch.graph_id[i] == id);
    REQUIRE(batch.y[i] == store.y()[id]);
    REQUIRE(batch.node_ptr[i] == node);
    const int64_t first_node = node;
    for (int64_t n = store.node_ptr()[id]; n < store.node_ptr()[id + 1]; ++n, ++node) {
      for (int64_t f = 0; f < width; ++f) {
        REQUIRE(batch.x[node * width + f] == store.x()[n * width + f]);
      }
      REQUIRE(batch.in_ptr[node] == edge);
      // Ordered by source already, so that the edges into one node come out ascending.
      for (int64_t e = store.edge_ptr()[id]; e < store.edge_ptr()[id + 1]; ++e) {
        if (store.edge_target()[e] != node - first_node) continue;
        REQUIRE(batch.in_source[edge] == first_node + store.edge_source()[e]);
        for (int64_t f = 0; with_edge_attr && f < edge_width; ++f) {
          REQUIRE(batch.edge_attr[edge * edge_width + f] == store.edge_attr()[e * edge_width + f]);
        }
        ++edge;
      }
    }
  }
  REQUIRE(batch.node_ptr[batch.graphs] == batch.nodes);
  REQUIRE(batch.in_ptr[batch.nodes] == batch.edges);
  REQUIRE(batch.nodes == node);
  REQUIRE(batch.edges == edge);
}

TEST_CASE("a batch holds its graphs with offset nodes and edges by target", "[pack]") {
  const test::ScratchFolder folder;
  arrays::Random random(3);
  for (const int64_t edge_width : {0, 2, 11}) {
    RandomGraphs wanted;
    wanted.edge_features = edge_width;
    wanted.seed = static_cast<uint64_t>(edge_width);
    const GraphStore store = random_store(folder / "g", wanted);
    GraphBatch batch;  // reused: shrinking and growing again leaves nothing behind
    for (int round = 0; round < 20; ++round) {
      std::vector<int64_t> ids = all_ids(store);
      random.shuffle(ids);
      ids.resize(random.below(ids.size() + 1));
      const bool with_edge_attr = round % 2 == 0;
      gather(store, ids, with_edge_attr, batch);
      check_batch(store, ids, with_edge_attr, batch);
    }
  }
}

TEST_CASE("a batch of no graphs is empty", "[pack]") {
  const test::ScratchFolder folder;
  const GraphStore store = random_store(folder / "g");
  GraphBatch batch;
  gather(store, {}, true, batch);
  check_batch(store, {}, true, batch);
}

TEST_CASE("one graph may stand several times in a batch", "[pack]") {
  const test::ScratchFolder folder;
  const GraphStore store = random_store(folder / "g");
  GraphBatch batch;
  const std::vector<int64_t> ids = {5, 5, 3, 5};
  gather(store, ids, true, batch);
  check_batch(store, ids, true, batch);
}

TEST_CASE("a batch with more nodes than 32 bits can name does not fit", "[pack]") {
  const test::ScratchFolder folder;
  GraphStoreData data;
  data.sources = {{"a.csv", "", "train", "", 1, 0, 0, 1}};
  data.node_ptr = {0, int64_t{1} << 20};  // nodes without features take no room in the file
  data.edge_ptr = {0, 0};
  data.y = data.source_of = {0};
  data.row_begin = {0};
  data.row_end = {1};
  write_graph_store(folder / "g", data);
  const GraphStore store = GraphStore::open(folder / "g");
  GraphBatch batch;
  const std::vector<int64_t> ids(1 << 11, 0);
  try {
    gather(store, ids, false, batch);
    FAIL("gathered 2^31 nodes");
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::kDoesNotFit);
    CHECK_THAT(error.what(), Catch::Contains("2147483648 nodes"));
  }
}

TEST_CASE("packs hold each graph once and keep within every bound", "[pack]") {
  const test::ScratchFolder folder;
  const GraphStore store = random_store(
      folder / "g", {.files = {10'000}, .max_nodes = 40, .node_features = 1, .edge_features = 0});
  const auto size = [](std::span<const int64_t> ptr, int64_t id) { return ptr[id + 1] - ptr[id]; };
  arrays::Random random(5);
  for (int round = 0; round < 60; ++round) {
    std::vector<int64_t> ids = all_ids(store);
    random.shuffle(ids);
    ids.resize(round < 10 ? random.below(20) : 1 + random.below(ids.size()));
    PackLimits limits;
    if (random.below(2) == 0) limits.graphs = 1 + static_cast<int64_t>(random.below(600));
    if (random.below(2) == 0) limits.nodes = 40 + static_cast<int64_t>(random.below(5000));
    if (random.below(2) == 0) limits.edges = 80 + static_cast<int64_t>(random.below(5000));
    if (random.below(2) == 0) limits.min_packs = 1 + static_cast<int64_t>(random.below(64));
    INFO("round " << round << ": " << ids.size() << " graphs, at most " << limits.graphs
                  << " graphs, " << limits.nodes << " nodes, " << limits.edges
                  << " edges, at least " << limits.min_packs << " packs");
    const PackPlan plan = make_pack_plan(store, ids, limits, round % 3 != 0, 1, round);
    const auto count = static_cast<int64_t>(ids.size());
    REQUIRE(plan.ptr.front() == 0);
    REQUIRE(plan.ptr.back() == count);
    CHECK(plan.packs() >= std::min(count, limits.min_packs));
    for (int64_t p = 0; p < plan.packs(); ++p) {
      const std::span<const int64_t> pack = plan.pack(p);
      int64_t nodes = 0, edges = 0;
      for (const int64_t id : pack) {
        nodes += size(store.node_ptr(), id);
        edges += size(store.edge_ptr(), id);
      }
      const auto graphs = static_cast<int64_t>(pack.size());
      REQUIRE(graphs > 0);
      REQUIRE((limits.graphs == 0 || graphs <= limits.graphs));
      REQUIRE((limits.nodes == 0 || nodes <= limits.nodes));
      REQUIRE((limits.edges == 0 || edges <= limits.edges));
      REQUIRE((limits.min_packs == 0 || (graphs - 1) * limits.min_packs < count));
      // Greedy: the next graph would have broken a bound of size, where only those are set.
      if (limits.graphs == 0 && limits.min_packs == 0 && p + 1 < plan.packs()) {
        const int64_t next = plan.order[static_cast<std::size_t>(plan.ptr[p + 1])];
        REQUIRE(((limits.nodes > 0 && nodes + size(store.node_ptr(), next) > limits.nodes) ||
                 (limits.edges > 0 && edges + size(store.edge_ptr(), next) > limits.edges)));
      }
    }
    if (round % 3 == 0) CHECK(plan.order == ids);
    std::vector<int64_t> order = plan.order;
    std::sort(order.begin(), order.end());
    std::sort(ids.begin(), ids.end());
    CHECK(order == ids);
  }
}

TEST_CASE("the packs of an epoch depend on seed and epoch alone", "[pack]") {
  const test::ScratchFolder folder;
  const GraphStore store = random_store(folder / "g");
  const std::vector<int64_t> ids = all_ids(store);
  const PackLimits limits{8, 0, 0, 0};
  const PackPlan plan = make_pack_plan(store, ids, limits, true, 42, 3);
  CHECK(make_pack_plan(store, ids, limits, true, 42, 3).order == plan.order);
  CHECK(make_pack_plan(store, ids, limits, true, 42, 3).ptr == plan.ptr);
  CHECK(make_pack_plan(store, ids, limits, true, 42, 4).order != plan.order);
  CHECK(make_pack_plan(store, ids, limits, true, 43, 3).order != plan.order);
  CHECK(plan.packs() == 7);
}

TEST_CASE("no graphs make no packs", "[pack]") {
  const test::ScratchFolder folder;
  const GraphStore store = random_store(folder / "g");
  const PackPlan plan = make_pack_plan(store, {}, {8, 0, 0, 4}, true, 1, 0);
  CHECK(plan.packs() == 0);
}

TEST_CASE("a graph that alone exceeds a bound does not fit and is named", "[pack]") {
  const test::ScratchFolder folder;
  const GraphStore store = random_store(folder / "g");
  int64_t largest = 0;
  const auto nodes = [&store](int64_t id) {
    return store.node_ptr()[id + 1] - store.node_ptr()[id];
  };
  for (int64_t id = 0; id < store.graphs(); ++id) {
    if (nodes(id) > nodes(largest)) largest = id;
  }
  const std::vector<int64_t> ids = {largest};
  try {
    make_pack_plan(store, ids, {0, nodes(largest) - 1, 0, 0}, false, 1, 0);
    FAIL("packed a graph larger than a pack");
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::kDoesNotFit);
    CHECK_THAT(error.what(), Catch::Contains("graph " + std::to_string(largest)));
  }
}

}  // namespace
}  // namespace kdgat::graph
