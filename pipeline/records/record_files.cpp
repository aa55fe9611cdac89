#include "pipeline/records/record_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "kdgat/atomic_file.h"
#include "pipeline/records/event_file.h"
#include "pipeline/system/owned_fd.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kHeader = "time,step,name,value\n";

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + '"';
}

std::string csv_line(const std::string& time, const Point& point) {
  return csv_field(time) + "," + std::to_string(point.step) + "," + csv_field(point.key) + "," +
         exact_number(point.value) + "\n";
}

/// Whether the file is so far what it should be: of no other bytes than `content` begins with.
bool begins(const fs::path& path, const std::string& content) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
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
  while (!text.empty()) {
    const ssize_t wrote = ::write(fd.get(), text.data(), text.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) cannot_write(path);
    text.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return ::lseek(fd.get(), 0, SEEK_END);
}

}  // namespace

RecordFiles::RecordFiles(const fs::path& step_folder, bool csv, bool tensorboard)
    : step_(step_folder), csv_(csv), tensorboard_(tensorboard), reader_(step_.journal()) {}

void RecordFiles::update() {
  if (!csv_ && !tensorboard_) return;
  try {
    for (const JournalReader::Line& line : reader_.read()) {
      if (!begun_) begin(line.event);
      add(line.event);
    }
    if (csv_) write(csv_file_);
    if (tensorboard_) write(event_file_);
  } catch (const Error&) {
    reader_ = JournalReader(step_.journal());
    begun_ = false;
    throw;
  }
}

void RecordFiles::begin(const json& first_event) {
  const double unix = unix_of(first_event);
  std::string name = "events.out.tfevents." + std::to_string(static_cast<int64_t>(unix)) + ".kdgat";
  csv_file_ = {step_.folder() / "metrics.csv", kHeader, 0};
  event_file_ = {step_.folder() / "tensorboard" / name, event_file_start(unix), 0};
  begun_ = true;
}

void RecordFiles::add(const json& event) {
  const std::vector<Point> points = step_.points(event);
  if (points.empty()) return;
  for (const Point& point : points) csv_file_.fresh += csv_line(time_of(event), point);
  event_file_.fresh += scalars_record(points);
}

void RecordFiles::write(File& file) const {
  if (file.fresh.empty()) return;
  std::error_code none;
  if (file.written == 0) {
    fs::create_directories(file.path.parent_path(), none);
    if (!begins(file.path, file.fresh)) {
      write_file(file.path, file.fresh);
    } else if (const auto size = fs::file_size(file.path); size < file.fresh.size()) {
      append(file.path, std::string_view(file.fresh).substr(size));
    }
    file.written = static_cast<int64_t>(file.fresh.size());
  } else {
    const int64_t size = static_cast<int64_t>(fs::file_size(file.path, none));
    if (none || size != file.written) {
      throw Error(ExitCode::kData, file.path.string() + " was changed by another program");
    }
    file.written = append(file.path, file.fresh);
  }
  file.fresh.clear();
}

}  // namespace kdgat
