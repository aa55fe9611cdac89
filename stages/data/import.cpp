#include "data/import.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "data/can/can_log.h"
#include "data/can/log_windows.h"
#include "data/dataset_files.h"
#include "data/ratings/ratings_import.h"
#include "data/ratings/ratings_store.h"
#include "data/space/spatial_import.h"
#include "data/texts/text_import.h"
#include "data/texts/text_store.h"

namespace kdgat::graph {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr int kImportVersion = 1;  // raised when the same logs would give another store

/// Locks the folder itself, so that imports to one place take turns and nothing is left behind.
class FolderLock {
 public:
  explicit FolderLock(const fs::path& folder)
      : fd_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    // A file system without locks is no reason to refuse: files are still written whole.
    if (fd_ >= 0) ::flock(fd_, LOCK_EX);
  }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  ~FolderLock() {
    if (fd_ >= 0) ::close(fd_);
  }

 private:
  int fd_;
};

constexpr const char* kSplitNames[] = {"split", "val_fraction", "test_fraction", "seed"};
constexpr const char* kFoldNames[] = {"folds", "fold"};
constexpr const char* kTextRuntime[] = {"build_memory_mb", "build_threads"};  // change no result

template <std::size_t kCount>
bool is_one_of(const char* const (&names)[kCount], const std::string& name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

bool has_split_inside(DataKind kind) {
  return kind == DataKind::kText || kind == DataKind::kRatings;
}

/// Options that decide what the store holds; the others decide the split alone, but where that is
/// in it.
json store_options(const ImportOptions& options, DataKind kind) {
  json all = import_identity(options, kind);
  if (has_split_inside(kind)) return all;
  for (const char* key : kSplitNames) all.erase(key);
  for (const char* key : kFoldNames) all.erase(key);
  return all;
}

/// What an import reads: logs, graphs in space, texts, or ratings.
struct Input {
  std::vector<LogFile> files;
  std::optional<SpatialInput> spatial;
  std::optional<TextInput> text;
  std::optional<RatingsInput> ratings;

  DataKind kind() const {
    if (spatial) return DataKind::kSpatial;
    if (ratings) return DataKind::kRatings;
    return text ? DataKind::kText : DataKind::kLogs;
  }
};

Input find_input(const fs::path& source, const ImportOptions& options,
                 std::vector<Diagnostic>& notes) {
  Input out;
  out.ratings = find_ratings_input(source, options);
  if (out.ratings) {
    out.files = out.ratings->files;
    return out;
  }
  out.spatial = find_spatial_input(source, options.format, options);
  if (!out.spatial) out.text = find_text_input(source, options, is_can_log, notes);
  if (out.text) {
    out.files = out.text->files;
    return out;
  }
  if (!out.spatial) {
    out.files = find_log_files(source, options.exclude, options.deduplicate, notes);
    return out;
  }
  out.files = out.spatial->files;
  if (const fs::path& labels = out.spatial->labels; !labels.empty()) {
    out.files.push_back({labels, "labels", "", ""});
  }
  return out;
}

json input_identity(const std::vector<LogFile>& files) {
  json out = json::array();
  for (const LogFile& file : files) {
    if (file.path == "-") continue;
    const auto written = fs::last_write_time(file.path).time_since_epoch().count();
    out.push_back({file.name, fs::file_size(file.path), written});
  }
  return out;
}

int64_t bytes_of(const std::vector<LogFile>& files) {
  int64_t bytes = 0;
  for (const LogFile& file : files) {
    if (file.path != "-") bytes += static_cast<int64_t>(fs::file_size(file.path));
  }
  return bytes;
}

std::string fingerprint_of(const std::vector<LogFile>& files, const json& options) {
  const std::string text =
      json{kImportVersion, kStoreFormatVersion, input_identity(files), options}.dump();
  return hash_bytes(text.data(), text.size());
}

/// All logs, in order, into `data`.
class Importer {
 public:
  Importer(const ImportOptions& options, const ImportProgress& progress,
           const std::function<bool()>& cancelled, ImportReport& report)
      : options_(options), progress_(progress), cancelled_(cancelled), report_(report) {
    data_.node_features = kWindowNodeFeatures;
    data_.edge_features = kWindowEdgeFeatures;
    data_.node_feature_names = node_feature_names();
    data_.edge_feature_names = edge_feature_names();
  }

  GraphStoreData read(const std::vector<LogFile>& files) {
    bytes_total_ = bytes_of(files);
    WindowBuilder windows(options_.window, options_.stride, options_.chunk_rows, data_, node_ids_);
    for (const LogFile& file : files) read_file(file, windows);
    if (graphs() == 0) {
      throw Error(ExitCode::kData, "no graph: a graph needs two rows", "",
                  files.front().path.string());
    }
    data_.sections.ids = {vocabulary_.sorted()};
    Vocabulary(data_.sections.ids->vocabulary).apply(node_ids_, data_);
    return std::move(data_);
  }

 private:
  void read_file(const LogFile& file, WindowBuilder& windows) {
    CanLog log(LineReader(file.path, cancelled_), options_.format, options_.strict);
    Source source{file.name, file.scenario, file.role, log.format(), 0, 0, graphs(), 0};
    windows.start(static_cast<int32_t>(data_.sources.size()));
    const bool trains = file.role == "train";
    CanFrame frame;
    while (log.next(frame)) {
      if (frame.label < 0 && options_.assume == "benign") frame.label = 0;
      if (trains) vocabulary_.insert(frame.id);
      add_frame(log, frame, windows);
      if ((log.rows() & 0x3fff) == 0) step(log.bytes_read());
    }
    windows.finish();
    if (log.rows() == 0) throw Error(ExitCode::kData, log.problems());
    bytes_done_ += log.bytes_read();
    step(0);
    source.rows = log.rows();
    source.malformed = log.malformed();
    source.graphs = graphs() - source.first_graph;
    for (Diagnostic& problem : log.problems()) report_.warnings.push_back(std::move(problem));
    report_.rows += source.rows;
    data_.sources.push_back(std::move(source));
  }

  void step(int64_t bytes) const {
    if (cancelled_ && cancelled_())
      throw Error(ExitCode::kInterrupted, "interrupted while importing");
    if (progress_) progress_(std::min(bytes_done_ + bytes, bytes_total_), bytes_total_);
  }

  int64_t graphs() const { return static_cast<int64_t>(data_.y.size()); }

  const ImportOptions& options_;
  const ImportProgress& progress_;
  const std::function<bool()>& cancelled_;
  ImportReport& report_;
  GraphStoreData data_;
  std::vector<uint32_t> node_ids_;
  IdSet vocabulary_;
  int64_t bytes_done_ = 0, bytes_total_ = 0;
};

/// Counts bytes up to their sum, for progress; throws once `cancelled`.
std::function<void(int64_t)> byte_counter(const std::vector<LogFile>& files,
                                          const ImportProgress& progress,
                                          const std::function<bool()>& cancelled) {
  return
      [&progress, &cancelled, total = bytes_of(files), done = int64_t{0}](int64_t bytes) mutable {
        if (cancelled && cancelled()) {
          throw Error(ExitCode::kInterrupted, "interrupted while importing");
        }
        done = std::min(done + bytes, total);
        if (progress) progress(done, total);
      };
}

void check_text_options(const ImportOptions& options) {
  if (options.window == ImportOptions().window) return;
  throw Error(ExitCode::kUsage, "window: of texts the words of a window are word_window",
              "word_window=" + std::to_string(options.window));
}

GraphStoreData read_spatial(const Input& input, const ImportOptions& options,
                            const ImportProgress& progress, const std::function<bool()>& cancelled,
                            ImportReport& report) {
  const SpatialImport import{*input.spatial, options, cancelled,
                             byte_counter(input.spatial->files, progress, cancelled),
                             report.warnings};
  GraphStoreData data = import_spatial(import);
  for (const Source& source : data.sources) report.rows += source.rows;
  return data;
}

/// The store that stands at `path`, if it was made from the same input.
bool stands(const fs::path& path, const std::string& fingerprint) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return false;
  try {
    if (RatingStore::is_store(path)) {
      return RatingStore::open(path).options().value("input", "") == fingerprint &&
             verify_hashes(SafetensorsFile::open(path)).empty();
    }
    if (TextStore::is_store(path)) {
      return TextStore::open(path).options().value("input", "") == fingerprint &&
             verify_hashes(SafetensorsFile::open(path)).empty();
    }
    return GraphStore::open(path, true).options().value("input", "") == fingerprint;
  } catch (const Error&) {
    return false;  // damaged or of another version: made again
  }
}

}  // namespace

std::vector<std::string> import_formats() {
  std::vector<std::string> out = log_format_choices();
  for (const char* other :
       {"swc", "superpixel", "spatial-graphs", "text", "label-text", "split-label-text", "text-csv",
        "class-folders", "ratings", "u-data", "ratings-csv"}) {
    out.emplace_back(other);
  }
  return out;
}

ImportReport import_logs(const fs::path& source, const fs::path& out, const ImportOptions& options,
                         const ImportProgress& progress, const std::function<bool()>& cancelled) {
  ImportReport report;
  const Input input = find_input(source, options, report.warnings);
  json made_with = store_options(options, input.kind());
  std::error_code failure;
  fs::create_directories(out, failure);
  if (failure)
    throw Error(ExitCode::kData, "cannot create " + out.string() + ": " + failure.message());
  const FolderLock lock(out);

  const fs::path store_path = out / "graphs.safetensors", split_path = out / "split.safetensors";
  const std::string fingerprint = fingerprint_of(input.files, made_with);
  report.reused = source != "-" && stands(store_path, fingerprint);
  if (has_split_inside(input.kind())) {
    made_with["input"] = fingerprint;
    if (!report.reused) {
      const auto done = byte_counter(input.files, progress, cancelled);
      if (input.text) {
        check_text_options(options);
        import_text({*input.text, options, cancelled, done}, made_with, store_path, report);
      } else {
        import_ratings({*input.ratings, options, done}, made_with, store_path, report);
      }
    }
    fs::remove(split_path, failure);  // of other data that stood here before
    report.sources = input.text ? TextStore::open(store_path).sources()
                                : RatingStore::open(store_path).sources();
    report.graphs = 1;
    for (const Source& file : report.sources) {
      if (input.text || file.role == "ratings") report.rows += file.rows;
    }
    return report;
  }
  if (!report.reused) {
    GraphStoreData data = input.spatial
                              ? read_spatial(input, options, progress, cancelled, report)
                              : Importer(options, progress, cancelled, report).read(input.files);
    data.options = made_with;
    data.options["input"] = fingerprint;
    write_graph_store(store_path, data);
  }
  const GraphStore store = GraphStore::open(store_path);
  write_split(split_path, make_split(store, options.split_options()));
  report.sources = store.sources();
  report.graphs = store.graphs();
  if (report.reused) {
    for (const Source& file : report.sources) report.rows += file.rows;
  }
  return report;
}

std::vector<Diagnostic> ImportOptions::validate() const {
  std::vector<Diagnostic> problems = SpatialOptions::validate();
  for (Diagnostic& problem : TextOptions::validate()) problems.push_back(std::move(problem));
  if (folds == 1) problems.push_back({"", "folds: 1 fold is no division", "0, or 2 and more"});
  if (folds > 0 && fold >= folds) {
    problems.push_back(
        {"", "fold: " + std::to_string(fold) + " is not below folds, " + std::to_string(folds),
         ""});
  }
  return problems;
}

json import_identity(const ImportOptions& options, DataKind kind) {
  const json spatial = dump_options(static_cast<const SpatialOptions&>(options));
  const json text = dump_options(static_cast<const TextOptions&>(options));
  const json ratings = dump_options(static_cast<const RatingsOptions&>(options));
  json out = dump_options(options);
  const auto matters = [&](const std::string& key) {
    if (kind == DataKind::kRatings) {
      return key == "format" || key == "strict" || key == "test_fraction" || key == "seed" ||
             ratings.contains(key);
    }
    if (ratings.contains(key)) return false;
    if (key == "format" || is_one_of(kSplitNames, key)) return true;
    if (kind == DataKind::kText) {
      return key == "label_column" || key == "strict" ||
             (text.contains(key) && !is_one_of(kTextRuntime, key));
    }
    if (text.contains(key)) return false;
    if (is_one_of(kFoldNames, key)) return options.folds > 0;
    return spatial.contains(key) == (kind == DataKind::kSpatial);
  };
  for (auto option = out.begin(); option != out.end();) {
    option = matters(option.key()) ? std::next(option) : out.erase(option);
  }
  return out;
}

std::string import_fingerprint(const fs::path& source, const ImportOptions& options) {
  const fs::path store = fs::is_directory(source) ? source / "graphs.safetensors" : source;
  if (store.extension() == ".safetensors" && fs::exists(store) && !is_spatial_graphs(store)) {
    if (RatingStore::is_store(store)) return RatingStore::open(store).content_hash();
    return TextStore::is_store(store) ? TextStore::open(store).content_hash()
                                      : GraphStore::open(store).content_hash();
  }
  std::vector<Diagnostic> notes;
  const Input input = find_input(source, options, notes);
  return fingerprint_of(input.files, import_identity(options, input.kind()));
}

}  // namespace kdgat::graph
