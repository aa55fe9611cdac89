// Whatever the bytes, labelled graphs either are refused with Error(kData) or are as many as is
// said, with edges between their nodes and finite numbers. The first byte picks the form: an .npz,
// or three tables in one text, or the files of a TUDataset folder, cut at lines of "--". With
// clang: clang++ -std=c++20 -fsanitize=fuzzer,address with the sources of kdgat_graph.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "engine/data/graphs/graph_builder.h"
#include "engine/data/graphs/graph_tensors.h"
#include "engine/data/graphs/graphs_import.h"
#include "engine/data/graphs/npz.h"
#include "kdgat/error.h"
#include "support/programs/command.h"

namespace {

void check_graphs(const kdgat::data::GraphCollection& collection, bool undirected) {
  using namespace kdgat::data;
  using namespace kdgat::graph;
  EdgeChanges changes;
  const GraphStoreData data = build_graphs(
      collection, undirected, {}, [] {}, changes);
  const std::size_t graphs = data.y.size();
  if (graphs != collection.graphs.size() || data.node_ptr.size() != graphs + 1 ||
      data.edge_ptr.size() != graphs + 1 || data.edge_source.size() != data.edge_target.size()) {
    std::abort();
  }
  const auto classes = static_cast<int32_t>(data.sections.targets->classes.size());
  for (std::size_t g = 0; g < graphs; ++g) {
    const int64_t nodes = data.node_ptr[g + 1] - data.node_ptr[g];
    if (nodes < 1 || data.y[g] < -1 || data.y[g] >= classes) std::abort();
    for (auto e = static_cast<std::size_t>(data.edge_ptr[g]);
         e < static_cast<std::size_t>(data.edge_ptr[g + 1]); ++e) {
      const int32_t source = data.edge_source[e], target = data.edge_target[e];
      if (source < 0 || target < 0 || source >= nodes || target >= nodes || source == target) {
        std::abort();
      }
    }
  }
  for (const auto* values : {&data.x, &data.edge_attr}) {
    if (!std::all_of(values->begin(), values->end(), [](float v) { return std::isfinite(v); })) {
      std::abort();
    }
  }
}

std::vector<std::string> parts_of(std::string_view text) {
  std::vector<std::string> out;
  while (true) {
    const std::size_t cut = text.find("\n--\n");
    out.emplace_back(text.substr(0, cut == std::string_view::npos ? cut : cut + 1));
    if (cut == std::string_view::npos) return out;
    text.remove_prefix(cut + 4);
  }
}

/// Writes the parts of a text as files, and reads them.
void check_files(std::string_view text, bool is_tu, bool undirected) {
  using namespace kdgat::data;
  using namespace kdgat::graph;
  static const kdgat::test::ScratchFolder folder;
  static const char* const kTables[] = {"graphs.csv", "nodes.csv", "edges.csv"};
  static const char* const kTu[] = {"A",           "graph_indicator", "graph_labels",
                                    "node_labels", "node_attributes", "edge_attributes"};
  GraphsInput input{is_tu ? kTuDataset : kGraphTables, folder.path(), {}};
  const std::vector<std::string> parts = parts_of(text);
  for (std::size_t i = 0; i < (is_tu ? std::size(kTu) : std::size(kTables)); ++i) {
    const auto path = folder / std::to_string(i);
    std::ofstream(path, std::ios::binary) << (i < parts.size() ? parts[i] : std::string());
    input.files.push_back({path, is_tu ? kTu[i] : kTables[i], "", "train"});
    if (is_tu) input.files.back().channel = kTu[i];
  }
  kdgat::data::Notes warnings;
  const GraphsOptions options;
  const GraphsImport import{input, options, {}, [](int64_t) {}, warnings};
  check_graphs(is_tu ? read_tu_dataset(import) : read_graph_tables(import), undirected);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace kdgat::data;
  using namespace kdgat::graph;
  if (size == 0) return 0;
  const bool undirected = (data[0] & 1) != 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    if (data[0] < 64) {
      const NpzFile file = NpzFile::parse(text, "fuzz", std::size_t{1} << 20);
      check_graphs(collect_arrays({"fuzz", kGraphNpz, file.numbers(), file.texts()}), undirected);
    } else {
      check_files(text, data[0] >= 128, undirected);
    }
  } catch (const kdgat::Error& error) {
    if (error.code() != kdgat::ExitCode::kData) std::abort();
  }
  return 0;
}
