#include "pipeline/records/record_sink.h"

#include <algorithm>
#include <string>

#include "pipeline/records/mlflow_sync.h"
#include "pipeline/records/record_files.h"
#include "pipeline/system/subprocess.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;

std::unique_ptr<MlflowStore> store_of(const RecordTargets& targets, double seconds) {
  const std::string& uri = targets.mlflow_uri;
  if (mlflow_kind(uri) == MlflowKind::kFolder) return mlflow_files(mlflow_folder(uri));
  return mlflow_server(uri, http_process(seconds), targets.sends_credentials);
}

/// A server that does not answer is asked ever less often, until the run has ended.
class MlflowSink : public RecordSink {
 public:
  MlflowSink(fs::path run, const RecordTargets& targets, double seconds)
      : run_(std::move(run)),
        uri_(without_password(targets.mlflow_uri)),
        experiment_(targets.experiment),
        store_(store_of(targets, seconds)) {}

  int64_t update() override {
    if (pause_ > 0 && std::chrono::steady_clock::now() < not_before_) {
      throw Error(ExitCode::kData, refused_);
    }
    return finish();
  }

  int64_t finish() override {
    constexpr double kFirstPause = 5, kLongest = 300;
    try {
      const int64_t sent = sync_mlflow(run_, uri_, experiment_, *store_);
      pause_ = 0;
      return sent;
    } catch (const std::exception& e) {
      pause_ = std::min(kLongest, std::max(kFirstPause, 2 * pause_));
      not_before_ = deadline_in(pause_);
      refused_ = e.what();
      throw;
    }
  }

 private:
  fs::path run_;
  std::string uri_, experiment_;
  std::unique_ptr<MlflowStore> store_;
  double pause_ = 0;  ///< seconds to the next request after one that failed
  Deadline not_before_{};
  std::string refused_;  ///< why the last one failed
};

using MadeSink = std::unique_ptr<RecordSink>;

constexpr SinkKind kKinds[] = {
    {"csv", "records",
     [](const fs::path& run, const RecordTargets& targets, double) -> MadeSink {
       return targets.csv ? std::make_unique<FileSink>(run, csv_format()) : nullptr;
     }},
    {"tensorboard", "records",
     [](const fs::path& run, const RecordTargets& targets, double) -> MadeSink {
       return targets.tensorboard ? std::make_unique<FileSink>(run, tensorboard_format()) : nullptr;
     }},
    {"mlflow", "mlflow",
     [](const fs::path& run, const RecordTargets& targets, double seconds) -> MadeSink {
       if (targets.mlflow_uri.empty()) return nullptr;
       return std::make_unique<MlflowSink>(run, targets, seconds);
     }}};

}  // namespace

std::span<const SinkKind> sink_kinds() { return kKinds; }

}  // namespace kdgat
