#include "engine/decision/stream/detector_scoring.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <string>
#include <utility>

#include "engine/data/can/logs/can_log.h"
#include "engine/decision/detector/detector_model.h"
#include "engine/decision/stream/explained_scoring.h"
#include "engine/file/tensor_hash.h"
#include "kdgat/small_file.h"

namespace kdgat::decision {
namespace {

class DetectorScoring : public ExplainedScoring {
 public:
  DetectorScoring(DetectorModel model, std::string hash, const ScoreOptions& options,
                  const Host& host)
      : ExplainedScoring(std::move(hash), options, host), model_(std::move(model)) {}

 private:
  void judge(data::CanLog& log, const data::LogFile& file) override {
    LogScorer scorer = watch(model_, file);
    data::CanFrame frame;
    while (!scorer.is_done() && log.next(frame)) {
      see(frame);
      scorer.add(frame, log.restarted());
    }
    scorer.finish();
    count_watched(scorer, log);
  }

  DetectorModel model_;
};

}  // namespace

bool is_json_file(const std::filesystem::path& file) {
  std::ifstream stream = regular_file(file);
  std::array<char, 8> head{};
  stream.read(head.data(), head.size());
  const auto end = head.begin() + stream.gcount();
  const auto first = std::find_if_not(
      head.begin(), end, [](char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; });
  // The length of a header fits seven of its eight bytes.
  return first != end && *first == '{' && std::find(head.begin(), end, '\0') == end;
}

std::unique_ptr<LogScoring> open_detector(const std::filesystem::path& file,
                                          const ScoreOptions& options, const Request& request,
                                          const Host& host) {
  if (request.device != Request().device) {
    throw Error(ExitCode::kUsage, file.string() + " is a detector, which has no need of a device",
                "leave --device away");
  }
  DetectorModel model = DetectorModel::read(file, warning_to(host));
  check_options(model, file.string(), options);
  return std::make_unique<DetectorScoring>(std::move(model), file::hash_file(file), options, host);
}

}  // namespace kdgat::decision
