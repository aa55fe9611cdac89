#include "graph/import.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>

#include "graph/can_log.h"
#include "graph/dataset_files.h"
#include "graph/log_windows.h"

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

/// Options that decide what the store holds; the others decide the split alone.
json store_options(const ImportOptions& options) {
  json all = dump_options(options);
  for (const char* key : {"split", "val_fraction", "test_fraction", "seed"}) all.erase(key);
  return all;
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
    for (const LogFile& file : files) {
      if (file.path != "-") bytes_total_ += static_cast<int64_t>(fs::file_size(file.path));
    }
    WindowBuilder windows(options_.window, options_.stride, options_.chunk_rows, data_, node_ids_);
    for (const LogFile& file : files) read_file(file, windows);
    if (graphs() == 0) {
      throw Error(ExitCode::kData, "no graph: a graph needs two rows", "",
                  files.front().path.string());
    }
    data_.vocabulary = vocabulary_.sorted();
    Vocabulary(data_.vocabulary).apply(node_ids_, data_);
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

SplitOptions split_options(const ImportOptions& options) {
  return {options.split, options.val_fraction, options.test_fraction, options.seed};
}

/// The store that stands at `path`, if it was made from the same input.
bool stands(const fs::path& path, const std::string& fingerprint) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return false;
  try {
    return GraphStore::open(path, true).options().value("input", "") == fingerprint;
  } catch (const Error&) {
    return false;  // damaged or of another version: made again
  }
}

}  // namespace

ImportReport import_logs(const fs::path& source, const fs::path& out, const ImportOptions& options,
                         const ImportProgress& progress, const std::function<bool()>& cancelled) {
  ImportReport report;
  const std::vector<LogFile> files =
      find_log_files(source, options.exclude, options.deduplicate, report.warnings);
  std::error_code failure;
  fs::create_directories(out, failure);
  if (failure)
    throw Error(ExitCode::kData, "cannot create " + out.string() + ": " + failure.message());
  const FolderLock lock(out);

  const fs::path store_path = out / "graphs.safetensors", split_path = out / "split.safetensors";
  const std::string fingerprint = fingerprint_of(files, store_options(options));
  report.reused = source != "-" && stands(store_path, fingerprint);
  if (!report.reused) {
    GraphStoreData data = Importer(options, progress, cancelled, report).read(files);
    data.options = store_options(options);
    data.options["input"] = fingerprint;
    write_graph_store(store_path, data);
  }
  const GraphStore store = GraphStore::open(store_path);
  write_split(split_path, make_split(store, split_options(options)));
  report.sources = store.sources();
  report.graphs = store.graphs();
  if (report.reused) {
    for (const Source& file : report.sources) report.rows += file.rows;
  }
  return report;
}

std::string import_fingerprint(const fs::path& source, const ImportOptions& options) {
  const fs::path store = fs::is_directory(source) ? source / "graphs.safetensors" : source;
  if (store.extension() == ".safetensors" && fs::exists(store))
    return GraphStore::open(store).content_hash();
  std::vector<Diagnostic> notes;
  return fingerprint_of(find_log_files(source, options.exclude, options.deduplicate, notes),
                        dump_options(options));
}

}  // namespace kdgat::graph
