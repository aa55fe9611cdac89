#include "pipeline/records/record_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "kdgat/atomic_file.h"
#include "kdgat/small_file.h"
#include "kdgat/text.h"
#include "pipeline/records/event_file.h"
#include "pipeline/system/owned_fd.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kHeader = "time,step,name,value\n";

std::string csv_line(const std::string& time, const Point& point) {
  return csv_field(time) + "," + std::to_string(point.step) + "," + csv_field(point.key) + "," +
         exact_number(point.value) + "\n";
}

/// Whether the file is so far what it should be: of no other bytes than `content` begins with.
bool begins(const fs::path& path, const std::string& content) {
  std::ifstream in = regular_file(path);
  in.seekg(0, std::ios::end);
  if (!in || static_cast<std::size_t>(in.tellg()) > content.size()) return false;
  std::string there(static_cast<std::size_t>(in.tellg()), '\0');
  in.seekg(0);
  in.read(there.data(), static_cast<std::streamsize>(there.size()));
  return in && content.starts_with(there);
}

[[noreturn]] void cannot_write(const fs::path& path) {
  throw Error(ExitCode::kData, "cannot write " + path.string() + ": " + std::strerror(errno));
}

int64_t append(const fs::path& path, std::string_view text) {
  const OwnedFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (fd.get() < 0) cannot_write(path);
  if (!write_all(fd.get(), text)) cannot_write(path);
  return ::lseek(fd.get(), 0, SEEK_END);
}

/// What a journal says in the end: its events with the points that no later one takes the place of.
/// An epoch also takes back all after it, as the step went on from a checkpoint before them.
class LastSaid {
 public:
  void add(const json& event, std::vector<Point> points) {
    const MetricsEvent told = event.get<MetricsEvent>();
    const bool is_series = told.what == kEpoch || told.what == kEpisode;
    // What one event says twice counts as it says it last.
    for (std::size_t i = points.size(); i-- > 0;) {
      const auto later = std::find_if(
          points.begin() + static_cast<std::ptrdiff_t>(i) + 1, points.end(),
          [&](const Point& p) { return p.key == points[i].key && p.step == points[i].step; });
      if (later != points.end()) points.erase(points.begin() + static_cast<std::ptrdiff_t>(i));
    }
    for (const Point& point : points) {
      std::map<int64_t, std::size_t>& said = said_[point.key];
      const auto from = said.lower_bound(point.step);
      const auto to = is_series ? said.end() : said.upper_bound(point.step);
      for (auto at = from; at != to; ++at) {
        std::erase_if(events_[at->second].second,
                      [&](const Point& other) { return other.key == point.key; });
      }
      said.erase(from, to);
      said.emplace(point.step, events_.size());
    }
    events_.emplace_back(event, std::move(points));
  }

  std::string text(const RecordFormat& format) const {
    std::string out;
    for (const auto& [event, points] : events_) {
      if (!points.empty()) out += format.add(event, points);
    }
    return out;
  }

 private:
  std::vector<std::pair<json, std::vector<Point>>> events_;
  std::map<std::string, std::map<int64_t, std::size_t>> said_;  ///< by name and step, its event
};

constexpr RecordFormat kCsv = {[](double) { return std::string("metrics.csv"); },
                               [](double) { return std::string(kHeader); },
                               [](const json& event, const std::vector<Point>& points) {
                                 std::string out;
                                 for (const Point& point : points)
                                   out += csv_line(time_of(event), point);
                                 return out;
                               },
                               true};

constexpr RecordFormat kTensorboard = {
    [](double unix) {
      return "tensorboard/events.out.tfevents." + std::to_string(static_cast<int64_t>(unix)) +
             ".kdgat";
    },
    [](double unix) { return event_file_start(unix); },
    [](const json&, const std::vector<Point>& points) { return scalars_record(points); }};

}  // namespace

const RecordFormat& csv_format() { return kCsv; }
const RecordFormat& tensorboard_format() { return kTensorboard; }

RecordFile::RecordFile(const fs::path& step_folder, const RecordFormat& format)
    : step_(step_folder), format_(format), reader_(step_.journal()) {}

void RecordFile::update() {
  try {
    bool is_stale = false;
    for (const JournalReader::Line& line : reader_.read()) {
      if (!has_begun_) begin(line.event);
      const std::vector<Point> points = step_.points(line.event);
      if (points.empty()) continue;
      is_stale = is_said_again(points) || is_stale;
      fresh_ += format_.add(line.event, points);
    }
    if (is_stale) begin_anew();
    write();
  } catch (const Error&) {
    reader_ = JournalReader(step_.journal());
    has_begun_ = false;
    throw;
  }
}

void RecordFile::begin(const json& first_event) {
  const double unix = unix_of(first_event);
  path_ = step_.folder() / format_.name(unix);
  fresh_ = format_.start(unix);
  written_ = 0;
  last_.clear();
  has_begun_ = true;
}

/// Whether one of these was said before, or something later was.
bool RecordFile::is_said_again(const std::vector<Point>& points) {
  if (!format_.replaces) return false;
  bool again = false;
  for (const Point& point : points) {
    const auto [last, is_new] = last_.try_emplace(point.key, point.step);
    again = again || (!is_new && last->second >= point.step);
    last->second = point.step;
  }
  return again;
}

/// The whole file, out of all that the journal says.
void RecordFile::begin_anew() {
  reader_ = JournalReader(step_.journal());
  has_begun_ = false;
  LastSaid said;
  for (const JournalReader::Line& line : reader_.read()) {
    if (!has_begun_) begin(line.event);
    std::vector<Point> points = step_.points(line.event);
    is_said_again(points);
    said.add(line.event, std::move(points));
  }
  fresh_ += said.text(format_);
}

void RecordFile::write() {
  if (fresh_.empty()) return;
  std::error_code none;
  if (written_ == 0) {
    fs::create_directories(path_.parent_path(), none);
    if (!begins(path_, fresh_)) {
      write_file(path_, fresh_);
    } else if (const auto size = fs::file_size(path_); size < fresh_.size()) {
      append(path_, std::string_view(fresh_).substr(size));
    }
    written_ = static_cast<int64_t>(fresh_.size());
  } else {
    const int64_t size = static_cast<int64_t>(fs::file_size(path_, none));
    if (none || size != written_) {
      throw Error(ExitCode::kData, path_.string() + " was changed by another program");
    }
    written_ = append(path_, fresh_);
  }
  fresh_.clear();
}

int64_t FileSink::update() {
  for (const fs::path& folder : recorded_steps(run_)) {
    files_.try_emplace(folder.filename().string(), folder, format_).first->second.update();
  }
  return 0;
}

std::vector<fs::path> recorded_steps(const fs::path& run) {
  std::vector<fs::path> out;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(run, ignored)) {
    if (fs::exists(entry.path() / kJournalFile, ignored)) out.push_back(entry.path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace kdgat
