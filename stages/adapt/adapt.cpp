#include "adapt/adapt.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/data/can/logs/can_log.h"
#include "engine/data/can/logs/label_intervals.h"
#include "engine/data/can/vehicles/learn_profile.h"
#include "engine/data/can/vehicles/stored_log.h"
#include "engine/data/can/vehicles/vehicles.h"
#include "engine/data/core/dataset_files.h"
#include "engine/decision/detector/detector_model.h"
#include "kdgat/text.h"

namespace kdgat::adapt {
namespace {

using data::Vehicle;
using decision::DetectorModel;
using nlohmann::json;

/// What logs of one vehicle teach.
class Lesson {
 public:
  Lesson(const AdaptOptions& options, const DetectorModel& model, const Host& host)
      : options_(options),
        window_(model.window),
        host_(host),
        builder_(model.classifier.reads_graphs()) {}

  void read(const data::LogFile& file) {
    constexpr int64_t kOften = 0x1000;  // rows between two looks whether to stop
    const int64_t most =
        options_.windows > 0 ? options_.windows * window_ : std::numeric_limits<int64_t>::max();
    const auto stopped = [this] { return host_.cancelled() != ExitCode::kOk; };
    data::CanLog log(file::ByteReader(file.path, stopped), options_.format, options_.strict,
                     options_.channel, options_);
    data::LabelIntervals* const labels = labels_.of(file.path);
    data::VehicleFinder ids;
    data::LogProblems problems;
    data::CanFrame frame;
    builder_.restart();
    int64_t rows = 0, unlabelled = 0;  // learned from
    while (rows < most && log.next(frame)) {
      if (log.rows() % kOften == 0) stop_if_cancelled();
      data::add_label(labels, frame);
      unlabelled += frame.label < 0 ? 1 : 0;
      data::learn_row(frame, log.restarted(), builder_);
      attack_rows_ += frame.label == 1 ? 1 : 0;
      rows += frame.label == 1 ? 0 : 1;
      problems.add(frame.key(), frame.time, frame.label == 1, log.restarted());
      ids.add(frame);
      finder_.add(frame);
    }
    if (log.rows() == 0) throw Error(ExitCode::kData, data::as_diagnostics(log.problems()));
    for (const Diagnostic& problem : log.problems()) host_.log("warning", problem.text());
    for (const std::string& sentence : problems.sentences()) {
      host_.log("warning", file.name + ": " + sentence);
    }
    require_same_vehicle(file.name, ids.ids());
    rows_ += rows;
    labelled_logs_ += unlabelled < log.rows() ? 1 : 0;
    if (unlabelled > 0) unlabelled_.push_back(file.name);
  }

  const data::VehicleFinder& finder() const { return finder_; }
  data::VehicleProfile profile() const { return builder_.profile(); }
  const std::string& first() const { return first_; }
  int64_t rows() const { return rows_; }
  int64_t attack_rows() const { return attack_rows_; }
  /// Logs with rows that have no label, where others have labels.
  std::vector<std::string> unlabelled() const {
    return labelled_logs_ > 0 ? unlabelled_ : std::vector<std::string>();
  }
  int64_t windows() const { return rows_ / window_; }
  const data::LabelTables& labels() const { return labels_; }

 private:
  void stop_if_cancelled() const {
    if (const ExitCode code = host_.cancelled(); code != ExitCode::kOk) {
      throw Error(code, "interrupted before anything was written");
    }
  }

  void require_same_vehicle(const std::string& name, std::vector<uint32_t> ids) {
    if (first_.empty()) {
      first_ = name;
      ids_ = std::move(ids);
      return;
    }
    const double share = data::overlap(ids_, ids);
    if (share > data::kSameVehicle) return;
    throw Error(ExitCode::kData,
                "not of the vehicle of " + first_ + ": " + format_number("%.0f", 100 * share) +
                    " % of their ids are in both",
                "adapt to one vehicle after another", name);
  }

  const AdaptOptions& options_;
  int64_t window_;
  const Host& host_;
  data::ProfileBuilder builder_;
  data::VehicleFinder finder_;
  data::LabelTables labels_;
  std::string first_;          // log
  std::vector<uint32_t> ids_;  // of it
  int64_t rows_ = 0, attack_rows_ = 0, labelled_logs_ = 0;
  std::vector<std::string> unlabelled_;  // logs
};

/// Throws Error(kData) where the logs say too little of what is usual.
void require_enough(const Lesson& lesson) {
  if (lesson.windows() >= data::kLeastOwn) return;
  throw Error(ExitCode::kData,
              "only " + std::to_string(lesson.windows()) + " windows of benign traffic",
              "at least " + std::to_string(data::kLeastOwn) + " are needed to learn what is usual",
              lesson.first());
}

}  // namespace

StageInfo Adapt::info() {
  StageInfo out;
  out.name = "adapt";
  out.summary = "Learn what is usual on one more vehicle for a detector; used by kdgat adapt.";
  out.inputs = {{"model", kind::kModel}, {"logs", kind::kBenignLog, true, true}};
  return out;
}

json Adapt::plan(const Options&, const Request&) { return json::object(); }

StageResult Adapt::run(const Options& options, const Request& request, Host& host) {
  if (options.output.empty()) throw Error(ExitCode::kUsage, "output: no file is named");
  DetectorModel model =
      DetectorModel::read(request.input("model").path, decision::warning_to(host));
  request.input("logs");
  data::Notes notes;
  Lesson lesson(options, model, host);
  for (const Input& input : request.inputs.at("logs")) {
    for (const data::LogFile& file : data::find_log_files(input.path, {}, false, notes)) {
      lesson.read(file);
    }
  }
  for (data::Note& note : lesson.labels().notes()) notes.push_back(std::move(note));
  for (const Diagnostic& note : notes) host.log("warning", note.text());
  require_enough(lesson);
  for (const std::string& log : lesson.unlabelled()) {
    host.log("warning", log + ": rows without a label are taken as benign");
  }
  data::VehicleProfile profile = lesson.profile();
  const Vehicle* former = lesson.finder().find(model.vehicles, profile);
  std::string name = options.name;
  if (name.empty()) name = former != nullptr ? former->name : escaped_name(lesson.first());
  StageResult out;
  out.metrics = {{"vehicle", name},
                 {"ids", profile.ids.size()},
                 {"rows", lesson.rows()},
                 {"attack_rows", lesson.attack_rows()},
                 {"windows", lesson.windows()},
                 {"seconds", profile.seconds},
                 {"parameters", model.parameters()}};
  const std::string replaced =
      data::put_vehicle({name, std::move(profile), lesson.windows()}, former, model.vehicles);
  out.metrics["replaced"] = replaced.empty() ? json() : json(replaced);
  out.metrics["vehicles"] = model.vehicles.size();
  out.metrics["false_alarms_per_hour"] = model.decision(lesson.windows()).budget.per_hour;
  model.write(options.output);
  out.summary = name + (replaced.empty() ? " added" : " learned again") + " from " +
                grouped(lesson.windows()) + " windows, the detector knows " +
                grouped(std::ssize(model.vehicles)) +
                (model.vehicles.size() == 1 ? " vehicle" : " vehicles");
  if (!replaced.empty() && replaced != name) *out.summary += "; it was called " + replaced;
  return out;
}

}  // namespace kdgat::adapt
