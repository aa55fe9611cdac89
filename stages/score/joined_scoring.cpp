#include "score/joined_scoring.h"

#include <deque>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "data/can/log_windows.h"
#include "detector/joined_files.h"
#include "score/network.h"
#include "scoring/detector_scoring.h"
#include "scoring/explanations.h"
#include "scoring/log_watch.h"
#include "setup/trained_model.h"

namespace kdgat::score {
namespace {

namespace fs = std::filesystem;
using detector::JudgedWindow;

fs::path folder_of(const fs::path& network) {
  return fs::is_directory(network) ? network : network.parent_path();
}

/// What the network said of windows of a log that the detector has not yet judged.
class NetworkWords {
 public:
  explicit NetworkWords(const detector::NetworkChannel& channel) : channel_(channel) {}

  void add(int64_t first_row, float raw) { said_.push_back({first_row, raw}); }

  /// Of the detector's next window; where the network has none that begins there, as in a capture
  /// that ends within a window, the detector speaks alone.
  float of(const JudgedWindow& window) {
    while (!said_.empty() && said_.front().first < window.relative.first_row) said_.pop_front();
    if (said_.empty() || said_.front().first != window.relative.first_row) {
      return -std::numeric_limits<float>::infinity();
    }
    const float raw = said_.front().second;
    if (!window.is_own) return channel_.score(raw);
    channel_.learn(raw);
    return -std::numeric_limits<float>::infinity();
  }

 private:
  detector::ChannelOnLog channel_;
  std::deque<std::pair<int64_t, float>> said_;
};

class JoinedScoring : public LogScoring {
 public:
  JoinedScoring(detector::JoinedFiles files, std::string hash, WindowNetwork network,
                const ScoreOptions& options, const Host& host)
      : files_(std::move(files)),
        hash_(std::move(hash)),
        network_(std::move(network)),
        vocabulary_(network_.vocabulary),
        options_(options),
        host_(host),
        explanations_(options, host),
        names_(read_names(options.dbc, sink_to(host).log)) {
    if (options.reasons) host.metrics("reasons", kReasons, nlohmann::json::object());
  }

  void read(const graph::LogFile& file) override {
    struct Heard {
      graph::CanFrame frame;
      bool restarts;
    };
    const auto stopped = [this] { return host_.cancelled() != ExitCode::kOk; };
    std::vector<Heard> heard;  // frames of the batch: the detector hears them behind the network
    graph::CanLog log(graph::ByteReader(file.path, stopped), options_.format, options_.strict,
                      file.channel);
    graph::LogWindows windows(std::move(log), network_.shape, vocabulary_,
                              [&heard](const graph::CanFrame& frame, bool restarts) {
                                heard.push_back({frame, restarts});
                              });
    NetworkWords words(files_.channel);
    LogWatch watch(files_.model, options_, file.name, hash_, sink_to(host_), &explanations_, names_,
                   [&words](const JudgedWindow& window) { return words.of(window); });
    for (bool is_end = false; !is_end && !watch.is_done();) {
      const int64_t graphs = windows.read(options_.batch);
      is_end = graphs == 0;
      if (!is_end) {
        const std::span<const float> raw = network_.scorer->raw_scores(windows.graphs(), graphs);
        for (int64_t g = 0; g < graphs; ++g) {
          words.add(windows.row(g), raw[static_cast<std::size_t>(g)]);
        }
      }
      for (const Heard& one : heard) {
        if (watch.is_done()) break;
        watch.add(one.frame, one.restarts);
      }
      heard.clear();
    }
    watch.finish();
    windows_ += watch.windows();
    if (watch.is_done()) return;
    if (windows.log().rows() == 0) throw Error(ExitCode::kData, windows.log().problems());
    for (const Diagnostic& problem : windows.log().problems()) host_.log("warning", problem.text());
    watch.check(windows.log().rows());
    attacks_ += watch.flagged();
    alarms_ += watch.alarms();
  }

  StageResult result() const override {
    explanations_.send();
    return with_alarms(LogScoring::result(), alarms_);
  }

 private:
  const detector::JoinedFiles files_;
  const std::string hash_;
  const WindowNetwork network_;
  const graph::Vocabulary vocabulary_;
  const ScoreOptions& options_;
  const Host& host_;
  Explanations explanations_;
  const graph::DbcNames names_;
  int64_t alarms_ = 0;
};

}  // namespace

bool has_channel(const fs::path& network) { return detector::is_joined(folder_of(network)); }

std::unique_ptr<LogScoring> open_joined(const fs::path& network, const ScoreOptions& options,
                                        const Request& request, const Host& host) {
  const torch::Device device = setup::prepare_scoring(request);
  detector::JoinedFiles files = detector::read_joined(folder_of(network));
  check_options(files.model, network.string(), options);
  WindowNetwork loaded = load_network(network, device);
  const fs::path network_file = loaded.path;
  return std::make_unique<JoinedScoring>(std::move(files), file_hash(network_file),
                                         std::move(loaded), options, host);
}

}  // namespace kdgat::score
