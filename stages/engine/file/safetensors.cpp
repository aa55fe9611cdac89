#include "engine/file/safetensors.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <stdexcept>
#include <string_view>

#include "engine/file/safetensors_header.h"
#include "kdgat/atomic_file.h"

namespace kdgat::file {

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

namespace {

using nlohmann::json;

struct DTypeInfo {
  DType type;
  const char* name;
  std::size_t size;
};
constexpr std::array<DTypeInfo, 10> kDTypes = {{{DType::kU8, "U8", 1},
                                                {DType::kI8, "I8", 1},
                                                {DType::kI32, "I32", 4},
                                                {DType::kI64, "I64", 8},
                                                {DType::kF16, "F16", 2},
                                                {DType::kBF16, "BF16", 2},
                                                {DType::kF32, "F32", 4},
                                                {DType::kF64, "F64", 8},
                                                {DType::kBool, "BOOL", 1},
                                                {DType::kI16, "I16", 2}}};

const DTypeInfo& info(DType type) { return kDTypes.at(static_cast<std::size_t>(type)); }

std::string shape_text(const std::vector<int64_t>& shape) {
  std::string out = "[";
  for (const int64_t dim : shape) {
    out += (out.size() > 1 ? "," : "") + (dim < 0 ? std::string("?") : std::to_string(dim));
  }
  return out + "]";
}

/// Bytes of a tensor; nothing if a dimension is negative or the product overflows int64.
std::optional<std::size_t> byte_count(DType type, const std::vector<int64_t>& shape) {
  int64_t bytes = static_cast<int64_t>(dtype_size(type));
  for (const int64_t dim : shape) {
    if (dim < 0 || __builtin_mul_overflow(bytes, dim, &bytes)) return std::nullopt;
  }
  return static_cast<std::size_t>(bytes);
}

bool is_padding(const std::string& name) { return name.starts_with("_pad."); }

// ---- reading

struct Mapping {
  const std::byte* data = nullptr;
  std::size_t bytes = 0;
  Mapping() = default;
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() {
    if (data != nullptr) ::munmap(const_cast<std::byte*>(data), bytes);
  }
};

std::shared_ptr<const Mapping> map_file(const std::filesystem::path& path) {
  const auto fail = [&path](const char* what) {
    return Error(ExitCode::kData,
                 std::string(what) + " " + path.string() + ": " + std::strerror(errno));
  };
  // Not blocking: a pipe without a writer is refused like any other.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) throw fail("cannot open");
  struct Closer {
    int fd;
    ~Closer() { ::close(fd); }
  } closer{fd};
  struct stat status {};
  if (::fstat(fd, &status) != 0) throw fail("cannot read");
  if (!S_ISREG(status.st_mode)) {
    throw Error(ExitCode::kData, path.string() + ": not a regular file");
  }
  auto mapping = std::make_shared<Mapping>();
  if (status.st_size == 0) return mapping;
  void* data =
      ::mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ, MAP_SHARED, fd, 0);
  if (data == MAP_FAILED) throw fail("cannot map");
  mapping->data = static_cast<const std::byte*>(data);
  mapping->bytes = static_cast<std::size_t>(status.st_size);
  return mapping;
}

/// Why a file is refused; becomes an Error naming the file.
struct Malformed {
  std::string reason;
};

std::string_view header_text(std::span<const std::byte> bytes) {
  if (bytes.size() < 8) throw Malformed{"shorter than the 8 bytes of the header's length"};
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  if (length > kMaxHeader) throw Malformed{"header longer than 100 MB: not a safetensors file"};
  if (length > bytes.size() - 8) throw Malformed{"truncated within the header"};
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()) + 8, length);
  if (text.empty() || text.front() != '{') throw Malformed{"header does not start with '{'"};
  return text;
}

/// The header as JSON; nested no deeper than the format and without a key given twice.
json parse_header(std::string_view text) {
  constexpr int kMaxDepth = 3;  // {name: {"shape": [...]}}
  std::array<std::set<std::string>, kMaxDepth + 1> keys;
  const auto watch = [&keys](int depth, json::parse_event_t event, json& value) {
    if (depth > kMaxDepth) throw Malformed{"header is nested too deeply"};
    auto& seen = keys[static_cast<std::size_t>(depth)];
    if (event == json::parse_event_t::key && !seen.insert(value.get<std::string>()).second) {
      throw Malformed{"header names '" + value.get<std::string>() + "' twice"};
    }
    if (event == json::parse_event_t::object_start && depth < kMaxDepth) {
      keys[static_cast<std::size_t>(depth) + 1].clear();
    }
    return true;
  };
  try {
    return json::parse(text.begin(), text.end(), watch);
  } catch (const json::exception& e) {
    throw Malformed{std::string("header is not valid JSON: ") + e.what()};
  }
}

/// A count or offset: an integer in [0, 2^63).
int64_t count(const json& value, const std::string& name) {
  if (!value.is_number_unsigned() ||
      value.get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    throw Malformed{"tensor '" + name + "' has a dimension or offset that is not a count"};
  }
  return value.get<int64_t>();
}

struct Entry {
  int64_t begin, end;
  std::string name;
  TensorView view;
};

Entry parse_entry(const std::string& name, const json& fields) {
  if (!fields.is_object() || fields.size() != 3 || !fields.contains("dtype") ||
      !fields.contains("shape") || !fields.contains("data_offsets")) {
    throw Malformed{"tensor '" + name + "' needs exactly dtype, shape and data_offsets"};
  }
  const json& dtype = fields["dtype"];
  const json& shape = fields["shape"];
  const json& offsets = fields["data_offsets"];
  if (!dtype.is_string() || !shape.is_array() || !offsets.is_array() || offsets.size() != 2) {
    throw Malformed{"tensor '" + name + "' has a malformed dtype, shape or data_offsets"};
  }
  Entry entry{count(offsets[0], name), count(offsets[1], name), name, {}};
  const auto known = std::find_if(kDTypes.begin(), kDTypes.end(),
                                  [&dtype](const DTypeInfo& d) { return dtype == d.name; });
  if (known == kDTypes.end()) {
    throw Malformed{"tensor '" + name + "' has the unsupported dtype " + json_text(dtype)};
  }
  entry.view.dtype = known->type;
  for (const json& dim : shape) entry.view.shape.push_back(count(dim, name));
  const std::optional<std::size_t> bytes = byte_count(entry.view.dtype, entry.view.shape);
  if (!bytes || entry.begin > entry.end ||
      static_cast<std::size_t>(entry.end - entry.begin) != *bytes) {
    throw Malformed{"tensor '" + name + "' of shape " + shape_text(entry.view.shape) +
                    " does not fill its data_offsets"};
  }
  entry.view.bytes = *bytes;
  return entry;
}

}  // namespace

const char* dtype_name(DType type) { return info(type).name; }
std::size_t dtype_size(DType type) { return info(type).size; }

int64_t TensorView::elements() const { return static_cast<int64_t>(bytes / dtype_size(dtype)); }

void TensorView::wrong_type() const {
  throw Error(ExitCode::kData,
              std::string("a tensor of dtype ") + dtype_name(dtype) + " cannot be read as asked");
}

struct SafetensorsFile::Impl {
  std::filesystem::path path;
  std::shared_ptr<const void> mapping;
  std::string_view header;
  std::map<std::string, TensorView> tensors;
  std::map<std::string, std::string> metadata;
  std::vector<std::unique_ptr<std::byte[]>> copies;  // of misaligned tensors

  void parse(std::span<const std::byte> bytes);
};

void SafetensorsFile::Impl::parse(std::span<const std::byte> bytes) {
  header = header_text(bytes);
  const std::span<const std::byte> data = bytes.subspan(8 + header.size());
  const json fields = parse_header(header);
  std::vector<Entry> entries;
  for (const auto& [name, value] : fields.items()) {
    if (name != "__metadata__") {
      entries.push_back(parse_entry(name, value));
      continue;
    }
    if (!value.is_object()) throw Malformed{"__metadata__ is not an object"};
    for (const auto& [key, text] : value.items()) {
      if (!text.is_string()) throw Malformed{"metadata '" + key + "' is not a string"};
      metadata.emplace(key, text.get<std::string>());
    }
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  int64_t at = 0;
  for (Entry& entry : entries) {
    if (entry.begin != at) throw Malformed{"hole or overlap before tensor '" + entry.name + "'"};
    at = entry.end;
    if (static_cast<std::size_t>(at) > data.size()) {
      throw Malformed{"truncated within tensor '" + entry.name + "'"};
    }
    if (is_padding(entry.name)) continue;
    TensorView& view = entry.view;
    view.data = data.data() + entry.begin;
    if (reinterpret_cast<std::uintptr_t>(view.data) % dtype_size(view.dtype) != 0) {
      copies.emplace_back(new std::byte[view.bytes]);
      if (view.bytes > 0) std::memcpy(copies.back().get(), view.data, view.bytes);
      view.data = copies.back().get();
    }
    tensors.emplace(std::move(entry.name), std::move(view));
  }
  if (static_cast<std::size_t>(at) != data.size()) throw Malformed{"bytes after the last tensor"};
}

SafetensorsFile SafetensorsFile::load(std::span<const std::byte> bytes,
                                      const std::filesystem::path& path,
                                      std::shared_ptr<const void> mapping) {
  auto impl = std::make_shared<Impl>();
  impl->path = path;
  impl->mapping = std::move(mapping);
  try {
    impl->parse(bytes);
  } catch (const Malformed& malformed) {
    throw Error(ExitCode::kData, path.string() + ": " + malformed.reason);
  }
  SafetensorsFile file;
  file.impl_ = std::move(impl);
  return file;
}

SafetensorsFile SafetensorsFile::open(const std::filesystem::path& path) {
  const std::shared_ptr<const Mapping> mapping = map_file(path);
  return load({mapping->data, mapping->bytes}, path, mapping);
}

SafetensorsFile SafetensorsFile::parse(std::span<const std::byte> bytes, const std::string& name) {
  return load(bytes, name, nullptr);
}

const std::filesystem::path& SafetensorsFile::path() const { return impl_->path; }
const std::map<std::string, TensorView>& SafetensorsFile::tensors() const { return impl_->tensors; }
const std::map<std::string, std::string>& SafetensorsFile::metadata() const {
  return impl_->metadata;
}
bool SafetensorsFile::has(const std::string& name) const { return impl_->tensors.contains(name); }

const TensorView& SafetensorsFile::tensor(const std::string& name) const {
  const auto found = impl_->tensors.find(name);
  if (found == impl_->tensors.end()) {
    throw Error(ExitCode::kData, path().string() + ": no tensor '" + name + "'");
  }
  return found->second;
}

void SafetensorsFile::forget_pages() const {
  const auto* mapped = static_cast<const Mapping*>(impl_->mapping.get());
  if (mapped == nullptr || mapped->data == nullptr) return;
  ::madvise(const_cast<std::byte*>(mapped->data), mapped->bytes, MADV_DONTNEED);
}

std::shared_ptr<const void> SafetensorsFile::mapping() const { return impl_; }

std::string SafetensorsFile::header_hash() const {
  json header = parse_header(impl_->header);
  if (header.contains("__metadata__")) header["__metadata__"].erase(kHeaderHash);
  const std::string canonical = json_text(header);
  return hash_bytes(canonical.data(), canonical.size());
}

void SafetensorsFile::wrong_type(const std::string& name) const {
  throw Error(ExitCode::kData, path().string() + ": tensor '" + name +
                                   "' has an unexpected dtype, " + dtype_name(tensor(name).dtype));
}

void SafetensorsFile::check_shape(const std::string& name,
                                  const std::vector<int64_t>& shape) const {
  const std::vector<int64_t>& actual = tensor(name).shape;
  const bool same = std::equal(actual.begin(), actual.end(), shape.begin(), shape.end(),
                               [](int64_t have, int64_t want) { return want < 0 || have == want; });
  if (!same) {
    throw Error(ExitCode::kData, path().string() + ": tensor '" + name + "' has shape " +
                                     shape_text(actual) + " instead of " + shape_text(shape));
  }
}

std::vector<Diagnostic> verify_hashes(const SafetensorsFile& file) {
  std::vector<Diagnostic> out;
  const auto check = [&](const std::string& key, const std::string& what, const std::string& hash) {
    const auto stored = file.metadata().find(key);
    if (stored == file.metadata().end()) {
      out.push_back({file.path().string(), what + " has no hash", ""});
    } else if (stored->second != hash) {
      out.push_back({file.path().string(), what + " differs from its hash", ""});
    }
  };
  check(kHeaderHash, "the header", file.header_hash());
  for (const auto& [name, view] : file.tensors()) {
    check("hash." + name, "tensor '" + name + "'", hash_bytes(view.data, view.bytes));
  }
  return out;
}

// ---- writing

void SafetensorsWriter::add(std::string name, DType dtype, std::vector<int64_t> shape,
                            const void* data) {
  const std::optional<std::size_t> bytes = byte_count(dtype, shape);
  const bool taken = std::any_of(entries_.begin(), entries_.end(),
                                 [&name](const Entry& entry) { return entry.name == name; });
  if (!bytes || taken || is_padding(name) || name == "__metadata__") {
    throw std::logic_error("tensor '" + name + "' of shape " + shape_text(shape) +
                           " cannot be added");
  }
  entries_.push_back({std::move(name), dtype, std::move(shape), data, *bytes});
}

void SafetensorsWriter::check_filled(std::size_t elements) const {
  const Entry& entry = entries_.back();
  if (elements * dtype_size(entry.dtype) != entry.bytes) {
    throw std::logic_error("tensor '" + entry.name + "' has " + std::to_string(elements) +
                           " values for shape " + shape_text(entry.shape));
  }
}

void SafetensorsWriter::metadata(std::string key, std::string value) {
  metadata_.insert_or_assign(std::move(key), std::move(value));
}

void SafetensorsWriter::metadata(const std::map<std::string, std::string>& entries) {
  for (const auto& [key, value] : entries) metadata(key, value);
}

void SafetensorsWriter::write(const std::filesystem::path& path, bool hashes) const {
  AtomicFile file(path);
  write(file, hashes);
  file.commit();
}

void SafetensorsWriter::write(AtomicFile& file, bool hashes) const {
  std::vector<const Entry*> entries;
  entries.reserve(entries_.size());
  for (const Entry& entry : entries_) entries.push_back(&entry);
  if (!pads_) {
    std::stable_sort(entries.begin(), entries.end(), [](const Entry* a, const Entry* b) {
      return dtype_size(a->dtype) > dtype_size(b->dtype);
    });
  }
  std::vector<TensorPlace> places;
  places.reserve(entries.size());
  for (const Entry* entry : entries) {
    places.push_back({entry->name, entry->dtype, entry->shape, entry->bytes, 0, 0,
                      hashes ? hash_bytes(entry->data, entry->bytes) : ""});
  }
  place_tensors(places, pads_);
  file.write(header_bytes(places, metadata_, hashes, file.path().string()));
  static constexpr std::array<char, kTensorAlignment> kZeros{};
  for (std::size_t i = 0; i < entries.size(); ++i) {
    file.write(entries[i]->data, entries[i]->bytes);
    file.write(kZeros.data(), places[i].padding);
  }
}

}  // namespace kdgat::file
