#include "engine/file/tar.h"

#include <algorithm>
#include <charconv>
#include <numeric>

#include "kdgat/error.h"

namespace kdgat::file {
namespace {

constexpr int64_t kLargestHeader = int64_t{1} << 20;  // no name is longer

/// A part of a header: up to its first zero byte.
std::string_view text_of(std::string_view part) { return part.substr(0, part.find('\0')); }

/// Digits in base 8 between spaces, or GNU's binary form; -1 where neither.
int64_t number_of(std::string_view part) {
  if ((static_cast<unsigned char>(part.front()) & 0x80) != 0) {
    uint64_t value = static_cast<unsigned char>(part.front()) & 0x3f;
    for (const char c : part.substr(1)) {
      if (value >> 48 != 0) return -1;
      value = value << 8 | static_cast<unsigned char>(c);
    }
    return static_cast<int64_t>(value);
  }
  part = text_of(part);
  const std::size_t begin = part.find_first_not_of(' ');
  if (begin == std::string_view::npos) return 0;
  part = part.substr(begin, part.find_last_not_of(' ') + 1 - begin);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value, 8);
  return error == std::errc() && end == part.data() + part.size() && value >= 0 ? value : -1;
}

int64_t padded(int64_t size) { return (size + 511) / 512 * 512; }

}  // namespace

bool TarReader::next() {
  skip(left_);
  left_ = 0;
  for (Block block; read_block(block);) {
    const std::string_view header(block.data(), block.size());
    if (std::all_of(header.begin(), header.end(), [](char c) { return c == '\0'; })) return false;
    // The sum of the header's bytes, those of the sum itself counted as spaces.
    int64_t sum = int64_t{8} * ' ';
    for (std::size_t i = 0; i < header.size(); ++i) {
      if (i < 148 || i >= 156) sum += static_cast<unsigned char>(header[i]);
    }
    if (number_of(header.substr(148, 8)) != sum) fail("a header differs from its checksum");
    int64_t size = number_of(header.substr(124, 12));
    if (size < 0) fail("a file has no size");
    const char type = header[156];
    if (type == 'L' || type == 'K' || type == 'x' || type == 'g') {
      if (size > kLargestHeader) fail("a header is too long");
      const std::string content = take(size);
      skip(padded(size) - size);
      if (type == 'L') long_name_ = text_of(content);
      if (type == 'x') read_pax(content);
      continue;
    }
    name_ = text_of(header.substr(0, 100));
    if (header.substr(257, 6) == std::string_view("ustar\0", 6) && header[345] != '\0') {
      name_ = std::string(text_of(header.substr(345, 155))) + "/" + name_;
    }
    if (!long_name_.empty()) name_ = std::move(long_name_);
    if (long_size_ >= 0) size = long_size_;
    long_name_.clear();
    long_size_ = -1;
    if (type != '0' && type != '\0' && type != '7') {
      if (type < '1' || type > '6') skip(padded(size));  // links and devices have no content
      continue;
    }
    size_ = size;
    left_ = padded(size);
    return true;
  }
  fail("it ends before its end mark");
}

std::string TarReader::content() {
  require_size();
  left_ -= size_;
  return take(size_);
}

std::function<std::size_t(char*, std::size_t)> TarReader::stream() {
  require_size();
  return [this, rest = size_](char* to, std::size_t room) mutable -> std::size_t {
    const auto piece = static_cast<std::size_t>(std::min(rest, static_cast<int64_t>(room)));
    if (piece == 0) return 0;
    const std::size_t bytes = bytes_.read(to, piece);
    if (bytes == 0) fail("it ends in the middle of " + name_);
    rest -= static_cast<int64_t>(bytes);
    left_ -= static_cast<int64_t>(bytes);
    return bytes;
  };
}

void TarReader::require_size() const {
  if (size_ <= largest_) return;
  throw Error(
      ExitCode::kData,
      name_ + " has " + std::to_string(size_) + " bytes, more than " + std::to_string(largest_),
      "a larger largest_member_mb", archive());
}

bool TarReader::read_block(Block& block) {
  std::size_t have = 0;
  while (have < block.size()) {
    const std::size_t bytes = bytes_.read(block.data() + have, block.size() - have);
    if (bytes == 0 && have == 0) return false;
    if (bytes == 0) fail("it ends in the middle");
    have += bytes;
  }
  return true;
}

std::string TarReader::take(int64_t size) {
  std::string out;
  while (static_cast<int64_t>(out.size()) < size) {
    // In pieces: a damaged size must not become an allocation.
    const std::size_t have = out.size();
    const auto piece =
        static_cast<std::size_t>(std::min(size - static_cast<int64_t>(have), int64_t{1} << 18));
    out.resize(have + piece);
    const std::size_t bytes = bytes_.read(out.data() + have, piece);
    if (bytes == 0) fail("it ends in the middle of " + (name_.empty() ? "a header" : name_));
    out.resize(have + bytes);
  }
  return out;
}

void TarReader::skip(int64_t size) {
  std::array<char, 1 << 14> buffer;
  while (size > 0) {
    const auto piece =
        static_cast<std::size_t>(std::min(size, static_cast<int64_t>(buffer.size())));
    const std::size_t bytes = bytes_.read(buffer.data(), piece);
    if (bytes == 0) fail("it ends in the middle of " + (name_.empty() ? "a header" : name_));
    size -= static_cast<int64_t>(bytes);
  }
}

/// Records "length key=value\n"; the length counts the whole record.
void TarReader::read_pax(const std::string& records) {
  std::string_view rest = records;
  while (!rest.empty()) {
    std::size_t length = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), length);
    const auto digits = static_cast<std::size_t>(end - rest.data());
    if (error != std::errc() || length < digits + 3 || length > rest.size() || *end != ' ' ||
        rest[length - 1] != '\n') {
      fail("a pax header is malformed");
    }
    const std::string_view record = rest.substr(digits + 1, length - digits - 2);
    const std::size_t equals = record.find('=');
    if (equals == std::string_view::npos) fail("a pax header is malformed");
    const std::string_view value = record.substr(equals + 1);
    if (record.substr(0, equals) == "path") long_name_ = value;
    if (record.substr(0, equals) == "size") {
      const auto [last, wrong] =
          std::from_chars(value.data(), value.data() + value.size(), long_size_);
      if (wrong != std::errc() || last != value.data() + value.size() || long_size_ < 0 ||
          long_size_ > int64_t{1} << 53) {
        fail("a pax header is malformed");
      }
    }
    rest.remove_prefix(length);
  }
}

void TarReader::fail(const std::string& reason) const {
  throw Error(ExitCode::kData, "cannot read " + archive() + ": damaged tar archive: " + reason);
}

}  // namespace kdgat::file
