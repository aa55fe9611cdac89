// Keys the host itself answers for: its own (dataset, seed, ...) and published ones, of which those
// of one stage are described by its plugin. Private to this folder, run_options and the verbs that
// list keys.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "kdgat/error.h"
#include "kdgat/options.h"
#include "kdgat/published.h"
#include "pipeline/plugin/plugin_catalog.h"
#include "pipeline/plugin/schema.h"

namespace kdgat {

/// The host's own keys.
struct HostOptions {
  std::string dataset = "default";
  std::string device = "auto";
  int64_t threads = 0;
  int64_t nproc = 1;
  std::string memory_limit = "0";
  std::string allocator = "expandable_segments:True";
  int64_t seed = 42;
  std::vector<std::string> seeds, require;
  std::string kdgat_version;
  std::string root = "runs";

  static auto table() {
    using O = HostOptions;
    auto seed = field("seed", &O::seed, "Seed of every stage (the split has its own: data.seed).");
    seed.low = 0;
    return std::tuple{
        field("dataset", &O::dataset, "Name of the data set: the folder of its runs below root."),
        field("device", &O::device, "auto, cpu, cuda or cuda:N.").runtime(),
        field("threads", &O::threads, "Threads of a stage; 0 = as many as this process may use.")
            .range(0, 4096)
            .runtime(),
        field("nproc", &O::nproc,
              "Processes on this machine that train a stage together; each has `threads` threads "
              "and its share of the memory. The steps are those of one process.")
            .range(1, 1024)
            .runtime(),
        field("memory_limit", &O::memory_limit,
              "Memory a stage may use in all, e.g. 4GiB; 0 = what the device has. Batches are "
              "planned to fit it."),
        field("allocator", &O::allocator,
              "Settings of LibTorch's CUDA allocator, as PYTORCH_CUDA_ALLOC_CONF takes them; that "
              "variable, where set, is stronger.")
            .runtime(),
        seed,
        field("seeds", &O::seeds,
              "Seeds of replicates, e.g. 1..5 or [1, 2, 7]: kdgat run makes a run for each of "
              "them, on the same data. `seed` then says nothing.")
            .runtime(),
        field("require", &O::require,
              "What figures must come to, e.g. [\"classifier.test_01.f1>=0.9\"]; else the run "
              "ends with 11. Each --require adds one.")
            .runtime(),
        field("kdgat_version", &O::kdgat_version,
              "Versions of kdgat that the profile is for, e.g. \">=0.1, <1\"; a number alone is "
              "the least. Others refuse the profile.")
            .runtime(),
        field("root", &O::root, "Folder that holds all runs.").alias("experiment_root").runtime()};
  }
};
const nlohmann::json& host_schema();
/// What is wrong with the value of a host key beyond its schema (a device, a size, the settings of
/// an allocator); no message if nothing is.
Diagnostic check_host_value(const std::string& key, const Value& value);

/// A published key that no option stands for, of every program or of one whose profiles a stage
/// knows; nullptr if it is none. Without `reason` it is the option of a model this version does not
/// have: without effect for every other model, and silent.
const PublishedKey* published_key(const std::string& name, const PluginCatalog& catalog);

/// The names of all such keys.
std::vector<std::string> published_keys(const PluginCatalog& catalog);

/// The stage that profiles with this section run; nullptr if it is none of a published program.
const PluginDescription* published_section(const std::string& section,
                                           const PluginCatalog& catalog);
/// The key that a path of such a profile ("dataset.gnn_encoding.window_size") stands for here
/// ("data.word_window"), or a published_key() where none does; "" if it is no such path.
std::string published_path(const std::string& path, const PluginCatalog& catalog);
/// All such paths, for the nearest one; options of the stages are not listed.
std::vector<std::string> published_paths(const PluginCatalog& catalog);
/// What to do about a path that is refused; "" if it is not.
std::string refused_path(const std::string& path, const PluginCatalog& catalog);

/// What a published stage is called here; "" if it has no other name.
std::string published_stage(const std::string& name, const PluginCatalog& catalog);

}  // namespace kdgat
