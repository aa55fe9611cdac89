// CStruct: a struct of C whose size is known when it is written: members in the order of their
// alignment.
#pragma once

#include <cstdint>
#include <string>

namespace kdgat::exporting {

class CStruct {
 public:
  /// `size`: bytes of one of `count` elements; `dims`: "", "[N]" or "[N][M]".
  void add(const std::string& type, const std::string& name, const std::string& dims, int64_t size,
           int64_t count, const std::string& comment) {
    text_ += "  " + type + " " + name + dims + "; /* " + comment + " */\n";
    bytes_ += size * count;
  }
  /// Fills up to a multiple of 8.
  void finish() {
    if (const int64_t missing = (8 - bytes_ % 8) % 8; missing > 0) {
      add("uint8_t", "unused", "[" + std::to_string(missing) + "]", 1, missing,
          "so that the size is the same everywhere");
    }
  }
  const std::string& text() const { return text_; }
  int64_t bytes() const { return bytes_; }

 private:
  std::string text_;
  int64_t bytes_ = 0;
};

}  // namespace kdgat::exporting
