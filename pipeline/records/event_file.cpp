#include "pipeline/records/event_file.h"

#include <array>
#include <bit>
#include <cstring>

namespace kdgat {
namespace {

/// Values of a field's key: its number and how it is coded (protobuf's wire types).
constexpr uint32_t kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5;

static_assert(std::endian::native == std::endian::little);

template <class T>
std::string little_endian(T value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

std::string varint(uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  return out + static_cast<char>(value);
}

std::string field_key(uint32_t field, uint32_t type) { return varint(field << 3 | type); }

std::string text_field(uint32_t field, std::string_view text) {
  return field_key(field, kBytes).append(varint(text.size())).append(text);
}

std::string event(double unix, int64_t step, const std::string& what) {
  constexpr uint32_t kWallTime = 1, kStep = 2;
  std::string out = field_key(kWallTime, kFixed64) + little_endian(unix);
  if (step != 0) out += field_key(kStep, kVarint) + varint(static_cast<uint64_t>(step));
  return out + what;
}

std::string framed(const std::string& data) {
  const auto masked = [](std::string_view bytes) {
    const uint32_t crc = crc32c(bytes);
    return little_endian((crc >> 15 | crc << 17) + 0xa282ead8U);
  };
  const std::string length = little_endian(static_cast<uint64_t>(data.size()));
  return length + masked(length) + data + masked(data);
}

}  // namespace

uint32_t crc32c(std::string_view bytes) {
  static const auto table = [] {
    std::array<uint32_t, 256> out{};
    for (uint32_t i = 0; i < out.size(); ++i) {
      uint32_t crc = i;
      for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (0x82f63b78U & (0U - (crc & 1)));
      out[i] = crc;
    }
    return out;
  }();
  uint32_t crc = ~0U;
  for (const char byte : bytes) crc = crc >> 8 ^ table[(crc ^ static_cast<uint8_t>(byte)) & 0xff];
  return ~crc;
}

std::string event_file_start(double unix) {
  constexpr uint32_t kVersion = 3;
  return framed(event(unix, 0, text_field(kVersion, "brain.Event:2")));
}

std::string scalars_record(std::span<const Point> points) {
  constexpr uint32_t kSummary = 5, kValue = 1, kTag = 1, kSimpleValue = 2;
  std::string summary;
  for (const Point& point : points) {
    summary += text_field(kValue, text_field(kTag, point.key) + field_key(kSimpleValue, kFixed32) +
                                      little_endian(static_cast<float>(point.value)));
  }
  return framed(event(points.front().unix, points.front().step, text_field(kSummary, summary)));
}

}  // namespace kdgat
