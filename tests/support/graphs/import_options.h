// Options of several domains in one struct, and imports with them: short ways for tests.
#pragma once

#include <filesystem>
#include <functional>
#include <iterator>
#include <string>
#include <tuple>
#include <vector>

#include "engine/data/can/can_options.h"
#include "engine/data/can/synthetic/attack_options.h"
#include "engine/data/core/import.h"
#include "engine/data/core/synth.h"
#include "pipeline/data/domains.h"

namespace kdgat::graph {

/// Those of CAN logs and of the domains whose options are named.
template <class... More>
struct ImportOptionsWith : data::CanImportOptions, More... {
  static auto table() { return std::tuple_cat(data::CanImportOptions::table(), More::table()...); }
  std::vector<Diagnostic> validate() const {
    try {
      data::check_import_options(data::all_domains(), dump_options(*this));
    } catch (const Error& error) {
      return error.diagnostics();
    }
    return {};
  }
};

using ImportOptions = ImportOptionsWith<>;

struct SynthOptions : data::CanSynthOptions {
  std::string kind = "can";
  int64_t graphs = data::SynthSize().graphs, nodes = data::SynthSize().nodes,
          classes = data::SynthSize().classes;
  int64_t items = 0;

  data::SynthSize size() const {
    data::SynthSize out;
    out.seed = seed;
    out.graphs = graphs;
    out.nodes = nodes;
    out.classes = classes;
    return out;
  }
  nlohmann::json values() const {
    nlohmann::json out = dump_options<data::CanSynthOptions>(*this);
    out.update({{"kind", kind},
                {"graphs", graphs},
                {"nodes", nodes},
                {"classes", classes},
                {"items", items}});
    const nlohmann::json known = data::synth_schema(data::all_domains()).at("properties");
    for (auto value = out.begin(); value != out.end();) {  // a build may leave out a domain
      value = known.contains(value.key()) ? std::next(value) : out.erase(value);
    }
    return out;
  }
};

template <class... More>
data::ImportReport import_logs(const std::filesystem::path& source,
                               const std::filesystem::path& out,
                               const ImportOptionsWith<More...>& options,
                               const data::ImportProgress& progress = {},
                               const std::function<bool()>& cancelled = {}) {
  return data::import_source(data::all_domains(), source, out, dump_options(options), progress,
                             cancelled);
}

template <class... More>
std::string import_fingerprint(const std::filesystem::path& source,
                               const ImportOptionsWith<More...>& options) {
  return import_fingerprint(data::all_domains(), source, dump_options(options));
}

inline void write_synthetic(const std::filesystem::path& folder, const SynthOptions& options,
                            const std::function<bool()>& cancelled = {}) {
  data::write_synthetic(data::all_domains(), folder, options.values(), nullptr, cancelled);
}

inline nlohmann::json synth_identity(const SynthOptions& options) {
  return data::synth_identity(data::all_domains(), options.values());
}

}  // namespace kdgat::graph
