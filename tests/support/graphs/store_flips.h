// One flipped bit anywhere in a store: found by its hashes, or of no consequence; and where no hash
// is looked at, never a reason to read outside of the file.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "engine/arrays/paths.h"
#include "engine/data/core/graph_domain.h"
#include "engine/graph/pack.h"
#include "engine/graph/shape.h"
#include "pipeline/data/domains.h"
#include "support/can/log_text.h"
#include "support/graphs/import_options.h"
#include "support/graphs/synth_of.h"
#include "support/programs/command.h"
#include "support/programs/mutate.h"

namespace kdgat::graph {

namespace fs = std::filesystem;

/// Uses all of a graph store as training does: as one batch, along its paths, as shapes.
inline void use_graphs(const fs::path& path) {
  const GraphStore store = GraphStore::open(path, Check::kRanges);
  std::vector<int64_t> ids(static_cast<std::size_t>(store.graphs()));
  std::iota(ids.begin(), ids.end(), int64_t{0});
  GraphBatch batch;
  gather(store, ids, true, batch);
  if (store.path_counts() != nullptr) {
    const auto nodes = static_cast<std::size_t>(batch.nodes);
    const arrays::OutEdges edges{{batch.out_ptr.data(), nodes + 1},
                                 {batch.out_target.data(), static_cast<std::size_t>(batch.edges)}};
    arrays::PathChunk chunk;
    arrays::PathCursor cursor(edges, 0, batch.nodes);
    for (int i = 0; i < 20 && cursor.next(chunk, 64); ++i) continue;
  }
  if (store.trees() != nullptr && store.positions() != nullptr) shape_features(batch);
  make_split(store, {});
  store.verify();
}

/// Whether a byte of a store says nothing: it fills up a tensor's place. What fills up the header
/// says nothing either, but not every other byte may stand there.
class Padding {
 public:
  explicit Padding(const std::string& bytes)
      : file_(file::SafetensorsFile::parse(std::as_bytes(std::span(bytes)), "padding")) {
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
  file::SafetensorsFile file_;
  std::vector<std::pair<std::size_t, std::size_t>> used_;
  std::pair<std::size_t, std::size_t> blanks_;
};

struct FlippedKind {
  SynthOptions synth;
  void (*use)(const fs::path& path);
  const char* features = "v2";  // of logs
};

inline void check_flips(const FlippedKind& kind) {
  test::MutationRandom random(18);
  const test::ScratchFolder folder;
  write_synthetic(folder / "in", kind.synth);
  ImportOptions options;
  options.features = kind.features;
  import_logs(folder / "in", folder / "out", options);
  const std::string sound = test::read_text(folder / "out" / data::kStoreName);
  const Padding padding(sound);
  const data::Domain& domain =
      data::domain_of_store(data::all_domains(), folder / "out" / data::kStoreName);
  CHECK_NOTHROW(kind.use(folder / "out" / data::kStoreName));
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

}  // namespace kdgat::graph
