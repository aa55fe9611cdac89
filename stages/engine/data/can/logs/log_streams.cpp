#include "engine/data/can/logs/log_streams.h"

#include <bitset>
#include <filesystem>

#include "engine/data/can/frames/channel_choice.h"
#include "engine/data/can/logs/can_log.h"
#include "engine/file/number_text.h"
#include "kdgat/error.h"

namespace kdgat::data {
namespace {

namespace fs = std::filesystem;

void add_each(const LogFile& file, const std::string& format,
              const std::function<bool()>& cancelled, const LogReading& reading,
              std::vector<LogFile>& out) {
  std::error_code ignored;
  if (file.path == "-" || !fs::is_regular_file(file.path, ignored)) {
    throw Error(ExitCode::kUsage, "channel=each reads a log once for each bus, and a pipe ends",
                "name one bus, or save what comes through it", file.path.string());
  }
  CanLog log(file::ByteReader(file.path, cancelled), format, false, kAllChannels, reading);
  std::bitset<kMostChannels> buses;
  CanFrame frame;
  while (log.next(frame)) {
    buses.set(frame.channel);
    constexpr int64_t kOften = 0x10000;  // rows between two looks whether to stop
    if (log.rows() % kOften == 0 && cancelled && cancelled()) {
      throw Error(ExitCode::kInterrupted, "interrupted while looking for buses");
    }
  }
  const bool is_single = buses.count() < 2;
  for (std::size_t number = 0; number < buses.size(); ++number) {
    if (!buses.test(number)) continue;
    LogFile& one = out.emplace_back(file);
    one.channel = channel_of_each(number);
    if (is_single) continue;
    const std::string& name = log.channel_names().name(number);
    one.name += "#" + (name.empty() ? std::to_string(number) : file::shown(name));
  }
  if (buses.none()) out.push_back(file);  // its reader will say what is wrong with it
}

}  // namespace

std::vector<LogFile> by_channel(std::vector<LogFile> files, const std::string& channel,
                                const std::string& format, const std::function<bool()>& cancelled,
                                const LogReading& reading) {
  if (channel != kEachChannel) {
    for (LogFile& file : files) file.channel = channel;
    return files;
  }
  std::vector<LogFile> out;
  for (const LogFile& file : files) add_each(file, format, cancelled, reading, out);
  return out;
}

}  // namespace kdgat::data
