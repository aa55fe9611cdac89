// The last barrier before a terminal: names and texts come from files that others wrote, and no
// byte of them may steer it. Whoever shows a text need not remember to clean it. What the program
// itself sends to move the cursor or to colour goes through write_control().
#pragma once

#include <ostream>
#include <streambuf>
#include <string_view>

namespace kdgat {

/// Stands before the buffer of a stream while it lives, and writes '?' in the place of each control
/// character but line ends and tabs.
class PrintableStream : public std::streambuf {
 public:
  explicit PrintableStream(std::ostream& stream);
  PrintableStream(const PrintableStream&) = delete;
  PrintableStream& operator=(const PrintableStream&) = delete;
  ~PrintableStream() override;

 private:
  friend void write_control(std::ostream& to, std::string_view sequence);

  int_type overflow(int_type c) override;
  std::streamsize xsputn(const char* text, std::streamsize size) override;
  int sync() override;

  std::ostream& stream_;
  std::streambuf* to_;
  int to_come_ = 0;        ///< further bytes of a character whose first one went by
  bool holds_c2_ = false;  ///< the first byte of U+0080 to U+00BF, whose second is not here yet
};

/// Writes what steers a terminal, as it is.
void write_control(std::ostream& to, std::string_view sequence);

}  // namespace kdgat
