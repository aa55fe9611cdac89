#include "engine/data/can/logs/convert_log.h"

#include <bitset>
#include <cmath>

#include "engine/data/can/logs/can_log.h"
#include "engine/data/can/logs/frame_writer.h"
#include "engine/data/can/logs/label_intervals.h"
#include "kdgat/atomic_file.h"
#include "kdgat/text.h"

namespace kdgat::data {

namespace fs = std::filesystem;

namespace {

/// What the form written cannot hold, counted.
class Losses {
 public:
  explicit Losses(const FormFacts& form) : form_(form) {}

  /// False: the frame cannot be written at all.
  bool count(const CanFrame& frame) {
    buses_.set(frame.channel);
    if (frame.remote && !form_.remote) {
      ++remote_;
      return false;
    }
    constexpr int kLongestClassic = 8;
    labels_ += frame.label >= 0 && form_.label != Label::kYes ? 1 : 0;
    sent_ += frame.tx && !form_.direction ? 1 : 0;
    fd_ += frame.fd && form_.fd != Fd::kFlags && frame.length <= kLongestClassic ? 1 : 0;
    flags_ += frame.fd && (frame.fd_flags & 3) != 0 && form_.fd != Fd::kFlags ? 1 : 0;
    return true;
  }

  void tell(const std::string& file, Notes& notes) const {
    const std::string form = form_.written;
    const auto warn = [&](int64_t count, const char* one, const char* many, const std::string& what,
                          const char* lost) {
      if (count == 0) return;
      const std::string number = count == 1 ? std::string("1 ") + one : grouped(count) + " " + many;
      notes.push_back({file, number + what, "", lost, count});
    };
    if (labels_ > 0) {
      notes.push_back({file,
                       "labels of " + grouped(labels_) + " rows are lost: only .csv holds them", "",
                       "label", labels_});
    }
    warn(remote_, "remote frame is", "remote frames are",
         " not written: " + form + " has no mark for them", "remote frame");
    warn(sent_, "frame that was sent becomes", "frames that were sent become",
         " received: " + form + " has no direction", "direction");
    warn(fd_, "frame of CAN FD becomes", "frames of CAN FD become",
         " classic: " + form + " tells them by payloads of over 8 bytes alone", "CAN FD mark");
    warn(flags_, "frame of CAN FD loses", "frames of CAN FD lose",
         " the flags BRS and ESI: " + form + " has none", "CAN FD flag");
    if (!form_.bus && buses_.count() > 1) {
      const auto buses = static_cast<int64_t>(buses_.count());
      notes.push_back(
          {file, std::to_string(buses) + " buses become one: " + form + " does not tell them apart",
           "", "bus number", buses});
    }
  }

 private:
  const FormFacts& form_;
  std::bitset<kMostChannels> buses_;
  int64_t labels_ = 0, remote_ = 0, sent_ = 0, fd_ = 0, flags_ = 0;
};

}  // namespace

ConvertReport convert_log(const CanConvertOptions& options, const ConvertCall& call) {
  const std::unique_ptr<FrameWriter> writer = frame_writer(call.to.filename().string());
  std::error_code ignored;
  if (fs::equivalent(call.source, call.to, ignored)) {
    throw Error(ExitCode::kUsage, call.to.string() + " would replace its own source");
  }
  const bool is_file = fs::is_regular_file(call.source, ignored);
  const int64_t total = is_file ? static_cast<int64_t>(fs::file_size(call.source, ignored)) : 0;
  LabelTables tables;
  LabelIntervals* const labels = tables.of(call.source);
  CanLog log(file::ByteReader(call.source, call.cancelled), options.format, options.strict,
             options.channel, options);
  AtomicFile file(call.to);
  std::string out;
  Losses losses(form_written(call.to.filename().string()));
  CanFrame frame;
  while (log.next(frame)) {
    if (std::isnan(frame.time)) {
      throw Error(ExitCode::kData, "the log has no times, which the other forms need", "",
                  call.source.string());
    }
    add_label(labels, frame);
    if (!losses.count(frame)) continue;
    writer->add(frame, out);
    constexpr std::size_t kBlock = std::size_t{1} << 20;
    if (out.size() >= kBlock) {
      file.write(out);
      out.clear();
      if (call.cancelled && call.cancelled()) throw Error(ExitCode::kInterrupted, "interrupted");
      if (call.progress) call.progress(std::min(log.bytes_read(), total), total);
    }
  }
  if (log.rows() == 0) throw Error(ExitCode::kData, as_diagnostics(log.problems()));
  writer->finish(out);
  file.write(out);
  if (const std::string beginning = writer->beginning(); !beginning.empty()) {
    file.write_at(0, beginning.data(), beginning.size());
  }
  ConvertReport report{call.to.string(), log.format(), log.rows(), log.malformed(), log.problems()};
  for (Note& note : tables.notes()) report.warnings.push_back(std::move(note));
  losses.tell(call.to.string(), report.warnings);
  if (options.strict) require_all_used(report.warnings);
  file.commit();
  return report;
}

}  // namespace kdgat::data
