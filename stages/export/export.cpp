#include "export/export.h"

#include <array>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/data/core/dataset_files.h"
#include "engine/decision/detector/detector_model.h"
#include "engine/decision/detector/joined_files.h"
#include "engine/decision/stream/detector_scoring.h"
#include "engine/decision/stream/log_scorer.h"
#include "engine/decision/stream/window_network.h"
#include "engine/export/c/detector_c.h"
#include "engine/export/c/network_c.h"
#include "engine/export/onnx/onnx_detector.h"
#include "engine/export/onnx/onnx_network.h"
#include "engine/file/tensor_hash.h"
#include "engine/setup/trained_model.h"
#include "export/c_check.h"
#include "export/check_windows.h"
#include "export/network_check.h"
#include "export/onnx_check.h"
#include "export/verify_page.h"
#include "export/written_folder.h"
#include "kdgat/text.h"

namespace kdgat::exporting {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// The file that a path names, of either kind.
fs::path file_of(const fs::path& model) {
  if (decision::is_joined(fs::is_directory(model) ? model : model.parent_path())) {
    throw Error(ExitCode::kUsage, "a fusion joins several models, and cannot be exported as one",
                "export one of its parts: --model STEP names it", model.string());
  }
  if (!fs::is_directory(model)) return model;
  return decision::detector_file(model).value_or(model / kModelFile);
}

/// Throws Error(kData) unless all of them hold.
void require_hold(const Checks& checks) {
  for (const Check& check : checks.done) {
    if (check.holds()) continue;
    throw Error(ExitCode::kData,
                check.what + " on " + check.where + ": scores differ by up to " +
                    format_number("%.3g", check.largest_difference) + ", " +
                    grouped(check.decisions_differ) + " of " + grouped(check.windows) +
                    " decisions differ",
                "nothing was written; this is a fault of the export: please report it");
  }
}

/// One export while it is made.
class Making {
 public:
  Making(const ExportOptions& options, const Request& request, const Host& host)
      : options_(options),
        request_(request),
        file_(file_of(request.input("model").path)),
        folder_(options.output, kVerifyFile, options.replace),
        host_(host) {
    about_.model = file_.filename().string();
    about_.hash = file::hash_file(file_);
  }

  StageResult make() {
    if (decision::is_json_file(file_)) {
      make_detector();
    } else {
      make_network();
    }
    for (const Check& check : checks_.done) tell(check);
    for (const std::string& sentence : checks_.not_done) {
      host_.log("warning", "not checked: " + sentence);
    }
    require_hold(checks_);
    stop_if_cancelled();
    folder_.write(kVerifyFile, verify_page(about_, options_, checks_));
    StageResult out = result();
    folder_.commit();
    return out;
  }

 private:
  void stop_if_cancelled() const {
    const ExitCode code = host_.cancelled();
    if (code != ExitCode::kOk) throw Error(code, "interrupted; nothing was written");
  }

  void tell(const Check& check) const {
    host_.log("info", check.what + ", " + check.where + ": largest difference " +
                          format_number("%.2g", check.largest_difference) + ", " +
                          grouped(check.decisions_differ) + " of " + grouped(check.windows) +
                          " decisions differ" + (check.more.empty() ? "" : "; " + check.more));
  }

  void write(const CSource& source) const {
    for (const auto& [name, text] : source.files) folder_.write(name, text);
  }

  void make_detector() {
    const decision::DetectorModel model =
        decision::DetectorModel::read(file_, decision::warning_to(host_));
    const decision::Vehicle& vehicle = chosen_vehicle(model);
    about_.kind = "detector";
    about_.of = ", for the vehicle " + vehicle.name;
    if (options_.format == "onnx") return make_onnx_detector(model, vehicle);
    decision::ScoreOptions judged;
    judged.vehicle = vehicle.name;
    judged.threshold = options_.threshold;
    const DetectorCOptions wanted = {options_.name, about_.hash, threshold_of(0),
                                     options_.weights == "int8"};
    write(detector_c(model, vehicle, wanted));
    std::vector<int64_t> keys;
    for (const uint32_t id : vehicle.ids()) keys.push_back(id);
    check_c(judged, threshold_of(0), keys);
  }

  const decision::Vehicle& chosen_vehicle(const decision::DetectorModel& model) const {
    if (!options_.vehicle.empty()) return decision::vehicle_named(model, options_.vehicle);
    if (model.vehicles.size() == 1) return model.vehicles.front();
    std::string names;
    for (const decision::Vehicle& vehicle : model.vehicles) {
      names += (names.empty() ? "" : ", ") + vehicle.name;
    }
    throw Error(
        ExitCode::kUsage,
        model.vehicles.empty() ? "the detector knows no vehicle"
                               : "the detector knows several vehicles: " + names,
        model.vehicles.empty() ? "kdgat adapt teaches it one" : "choose one: --vehicle NAME",
        file_.string());
  }

  void make_network() {
    if (!options_.vehicle.empty()) {
      throw Error(ExitCode::kUsage, about_.model + " knows no vehicles: vehicle is of a detector");
    }
    setup::prepare_scoring(request_, host_);
    const model::TrainedModel made = model::open_model(file_);
    if (const std::string why = native::why_not_native(made.header); !why.empty()) {
      throw Error(ExitCode::kUsage, about_.model + " cannot be exported: " + why,
                  "classifiers, autoencoders and detectors can", file_.string());
    }
    about_.kind = made.header.name == "gat" ? "classifier" : "autoencoder";
    const std::unique_ptr<native::GraphNetwork> network =
        native::load_network(made.file, made.header);
    const CheckWindows windows = check_windows(made, data_folder(), network->with_edge_attr());
    const std::optional<model::Decision> decision = model::decision_of(made.header);
    const double threshold = threshold_of(decision ? decision->threshold : NAN);
    checks_.done.push_back(check_by_torch(made, *network, windows, threshold));
    if (options_.format == "onnx") return make_onnx(made, *network, windows, threshold);
    if (std::isnan(threshold)) {
      throw Error(ExitCode::kUsage,
                  about_.model + ": the model has no threshold: it was trained without labels",
                  "give --threshold", file_.string());
    }
    NetworkCOptions wanted;
    wanted.name = options_.name;
    wanted.threshold = threshold;
    wanted.int8 = options_.weights == "int8";
    wanted.hash = about_.hash;
    write(network_c(made.file, made.header, wanted));
    decision::ScoreOptions judged;
    judged.threshold = {threshold};
    judged.batch = 1;
    check_c(judged, threshold, decision::window_network(made).vocabulary);
  }

  static constexpr std::array kOpsets = {kOldestOpset, kNewestOpset};

  void make_onnx_detector(const decision::DetectorModel& model, const decision::Vehicle& vehicle) {
    for (const int opset : kOpsets) {
      folder_.write(onnx_name(opset), onnx_detector(model, vehicle, about_.hash, opset));
    }
    write_detector_vectors(folder_.staging(), model, vehicle);
    check_onnx(0);
  }

  void make_onnx(const model::TrainedModel& made, native::GraphNetwork& network,
                 const CheckWindows& windows, double threshold) {
    for (const int opset : kOpsets) {
      folder_.write(onnx_name(opset), onnx_network(made.file, made.header, opset));
    }
    write_vectors(folder_.staging(), network, windows);
    check_onnx(threshold);
  }

  std::string onnx_name(int opset) const {
    return options_.name + "-opset" + std::to_string(opset) + ".onnx";
  }

  void check_onnx(double threshold) {
    about_.again = "    python3 " + std::string(kCheckScript) + "\n\nreads `" + kVectorsFile +
                   "`, windows with their scores, and needs the Python packages `numpy` and "
                   "`onnxruntime`. It shows how the files are fed, too.\n";
    for (const int opset : kOpsets) {
      stop_if_cancelled();
      std::string why;
      const auto check = check_by_runtime(folder_.staging(), onnx_name(opset), threshold, why);
      if (!check) {
        checks_.not_done.push_back("the ONNX files by ONNX Runtime, as " + why + ".");
        return;
      }
      checks_.done.push_back(*check);
    }
  }

  void check_c(const decision::ScoreOptions& judged, double threshold,
               const std::vector<int64_t>& keys) {
    about_.again =
        "    cc -std=c99 -O2 -ffp-contract=off -o check check.c " + options_.name +
        ".c && ./check\n    cc -std=c99 -O2 -ffp-contract=off -o detect main.c " + options_.name +
        ".c && ./detect < drive.log\n\nThe first holds the test vectors against the scores that "
        "the native engine gave them, bit by bit. The second reads what `candump -L` writes and "
        "tells alarms.\n";
    if (!CCheck::compiler()) {
      checks_.not_done.push_back("the C file itself, as this machine has no C compiler.");
      return;
    }
    const CCheck check(folder_.staging(), options_.name, file_, judged,
                       options_.weights == "float32");
    stop_if_cancelled();
    check.run_vectors();
    stop_if_cancelled();
    size_ = check.size();
    if (size_) about_.size = size_->page();
    checks_.done.push_back(check.run_made_up(keys, threshold));
    if (const auto logs = request_.inputs.find("logs"); logs != request_.inputs.end()) {
      data::Notes notes;
      for (const Input& input : logs->second) {
        for (const data::LogFile& log : data::find_log_files(input.path, {}, false, notes)) {
          const auto cancelled = [this] { return host_.cancelled() != ExitCode::kOk; };
          checks_.done.push_back(check.run_log(log, options_, threshold, cancelled, notes));
        }
      }
      for (const Diagnostic& note : notes) host_.log("warning", note.text());
    }
  }

  double threshold_of(double otherwise) const {
    return options_.threshold.empty() ? otherwise : options_.threshold.front();
  }

  fs::path data_folder() const {
    const auto found = request_.inputs.find("graphs");
    return found == request_.inputs.end() ? fs::path() : found->second.front().path;
  }

  StageResult result() const {
    StageResult out;
    json files = json::object(), checks = json::array();
    for (const auto& entry : fs::directory_iterator(folder_.staging())) {
      files[entry.path().filename().string()] = entry.file_size();
    }
    for (const Check& check : checks_.done) checks.push_back(check.json());
    out.metrics = {{"files", files}, {"checks", checks}, {"not_checked", checks_.not_done}};
    if (size_) {
      out.metrics["size"] = {{"compiler", size_->compiler},
                             {"flash", size_->flash},
                             {"state", size_->state},
                             {"memory", size_->memory},
                             {"stack", size_->stack}};
    }
    out.summary = grouped(std::ssize(files)) + " files, " + grouped(std::ssize(checks)) +
                  (checks.size() == 1 ? " check" : " checks") + " passed";
    return out;
  }

  const ExportOptions& options_;
  const Request& request_;
  fs::path file_;
  WrittenFolder folder_;
  const Host& host_;
  Exported about_;
  Checks checks_;
  std::optional<MeasuredSize> size_;  // where the machine can tell
};

}  // namespace

StageInfo Export::info() {
  StageInfo out;
  out.name = "export";
  out.summary = "Write a model as C or ONNX, and check what was written; used by kdgat export.";
  out.inputs = {{"model", kind::kModel},
                {"graphs", kind::kGraphs, false},
                {"logs", kind::kCheckLog, false, true}};
  return out;
}

json Export::plan(const Options&, const Request&) { return json::object(); }

StageResult Export::run(const Options& options, const Request& request, Host& host) {
  if (options.output.empty()) throw Error(ExitCode::kUsage, "output: no folder is named");
  return Making(options, request, host).make();
}

}  // namespace kdgat::exporting
