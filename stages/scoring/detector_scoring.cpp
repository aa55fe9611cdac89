#include "scoring/detector_scoring.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>

#include "data/can/can_log.h"
#include "detector/detector_model.h"
#include "file/safetensors.h"
#include "scoring/explanations.h"
#include "scoring/log_watch.h"

namespace kdgat::score {
namespace {

using detector::DetectorModel;
using nlohmann::json;

class DetectorScoring : public LogScoring {
 public:
  DetectorScoring(DetectorModel model, std::string hash, const ScoreOptions& options,
                  const Host& host)
      : model_(std::move(model)),
        hash_(std::move(hash)),
        options_(options),
        host_(host),
        explanations_(options, host),
        names_(read_names(options.dbc, sink_to(host).log)) {
    if (options.reasons) host.metrics("reasons", kReasons, json::object());
  }

  void read(const graph::LogFile& file) override {
    const auto stopped = [this] { return host_.cancelled() != ExitCode::kOk; };
    graph::CanLog log(graph::ByteReader(file.path, stopped), options_.format, options_.strict,
                      file.channel);
    LogWatch watch(model_, options_, file.name, hash_, sink_to(host_), &explanations_, names_);
    graph::CanFrame frame;
    while (!watch.is_done() && log.next(frame)) watch.add(frame, log.restarted());
    watch.finish();
    if (watch.is_done()) {
      windows_ += watch.windows();
      return;
    }
    if (log.rows() == 0) throw Error(ExitCode::kData, log.problems());
    for (const Diagnostic& problem : log.problems()) host_.log("warning", problem.text());
    watch.check(log.rows());
    windows_ += watch.windows();
    attacks_ += watch.flagged();
    alarms_ += watch.alarms();
  }

  StageResult result() const override {
    explanations_.send();
    return with_alarms(LogScoring::result(), alarms_);
  }

 private:
  DetectorModel model_;
  std::string hash_;
  const ScoreOptions& options_;
  const Host& host_;
  Explanations explanations_;
  const graph::DbcNames names_;
  int64_t alarms_ = 0;
};

}  // namespace

bool is_json_file(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::array<char, 8> head{};
  stream.read(head.data(), head.size());
  const auto end = head.begin() + stream.gcount();
  const auto first = std::find_if_not(
      head.begin(), end, [](char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; });
  // The length of a header fits seven of its eight bytes.
  return first != end && *first == '{' && std::find(head.begin(), end, '\0') == end;
}

std::string file_hash(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  const std::string bytes = std::move(text).str();
  if (bytes.empty()) throw Error(ExitCode::kData, "cannot read " + file.string());
  return graph::hash_bytes(bytes.data(), bytes.size());
}

std::unique_ptr<LogScoring> open_detector(const std::filesystem::path& file,
                                          const ScoreOptions& options, const Request& request,
                                          const Host& host) {
  if (request.device != Request().device) {
    throw Error(ExitCode::kUsage, file.string() + " is a detector, which has no need of a device",
                "leave --device away");
  }
  DetectorModel model = DetectorModel::read(file);
  check_options(model, file.string(), options);
  return std::make_unique<DetectorScoring>(std::move(model), file_hash(file), options, host);
}

}  // namespace kdgat::score
