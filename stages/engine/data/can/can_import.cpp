#include "engine/data/can/can_import.h"

#include <cmath>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>

#include "engine/data/can/logs/can_log.h"
#include "engine/data/can/logs/label_intervals.h"
#include "engine/data/can/logs/log_streams.h"
#include "engine/data/can/logs/stored_frames.h"
#include "engine/data/can/relative_graphs.h"
#include "engine/data/can/windows/log_windows.h"
#include "engine/data/can/windows/relative_graph.h"
#include "engine/data/core/dataset_files.h"
#include "kdgat/text.h"

namespace kdgat::data {
namespace {

/// All logs, in order, into one store.
class LogImporter {
 public:
  LogImporter(const CanImportOptions& options, const ImportCall& call)
      : options_(options), call_(call) {
    const bool is_relative = options.is_relative();
    data_.node_feature_names = is_relative ? relative_node_names() : node_feature_names();
    data_.edge_feature_names = is_relative ? relative_edge_names() : edge_feature_names();
    data_.node_features = std::ssize(data_.node_feature_names);
    data_.edge_features = std::ssize(data_.edge_feature_names);
    if (options.features != "v2") data_.sections.frames.emplace();
    const std::filesystem::path folder = call.to.parent_path();
    data_.spill_to(folder);
    node_ids_.spill_to(folder);
  }

  graph::GraphStoreData read(const std::vector<LogFile>& files) {
    warn_of_gaps(files.front());
    WindowBuilder windows(options_.window, options_.stride, options_.chunk_rows, data_, node_ids_);
    const auto cancelled = call_.cancelled;
    for (const LogFile& file : files) {
      const auto streams =
          by_channel({file}, options_.channel, options_.format, cancelled, options_);
      passes_ = std::ssize(streams);
      for (const LogFile& stream : streams) read_file(stream, windows);
    }
    for (Note& note : labels_.notes()) call_.report.warnings.push_back(std::move(note));
    // A few of many are no news: every log ends somewhere.
    lost_attacks_ += windows.lost_attacks();
    attacks_ += windows.attacks();
    if (10 * lost_attacks_ > attacks_) {
      call_.report.warnings.push_back(
          {"",
           grouped(lost_attacks_) + " of " + grouped(attacks_) +
               " attack rows are in no window: they are at the ends of logs, and fill none",
           "a smaller stride or window", "row", lost_attacks_, true});
    }
    if (options_.is_relative()) {
      add_relative_graphs(options_, data_, call_.report, [this] { call_.done(0); });
    }
    if (graphs() == 0) {
      const char* why = options_.is_relative() ? "no graph is made of any log"
                                               : "no graph: a graph needs two rows";
      std::vector<Diagnostic> problems = {{files.front().path.string(), why, ""}};
      for (Note& note : call_.report.warnings) problems.push_back(std::move(note));
      throw Error(ExitCode::kData, std::move(problems));
    }
    if (!options_.is_relative()) {
      data_.sections.ids = {vocabulary_.sorted()};
      Vocabulary(data_.sections.ids->vocabulary).apply(node_ids_, data_);
    }
    return std::move(data_);
  }

 private:
  void read_file(const LogFile& file, WindowBuilder& windows) {
    CanLog log(file::ByteReader(file.path, call_.cancelled), options_.format, options_.strict,
               file.channel, options_);
    graph::Source source{file.name, file.scenario, file.role, log.format(), 0, 0, graphs(), 0};
    if (file.role == "val") source.validate();
    windows.start(static_cast<int32_t>(data_.sources.size()));
    LabelIntervals* const labels = labels_.of(file.path);
    const bool trains = file.role == "train";
    std::optional<graph::Frames::Data>& frames = data_.sections.frames;
    int64_t told = 0;
    const auto step = [&] {
      const int64_t share = log.bytes_read() / passes_;
      call_.done(share - std::exchange(told, share));
    };
    CanFrame frame;
    while (log.next(frame)) {
      add_label(labels, frame);
      if (frame.label < 0 && options_.assume == "benign") frame.label = 0;
      if (trains) vocabulary_.insert(frame.id);
      if (options_.is_relative()) {
        behind_ = log.rows() % options_.window == 0 ? 0 : behind_ + (frame.label == 1 ? 1 : 0);
        attacks_ += frame.label == 1 ? 1 : 0;
      } else {
        add_frame(log, frame, windows);
      }
      if (frames) add_row(frame, log.restarted(), *frames);
      if ((log.rows() & 0x3fff) == 0) step();
    }
    windows.finish();
    lost_attacks_ += std::exchange(behind_, 0);
    if (log.rows() == 0) throw Error(ExitCode::kData, as_diagnostics(log.problems()));
    step();
    source.rows = log.rows();
    source.malformed = log.malformed();
    source.graphs = graphs() - source.first_graph;
    for (Note& problem : log.problems()) {
      call_.report.warnings.push_back(std::move(problem));
    }
    data_.sources.push_back(std::move(source));
    if (frames) frames->source_ptr.push_back(static_cast<int64_t>(frames->id.size()));
  }

  void warn_of_gaps(const LogFile& first) {
    const int64_t left_out = options_.stride - options_.window;
    if (left_out <= 0) return;
    const auto percent = static_cast<int64_t>(
        std::round(100.0 * static_cast<double>(left_out) / static_cast<double>(options_.stride)));
    call_.report.warnings.push_back({first.path.string(),
                                     "stride is " + std::to_string(options_.stride) +
                                         " and window " + std::to_string(options_.window) + ": " +
                                         std::to_string(percent) +
                                         " % of the frames are in no window",
                                     "without stride, windows follow one another"});
  }

  int64_t graphs() const { return static_cast<int64_t>(data_.y.size()); }

  const CanImportOptions& options_;
  const ImportCall& call_;
  graph::GraphStoreData data_;
  arrays::Column<uint32_t> node_ids_;
  IdSet vocabulary_;
  LabelTables labels_;
  int64_t passes_ = 1;                      // over the file that is read
  int64_t attacks_ = 0, lost_attacks_ = 0;  // rows
  int64_t behind_ = 0;  // attack rows behind the last full window, where they are relative
};

class CanInput : public DomainInput {
 public:
  CanInput(std::vector<LogFile> files, CanImportOptions options)
      : DomainInput(with_tables(files)), logs_(std::move(files)), options_(std::move(options)) {}

  void import(const ImportCall& call) const override {
    graph::GraphStoreData data = LogImporter(options_, call).read(logs_);
    data.options = call.made_with;
    graph::write_graph_store(call.to, data);
  }

 private:
  /// And the tables of labels next to them: what the import depends on.
  static std::vector<LogFile> with_tables(const std::vector<LogFile>& logs) {
    std::vector<LogFile> out = logs;
    std::set<std::filesystem::path> tables;
    for (const LogFile& log : logs) {
      if (log.path != "-") tables.insert(label_table_of(log.path));
    }
    tables.erase(std::filesystem::path());
    for (const auto& table : tables) out.push_back({table, table.string(), "", "labels"});
    return out;
  }

  std::vector<LogFile> logs_;
  CanImportOptions options_;
};

}  // namespace

std::shared_ptr<const DomainInput> can_input(const std::filesystem::path& source,
                                             const CanImportOptions& options, Notes& notes) {
  return std::make_shared<CanInput>(
      find_log_files(source, options.exclude, options.deduplicate, notes, options.other_folders),
      options);
}

}  // namespace kdgat::data
