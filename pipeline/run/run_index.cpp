#include "pipeline/run/run_index.h"

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
#include "pipeline/system/parallel.h"
#include "pipeline/system/secrets.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kYoung = 2 * kSecond;
constexpr std::size_t kAtOnce = 2048;  ///< folders that are read before their rows are written

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

/// The options of the data of a run, which are no step's; none if run.json cannot be read.
std::optional<ReadFolder> read_options(const fs::path& folder) {
  try {
    ReadFolder out;
    const RunRecord run = read_run_file(folder);
    if (!run.data) return out;
    for (const auto& [name, value] : run.data->options.items()) {
      out.options.push_back({"data." + name, text_of(value), 0});
    }
    if (!run.data->path.empty()) {
      out.options.push_back({"data.path", text_of(run.data->path), 0});
    }
    return out;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

fs::path whole_path(const fs::path& path) { return fs::absolute(path).lexically_normal(); }

/// Removes the indexes that nobody wrote for a month, as of roots that are gone. Files whose names
/// begin with `own` are of the root that is listed, and stay.
void remove_old(const fs::path& folder, const std::string& own) {
  constexpr auto kMonth = std::chrono::hours(24 * 30);
  const auto now = fs::file_time_type::clock::now();
  std::error_code ignored;
  for (const auto& file : fs::directory_iterator(folder, ignored)) {
    if (file.path().filename().string().starts_with(own)) continue;
    const auto written = file.last_write_time(ignored);
    if (!ignored && now - written > kMonth) fs::remove(file.path(), ignored);
  }
}

}  // namespace

bool RunIndex::Stamp::add(const std::string& file) {
  struct stat about {};
  if (::stat(file.c_str(), &about) != 0 || !S_ISREG(about.st_mode)) {
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

std::string RunIndex::Stamp::lasting(int64_t read_at) const {
  return last + kYoung < read_at ? text : "";
}

/// A folder that says options and figures.
struct RunIndex::Folder {
  std::string name, path;
  std::optional<std::string> step;  ///< none: that of a run
  Stamp of_run;
  bool may_change = false;  ///< a run has not ended

  Stamp stamp_now() const {
    if (!step) return of_run;
    Stamp out;
    out.add(path + "/config.json");
    if (!out.add(path + "/" + kFiguresFile)) {
      out.add(path + "/" + kMetricsFile);  // of an older program
    }
    return out;
  }
};

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

fs::path RunIndex::values_file(fs::path file) {
  return file.empty() ? file : file.replace_extension(".values" + file.extension().string());
}

RunIndex::RunIndex(fs::path root, fs::path file, Now now)
    : root_(std::move(root)),
      whole_root_(whole_path(root_)),
      file_(std::move(file)),
      now_(std::move(now)),
      data_(file_) {
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
    const std::string folder = places[i].folder.string() + "/";
    if (!stamp.add(folder + "run.json")) return;
    stamp.add(folder + kLabelsFile);
    places[i].stamp = std::move(stamp);
  });
  std::erase_if(places, [](const Place& place) { return place.stamp.text.empty(); });
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    return a.id > b.id;  // the newest first
  });
  return places;
}

void RunIndex::read_runs(std::vector<Place> places) {
  std::unordered_map<std::string, KnownRun> known = data_.runs();
  runs_.resize(places.size());
  std::vector<char> is_read(places.size(), 1);
  std::vector<std::size_t> unknown;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto found = known.find(places[i].name);
    if (found == known.end() || found->second.stamp != places[i].stamp.text) {
      unknown.push_back(i);
      continue;
    }
    RunRecord& run = runs_[i] = std::move(found->second.record);
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
      runs_[i] = read_run_file(places[i].folder);
    } catch (const std::exception&) {
      is_read[i] = 0;  // half of a run: nothing to list
    }
  });
  for (const auto& [place, stale] : known) {
    data_.remove(stale.id);
    has_news_ = has_news_ || !stale.stamp.empty();
  }
  for (const std::size_t i : unknown) {
    if (is_read[i] == 0) continue;
    RunRecord& run = runs_[i];
    RunRecord named = run;
    named.id.clear();
    named.folder.clear();
    for (StepRecord& step : named.steps) {
      const bool is_own = step.folder == run.folder / step.step;
      step.folder = is_own ? "" : folder_name(step.folder);
      if (step.made_by == run.id) step.made_by.clear();
    }
    const std::string stamp = run.exit_code ? places[i].stamp.lasting(began) : "";
    data_.put(places[i].name, stamp, named);
    run.data.reset();
    run.git.reset();
    run.requirements.clear();
    has_news_ = has_news_ || !stamp.empty();
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (is_read[i] == 0) continue;
    if (kept != i) {
      runs_[kept] = std::move(runs_[i]);
      places[kept] = std::move(places[i]);
    }
    ++kept;
  }
  runs_.resize(kept);
  places.resize(kept);
  places_ = std::move(places);
}

/// Relative to the root where it lies below it.
std::string RunIndex::folder_name(const fs::path& folder) const {
  const fs::path whole = whole_path(folder), relative = whole.lexically_relative(whole_root_);
  const bool is_below = !relative.empty() && *relative.begin() != "..";
  return (is_below ? relative : whole).string();
}

std::vector<RunIndex::Folder> RunIndex::folders_of_runs() {
  std::vector<Folder> out;
  std::unordered_map<std::string, int64_t> place_of;
  const auto add = [&](std::vector<int64_t>& of_run, Folder folder) {
    const auto [place, is_new] =
        place_of.try_emplace(folder.name, static_cast<int64_t>(out.size()));
    of_run.push_back(place->second);
    if (is_new) out.push_back(std::move(folder));
  };
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    std::vector<int64_t>& of_run = folders_.emplace_back();
    const Place& run = places_[i];
    add(of_run, {run.name, run.folder.string(), {}, run.stamp, !runs_[i].exit_code});
    for (const StepRecord& step : runs_[i].steps) {
      add(of_run, {step.is_kept() ? folder_name(step.folder) : run.name + "/" + step.step,
                   step.folder.string(),
                   step.folder.filename().string(),
                   {},
                   false});
    }
  }
  return out;
}

void RunIndex::read_values() {
  if (values_ || runs_.empty()) return;
  values_.emplace(values_file(file_));
  columns_.clear();
  auto known = values_->folders();
  std::vector<Folder> folders = folders_of_runs();
  std::vector<int64_t> ids(folders.size());
  // In portions, so that not all that is read is in memory at once.
  for (std::size_t from = 0; from < folders.size(); from += kAtOnce) {
    const std::size_t count = std::min(kAtOnce, folders.size() - from);
    std::vector<std::optional<ReadFolder>> read(count);
    const int64_t began = now_();
    for_each_at_once(count, [&](std::size_t i) {
      Folder& folder = folders[from + i];
      const auto found = known.find(folder.name);
      const bool is_known = found != known.end();
      if (is_known) ids[from + i] = found->second.id;
      const Stamp stamp = folder.stamp_now();
      if (is_known && found->second.stamp == stamp.text) return;
      auto what = folder.step ? std::optional(read_step(*folder.step, folder.path))
                              : read_options(folder.path);
      const bool is_whole = what.has_value() && !folder.may_change;
      read[i] = std::move(what).value_or(ReadFolder());
      read[i]->name = folder.name;
      if (is_whole) read[i]->stamp = stamp.lasting(began);
    });
    std::vector<ReadFolder> fresh;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < count; ++i) {
      known.erase(folders[from + i].name);
      if (!read[i]) continue;
      has_new_values_ = has_new_values_ || !read[i]->stamp.empty();
      fresh.push_back(std::move(*read[i]));
      places.push_back(from + i);
    }
    const std::vector<int64_t> numbers = values_->put(fresh);
    for (std::size_t i = 0; i < places.size(); ++i) ids[places[i]] = numbers[i];
  }
  for (const auto& [name, gone] : known) {
    values_->remove(name);
    has_new_values_ = has_new_values_ || !gone.stamp.empty();
  }
  for (std::vector<int64_t>& of_run : folders_) {
    for (int64_t& folder : of_run) folder = ids[static_cast<std::size_t>(folder)];
  }
}

std::set<std::string> RunIndex::keys(KeyOf of) const {
  return values_ ? values_->keys(of) : std::set<std::string>();
}

const RunColumn& RunIndex::column(KeyOf of, const std::string& key) const {
  const auto [found, is_new] = columns_.try_emplace({of, key});
  RunColumn& out = found->second;
  if (!is_new) return out;
  std::unordered_map<int64_t, KnownCell> by_folder;
  out.resize(runs_.size());
  if (!values_) return out;
  for (KnownCell& cell : values_->cells(of, key)) by_folder[cell.folder] = std::move(cell);
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
  if (file_.empty() || runs_.size() < least_) return;
  if (std::exchange(has_news_, false)) write(file_, data_);
  if (std::exchange(has_new_values_, false)) write(values_file(file_), *values_);
}

void RunIndex::write(const fs::path& file, IndexTables& tables) const {
  try {
    fs::create_directories(file.parent_path());
    if (!fs::exists(file)) remove_old(file.parent_path(), file_.stem().string());
    write_guarded(file, tables.bytes(), true);
  } catch (const std::exception&) {
    return;  // no room, or another's folder: the next list reads the runs again
  }
}

}  // namespace kdgat
