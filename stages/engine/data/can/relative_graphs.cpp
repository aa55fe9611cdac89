#include "engine/data/can/relative_graphs.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/data/can/vehicles/learn_profile.h"
#include "engine/data/can/vehicles/learn_windows.h"
#include "engine/data/can/vehicles/learning_size.h"
#include "engine/data/can/vehicles/stored_log.h"
#include "engine/data/can/vehicles/vehicles.h"
#include "engine/data/can/windows/relative_windows.h"

namespace kdgat::data {
namespace {

/// Of what is injected and forgotten: a store follows from its input and its options alone.
constexpr int64_t kSeed = 42;

/// `begin` to `end`: rows of the log that the window was made of.
void append_graph(const RelativeWindows& windows, int64_t begin, int64_t end, int32_t source,
                  graph::GraphStoreData& out) {
  const RelativeWindow& window = windows.window();
  const RelativeGraph graph = windows.graph();
  out.x.append(graph.x);
  out.edge_source.append(graph.source);
  out.edge_target.append(graph.target);
  out.edge_attr.append(graph.edge_attr);
  out.y.push_back(window.attack ? 1 : window.is_labelled ? 0 : -1);
  out.source_of.push_back(source);
  out.node_ptr.push_back(out.node_ptr.back() + std::ssize(graph.keys));
  out.edge_ptr.push_back(out.edge_ptr.back() + std::ssize(graph.source));
  out.row_begin.push_back(begin);
  out.row_end.push_back(end);
}

/// Calls now and then.
class Tick {
 public:
  explicit Tick(const std::function<void()>& call) : call_(call) {}
  void operator()() {
    constexpr int64_t kWindows = 256;
    if (++windows_ % kWindows == 0) call_();
  }

 private:
  const std::function<void()>& call_;
  int64_t windows_ = 0;
};

class GraphTaker : public WindowTaker {
 public:
  /// `is_labelled`: rows of the log say whether they are an attack.
  GraphTaker(int32_t source, bool is_labelled, Tick& tick, graph::GraphStoreData& out)
      : source_(source), is_labelled_(is_labelled), tick_(tick), out_(out) {}

  void add(const CanFrame& /*frame*/, bool /*restarts*/) override {}
  void take(const RelativeWindows& windows, const SeenWindow* seen) override {
    tick_();
    if (seen == nullptr) return;
    append_graph(windows, seen->row, seen->end, source_, out_);
    // Around an injected attack nobody has said that the traffic is benign.
    if (!is_labelled_ && out_.y.back() == 0) out_.y.back() = -1;
  }

 private:
  int32_t source_;
  bool is_labelled_;
  Tick& tick_;
  graph::GraphStoreData& out_;
};

class Maker {
 public:
  Maker(const CanImportOptions& options, graph::GraphStoreData& out, ImportReport& report,
        const std::function<void()>& check)
      : options_(options),
        out_(out),
        report_(report),
        tick_(check),
        frames_(graph::Frames::of(*out.sections.frames)) {
    for (std::size_t i = 0; i < out.sources.size(); ++i) {
      StoredLog log(out.sources[i], frames_, i);
      if (!log.trains()) continue;
      place_.push_back(i);
      training_.push_back(std::move(log));
    }
    groups_ = group_by_vehicle(training_);
    for (const std::vector<std::size_t>& group : groups_) {
      std::vector<Piece> pieces;
      pieces.reserve(group.size());
      for (const std::size_t log : group) {
        pieces.push_back({&training_[log], 0, training_[log].rows()});
      }
      vehicles_.push_back({training_[group.front()].name(), learn_profile(pieces, kWithSteps), 0});
    }
    number_groups();
  }

  void make() {
    std::optional<WindowLearner> learner;
    int32_t source = 0;
    bool is_labelled = false;
    if (!training_.empty()) {
      learner.emplace(
          training_, groups_, options_.window, options_, kSeed,
          [&](const VehicleProfile&) {
            return std::make_unique<GraphTaker>(source, is_labelled, tick_, out_);
          },
          kWithSteps);
    }
    std::size_t trained = 0;
    for (std::size_t i = 0; i < out_.sources.size(); ++i) {
      source = static_cast<int32_t>(i);
      graph::Source& of = out_.sources[i];
      of.first_graph = static_cast<int64_t>(out_.y.size());
      if (trained < place_.size() && place_[trained] == i) {
        is_labelled = training_[trained].is_labelled();
        learner->learn(trained++);
      } else {
        score(StoredLog(of, frames_, i), source);
      }
      of.graphs = static_cast<int64_t>(out_.y.size()) - of.first_graph;
      if (of.graphs == 0) warn_of_none(of);
    }
  }

 private:
  static constexpr bool kWithSteps = true;

  /// For a split by groups: vehicles, or logs where there are so few that a part would have none.
  void number_groups() {
    constexpr std::ptrdiff_t kEnough = 3;
    const bool are_vehicles = std::ssize(groups_) >= kEnough;
    for (std::size_t v = 0; v < groups_.size(); ++v) {
      for (const std::size_t log : groups_[v]) {
        out_.sources[place_[log]].group = static_cast<int64_t>(are_vehicles ? v : log);
      }
    }
  }

  /// As it is scored later: relative to its vehicle, or to its own beginning.
  void score(const StoredLog& log, int32_t source) {
    const int64_t own = own_windows_in(log, options_.window, options_.own_seconds);
    if (const Vehicle* vehicle = vehicle_of(log, options_.window, own, vehicles_)) {
      return add_windows(log, vehicle->profile, 0, source);
    }
    const OwnBeginning beginning = learn_own(log, options_.window, own, kWithSteps);
    if (beginning.profile) {
      return add_windows(log, *beginning.profile, beginning.windows, source);
    }
  }

  void warn_of_none(const graph::Source& source) {
    report_.warnings.push_back({source.path,
                                "too few windows of benign traffic at its beginning to learn what "
                                "is usual: no graph is made of it",
                                "at least " + std::to_string(kLeastOwn) +
                                    " of a log that is scored, " + std::to_string(kLeastAlone) +
                                    " of a vehicle's only training log",
                                "log", 1});
  }

  void add_windows(const StoredLog& log, const VehicleProfile& profile, int64_t first,
                   int32_t source) {
    RelativeWindows windows(profile, options_.window);
    int64_t number = 0;
    const auto take = [&] {
      const int64_t at = number++;
      tick_();
      const int64_t row = at * options_.window;
      if (at >= first) append_graph(windows, row, row + options_.window, source, out_);
    };
    for (int64_t row = 0; row < log.rows(); ++row) {
      if (log.restarts(row)) windows.restart();
      if (windows.add(log.frame(row))) take();
    }
    while (windows.finish()) take();
  }

  const CanImportOptions& options_;
  graph::GraphStoreData& out_;
  ImportReport& report_;
  Tick tick_;
  graph::Frames frames_;
  std::vector<StoredLog> training_;
  std::vector<std::size_t> place_;  // of each among the sources
  std::vector<std::vector<std::size_t>> groups_;
  std::vector<Vehicle> vehicles_;
};

}  // namespace

void add_relative_graphs(const CanImportOptions& options, graph::GraphStoreData& out,
                         ImportReport& report, const std::function<void()>& check) {
  const bool has_tests = std::any_of(out.sources.begin(), out.sources.end(),
                                     [](const graph::Source& of) { return of.role == "test"; });
  if (!has_tests) {
    report.warnings.push_back(
        {out.sources.front().path,
         "no log is for tests: the part that is split off has windows as training sees them, each "
         "several times and with injected attacks",
         "a folder test_..; or inject=[]"});
  }
  Maker(options, out, report, check).make();
}

}  // namespace kdgat::data
