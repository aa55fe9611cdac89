// CanTable: the rows of a table of CAN frames with a header, in any order of its columns
// (can_columns.h). Decides from the beginning of the log how ids, bytes, payloads and times are
// written, and remembers what it did not use. Does not allocate from row to row.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/data/can/frames/can_frame.h"
#include "engine/data/can/frames/channel_names.h"
#include "engine/data/can/logs/can_columns.h"
#include "engine/data/can/logs/log_reading.h"
#include "engine/data/core/note.h"

namespace kdgat::data {

/// Whether a word says what kind a frame is: "Extended", "remote frame".
bool is_kind_of_frame(std::string_view word);

/// Whether ids that are read as hexadecimal may have been decimal numbers: none has a letter, and
/// some would need 29 bits.
class IdDoubt {
 public:
  void settle(bool is_sure) { is_sure_ = is_sure; }
  void see(const CanFrame& frame) {
    if (is_sure_) return;
    for (uint32_t rest = frame.id; rest != 0; rest >>= 4) is_sure_ |= (rest & 15) > 9;
    odd_ += frame.id >= 2048 ? 1 : 0;
  }
  void tell(const std::string& file, Notes& notes) const;

 private:
  bool is_sure_ = false;
  int64_t odd_ = 0;
};

class CanTable {
 public:
  /// `lines`: the header and the first rows. `hex_ids`: ids are hexadecimal whatever they look
  /// like. Throws Error(kData) where a column is missing that every frame needs.
  CanTable(const std::string& file, std::span<const std::string> lines, bool hex_ids,
           const LogReading& reading = {});

  /// Nullptr, what is wrong with the row, or row::kErrorFrame.
  const char* parse(std::string_view line, ChannelNames* channels, CanFrame& frame);

  /// What is to be said of the log: how it was read where it is not plain, what was not used.
  Notes notes(const std::string& file) const;

  /// Looks at a frame that was read, however it was parsed: later rows may contradict the first
  /// ones, by which ids are read as hexadecimal.
  void see(const CanFrame& frame) {
    benign_ += frame.label == 0 ? 1 : 0;
    ids_.see(frame);
  }

  /// Whether it has the columns time, id, payload and maybe a label alone, with commas between
  /// them, hexadecimal ids and payloads, and times in seconds.
  bool is_plain() const;
  /// The place of a column; -1 without it.
  int place(Column column) const { return place_[static_cast<std::size_t>(column)]; }
  /// Of the times that it gives; 0: nothing says it.
  double units_a_second() const { return units_a_second_; }
  char separator() const { return separator_; }
  int columns() const { return static_cast<int>(columns_.size()); }

 private:
  static constexpr std::size_t kMostColumns = 128;
  enum class TimeForm { kNumber, kDate, kTimeOfDay };

  void find_columns(const std::string& file, const std::string& header);
  void name_label(const std::string& file, const std::string& name);
  void find_bytes();
  void choose_kinds(std::span<const std::string> rows);
  void choose_label(std::span<const std::string> rows);
  void choose_ids(std::span<const std::string> rows, bool hex_ids);
  void choose_bytes(std::span<const std::string> rows);
  void choose_payload(std::span<const std::string> rows);
  bool has_base64_lengths(std::span<const std::string> rows);
  void choose_time(std::span<const std::string> rows);
  std::vector<std::string> cells_of(std::span<const std::string> rows, int place) const;

  std::size_t split(std::string_view line);
  std::string_view cell(int place) const {
    return place >= 0 && static_cast<std::size_t>(place) < count_
               ? cells_[static_cast<std::size_t>(place)]
               : std::string_view();
  }
  std::string_view cell(Column column) const { return cell(place(column)); }
  const char* read_time(CanFrame& frame);
  const char* read_id(CanFrame& frame) const;
  const char* read_flags(CanFrame& frame);
  const char* read_length(CanFrame& frame, int64_t& length) const;
  const char* read_payload(CanFrame& frame, int64_t length) const;
  const char* read_bytes(CanFrame& frame, int64_t length) const;
  std::vector<std::string> unmet_words() const;  // of benign_words_
  bool is_padding(int64_t count) const;
  const char* read_label(CanFrame& frame, int64_t length);
  std::optional<int> label_of(std::string_view word);

  char separator_ = ',';
  std::vector<TableColumn> columns_;
  std::array<int, static_cast<std::size_t>(Column::kUnused) + 1> place_{};
  std::vector<int> bytes_;                  // places of the bytes of the payload, in order
  std::vector<std::size_t> may_be_labels_;  // columns that are not used, with words of labels
  std::vector<int> other_labels_;           // places of label columns that are only compared
  bool is_by_position_ = false, is_decimal_ = false, is_decimal_bytes_ = false;
  bool is_base64_ = false, is_gvret_ = false;
  IdDoubt ids_;
  std::string id_note_, id_hint_;
  TimeForm time_form_ = TimeForm::kNumber;
  double units_a_second_ = 0, day_ = 0, last_time_ = 0;
  std::array<std::string_view, kMostColumns> cells_;
  std::size_t count_ = 0;
  int64_t disagreements_ = 0, benign_ = 0, unlabelled_ = 0, unknown_directions_ = 0;
  std::vector<std::string> benign_words_;  // as the option says; empty: the usual ones
  std::vector<bool> are_met_;              // of these
  std::vector<std::string> attack_words_;  // that are no usual ones
};

}  // namespace kdgat::data
