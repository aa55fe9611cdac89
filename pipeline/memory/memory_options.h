// The words by which a plan of memory is asked for: a card, a size, measured or not. Shared by
// `kdgat plan` and `kdgat submit`.
#pragma once

#include <optional>
#include <string>

#include "kdgat/stage.h"
#include "pipeline/cli/command_line.h"
#include "pipeline/memory/cards.h"
#include "pipeline/profile/profile.h"

namespace kdgat {

class MemoryOptions {
 public:
  /// --gpu, and --static, where else batches would be run to measure.
  void declare(CommandLine& line);
  /// --device: a size is a card; any other word is the profile's device.
  void declare_device(CommandLine& line, ProfileRequest& profile);
  /// Whether any of them was said; --device only where it is a card.
  bool are_said() const { return card_ || is_static_; }
  /// Puts what was said into a request.
  void apply(MemoryRequest& request) const;

 private:
  void set(CommandLine& line, const Card& card);

  std::optional<Card> card_;
  bool is_static_ = false;
};

}  // namespace kdgat
