#include "engine/data/can/logs/can_log.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/data/can/logs/forms/forms.h"
#include "engine/data/can/logs/log_layout.h"

namespace kdgat::data {
namespace {

constexpr std::size_t kShownProblems = 5;
/// Published logs step back by less than this where two captures clocks were merged.
constexpr double kSmallStep = 0.008;
/// Copied from memory: a temporary would be written in pieces and stall when it is read as one.
constexpr CanFrame kNoFrame;

/// The form named `format`, or with "auto" the one that the first lines are of; nullptr: text rows.
const LogForm* form_named(file::ByteReader& bytes, const std::string& format) {
  if (format == "auto") return form_of(bytes);
  for (const LogForm& form : log_forms()) {
    if (format == form.name) return &form;
  }
  return nullptr;
}

}  // namespace

std::span<const char* const> log_formats() {
  static const std::vector<const char*> names = [] {
    std::vector<const char*> all(text_formats().begin(), text_formats().end());
    for (const LogForm& form : log_forms()) all.push_back(form.name);
    return all;
  }();
  return names;
}

std::vector<std::string> log_format_choices() {
  std::vector<std::string> out = {"auto"};
  out.insert(out.end(), log_formats().begin(), log_formats().end());
  return out;
}

bool is_can_log(const std::string& file, std::string_view head) {
  return form_of(head) != nullptr || is_text_log(file, head);
}

CanLog::CanLog(file::ByteReader bytes, const std::string& format, bool strict,
               const std::string& channel, const LogReading& reading)
    : name_(bytes.name()), strict_(strict), channel_(channel) {
  bytes.on_cut([cut = cut_](const std::string& what) { *cut = what; });
  const LogForm* form = form_named(bytes, format);
  reader_ = form != nullptr ? form->open(std::move(bytes))
                            : open_text_log(std::move(bytes), format, reading);
  times_ = TimeReading(reading, reader_->times_look_like_gaps(), reader_->units_a_second());
  if (reader_->has_label_column()) return;
  if (reading.names_label()) unused_label_ = "label_column";
  if (!reading.benign.empty()) unused_label_ += unused_label_.empty() ? "benign" : " and benign";
}

bool CanLog::next(CanFrame& frame) {
  for (;;) {
    frame = kNoFrame;
    switch (reader_->next(frame)) {
      case FrameReader::Got::kEnd:
        channel_.require_frames(name_, channel_names());
        return false;
      case FrameReader::Got::kFault:
        refuse_row();
        break;
      case FrameReader::Got::kFrame:
        frame.time = times_.seconds(frame.time);
        if (!channel_.take(frame, channel_names())) break;
        check_time(frame.time);
        ++rows_;
        return true;
    }
  }
}

void CanLog::refuse_row() {
  Note problem{reader_->where(), reader_->fault(), ""};
  if (strict_) throw Error(ExitCode::kData, {std::move(problem)});
  ++malformed_;
  if (problems_.size() < kShownProblems) problems_.push_back(std::move(problem));
}

void CanLog::check_time(double time) {
  restarted_ = false;
  if (std::isnan(time)) return;
  const double back = last_time_ - time;
  last_time_ = time;
  if (!(back > 0)) return;
  if (back < kSmallStep) {
    ++small_steps_back_;
    return;
  }
  restarted_ = back >= kClockRestart;
  if (strict_ && !restarted_) {
    throw Error(ExitCode::kData, "time goes backwards by " + std::to_string(back) + " s", "",
                reader_->where());
  }
  ++(restarted_ ? restarts_ : steps_back_);
  if (problems_.size() < kShownProblems) {
    problems_.push_back({reader_->where(),
                         restarted_ ? "time falls back by " + std::to_string(back) +
                                          " s: taken as the start of another capture"
                                    : "time goes backwards by " + std::to_string(back) + " s",
                         ""});
  }
}

Notes CanLog::problems() const {
  Notes out = problems_;
  const int64_t all = malformed_ + steps_back_ + restarts_;
  const auto shown = static_cast<int64_t>(problems_.size());
  if (all > shown) {
    out.push_back({name_,
                   std::to_string(all - shown) + " more such lines (" + std::to_string(malformed_) +
                       " malformed rows in all)",
                   ""});
  }
  if (!unused_label_.empty()) {
    out.push_back({name_, unused_label_ + ": not used, as this log has no columns with names", "",
                   "option", 1});
  }
  for (Note& note : times_.notes(name_)) out.push_back(std::move(note));
  for (Note& note : reader_->notes()) out.push_back(std::move(note));
  if (!cut_->empty()) out.push_back({name_, *cut_ + ": read up to there", "", "end of a file", 1});
  if (std::string note = channel_.note(channel_names()); !note.empty()) {
    out.push_back({name_, std::move(note), ""});
  }
  if (rows_ == 0) {
    out.push_back({name_, std::string("no row could be read as ") + reader_->format(), ""});
  }
  return out;
}

}  // namespace kdgat::data
