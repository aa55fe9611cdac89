// NetworkChannel: what a network says of windows, as a further channel beside a detector. Its raw
// scores become tail probabilities over benign windows that it was not trained on, and a budget of
// false windows gives them a threshold. A window is flagged by whichever of the two lies above its
// threshold, and scores what the farther one does.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/decision/detector/alarms.h"
#include "engine/decision/detector/sealed_json.h"
#include "engine/decision/detector/tails.h"

namespace kdgat::decision {

/// Beside the network's file; the detector stands beside both.
inline constexpr const char* kChannelFile = "channel.json";
inline constexpr const char* kChannelDetector = "channel_detector.json";

struct NetworkChannel {
  Tails tails;          ///< of one column: raw scores of benign validation windows
  float threshold = 0;  ///< of -ln of the tail probability
  Budget budget;
  std::string network, detector;  ///< xxh3-128 of the two files

  /// `benign`: raw scores of windows of one log after another. Throws Error as budget_of().
  static NetworkChannel fit(std::span<const Stretch> benign, double per_hour);

  void write(const std::filesystem::path& file) const;
  /// Throws Error(kData) naming the file and what is wrong with it, also where its content does not
  /// match its hash. `warn` is told of a file of an earlier version, which has none.
  static NetworkChannel read(const std::filesystem::path& file, const Warn& warn = {});
};

/// The channel on one log. Of a vehicle never seen, raw scores may lie elsewhere than those of
/// validation: a window has to be odd beside those that its profile was learned from as well.
class ChannelOnLog {
 public:
  explicit ChannelOnLog(const NetworkChannel& channel) : channel_(channel) {}

  /// A window that a profile was learned from; before any score().
  void learn(float raw) { own_.push_back(raw); }
  /// In the units of DetectorModel::score(): above 0 is flagged.
  float score(float raw);

 private:
  const NetworkChannel& channel_;
  std::vector<float> own_;
  std::optional<Tails> own_tails_;
};

}  // namespace kdgat::decision
