// ChannelNames: the numbers of the buses that a log names.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "engine/data/can/frames/can_frame.h"

namespace kdgat::data {

/// A bus has the number at the end of its name (can0, vcan0 and slcan0 are 0, can1 is 1), so that
/// it is the same one in every log of a vehicle. A name without a number below kMostChannels, or
/// whose number another name of this log has, gets the lowest one that is free.
class ChannelNames {
 public:
  /// -1 for the name that is one too many.
  int number(std::string_view name) {
    return names_[last_] == name && !name.empty() ? static_cast<int>(last_) : find(name);
  }
  /// "" where no bus has this number.
  const std::string& name(std::size_t number) const { return names_[number]; }
  /// Which names did not get the number that they end with, and the first that got none.
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  int find(std::string_view name);

  std::array<std::string, kMostChannels> names_;
  std::size_t last_ = 0;
  bool is_full_ = false;  // one was refused
  std::vector<std::string> problems_;
};

}  // namespace kdgat::data
