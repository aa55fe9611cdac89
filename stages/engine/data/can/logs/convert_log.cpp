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
  int64_t labelled = 0, dropped = 0;
  std::bitset<kMostChannels> buses;
  CanFrame frame;
  while (log.next(frame)) {
    if (std::isnan(frame.time)) {
      throw Error(ExitCode::kData, "the log has no times, which the other forms need", "",
                  call.source.string());
    }
    if (frame.label < 0 && labels != nullptr) frame.label = labels->label_of(frame);
    labelled += frame.label >= 0 ? 1 : 0;
    buses.set(frame.channel);
    if (frame.remote && !keeps_remote(call.to.string())) {
      ++dropped;
      continue;
    }
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
  const auto warn = [&](const std::string& what, const char* unused, int64_t count) {
    report.warnings.push_back({call.to.string(), what, "", unused, count});
  };
  if (labelled > 0 && !keeps_labels(call.to.string())) {
    warn("labels of " + grouped(labelled) + " rows are lost: only .csv holds them", "label",
         labelled);
  }
  if (dropped > 0) {
    warn((dropped == 1 ? "1 remote frame is" : grouped(dropped) + " remote frames are") +
             " not written: .csv has no mark for them",
         "remote frame", dropped);
  }
  if (buses.count() > 1 && !keeps_buses(call.to.string())) {
    warn(std::to_string(buses.count()) + " buses become one: .csv does not tell them apart",
         "bus number", static_cast<int64_t>(buses.count()));
  }
  if (options.strict) require_all_used(report.warnings);
  file.commit();
  return report;
}

}  // namespace kdgat::data
