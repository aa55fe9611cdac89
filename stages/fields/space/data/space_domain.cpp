#include "fields/space/data/space_domain.h"

#include <utility>

#include "engine/data/core/folder_files.h"
#include "engine/data/core/graph_domain.h"
#include "fields/space/data/spatial_import.h"
#include "fields/space/data/synth_spatial.h"

namespace kdgat::space {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

std::vector<data::LogFile> with_labels(const SpatialSource& input) {
  std::vector<data::LogFile> out = input.files;
  if (!input.labels.empty()) out.push_back({input.labels, "labels", "", "labels"});
  return out;
}

class SpaceInput : public data::DomainInput {
 public:
  SpaceInput(SpatialSource input, SpatialImportOptions options)
      : DomainInput(with_labels(input)), input_(std::move(input)), options_(std::move(options)) {}

  void import(const data::ImportCall& call) const override {
    graph::GraphStoreData data =
        import_spatial({input_, options_, call.cancelled, call.done, call.report.warnings});
    data.options = call.made_with;
    graph::write_graph_store(call.to, data);
  }

 private:
  SpatialSource input_;
  SpatialImportOptions options_;
};

class SpaceDomain
    : public data::WithOptions<data::GraphDomain, SpatialImportOptions, data::SynthSize> {
 public:
  const char* name() const override { return "space"; }
  std::vector<std::string> formats() const override { return spatial_formats(); }

  data::Found find(const fs::path& source, const json& values) const override {
    const auto options = data::own_options<SpatialImportOptions>(values);
    const auto input = find_spatial_source(source, options.format, options);
    if (!input) return {};
    const data::Sureness sureness =
        input->is_sure ? data::Sureness::kSure : data::Sureness::kPossible;
    return {sureness, [input, options, source](data::Notes& notes) {
              auto read = std::make_shared<SpaceInput>(*input, options);
              data::report_left_out(source, read->files(), notes);
              return read;
            }};
  }

  bool is_input(const file::SafetensorsFile& file) const override {
    return is_spatial_graphs(file);
  }

  const char* facts_key() const override { return "spatial"; }
  const data::Wording& wording() const override { return space_wording(); }

  std::vector<data::SynthKind> synth_kinds() const override {
    return {{kTree, "random trees (SWC)"}, {"superpixel", "points of images (CSV)"}};
  }
  void synthesize(const fs::path& folder, const json& values, const json&,
                  const std::function<bool()>& cancelled) const override {
    const auto size = data::own_options<data::SynthSize>(values);
    if (values.at("kind") == kTree) return write_synthetic_trees(folder, size, cancelled);
    write_synthetic_points(folder, size, cancelled);
  }

 protected:
  bool owns(const file::SafetensorsFile& file) const override { return file.has("pos"); }

  void add_counts(const graph::GraphStore& store, const std::vector<int64_t>& graphs,
                  json& counts) const override {
    store.need<graph::Trees>();  // what the description of a store tells of
    store.need<graph::PathCounts>();
    std::vector<int64_t> by_class(store.need<graph::Targets>().classes.size(), 0);
    for (const int64_t g : graphs) {
      const int32_t y = store.y()[static_cast<std::size_t>(g)];
      if (y >= 0) ++by_class[static_cast<std::size_t>(y)];
    }
    counts["classes"] = by_class;
  }

 private:
  static constexpr const char* kTree = "tree";
};

}  // namespace

const data::Domain& space_domain() {
  static const SpaceDomain domain;
  return domain;
}

}  // namespace kdgat::space
