#include "engine/file/base64.h"

#include <algorithm>
#include <cstdint>

namespace kdgat::file {
namespace {

constexpr int kDigitBits = 6;
constexpr uint32_t kDigitMask = 63, kByteMask = 255;
constexpr std::size_t kBytes = 3, kDigits = 4;  // of a group

}  // namespace

std::string to_base64(std::span<const std::byte> bytes) {
  std::string out;
  out.reserve((bytes.size() + kBytes - 1) / kBytes * kDigits);
  for (std::size_t at = 0; at < bytes.size(); at += kBytes) {
    const std::size_t count = std::min(kBytes, bytes.size() - at);
    uint32_t group = 0;
    for (std::size_t i = 0; i < kBytes; ++i) {
      group = group << 8 | (i < count ? std::to_integer<uint32_t>(bytes[at + i]) : 0);
    }
    for (std::size_t d = 0; d < kDigits; ++d) {
      const auto shift = kDigitBits * static_cast<int>(kDigits - 1 - d);
      out += d <= count ? kBase64Digits[group >> shift & kDigitMask] : '=';
    }
  }
  return out;
}

std::optional<std::vector<std::byte>> from_base64(std::string_view text) {
  if (text.size() % kDigits != 0) return {};
  std::vector<std::byte> out;
  out.reserve(text.size() / kDigits * kBytes);
  for (std::size_t at = 0; at < text.size(); at += kDigits) {
    const bool is_last = at + kDigits == text.size();
    std::size_t count = kBytes;
    while (is_last && count > 1 && text[at + count] == '=') --count;
    uint32_t group = 0;
    for (std::size_t d = 0; d < kDigits; ++d) {
      const int digit = d <= count ? base64_digit(text[at + d]) : 0;
      if (digit < 0) return {};
      group = group << kDigitBits | static_cast<uint32_t>(digit);
    }
    for (std::size_t i = 0; i < kBytes; ++i) {
      const auto byte = static_cast<std::byte>(group >> (8 * (kBytes - 1 - i)) & kByteMask);
      if (i < count) {
        out.push_back(byte);
      } else if (byte != std::byte{0}) {
        return {};
      }
    }
  }
  return out;
}

}  // namespace kdgat::file
