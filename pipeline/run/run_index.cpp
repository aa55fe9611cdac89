#include "pipeline/run/run_index.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <ctime>
#include <exception>
#include <map>
#include <utility>

#include "pipeline/run/run_figures.h"
#include "pipeline/show/json_lookup.h"
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

/// All zero where there is no such file.
FileStamp stamp_at(int folder, const char* name) {
  struct stat about {};
  if (::fstatat(folder, name, &about, 0) != 0 || !S_ISREG(about.st_mode)) return {};
  return {nanoseconds(about.st_mtim), nanoseconds(about.st_ctim), about.st_size,
          static_cast<int64_t>(about.st_ino)};
}

OwnedFd open_folder(const fs::path& folder) {
  return OwnedFd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

/// Whether a file was left alone long enough for its stamp to tell it from what comes after.
bool is_settled(const FileStamp& stamp, int64_t read_at) {
  return std::max(stamp.modified, stamp.changed) + kYoung < read_at;
}

/// Texts of options and figures before they are numbers of a pool.
using ReadOptions = std::vector<std::pair<std::string, std::string>>;
struct ReadStep {
  std::string step;
  FileStamp config, metrics;
  ReadOptions options;
  std::vector<Figure> figures;
};

std::string key_of(const Figure& figure) {
  return figure.model + "." + (figure.part.empty() ? "" : figure.part + ".") + figure.name;
}

ReadStep read_cells(const std::string& step, const fs::path& folder) {
  ReadStep out;
  out.step = step;
  const OwnedFd at = open_folder(folder);
  out.config = stamp_at(at.get(), "config.json");
  out.metrics = stamp_at(at.get(), "metrics.json");
  const json config = read_json(folder / "config.json");
  if (const json& seed = below(config, "seed"); seed.is_number()) {
    out.options.emplace_back("seed", seed.dump());
  }
  for (const auto& [name, value] : below(config, "options").items()) {
    std::string key = step;
    key += ".";
    key += name;
    out.options.emplace_back(std::move(key),
                             value.dump(-1, ' ', false, json::error_handler_t::replace));
  }
  out.figures = figures_of_step(step, folder);
  return out;
}

/// Whether the files of the steps are those that were read.
bool is_same(const std::vector<StepCells>& known, const fs::path& run) {
  const OwnedFd folder = open_folder(run);
  return std::all_of(known.begin(), known.end(), [&](const StepCells& cells) {
    return stamp_at(folder.get(), (cells.step + "/config.json").c_str()) == cells.config &&
           stamp_at(folder.get(), (cells.step + "/metrics.json").c_str()) == cells.metrics;
  });
}

ReadOptions data_options(const RunRecord& run) {
  ReadOptions out;
  for (const auto& [name, value] : below(run.data, "options").items()) {
    out.emplace_back("data." + name, value.dump(-1, ' ', false, json::error_handler_t::replace));
  }
  if (const std::string path = word(run.data, "path"); !path.empty()) {
    out.emplace_back("data.path", json(path).dump(-1, ' ', false, json::error_handler_t::replace));
  }
  return out;
}

std::vector<OptionCell> pooled(const ReadOptions& options, TextPool& texts) {
  std::vector<OptionCell> out;
  out.reserve(options.size());
  for (const auto& [key, value] : options) out.push_back({texts.id_of(key), texts.id_of(value)});
  return out;
}

StepCells pooled(const ReadStep& read, TextPool& texts) {
  StepCells out{read.step, read.config, read.metrics, pooled(read.options, texts), {}};
  for (const Figure& figure : read.figures) {
    json kind = figure;
    kind.erase("value");
    out.figures.push_back({texts.id_of(key_of(figure)),
                           texts.id_of(kind.dump(-1, ' ', false, json::error_handler_t::replace)),
                           figure.value});
  }
  return out;
}

fs::path whole_path(const fs::path& path) { return fs::absolute(path).lexically_normal(); }

}  // namespace

struct RunIndex::Place {
  std::string key;
  fs::path folder;
  FileStamp run_file, labels_file;
};

int64_t RunIndex::system_now() {
  timespec time{};
  ::clock_gettime(CLOCK_REALTIME, &time);
  return nanoseconds(time);
}

RunIndex::RunIndex(fs::path root, Now now) : root_(std::move(root)), now_(std::move(now)) {
  if (const auto bytes = file_text(root_ / kIndexFile, kLargestIndex)) {
    if (auto known = read_index(*bytes)) content_ = std::move(*known);
  }
  read_runs(find_runs());
}

std::vector<RunIndex::Place> RunIndex::find_runs() const {
  std::vector<Place> places;
  std::error_code ignored;
  for (const auto& set : fs::directory_iterator(root_, ignored)) {
    const std::string dataset = set.path().filename().string();
    for (const auto& run : fs::directory_iterator(set.path(), ignored)) {
      places.push_back({dataset + "/" + run.path().filename().string(), run.path(), {}, {}});
    }
  }
  for_each_at_once(places.size(), [&](std::size_t i) {
    Place& place = places[i];
    place.run_file = stamp_at(AT_FDCWD, (place.folder / "run.json").c_str());
    if (place.run_file == FileStamp()) return;
    place.labels_file = stamp_at(AT_FDCWD, (place.folder / kLabelsFile).c_str());
  });
  std::erase_if(places, [](const Place& place) { return place.run_file == FileStamp(); });
  return places;
}

void RunIndex::read_runs(std::vector<Place> places) {
  std::map<std::string, IndexEntry> known = std::exchange(content_.entries, {});
  const std::size_t before = known.size();
  std::vector<IndexEntry> entries(places.size());
  std::vector<std::size_t> unknown;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto found = known.find(places[i].key);
    if (found != known.end() && found->second.run_file == places[i].run_file &&
        found->second.labels_file == places[i].labels_file) {
      entries[i] = std::move(found->second);
      RunRecord& run = entries[i].record;
      run.folder = places[i].folder;
      for (StepRecord& step : run.steps) {
        if (step.folder.empty()) step.folder = run.folder / step.step;
      }
    } else {
      unknown.push_back(i);
    }
  }
  std::vector<char> is_run(places.size(), 1), is_new(places.size(), 0);
  std::vector<ReadOptions> options(places.size());
  const int64_t began = now_();
  for_each_at_once(unknown.size(), [&](std::size_t at) {
    const std::size_t i = unknown[at];
    is_new[i] = 1;
    entries[i].run_file = places[i].run_file;
    entries[i].labels_file = places[i].labels_file;
    try {
      RunRecord& run = entries[i].record = read_run_file(places[i].folder);
      options[i] = data_options(run);
      run.data = run.requirements = run.git = nullptr;
    } catch (const std::exception&) {
      is_run[i] = 0;  // half of a run: nothing to list
    }
  });
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (is_run[i] != 0) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return entries[a].record.id > entries[b].record.id;
  });
  for (const std::size_t i : order) {
    IndexEntry& entry = entries[i];
    if (is_new[i] != 0) entry.options = pooled(options[i], content_.texts);
    const bool is_lasting = entry.record.exit_code && is_settled(entry.run_file, began) &&
                            is_settled(entry.labels_file, began);
    has_news_ = has_news_ || (is_new[i] != 0 && is_lasting);
    is_lasting_.push_back(is_lasting);
    keys_.push_back(places[i].key);
    runs_.push_back(entry.record);
    content_.entries[places[i].key] = std::move(entry);
  }
  has_news_ = has_news_ || before > order.size();
}

void RunIndex::read_values() {
  if (!values_.empty() || runs_.empty()) return;
  std::vector<char> is_stale(runs_.size(), 0);
  std::vector<std::vector<ReadStep>> read(runs_.size());
  const int64_t began = now_();
  for_each_at_once(runs_.size(), [&](std::size_t i) {
    const RunRecord& run = runs_[i];
    const IndexEntry& entry = content_.entries.at(keys_[i]);
    if (entry.steps && is_same(*entry.steps, run.folder)) return;
    is_stale[i] = 1;
    for (const StepRecord& step : run.steps) {
      if (!step.is_kept()) read[i].push_back(read_cells(step.step, step.folder));
    }
  });
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    if (is_stale[i] == 0) continue;
    std::vector<StepCells>& steps = content_.entries.at(keys_[i]).steps.emplace();
    bool is_lasting = is_lasting_[i];
    for (const ReadStep& step : read[i]) {
      steps.push_back(pooled(step, content_.texts));
      is_lasting = is_lasting && is_settled(step.config, began) && is_settled(step.metrics, began);
    }
    is_lasting_[i] = is_lasting;
    has_news_ = has_news_ || is_lasting;
  }
  join_values();
}

/// Kept steps have what the run that made them says, if it is one of these; else their files say
/// it.
void RunIndex::join_values() {
  std::map<std::string, std::size_t> by_folder;
  const bool has_kept = std::any_of(runs_.begin(), runs_.end(), [](const RunRecord& run) {
    return std::any_of(run.steps.begin(), run.steps.end(),
                       [](const StepRecord& step) { return step.is_kept(); });
  });
  for (std::size_t i = 0; has_kept && i < runs_.size(); ++i) {
    by_folder[whole_path(runs_[i].folder).string()] = i;
  }
  const auto cells_of = [&](const StepRecord& step, std::vector<StepCells>& outside) {
    const fs::path folder = whole_path(step.folder);
    if (const auto run = by_folder.find(folder.parent_path().string()); run != by_folder.end()) {
      for (const StepCells& cells : *content_.entries.at(keys_[run->second]).steps) {
        if (cells.step == folder.filename().string()) return &cells;
      }
    }
    outside = {pooled(read_cells(step.step, step.folder), content_.texts)};
    return const_cast<const StepCells*>(outside.data());
  };
  values_.resize(runs_.size());
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    const IndexEntry& entry = content_.entries.at(keys_[i]);
    RunValues& values = values_[i];
    values.options = entry.options;
    const auto add = [&](const StepCells& cells, std::size_t step) {
      values.options.insert(values.options.end(), cells.options.begin(), cells.options.end());
      values.figures.insert(values.figures.end(), cells.figures.begin(), cells.figures.end());
      values.step_of.resize(values.figures.size(), static_cast<uint32_t>(step));
    };
    auto own = entry.steps->begin();
    for (std::size_t at = 0; at < runs_[i].steps.size(); ++at) {
      const StepRecord& step = runs_[i].steps[at];
      std::vector<StepCells> outside;
      add(step.is_kept() ? *cells_of(step, outside) : *own++, at);
    }
  }
}

void RunIndex::save() {
  if (!has_news_) return;
  has_news_ = false;
  try {
    IndexContent lasting;
    std::swap(lasting.texts, content_.texts);
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      if (!is_lasting_[i]) continue;
      IndexEntry entry = content_.entries.at(keys_[i]);
      for (StepRecord& step : entry.record.steps) {
        if (step.folder == entry.record.folder / step.step) step.folder.clear();
      }
      lasting.entries.emplace(keys_[i], std::move(entry));
    }
    const std::string bytes = index_bytes(lasting);
    std::swap(lasting.texts, content_.texts);
    write_guarded(root_ / kIndexFile, bytes);
  } catch (const std::exception&) {
    return;  // another's root, or a full disk: the next list reads the runs again
  }
}

Figure figure_of(const FigureCell& cell, const TextPool& texts) {
  Figure out = json::parse(texts.text(cell.kind)).get<Figure>();
  out.value = cell.value;
  return out;
}

}  // namespace kdgat
