// The options of all domains in one struct, and imports with them: short ways for tests.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "data/can/can_options.h"
#include "data/domains.h"
#include "data/import.h"
#include "data/ratings/ratings_options.h"
#include "data/space/spatial_options.h"
#include "data/synth.h"
#include "data/texts/text_options.h"

namespace kdgat::graph {

struct ImportOptions : CanImportOptions, SpatialOptions, TextOptions, RatingsOptions {
  static auto table() {
    return std::tuple_cat(CanImportOptions::table(), SpatialOptions::table(), TextOptions::table(),
                          RatingsOptions::table());
  }
  std::vector<Diagnostic> validate() const {
    try {
      check_import_options(all_domains(), dump_options(*this));
    } catch (const Error& error) {
      return error.diagnostics();
    }
    return {};
  }
};

struct SynthOptions : CanSynthOptions {
  std::string kind = "can";
  int64_t graphs = SynthSize().graphs, nodes = SynthSize().nodes, classes = SynthSize().classes;
  int64_t items = 0;

  SynthSize size() const {
    SynthSize out;
    out.seed = seed;
    out.graphs = graphs;
    out.nodes = nodes;
    out.classes = classes;
    return out;
  }
  nlohmann::json values() const {
    nlohmann::json out = dump_options<CanSynthOptions>(*this);
    out.update({{"kind", kind},
                {"graphs", graphs},
                {"nodes", nodes},
                {"classes", classes},
                {"items", items}});
    return out;
  }
};

inline ImportReport import_logs(const std::filesystem::path& source,
                                const std::filesystem::path& out, const ImportOptions& options,
                                const ImportProgress& progress = {},
                                const std::function<bool()>& cancelled = {}) {
  return import_source(all_domains(), source, out, dump_options(options), progress, cancelled);
}

inline std::string import_fingerprint(const std::filesystem::path& source,
                                      const ImportOptions& options) {
  return import_fingerprint(all_domains(), source, dump_options(options));
}

inline void write_synthetic(const std::filesystem::path& folder, const SynthOptions& options,
                            const std::function<bool()>& cancelled = {}) {
  write_synthetic(all_domains(), folder, options.values(), nullptr, cancelled);
}

inline nlohmann::json synth_identity(const SynthOptions& options) {
  return synth_identity(all_domains(), options.values());
}

}  // namespace kdgat::graph
