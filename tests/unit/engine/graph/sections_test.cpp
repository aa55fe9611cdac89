// The sections of a store, each with and without the others.
#include "engine/graph/sections/sections.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <span>

#include "engine/arrays/random.h"
#include "engine/graph/pack.h"
#include "engine/graph/section_facts.h"
#include "support/can/log_text.h"
#include "support/graphs/random_graphs.h"
#include "support/graphs/section_graphs.h"
#include "support/graphs/span_copy.h"
#include "support/programs/command.h"

namespace kdgat::graph {
namespace {

using namespace test;

/// NaN is one value here.
std::vector<int32_t> bits(std::span<const float> values) {
  std::vector<int32_t> out(values.size());
  if (!values.empty()) std::memcpy(out.data(), values.data(), values.size_bytes());
  return out;
}

bool is_edge(const GraphStore& store, std::size_t g, int32_t a, int32_t b) {
  for (int64_t e = store.edge_ptr()[g]; e < store.edge_ptr()[g + 1]; ++e) {
    const auto at = static_cast<std::size_t>(e);
    if (store.edge_source()[at] == a && store.edge_target()[at] == b) return true;
  }
  return false;
}

/// Paths i->j->k->p of different nodes that start at `i`, and that of its own, by trying all.
int64_t paths_from(const GraphStore& store, std::size_t g, int32_t i) {
  const auto nodes = static_cast<int32_t>(store.node_ptr()[g + 1] - store.node_ptr()[g]);
  int64_t count = 1;
  for (int32_t j = 0; j < nodes; ++j) {
    for (int32_t k = 0; k < nodes; ++k) {
      for (int32_t p = 0; p < nodes; ++p) {
        if (i == j || i == k || i == p || j == k || j == p || k == p) continue;
        count += is_edge(store, g, i, j) && is_edge(store, g, j, k) && is_edge(store, g, k, p);
      }
    }
  }
  return count;
}

bool is_in_subtree(std::span<const int32_t> parent, int32_t of, int32_t v) {
  while (v >= 0 && v != of) v = parent[static_cast<std::size_t>(v)];
  return v == of;
}

void check_paths(const GraphStore& store) {
  int64_t all = 0;
  for (std::size_t g = 0; g < static_cast<std::size_t>(store.graphs()); ++g) {
    const int64_t first = store.node_ptr()[g], nodes = store.node_ptr()[g + 1] - first;
    int64_t of_graph = 0;
    for (int64_t n = 0; n < nodes; ++n) {
      const int64_t wanted = paths_from(store, g, static_cast<int32_t>(n));
      REQUIRE(store.path_counts()->count[static_cast<std::size_t>(first + n)] == wanted);
      of_graph += wanted;
    }
    CHECK(store.path_counts()->of_graph(store.node_ptr(), g) == of_graph);
    all += of_graph;
  }
  const char* key = section_facts_key(store.positions() != nullptr, store.targets() != nullptr);
  CHECK(store.facts().at(key).at("paths").at("sum") == all);
}

void check_trees(const GraphStore& store) {
  const std::size_t all = store.trees()->parent.size();
  for (std::size_t g = 0; g < static_cast<std::size_t>(store.graphs()); ++g) {
    const auto first = static_cast<std::size_t>(store.node_ptr()[g]);
    const auto nodes = static_cast<std::size_t>(store.node_ptr()[g + 1]) - first;
    const std::span<const int32_t> parent = store.trees()->parent.subspan(first, nodes);
    const std::span<const int32_t> in = store.trees()->tour.subspan(first, nodes);
    const std::span<const int32_t> out = store.trees()->tour.subspan(all + first, nodes);
    int64_t edges = 0;
    for (std::size_t i = 0; i < nodes; ++i) {
      edges += parent[i] >= 0;
      for (std::size_t j = 0; j < nodes; ++j) {
        REQUIRE((in[i] <= in[j] && in[j] < out[i]) ==
                is_in_subtree(parent, static_cast<int32_t>(i), static_cast<int32_t>(j)));
      }
    }
    CHECK(store.trees()->relations_of(g).edges == edges);
  }
}

/// What a batch of `ids` holds of each section, said as plainly as possible.
void check_batch(const GraphStore& store, const std::vector<int64_t>& ids,
                 const GraphBatch& batch) {
  std::vector<float> pos, target;
  std::vector<int32_t> parent, tour_in, tour_out, out_target, out_ptr{0};
  int32_t node = 0;
  for (const int64_t id : ids) {
    const auto g = static_cast<std::size_t>(id);
    const int64_t first = store.node_ptr()[g], end = store.node_ptr()[g + 1];
    for (int64_t n = first; n < end; ++n) {
      const auto at = static_cast<std::size_t>(n);
      if (const Positions* places = store.positions()) {
        for (std::size_t d = 0; d < 3; ++d) pos.push_back(places->pos[3 * at + d]);
      }
      if (const Trees* trees = store.trees()) {
        parent.push_back(trees->parent[at] < 0 ? -1 : trees->parent[at] + node);
        tour_in.push_back(trees->tour[at]);
        tour_out.push_back(trees->tour[static_cast<std::size_t>(store.nodes()) + at]);
      }
      for (int32_t to = 0; store.path_counts() != nullptr && to < end - first; ++to) {
        if (is_edge(store, g, static_cast<int32_t>(n - first), to)) out_target.push_back(node + to);
      }
      out_ptr.push_back(static_cast<int32_t>(out_target.size()));
    }
    if (const Targets* labels = store.targets()) {
      for (std::size_t t = 0; t < labels->count(); ++t) {
        target.push_back(labels->values[g * labels->count() + t]);
      }
    }
    node += static_cast<int32_t>(end - first);
  }
  if (store.path_counts() == nullptr) out_ptr.clear();
  const auto all = [](const auto& buffer) {
    return std::vector(buffer.data(), buffer.data() + buffer.size());
  };
  CHECK(all(batch.pos) == pos);
  CHECK(all(batch.parent) == parent);
  CHECK(all(batch.tour_in) == tour_in);
  CHECK(all(batch.tour_out) == tour_out);
  CHECK(all(batch.out_ptr) == out_ptr);
  CHECK(all(batch.out_target) == out_target);
  CHECK(bits(all(batch.target)) == bits(target));
}

TEST_CASE("a store of any of the sections holds what it was made from", "[sections][store]") {
  const test::ScratchFolder folder;
  GraphBatch batch;  // one for all: what a store lacks must not stay from the store before
  for (uint64_t round = 0; round <= 2 * kAll + 1; ++round) {
    const uint64_t wanted = round % (kAll + 1);
    const GraphStoreData data = graphs_with(wanted, round + 1, 1 + round % 3);
    write_graph_store(folder / "g", data);
    const GraphStore store = GraphStore::open(folder / "g");
    INFO("round " << round << ", sections " << wanted);
    CHECK(store.verify().empty());
    REQUIRE((store.positions() != nullptr) == ((wanted & kPositions) != 0));
    REQUIRE((store.trees() != nullptr) == ((wanted & kTrees) != 0));
    REQUIRE((store.path_counts() != nullptr) == ((wanted & kPaths) != 0));
    REQUIRE((store.targets() != nullptr) == ((wanted & kTargets) != 0));
    REQUIRE((store.ids() != nullptr) == ((wanted & kIds) != 0));
    if (store.positions() != nullptr) {
      CHECK(copy(store.positions()->pos) == data.sections.positions->pos);
    }
    if (store.trees() != nullptr) {
      CHECK(copy(store.trees()->parent) == data.sections.trees->parent);
      check_trees(store);
    }
    if (store.path_counts() != nullptr) check_paths(store);
    if (store.targets() != nullptr) {
      CHECK(store.targets()->classes == data.sections.targets->classes);
      CHECK(store.targets()->names == data.sections.targets->names);
      CHECK(bits(store.targets()->values) == bits(data.sections.targets->values));
    }
    if (store.ids() != nullptr) {
      CHECK(copy(store.ids()->vocabulary) == data.sections.ids->vocabulary);
    }
    const Split split = make_split(store, {});
    std::size_t in_parts = 0;
    for (const auto& [name, ids] : split.parts) in_parts += ids.size();
    CHECK(in_parts == data.y.size());
    std::vector<int64_t> order = split.parts.at("train");
    arrays::Random(round).shuffle(order);
    const PackPlan plan = make_pack_plan(store, order, {.graphs = 7, .paths = 60}, true, round, 0);
    for (int64_t p = 0; p < plan.packs(); ++p) {
      const std::vector<int64_t> ids(plan.pack(p).begin(), plan.pack(p).end());
      gather(store, ids, false, batch);
      check_batch(store, ids, batch);
    }
  }
}

TEST_CASE("the facts of a store tell its sections", "[sections][store]") {
  const test::ScratchFolder folder;
  for (uint64_t wanted = 0; wanted <= kAll; ++wanted) {
    write_graph_store(folder / "g", graphs_with(wanted, wanted + 1, 2));
    const nlohmann::json facts = GraphStore::open(folder / "g").facts();
    INFO("sections " << wanted << ": " << facts.dump());
    const bool has_classes = (wanted & kTargets) != 0, has_places = (wanted & kPositions) != 0;
    const char* key = has_classes && !has_places ? "classified" : "spatial";
    CHECK(facts.contains(key) == ((wanted & ~uint64_t{kIds}) != 0));
    CHECK(facts.contains("classified") + facts.contains("spatial") <= 1);
    const nlohmann::json of_sections = facts.value(key, nlohmann::json::object());
    CHECK(Positions::is_in(of_sections) == ((wanted & kPositions) != 0));
    CHECK(Trees::is_in(of_sections) == ((wanted & kTrees) != 0));
    CHECK(PathCounts::is_in(of_sections) == ((wanted & kPaths) != 0));
    CHECK(Targets::is_in(of_sections) == ((wanted & kTargets) != 0));
    CHECK(of_sections.contains("target_names") == ((wanted & kTargets) != 0));
    CHECK(facts.at("num_ids") == ((wanted & kIds) != 0 ? 5 : 1));
    if ((wanted & kTargets) != 0) CHECK(facts.at("attack") == 0);
  }
}

TEST_CASE("one target a graph is a column, and without numbers no graph has one",
          "[sections][store]") {
  const test::ScratchFolder folder;
  GraphStoreData data = graphs_with(kTargets, 1);
  data.sections.targets->values.clear();
  write_graph_store(folder / "g", data);
  const GraphStore none = GraphStore::open(folder / "g");
  CHECK(none.facts().at(kClassifiedFacts).at("targets") == 0);
  for (const float value : none.targets()->values) CHECK(std::isnan(value));
  CHECK(file::SafetensorsFile::open(folder / "g").tensor("target").shape ==
        std::vector<int64_t>{30});

  data.sections.targets->values.assign(30, 2.5F);
  data.sections.targets->values[1] = kNone;
  write_graph_store(folder / "g", data);
  CHECK(GraphStore::open(folder / "g").facts().at(kClassifiedFacts).at("targets") == 29);

  data.sections.targets->names = {"length", "age"};
  data.sections.targets->values.assign(60, kNone);
  data.sections.targets->values[7] = 1;
  write_graph_store(folder / "g", data);
  const GraphStore two = GraphStore::open(folder / "g");
  CHECK(two.facts().at(kClassifiedFacts).at("targets") == 1);
  CHECK(two.targets()->of_graph(3)[1] == 1);
  CHECK(file::SafetensorsFile::open(folder / "g").tensor("target").shape ==
        std::vector<int64_t>{30, 2});
}

TEST_CASE("graphs in space without ids have the vocabulary that they always had",
          "[sections][store]") {
  const test::ScratchFolder folder;
  write_graph_store(folder / "g", graphs_with(kAll & ~kIds, 1));
  CHECK(file::SafetensorsFile::open(folder / "g").tensor("vocabulary").shape ==
        std::vector<int64_t>{0});
  write_graph_store(folder / "g", graphs_with(kTargets, 1));
  CHECK_FALSE(file::SafetensorsFile::open(folder / "g").has("vocabulary"));
}

TEST_CASE("a store without sections has none of their arrays", "[sections][store]") {
  const test::ScratchFolder folder;
  const GraphStore store = test::random_store(folder / "g");
  CHECK_FALSE(store.facts().contains("spatial"));
  const file::SafetensorsFile file = file::SafetensorsFile::open(folder / "g");
  CHECK(file.tensors().size() == 11);
  CHECK_FALSE(file.metadata().contains("classes"));
  for (const Source& source : store.sources()) {
    CHECK_FALSE(nlohmann::json(source).contains("independent"));
  }
}

TEST_CASE("who needs a section that a store lacks is told which", "[sections][store]") {
  const test::ScratchFolder folder;
  write_graph_store(folder / "bare", graphs_with(0, 1));
  const GraphStore bare = GraphStore::open(folder / "bare");
  const auto lack = [&bare]<class Section>() {
    const std::string said = test::data_error([&] { bare.need<Section>(); });
    CHECK_THAT(said, Catch::Contains(bare.path().string() + ": the graphs have no ") &&
                         Catch::Contains(Section::kHint));
    return said;
  };
  CHECK_THAT(lack.operator()<Positions>(), Catch::Contains("no positions"));
  CHECK_THAT(lack.operator()<Trees>(), Catch::Contains("no trees"));
  CHECK_THAT(lack.operator()<PathCounts>(), Catch::Contains("no counts of third-order paths"));
  CHECK_THAT(lack.operator()<Targets>(), Catch::Contains("no classes and targets"));
  CHECK_THAT(lack.operator()<Ids>(), Catch::Contains("no ids of nodes"));
  write_graph_store(folder / "all", graphs_with(kAll, 1));
  const GraphStore all = GraphStore::open(folder / "all");
  CHECK(&all.need<Trees>() == all.trees());
}

}  // namespace
}  // namespace kdgat::graph
