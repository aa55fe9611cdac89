// A stage in C++: what a plugin writes, and the glue to the C contract in stage_abi.h.
//
//   struct Example {
//     struct Options { ...; static auto table(); };
//     static kdgat::StageInfo info();
//     static nlohmann::json plan(const Options&, const kdgat::Request&);  // facts of outputs
//     static nlohmann::json run(const Options&, const kdgat::Request&, kdgat::Host&);  // metrics
//   };
//   KDGAT_STAGE(Example)
//
// Exceptions stay inside: a kdgat::Error becomes its exit code and diagnostics, any other exception
// exit code 1 (std::bad_alloc: 82).
#pragma once

#include <cstdint>
#include <exception>
#include <filesystem>
#include <map>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kdgat/error.h"
#include "kdgat/options.h"
#include "kdgat/stage_abi.h"

#ifndef KDGAT_RUNTIME
#define KDGAT_RUNTIME "none"  // the LibTorch build a plugin is linked to; must agree across plugins
#endif

namespace kdgat {

/// A named input or output of a stage. Kinds: "graphs" (folder of a data set), "model", "metrics",
/// "data" (anything else). `many`: every step in `needs` with this kind is given.
struct Port {
  std::string name;
  std::string kind;
  bool required = true;
  bool many = false;
  /// Of "graphs": the domain of data that the stage reads ("can", "space", "texts", "ratings");
  /// empty = any. Other data is refused before anything runs.
  std::string domain{};
};

/// The data set itself, of one domain.
inline Port graphs_of(const char* domain) { return {"graphs", "graphs", true, false, domain}; }

/// A published option this version does not have: accepted at the values where it changes nothing
/// (`neutral`), refused with `reason` at any other, never ignored.
struct RefusedOption {
  std::string name;
  std::vector<nlohmann::json> neutral;
  std::string reason;
};

struct StageInfo {
  std::string name;
  int version = 1;  ///< raised by hand when results change: earlier outputs are then made again
  std::string summary;
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  std::vector<RefusedOption> refused;
  bool trains_in_ranks = false;  ///< run() may be one of several processes that train together
};

struct Input {
  std::string step;  ///< the step that made it, or "data"
  std::string kind;
  std::filesystem::path path;  ///< empty while planning before it exists
  nlohmann::json facts;
};

/// Bounds of a pack, settled beforehand (see PackLimits in graph/pack.h).
struct FrozenPacks {
  int64_t graphs = 0, nodes = 0, edges = 0, min_packs = 0;
};

/// What a stage may use of a device, as the user or a plan says.
struct MemoryRequest {
  int64_t limit = 0;     ///< bytes this process may hold in all; 0 = what the device has
  std::string device;    ///< planning for a card that is not here: its name; empty = this device
  int64_t total = 0;     ///< its bytes
  int64_t context = 0;   ///< its bytes that are not tensors
  bool measure = false;  ///< plan() may run packs of the graphs to measure what they need
  /// Which graphs form a step was settled when the run was submitted: what this device cannot hold
  /// is split in place, the step stays the same.
  std::optional<FrozenPacks> packs{};
  /// Other stages run in threads of this process: `limit` is of this one's tensors alone, and what
  /// it counts is its own.
  bool own = false;
};

/// Which of several processes that train one model this is.
struct Ranks {
  int rank = 0;       ///< the first one reports, and leaves the results
  int world = 1;      ///< how many there are
  std::string store;  ///< where they meet: "HOST:PORT" of the first one, or "file:PATH"
};

struct Request {
  std::string step;
  std::string device = "cpu";
  int threads = 1;
  int64_t seed = 42;
  MemoryRequest memory;
  Ranks ranks;
  std::filesystem::path run_dir;  ///< the step's own folder; may hold a checkpoint to continue from
  std::map<std::string, std::vector<Input>> inputs;  ///< by port name
  nlohmann::json options;

  /// The only input of a port. Throws Error(kUsage) naming the port if there is none.
  const Input& input(const std::string& port) const {
    const auto found = inputs.find(port);
    if (found == inputs.end() || found->second.empty()) {
      throw Error(ExitCode::kUsage, step + ": input \"" + port + "\" is missing");
    }
    return found->second.front();
  }

  static Request parse(const char* json) {
    const nlohmann::json j = nlohmann::json::parse(json);
    Request r;
    r.step = j.at("step");
    r.device = j.value("device", "cpu");
    r.threads = j.value("threads", 1);
    r.seed = j.value("seed", int64_t{42});
    r.run_dir = j.value("run_dir", "");
    const nlohmann::json memory = j.value("memory", nlohmann::json::object());
    r.memory = {memory.value("limit", int64_t{0}), memory.value("device", ""),
                memory.value("total", int64_t{0}), memory.value("context", int64_t{0}),
                memory.value("measure", false),    std::nullopt,
                memory.value("own", false)};
    if (const auto packs = memory.find("packs"); packs != memory.end() && packs->is_object()) {
      r.memory.packs = {packs->value("graphs", int64_t{0}), packs->value("nodes", int64_t{0}),
                        packs->value("edges", int64_t{0}), packs->value("min_packs", int64_t{0})};
    }
    const nlohmann::json ranks = j.value("ranks", nlohmann::json::object());
    r.ranks = {ranks.value("rank", 0), ranks.value("world", 1), ranks.value("store", "")};
    r.options = j.value("options", nlohmann::json::object());
    const nlohmann::json inputs = j.value("inputs", nlohmann::json::object());
    for (const auto& [port, list] : inputs.items()) {
      for (const nlohmann::json& item : list) {
        const nlohmann::json& path = item.at("path");
        r.inputs[port].push_back({item.value("name", ""), item.value("kind", ""),
                                  path.is_null() ? "" : path.get<std::string>(),
                                  item.value("facts", nlohmann::json::object())});
      }
    }
    return r;
  }
};

/// The host, as a stage sees it. Sends numbers; the host formats them.
class Host {
 public:
  explicit Host(const kdgat_host* host) : host_(host) {}

  /// Where the work is. `unit`: "epoch", "step", "chunk". `metrics`: numbers worth showing now;
  /// "rate" with "rate_unit" is shown as such.
  void progress(const std::string& phase, const std::string& unit, int64_t done, int64_t total,
                nlohmann::json metrics = nlohmann::json::object()) const {
    emit({{"event", "progress"},
          {"phase", phase},
          {"unit", unit},
          {"done", done},
          {"total", total},
          {"metrics", std::move(metrics)}});
  }
  /// Numbers that belong in the journal for ever, e.g. those of an epoch.
  void metrics(const std::string& what, int64_t index, nlohmann::json values) const {
    emit({{"event", "metrics"}, {"what", what}, {"index", index}, {"values", std::move(values)}});
  }
  /// `level`: "info" or "warning".
  void log(const std::string& level, const std::string& message) const {
    emit({{"event", "log"}, {"level", level}, {"message", message}});
  }
  /// kOk = go on; else checkpoint now and throw Error(code).
  ExitCode cancelled() const { return static_cast<ExitCode>(host_->cancelled(host_->context)); }

  void emit(const nlohmann::json& event) const { host_->emit(host_->context, dump(event).c_str()); }
  /// Text of any bytes: what is not UTF-8 is replaced, never an exception.
  static std::string dump(const nlohmann::json& json) {
    return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }

 private:
  const kdgat_host* host_;
};

namespace detail {

inline kdgat_status fail(const kdgat_host* host, ExitCode code,
                         const std::vector<Diagnostic>& list) {
  nlohmann::json out = nlohmann::json::array();
  for (const Diagnostic& d : list) {
    out.push_back({{"where", d.where}, {"message", d.message}, {"hint", d.hint}});
  }
  host->fail(host->context, Host::dump({{"diagnostics", std::move(out)}}).c_str());
  return static_cast<kdgat_status>(code);
}

/// Nothing thrown leaves a plugin.
template <class F>
kdgat_status guard(const kdgat_host* host, F&& call) {
  try {
    call();
    return 0;
  } catch (const Error& e) {
    return fail(host, e.code(), e.diagnostics());
  } catch (const std::bad_alloc&) {
    return fail(host, ExitCode::kHostMemory, {{"", "out of host memory", ""}});
  } catch (const std::exception& e) {
    // LibTorch appends a backtrace to its messages: of no use to who reads them.
    const std::string what = e.what();
    return fail(host, ExitCode::kStageFailed,
                {{"", what.substr(0, what.find("\nException raised from")), ""}});
  } catch (...) {
    return fail(host, ExitCode::kStageFailed, {{"", "unknown exception", ""}});
  }
}

template <class Stage>
std::string describe() {
  const StageInfo info = Stage::info();
  const auto ports = [](const std::vector<Port>& list) {
    nlohmann::json out = nlohmann::json::array();
    for (const Port& p : list) {
      out.push_back(
          {{"name", p.name}, {"kind", p.kind}, {"required", p.required}, {"many", p.many}});
      if (!p.domain.empty()) out.back()["domain"] = p.domain;
    }
    return out;
  };
  nlohmann::json refused = nlohmann::json::array();
  for (const RefusedOption& r : info.refused) {
    refused.push_back({{"name", r.name}, {"neutral", r.neutral}, {"reason", r.reason}});
  }
  return Host::dump({{"name", info.name},
                     {"version", info.version},
                     {"summary", info.summary},
                     {"runtime", KDGAT_RUNTIME},
                     {"inputs", ports(info.inputs)},
                     {"outputs", ports(info.outputs)},
                     {"options", options_schema<typename Stage::Options>()},
                     {"refused", std::move(refused)},
                     {"trains_in_ranks", info.trains_in_ranks}});
}

template <class Stage>
const kdgat_stage* entry() {
  using Options = typename Stage::Options;
  static const std::string name = Stage::info().name;
  static const std::string description = describe<Stage>();
  static const kdgat_stage stage = {
      KDGAT_ABI_MAJOR,
      KDGAT_ABI_MINOR,
      sizeof(kdgat_stage),
      name.c_str(),
      description.c_str(),
      [](const kdgat_host* host, const char* text) {
        return guard(host, [&] { load_options<Options>(Request::parse(text).options); });
      },
      [](const kdgat_host* host, const char* text) {
        return guard(host, [&] {
          const Request request = Request::parse(text);
          const nlohmann::json facts = Stage::plan(load_options<Options>(request.options), request);
          host->result(host->context, Host::dump(facts).c_str());
        });
      },
      [](const kdgat_host* host, const char* text) {
        return guard(host, [&] {
          const Request request = Request::parse(text);
          Host stage_host(host);
          const nlohmann::json result =
              Stage::run(load_options<Options>(request.options), request, stage_host);
          host->result(host->context, Host::dump(result).c_str());
        });
      }};
  return &stage;
}

}  // namespace detail
}  // namespace kdgat

/// Makes the plugin's one exported symbol.
#define KDGAT_STAGE(Stage)                                                                   \
  extern "C" __attribute__((visibility("default"))) const kdgat_stage* kdgat_stage_entry() { \
    return kdgat::detail::entry<Stage>();                                                    \
  }
