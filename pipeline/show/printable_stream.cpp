#include "pipeline/show/printable_stream.h"

#include <string>

namespace kdgat {

PrintableStream::PrintableStream(std::ostream& stream) : stream_(stream), to_(stream.rdbuf(this)) {}

PrintableStream::~PrintableStream() {
  if (holds_c2_) to_->sputc('\xC2');
  to_->pubsync();
  stream_.rdbuf(to_);
}

std::streambuf::int_type PrintableStream::overflow(int_type c) {
  if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
  const char one = traits_type::to_char_type(c);
  return PrintableStream::xsputn(&one, 1) == 1 ? c : traits_type::eof();
}

std::streamsize PrintableStream::xsputn(const char* text, std::streamsize size) {
  std::string out;
  out.reserve(static_cast<std::size_t>(size) + 1);
  for (std::streamsize i = 0; i < size; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (holds_c2_) {
      holds_c2_ = false;
      if (byte >= 0x80 && byte < 0xA0) {  // U+0080 to U+009F
        out += '?';
        continue;
      }
      out += '\xC2';
    }
    // Without the first byte of a character before it, a terminal of 8 bits takes 80 to 9F for
    // control characters.
    const bool is_next = byte >= 0x80 && byte < 0xC0;
    const bool is_alone = is_next && to_come_ == 0;
    if (is_next) to_come_ -= is_alone ? 0 : 1;
    if (!is_next) to_come_ = byte >= 0xF0 ? 3 : byte >= 0xE0 ? 2 : 0;
    if (byte == 0xC2) {
      holds_c2_ = true;
      continue;
    }
    if (byte >= 0xC3 && byte < 0xE0) to_come_ = 1;
    const bool is_control =
        byte == 0x7F || (byte < ' ' && byte != '\n' && byte != '\t') || (is_alone && byte < 0xA0);
    out += is_control ? '?' : text[i];
  }
  const auto whole = static_cast<std::streamsize>(out.size());
  return to_->sputn(out.data(), whole) == whole ? size : 0;
}

int PrintableStream::sync() { return to_->pubsync(); }

void write_control(std::ostream& to, std::string_view sequence) {
  const auto* guard = dynamic_cast<PrintableStream*>(to.rdbuf());
  std::streambuf* buffer = guard == nullptr ? to.rdbuf() : guard->to_;
  buffer->sputn(sequence.data(), static_cast<std::streamsize>(sequence.size()));
}

}  // namespace kdgat
