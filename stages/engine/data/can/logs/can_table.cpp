#include "engine/data/can/logs/can_table.h"

#include <algorithm>
#include <initializer_list>
#include <limits>

#include "engine/data/can/frames/row_fields.h"
#include "engine/data/can/logs/cells.h"
#include "engine/data/can/logs/row_times.h"
#include "engine/file/base64.h"
#include "kdgat/text.h"

namespace kdgat::data {
namespace {

constexpr const char* kBadFlag = "a flag is neither true nor false";

/// "" reads as false: what a row does not say is not so.
const char* read_flag(std::string_view text, bool& flag) {
  if (text.empty()) return nullptr;
  if (text == "1" || row::same_word(text, "true") || row::same_word(text, "yes") ||
      row::same_word(text, "x")) {
    flag = true;
    return nullptr;
  }
  return text == "0" || row::same_word(text, "false") || row::same_word(text, "no") ? nullptr
                                                                                    : kBadFlag;
}

/// None: the word names no direction.
std::optional<bool> is_sent_word(std::string_view text) {
  const auto is_one_of = [text](std::initializer_list<const char*> words) {
    return std::any_of(words.begin(), words.end(),
                       [text](const char* word) { return row::same_word(text, word); });
  };
  if (is_one_of({"rx", "r", "receive", "received", "recv", "in", "incoming", "inbound", "i", "0",
                 "false"})) {
    return false;
  }
  if (is_one_of({"tx", "t", "txrq", "transmit", "transmitted", "send", "sent", "s", "out",
                 "outgoing", "outbound", "o", "1", "true"})) {
    return true;
  }
  return std::nullopt;
}

struct KindWord {
  std::string_view word;
  bool extended, standard, remote, error, fd;
};
constexpr std::array kKindWords = {KindWord{"extended", true, false, false, false, false},
                                   KindWord{"extend", true, false, false, false, false},
                                   KindWord{"ext", true, false, false, false, false},
                                   KindWord{"xtd", true, false, false, false, false},
                                   KindWord{"eff", true, false, false, false, false},
                                   KindWord{"standard", false, true, false, false, false},
                                   KindWord{"std", false, true, false, false, false},
                                   KindWord{"sff", false, true, false, false, false},
                                   KindWord{"data", false, false, false, false, false},
                                   KindWord{"can", false, false, false, false, false},
                                   KindWord{"remote", false, false, true, false, false},
                                   KindWord{"rtr", false, false, true, false, false},
                                   KindWord{"error", false, false, false, true, false},
                                   KindWord{"err", false, false, false, true, false},
                                   KindWord{"fd", false, false, false, false, true},
                                   KindWord{"canfd", false, false, false, false, true}};

/// Nullptr if no kind has this name.
const KindWord* kind_named(std::string_view word) {
  constexpr std::string_view kFrame = "frame";
  const std::string key = column_key(word);
  std::string_view name = key;
  if (name.ends_with(kFrame)) name.remove_suffix(kFrame.size());
  const auto* const found = std::find_if(kKindWords.begin(), kKindWords.end(),
                                         [&](const KindWord& one) { return name == one.word; });
  return found == kKindWords.end() ? nullptr : found;
}

const char* read_base64(std::string_view text, CanFrame& frame) {
  const std::size_t limit = frame.fd ? 64 : 8;
  if (text.size() % 4 != 0) return "the payload is no whole base64";
  for (int i = 0; i < 2 && text.ends_with('='); ++i) text.remove_suffix(1);
  uint32_t bits = 0, count = 0;
  std::size_t bytes = 0;
  for (const char c : text) {
    const int digit = file::base64_digit(c);
    if (digit < 0) return "the payload is not base64";
    bits = bits << 6 | static_cast<uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    if (bytes == limit) return frame.fd ? row::kLongFdPayload : row::kLongPayload;
    frame.payload[bytes++] = static_cast<uint8_t>(bits >> count);
  }
  frame.length = static_cast<uint8_t>(bytes);
  return nullptr;
}

/// Digits with nothing, blanks or dashes between the bytes.
const char* read_spaced_payload(std::string_view text, CanFrame& frame) {
  std::array<char, 128> digits;
  std::size_t count = 0;
  bool is_divided = false;
  const auto pad_byte = [&] {  // "E C7": a byte of one digit
    digits[count] = digits[count - 1];
    digits[count++ - 1] = '0';
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ' ' || c == '-' || c == '\t') {
      is_divided = true;
      if (count % 2 != 0) pad_byte();
      continue;
    }
    if (count % 2 == 0 && has_prefix(text.substr(i))) {
      ++i;
      continue;
    }
    if (count == digits.size()) return row::kLongFdPayload;
    digits[count++] = c;
  }
  if (is_divided && count % 2 != 0) pad_byte();
  return row::read_hex_payload({digits.data(), count}, frame);
}

std::string quoted_names(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

std::string printable_name(const TableColumn& column, std::size_t place) {
  if (column.name.empty()) return std::to_string(place + 1) + " (without a name)";
  std::string out = column.name.substr(0, 40);
  std::replace_if(
      out.begin(), out.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return out;
}

}  // namespace

void IdDoubt::tell(const std::string& file, Notes& notes) const {
  if (is_sure_ || odd_ == 0) return;
  notes.push_back({file,
                   "ids are read as hexadecimal, though none has a letter, and " + grouped(odd_) +
                       " would need 29 bits",
                   "of a column called id_dec, in a table with a header, they are read as decimal "
                   "numbers"});
}

bool is_kind_of_frame(std::string_view word) { return kind_named(word) != nullptr; }

std::size_t CanTable::split(std::string_view line) {
  Cells cells(line, separator_);
  std::string_view cell;
  count_ = 0;
  bool is_more = false;
  while (cells.next(cell)) {
    if (count_ == columns_.size()) {
      is_more |= !cell.empty();  // tools end rows with a separator
      continue;
    }
    cells_[count_++] = cell;
  }
  return is_more ? 0 : count_;
}

const char* CanTable::parse(std::string_view line, ChannelNames* channels, CanFrame& frame) {
  if (split(line) == 0) return row::kManyFields;
  const int most = std::max({place(Column::kTime), place(Column::kId), place(Column::kPayload),
                             bytes_.empty() ? place(Column::kLabel) : -1});
  if (most >= static_cast<int>(count_)) return row::kFewFields;
  KDGAT_TRY(read_time(frame));
  bool is_error = false;
  KDGAT_TRY(read_flag(cell(Column::kError), is_error));
  if (is_error) return row::kErrorFrame;
  KDGAT_TRY(read_id(frame));
  KDGAT_TRY(read_flags(frame));
  if (frame.extended && frame.id >= 1U << 29) return row::kBigId;
  if (!frame.extended && frame.id >= 2048) return "the id is beyond the 11 bits that the row says";
  int64_t length = -1;
  KDGAT_TRY(read_length(frame, length));
  KDGAT_TRY(bytes_.empty() ? read_payload(frame, length) : read_bytes(frame, length));
  KDGAT_TRY(read_label(frame, length));
  const std::string_view bus = cell(Column::kBus);
  if (channels == nullptr || bus.empty()) return nullptr;
  const int channel = channels->number(bus);
  if (channel < 0) return row::kManyChannels;
  frame.channel = static_cast<uint8_t>(channel);
  return nullptr;
}

const char* CanTable::read_time(CanFrame& frame) {
  if (place(Column::kTime) < 0) {
    frame.time = std::numeric_limits<double>::quiet_NaN();
    return nullptr;
  }
  const std::string_view text = cell(Column::kTime);
  if (time_form_ == TimeForm::kDate) return row::read_date_time(text, frame.time);
  if (time_form_ == TimeForm::kTimeOfDay) {
    KDGAT_TRY(row::read_time_of_day(text, frame.time));
    constexpr double kDay = 86400;
    if (frame.time + day_ < last_time_ - kDay / 2) day_ += kDay;  // past midnight
    last_time_ = frame.time += day_;
    return nullptr;
  }
  if (text.find(',') == std::string_view::npos) return row::read_time(text, frame.time);
  std::array<char, 40> digits{};  // a decimal comma
  if (text.size() > digits.size()) return row::kBadTime;
  std::replace_copy(text.begin(), text.end(), digits.begin(), ',', '.');
  return row::read_time({digits.data(), text.size()}, frame.time);
}

const char* CanTable::read_id(CanFrame& frame) const {
  bool is_marked = false;
  std::string_view text = cell(Column::kId);
  if (is_decimal_) {
    KDGAT_TRY(row::read_decimal_id(text, frame));
  } else {
    text = bare_id(text, is_marked);
    KDGAT_TRY(row::read_hex_id(text, frame));
    // GVRET writes eight digits of every id, and the next column says which it is.
    if (place(Column::kExtended) >= 0 || place(Column::kKind) >= 0) {
      frame.extended = frame.id >= 2048;
    }
  }
  frame.extended |= is_marked;
  return nullptr;
}

const char* CanTable::read_flags(CanFrame& frame) {
  if (const std::string_view text = cell(Column::kExtended); !text.empty()) {
    bool is_extended = false;
    KDGAT_TRY(read_flag(text, is_extended));
    frame.extended = is_extended;
  }
  bool brs = false, esi = false;
  KDGAT_TRY(read_flag(cell(Column::kRemote), frame.remote));
  KDGAT_TRY(read_flag(cell(Column::kFd), frame.fd));
  KDGAT_TRY(read_flag(cell(Column::kBrs), brs));
  KDGAT_TRY(read_flag(cell(Column::kEsi), esi));
  frame.fd_flags = static_cast<uint8_t>((brs ? 1 : 0) | (esi ? 2 : 0));
  if (const std::string_view text = cell(Column::kDirection); !text.empty()) {
    const std::optional<bool> is_sent = is_sent_word(text);
    frame.tx = is_sent.value_or(false);
    unknown_directions_ += is_sent ? 0 : 1;
  }
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const std::string_view text = cell(static_cast<int>(i));
    if (columns_[i].column != Column::kKind || text.empty()) continue;
    const KindWord* const kind = kind_named(text);
    if (kind == nullptr) return "an unknown word for the kind of a frame";
    if (kind->error) return row::kErrorFrame;
    if (kind->extended || kind->standard) frame.extended = kind->extended;
    frame.remote |= kind->remote;
    frame.fd |= kind->fd;
  }
  return nullptr;
}

/// -1 where the row says none.
const char* CanTable::read_length(CanFrame& frame, int64_t& length) const {
  int64_t code = -1;
  const auto read = [](std::string_view text, int64_t& value) {
    if (text.empty()) return true;
    if (text.ends_with(".0")) text.remove_suffix(2);
    return row::read_decimal(text, value) && value >= 0 && value <= 64;
  };
  if (!read(cell(Column::kDlc), code) || !read(cell(Column::kLength), length)) {
    return row::kBadLength;
  }
  if (code < 0) code = length;
  if (length < 0) length = code;
  if (code != length && (code > 15 || row::kFdLength[static_cast<std::size_t>(code)] != length)) {
    return row::kBadLength;
  }
  frame.fd |= length > 8;
  if (frame.fd && place(Column::kLength) < 0 && code > 8 && code < 16) {
    const std::string_view text = cell(Column::kPayload);
    const auto coded = int64_t{row::kFdLength[static_cast<std::size_t>(code)]};
    if (std::ssize(text) >= 2 * coded) length = coded;
  }
  return nullptr;
}

const char* CanTable::read_payload(CanFrame& frame, int64_t length) const {
  const std::string_view text = cell(Column::kPayload);
  if (length < 0) frame.fd |= row::is_fd_length(text.size() / 2);
  KDGAT_TRY(is_base64_ ? read_base64(text, frame) : read_spaced_payload(text, frame));
  if (frame.remote) {
    if (frame.length > 0) return "a remote frame with a payload";
    frame.remote_length = static_cast<uint8_t>(std::clamp<int64_t>(length, 0, 8));
    return nullptr;
  }
  return length >= 0 && length != int64_t{frame.length} ? row::kBadLength : nullptr;
}

const char* CanTable::read_bytes(CanFrame& frame, int64_t length) const {
  if (frame.remote) {
    frame.remote_length = static_cast<uint8_t>(std::clamp<int64_t>(length, 0, 8));
    return nullptr;
  }
  const auto most = static_cast<int64_t>(bytes_.size());
  if (length > most) return row::kBadLength;
  int64_t count = 0;
  for (; count < (length < 0 ? most : length); ++count) {
    const std::string_view text = cell(bytes_[static_cast<std::size_t>(count)]);
    if (text.empty() && length < 0) break;
    int64_t byte = 0;
    if (is_decimal_bytes_) {
      const std::string_view whole = text.ends_with(".0") ? text.substr(0, text.size() - 2) : text;
      if (!row::read_decimal(whole, byte) || byte < 0 || byte > 255) {
        return "a byte is not in 0..255";
      }
    } else {
      bool ignored = false;
      const std::string_view digits = bare_id(text, ignored);
      if (digits.empty() || digits.size() > 2 || !is_hex_text(digits)) return row::kBadPayload;
      for (const char c : digits) byte = byte << 4 | row::hex(c);
    }
    frame.payload[static_cast<std::size_t>(count)] = static_cast<uint8_t>(byte);
  }
  frame.length = static_cast<uint8_t>(count);
  frame.fd |= count > 8;
  return is_padding(count) ? nullptr : row::kBadLength;
}

/// Whether the cells behind so many bytes say nothing: blank, zero or marks such as "--"; in the
/// first of them the label of a short row may be.
bool CanTable::is_padding(int64_t count) const {
  const bool may_be_label = place(Column::kLabel) > bytes_[0] && cell(Column::kLabel).empty();
  for (std::size_t i = static_cast<std::size_t>(count) + (may_be_label ? 1 : 0); i < bytes_.size();
       ++i) {
    bool ignored = false;
    const std::string_view text = bare_id(cell(bytes_[i]), ignored);
    if (text.empty() || column_key(text) == "nan" || !is_hex_text(text)) continue;
    if (text.find_first_not_of('0') != std::string_view::npos) return false;
  }
  return true;
}

std::optional<int> CanTable::label_of(std::string_view word) {
  const std::optional<int> usual = label_word(word);
  if (benign_words_.empty() || usual == -1) return usual;
  const auto found = std::find(benign_words_.begin(), benign_words_.end(), word);
  if (found == benign_words_.end()) return 1;
  are_met_[static_cast<std::size_t>(found - benign_words_.begin())] = true;
  return 0;
}

const char* CanTable::read_label(CanFrame& frame, int64_t length) {
  const int place = this->place(Column::kLabel);
  if (place < 0) return nullptr;
  std::string_view text = cell(place);
  const auto most = static_cast<int64_t>(bytes_.size());
  // A row with fewer bytes may have its label right behind them.
  if (text.empty() && length >= 0 && length < most && place > bytes_[0]) {
    text = cell(bytes_[static_cast<std::size_t>(length)]);
  }
  const std::optional<int> label = label_of(text);
  if (!label) return row::kBadLabel;
  frame.label = static_cast<int8_t>(*label);
  if (*label < 0) {
    ++unlabelled_;
    return nullptr;
  }
  constexpr std::size_t kShownWords = 8;
  if (*label == 1 && attack_words_.size() < kShownWords && text != "1.0" &&
      !known_label_word(text) &&
      std::find(attack_words_.begin(), attack_words_.end(), text) == attack_words_.end()) {
    attack_words_.emplace_back(text);
  }
  for (const int other : other_labels_) {
    const std::optional<int> second = label_word(cell(other));
    disagreements_ += second && *second >= 0 && *second != *label ? 1 : 0;
  }
  return nullptr;
}

std::vector<std::string> CanTable::unmet_words() const {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < benign_words_.size(); ++i) {
    if (!are_met_[i]) out.push_back(benign_words_[i]);
  }
  return out;
}

Notes CanTable::notes(const std::string& file) const {
  Notes out;
  const auto note = [&](const std::string& what, const std::string& hint = "") {
    out.push_back({file, what, hint});
  };
  if (is_by_position_) note("no column has a known name: taken as time, id, payload and label");
  if (!id_note_.empty()) note(id_note_, id_hint_);
  if (id_note_.empty()) ids_.tell(file, out);
  if (is_gvret_) note("times are read as microseconds, as GVRET writes them");
  if (time_form_ == TimeForm::kTimeOfDay) note("times of a day, without a date: since midnight");
  const std::string label =
      place(Column::kLabel) < 0
          ? ""
          : printable_name(columns_[static_cast<std::size_t>(place(Column::kLabel))], 0);
  if (!benign_words_.empty() && place(Column::kLabel) < 0) {
    out.push_back({file, "benign: not used, as no column holds labels", "", "option", 1});
  } else if (const std::vector<std::string> unmet = unmet_words(); !unmet.empty()) {
    note("column " + label + ": no row has the word " + quoted_names(unmet) +
         (benign_ == 0 ? ", all are taken for attacks" : ", and words count as they are written"));
  } else if (!attack_words_.empty() && benign_words_.empty()) {
    note("column " + label + ": " +
             (benign_ == 0 ? "no word of it means benign, all are taken" : "words that are taken") +
             " for attacks: " + quoted_names(attack_words_),
         reading_option("benign", "WORD") + " names the words that mean benign");
  }
  if (unknown_directions_ > 0) {
    note(grouped(unknown_directions_) + (unknown_directions_ == 1 ? " row has" : " rows have") +
         " a direction that is neither Rx nor Tx: taken for received");
  }
  if (unlabelled_ > 0)
    note("column " + label + ": " + grouped(unlabelled_) + " rows have no label");
  if (disagreements_ > 0) {
    note("the labels of " + grouped(disagreements_) +
         " rows disagree with another column: " + label + " counts");
  }
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const Column kind = columns_[i].column;
    const bool is_second = kind != Column::kLabel && kind != Column::kSubclass &&
                           kind != Column::kByte && kind != Column::kKind &&
                           place(kind) != static_cast<int>(i);
    const bool is_other_label = std::find(other_labels_.begin(), other_labels_.end(),
                                          static_cast<int>(i)) != other_labels_.end();
    if (kind == Column::kUnused || is_second || is_other_label) {
      const std::string name = printable_name(columns_[i], i);
      const bool may_be_label =
          place(Column::kLabel) < 0 &&
          std::find(may_be_labels_.begin(), may_be_labels_.end(), i) != may_be_labels_.end();
      out.push_back(
          {file, "column " + name + " is not used",
           may_be_label ? reading_option("label_column", name) + " reads it as labels" : "",
           "column", 1});
    }
  }
  return out;
}

}  // namespace kdgat::data
