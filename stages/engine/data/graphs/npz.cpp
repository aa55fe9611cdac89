#include "engine/data/graphs/npz.h"

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

#include "engine/arrays/index.h"
#include "engine/file/number_text.h"
#include "kdgat/error.h"

namespace kdgat::data {
namespace {

constexpr std::size_t kEndBytes = 22, kLocalBytes = 30, kCentralBytes = 46;
constexpr std::size_t kEnd64Bytes = 56, kLocator64Bytes = 20;
constexpr std::size_t kLongestComment = 0xFFFF;
constexpr uint64_t kMostRatio = 1032;       // of deflate
constexpr std::size_t kMostMembers = 4096;  // each is an array
constexpr uint16_t kStored = 0, kDeflated = 8;

/// Little-endian numbers at a place in some bytes; 0 past their end.
template <class T>
T number_at(std::string_view bytes, std::size_t place) {
  T out = 0;
  if (place > bytes.size() || bytes.size() - place < sizeof(T)) return out;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    out = static_cast<T>(
        out | static_cast<T>(static_cast<T>(static_cast<uint8_t>(bytes[place + i])) << (8 * i)));
  }
  return out;
}

struct ZipMember {
  std::string name;
  uint16_t flags = 0, method = 0;
  uint32_t crc = 0;
  uint64_t packed = 0, size = 0, at = 0;
};

/// The members of a zip archive by its directory at the end, and their bytes.
class ZipArchive {
 public:
  using ReadAt = std::function<bool(uint64_t at, char* to, std::size_t bytes)>;

  ZipArchive(std::string name, uint64_t bytes, ReadAt read)
      : name_(std::move(name)), bytes_(bytes), read_(std::move(read)) {
    read_directory();
  }

  const std::vector<ZipMember>& members() const { return members_; }
  std::string where(const ZipMember& member) const {
    return name_ + ": " + file::shown(member.name);
  }

  /// Unpacked, and as its checksum says.
  std::vector<std::byte> content(const ZipMember& member, std::size_t most) const {
    const auto refuse_member = [&](const std::string& why) {
      return Error(ExitCode::kData, where(member) + " " + why);
    };
    if ((member.flags & 1U) != 0) throw refuse_member("is encrypted");
    if (member.method != kStored && member.method != kDeflated) {
      throw Error(ExitCode::kData,
                  where(member) + " is packed by method " + std::to_string(member.method),
                  "numpy.savez and numpy.savez_compressed write what is read");
    }
    if (member.size > most) {
      throw Error(ExitCode::kData,
                  where(member) + " has " + std::to_string(member.size >> 20) +
                      " MiB, the limit is " + std::to_string(most >> 20),
                  "largest_member_mb sets the limit");
    }
    // So that no more memory is asked for than the file can fill.
    if (member.method == kStored ? member.size != member.packed
                                 : member.size / kMostRatio > member.packed) {
      throw refuse_member("cannot have the size that the archive says");
    }
    const std::string local = bytes_at(member.at, kLocalBytes);
    if (number_at<uint32_t>(local, 0) != 0x04034B50) throw damaged();
    const uint64_t begin =
        member.at + kLocalBytes + number_at<uint16_t>(local, 26) + number_at<uint16_t>(local, 28);
    const std::string packed = bytes_at(begin, member.packed);
    std::vector<std::byte> out(member.size);
    if (member.method == kStored) {
      std::memcpy(out.data(), packed.data(), packed.size());
    } else if (!inflated(packed, out)) {
      throw refuse_member("is damaged");
    }
    if (checksum(out) != member.crc) throw refuse_member("is damaged: its checksum differs");
    return out;
  }

 private:
  Error damaged() const {
    return {ExitCode::kData, name_ + ": not a whole zip archive, as .npz files are"};
  }

  std::string bytes_at(uint64_t at, uint64_t count) const {
    if (at > bytes_ || count > bytes_ - at) throw damaged();
    std::string out(count, '\0');
    if (!read_(at, out.data(), out.size())) throw damaged();
    return out;
  }

  void read_directory() {
    const uint64_t tail = std::min<uint64_t>(bytes_, kEndBytes + kLongestComment);
    const std::string end = bytes_at(bytes_ - tail, tail);
    const std::size_t found = end.rfind("PK\x05\x06");
    if (found == std::string::npos || end.size() - found < kEndBytes) throw damaged();
    uint64_t count = number_at<uint16_t>(end, found + 10);
    uint64_t size = number_at<uint32_t>(end, found + 12);
    uint64_t begin = number_at<uint32_t>(end, found + 16);
    const uint64_t end_at = bytes_ - tail + found;
    if (end_at >= kLocator64Bytes) {
      const std::string locator = bytes_at(end_at - kLocator64Bytes, kLocator64Bytes);
      if (number_at<uint32_t>(locator, 0) == 0x07064B50) {
        const std::string wide = bytes_at(number_at<uint64_t>(locator, 8), kEnd64Bytes);
        if (number_at<uint32_t>(wide, 0) != 0x06064B50) throw damaged();
        count = number_at<uint64_t>(wide, 32);
        size = number_at<uint64_t>(wide, 40);
        begin = number_at<uint64_t>(wide, 48);
      }
    }
    if (count > kMostMembers) {
      throw Error(ExitCode::kData, name_ + ": " + std::to_string(count) + " members, not arrays");
    }
    const std::string directory = bytes_at(begin, size);
    std::size_t place = 0;
    for (uint64_t m = 0; m < count; ++m) place = read_member(directory, place);
  }

  /// The place of the next.
  std::size_t read_member(const std::string& directory, std::size_t place) {
    if (place + kCentralBytes > directory.size() ||
        number_at<uint32_t>(directory, place) != 0x02014B50) {
      throw damaged();
    }
    ZipMember member;
    member.flags = number_at<uint16_t>(directory, place + 8);
    member.method = number_at<uint16_t>(directory, place + 10);
    member.crc = number_at<uint32_t>(directory, place + 16);
    member.packed = number_at<uint32_t>(directory, place + 20);
    member.size = number_at<uint32_t>(directory, place + 24);
    member.at = number_at<uint32_t>(directory, place + 42);
    const std::size_t name = number_at<uint16_t>(directory, place + 28);
    const std::size_t extra = number_at<uint16_t>(directory, place + 30);
    const std::size_t comment = number_at<uint16_t>(directory, place + 32);
    const std::size_t names = place + kCentralBytes;
    if (names + name + extra + comment > directory.size()) throw damaged();
    member.name = directory.substr(names, name);
    widen(member, std::string_view(directory).substr(names + name, extra));
    members_.push_back(std::move(member));
    return names + name + extra + comment;
  }

  /// Numbers that do not fit 32 bits stand in an extra field, in this order.
  static void widen(ZipMember& member, std::string_view extra) {
    constexpr uint64_t kElsewhere = 0xFFFFFFFF;
    while (extra.size() >= 4) {
      const std::size_t size = number_at<uint16_t>(extra, 2);
      if (number_at<uint16_t>(extra, 0) == 1) {
        std::size_t place = 4;
        for (uint64_t* value : {&member.size, &member.packed, &member.at}) {
          if (*value != kElsewhere) continue;
          *value = number_at<uint64_t>(extra, place);
          place += 8;
        }
        return;
      }
      extra.remove_prefix(std::min(extra.size(), 4 + size));
    }
  }

  /// Whether the packed bytes fill `out`, and no more.
  static bool inflated(const std::string& packed, std::vector<std::byte>& out) {
    z_stream stream{};
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return false;
    std::size_t read = 0, written = 0;
    int state = Z_OK;
    while (state == Z_OK) {
      constexpr std::size_t kMost = std::size_t{1} << 30;  // zlib counts in 32 bits
      const std::size_t in = std::min(packed.size() - read, kMost);
      const std::size_t room = std::min(out.size() - written, kMost);
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + read));
      stream.avail_in = static_cast<uInt>(in);
      std::byte none{};
      stream.next_out = reinterpret_cast<Bytef*>(room > 0 ? out.data() + written : &none);
      stream.avail_out = static_cast<uInt>(room);
      state = inflate(&stream, Z_NO_FLUSH);
      read += in - stream.avail_in;
      written += room - stream.avail_out;
    }
    inflateEnd(&stream);
    return state == Z_STREAM_END && written == out.size();
  }

  static uint32_t checksum(const std::vector<std::byte>& bytes) {
    uLong crc = ::crc32(0, nullptr, 0);
    for (std::size_t at = 0; at < bytes.size();) {
      const std::size_t part = std::min(bytes.size() - at, std::size_t{1} << 30);
      crc =
          ::crc32(crc, reinterpret_cast<const Bytef*>(bytes.data() + at), static_cast<uInt>(part));
      at += part;
    }
    return static_cast<uint32_t>(crc);
  }

  std::string name_;
  uint64_t bytes_;
  ReadAt read_;
  std::vector<ZipMember> members_;
};

/// The header of an array: a dictionary as Python writes it, of which three entries are read.
struct NpyHeader {
  std::string descr;
  bool is_fortran = false;
  std::vector<int64_t> shape;
  std::size_t begin = 0;  // of the data
};

/// What follows `key` in the dictionary, without blanks before it; empty where it is not there.
std::string_view after_key(std::string_view text, const std::string& key) {
  const std::size_t found = text.find("'" + key + "'");
  if (found == std::string_view::npos) return {};
  text.remove_prefix(found + key.size() + 2);
  const std::size_t value = text.find_first_not_of(": ");
  return value == std::string_view::npos ? std::string_view() : text.substr(value);
}

std::optional<std::vector<int64_t>> shape_in(std::string_view text) {
  if (!text.starts_with('(') || text.find(')') == std::string_view::npos) return std::nullopt;
  text = text.substr(1, text.find(')') - 1);
  std::vector<int64_t> out;
  while (true) {
    const std::size_t begin = text.find_first_not_of(", ");
    if (begin == std::string_view::npos) return out;
    text.remove_prefix(begin);
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || value < 0 || out.size() == 8) return std::nullopt;
    out.push_back(value);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  }
}

NpyHeader header_of(std::string_view content, const std::string& where) {
  const auto refuse_array = [&] {
    return Error(ExitCode::kData, where + " is not an array of numpy");
  };
  if (!content.starts_with("\x93NUMPY") || content.size() < 10) throw refuse_array();
  const bool is_short = content[6] == 1;
  NpyHeader out;
  const std::size_t from = is_short ? 10 : 12;
  const std::size_t length =
      is_short ? number_at<uint16_t>(content, 8) : number_at<uint32_t>(content, 8);
  if (content.size() < from || length > content.size() - from) throw refuse_array();
  out.begin = from + length;
  const std::string_view text = content.substr(from, length);
  const std::string_view descr = after_key(text, "descr");
  if (!descr.starts_with('\'')) {
    throw Error(ExitCode::kData, where + " is an array of records, not of numbers");
  }
  out.descr = descr.substr(1, descr.find('\'', 1) - 1);
  out.is_fortran = after_key(text, "fortran_order").starts_with("True");
  const auto shape = shape_in(after_key(text, "shape"));
  if (!shape) throw refuse_array();
  out.shape = *shape;
  return out;
}

/// Product of a shape times `width`; nothing where it does not fit.
std::optional<std::size_t> bytes_of_shape(const std::vector<int64_t>& shape, std::size_t width) {
  std::size_t out = width;
  for (const int64_t size : shape) {
    if (__builtin_mul_overflow(out, arrays::at(size), &out)) return std::nullopt;
  }
  return out;
}

std::optional<file::DType> dtype_named(const std::string& descr) {
  constexpr std::pair<const char*, file::DType> kTypes[] = {
      {"<f4", file::DType::kF32}, {"<f8", file::DType::kF64}, {"<f2", file::DType::kF16},
      {"<i8", file::DType::kI64}, {"<i4", file::DType::kI32}, {"<i2", file::DType::kI16},
      {"|i1", file::DType::kI8},  {"|u1", file::DType::kU8},  {"|b1", file::DType::kBool}};
  for (const auto& [name, type] : kTypes) {
    if (descr == name) return type;
  }
  return std::nullopt;
}

/// From columns one behind the other to rows. Elements of `width` bytes.
std::vector<std::byte> as_rows(const std::byte* from, const std::vector<int64_t>& shape,
                               std::size_t width) {
  const std::size_t rows = arrays::at(shape[0]), columns = arrays::at(shape[1]);
  std::vector<std::byte> out(rows * columns * width);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) {
      std::memcpy(out.data() + (r * columns + c) * width, from + (c * rows + r) * width, width);
    }
  }
  return out;
}

/// A code point as UTF-8; nothing where it is none.
bool append_utf8(std::string& out, uint32_t code) {
  if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return false;
  const auto put = [&](uint32_t byte) { out += static_cast<char>(byte); };
  const auto put_tail = [&](int bits) {
    for (; bits >= 0; bits -= 6) put(0x80U | ((code >> bits) & 0x3FU));
  };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0U | (code >> 6));
    put_tail(0);
  } else if (code < 0x10000) {
    put(0xE0U | (code >> 12));
    put_tail(6);
  } else {
    put(0xF0U | (code >> 18));
    put_tail(12);
  }
  return true;
}

/// An array of texts of `letters` code points each, filled up with 0.
std::optional<std::vector<std::string>> texts_in(std::string_view data, std::size_t letters) {
  std::vector<std::string> out;
  for (std::size_t at = 0; letters > 0 && at < data.size(); at += 4 * letters) {
    std::string& text = out.emplace_back();
    for (std::size_t i = 0; i < letters; ++i) {
      const auto code = number_at<uint32_t>(data, at + 4 * i);
      if (code == 0) break;
      if (!append_utf8(text, code)) return std::nullopt;
    }
  }
  return out;
}

}  // namespace

void NpzFile::add(const std::string& member, std::vector<std::byte> content,
                  const std::string& where) {
  const std::string_view bytes(reinterpret_cast<const char*>(content.data()), content.size());
  const NpyHeader header = header_of(bytes, where);
  const std::string name = member.substr(0, member.size() - 4);
  const std::string_view data = bytes.substr(header.begin);
  const auto require_size = [&](std::size_t width) {
    if (bytes_of_shape(header.shape, width) == data.size()) return;
    throw Error(ExitCode::kData, where + " has " + std::to_string(data.size()) +
                                     " bytes of data, which is not what its shape says");
  };
  if (header.descr.starts_with("<U")) {
    const double letters = file::number_in(header.descr.substr(2)).value_or(-1);
    if (!(letters >= 0 && letters <= 4096)) {
      throw Error(ExitCode::kData, where + " holds texts that are too long");
    }
    require_size(4 * static_cast<std::size_t>(letters));
    auto texts = texts_in(data, static_cast<std::size_t>(letters));
    if (!texts) throw Error(ExitCode::kData, where + " holds what is no letter");
    texts_[name] = std::move(*texts);
    return;
  }
  const auto type = dtype_named(header.descr);
  if (!type) {
    throw Error(ExitCode::kData, where + " is of the type " + file::shown(header.descr),
                header.descr.find('O') != std::string::npos
                    ? "arrays of objects are not read: numbers or texts are"
                    : "read are <f4 <f8 <i4 <i8 and texts, as they are by themselves on most "
                      "machines: array.astype(...)");
  }
  require_size(file::dtype_size(*type));
  std::vector<std::byte> values;
  const auto* from = reinterpret_cast<const std::byte*>(data.data());
  if (header.is_fortran && header.shape.size() > 1) {
    if (header.shape.size() != 2) {
      throw Error(ExitCode::kData, where + " has more than two dimensions, in Fortran's order");
    }
    values = as_rows(from, header.shape, file::dtype_size(*type));
  } else {
    values.assign(from, from + data.size());
  }
  const auto kept = std::make_shared<const std::vector<std::byte>>(std::move(values));
  kept_.push_back(kept);
  file::TensorView view;
  view.dtype = *type;
  view.shape = header.shape;
  view.data = kept->data();
  view.bytes = kept->size();
  numbers_[name] = std::move(view);
}

namespace {

template <class Add>
void add_arrays(const ZipArchive& archive, std::size_t most_bytes, const Add& add) {
  for (const ZipMember& member : archive.members()) {
    if (!member.name.ends_with(".npy")) continue;
    add(member.name, archive.content(member, most_bytes), archive.where(member));
  }
}

}  // namespace

NpzFile NpzFile::open(const std::filesystem::path& path, std::size_t most_bytes) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(ExitCode::kData, path.string() + ": cannot be opened");
  NpzFile out;
  const auto read = [&](uint64_t at, char* to, std::size_t bytes) {
    file.clear();
    file.seekg(static_cast<std::streamoff>(at));
    file.read(to, static_cast<std::streamsize>(bytes));
    return file.gcount() == static_cast<std::streamsize>(bytes);
  };
  const ZipArchive archive(path.string(), std::filesystem::file_size(path), read);
  add_arrays(archive, most_bytes, [&](const auto&... one) { out.add(one...); });
  return out;
}

NpzFile NpzFile::parse(std::string_view bytes, const std::string& name, std::size_t most_bytes) {
  NpzFile out;
  const auto read = [&](uint64_t at, char* to, std::size_t count) {
    if (at > bytes.size() || count > bytes.size() - at) return false;
    std::memcpy(to, bytes.data() + at, count);
    return true;
  };
  const ZipArchive archive(name, bytes.size(), read);
  add_arrays(archive, most_bytes, [&](const auto&... one) { out.add(one...); });
  return out;
}

}  // namespace kdgat::data
