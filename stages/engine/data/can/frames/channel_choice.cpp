#include "engine/data/can/frames/channel_choice.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "engine/file/number_text.h"
#include "kdgat/error.h"
#include "kdgat/text.h"

namespace kdgat::data {
namespace {

constexpr std::string_view kOfEach = "each:";

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// kMostChannels where it is larger than any.
int number_of(std::string_view digits) {
  int out = kMostChannels;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out);
  return error == std::errc() ? std::min(out, kMostChannels) : kMostChannels;
}

}  // namespace

std::string channel_of_each(std::size_t number) {
  return std::string(kOfEach) + std::to_string(number);
}

ChannelChoice::ChannelChoice(const std::string& channel)
    : channel_(channel), is_all_(channel == kAllChannels) {
  if (channel_.starts_with(kOfEach)) {
    is_one_of_each_ = true;
    channel_.erase(0, kOfEach.size());
  }
  if (is_number(channel_)) number_ = number_of(channel_);
}

bool ChannelChoice::is_named(uint8_t channel, const ChannelNames& names) {
  if (number_ != kUnknown || names.name(channel) != channel_) return false;
  number_ = channel;
  return true;
}

std::string ChannelChoice::others(const ChannelNames& names) const {
  std::string out;
  for (std::size_t number = 0; number < seen_.size(); ++number) {
    if (!seen_.test(number) || static_cast<int>(number) == number_) continue;
    const std::string digits = std::to_string(number), &name = names.name(number);
    out += (out.empty() ? "" : ", ") + digits;
    if (!name.empty() && name != digits) out += " (" + file::shown(name) + ")";
  }
  return out;
}

std::string ChannelChoice::note(const ChannelNames& names) const {
  if (passed_over_ == 0 || is_one_of_each_) return "";
  return grouped(passed_over_) + (passed_over_ == 1 ? " frame" : " frames") +
         " of other buses left out: " + others(names);
}

void ChannelChoice::require_frames(const std::string& log, const ChannelNames& names) const {
  if (is_all_ || passed_over_ == 0) return;
  if (number_ != kUnknown && number_ < kMostChannels &&
      seen_.test(static_cast<std::size_t>(number_))) {
    return;
  }
  throw Error(ExitCode::kData, "the log has no channel " + file::shown(channel_),
              "it has " + others(names), log);
}

std::vector<Diagnostic> channel_problems(const std::string& channel, const std::string& not_each) {
  const std::string hint = std::string("all, a number from 0 to 7, or a name as can1") +
                           (not_each.empty() ? "; each: one bus after another" : "");
  if (channel.empty()) return {{"", "channel: no bus is named", hint}};
  if (channel == kEachChannel && !not_each.empty()) {
    return {{"", "channel: " + not_each, "name one bus after another"}};
  }
  if (is_number(channel) && number_of(channel) == kMostChannels) {
    return {{"", "channel: " + file::shown(channel) + " is no number of a bus", hint}};
  }
  return {};
}

}  // namespace kdgat::data
