// A stage in C++: what a plugin writes, and the glue to the C contract in stage_abi.h.
//
//   struct Example {
//     struct Options { ...; static auto table(); };
//     static kdgat::StageInfo info();
//     static nlohmann::json plan(const Options&, const kdgat::Request&);  // facts of outputs
//     static kdgat::StageResult run(const Options&, const kdgat::Request&, kdgat::Host&);
//   };
//   KDGAT_STAGE(Example)
//
// Exceptions stay inside: a kdgat::Error becomes its exit code and diagnostics, any other exception
// exit code 1 (std::bad_alloc: 82).
#pragma once

#include <algorithm>
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
#include "kdgat/event.h"
#include "kdgat/exact_json.h"
#include "kdgat/kinds.h"
#include "kdgat/options.h"
#include "kdgat/published.h"
#include "kdgat/result.h"
#include "kdgat/stage_abi.h"

#ifndef KDGAT_RUNTIME
#define KDGAT_RUNTIME "none"  // the LibTorch build a plugin is linked to; must agree across plugins
#endif

namespace kdgat {

/// A named input or output of a stage, of a kind (kinds.h). `many`: every step in `needs` with this
/// kind is given.
struct Port {
  std::string name;
  std::string kind;
  bool required = true;
  bool many = false;
  /// Of "graphs": the domains of data that the stage reads ("can", "space", "can, graphs"); empty =
  /// any. Other data is refused before anything runs. Of other kinds: the data that require it.
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
  /// Of a run with several models, that of the stage with the most stands for it where none is
  /// named; 0 = only if there is no other.
  int speaks = 0;
  std::string model_file = kModelFile;         ///< in its folder, where it leaves a model
  std::vector<std::string> published_names{};  ///< what published programs call the stage
  /// The stage in whose place this one runs where its plan() says that it "computes" the model and
  /// "fits" it: the same work done otherwise. Never chosen in any other way.
  std::string stands_in_for{};
  std::optional<PublishedProfile> published{};
};

struct Input {
  std::string step;  ///< the step that made it, or "data"
  std::string kind;
  std::filesystem::path path;  ///< empty while planning before it exists
  nlohmann::json facts;
};

/// Bounds of a pack, settled beforehand (see PackLimits in engine/graph/pack.h).
struct FrozenPacks {
  int64_t graphs = 0, nodes = 0, edges = 0, min_packs = 0;
};

/// In place of a card's name: a job without cards, as kdgat submit plans it.
inline constexpr const char* kJobDevice = "job";

/// What a stage may use of a device, as the user or a plan says.
struct MemoryRequest {
  int64_t limit = 0;  ///< bytes this process may hold in all; 0 = what the device has
  /// Bytes that the limits of the machine (host_memory.h) leave this process, as the program read
  /// them before it started the stage; 0 = it saw none. A stage plans with no more than this and
  /// what it reads itself.
  int64_t available = 0;
  std::string device;    ///< planning for what is not here: a card's name, or kJobDevice
  int64_t total = 0;     ///< its bytes
  int64_t context = 0;   ///< its bytes that are not tensors
  bool measure = false;  ///< plan() may run packs of the graphs to measure what they need
  /// Which graphs form a step was settled when the run was submitted: what this device cannot hold
  /// is split in place, the step stays the same.
  std::optional<FrozenPacks> packs{};
  /// Other stages run in threads of this process: `limit` is of this one's tensors alone, and what
  /// it counts is its own.
  bool own = false;

  bool names_card() const { return !device.empty() && device != kJobDevice; }
};

inline void to_json(nlohmann::json& out, const FrozenPacks& packs) {
  out = {{"graphs", packs.graphs},
         {"nodes", packs.nodes},
         {"edges", packs.edges},
         {"min_packs", packs.min_packs}};
}
inline void from_json(const nlohmann::json& in, FrozenPacks& packs) {
  packs = {in.value("graphs", int64_t{0}), in.value("nodes", int64_t{0}),
           in.value("edges", int64_t{0}), in.value("min_packs", int64_t{0})};
}

inline void to_json(nlohmann::json& out, const MemoryRequest& memory) {
  out = {{"limit", memory.limit}, {"available", memory.available}, {"device", memory.device},
         {"total", memory.total}, {"context", memory.context},     {"measure", memory.measure},
         {"own", memory.own}};
  if (memory.packs) out["packs"] = *memory.packs;
}
inline void from_json(const nlohmann::json& in, MemoryRequest& memory) {
  memory = {in.value("limit", int64_t{0}),
            in.value("available", int64_t{0}),
            in.value("device", ""),
            in.value("total", int64_t{0}),
            in.value("context", int64_t{0}),
            in.value("measure", false),
            std::nullopt,
            in.value("own", false)};
  if (const auto packs = in.find("packs"); packs != in.end() && packs->is_object()) {
    memory.packs = packs->get<FrozenPacks>();
  }
}

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
    const nlohmann::json j = exact_parse(json);
    Request r;
    r.step = j.at("step");
    r.device = j.value("device", "cpu");
    r.threads = j.value("threads", 1);
    r.seed = j.value("seed", int64_t{42});
    r.run_dir = j.value("run_dir", "");
    r.memory = j.value("memory", nlohmann::json::object()).get<MemoryRequest>();
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

  /// Where the work is (see ProgressEvent).
  void progress(const std::string& phase, const std::string& unit, int64_t done, int64_t total,
                nlohmann::json metrics = nlohmann::json::object()) const {
    emit(ProgressEvent{phase, unit, done, total, std::move(metrics)});
  }
  /// Numbers that belong in the journal for ever, e.g. those of an epoch (see MetricsEvent).
  void metrics(const std::string& what, int64_t index, nlohmann::json values) const {
    emit(MetricsEvent{what, index, std::move(values)});
  }
  /// `level`: "info" or "warning".
  void log(const std::string& level, const std::string& message) const {
    emit(LogEvent{level, message});
  }
  /// A warning of the log that also ends the step's summary, once: for what a user has to know of
  /// the result, as that it was computed in a slower way.
  void remark(const std::string& message) const {
    if (std::find(remarks_.begin(), remarks_.end(), message) != remarks_.end()) return;
    remarks_.push_back(message);
    log("warning", message);
  }
  const std::vector<std::string>& remarks() const { return remarks_; }
  /// kOk = go on; else checkpoint now and throw Error(code).
  ExitCode cancelled() const { return static_cast<ExitCode>(host_->cancelled(host_->context)); }

  void emit(const nlohmann::json& event) const { host_->emit(host_->context, dump(event).c_str()); }
  /// Text of any bytes: what is not UTF-8 is replaced, never an exception.
  static std::string dump(const nlohmann::json& json) {
    return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }

 private:
  const kdgat_host* host_;
  mutable std::vector<std::string> remarks_;
};

namespace detail {

/// With what the stage remarked at the end of its summary.
inline nlohmann::json with_remarks(nlohmann::json result, const Host& host) {
  for (const std::string& remark : host.remarks()) {
    std::string summary = result.value("summary", std::string());
    if (!summary.empty()) summary += "  ";
    summary += remark;
    result["summary"] = std::move(summary);
  }
  return result;
}

inline kdgat_status fail(const kdgat_host* host, ExitCode code,
                         const std::vector<Diagnostic>& list) {
  host->fail(host->context, Host::dump({{"diagnostics", list}}).c_str());
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
  nlohmann::json out = {{"name", info.name},
                        {"version", info.version},
                        {"summary", info.summary},
                        {"runtime", KDGAT_RUNTIME},
                        {"inputs", ports(info.inputs)},
                        {"outputs", ports(info.outputs)},
                        {"options", options_schema<typename Stage::Options>()},
                        {"refused", std::move(refused)},
                        {"trains_in_ranks", info.trains_in_ranks}};
  if (info.speaks != 0) out["speaks"] = info.speaks;
  if (info.model_file != kModelFile) out["model_file"] = info.model_file;
  if (!info.stands_in_for.empty()) out["stands_in_for"] = info.stands_in_for;
  if (!info.published_names.empty()) out["published_names"] = info.published_names;
  if (info.published) out["published"] = *info.published;
  return Host::dump(out);
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
          host->result(host->context, Host::dump(with_remarks(result, stage_host)).c_str());
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
