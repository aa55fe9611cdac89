#include "engine/objective/teacher_cache.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>

namespace kdgat::objective {
namespace {

namespace fs = std::filesystem;

constexpr int kFormatVersion = 1;
constexpr int64_t kChunk = 512;  // graphs; small batches stay in the caches

int64_t nodes_of(const graph::GraphStore& store, int64_t id) {
  const auto g = static_cast<std::size_t>(id);
  return store.node_ptr()[g + 1] - store.node_ptr()[g];
}

/// Memory of an unlinked file: the outputs of a large data set must not count as the process's own.
class Scratch {
 public:
  Scratch(const fs::path& folder, int64_t bytes)
      : bytes_(static_cast<std::size_t>(std::max<int64_t>(bytes, 1))) {
    std::string name = (folder / "teacher.tmp.XXXXXX").string();
    const int fd = ::mkostemp(name.data(), O_CLOEXEC);
    if (fd >= 0) ::unlink(name.c_str());
    // Reserved now: writing to a mapping on a full disk would be a signal, not an error.
    const int error = fd < 0 ? errno : ::posix_fallocate(fd, 0, static_cast<off_t>(bytes_));
    void* memory = MAP_FAILED;
    if (error == 0) memory = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0) ::close(fd);
    if (memory == MAP_FAILED) {
      throw Error(ExitCode::kData,
                  "cannot keep the teacher's outputs in " + folder.string() + ": " +
                      std::strerror(error != 0 ? error : errno),
                  "free the space, or use teacher=resident");
    }
    data_ = static_cast<float*>(memory);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { ::munmap(data_, bytes_); }
  float* data() { return data_; }

 private:
  std::size_t bytes_;
  float* data_ = nullptr;
};

/// Row numbers of the graphs in the tensors of the cache.
struct Rows {
  std::vector<int64_t> graphs;       ///< ascending
  std::vector<int64_t> node_ptr{0};  ///< first node row of each, and the end
  std::vector<int64_t> position;     ///< of each graph of the store; -1 = not in the cache

  Rows(const graph::GraphStore& store, std::vector<int64_t> ids)
      : graphs(std::move(ids)), position(static_cast<std::size_t>(store.graphs()), -1) {
    std::sort(graphs.begin(), graphs.end());
    graphs.erase(std::unique(graphs.begin(), graphs.end()), graphs.end());
    for (const int64_t id : graphs) {
      position[static_cast<std::size_t>(id)] = static_cast<int64_t>(node_ptr.size()) - 1;
      node_ptr.push_back(node_ptr.back() + nodes_of(store, id));
    }
  }
  int64_t count(const TeacherTensor& t) const {
    return t.per_node ? node_ptr.back() : static_cast<int64_t>(graphs.size());
  }
  /// First row and number of rows of the graph at `at`.
  std::pair<int64_t, int64_t> of(const TeacherTensor& t, int64_t at) const {
    if (!t.per_node) return {at, 1};
    const auto i = static_cast<std::size_t>(at);
    return {node_ptr[i], node_ptr[i + 1] - node_ptr[i]};
  }
};

class CachedTeacher : public Teacher {
 public:
  CachedTeacher(file::SafetensorsFile file, std::vector<TeacherTensor> tensors, Rows rows,
                torch::Device device)
      : file_(std::move(file)),
        tensors_(std::move(tensors)),
        rows_(std::move(rows)),
        device_(device) {
    for (const TeacherTensor& t : tensors_) {
      values_.push_back(file_.require<float>(t.name, {rows_.count(t), t.width}));
    }
  }

  std::vector<torch::Tensor> outputs(const graph::GraphBatch& batch) override {
    std::vector<torch::Tensor> out;
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      const TeacherTensor& t = tensors_[i];
      const torch::Tensor rows = torch::empty({t.per_node ? batch.nodes : batch.graphs, t.width});
      float* to = rows.mutable_data_ptr<float>();
      for (int64_t g = 0; g < batch.graphs; ++g) {
        const auto [first, count] = rows_.of(t, position(batch.graph_id[g]));
        to = std::copy_n(values_[i].data() + first * t.width, count * t.width, to);
      }
      out.push_back(rows.to(device_));
    }
    return out;
  }
  std::vector<TeacherTensor> tensors() const override { return tensors_; }

 private:
  int64_t position(int64_t graph) const {
    const int64_t at = rows_.position.at(static_cast<std::size_t>(graph));
    if (at >= 0) return at;
    throw Error(ExitCode::kStageFailed,
                "graph " + std::to_string(graph) + " is not in the teacher's cache",
                "use teacher=resident");
  }

  file::SafetensorsFile file_;
  std::vector<TeacherTensor> tensors_;
  Rows rows_;
  torch::Device device_;
  std::vector<std::span<const float>> values_;
};

std::string key_of(const ModelTeacher& teacher, const graph::GraphStore& store, const Rows& rows) {
  std::string key = "version " + std::to_string(kFormatVersion) + ", F32, teacher " +
                    teacher.content_hash() + ", graphs " + store.content_hash() + " " +
                    file::hash_bytes(rows.graphs.data(), rows.graphs.size() * sizeof(int64_t));
  for (const TeacherTensor& t : teacher.tensors()) key += ", " + t.name;
  return key;
}

/// The file if it is whole and of this key.
std::optional<file::SafetensorsFile> open_cache(const fs::path& path, const std::string& key) {
  if (!fs::exists(path)) return std::nullopt;
  try {
    file::SafetensorsFile file = file::SafetensorsFile::open(path);
    const auto found = file.metadata().find("key");
    const bool same = found != file.metadata().end() && found->second == key;
    if (same && file::verify_hashes(file).empty()) return file;
  } catch (const Error&) {
    // Computed again: a cache is never worth failing for.
  }
  return std::nullopt;
}

void write_cache(const fs::path& path, const std::string& key, ModelTeacher& teacher,
                 const graph::GraphStore& store, const Rows& rows, const TeacherUse& use) {
  const std::vector<TeacherTensor> tensors = teacher.tensors();
  int64_t elements = 0;
  for (const TeacherTensor& t : tensors) elements += rows.count(t) * t.width;
  Scratch scratch(path.parent_path(), elements * static_cast<int64_t>(sizeof(float)));
  std::vector<float*> to;
  file::SafetensorsWriter writer;
  float* start = scratch.data();
  for (const TeacherTensor& t : tensors) {
    to.push_back(start);
    writer.add(t.name, file::DType::kF32, {rows.count(t), t.width}, start);
    start += rows.count(t) * t.width;
  }
  const auto total = static_cast<int64_t>(rows.graphs.size());
  graph::GraphBatch batch;
  for (int64_t at = 0; at < total; at += kChunk) {
    const auto some = std::span(rows.graphs)
                          .subspan(static_cast<std::size_t>(at),
                                   static_cast<std::size_t>(std::min(kChunk, total - at)));
    graph::gather(store, some, teacher.with_edge_attr(), batch);
    const std::vector<torch::Tensor> outputs = teacher.outputs(batch);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const torch::Tensor values = outputs[i].cpu().contiguous();
      to[i] = std::copy_n(values.const_data_ptr<float>(), values.numel(), to[i]);
    }
    if (use.progress) use.progress(at + static_cast<int64_t>(some.size()), total);
  }
  writer.metadata("key", key);
  writer.write(path, /*hashes=*/true);
}

}  // namespace

fs::path teacher_cache_file(const fs::path& folder) { return folder / "teacher.safetensors"; }

int64_t teacher_cache_bytes(const Teacher& teacher, const graph::GraphStore& store,
                            const std::vector<int64_t>& graphs) {
  const Rows rows(store, graphs);
  int64_t elements = 0;
  for (const TeacherTensor& t : teacher.tensors()) elements += rows.count(t) * t.width;
  return elements * static_cast<int64_t>(sizeof(float));
}

std::unique_ptr<Teacher> cache_teacher(ModelTeacher& teacher, const graph::GraphStore& store,
                                       const std::vector<int64_t>& graphs, const TeacherUse& use) {
  Rows rows(store, graphs);
  const fs::path path = teacher_cache_file(use.folder);
  const std::string key = key_of(teacher, store, rows);
  std::optional<file::SafetensorsFile> file = open_cache(path, key);
  if (!file) {
    write_cache(path, key, teacher, store, rows, use);
    file = file::SafetensorsFile::open(path);
  }
  return std::make_unique<CachedTeacher>(*std::move(file), teacher.tensors(), std::move(rows),
                                         use.device);
}

void clear_teacher_cache(const fs::path& folder) {
  if (!folder.empty()) fs::remove(teacher_cache_file(folder));
}

}  // namespace kdgat::objective
