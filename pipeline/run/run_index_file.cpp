#include "pipeline/run/run_index_file.h"

#include <cstring>
#include <stdexcept>
#include <type_traits>

#include "pipeline/system/hash.h"

namespace kdgat {
namespace {

/// To be raised whenever what is written, or read of a run, changes.
constexpr std::string_view kMagic = "kdgat runs index, form 2\n";
constexpr std::size_t kHashLength = 32;

/// Appends values; texts by their numbers in a pool of its own.
class IndexWriter {
 public:
  explicit IndexWriter(const TextPool& from) : from_(from) {}

  template <class T>
  void number(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    body_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void text(const std::string& value) { number(pool_.id_of(value)); }
  void path(const std::filesystem::path& value) { text(value.string()); }
  void pooled(const uint32_t& id) { text(from_.text(id)); }
  template <class T, class Each>
  void list(const std::vector<T>& values, Each each) {
    number(static_cast<uint32_t>(values.size()));
    for (const T& value : values) each(value);
  }
  template <class T, class Each>
  void maybe(const std::optional<T>& value, Each each) {
    number(static_cast<uint8_t>(value.has_value()));
    if (value) each(*value);
  }

  std::string take() const {
    std::string out(kMagic);
    const auto add = [&](std::size_t size) {
      const auto value = static_cast<uint32_t>(size);
      out.append(reinterpret_cast<const char*>(&value), sizeof value);
    };
    add(pool_.size());
    for (uint32_t id = 0; id < pool_.size(); ++id) {
      add(pool_.text(id).size());
      out += pool_.text(id);
    }
    out += body_;
    return out + hash_text(out);
  }

 private:
  const TextPool& from_;
  TextPool pool_;
  std::string body_;
};

/// Reads what IndexWriter wrote. Throws std::out_of_range where the bytes end before that.
class IndexReader {
 public:
  IndexReader(std::string_view bytes, TextPool& pool) : left_(bytes), pool_(pool) {
    uint32_t count = 0;
    number(count);
    for (; count > 0; --count) {
      uint32_t size = 0;
      number(size);
      pool_.id_of(take(size));
    }
  }

  template <class T>
  void number(T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
  }
  void text(std::string& value) {
    uint32_t id = 0;
    number(id);
    value = pool_.text(id);
  }
  void path(std::filesystem::path& value) {
    std::string name;
    text(name);
    if (!name.empty()) value = name;
  }
  void pooled(uint32_t& id) {
    number(id);
    pool_.text(id);  // or throws
  }
  template <class T, class Each>
  void list(std::vector<T>& values, Each each) {
    uint32_t count = 0;
    number(count);
    if (count > left_.size()) throw std::out_of_range("index");
    values.resize(count);
    for (T& value : values) each(value);
  }
  template <class T, class Each>
  void maybe(std::optional<T>& value, Each each) {
    uint8_t is_there = 0;
    number(is_there);
    if (is_there != 0) each(value.emplace());
  }
  bool is_at_end() const { return left_.empty(); }

 private:
  std::string_view take(std::size_t size) {
    if (size > left_.size()) throw std::out_of_range("index");
    const std::string_view out = left_.substr(0, size);
    left_.remove_prefix(size);
    return out;
  }

  std::string_view left_;
  TextPool& pool_;
};

// What is written of each, in both directions. `Of` is const where it is written.

template <class Archive, class Of>
void stamp(Archive& to, Of& one) {
  to.number(one.modified);
  to.number(one.changed);
  to.number(one.size);
  to.number(one.inode);
}

template <class Archive, class Of>
void option_cells(Archive& to, Of& cells) {
  to.list(cells, [&](auto& cell) {
    to.pooled(cell.key);
    to.pooled(cell.value);
  });
}

template <class Archive, class Of>
void step_record(Archive& to, Of& step) {
  for (auto* text :
       {&step.step, &step.stage, &step.status, &step.reason, &step.error, &step.made_by}) {
    to.text(*text);
  }
  to.path(step.folder);
  to.number(step.seconds);
  to.number(step.peak_bytes);
}

template <class Archive, class Of>
void run_record(Archive& to, Of& run) {
  for (auto* text : {&run.id, &run.dataset, &run.profile, &run.host, &run.version, &run.command,
                     &run.device, &run.cpu, &run.gpu, &run.libtorch, &run.started, &run.finished,
                     &run.state, &run.headline, &run.labels.name}) {
    to.text(*text);
  }
  to.list(run.labels.tags, [&](auto& tag) { to.text(tag); });
  to.number(run.threads);
  to.maybe(run.exit_code, [&](auto& code) { to.number(code); });
  to.maybe(run.bytes, [&](auto& bytes) { to.number(bytes); });
  to.list(run.steps, [&](auto& step) { step_record(to, step); });
}

template <class Archive, class Of>
void step_cells(Archive& to, Of& cells) {
  to.text(cells.step);
  stamp(to, cells.config);
  stamp(to, cells.metrics);
  option_cells(to, cells.options);
  to.list(cells.figures, [&](auto& cell) {
    to.pooled(cell.key);
    to.pooled(cell.kind);
    to.number(cell.value);
  });
}

template <class Archive, class Of>
void index_entry(Archive& to, Of& entry) {
  stamp(to, entry.run_file);
  stamp(to, entry.labels_file);
  run_record(to, entry.record);
  option_cells(to, entry.options);
  to.maybe(entry.steps,
           [&](auto& steps) { to.list(steps, [&](auto& cells) { step_cells(to, cells); }); });
}

/// The magic word, and at the end the hash of all before it.
bool is_whole_index(std::string_view bytes) {
  if (bytes.size() < kMagic.size() + kHashLength || !bytes.starts_with(kMagic)) return false;
  const std::size_t end = bytes.size() - kHashLength;
  return hash_text(bytes.substr(0, end)) == bytes.substr(end);
}

}  // namespace

uint32_t TextPool::id_of(std::string_view text) {
  const auto found = ids_.find(text);
  if (found != ids_.end()) return found->second;
  const auto id = static_cast<uint32_t>(texts_.size());
  ids_.emplace(texts_.emplace_back(text), id);
  return id;
}

std::string index_bytes(const IndexContent& content) {
  IndexWriter out(content.texts);
  out.number(static_cast<uint32_t>(content.entries.size()));
  for (const auto& [key, entry] : content.entries) {
    out.text(key);
    index_entry(out, entry);
  }
  return out.take();
}

std::optional<IndexContent> read_index(std::string_view bytes) {
  if (!is_whole_index(bytes)) return std::nullopt;
  bytes.remove_prefix(kMagic.size());
  bytes.remove_suffix(kHashLength);
  IndexContent out;
  try {
    IndexReader in(bytes, out.texts);
    uint32_t count = 0;
    in.number(count);
    for (; count > 0; --count) {
      std::string key;
      in.text(key);
      index_entry(in, out.entries.emplace_hint(out.entries.end(), key, IndexEntry())->second);
    }
    if (!in.is_at_end()) return std::nullopt;
  } catch (const std::out_of_range&) {
    return std::nullopt;
  }
  return out;
}

}  // namespace kdgat
