#include "export/export.h"

#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "engine/decision/detector/detector_model.h"
#include "engine/decision/detector/joined_files.h"
#include "engine/decision/stream/detector_scoring.h"
#include "engine/decision/stream/log_scorer.h"
#include "engine/file/tensor_hash.h"
#include "engine/setup/trained_model.h"
#include "export/export_formats.h"
#include "export/making.h"
#include "export/network_check.h"
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

void tell(const Host& host, const Check& check) {
  host.log("info", check.what + ", " + check.where + ": largest difference " +
                       format_number("%.2g", check.largest_difference) + ", " +
                       grouped(check.decisions_differ) + " of " + grouped(check.windows) +
                       " decisions differ" + (check.more.empty() ? "" : "; " + check.more));
}

const data::Vehicle& chosen_vehicle(const Making& making, const decision::DetectorModel& model) {
  if (!making.options.vehicle.empty()) {
    return decision::vehicle_named(model, making.options.vehicle);
  }
  if (model.vehicles.size() == 1) return model.vehicles.front();
  std::string names;
  for (const data::Vehicle& vehicle : model.vehicles) {
    names += (names.empty() ? "" : ", ") + vehicle.name;
  }
  throw Error(ExitCode::kUsage,
              model.vehicles.empty() ? "the detector knows no vehicle"
                                     : "the detector knows several vehicles: " + names,
              model.vehicles.empty() ? "kdgat adapt teaches it one" : "choose one: --vehicle NAME",
              making.file.string());
}

void make_detector(Making& making, const ExportFormat& format) {
  const decision::DetectorModel model =
      decision::DetectorModel::read(making.file, decision::warning_to(making.host));
  const data::Vehicle& vehicle = chosen_vehicle(making, model);
  making.about.kind = "detector";
  making.about.of = ", for the vehicle " + vehicle.name;
  format.detector(making, model, vehicle);
}

fs::path data_folder(const Request& request) {
  const auto found = request.inputs.find("graphs");
  return found == request.inputs.end() ? fs::path() : found->second.front().path;
}

void make_network(Making& making, const ExportFormat& format) {
  const std::string& name = making.about.model;
  if (!making.options.vehicle.empty()) {
    throw Error(ExitCode::kUsage, name + " knows no vehicles: vehicle is of a detector");
  }
  setup::prepare_scoring(making.request, making.host);
  const model::TrainedModel made = model::open_model(making.file);
  if (const std::string why = native::why_not_native(made.header); !why.empty()) {
    throw Error(ExitCode::kUsage, name + " cannot be exported: " + why,
                "classifiers, autoencoders and detectors can", making.file.string());
  }
  making.about.kind = made.header.name == "gat" ? "classifier" : "autoencoder";
  const std::unique_ptr<native::GraphNetwork> network =
      native::load_network(made.file, made.header);
  const CheckWindows windows =
      check_windows(made, data_folder(making.request), network->with_edge_attr());
  const std::optional<model::Decision> decision = model::decision_of(made.header);
  const double threshold = making.threshold_or(decision ? decision->threshold : NAN);
  making.checks.done.push_back(check_by_torch(made, *network, windows, threshold));
  if (format.decides && std::isnan(threshold)) {
    throw Error(ExitCode::kUsage,
                name + ": the model has no threshold: it was trained without labels",
                "give --threshold", making.file.string());
  }
  format.network(making, {made, *network, windows, threshold});
}

StageResult result_of(const Making& making) {
  StageResult out;
  json files = json::object(), checks = json::array();
  for (const auto& entry : fs::directory_iterator(making.folder.staging())) {
    files[entry.path().filename().string()] = entry.file_size();
  }
  for (const Check& check : making.checks.done) checks.push_back(check.json());
  out.metrics = {{"files", files}, {"checks", checks}, {"not_checked", making.checks.not_done}};
  if (const auto& size = making.size) {
    out.metrics["size"] = {{"compiler", size->compiler},
                           {"flash", size->flash},
                           {"state", size->state},
                           {"memory", size->memory},
                           {"stack", size->stack}};
  }
  out.summary = grouped(std::ssize(files)) + " files, " + grouped(std::ssize(checks)) +
                (checks.size() == 1 ? " check" : " checks") + " passed";
  return out;
}

}  // namespace

StageInfo Export::info() {
  StageInfo out;
  out.name = "export";
  out.summary =
      "Write a model as " + export_titles() + ", and check what was written; used by kdgat export.";
  out.inputs = {{"model", kind::kModel},
                {"graphs", kind::kGraphs, false},
                {"logs", kind::kCheckLog, false, true}};
  return out;
}

json Export::plan(const Options&, const Request&) { return json::object(); }

StageResult Export::run(const Options& options, const Request& request, Host& host) {
  if (options.output.empty()) throw Error(ExitCode::kUsage, "output: no folder is named");
  const fs::path file = file_of(request.input("model").path);
  Making making{options, request, host, file, {options.output, kVerifyFile, options.replace}};
  making.about.model = file.filename().string();
  making.about.hash = file::hash_file(file);
  const ExportFormat& format = export_format(options.format);
  (decision::is_json_file(file) ? make_detector : make_network)(making, format);
  for (const Check& check : making.checks.done) tell(host, check);
  for (const std::string& sentence : making.checks.not_done) {
    host.log("warning", "not checked: " + sentence);
  }
  require_hold(making.checks);
  making.stop_if_cancelled();
  making.folder.write(kVerifyFile, verify_page(making.about, options, making.checks));
  StageResult out = result_of(making);
  making.folder.commit();
  return out;
}

}  // namespace kdgat::exporting
