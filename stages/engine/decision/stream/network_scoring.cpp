#include "engine/decision/stream/network_scoring.h"

#include <string>
#include <utility>
#include <vector>

#include "engine/data/can/logs/can_log.h"
#include "engine/data/can/logs/log_streams.h"
#include "engine/data/core/dataset_files.h"
#include "engine/decision/stream/network_judge.h"
#include "engine/file/tensor_hash.h"

namespace kdgat::decision {
namespace {

/// Scores one log after another.
class NetworkScoring : public LogScoring {
 public:
  NetworkScoring(const ScoreOptions& options, WindowNetwork network, const Host& host)
      : LogScoring(options, host),
        network_(std::move(network)),
        hash_(file::hash_file(network_.path)),
        vocabulary_(network_.vocabulary) {}

 private:
  void judge(data::CanLog& log, const data::LogFile& file) override {
    NetworkJudge scorer(network_, vocabulary_, options_, file.name, hash_, sink_to(host_));
    data::CanFrame frame;
    while (log.next(frame)) {
      see(frame);
      scorer.add(frame, log.restarted());
    }
    scorer.finish();
    count(scorer, log);
  }

  const WindowNetwork network_;
  const std::string hash_;
  const data::Vocabulary vocabulary_;
};

}  // namespace

void check_network_options(const std::filesystem::path& file, const ScoreOptions& options) {
  if (!options.vehicle.empty()) {
    throw Error(ExitCode::kUsage,
                file.string() + " knows no vehicles: --vehicle is for a detector");
  }
  if (!options.dbc.empty()) {
    throw Error(ExitCode::kUsage, file.string() + " gives no reasons in which --dbc could name ids",
                "leave it away, or score with a detector.json");
  }
  if (options.frames) {
    throw Error(ExitCode::kUsage, file.string() + ": a detector alone says which frames it means",
                "score with a detector.json");
  }
  if (options.explain != "none") {
    throw Error(ExitCode::kUsage, file.string() + ": reasons are told by a detector alone",
                "train one: kdgat run --preset detector; it is a detector.json");
  }
}

void require_threshold(const WindowNetwork& network, const ScoreOptions& options) {
  if (network.threshold || !options.threshold.empty() || options.calibrate > 0) return;
  throw Error(ExitCode::kUsage,
              network.path.string() + ": the model has no threshold: it was trained without labels",
              "give --threshold, or --calibrate N if the logs begin with benign traffic");
}

std::unique_ptr<LogScoring> open_network(WindowNetwork network, const ScoreOptions& options,
                                         const Host& host) {
  require_threshold(network, options);
  return std::make_unique<NetworkScoring>(options, std::move(network), host);
}

StageResult score_logs(LogScoring& scoring, const ScoreOptions& options, const Request& request,
                       const Host& host) {
  const std::filesystem::path log = request.input("log").path;
  data::Notes notes;
  const std::vector<data::LogFile> files = data::by_channel(
      data::find_log_files(log, {}, false, notes), options.channel, options.format,
      [&host] { return host.cancelled() != ExitCode::kOk; }, options);
  if (files.size() > 1 && options.explains_one()) {
    throw Error(ExitCode::kUsage,
                log.string() + " holds " + std::to_string(files.size()) + " logs, and each has a " +
                    options.explain + " of that number",
                options.channel == data::kEachChannel
                    ? "name one of the logs, and one of its buses: --channel N"
                    : "name one of the logs");
  }
  for (const Diagnostic& note : notes) host.log("warning", note.text());
  for (const data::LogFile& file : files) scoring.read(file);
  scoring.warn_of_labels();
  if (scoring.windows() == 0) {
    throw Error(ExitCode::kData, "no window: a window needs two rows", "", log.string());
  }
  return scoring.result();
}

}  // namespace kdgat::decision
