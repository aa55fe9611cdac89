#include "engine/data/can/can_domain.h"

#include <algorithm>
#include <set>

#include "engine/data/can/can_import.h"
#include "engine/data/can/logs/can_log.h"
#include "engine/data/can/logs/convert_log.h"
#include "engine/data/can/synthetic/inject_logs.h"
#include "engine/data/can/synthetic/synth_logs.h"
#include "engine/data/core/folder_walk.h"
#include "engine/data/core/graph_domain.h"
#include "engine/file/byte_reader.h"
#include "kdgat/text.h"

namespace kdgat::data {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

/// The first log of a file or folder, by name; empty if there is none.
fs::path first_log(const fs::path& source) {
  std::error_code failure;
  if (!fs::is_directory(source, failure)) return source;
  fs::path first;
  for (const fs::path& path : walk_folder(source).files) {
    if (is_log(path) && (first.empty() || path < first)) first = path;
  }
  return first;
}

/// Whether the first log begins as one; a file that cannot be read is told when it is imported.
bool begins_as_log(const fs::path& source) {
  constexpr std::size_t kHeadBytes = 1 << 13;
  if (source == "-") return false;
  const fs::path log = first_log(source);
  std::error_code failure;
  if (log.empty() || !fs::is_regular_file(log, failure)) return false;
  try {
    return is_can_log(log.string(), file::head_of(log, kHeadBytes));
  } catch (const Error&) {
    return false;
  }
}

class CanDomain : public WithOptions<GraphDomain, CanImportOptions, CanSynthOptions> {
 public:
  const char* name() const override { return "can"; }

  std::vector<std::string> formats() const override {
    const auto forms = log_formats();
    return {forms.begin(), forms.end()};
  }

  /// Whatever no other domain takes is read as logs, which says best what is wrong with it.
  Found find(const fs::path& source, const json& values) const override {
    const auto options = own_options<CanImportOptions>(values);
    const Sureness sureness = options.format != "auto" ? Sureness::kSure
                              : begins_as_log(source)  ? Sureness::kLikely
                                                       : Sureness::kIfNoOther;
    return {sureness,
            [source, options](Notes& notes) { return can_input(source, options, notes); }};
  }

  const char* facts_key() const override { return ""; }
  const Wording& wording() const override { return can_wording(); }

  std::vector<SynthKind> synth_kinds() const override { return {{"can", "logs of traffic"}}; }

  void synthesize(const fs::path& folder, const json& values, const json& import,
                  const std::function<bool()>& cancelled) const override {
    auto synth = own_options<CanSynthOptions>(values);
    if (import.is_object()) {
      const std::vector<std::string> excluded = own_options<CanImportOptions>(import).exclude;
      std::erase_if(synth.attacks, [&](const std::string& attack) {
        return std::any_of(excluded.begin(), excluded.end(), [&](const std::string& word) {
          return attack.find(word) != std::string::npos;
        });
      });
    }
    write_synthetic_logs(folder, synth, cancelled);
  }

  void stream_synthetic(const json& values, const std::function<void(std::string_view)>& write,
                        const std::function<bool()>& cancelled) const override {
    stream_synthetic_log(own_options<CanSynthOptions>(values), write, cancelled);
  }

  json inject_schema() const override { return options_schema<CanInjectOptions>(); }

  InjectReport inject(const InjectCall& call) const override {
    return inject_logs(own_options<CanInjectOptions>(call.values), call);
  }

  json convert_schema() const override { return options_schema<CanConvertOptions>(); }

  ConvertReport convert(const ConvertCall& call) const override {
    return convert_log(own_options<CanConvertOptions>(call.values), call);
  }

  std::string synth_headline(const json& values, const json& facts) const override {
    const auto synth = own_options<CanSynthOptions>(values);
    return "synthetic CAN traffic, " + format_number("%g", synth.seconds) + " s, " +
           std::to_string(synth.vehicles) + (synth.vehicles == 1 ? " vehicle" : " vehicles") +
           ", seed " + std::to_string(synth.seed) + ": " + can_wording().headline(facts);
  }

 protected:
  bool owns(const file::SafetensorsFile& file) const override {
    return !file.has("pos") && !file.metadata().contains("classes");
  }

  void add_counts(const graph::GraphStore& store, const std::vector<int64_t>& graphs,
                  json& counts) const override {
    int64_t attack = 0, benign = 0;
    std::set<int64_t> ids;
    for (const int64_t graph : graphs) {
      const auto g = static_cast<std::size_t>(graph);
      attack += store.y()[g] > 0 ? 1 : 0;
      benign += store.y()[g] == 0 ? 1 : 0;
      if (store.ids() == nullptr) continue;
      for (int64_t n = store.node_ptr()[g]; n < store.node_ptr()[g + 1]; ++n) {
        const auto id = static_cast<std::size_t>(n * store.node_features());
        ids.insert(static_cast<int64_t>(store.x()[id]));
      }
    }
    counts["attack"] = attack;
    counts["benign"] = benign;
    counts["ids"] = ids.size();
  }
};

}  // namespace

const Domain& can_domain() {
  static const CanDomain domain;
  return domain;
}

}  // namespace kdgat::data
