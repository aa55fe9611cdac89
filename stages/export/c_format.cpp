#include "export/c_format.h"

#include <vector>

#include "engine/data/core/dataset_files.h"
#include "engine/decision/detector/detector_model.h"
#include "engine/decision/stream/score_options.h"
#include "engine/decision/stream/window_network.h"
#include "engine/export/c/detector_c.h"
#include "engine/export/c/network_c.h"
#include "export/c_check.h"
#include "export/making.h"

namespace kdgat::exporting {
namespace {

bool is_int8(const ExportOptions& options) { return options.weights == "int8"; }

void write(const Making& making, const CSource& source) {
  for (const auto& [name, text] : source.files) making.folder.write(name, text);
}

void check_logs(Making& making, const CCheck& check, double threshold) {
  const auto logs = making.request.inputs.find("logs");
  if (logs == making.request.inputs.end()) return;
  const auto cancelled = [&] { return making.host.cancelled() != ExitCode::kOk; };
  data::Notes notes;
  for (const Input& input : logs->second) {
    for (const data::LogFile& log : data::find_log_files(input.path, {}, false, notes)) {
      making.checks.done.push_back(check.run_log(log, making.options, threshold, cancelled, notes));
    }
  }
  for (const Diagnostic& note : notes) making.host.log("warning", note.text());
}

void check_c(Making& making, const decision::ScoreOptions& judged, double threshold,
             const std::vector<int64_t>& keys) {
  const std::string& name = making.options.name;
  making.about.again =
      "    cc -std=c99 -O2 -ffp-contract=off -o check check.c " + name +
      ".c && ./check\n    cc -std=c99 -O2 -ffp-contract=off -o detect main.c " + name +
      ".c && ./detect < drive.log\n\nThe first holds the test vectors against the scores that "
      "the native engine gave them, bit by bit. The second reads what `candump -L` writes and "
      "tells alarms.\n";
  if (!CCheck::compiler()) {
    making.checks.not_done.push_back("the C file itself, as this machine has no C compiler.");
    return;
  }
  const CCheck check(making.folder.staging(), name, making.file, judged, !is_int8(making.options));
  making.stop_if_cancelled();
  check.run_vectors();
  making.stop_if_cancelled();
  making.size = check.size();
  if (making.size) making.about.size = making.size->page();
  making.checks.done.push_back(check.run_made_up(keys, threshold));
  check_logs(making, check, threshold);
}

}  // namespace

void export_detector_c(Making& making, const decision::DetectorModel& model,
                       const data::Vehicle& vehicle) {
  const double threshold = making.threshold_or(0);
  write(making,
        detector_c(model, vehicle,
                   {making.options.name, making.about.hash, threshold, is_int8(making.options)}));
  decision::ScoreOptions judged;
  judged.vehicle = vehicle.name;
  judged.threshold = making.options.threshold;
  std::vector<int64_t> keys;
  for (const uint32_t id : vehicle.ids()) keys.push_back(id);
  check_c(making, judged, threshold, keys);
}

void export_network_c(Making& making, const MadeNetwork& made) {
  NetworkCOptions wanted;
  wanted.name = making.options.name;
  wanted.threshold = made.threshold;
  wanted.int8 = is_int8(making.options);
  wanted.hash = making.about.hash;
  write(making, network_c(made.model.file, made.model.header, wanted));
  decision::ScoreOptions judged;
  judged.threshold = {made.threshold};
  judged.batch = 1;
  check_c(making, judged, made.threshold, decision::window_network(made.model).vocabulary);
}

}  // namespace kdgat::exporting
