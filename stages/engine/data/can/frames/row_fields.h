// Words of the rows of text logs and what they say. Nothing here allocates; what is wrong is a
// constant text, nullptr if nothing is.
#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "engine/data/can/frames/can_frame.h"

namespace kdgat::data::row {

inline constexpr const char* kBadTime = "the time is not a number";
inline constexpr const char* kBadId = "the id is not hexadecimal";
inline constexpr const char* kFewFields = "too few fields";
inline constexpr const char* kManyFields = "too many fields";
inline constexpr const char* kBadPayload = "the payload is not hexadecimal";
inline constexpr const char* kOddPayload = "the payload has an odd number of digits";
inline constexpr const char* kLongPayload = "the payload is over 8 bytes";
inline constexpr const char* kLongFdPayload = "the payload is over 64 bytes";
inline constexpr const char* kBadLength = "the length does not agree with the payload";
inline constexpr const char* kManyChannels = "a ninth channel: a log may hold eight buses";
inline constexpr const char* kBadLabel =
    "the label is no class number: 0 is benign, 1 and more are attacks";

/// Compared by address, so each is one object. The second is no fault: a row of an error frame,
/// which is counted.
inline constexpr char kBigId[] = "the id is beyond 29 bits";
inline constexpr char kErrorFrame[] = "an error frame";

/// Bytes of a payload by its DLC.
inline constexpr std::array<uint8_t, 16> kFdLength = {0, 1,  2,  3,  4,  5,  6,  7,
                                                      8, 12, 16, 20, 24, 32, 48, 64};

constexpr std::array<int8_t, 256> hex_table() {
  std::array<int8_t, 256> table{};
  for (auto& value : table) value = -1;
  for (int c = 0; c < 10; ++c) table['0' + c] = static_cast<int8_t>(c);
  for (int c = 0; c < 6; ++c) table['a' + c] = table['A' + c] = static_cast<int8_t>(10 + c);
  return table;
}
inline constexpr std::array<int8_t, 256> kHex = hex_table();

inline int hex(char c) { return kHex[static_cast<unsigned char>(c)]; }

inline bool is_blank(char c) { return c == ' ' || c == '\t'; }

inline std::string_view trim(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

/// Walks over the fields between commas.
class Fields {
 public:
  explicit Fields(std::string_view line) : rest_(line) {}
  bool next(std::string_view& field) {
    if (done_) return false;
    const std::size_t comma = rest_.find(',');
    if (comma == std::string_view::npos) {
      field = trim(rest_);
      done_ = true;
    } else {
      field = trim(rest_.substr(0, comma));
      rest_.remove_prefix(comma + 1);
    }
    return true;
  }

 private:
  std::string_view rest_;
  bool done_ = false;
};

inline const char* read_time(std::string_view text, double& time) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), time);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(time) ? nullptr
                                                                                         : kBadTime;
}

inline const char* read_hex_id(std::string_view text, CanFrame& frame) {
  if (text.empty()) return kBadId;
  uint64_t id = 0;
  for (const char c : text) {
    const int digit = hex(c);
    if (digit < 0) return kBadId;
    id = id << 4 | static_cast<uint64_t>(digit);
    if (id >> 40 != 0) return kBigId;
  }
  if (id >= 1U << 29) return kBigId;
  frame.id = static_cast<uint32_t>(id);
  frame.extended = id >= 2048 || text.size() > 4;
  return nullptr;
}

inline bool read_decimal(std::string_view text, int64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

inline const char* read_decimal_id(std::string_view text, CanFrame& frame) {
  int64_t id = 0;
  if (!read_decimal(text, id) || id < 0) return "the id is not a number";
  if (id >= int64_t{1} << 29) return kBigId;
  frame.id = static_cast<uint32_t>(id);
  frame.extended = id >= 2048;
  return nullptr;
}

/// Of those beyond 8 bytes.
inline bool is_fd_length(std::size_t bytes) {
  return bytes > 8 && bytes <= 64 && (bytes == 12 || bytes == 20 || bytes == 24 || bytes % 16 == 0);
}

inline const char* read_hex_payload(std::string_view text, CanFrame& frame) {
  const std::size_t limit = frame.fd ? 64 : 8;
  if (text.size() % 2 != 0) return kOddPayload;
  if (text.size() > 2 * limit) return frame.fd ? kLongFdPayload : kLongPayload;
  for (std::size_t i = 0; i < text.size() / 2; ++i) {
    const int high = hex(text[2 * i]), low = hex(text[2 * i + 1]);
    if ((high | low) < 0) return kBadPayload;
    frame.payload[i] = static_cast<uint8_t>(high << 4 | low);
  }
  frame.length = static_cast<uint8_t>(text.size() / 2);
  return nullptr;
}

inline const char* read_label(std::string_view text, CanFrame& frame) {
  if (text == "0" || text == "0.0") {
    frame.label = 0;
  } else if (text == "1" || text == "1.0") {
    frame.label = 1;
  } else {
    return kBadLabel;
  }
  return nullptr;
}

inline bool same_word(std::string_view text, std::string_view lower) {
  if (text.size() != lower.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((text[i] | 0x20) != lower[i]) return false;
  }
  return true;
}

inline const char* read_truth(std::string_view text, bool& truth) {
  truth = same_word(text, "true") || text == "1";  // published logs mix both spellings
  return truth || same_word(text, "false") || text == "0" ? nullptr
                                                          : "the label is neither True nor False";
}

inline std::string_view word(std::string_view& rest) {
  const char* at = rest.data();
  const char* const end = at + rest.size();
  while (at != end && is_blank(*at)) ++at;
  const char* const begin = at;
  while (at != end && !is_blank(*at)) ++at;
  rest.remove_prefix(static_cast<std::size_t>(at - rest.data()));
  return {begin, static_cast<std::size_t>(at - begin)};
}

/// "(12.5)" at the start of candump lines.
inline const char* read_bracketed_time(std::string_view text, double& time) {
  if (text.size() < 3 || text.front() != '(' || text.back() != ')') return kBadTime;
  return read_time(text.substr(1, text.size() - 2), time);
}

}  // namespace kdgat::data::row

/// Returns what is wrong from the function around it.
#define KDGAT_TRY(call) \
  if (const char* fault = (call)) return fault
