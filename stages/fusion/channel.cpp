#include "fusion/channel.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/data/can/vehicles/stored_log.h"
#include "engine/decision/detector/detector_model.h"
#include "engine/decision/detector/network_channel.h"
#include "engine/file/safetensors.h"
#include "engine/objective/fusion_scorer.h"
#include "engine/train/scoring.h"
#include "kdgat/atomic_file.h"

namespace kdgat::fusion {
namespace {

namespace fs = std::filesystem;

std::string hash_of(const std::string& bytes) {
  return file::hash_bytes(bytes.data(), bytes.size());
}

/// Benign validation windows, one log after another.
std::vector<int64_t> benign_windows(const train::Data& data) {
  return data.with_label(data.part("val"), 0);
}

/// Raw scores by log, with the time that the windows took.
std::vector<decision::Stretch> stretches_of(const train::Data& data,
                                            const std::vector<int64_t>& ids,
                                            const std::vector<float>& raw,
                                            const std::vector<data::StoredLog>& logs,
                                            int64_t window) {
  if (data.store.ids() == nullptr) {
    throw Error(ExitCode::kUsage,
                "a detector is not joined with networks on features=relative, whose windows are "
                "seen several times",
                "run the fusion without the detector");
  }
  std::map<int32_t, decision::Stretch> by_log;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto g = static_cast<std::size_t>(ids[i]);
    const int64_t begin = data.store.row_begin()[g], end = data.store.row_end()[g];
    if (end - begin != window || begin % window != 0) {
      throw Error(ExitCode::kData,
                  "graphs are not each " + std::to_string(window) +
                      " rows one after another, as the windows of the detector are",
                  "import with window=" + std::to_string(window) +
                      " and no stride, or run the fusion without the detector");
    }
    const int32_t log = data.store.source_of()[g];
    decision::Stretch& stretch = by_log[log];
    stretch.scores.push_back(raw[i]);
    const double seconds = logs[static_cast<std::size_t>(log)].seconds(begin, end);
    stretch.seconds += seconds > 0 ? seconds : static_cast<double>(window) / data::kAssumedRate;
  }
  std::vector<decision::Stretch> out;
  out.reserve(by_log.size());
  for (auto& [log, stretch] : by_log) out.push_back(std::move(stretch));
  return out;
}

}  // namespace

nlohmann::json add_channel(const FusionOptions& options, const fs::path& made,
                           const train::Data& data, train::Scorer& network, const Request& request,
                           const Host& host) {
  const auto file = decision::detector_file(made);
  if (!file) throw Error(ExitCode::kData, made.string() + ": holds no detector");
  const decision::DetectorModel model =
      decision::DetectorModel::read(*file, decision::warning_to(host));
  const std::vector<data::StoredLog> logs = data::stored_logs(data.store);
  const std::vector<int64_t> ids = benign_windows(data);
  if (ids.empty()) {
    throw Error(ExitCode::kData, "there is no benign validation window to set a threshold by",
                "run the fusion without the detector, or with another data.val_fraction");
  }
  const std::vector<float> raw = train::score_all(
      data.store, ids, network.with_edge_attr(),
      [&](graph::GraphBatch& batch) { return network.raw_score(batch); },
      [&](int64_t done) {
        if (const ExitCode code = host.cancelled(); code != ExitCode::kOk) {
          throw Error(code, "stopped while scoring benign windows");
        }
        host.progress("benign windows", "graph", done, static_cast<int64_t>(ids.size()));
      });
  decision::NetworkChannel channel = decision::NetworkChannel::fit(
      stretches_of(data, ids, raw, logs, model.window), options.channel_false_alarms);
  const std::string bytes = objective::bytes_of(*file);
  channel.detector = hash_of(bytes);
  channel.network = hash_of(objective::bytes_of(request.run_dir / kModelFile));
  write_file(request.run_dir / decision::kChannelDetector, bytes);
  channel.write(request.run_dir / decision::kChannelFile);
  return {{"benign_windows", ids.size()},
          {"benign_hours", channel.budget.hours},
          {"false_alarms_per_hour", channel.budget.per_hour},
          {"threshold", channel.threshold}};
}

}  // namespace kdgat::fusion
