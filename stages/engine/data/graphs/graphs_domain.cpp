#include "engine/data/graphs/graphs_domain.h"

#include <utility>

#include "engine/arrays/index.h"
#include "engine/data/core/folder_files.h"
#include "engine/data/core/graph_domain.h"
#include "engine/data/graphs/graphs_import.h"
#include "engine/data/graphs/synth_graphs.h"

namespace kdgat::data {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

class LabelledGraphs : public DomainInput {
 public:
  LabelledGraphs(GraphsInput input, GraphsOptions options)
      : DomainInput(input.files), input_(std::move(input)), options_(std::move(options)) {}

  void import(const ImportCall& call) const override {
    graph::GraphStoreData data = import_graphs(
        {input_, options_, call.cancelled, call.done, call.report.warnings}, call.to.parent_path());
    data.options = call.made_with;
    graph::write_graph_store(call.to, data);
  }

 private:
  GraphsInput input_;
  GraphsOptions options_;
};

class GraphsDomain : public WithOptions<GraphDomain, GraphsOptions, SynthSize> {
 public:
  const char* name() const override { return "graphs"; }
  const char* source_word() const override { return "graphs"; }
  const Wording& wording() const override { return graphs_wording(); }
  std::vector<std::string> formats() const override {
    return {kGraphTables, kTuDataset, kGraphTensors, kGraphNpz};
  }

  std::optional<Diagnostic> near(const fs::path& source, const json&) const override {
    return near_graphs(source);
  }

  Found find(const fs::path& source, const json& values) const override {
    const auto options = own_options<GraphsOptions>(values);
    const auto input = find_graphs(source, options.format);
    if (!input) return {};
    return {Sureness::kSure, [input, options, source](Notes& notes) {
              report_left_out(source, input->files, notes);
              return std::make_shared<LabelledGraphs>(*input, options);
            }};
  }

  bool is_input(const file::SafetensorsFile& file) const override { return is_graph_tensors(file); }

  void synthesize(const fs::path& folder, const json& values, const json&,
                  const std::function<bool()>& cancelled) const override {
    write_synthetic_graphs(folder, own_options<SynthSize>(values), cancelled);
  }

  const char* facts_key() const override { return "classified"; }
  std::vector<SynthKind> synth_kinds() const override {
    return {{"graphs", "graphs that differ in which nodes are joined (CSV)"}};
  }

 protected:
  bool owns(const file::SafetensorsFile& file) const override {
    return !file.has("pos") && file.metadata().contains("classes");
  }

  void add_counts(const graph::GraphStore& store, const std::vector<int64_t>& graphs,
                  json& counts) const override {
    std::vector<int64_t> by_class(store.need<graph::Targets>().classes.size(), 0);
    for (const int64_t g : graphs) {
      const int32_t y = store.y()[arrays::at(g)];
      if (y >= 0) ++by_class[arrays::at(y)];
    }
    counts["classes"] = by_class;
  }
};

}  // namespace

const Domain& graphs_domain() {
  static const GraphsDomain domain;
  return domain;
}

}  // namespace kdgat::data
