// ProtoWriter: the wire format of protocol buffers, field by field into a string. Knows the format
// and no message: which number a field has, and whether it repeats, its caller knows.
//
// A field is its key (number * 8 + wire type, as a varint) and a value: a varint of seven bits a
// byte, lowest first; four bytes; or a length and so many bytes, which are a text, a message or
// packed numbers.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace kdgat::exporting {

class ProtoWriter {
 public:
  /// A varint. Negative numbers take ten bytes, as int64 and enum fields have them.
  void integer(int field, int64_t value) {
    key(field, kVarint);
    varint(static_cast<uint64_t>(value));
  }
  /// Four bytes, lowest first.
  void real(int field, float value) {
    key(field, kFourBytes);
    const auto bits = std::bit_cast<uint32_t>(value);
    for (int shift = 0; shift < 32; shift += 8) bytes_ += static_cast<char>(bits >> shift & 0xFFU);
  }
  /// A string or bytes.
  void text(int field, std::string_view value) {
    key(field, kLength);
    varint(value.size());
    bytes_.append(value);
  }
  void message(int field, const ProtoWriter& value) { text(field, value.bytes_); }
  /// One field of packed varints; nothing for none.
  void packed(int field, std::span<const int64_t> values) {
    if (values.empty()) return;
    ProtoWriter inner;
    for (const int64_t value : values) inner.varint(static_cast<uint64_t>(value));
    message(field, inner);
  }

  const std::string& bytes() const { return bytes_; }
  std::string take() && { return std::move(bytes_); }

 private:
  enum WireType : uint64_t { kVarint = 0, kLength = 2, kFourBytes = 5 };

  void key(int field, WireType type) { varint(static_cast<uint64_t>(field) << 3 | type); }
  void varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

}  // namespace kdgat::exporting
