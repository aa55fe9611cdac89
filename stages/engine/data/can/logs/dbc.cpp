#include "engine/data/can/logs/dbc.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "engine/data/can/frames/protocol_ids.h"
#include "engine/file/number_text.h"
#include "engine/file/utf8.h"
#include "kdgat/text.h"

namespace kdgat::data {
namespace {

constexpr uint32_t kExtendedFlag = uint32_t{1} << 31;
constexpr uint32_t kLargestId = (uint32_t{1} << 29) - 1, kLargestStandardId = 0x7FF;
/// The longest message that J1939 carries in several frames, in bytes.
constexpr int64_t kMostBytes = 1785;
constexpr std::size_t kLongestName = 128;
constexpr std::size_t kMostSignals = std::size_t{1} << 20;
constexpr std::size_t kLargestDbc = 64'000'000;  // bytes of text
/// What editors keep signals of no message in.
constexpr std::string_view kNoMessage = "VECTOR__INDEPENDENT_SIG_MSG";

bool is_space(char c) { return c == ' ' || c == '\t'; }

bool is_ascii_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

std::string from_latin_1(std::string_view text) {
  std::string out;
  for (const char c : text) file::append_code_point(static_cast<unsigned char>(c), out);
  return out;
}

/// What stands in one line, from left to right. Each takes it if it is there.
class Words {
 public:
  explicit Words(std::string_view line) : rest_(line) {}

  bool take(char c) {
    skip_spaces();
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  /// A name: letters of any script, digits and underscores.
  bool take_name(std::string& name) {
    skip_spaces();
    std::size_t bytes = 0;
    while (bytes < rest_.size()) {
      const file::CodePoint next = file::first_code_point(rest_.substr(bytes));
      const bool is_ascii = next.value < 128;
      if (is_ascii ? !is_ascii_word(rest_[bytes])
                   : !next.is_valid || !file::is_word_character(next.value)) {
        break;
      }
      bytes += next.bytes;
    }
    if (bytes == 0 || bytes > kLongestName) return false;
    name = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return true;
  }
  bool take_whole(int64_t least, int64_t most, int64_t& value) {
    skip_spaces();
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc() || value < least || value > most) return false;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return true;
  }
  bool take_number() {
    skip_spaces();
    const std::size_t end = std::min(rest_.find_first_not_of("+-.0123456789eE"), rest_.size());
    const std::optional<double> value = file::number_in(rest_.substr(0, end));
    if (!value || !std::isfinite(*value)) return false;
    rest_.remove_prefix(end);
    return true;
  }
  bool take_text() {
    if (!take('"')) return false;
    std::size_t end = rest_.find('"');
    while (end != std::string_view::npos && end > 0 && rest_[end - 1] == '\\') {
      end = rest_.find('"', end + 1);
    }
    if (end == std::string_view::npos) return false;
    rest_.remove_prefix(end + 1);
    return true;
  }
  bool is_at_end() {
    skip_spaces();
    return rest_.empty();
  }

 private:
  void skip_spaces() {
    while (!rest_.empty() && is_space(rest_.front())) rest_.remove_prefix(1);
  }

  std::string_view rest_;
};

/// "(0.125,0)" between any two signs.
bool take_pair(Words& words, char open, char between, char close) {
  return words.take(open) && words.take_number() && words.take(between) && words.take_number() &&
         words.take(close);
}

/// Behind BO_: "2364540158 EEC1: 8 Engine". What is wrong with it, nullptr if nothing is. An id
/// beyond 11 bits is one of 29, with bit 31 or without.
const char* read_message(Words words, DbcMessage& out) {
  int64_t id = 0;
  if (!words.take_whole(0, UINT32_MAX, id)) return "the id is not a number of 32 bits";
  if (!words.take_name(out.name)) return "the message has no name";
  if (!words.take(':')) return "no : behind the name of the message";
  if (!words.take_whole(0, kMostBytes, out.length)) return "no length from 0 to 1785 bytes";
  std::string sender;
  words.take_name(sender);
  if (!words.is_at_end()) return "more than one sender";
  if (out.name == kNoMessage) return nullptr;
  out.id = static_cast<uint32_t>(id) & ~kExtendedFlag;
  out.extended = (id & kExtendedFlag) != 0 || out.id > kLargestStandardId;
  return out.id > kLargestId ? "an id beyond 29 bits" : nullptr;
}

/// Whether such a line has an id beyond 11 bits without bit 31.
bool lacks_flag(Words words, const DbcMessage& message) {
  int64_t id = 0;
  return message.extended && words.take_whole(0, UINT32_MAX, id) && (id & kExtendedFlag) == 0;
}

/// "M", "m3" or "m3M"; also "m", which does not say when the signal is there.
bool read_multiplexing(std::string_view word, DbcSignal& out) {
  if (word == "m") return out.is_unknown_when = true;
  if (word.ends_with('M')) {
    out.is_multiplexer = true;
    word.remove_suffix(1);
  }
  if (word.empty()) return out.is_multiplexer;
  if (!word.starts_with('m')) return false;
  word.remove_prefix(1);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  out.multiplexed_by = value;
  return error == std::errc() && end == word.data() + word.size() && value >= 0;
}

/// Behind SG_: `EngineSpeed m1 : 24|16@1+ (0.125,0) [0|8031.875] "rpm" Display,Gateway`.
const char* read_signal(Words words, DbcSignal& out) {
  if (!words.take_name(out.name)) return "the signal has no name";
  if (std::string multiplexing; words.take_name(multiplexing)) {
    if (!read_multiplexing(multiplexing, out)) return "multiplexing is none of M, m1 and m1M";
  }
  if (!words.take(':')) return "no : behind the name of the signal";
  if (!words.take_whole(0, 8 * kMostBytes - 1, out.start)) return "no first bit of the signal";
  if (!words.take('|') || !words.take_whole(1, 8 * kMostBytes, out.length)) {
    return "no length of the signal in bits";
  }
  int64_t order = 0;
  if (!words.take('@') || !words.take_whole(0, 1, order)) return "no order of bytes, @0 or @1";
  out.is_big_endian = order == 0;
  if (!words.take('+') && !words.take('-')) return "no sign, + or -";
  if (!take_pair(words, '(', ',', ')')) return "no (factor,offset)";
  if (!take_pair(words, '[', '|', ']')) return "no [minimum|maximum]";
  if (!words.take_text()) return "no unit in quotes";
  std::string receiver;
  while (words.take_name(receiver)) words.take(',');
  return words.is_at_end() ? nullptr : "receivers are names between commas";
}

/// Whether a text in quotes is open behind the line, if it `was` open ahead of it.
bool is_open_behind(std::string_view line, bool was) {
  bool is_open = was;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (is_open && line[i] == '\\') {
      ++i;  // of an escaped quote
    } else if (line[i] == '"') {
      is_open = !is_open;
    }
  }
  return is_open;
}

}  // namespace

int64_t DbcSignal::last_byte() const {
  if (!is_big_endian) return (start + length - 1) / 8;
  // It goes from its highest bit down, and on with bit 7 of the next byte.
  const int64_t in_first = start % 8 + 1;
  return first_byte() + (std::max<int64_t>(length - in_first, 0) + 7) / 8;
}

std::vector<std::string> DbcMessage::signals_at(int64_t byte) const {
  std::vector<std::string> out;
  for (const DbcSignal& one : signals) {
    if (one.first_byte() <= byte && byte <= one.last_byte()) out.push_back(one.name);
  }
  return out;
}

DbcNames::DbcNames(file::LineReader lines) {
  std::optional<DbcMessage> message;
  std::string where_of_message, repaired;
  bool is_in_text = false, is_in_message = false;
  int64_t others = 0;
  std::size_t signals = 0, bytes = 0;
  std::string_view line;
  const auto where = [&] { return lines.name() + ":" + std::to_string(lines.line_number()); };
  const auto finish_message = [&] {
    if (message) add(std::move(*message), where_of_message);
    message.reset();
  };
  int64_t faults = 0, lost_signals = 0, line_of_text = 0;
  bool is_lost = false;  // the message above could not be read
  const auto warn = [&](const std::string& what, std::string_view text) {
    constexpr int64_t kShown = 5;
    if (++faults <= kShown) {
      warnings_.push_back({where(), what + ": " + file::shown(text), ""});
    }
  };
  while (lines.next(line)) {
    bytes += line.size() + 1;
    if (bytes > kLargestDbc)
      throw Error(ExitCode::kData, "is larger than 64 MB: is it a DBC?", "", where());
    if (lines.line_number() == 1 && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
    if (!is_utf8(line)) line = repaired = from_latin_1(line);
    const bool begins_in_text = is_in_text;
    is_in_text = is_open_behind(line, is_in_text);
    if (begins_in_text) continue;
    line_of_text = lines.line_number();
    const std::size_t begin = std::min(line.find_first_not_of(" \t"), line.size());
    const std::size_t end = std::min(line.find_first_of(" \t:", begin), line.size());
    const std::string_view keyword = line.substr(begin, end - begin);
    const char* fault = nullptr;
    if (keyword == "BO_" || keyword == "SG_") is_in_text = false;  // of these a line is all
    if (keyword == "BO_") {
      finish_message();
      is_in_message = true;
      message.emplace();
      where_of_message = where();
      const Words words(line.substr(end));
      fault = read_message(words, *message);
      is_lost = fault != nullptr;
      if (!is_lost && message->name != kNoMessage && lacks_flag(words, *message)) {
        warn("the id is beyond 11 bits without bit 31: taken as one of 29 bits",
             line.substr(begin));
      }
      if (is_lost || message->name == kNoMessage) message.reset();
    } else if (keyword == "SG_") {
      DbcSignal signal;
      fault = is_in_message ? read_signal(Words(line.substr(end)), signal)
                            : "a signal ahead of all messages";
      if (++signals > kMostSignals) {
        throw Error(ExitCode::kData, "more than 1,048,576 signals", "", where());
      }
      if (fault == nullptr && is_lost) ++lost_signals;
      if (fault == nullptr && signal.is_unknown_when) {
        warn("m without a number: the signal counts, when it is there is not known",
             line.substr(begin));
      }
      if (fault == nullptr && message) message->signals.push_back(std::move(signal));
    } else if (begin == 0 && !keyword.empty()) {
      ++others;  // those of the list NS_ are indented
    }
    if (fault != nullptr) warn(std::string(fault) + ", not read", line.substr(begin));
  }
  finish_message();
  if (is_in_text) {
    warnings_.push_back({lines.name() + ":" + std::to_string(line_of_text),
                         "a text in quotes has no end: nothing behind it is read", ""});
  }
  if (faults > std::ssize(warnings_)) {
    warnings_.push_back({lines.name(), "such lines in all: " + grouped(faults), ""});
  }
  if (lost_signals > 0) {
    warnings_.push_back({lines.name(),
                         grouped(lost_signals) + (lost_signals == 1 ? " signal" : " signals") +
                             " of messages whose line could not be read left out",
                         ""});
  }
  if (messages_.empty() && !warnings_.empty()) throw Error(ExitCode::kData, warnings_);
  if (messages_.empty()) {
    throw Error(ExitCode::kData, "the file names no message (no line BO_): is it a DBC?", "",
                lines.name());
  }
  if (others > 0) {
    notes_.push_back({lines.name(),
                      grouped(others) + (others == 1 ? " line" : " lines") +
                          " of other keywords than BO_ and SG_ passed over",
                      ""});
  }
}

void DbcNames::add(DbcMessage message, const std::string& where) {
  const uint32_t id = message.id;
  const std::size_t place = messages_.size();
  if (!places_.try_emplace(message.extended ? id | kExtendedFlag : id, place).second) {
    notes_.push_back({where, "the id of " + message.name + " stands above: that name counts", ""});
    return;
  }
  if (message.extended) {
    constexpr uint8_t kAnySource = 254;
    any_priority_.try_emplace(without_priority(id), place);
    if (j1939_source(id) == kAnySource) from_any_source_.try_emplace(j1939_message(id), place);
  }
  messages_.push_back(std::move(message));
}

const DbcMessage* DbcNames::find(uint32_t id, bool extended) const {
  const auto found = places_.find(extended ? id | kExtendedFlag : id);
  return found == places_.end() ? nullptr : &messages_[found->second];
}

const DbcMessage* DbcNames::of_key(uint32_t key) const {
  const uint32_t id = key & kLargestId;
  if (id <= kLargestStandardId) {
    if (const DbcMessage* message = find(id, false)) return message;
  }
  if (const DbcMessage* message = find(id, true)) return message;
  if (id <= kLargestStandardId) return nullptr;
  if (const auto same = any_priority_.find(without_priority(id)); same != any_priority_.end()) {
    return &messages_[same->second];
  }
  const auto any = from_any_source_.find(from_source(j1939_message(id), 254));
  return any == from_any_source_.end() ? nullptr : &messages_[any->second];
}

}  // namespace kdgat::data
