// One flipped bit anywhere in a store of each kind: found by its hashes, or of no consequence; and
// where no hash is looked at, never a reason to read outside of the file.
#include <catch2/catch.hpp>
#include <numeric>

#include "data/domains.h"
#include "data/graph_domain.h"
#include "data/molecules/molecule_store.h"
#include "data/ratings/ratings_store.h"
#include "data/texts/text_store.h"
#include "graph/pack.h"
#include "graph/paths.h"
#include "graph/shape.h"
#include "support/command.h"
#include "support/import_options.h"
#include "support/log_text.h"
#include "support/mutate.h"
#include "support/synth_of.h"

namespace kdgat::graph {
namespace {

namespace fs = std::filesystem;

/// Uses all of a graph store as training does: as one batch, along its paths, as shapes.
void use_graphs(const fs::path& path) {
  const GraphStore store = GraphStore::open(path, Check::kRanges);
  std::vector<int64_t> ids(static_cast<std::size_t>(store.graphs()));
  std::iota(ids.begin(), ids.end(), int64_t{0});
  GraphBatch batch;
  gather(store, ids, true, batch);
  if (store.path_counts() != nullptr) {
    const auto nodes = static_cast<std::size_t>(batch.nodes);
    const OutEdges edges{{batch.out_ptr.data(), nodes + 1},
                         {batch.out_target.data(), static_cast<std::size_t>(batch.edges)}};
    PathChunk chunk;
    PathCursor cursor(edges, 0, batch.nodes);
    for (int i = 0; i < 20 && cursor.next(chunk, 64); ++i) continue;
  }
  if (store.trees() != nullptr && store.positions() != nullptr) shape_features(batch);
  make_split(store, {});
  store.verify();
}

/// A sum over what every number that indexes leads to.
void use_texts(const fs::path& path) {
  const TextStore store = TextStore::open(path, Check::kRanges);
  float sum = 0;
  for (std::size_t n = 0; n + 1 < store.row_ptr().size(); ++n) {
    for (int32_t e = store.row_ptr()[n]; e < store.row_ptr()[n + 1]; ++e) {
      const auto column = static_cast<std::size_t>(store.col()[static_cast<std::size_t>(e)]);
      sum += store.value()[static_cast<std::size_t>(e)] + static_cast<float>(store.y()[column]);
    }
    if (store.doc_mask()[n])
      sum +=
          static_cast<float>(store.class_names().at(static_cast<std::size_t>(store.y()[n])).size());
  }
  CHECK((sum == sum || sum != sum));
  store.verify();
}

void use_ratings(const fs::path& path) {
  const RatingStore store = RatingStore::open(path, Check::kRanges);
  float sum = 0;
  for (const std::span<const int32_t>& part : {store.train(), store.test()}) {
    for (const int32_t rating : part) {
      const auto r = static_cast<std::size_t>(rating);
      sum += store.rating()[r];
      sum += static_cast<float>(
          store.user_names().at(static_cast<std::size_t>(store.user()[r])).size() +
          store.item_names().at(static_cast<std::size_t>(store.item()[r])).size());
    }
  }
  for (std::size_t n = 0; n + 1 < store.row_ptr().size(); ++n) {
    for (int32_t e = store.row_ptr()[n]; e < store.row_ptr()[n + 1]; ++e) {
      sum += static_cast<float>(
          store.row_ptr()[static_cast<std::size_t>(store.col()[static_cast<std::size_t>(e)])]);
    }
  }
  CHECK((sum == sum || sum != sum));
  store.verify();
}

void use_molecules(const fs::path& path) {
  const MoleculeStore store = MoleculeStore::open(path, Check::kRanges);
  float sum = 0;
  for (std::size_t g = 0; g + 1 < store.atom_ptr().size(); ++g) {
    const auto walk = [&](const auto& terms, int64_t ends) {
      for (int64_t i = ends * terms.ptr[g]; i < ends * terms.ptr[g + 1]; ++i) {
        const int64_t atom = store.atom_ptr()[g] + terms.index[static_cast<std::size_t>(i)];
        sum += store.pos()[static_cast<std::size_t>(3 * atom + 2)];
      }
    };
    walk(store.bonds(), 2);
    walk(store.pairs(), 2);
    walk(store.angles(), 3);
    walk(store.dihedrals(), 4);
    if (store.ligand()[g] >= 0) {
      const auto ligand = static_cast<std::size_t>(store.ligand()[g]);
      sum += static_cast<float>(store.ligands().at(ligand).size());
      const auto width = static_cast<std::size_t>(store.embedding_width());
      sum += store.embeddings()[ligand * width + width - 1];
    }
  }
  CHECK((sum == sum || sum != sum));
  for (const char* part : kMoleculeParts) store.in_part(part);
  store.verify();
}

/// Whether a byte of a store says nothing: it fills up a tensor's place. What fills up the header
/// says nothing either, but not every other byte may stand there.
class Padding {
 public:
  explicit Padding(const std::string& bytes)
      : file_(SafetensorsFile::parse(std::as_bytes(std::span(bytes)), "padding")) {
    for (const auto& [name, view] : file_.tensors()) {
      const auto first =
          static_cast<std::size_t>(reinterpret_cast<const char*>(view.data) - bytes.data());
      used_.emplace_back(first, first + view.bytes);
    }
    uint64_t header = 0;
    std::copy_n(bytes.data(), sizeof header, reinterpret_cast<char*>(&header));
    blanks_ = {1 + bytes.find_last_of('}', 8 + header), sizeof header + header};
    used_.emplace_back(0, blanks_.second);
  }
  bool is_blank(std::size_t at) const { return at >= blanks_.first && at < blanks_.second; }
  bool holds(std::size_t at) const {
    return std::none_of(used_.begin(), used_.end(),
                        [at](const auto& range) { return at >= range.first && at < range.second; });
  }

 private:
  SafetensorsFile file_;
  std::vector<std::pair<std::size_t, std::size_t>> used_;
  std::pair<std::size_t, std::size_t> blanks_;
};

struct Kind {
  const char* name;
  SynthOptions synth;
  void (*use)(const fs::path& path);
  const char* features = "v2";  // of logs
};

std::vector<Kind> all_kinds() {
  SynthOptions logs;
  logs.seconds = 3;
  logs.attacks = {"dos"};
  return {{"can", logs, use_graphs},
          {"can with frames", logs, use_graphs, "v3"},
          {"space", test::synth_of("tree", 6, 20), use_graphs},
          {"texts", test::synth_of("text", 40, 30), use_texts},
          {"ratings", test::synth_of("ratings", 12, 6), use_ratings},
          {"molecules", test::synth_of("molecules", 6, 60), use_molecules}};
}

}  // namespace

TEST_CASE("a flipped bit of any kind of store is found, and never leads outside of the file",
          "[flips]") {
  test::MutationRandom random(18);
  for (const Kind& kind : all_kinds()) {
    INFO(kind.name);
    const test::ScratchFolder folder;
    write_synthetic(folder / "in", kind.synth);
    ImportOptions options;
    options.features = kind.features;
    import_logs(folder / "in", folder / "out", options);
    const std::string sound = test::read_text(folder / "out" / kStoreName);
    const Padding padding(sound);
    const Domain& domain = domain_of_store(all_domains(), folder / "out" / kStoreName);
    CHECK_NOTHROW(kind.use(folder / "out" / kStoreName));
    int refused = 0, silent = 0;
    const int rounds = test::soak(120);
    for (int round = 0; round < rounds; ++round) {
      std::string bytes = sound;
      const std::size_t at = random.below(bytes.size());
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8)));
      test::write_text(folder / "bad.safetensors", bytes);
      bool is_found = false;
      try {
        domain.open(folder / "bad.safetensors", Check::kAlways);
      } catch (const Error& error) {
        CHECK(error.code() == ExitCode::kData);
        is_found = true;
      }
      INFO("byte " << at);
      if (!padding.is_blank(at)) CHECK(is_found != padding.holds(at));
      ++(is_found ? refused : silent);
      try {
        kind.use(folder / "bad.safetensors");
      } catch (const Error& error) {
        CHECK(error.code() == ExitCode::kData);
      }
    }
    CHECK(refused > silent);
  }
}

}  // namespace kdgat::graph
