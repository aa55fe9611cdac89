// CRTD, the text logs of Open Vehicles (OVMS). Layout: "CRTD CAN Log Format" of its documentation.
#include <algorithm>
#include <array>

#include "engine/data/can/frames/row_fields.h"
#include "engine/data/can/logs/forms/forms.h"
#include "engine/data/can/logs/forms/text_reader.h"

namespace kdgat::data {

using namespace row;

namespace {

using Say = Passed::Say;

struct RecordKind {
  std::string_view type;
  const char* name;
  Say say;
};
constexpr std::array<RecordKind, 4> kOtherRecords = {{{"CXX", "comments", Say::kWithOthers},
                                                      {"CEV", "events", Say::kWithOthers},
                                                      {"CMT", "metrics", Say::kWithOthers},
                                                      {"C", "messages", Say::kAlways}}};

/// "1R11" is of bus 1; without a number it is of the first.
struct RecordType {
  std::string_view bus, type;

  explicit RecordType(std::string_view word) {
    const std::size_t letters = std::min(word.find_first_not_of("0123456789"), word.size());
    bus = letters == 0 ? "1" : word.substr(0, letters);
    type = word.substr(letters);
  }
  bool is_frame() const { return type == "R11" || type == "R29" || type == "T11" || type == "T29"; }
  bool is_other() const { return type.size() == 3 && type.starts_with('C'); }
};

class CrtdReader : public TextReader {
 public:
  using TextReader::TextReader;
  const char* format() const override { return "crtd"; }

 protected:
  const char* read_line(std::string_view line, CanFrame& frame, bool& is_frame) override {
    std::string_view rest = row::trim(line);
    if (rest.empty()) return nullptr;
    KDGAT_TRY(row::read_time(row::word(rest), frame.time));
    const RecordType record(row::word(rest));
    if (record.is_other()) {
      count(record.type);
      return nullptr;
    }
    if (!record.is_frame()) return "a record that is neither R11, R29, T11, T29 nor a comment";
    KDGAT_TRY(row::read_hex_id(row::word(rest), frame));
    frame.extended = record.type.ends_with("29");
    frame.tx = record.type.starts_with('T');
    if (!frame.extended && frame.id >= 2048) return "an id beyond 11 bits in a record of 11 bits";
    for (std::string_view byte; !(byte = row::word(rest)).empty();) {
      if (frame.length == 8) return row::kLongPayload;
      if (byte.size() != 2 || (row::hex(byte[0]) | row::hex(byte[1])) < 0) return row::kBadPayload;
      frame.payload[frame.length++] =
          static_cast<uint8_t>(row::hex(byte[0]) << 4 | row::hex(byte[1]));
    }
    KDGAT_TRY(set_channel(record.bus, frame));
    is_frame = true;
    return nullptr;
  }

 private:
  void count(std::string_view type) {
    const auto fits = [type](const RecordKind& one) { return type.starts_with(one.type); };
    const auto kind = std::find_if(kOtherRecords.begin(), kOtherRecords.end(), fits);
    passed().count(kind->name, kind->say);
  }
};

}  // namespace

bool is_crtd(std::string_view head) {
  std::string_view rest = without_blanks(head);
  std::string_view line = next_line(rest);
  const std::string_view time = row::word(line);
  const RecordType record(row::word(line));
  const std::size_t point = time.find('.');
  double seconds = 0;
  return point != 0 && point != std::string_view::npos &&
         row::read_time(time, seconds) == nullptr && (record.is_frame() || record.is_other()) &&
         (line.empty() || row::is_blank(line.front()));
}

std::unique_ptr<FrameReader> open_crtd(file::ByteReader bytes) {
  return std::make_unique<CrtdReader>(std::move(bytes));
}

}  // namespace kdgat::data
