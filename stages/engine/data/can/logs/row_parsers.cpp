// One parser for each form of a log row. Each reads a line without allocating and says what is
// wrong.
#include "engine/data/can/logs/row_parsers.h"

#include "engine/data/can/frames/row_fields.h"

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

}  // namespace

const char* parse_table_row(const LogLayout& layout, std::string_view line, CanFrame& frame) {
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
  if (field == "R" || field == "T") {
    frame.label = field == "T" ? 1 : 0;
  } else {
    return "the flag is neither R nor T";
  }
  return fields.next(field) ? row::kManyFields : nullptr;
}

const char* parse_candump_row(const LogLayout& layout, std::string_view line, CanFrame& frame) {
  std::string_view rest = line;
  KDGAT_TRY(row::read_bracketed_time(row::word(rest), frame.time));
  const std::string_view interface = row::word(rest);
  if (interface.empty()) return row::kFewFields;
  std::string_view text = row::word(rest);
  const std::size_t hash = text.find('#');
  if (hash == std::string_view::npos) return "no # between id and payload";
  KDGAT_TRY(row::read_hex_id(text.substr(0, hash), frame));
  frame.extended = hash > 3;
  text.remove_prefix(hash + 1);
  if (!text.empty() && text.front() == '#') {  // FD: one digit of flags, then the payload
    frame.fd = true;
    if (text.size() < 2 || row::hex(text[1]) < 0) return "no flags digit after ##";
    text.remove_prefix(2);
  } else if (!text.empty() && (text.front() == 'R' || text.front() == 'r')) {
    frame.remote = true;
    if (text.size() > 2 || (text.size() == 2 && (text[1] < '0' || text[1] > '8')))
      return row::kBadLength;
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
    // candump -L may add the direction.
    const std::string_view direction = row::word(rest);
    if (!direction.empty() && direction != "R" && direction != "T") return row::kManyFields;
  }
  return row::trim(rest).empty() ? read_channel(layout, interface, frame) : row::kManyFields;
}

const char* parse_screen_row(const LogLayout& layout, std::string_view line, CanFrame& frame) {
  std::string_view rest = row::trim(line);
  frame.time = std::numeric_limits<double>::quiet_NaN();
  if (!rest.empty() && rest.front() == '(')
    KDGAT_TRY(row::read_bracketed_time(row::word(rest), frame.time));
  const std::string_view interface = row::word(rest);
  if (interface.empty()) return row::kFewFields;
  const std::string_view id = row::word(rest);
  KDGAT_TRY(row::read_hex_id(id, frame));
  frame.extended = id.size() > 3;
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
