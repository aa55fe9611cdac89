// How a table is written, decided once from its header and its first rows.
#include <algorithm>
#include <set>
#include <utility>

#include "engine/data/can/frames/row_fields.h"
#include "engine/data/can/logs/can_table.h"
#include "engine/data/can/logs/cells.h"
#include "engine/data/can/logs/row_times.h"
#include "engine/file/base64.h"

namespace kdgat::data {
namespace {

bool all_of(const std::vector<std::string>& cells, auto&& holds) {
  return !cells.empty() && std::all_of(cells.begin(), cells.end(), holds);
}
bool any_of(const std::vector<std::string>& cells, auto&& holds) {
  return std::any_of(cells.begin(), cells.end(), holds);
}

/// Whether each is one more than that of the row before.
bool count_rows(const std::vector<std::string>& cells) {
  constexpr std::size_t kLeast = 10;
  int64_t last = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    int64_t number = 0;
    if (!row::read_decimal(cells[i], number) || (i > 0 && number != last + 1)) return false;
    last = number;
  }
  return cells.size() >= kLeast;
}

bool is_base64(std::string_view text) {
  while (text.ends_with('=')) text.remove_suffix(1);
  return std::all_of(text.begin(), text.end(), [](char c) { return file::base64_digit(c) >= 0; });
}

/// Whether a column of this name has 1 where a usual column of labels has 0.
bool says_benign(const std::string& name) {
  return row::same_word(name, "benign") || row::same_word(name, "normal") ||
         row::same_word(name, "is_benign") || row::same_word(name, "is_normal");
}

}  // namespace

CanTable::CanTable(const std::string& file, std::span<const std::string> lines, bool hex_ids,
                   const LogReading& reading)
    : benign_words_(reading.benign), are_met_(reading.benign.size()) {
  find_columns(file, lines.front());
  const auto rows = lines.subspan(1);
  choose_kinds(rows);
  choose_label(rows);
  if (reading.names_label()) name_label(file, reading.label_column);
  choose_bytes(rows);
  choose_ids(rows, hex_ids);
  choose_payload(rows);
  choose_time(rows);
  is_gvret_ &= reading.time_unit == "auto";
}

void CanTable::find_columns(const std::string& file, const std::string& header) {
  separator_ = separator_of(header);
  columns_ = table_columns(header, separator_);
  const auto refuse = [&](const std::string& what) {
    std::string shown = header.substr(0, 60);
    std::replace_if(
        shown.begin(), shown.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
    if (header.size() > shown.size()) shown += "...";
    throw Error(ExitCode::kData, what, "the header is: " + shown, file + ":1");
  };
  if (columns_.size() > kMostColumns) refuse("more columns than a CAN log has");
  place_.fill(-1);
  bool is_any = false;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    int& place = place_[static_cast<std::size_t>(columns_[i].column)];
    const bool is_better =
        place < 0 || columns_[i].rank < columns_[static_cast<std::size_t>(place)].rank;
    if (is_better) place = static_cast<int>(i);
    is_any |= columns_[i].column != Column::kUnused;
  }
  // Of names that say nothing the published loader takes the order.
  if (!is_any && columns_.size() == 4) {
    is_by_position_ = true;
    constexpr std::array kOrder = {Column::kTime, Column::kId, Column::kPayload, Column::kLabel};
    for (std::size_t i = 0; i < kOrder.size(); ++i) {
      columns_[i].column = kOrder[i];
      place_[static_cast<std::size_t>(kOrder[i])] = static_cast<int>(i);
    }
  }
  find_bytes();
  constexpr std::size_t kAllBytes = 8;
  const bool has_bytes = !bytes_.empty();
  const bool needs_time = bytes_.size() < kAllBytes || place(Column::kLabel) < 0;
  const bool is_known = place(Column::kTime) >= 0 || place(Column::kId) >= 0 ||
                        place(Column::kPayload) >= 0 || has_bytes;
  if (!is_known) refuse("no known log form: no column has a known name");
  if (place(Column::kTime) < 0 && needs_time) refuse("column timestamp is missing");
  if (place(Column::kId) < 0) refuse("column arbitration_id is missing");
  if (place(Column::kPayload) < 0 && !has_bytes) refuse("column data_field is missing");
}

void CanTable::find_bytes() {
  std::vector<std::pair<int, int>> numbered;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i].column == Column::kByte) {
      numbered.emplace_back(columns_[i].number, static_cast<int>(i));
    }
  }
  std::sort(numbered.begin(), numbered.end());
  for (std::size_t i = 0; i < numbered.size(); ++i) {
    // Without a gap, from 0 or 1 on.
    if (numbered[i].first != numbered[0].first + static_cast<int>(i) || numbered[0].first > 1 ||
        bytes_.size() == 64) {
      columns_[static_cast<std::size_t>(numbered[i].second)].column = Column::kUnused;
      continue;
    }
    bytes_.push_back(numbered[i].second);
  }
  if (place(Column::kPayload) < 0) return;
  for (const int one : bytes_) columns_[static_cast<std::size_t>(one)].column = Column::kUnused;
  bytes_.clear();
}

std::vector<std::string> CanTable::cells_of(std::span<const std::string> rows, int place) const {
  std::vector<std::string> out;
  for (const std::string& line : rows) {
    Cells cells(line, separator_);
    std::string_view cell;
    for (int i = 0; cells.next(cell); ++i) {
      if (i == place && !cell.empty()) out.emplace_back(cell);
    }
  }
  return out;
}

/// Of several columns that may be the label, one of numbers comes first, then one by its name.
void CanTable::choose_label(std::span<const std::string> rows) {
  std::vector<int> places;
  for (const Column kind : {Column::kLabel, Column::kSubclass}) {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i].column == kind) places.push_back(static_cast<int>(i));
    }
  }
  std::stable_sort(places.begin(), places.end(), [&](int a, int b) {
    const TableColumn &one = columns_[static_cast<std::size_t>(a)],
                      &other = columns_[static_cast<std::size_t>(b)];
    return std::pair(one.column, one.rank) < std::pair(other.column, other.rank);
  });
  if (places.empty()) return;
  const auto is_binary = [](const std::string& cell) {
    return cell == "0" || cell == "1" || cell == "0.0" || cell == "1.0";
  };
  const auto binary = std::find_if(places.begin(), places.end(), [&](int place) {
    return all_of(cells_of(rows, place), is_binary);
  });
  const int label = binary != places.end() ? *binary : places.front();
  place_[static_cast<std::size_t>(Column::kLabel)] = label;
  for (const int one : places) {
    if (one != label) other_labels_.push_back(one);
  }
}

void CanTable::name_label(const std::string& file, const std::string& name) {
  const auto named = std::find_if(columns_.begin(), columns_.end(),
                                  [&](const TableColumn& one) { return one.name == name; });
  if (named == columns_.end()) {
    throw Error(ExitCode::kData, "no column is called " + name,
                reading_option("label_column", "NAME") + " names one of the header", file + ":1");
  }
  for (const Column needed : {Column::kTime, Column::kId, Column::kPayload, Column::kByte}) {
    if (named->column != needed) continue;
    throw Error(ExitCode::kData, "column " + name + " holds no labels: frames are read from it",
                reading_option("label_column", "NAME") + " names another one", file + ":1");
  }
  if (benign_words_.empty() && says_benign(name)) {
    throw Error(ExitCode::kData, "column " + name + ": does 1 mean benign, as the name says?",
                reading_option("benign", "1") + " says that it does, --benign 0 that 0 does",
                file + ":1");
  }
  const int place = static_cast<int>(named - columns_.begin());
  int& label = place_[static_cast<std::size_t>(Column::kLabel)];
  std::erase(other_labels_, place);
  if (label >= 0 && label != place) other_labels_.push_back(label);
  for (int& one : place_) one = one == place ? -1 : one;
  label = place;
  named->column = Column::kLabel;
}

/// A column called type or format may hold something else than kinds of frames.
void CanTable::choose_kinds(std::span<const std::string> rows) {
  constexpr std::size_t kMostWords = 16;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const std::vector<std::string> cells = cells_of(rows, static_cast<int>(i));
    Column& column = columns_[i].column;
    if (column == Column::kKind && !cells.empty() && !any_of(cells, is_kind_of_frame)) {
      int& place = place_[static_cast<std::size_t>(Column::kKind)];
      if (place == static_cast<int>(i)) place = -1;
      column = Column::kUnused;
    }
    const std::set<std::string> words(cells.begin(), cells.end());
    if (column != Column::kUnused || words.size() < 2 || words.size() > kMostWords) continue;
    const bool has_benign = any_of(
        cells, [](const std::string& one) { return known_label_word(one) == 0 && one.size() > 2; });
    if (has_benign) may_be_labels_.push_back(i);
  }
}

void CanTable::choose_bytes(std::span<const std::string> rows) {
  bool has_letter = false, has_other = false;
  for (const int place : bytes_) {
    for (const std::string& cell : cells_of(rows, place)) {
      has_letter |= has_hex_letter(cell) || has_prefix(cell);
      // Behind the last byte of a shorter row its label may be.
      const bool is_short = cell.size() == 1 && place == bytes_.front();
      has_other |= is_hex_text(cell) && (is_short || cell.size() == 3);
    }
  }
  is_decimal_bytes_ = has_other && !has_letter;
}

void CanTable::choose_ids(std::span<const std::string> rows, bool hex_ids) {
  const int place = this->place(Column::kId);
  const TableColumn& column = columns_[static_cast<std::size_t>(place)];
  // What says how long ids are leaves nothing open.
  ids_.settle(column.base != 0 || hex_ids || this->place(Column::kExtended) >= 0 ||
              this->place(Column::kKind) >= 0);
  if (column.base != 0 || hex_ids) {
    is_decimal_ = column.base == 10 && !hex_ids;
    return;
  }
  const std::vector<std::string> ids = cells_of(rows, place);
  const bool is_hex = any_of(ids, [](const std::string& id) {
    return has_hex_letter(id) || has_prefix(id) || (id.size() > 1 && id[0] == '0') ||
           (id.back() | 0x20) == 'h';
  });
  if (is_hex) return ids_.settle(true);
  const auto hex_id = [](const std::string& id) -> int64_t {
    CanFrame frame;
    return row::read_hex_id(id, frame) == nullptr ? int64_t{frame.id} : -1;
  };
  const auto fits_decimal = [](const std::string& id) {
    CanFrame frame;
    return row::read_decimal_id(id, frame) == nullptr && frame.id < 2048;
  };
  // Only as a decimal number has an id of 29 bits nine digits.
  const auto is_long = [](const std::string& id) {
    CanFrame frame;
    return id.size() == 9 && row::read_decimal_id(id, frame) == nullptr;
  };
  constexpr std::size_t kPadded = 8;  // digits of an id of 29 bits
  const bool is_odd = any_of(
      ids, [&](const std::string& id) { return hex_id(id) >= 2048 && id.size() != kPadded; });
  is_decimal_ = (is_odd && all_of(ids, fits_decimal)) || any_of(ids, is_long) ||
                (is_decimal_bytes_ && !ids.empty());
  if (is_decimal_) ids_.settle(true);
  if (count_rows(ids)) {
    id_note_ = "column " + column.name + " counts the rows, and is taken for the ids of frames";
    return;
  }
  if (!is_odd || is_decimal_bytes_) return;
  const std::string why = ": none has a letter, and in hexadecimal some would need 29 bits";
  id_note_ = is_decimal_ ? "ids are read as decimal numbers" + why
                         : "ids are read as hexadecimal, though" + why.substr(1);
  id_hint_ = is_decimal_ ? "format=can-train-and-test reads them as hexadecimal"
                         : "of a column called id_dec they are read as decimal numbers";
}

void CanTable::choose_payload(std::span<const std::string> rows) {
  const std::vector<std::string> cells = cells_of(rows, place(Column::kPayload));
  is_base64_ = all_of(cells, is_base64) &&
               all_of(cells, [](const std::string& cell) { return cell.size() % 4 == 0; }) &&
               any_of(cells, [](const std::string& cell) { return !is_hex_text(cell); });
  is_base64_ = is_base64_ && !any_of(cells, [](const std::string& one) { return has_prefix(one); });
  // Payloads of zeros look like hexadecimal ones: "AAAA". Then the lengths tell.
  if (!is_base64_) is_base64_ = has_base64_lengths(rows);
}

/// Whether payloads are as long as the lengths of their rows say as base64, and some are not as
/// hexadecimal digits.
bool CanTable::has_base64_lengths(std::span<const std::string> rows) {
  bool is_odd = false;
  for (const std::string& line : rows) {
    split(line);
    int64_t length = 0;
    const std::string_view text = cell(Column::kPayload);
    const std::string_view said = cell(place(Column::kDlc) >= 0 ? Column::kDlc : Column::kLength);
    if (!row::read_decimal(said, length) || text.size() % 4 != 0) return false;
    if (text.empty() && length == 0) continue;
    const std::size_t digits = std::min(text.find('='), text.size());
    if (!is_base64(text) || static_cast<int64_t>(digits * 6 / 8) != length) return false;
    is_odd |= std::ssize(text) != 2 * length;
  }
  return is_odd;
}

void CanTable::choose_time(std::span<const std::string> rows) {
  const int place = this->place(Column::kTime);
  if (place < 0) return;
  const std::vector<std::string> times = cells_of(rows, place);
  double time = 0;
  if (all_of(times, [&](const std::string& one) { return !row::read_date_time(one, time); })) {
    time_form_ = TimeForm::kDate;
  } else if (any_of(times,
                    [&](const std::string& one) { return !row::read_time_of_day(one, time); })) {
    time_form_ = TimeForm::kTimeOfDay;
  }
  const double named = columns_[static_cast<std::size_t>(place)].units_a_second;
  units_a_second_ = time_form_ == TimeForm::kNumber ? named : 1;
  // GVRET writes microseconds since it was switched on, and says so nowhere.
  const bool has_columns = this->place(Column::kExtended) >= 0 && this->place(Column::kBus) >= 0 &&
                           this->place(Column::kLength) >= 0 && !bytes_.empty();
  const bool is_whole = all_of(times, [](const std::string& one) {
    return one.find_first_not_of("0123456789") == std::string::npos;
  });
  constexpr std::size_t kUnixSeconds = 10;  // digits
  const bool is_unix = any_of(
      times, [](const std::string& one) { return one.size() == kUnixSeconds && one[0] == '1'; });
  is_gvret_ = named == 0 && has_columns && is_whole && !is_unix &&
              columns_[static_cast<std::size_t>(bytes_[0])].number == 1;
  if (is_gvret_) units_a_second_ = 1e6;
}

bool CanTable::is_plain() const {
  const bool has_three = place(Column::kTime) >= 0 && place(Column::kPayload) >= 0;
  const std::size_t wanted = 3 + (place(Column::kLabel) >= 0 ? 1 : 0);
  return has_three && columns_.size() == wanted && separator_ == ',' && !is_decimal_ &&
         !is_base64_ && units_a_second_ <= 1 && time_form_ == TimeForm::kNumber &&
         benign_words_.empty();
}

}  // namespace kdgat::data
