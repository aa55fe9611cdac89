// Bytes as text of 64 letters (RFC 4648, section 4), padded with '='.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kdgat::file {

inline constexpr std::string_view kBase64Digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// -1: no digit of base64.
inline int base64_digit(char c) {
  const std::size_t at = kBase64Digits.find(c);
  return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

std::string to_base64(std::span<const std::byte> bytes);
/// Nothing where `text` is not what to_base64() writes.
std::optional<std::vector<std::byte>> from_base64(std::string_view text);

}  // namespace kdgat::file
