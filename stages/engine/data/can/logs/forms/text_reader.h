// TextReader: what the forms share whose lines depend on those before: the header, places, notes.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/data/can/frames/channel_names.h"
#include "engine/data/can/logs/forms/frame_reader.h"
#include "engine/data/can/logs/forms/text_head.h"
#include "engine/file/line_reader.h"
#include "engine/file/number_text.h"

namespace kdgat::data {

class TextReader : public FrameReader {
 public:
  explicit TextReader(file::ByteReader bytes) : lines_(std::move(bytes)) {}

  std::string fault() const override { return std::string(fault_) + ": " + file::shown(line_); }
  std::string where() const override {
    return lines_.name() + ":" + std::to_string(lines_.line_number());
  }
  int64_t bytes_read() const override { return lines_.bytes_read(); }
  const ChannelNames& channel_names() const override { return channels_; }
  Notes notes() const override {
    Notes out = notes_;
    if (!has_start_ && !unread_start_.empty()) out.push_back(unread_start_.front());
    passed_.tell(lines_.name(), out);
    for (const std::string& what : channels_.problems()) out.push_back({lines_.name(), what, ""});
    return out;
  }

  Got next(CanFrame& frame) final {
    while (lines_.next(line_)) {
      const bool is_first = lines_.line_number() == 1;
      if (is_first && line_.starts_with(kByteOrderMark)) line_.remove_prefix(kByteOrderMark.size());
      bool is_frame = false;
      fault_ = read_line(line_, frame, is_frame);
      if (fault_ != nullptr) return Got::kFault;
      if (is_frame) return Got::kFrame;
      frame = CanFrame();
    }
    return Got::kEnd;
  }

 protected:
  /// Gives what is wrong with a line that should be a frame, or nullptr.
  virtual const char* read_line(std::string_view line, CanFrame& frame, bool& is_frame) = 0;

  Passed& passed() { return passed_; }
  void note(std::string what) { notes_.push_back({where(), std::move(what), ""}); }

  /// When the log began: seconds since 1970; 0 where that is not known.
  double start() const { return start_; }
  bool has_start() const { return has_start_; }
  void set_start(double seconds) {
    start_ = seconds;
    has_start_ = true;
  }
  /// A date that is not understood: reported at the end, unless there is another one.
  void refuse_start(const char* what, std::string_view text) {
    unread_start_.push_back(
        {where(),
         std::string(what) + " is not understood; times count from 0: " + file::shown(text), ""});
    unread_start_.resize(1);
  }

  /// Buses are counted from 1 in such logs.
  const char* set_channel(std::string_view number, CanFrame& frame) {
    if (number != last_number_ || last_number_.empty()) {
      int64_t value = 0;
      const auto [end, error] =
          std::from_chars(number.data(), number.data() + number.size(), value);
      if (error != std::errc() || end != number.data() + number.size() || value < 1) {
        return "the channel is not a number from 1";
      }
      const int channel = channels_.number(std::to_string(value - 1));
      if (channel < 0) return "a ninth channel: a log may hold eight buses";
      last_number_ = number;
      last_channel_ = static_cast<uint8_t>(channel);
    }
    frame.channel = last_channel_;
    return nullptr;
  }

 private:
  file::LineReader lines_;
  std::string_view line_;
  const char* fault_ = nullptr;
  Passed passed_;
  ChannelNames channels_;
  std::string last_number_;
  uint8_t last_channel_ = 0;
  Notes notes_, unread_start_;
  double start_ = 0;
  bool has_start_ = false;
};

}  // namespace kdgat::data
