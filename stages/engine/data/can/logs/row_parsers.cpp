// One parser for each form of a log row. Each reads a line without allocating and says what is
// wrong.
#include "engine/data/can/logs/row_parsers.h"

#include <optional>

#include "engine/data/can/frames/row_fields.h"
#include "engine/data/can/logs/can_columns.h"
#include "engine/data/can/logs/row_times.h"

namespace kdgat::data {

using namespace row;

namespace {

/// The last thing that is read of a row: a name in a row that is refused is no bus.
const char* read_channel(const LogLayout& layout, std::string_view name, CanFrame& frame) {
  if (layout.channels == nullptr) return nullptr;
  const int channel = layout.channels->number(name);
  if (channel < 0) return row::kManyChannels;
  frame.channel = static_cast<uint8_t>(channel);
  return nullptr;
}

/// "(12.5)" or "(2018-12-06 09:31:30.572475)" at the front of `rest`.
const char* read_candump_time(std::string_view& rest, CanFrame& frame) {
  const std::string_view first = row::word(rest);
  if (first.ends_with(')')) return row::read_bracketed_time(first, frame.time);
  const std::size_t end = rest.find(')');
  if (!first.starts_with('(') || end == std::string_view::npos) return row::kBadTime;
  const std::string_view whole(first.data() + 1,
                               static_cast<std::size_t>(rest.data() + end - first.data()) - 1);
  rest.remove_prefix(end + 1);
  return row::read_date_time(whole, frame.time);
}

/// Error frames have an id of eight digits with bit 29.
const char* read_candump_id(std::string_view text, CanFrame& frame) {
  const char* const fault = row::read_hex_id(text, frame);
  frame.extended = text.size() > 3;
  if (fault != row::kBigId || text.size() != 8) return fault;
  return text[0] == '2' || text[0] == '3' ? row::kErrorFrame : fault;
}

/// What may stand behind the payload: the direction (-x), then a label.
const char* read_candump_tail(std::string_view& rest, CanFrame& frame) {
  std::string_view text = row::word(rest);
  if (text == "R" || text == "T") {
    frame.tx = text == "T";
    text = row::word(rest);
  }
  if (text.empty()) return nullptr;
  const std::optional<int> label = known_label_word(text);
  if (!label) return row::kManyFields;
  frame.label = static_cast<int8_t>(*label);
  return nullptr;
}

}  // namespace

namespace {

/// A row of a plain table, as most of them are written.
const char* parse_plain_row(const LogLayout& layout, std::string_view line, CanFrame& frame) {
  std::string_view cells[8], field;
  row::Fields fields(line);
  int count = 0;
  while (fields.next(field)) {
    if (count == layout.columns || count == 8) return row::kManyFields;
    cells[count++] = field;
  }
  if (count < layout.columns) return row::kFewFields;
  KDGAT_TRY(row::read_time(cells[layout.column[0]], frame.time));
  KDGAT_TRY(row::read_hex_id(cells[layout.column[1]], frame));
  // This form has no mark for CAN FD: its longer payloads tell it.
  frame.fd = row::is_fd_length(cells[layout.column[2]].size() / 2);
  KDGAT_TRY(row::read_hex_payload(cells[layout.column[2]], frame));
  return layout.column[3] < 0 ? nullptr : row::read_label(cells[layout.column[3]], frame);
}

}  // namespace

const char* parse_table_row(const LogLayout& layout, std::string_view line, CanFrame& frame) {
  const char* const fault = parse_plain_row(layout, line, frame);
  if (fault == nullptr || !layout.table) return fault;
  frame = CanFrame();
  return layout.table->parse(line, layout.channels, frame);
}

const char* parse_hcrl_row(const LogLayout&, std::string_view line, CanFrame& frame) {
  row::Fields fields(line);
  std::string_view field;
  fields.next(field);
  KDGAT_TRY(row::read_time(field, frame.time));
  if (!fields.next(field)) return row::kFewFields;
  KDGAT_TRY(row::read_hex_id(field, frame));
  int64_t length = 0;
  if (!fields.next(field)) return row::kFewFields;
  if (!row::read_decimal(field, length) || length < 0) return row::kBadLength;
  if (length > 8) return row::kLongPayload;
  for (int64_t i = 0; i < length; ++i) {
    if (!fields.next(field)) return row::kFewFields;
    if (field.size() != 2 || (row::hex(field[0]) | row::hex(field[1])) < 0) return row::kBadPayload;
    frame.payload[static_cast<std::size_t>(i)] =
        static_cast<uint8_t>(row::hex(field[0]) << 4 | row::hex(field[1]));
  }
  frame.length = static_cast<uint8_t>(length);
  if (!fields.next(field)) return nullptr;  // attack-free logs may have no flag
  // Some tables fill each row up to eight bytes.
  std::string_view behind;
  for (; length < 8 && (field == "00" || field.empty()) && fields.next(behind); ++length) {
    field = behind;
  }
  if (field == "00" || field.empty()) return nullptr;  // filled up, and without a flag
  if (field == "R" || field == "0") {
    frame.label = 0;
  } else if (field == "T" || field == "1") {
    frame.label = 1;
  } else {
    return "the flag is neither R nor T";
  }
  return fields.next(field) ? row::kManyFields : nullptr;
}

const char* parse_can_table_row(const LogLayout& layout, std::string_view line, CanFrame& frame) {
  return layout.table->parse(line, layout.channels, frame);
}

const char* parse_hcrl_text_row(const LogLayout&, std::string_view line, CanFrame& frame) {
  std::string_view rest = line;
  if (row::word(rest) != "Timestamp:") return row::kFewFields;
  KDGAT_TRY(row::read_time(row::word(rest), frame.time));
  if (row::word(rest) != "ID:") return row::kFewFields;
  KDGAT_TRY(row::read_hex_id(row::word(rest), frame));
  const std::string_view bits = row::word(rest);  // remote, and two that are 0
  if (bits != "000" && bits != "100") return "the bits after the id are neither 000 nor 100";
  frame.remote = bits == "100";
  int64_t length = 0;
  if (row::word(rest) != "DLC:") return row::kFewFields;
  if (!row::read_decimal(row::word(rest), length) || length < 0) return row::kBadLength;
  if (length > 8) return row::kLongPayload;
  frame.remote_length = static_cast<uint8_t>(frame.remote ? length : 0);
  int64_t count = 0;
  for (std::string_view byte = row::word(rest); !byte.empty(); byte = row::word(rest)) {
    if (count == length) return row::kBadLength;
    if (byte.size() != 2 || (row::hex(byte[0]) | row::hex(byte[1])) < 0) return row::kBadPayload;
    frame.payload[static_cast<std::size_t>(count++)] =
        static_cast<uint8_t>(row::hex(byte[0]) << 4 | row::hex(byte[1]));
  }
  if (count != length && !(frame.remote && count == 0)) return row::kBadLength;
  if (frame.remote && count > 0) return "a remote frame with a payload";
  frame.length = static_cast<uint8_t>(count);
  return nullptr;
}

const char* parse_candump_row(const LogLayout& layout, std::string_view line, CanFrame& frame) {
  std::string_view rest = line;
  KDGAT_TRY(read_candump_time(rest, frame));
  const std::string_view interface = row::word(rest);
  if (interface.empty()) return row::kFewFields;
  std::string_view text = row::word(rest);
  const std::size_t hash = text.find('#');
  if (hash == std::string_view::npos) return "no # between id and payload";
  KDGAT_TRY(read_candump_id(text.substr(0, hash), frame));
  text.remove_prefix(hash + 1);
  if (!text.empty() && text.front() == '#') {  // FD: one digit of flags, then the payload
    frame.fd = true;
    if (text.size() < 2 || row::hex(text[1]) < 0) return "no flags digit after ##";
    frame.fd_flags = static_cast<uint8_t>(row::hex(text[1]));
    text.remove_prefix(2);
  } else if (!text.empty() && (text.front() == 'R' || text.front() == 'r')) {
    frame.remote = true;
    if (text.size() > 2 || (text.size() == 2 && (text[1] < '0' || text[1] > '8')))
      return row::kBadLength;
    if (text.size() == 2) frame.remote_length = static_cast<uint8_t>(text[1] - '0');
    text = {};
  }
  if (const std::size_t raw = text.find('_'); raw != std::string_view::npos && !frame.fd) {
    text = text.substr(0, raw);  // candump's raw DLC of classic frames
  }
  KDGAT_TRY(row::read_hex_payload(text, frame));
  if (layout.columns == 5) {  // crysys: injected and modified
    bool first = false, second = false;
    KDGAT_TRY(row::read_truth(row::word(rest), first));
    KDGAT_TRY(row::read_truth(row::word(rest), second));
    frame.label = first || second ? 1 : 0;
  } else {
    KDGAT_TRY(read_candump_tail(rest, frame));
  }
  return row::trim(rest).empty() ? read_channel(layout, interface, frame) : row::kManyFields;
}

const char* parse_screen_row(const LogLayout& layout, std::string_view line, CanFrame& frame) {
  std::string_view rest = row::trim(line);
  frame.time = std::numeric_limits<double>::quiet_NaN();
  if (!rest.empty() && rest.front() == '(') KDGAT_TRY(read_candump_time(rest, frame));
  const std::string_view interface = row::word(rest);
  if (interface.empty()) return row::kFewFields;
  std::string_view id = row::word(rest);
  if (id == "RX" || id == "TX") {  // candump -x: also BRS and ESI, each a letter or "-"
    frame.tx = id == "TX";
    const std::string_view brs = row::word(rest), esi = row::word(rest);
    if ((brs != "-" && brs != "B") || (esi != "-" && esi != "E")) return "no flags after RX or TX";
    frame.fd_flags = static_cast<uint8_t>((brs == "B" ? 1 : 0) | (esi == "E" ? 2 : 0));
    id = row::word(rest);
  }
  KDGAT_TRY(read_candump_id(id, frame));
  std::string_view text = row::word(rest);
  if (text.size() < 3 || text.front() != '[' || text.back() != ']')
    return "no [length] after the id";
  frame.fd = text.size() == 4;  // candump prints two digits for FD frames
  int64_t length = 0;
  text = text.substr(1, text.size() - 2);
  while (text.size() > 1 && text.front() == '0') text.remove_prefix(1);
  if (!row::read_decimal(text, length) || length < 0) return row::kBadLength;
  if (length > (frame.fd ? 64 : 8)) return frame.fd ? row::kLongFdPayload : row::kLongPayload;
  rest = row::trim(rest);
  if (rest.starts_with("remote request")) {
    frame.remote = true;
    frame.remote_length = static_cast<uint8_t>(length);
    return read_channel(layout, interface, frame);
  }
  for (int64_t i = 0; i < length; ++i) {
    const std::string_view byte = row::word(rest);
    if (byte.empty()) return row::kBadLength;
    if (byte.size() != 2 || (row::hex(byte[0]) | row::hex(byte[1])) < 0) return row::kBadPayload;
    frame.payload[static_cast<std::size_t>(i)] =
        static_cast<uint8_t>(row::hex(byte[0]) << 4 | row::hex(byte[1]));
  }
  frame.length = static_cast<uint8_t>(length);
  rest = row::trim(rest);
  // candump -a adds a column of ASCII.
  return rest.empty() || rest.front() == '\'' ? read_channel(layout, interface, frame)
                                              : row::kBadLength;
}

const char* parse_road_row(const LogLayout&, std::string_view line, CanFrame& frame) {
  row::Fields fields(line);
  std::string_view field;
  fields.next(field);
  frame.time = std::numeric_limits<double>::quiet_NaN();
  KDGAT_TRY(row::read_decimal_id(field, frame));
  for (std::size_t i = 0; i < 8; ++i) {
    int64_t byte = 0;
    if (!fields.next(field)) return row::kFewFields;
    if (!row::read_decimal(field, byte) || byte < 0 || byte > 255) return "a byte is not in 0..255";
    frame.payload[i] = static_cast<uint8_t>(byte);
  }
  frame.length = 8;
  if (!fields.next(field)) return row::kFewFields;
  KDGAT_TRY(row::read_label(field, frame));
  return fields.next(field) ? row::kManyFields : nullptr;
}

const char* parse_daga_row(const LogLayout&, std::string_view line, CanFrame& frame) {
  row::Fields fields(line);
  std::string_view cells[6], field;
  int count = 0;
  while (fields.next(field)) {
    if (count == 6) return row::kManyFields;
    cells[count++] = field;
  }
  if (count < 6) return row::kFewFields;
  KDGAT_TRY(row::read_time(cells[0], frame.time));
  // Rows the authors inserted carry their id as "290.0": the digits are hexadecimal all the same.
  if (cells[1].ends_with(".0")) cells[1].remove_suffix(2);
  KDGAT_TRY(row::read_hex_id(cells[1], frame));
  int64_t bits = 0;
  if (!row::read_decimal(cells[2], bits) || bits < 0) return row::kBadLength;
  KDGAT_TRY(row::read_hex_payload(cells[3], frame));
  if (bits != int64_t{8} * frame.length) return row::kBadLength;  // this form counts bits
  bool attack = false;
  KDGAT_TRY(row::read_truth(cells[5], attack));
  frame.label = attack ? 1 : 0;
  return nullptr;
}

const char* parse_otids_row(const LogLayout&, std::string_view line, CanFrame& frame) {
  row::Fields fields(line);
  std::string_view cells[13], field;
  int count = 0;
  while (fields.next(field)) {
    if (count == 13) return row::kManyFields;
    cells[count++] = field;
  }
  if (count < 13) return row::kFewFields;
  KDGAT_TRY(row::read_time(cells[0], frame.time));
  KDGAT_TRY(row::read_decimal_id(cells[1], frame));
  int64_t length = 0;
  if (!row::read_decimal(cells[3], length) || length < 0) return row::kBadLength;
  if (length > 8) return row::kLongPayload;
  for (int64_t i = 0; i < length; ++i) {
    int64_t byte = 0;
    if (!row::read_decimal(cells[4 + i], byte) || byte < 0 || byte > 255)
      return "a byte is not in 0..255";
    frame.payload[static_cast<std::size_t>(i)] = static_cast<uint8_t>(byte);
  }
  frame.length = static_cast<uint8_t>(length);
  // The published label column is wrong; the injected messages are those with id 0.
  frame.label = frame.id == 0 ? 1 : 0;
  return nullptr;
}

const char* parse_recan_row(const LogLayout& layout, std::string_view line, CanFrame& frame) {
  row::Fields fields(line);
  std::string_view cells[5], field;
  int count = 0;
  while (fields.next(field)) {
    if (count == 5) return row::kManyFields;
    cells[count++] = field;
  }
  if (count < 5) return row::kFewFields;
  KDGAT_TRY(row::read_time(cells[0], frame.time));
  KDGAT_TRY(row::read_hex_id(cells[2], frame));
  int64_t length = 0;
  if (!row::read_decimal(cells[3], length) || length < 0) return row::kBadLength;
  if (length > 8) return row::kLongPayload;
  if (static_cast<int64_t>(cells[4].size()) != 8 * length) return row::kBadLength;
  for (std::size_t i = 0; i < cells[4].size(); ++i) {
    const char bit = cells[4][i];
    if (bit != '0' && bit != '1') return "the payload is not binary";
    frame.payload[i / 8] = static_cast<uint8_t>(frame.payload[i / 8] << 1 | (bit - '0'));
  }
  frame.length = static_cast<uint8_t>(length);
  return read_channel(layout, cells[1], frame);
}

}  // namespace kdgat::data
