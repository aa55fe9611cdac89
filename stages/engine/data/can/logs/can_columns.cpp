#include "engine/data/can/logs/can_columns.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "engine/data/can/frames/row_fields.h"
#include "engine/data/can/logs/cells.h"

namespace kdgat::data {
namespace {

struct Unit {
  std::string_view ending;
  double in_a_second;
};
constexpr std::array kUnits = {Unit{"milliseconds", 1e3}, Unit{"microseconds", 1e6},
                               Unit{"nanoseconds", 1e9},  Unit{"seconds", 1},
                               Unit{"msec", 1e3},         Unit{"usec", 1e6},
                               Unit{"nsec", 1e9},         Unit{"sec", 1},
                               Unit{"ms", 1e3},           Unit{"us", 1e6},
                               Unit{"ns", 1e9},           Unit{"s", 1}};

constexpr std::array<std::string_view, 6> kByteNames = {"data", "byte", "databyte",
                                                        "d",    "b",    "payload"};

constexpr std::array<std::string_view, 14> kBenignWords = {
    "benign", "normal",  "attackfree", "r",    "0",     "00",       "false",
    "none",   "regular", "no",         "free", "clean", "negative", "noattack"};

constexpr std::array<std::string_view, 9> kAttackWords = {
    "attack", "attacked", "malicious", "anomaly", "abnormal", "injected", "true", "t", "1"};

bool read_time_unit(std::string_view name, TableColumn& column) {
  for (const Unit& unit : kUnits) {
    if (!name.ends_with(unit.ending)) continue;
    const std::string_view bare = name.substr(0, name.size() - unit.ending.size());
    if (column_named(bare, &column.rank) != Column::kTime) continue;
    column.column = Column::kTime;
    column.units_a_second = unit.in_a_second;
    return true;
  }
  return false;
}

bool read_byte_number(std::string_view name, TableColumn& column) {
  const std::size_t digits = name.find_last_not_of("0123456789") + 1;
  const std::string_view number = name.substr(digits);
  if (number.empty() || number.size() > 2) return false;
  if (std::find(kByteNames.begin(), kByteNames.end(), name.substr(0, digits)) == kByteNames.end()) {
    return false;
  }
  int64_t value = 0;
  row::read_decimal(number, value);
  column.column = Column::kByte;
  column.number = static_cast<int>(value);
  return true;
}

bool read_id_base(std::string_view name, TableColumn& column) {
  for (const auto& [ending, base] : {std::pair<std::string_view, int>{"hex", 16}, {"dec", 10}}) {
    if (!name.ends_with(ending)) continue;
    const std::string_view bare = name.substr(0, name.size() - ending.size());
    if (column_named(bare, &column.rank) != Column::kId) continue;
    column.column = Column::kId;
    column.base = base;
    return true;
  }
  return false;
}

}  // namespace

std::string column_key(std::string_view name) {
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const std::string_view two = name.substr(i, 2);
    if (two == "\xC2\xB5" || two == "\xCE\xBC") {
      out += 'u';
      ++i;
    } else if (std::isalnum(static_cast<unsigned char>(name[i])) != 0) {
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(name[i])));
    }
  }
  return out;
}

Column column_named(std::string_view key, std::size_t* rank) {
  for (const ColumnNames& one : column_names()) {
    const auto found = std::find(one.names.begin(), one.names.end(), key);
    if (found == one.names.end()) continue;
    if (rank != nullptr) *rank = static_cast<std::size_t>(found - one.names.begin());
    return one.column;
  }
  return Column::kUnused;
}

std::span<const ColumnNames> column_names() {
  static const std::vector<ColumnNames> all = {
      {Column::kTime,
       {"timestamp", "time", "timestampepoch", "timesteamp", "epoch", "unixtime", "datetime",
        "systemtime", "abstime", "relativetime", "timeoffset"}},
      {Column::kId,
       {"arbitrationid", "canid", "id", "addr", "address", "messageid", "msgid", "frameid",
        "identifier"}},
      {Column::kPayload,
       {"datafield", "data", "payload", "databytes", "payloadhex", "candata", "datahex", "bytes",
        "message"}},
      {Column::kDlc, {"dlc", "dlcvalue", "datalengthcode"}},
      {Column::kLength, {"datalength", "length", "len", "datalen", "size", "messagelength"}},
      {Column::kDirection, {"dir", "direction", "rxtx", "txrx"}},
      {Column::kBus,
       {"bus", "channel", "buschannel", "interface", "can", "canbus", "src", "busid", "iface"}},
      {Column::kExtended, {"extended", "ide", "isextendedid", "isextended", "extendedid", "ext"}},
      {Column::kRemote, {"remote", "rtr", "isremoteframe", "isremote"}},
      {Column::kError, {"error", "iserrorframe", "iserror", "errorframe"}},
      {Column::kFd, {"fd", "edl", "fdf", "isfd", "canfd"}},
      {Column::kBrs, {"brs", "bitrateswitch"}},
      {Column::kEsi, {"esi", "errorstateindicator"}},
      {Column::kKind, {"format", "type", "frametype", "frameformat", "idtype"}},
      {Column::kLabel,
       {"attack", "label", "flag", "class", "anomaly", "isattack", "malicious", "tag", "injected"}},
      {Column::kSubclass,
       {"subclass", "category", "specificclass", "attacktype", "attackname", "attackclass",
        "attackkind"}}};
  return all;
}

char separator_of(std::string_view header) {
  char best = ',';
  std::ptrdiff_t most = 0;
  for (const char one : {',', ';', '\t'}) {
    const auto count = std::count(header.begin(), header.end(), one);
    if (count > most) {
      most = count;
      best = one;
    }
  }
  return best;
}

std::vector<TableColumn> table_columns(std::string_view header, char separator) {
  std::vector<TableColumn> out;
  Cells cells(header, separator);
  std::string_view cell;
  while (cells.next(cell)) {
    TableColumn& column = out.emplace_back();
    column.name = cell;
    const std::string name = column_key(cell);
    column.column = column_named(name, &column.rank);
    if (column.column == Column::kUnused && !read_byte_number(name, column) &&
        !read_time_unit(name, column)) {
      read_id_base(name, column);
    }
  }
  // Tools end the header with a separator.
  while (out.size() > 1 && out.back().name.empty()) out.pop_back();
  return out;
}

std::optional<int> label_word(std::string_view word) {
  const std::string name = column_key(word);
  if (name.empty() || name == "nan" || name == "na" || name == "null") return -1;
  if (word == "0.0") return 0;
  if (word.ends_with(".0")) word.remove_suffix(2);
  int64_t number = 0;
  if (row::read_decimal(word, number) && number > 0) return 1;
  if (std::find(kBenignWords.begin(), kBenignWords.end(), name) != kBenignWords.end()) return 0;
  const bool has_letter = std::any_of(name.begin(), name.end(), [](char c) { return c > '9'; });
  return has_letter ? std::optional(1) : std::nullopt;
}

std::optional<int> known_label_word(std::string_view word) {
  const std::string name = column_key(word);
  const bool is_attack =
      std::find(kAttackWords.begin(), kAttackWords.end(), name) != kAttackWords.end();
  const std::optional<int> label = label_word(word);
  return !name.empty() && (label == 0 || is_attack) ? label : std::nullopt;
}

}  // namespace kdgat::data
