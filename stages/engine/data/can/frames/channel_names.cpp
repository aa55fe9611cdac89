#include "engine/data/can/frames/channel_names.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace kdgat::data {
namespace {

/// kMostChannels where the name ends with no number below it.
std::size_t number_at_end(std::string_view name) {
  const std::size_t letter = name.find_last_not_of("0123456789");
  const std::string_view digits = letter == std::string_view::npos ? name : name.substr(letter + 1);
  std::size_t number = kMostChannels;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc() && end == digits.data() + digits.size()
             ? std::min<std::size_t>(number, kMostChannels)
             : kMostChannels;
}

/// A log may not steer the terminal, nor fill it.
std::string printable(std::string_view name) {
  constexpr std::size_t kShown = 20;
  std::string out(name.substr(0, kShown));
  std::replace_if(
      out.begin(), out.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return out;
}

}  // namespace

int ChannelNames::find(std::string_view name) {
  const auto known = std::find(names_.begin(), names_.end(), name);
  if (known != names_.end() && !name.empty()) {
    last_ = static_cast<std::size_t>(known - names_.begin());
    return static_cast<int>(last_);
  }
  const std::size_t own = number_at_end(name);
  std::size_t number = own;
  if (own == kMostChannels || !names_[own].empty()) {
    const auto free = std::find(names_.begin(), names_.end(), "");
    if (free == names_.end()) {
      if (!std::exchange(is_full_, true)) {
        problems_.push_back("more than " + std::to_string(kMostChannels) + " channels: rows of " +
                            printable(name) + " are left out");
      }
      return -1;
    }
    number = static_cast<std::size_t>(free - names_.begin());
    const std::string why = own == kMostChannels ? "its name ends with none below 8"
                                                 : printable(names_[own]) + " has its own";
    problems_.push_back("channel " + printable(name) + " is counted as number " +
                        std::to_string(number) + ": " + why);
  }
  names_[number] = name;
  last_ = number;
  return static_cast<int>(number);
}

}  // namespace kdgat::data
