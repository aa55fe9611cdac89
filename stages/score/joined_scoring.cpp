#include "score/joined_scoring.h"

#include <deque>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/data/can/windows/log_windows.h"
#include "engine/decision/detector/joined_files.h"
#include "engine/decision/stream/explained_scoring.h"
#include "engine/file/tensor_hash.h"
#include "engine/setup/trained_model.h"
#include "score/network.h"

namespace kdgat::score {
namespace {

namespace fs = std::filesystem;
using decision::JudgedWindow;

fs::path folder_of(const fs::path& network) {
  return fs::is_directory(network) ? network : network.parent_path();
}

/// What the network said of windows of a log that the detector has not yet judged.
class NetworkWords {
 public:
  explicit NetworkWords(const decision::NetworkChannel& channel) : channel_(channel) {}

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
  decision::ChannelOnLog channel_;
  std::deque<std::pair<int64_t, float>> said_;
};

class JoinedScoring : public decision::ExplainedScoring {
 public:
  JoinedScoring(decision::JoinedFiles files, std::string hash, decision::WindowNetwork network,
                const decision::ScoreOptions& options, const Host& host)
      : decision::ExplainedScoring(std::move(hash), options, host),
        files_(std::move(files)),
        network_(std::move(network)),
        vocabulary_(network_.vocabulary) {}

 private:
  void judge(data::CanLog& log, const data::LogFile& file) override {
    struct Heard {
      data::CanFrame frame;
      bool restarts;
    };
    std::vector<Heard> heard;  // frames of the batch: the detector hears them behind the network
    data::LogWindows windows(log, network_.shape, vocabulary_,
                             [&](const data::CanFrame& frame, bool restarts) {
                               heard.push_back({frame, restarts});
                               see(heard.back().frame);
                             });
    NetworkWords words(files_.channel);
    decision::LogScorer scorer = watch(
        files_.model, file, [&words](const JudgedWindow& window) { return words.of(window); });
    for (bool is_end = false; !is_end && !scorer.is_done();) {
      const int64_t graphs = windows.read(options_.batch);
      is_end = graphs == 0;
      if (!is_end) {
        const std::span<const float> raw = network_.scorer->raw_scores(windows.graphs(), graphs);
        for (int64_t g = 0; g < graphs; ++g) {
          words.add(windows.row(g), raw[static_cast<std::size_t>(g)]);
        }
      }
      for (const Heard& one : heard) {
        if (scorer.is_done()) break;
        scorer.add(one.frame, one.restarts);
      }
      heard.clear();
    }
    scorer.finish();
    count_watched(scorer, log);
  }

  const decision::JoinedFiles files_;
  const decision::WindowNetwork network_;
  const data::Vocabulary vocabulary_;
};

}  // namespace

bool has_channel(const fs::path& network) { return decision::is_joined(folder_of(network)); }

std::unique_ptr<decision::LogScoring> open_joined(const fs::path& network,
                                                  const decision::ScoreOptions& options,
                                                  const Request& request, const Host& host) {
  const torch::Device device = setup::prepare_scoring(request, host);
  decision::JoinedFiles files =
      decision::read_joined(folder_of(network), decision::warning_to(host));
  decision::check_options(files.model, network.string(), options);
  decision::WindowNetwork loaded = load_network(network, device);
  const fs::path network_file = loaded.path;
  return std::make_unique<JoinedScoring>(std::move(files), file::hash_file(network_file),
                                         std::move(loaded), options, host);
}

}  // namespace kdgat::score
