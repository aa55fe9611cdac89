#include "pipeline/run/run_index.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <exception>
#include <unordered_map>
#include <utility>

#include "engine/file/cache_folder.h"
#include "pipeline/run/run_figures.h"
#include "pipeline/run/step_config.h"
#include "pipeline/run/step_metrics.h"
#include "pipeline/system/hash.h"
#include "pipeline/system/json_file.h"
#include "pipeline/system/owned_fd.h"
#include "pipeline/system/parallel.h"
#include "pipeline/system/secrets.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kYoung = 2 * kSecond;

int64_t nanoseconds(const timespec& time) { return time.tv_sec * kSecond + time.tv_nsec; }

std::string text_of(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string key_of(const Figure& figure) {
  return figure.model + "." + (figure.part.empty() ? "" : figure.part + ".") + figure.name;
}

ReadFolder read_step(const std::string& step, const fs::path& folder) {
  ReadFolder out;
  const StepConfig config = read_step_config(folder);
  if (config.seed.is_number()) out.options.push_back({"seed", config.seed.dump(), 0});
  for (const auto& [name, value] : config.options.items()) {
    out.options.push_back({std::string(step).append(".").append(name), text_of(value), 0});
  }
  for (const Figure& figure : figures_of_step(step, folder)) {
    json kind = figure;
    kind.erase("value");
    out.figures.push_back({key_of(figure), text_of(kind), figure.value});
  }
  return out;
}

/// The options of the data of a run, which are no step's.
ReadFolder options_of(const RunRecord& run) {
  ReadFolder out;
  if (!run.data) return out;
  for (const auto& [name, value] : run.data->options.items()) {
    out.options.push_back({"data." + name, text_of(value), 0});
  }
  if (!run.data->path.empty()) {
    out.options.push_back({"data.path", text_of(run.data->path), 0});
  }
  return out;
}

fs::path whole_path(const fs::path& path) { return fs::absolute(path).lexically_normal(); }

/// Removes the indexes that nobody wrote for a month, as of roots that are gone.
void remove_old(const fs::path& folder) {
  constexpr auto kMonth = std::chrono::hours(24 * 30);
  const auto now = fs::file_time_type::clock::now();
  std::error_code ignored;
  for (const auto& file : fs::directory_iterator(folder, ignored)) {
    const auto written = file.last_write_time(ignored);
    if (!ignored && now - written > kMonth) fs::remove(file.path(), ignored);
  }
}

IndexData load(const fs::path& file) {
  try {
    if (const auto bytes = file_text(file, kLargestIndex)) return IndexData(*bytes);
  } catch (const std::exception&) {
    return {};  // damaged, or of another version: it is made again
  }
  return {};
}

}  // namespace

/// What tells that files are those that were read, and when the last of them was written.
struct RunIndex::Stamp {
  std::string text;
  int64_t last = 0;

  /// Adds a file of an open folder. False, and a mark for it, where there is no such file.
  bool add(int folder, const char* name) {
    struct stat about {};
    if (::fstatat(folder, name, &about, 0) != 0 || !S_ISREG(about.st_mode)) {
      text += "-;";
      return false;
    }
    const int64_t modified = nanoseconds(about.st_mtim), changed = nanoseconds(about.st_ctim);
    for (const int64_t value : {modified, changed, static_cast<int64_t>(about.st_size),
                                static_cast<int64_t>(about.st_ino)}) {
      text.append(std::to_string(value)).append(" ");
    }
    text += ';';
    last = std::max({last, modified, changed});
    return true;
  }
  /// The text, or "" while what was read at a time may be written again without another stamp.
  std::string lasting(int64_t read_at) const { return last + kYoung < read_at ? text : ""; }
};

struct RunIndex::Place {
  std::string name, id;
  fs::path folder;
  Stamp stamp;
};

RunIndex::Stamp RunIndex::stamp_of_step(const fs::path& folder) {
  const OwnedFd at(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  Stamp out;
  out.add(at.get(), "config.json");
  if (!out.add(at.get(), kFiguresFile)) out.add(at.get(), kMetricsFile);  // of an older program
  return out;
}

int64_t RunIndex::system_now() {
  timespec time{};
  ::clock_gettime(CLOCK_REALTIME, &time);
  return nanoseconds(time);
}

fs::path RunIndex::file_of(const fs::path& root) {
  const fs::path cache = file::cache_folder();
  if (cache.empty()) return {};
  std::error_code ignored;
  return cache / "runs" / (hash_text(fs::weakly_canonical(root, ignored).string()) + ".sqlite");
}

RunIndex::RunIndex(fs::path root, fs::path file, Now now)
    : root_(std::move(root)),
      whole_root_(whole_path(root_)),
      file_(std::move(file)),
      now_(std::move(now)),
      data_(load(file_)) {
  read_runs(find_runs());
}

std::vector<RunIndex::Place> RunIndex::find_runs() const {
  std::vector<Place> places;
  std::error_code ignored;
  for (const auto& set : fs::directory_iterator(root_, ignored)) {
    const std::string dataset = set.path().filename().string();
    for (const auto& run : fs::directory_iterator(set.path(), ignored)) {
      std::string id = run.path().filename().string();
      places.push_back({std::string(dataset).append("/").append(id), id, run.path(), {}});
    }
  }
  for_each_at_once(places.size(), [&](std::size_t i) {
    Stamp stamp;
    if (!stamp.add(AT_FDCWD, (places[i].folder / "run.json").c_str())) return;
    stamp.add(AT_FDCWD, (places[i].folder / kLabelsFile).c_str());
    places[i].stamp = std::move(stamp);
  });
  std::erase_if(places, [](const Place& place) { return place.stamp.text.empty(); });
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    return a.id > b.id;  // the newest first
  });
  return places;
}

void RunIndex::read_runs(const std::vector<Place>& places) {
  std::map<std::string, KnownRun> known = data_.runs();
  std::vector<std::optional<RunRecord>> records(places.size());
  std::vector<std::size_t> unknown;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto found = known.find(places[i].name);
    if (found == known.end() || found->second.stamp != places[i].stamp.text) {
      unknown.push_back(i);
      continue;
    }
    RunRecord& run = records[i].emplace(std::move(found->second.record));
    run.folder = places[i].folder;
    run.id = places[i].id;
    for (StepRecord& step : run.steps) {
      if (step.made_by.empty()) step.made_by = run.id;
      step.folder = step.folder.empty() ? run.folder / step.step : whole_root_ / step.folder;
    }
    known.erase(found);
  }
  const int64_t began = now_();
  for_each_at_once(unknown.size(), [&](std::size_t at) {
    const std::size_t i = unknown[at];
    try {
      records[i] = read_run_file(places[i].folder);
    } catch (const std::exception&) {
      return;  // half of a run: nothing to list
    }
  });
  for (const auto& [place, stale] : known) {
    data_.remove_run(place);
    has_news_ = has_news_ || !stale.stamp.empty();
  }
  for (const std::size_t i : unknown) {
    if (!records[i]) continue;
    RunRecord& run = *records[i];
    RunRecord named = run;
    named.id.clear();
    named.folder.clear();
    for (StepRecord& step : named.steps) {
      const bool is_own = step.folder == run.folder / step.step;
      step.folder = is_own ? "" : folder_name(step.folder);
      if (step.made_by == run.id) step.made_by.clear();
    }
    const std::string stamp = run.exit_code ? places[i].stamp.lasting(began) : "";
    data_.put_run(places[i].name, stamp, named);
    ReadFolder options = options_of(run);
    options.stamp = stamp;
    data_.put_folder(places[i].name, options);
    run.data.reset();
    run.git.reset();
    run.requirements.clear();
    has_news_ = has_news_ || !stamp.empty();
  }
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (!records[i]) continue;
    runs_.push_back(std::move(*records[i]));
    places_.push_back(places[i].name);
  }
}

/// Relative to the root where it lies below it.
std::string RunIndex::folder_name(const fs::path& folder) const {
  const fs::path whole = whole_path(folder), relative = whole.lexically_relative(whole_root_);
  const bool is_below = !relative.empty() && *relative.begin() != "..";
  return (is_below ? relative : whole).string();
}

void RunIndex::read_values() {
  if (!folders_.empty() || runs_.empty()) return;
  struct Folder {
    std::string name, step;
    fs::path path;
    Stamp stamp;
    int64_t id = 0;
    std::optional<ReadFolder> read;
  };
  const auto known = data_.folders();
  std::vector<Folder> folders;
  std::unordered_map<std::string, std::size_t> place_of;
  std::vector<std::vector<std::size_t>> of_steps(runs_.size());
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    for (const StepRecord& step : runs_[i].steps) {
      std::string name = step.is_kept() ? folder_name(step.folder) : places_[i] + "/" + step.step;
      const auto [place, is_new] = place_of.try_emplace(name, folders.size());
      if (is_new) {
        folders.push_back(
            {std::move(name), step.folder.filename().string(), step.folder, {}, 0, {}});
      }
      of_steps[i].push_back(place->second);
    }
  }
  const int64_t began = now_();
  for_each_at_once(folders.size(), [&](std::size_t i) {
    Folder& folder = folders[i];
    folder.stamp = stamp_of_step(folder.path);
    const auto found = known.find(folder.name);
    if (found != known.end() && found->second.stamp == folder.stamp.text) {
      folder.id = found->second.id;
      return;
    }
    folder.read = read_step(folder.step, folder.path);
    folder.read->stamp = folder.stamp.lasting(began);
  });
  for (Folder& folder : folders) {
    if (!folder.read) continue;
    folder.id = data_.put_folder(folder.name, *folder.read);
    has_news_ = has_news_ || !folder.read->stamp.empty();
    folder.read.reset();
  }
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    std::vector<int64_t>& ids = folders_.emplace_back();
    ids.push_back(known.at(places_[i]).id);
    for (const std::size_t folder : of_steps[i]) ids.push_back(folders[folder].id);
  }
}

const RunColumn& RunIndex::column(KeyOf of, const std::string& key) const {
  const auto [found, is_new] = columns_.try_emplace({of, key});
  RunColumn& out = found->second;
  if (!is_new) return out;
  std::unordered_map<int64_t, KnownCell> by_folder;
  for (KnownCell& cell : data_.cells(of, key)) by_folder[cell.folder] = std::move(cell);
  out.resize(runs_.size());
  for (std::size_t i = 0; !by_folder.empty() && i < folders_.size(); ++i) {
    for (std::size_t at = 0; at < folders_[i].size() && !out[i]; ++at) {
      const auto cell = by_folder.find(folders_[i][at]);
      if (cell == by_folder.end()) continue;
      out[i] = RunCell{cell->second.text, cell->second.value, {}};
      if (at > 0) out[i]->step = at - 1;
    }
  }
  return out;
}

void RunIndex::save() {
  if (!has_news_ || file_.empty() || runs_.size() < least_) return;
  has_news_ = false;
  try {
    fs::create_directories(file_.parent_path());
    if (!fs::exists(file_)) remove_old(file_.parent_path());
    write_guarded(file_, data_.bytes(), true);
  } catch (const std::exception&) {
    return;  // no room, or another's folder: the next list reads the runs again
  }
}

}  // namespace kdgat
