// The layout of MLflow's file store:
//   <root>/<experiment id>/meta.yaml
//   <root>/<experiment id>/<run id>/meta.yaml, params/<key>, tags/<key>, metrics/<key>, artifacts/
// A metric's file has a line "milliseconds value step" for each of its numbers.
#include <fcntl.h>
#include <sys/file.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <sstream>

#include "kdgat/atomic_file.h"
#include "kdgat/small_file.h"
#include "pipeline/records/mlflow.h"
#include "pipeline/records/records.h"
#include "pipeline/system/clock.h"
#include "pipeline/system/owned_fd.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMeta = "meta.yaml";

/// As the file store counts states.
int status_number(const std::string& status) {
  return status == "RUNNING" ? 1 : status == "FINISHED" ? 3 : status == "FAILED" ? 4 : 5;
}

std::string random_digits(const char* digits, unsigned count, int length) {
  std::random_device random;
  std::uniform_int_distribution<unsigned> draw(0, count - 1);
  std::string out;
  for (int i = 0; i < length; ++i) out += digits[draw(random)];
  return out;
}

/// A key as the name of a file: no folder, and not the folder itself.
std::string file_name(const std::string& key) {
  std::string name = mlflow_name(key);
  std::replace(name.begin(), name.end(), '/', '_');
  return name == "." || name == ".." || name.empty() ? "_" : name;
}

[[noreturn]] void fail(const fs::path& path) {
  throw Error(ExitCode::kData, "cannot write " + path.string() + ": " + std::strerror(errno));
}

void write_plain(const fs::path& path, const std::string& text, bool append) {
  std::ofstream out(path, append ? std::ios::binary | std::ios::app : std::ios::binary);
  out << text << std::flush;
  if (!out) fail(path);
}

void make_folders(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) {
    throw Error(ExitCode::kData, "cannot create folder " + path.string() + ": " + error.message());
  }
}

YAML::Node read_meta(const fs::path& folder) {
  try {
    return YAML::LoadFile((folder / kMeta).string());
  } catch (const YAML::Exception&) {
    return {};
  }
}

std::string text_of(const YAML::Node& meta, const char* key) {
  return meta.IsMap() && meta[key] ? meta[key].as<std::string>("") : "";
}

void write_meta(const fs::path& folder, const YAML::Node& meta) {
  YAML::Emitter out;
  out << meta;
  write_file(folder / kMeta, std::string(out.c_str()) + "\n");
}

int64_t now_milliseconds() { return static_cast<int64_t>(1000 * unix_now()); }

class Files : public MlflowStore {
 public:
  explicit Files(const fs::path& folder) : root_(fs::absolute(folder).lexically_normal()) {}

  std::string experiment(const std::string& name) override {
    if (!fs::exists(root_)) {
      make_folders(root_);
      make_experiment("0", "Default");  // what MLflow expects there
    }
    const OwnedFd lock = locked();
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(root_, ignored)) {
      const YAML::Node meta = read_meta(entry.path());
      if (text_of(meta, "name") == name && text_of(meta, "lifecycle_stage") == "active") {
        return entry.path().filename();
      }
    }
    constexpr int kLength = 18;
    std::string id = "1" + random_digits("0123456789", 10, kLength - 1);
    make_experiment(id, name);
    return id;
  }

  std::string find_run(const std::string& experiment, const std::string& key,
                       const std::string& value) override {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(root_ / experiment, ignored)) {
      std::ifstream in = regular_file(entry.path() / "tags" / file_name(key));
      std::stringstream text;
      if (in && text << in.rdbuf() && text.str() == value) return entry.path().filename();
    }
    return "";
  }

  std::string create_run(const std::string& experiment, const std::string& name,
                         int64_t start_milliseconds, const MlflowPairs& tags) override {
    constexpr int kLength = 32;
    std::string id = random_digits("0123456789abcdef", 16, kLength);
    const fs::path folder = root_ / experiment / id;
    for (const char* part : {"metrics", "params", "tags", "artifacts"}) {
      make_folders(folder / part);
    }
    const char* user = std::getenv("USER");
    YAML::Node meta;
    meta["artifact_uri"] = "file://" + (folder / "artifacts").string();
    meta["end_time"] = YAML::Node();
    meta["entry_point_name"] = "";
    meta["experiment_id"] = experiment;
    meta["lifecycle_stage"] = "active";
    meta["run_id"] = id;
    meta["run_name"] = name;
    meta["run_uuid"] = id;
    meta["source_name"] = "kdgat";
    meta["source_type"] = 4;  // LOCAL
    meta["source_version"] = "";
    meta["start_time"] = start_milliseconds;
    meta["status"] = status_number("RUNNING");
    meta["tags"] = YAML::Node(YAML::NodeType::Sequence);
    meta["user_id"] = user == nullptr ? "" : user;
    write_pairs(folder / "tags", tags);
    write_meta(folder, meta);  // last: what has none is no run
    return id;
  }

  void log(const MlflowRun& run, const std::vector<MlflowMetric>& metrics,
           const MlflowPairs& params, const MlflowPairs& tags) override {
    const fs::path folder = checked(run);
    std::map<std::string, std::vector<std::string>> lines;
    for (const MlflowMetric& metric : metrics) {
      lines[metric.key].push_back(std::to_string(metric.milliseconds) + " " +
                                  exact_number(metric.value) + " " + std::to_string(metric.step));
    }
    for (const auto& [key, list] : lines) append_new(folder / "metrics" / file_name(key), list);
    write_pairs(folder / "params", params);
    write_pairs(folder / "tags", tags);
  }

  void set_status(const MlflowRun& run, const std::string& status,
                  int64_t end_milliseconds) override {
    const fs::path folder = checked(run);
    YAML::Node meta = read_meta(folder);
    meta["status"] = status_number(status);
    meta["end_time"] = end_milliseconds > 0 ? YAML::Node(end_milliseconds) : YAML::Node();
    write_meta(folder, meta);
  }

  bool put_artifact(const MlflowRun& run, const std::string& name,
                    const std::string& content) override {
    write_file(checked(run) / "artifacts" / file_name(name), content);
    return true;
  }

 private:
  /// Against another run that looks for the same experiment.
  OwnedFd locked() const {
    const fs::path path = root_ / ".kdgat.lock";
    OwnedFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
    if (fd.get() < 0) fail(path);
    ::flock(fd.get(), LOCK_EX);
    return fd;
  }

  void make_experiment(const std::string& id, const std::string& name) const {
    make_folders(root_ / id);
    YAML::Node meta;
    meta["artifact_location"] = "file://" + (root_ / id).string();
    meta["creation_time"] = now_milliseconds();
    meta["experiment_id"] = id;
    meta["last_update_time"] = now_milliseconds();
    meta["lifecycle_stage"] = "active";
    meta["name"] = name;
    write_meta(root_ / id, meta);
  }

  fs::path checked(const MlflowRun& run) const {
    fs::path folder = root_ / run.experiment / run.id;
    if (fs::exists(folder / kMeta)) return folder;
    throw MlflowRefusal(ExitCode::kData, folder.string() + ": there is no such run");
  }

  static void write_pairs(const fs::path& folder, const MlflowPairs& list) {
    for (const auto& [key, value] : list) write_plain(folder / file_name(key), value, false);
  }

  /// What is known of a metric's file as this process left it.
  struct MetricFile {
    std::uintmax_t bytes = 0;
    int64_t newest = std::numeric_limits<int64_t>::min();  ///< milliseconds of its newest number
    std::set<std::string> at_newest;                       ///< lines of that time
  };

  static std::set<std::string> lines_of(const fs::path& path) {
    std::set<std::string> lines;
    std::ifstream in = regular_file(path);
    for (std::string line; std::getline(in, line) && !in.eof();) lines.insert(line);
    return lines;
  }

  static int64_t time_of_line(const std::string& line) {
    return std::strtoll(line.c_str(), nullptr, 10);
  }

  static void note(MetricFile& file, const std::string& line) {
    const int64_t time = time_of_line(line);
    if (time < file.newest) return;
    if (time > file.newest) file.at_newest.clear();
    file.newest = time;
    file.at_newest.insert(line);
  }

  /// A file seen for the first time, or written to by another process in the meantime, is read
  /// once; a line that was cut off goes.
  MetricFile& known(const fs::path& path) {
    const auto [at, is_new] = files_.try_emplace(path);
    std::error_code none;
    const std::uintmax_t size = fs::file_size(path, none);
    if (!is_new && (none ? 0 : size) == at->second.bytes) return at->second;
    at->second = {};
    std::ifstream in = regular_file(path);
    for (std::string line; std::getline(in, line) && !in.eof(); note(at->second, line)) {
      at->second.bytes += line.size() + 1;
    }
    if (!none && size > at->second.bytes) fs::resize_file(path, at->second.bytes, none);
    return at->second;
  }

  /// Lines the file has already are left out. Numbers come in the order of their times, so only one
  /// that is older than the newest can be among earlier lines: the file is not read for the others.
  void append_new(const fs::path& path, const std::vector<std::string>& lines) {
    MetricFile& file = known(path);
    std::vector<std::string> fresh;
    std::optional<std::set<std::string>> earlier;
    for (const std::string& line : lines) {
      const int64_t time = time_of_line(line);
      if (time < file.newest && !earlier) {
        earlier = lines_of(path);
        earlier->insert(fresh.begin(), fresh.end());
      }
      const bool is_there = time == file.newest  ? file.at_newest.contains(line)
                            : time > file.newest ? false
                                                 : earlier->contains(line);
      if (is_there) continue;
      fresh.push_back(line);
      if (earlier) earlier->insert(line);
      note(file, line);
    }
    std::string text;
    for (const std::string& line : fresh) text += line + "\n";
    if (text.empty()) return;
    file.bytes += text.size();
    try {
      write_plain(path, text, true);
    } catch (...) {
      files_.erase(path);  // what arrived is seen when it is read again
      throw;
    }
  }

  fs::path root_;
  std::map<fs::path, MetricFile> files_;
};

}  // namespace

std::unique_ptr<MlflowStore> mlflow_files(const fs::path& folder) {
  return std::make_unique<Files>(folder);
}

}  // namespace kdgat
