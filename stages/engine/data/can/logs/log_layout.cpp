#include "engine/data/can/logs/log_layout.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/data/can/frames/row_fields.h"
#include "engine/data/can/logs/can_columns.h"
#include "engine/data/can/logs/forms/text_head.h"
#include "engine/data/can/logs/row_parsers.h"
#include "engine/data/can/logs/time_reading.h"
#include "engine/file/line_reader.h"
#include "engine/file/text_kind.h"

namespace kdgat::data {

namespace {

constexpr std::size_t kProbeLines = 10;

const LogLayout kForms[] = {
    {"can-train-and-test", parse_table_row, true, {0, 1, 2, 3}, 4},
    {"hcrl", parse_hcrl_row, false, {}, 0},
    {"candump", parse_candump_row, false, {}, 3},
    {"candump-screen", parse_screen_row, false, {}, 0},
    {"road", parse_road_row, false, {}, 10},
    {"daga", parse_daga_row, true, {}, 6},
    {"otids", parse_otids_row, true, {}, 13},
    {"crysys", parse_candump_row, false, {}, 5},
    {"recan", parse_recan_row, false, {}, 5},
    {"hcrl-text", parse_hcrl_text_row, false, {}, 0},
    {"can-table", parse_can_table_row, true, {}, 0},
};

/// A line that is blank, or a comment: no row of a log begins so. A table may have a blank first
/// cell ahead of its separator.
bool is_no_row(std::string_view line, char separator = 0) {
  const std::size_t first = line.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return true;
  if (line[first] == separator) return false;
  constexpr std::string_view kSeparator = "sep=";  // what spreadsheets ask for
  const std::string_view text = line.substr(first);
  return text.starts_with(kSeparator) || is_comment(text);
}

bool is_header(const std::string& line) {
  return line.find_first_of("ghijklmnopqrstuvwxyzGHIJKLMNOPQSUVWXYZ") != std::string::npos &&
         line.find_first_of(",;\t") != std::string::npos &&
         line.find('#', 1) == std::string::npos &&
         std::string("0123456789(-").find(line[0]) == std::string::npos;
}

/// Whether a line has names of the columns that every frame needs.
bool has_names(std::string_view line) {
  const std::string names(line);
  bool has_time = false, has_id = false;
  for (const TableColumn& one : table_columns(names, separator_of(names))) {
    has_time |= one.column == Column::kTime;
    has_id |= one.column == Column::kId;
  }
  return has_time && has_id && is_header(names);
}

/// Whether a line that looks like a comment is a header whose first column has no name, or is
/// called "#": ";time;id;data", "#;time;id;data".
bool is_marked_header(std::string_view line) {
  const bool is_bare = line.size() > 1 && line[0] == ';' && line[1] != ' ' && line[1] != ';';
  const bool is_number = line.size() > 1 && line[0] == '#' &&
                         std::string_view(",;\t").find(line[1]) != std::string_view::npos;
  return (is_bare || is_number) && has_names(line);
}

/// The names of columns that stand in a comment, "# time,id,data"; any other line as it is.
std::string_view without_mark(std::string_view line) {
  const std::size_t first = line.find_first_not_of("#; /\t");
  if (line.empty() || line[0] == '\t' || first == 0 || first == std::string_view::npos ||
      is_marked_header(line)) {
    return line;
  }
  return has_names(line.substr(first)) ? line.substr(first) : line;
}

/// candump -td and -tz write three digits of seconds, times since 1970 have ten.
bool has_short_times(const std::string& line) {
  const std::size_t open = line.find_first_not_of(' ');
  return open != std::string::npos && line.substr(open, 1) == "(" && line.find('.') == open + 4;
}

/// How many lines the form is told from: how numbers are written in a table takes more. Those of a
/// pipe are few, so that its first frames do not wait for many others.
std::size_t wanted_lines(const std::vector<std::string>& lines, bool is_live) {
  constexpr std::size_t kTableLines = 500, kGapLines = 100;
  if (lines.empty() || is_live) return kProbeLines;
  if (is_header(lines.front())) return kTableLines;
  return has_short_times(lines.front()) ? kGapLines : kProbeLines;
}

/// The start of a line as shown in a message; a log may not steer the terminal.
std::string shortened(std::string_view line) {
  std::string out(line.substr(0, 60));
  std::replace_if(
      out.begin(), out.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return out + (line.size() > 60 ? "..." : "");
}

std::vector<std::string> split_header(const std::string& line) {
  std::vector<std::string> names(1);
  for (const char c : line) {
    if (c == ',') {
      names.emplace_back();
    } else if (c != ' ' && c != '\t' && c != '"') {
      names.back() += static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
    }
  }
  return names;
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// A table by the names of its columns. One of time, id, payload and label alone has a parser of
/// its own, which is faster; it is taken where it reads what the other does in the first rows.
LogLayout table_layout(const std::string& file, std::span<const std::string> lines,
                       const std::string& format, const LogReading& reading) {
  const LogLayout& plain = kForms[0];
  LogLayout layout;
  layout.format = "can-table";
  layout.parse = parse_can_table_row;
  layout.has_header = true;
  layout.table = std::make_shared<CanTable>(file, lines, format == plain.format, reading);
  CanTable& table = *layout.table;
  if (format == layout.format || !table.is_plain()) return layout;
  LogLayout fast = plain;  // without the table, which reads what the plain parser does not
  fast.columns = table.columns();
  fast.column = {table.place(Column::kTime), table.place(Column::kId),
                 table.place(Column::kPayload), table.place(Column::kLabel)};
  CanTable probe = table;
  for (const std::string& line : lines.subspan(1)) {
    CanFrame frame, other;
    if (fast.parse(fast, line, frame) != nullptr && !probe.parse(line, nullptr, other)) {
      return layout;
    }
  }
  fast.table = layout.table;
  return fast;
}

const LogLayout* form_named(const std::string& name) {
  for (const LogLayout& form : kForms) {
    if (name == form.format) return &form;
  }
  return nullptr;
}

}  // namespace

std::span<const char* const> text_formats() {
  static const std::vector<const char*> names = [] {
    std::vector<const char*> all;
    for (const LogLayout& form : kForms) all.push_back(form.format);
    return all;
  }();
  return names;
}

LogLayout recognise_log(const std::string& file, std::span<const std::string> lines,
                        const std::string& format, const LogReading& reading) {
  const bool header = is_header(lines.front());
  if (format != "auto") {
    const LogLayout* form = form_named(format);
    if (form == nullptr) throw Error(ExitCode::kUsage, "no log format is called " + format);
    const bool is_table = form->parse == parse_table_row || form->parse == parse_can_table_row;
    if (header && is_table) return table_layout(file, lines, format, reading);
    if (form->parse == parse_can_table_row) {
      throw Error(ExitCode::kData, "no header: " + shortened(lines.front()),
                  "can-table needs the names of its columns in the first line", file + ":1");
    }
    LogLayout layout = *form;
    layout.has_header = header;
    if (form->parse == parse_table_row) {  // columns in their published order
      layout.columns = static_cast<int>(split_header(lines.front()).size());
      if (layout.columns < 3) {
        throw Error(ExitCode::kData, "too few columns: " + shortened(lines.front()), "",
                    file + ":1");
      }
      if (layout.columns == 3) layout.column[3] = -1;
    }
    return layout;
  }
  if (header) {
    const std::vector<std::string> names = split_header(lines.front());
    if (has(names, "payload_hex") && has(names, "payload_bin")) return *form_named("daga");
    if (has(names, "intid1")) return *form_named("otids");
    return table_layout(file, lines, format, reading);
  }
  // The form that reads most of the first lines; a malformed row among them does no harm.
  const LogLayout* best = nullptr;
  std::size_t best_rows = 0;
  bool tie = false;
  for (const LogLayout& form : kForms) {
    if (form.has_header) continue;
    std::size_t rows = 0;
    for (const std::string& line : lines) {
      CanFrame frame;
      const char* const fault = form.parse(form, line, frame);
      if (fault == nullptr || fault == row::kErrorFrame) ++rows;
    }
    if (rows > best_rows) {
      best = &form;
      best_rows = rows;
      tie = false;
    } else if (rows > 0 && rows == best_rows) {
      tie = true;
    }
  }
  if (best == nullptr || tie) {
    const auto tabs = std::count(lines.front().begin(), lines.front().end(), '\t');
    const bool has_tabs = best == nullptr && tabs > 0;
    throw Error(ExitCode::kData,
                std::string(best == nullptr ? "no known log form" : "more than one log form") +
                    " fits the first line: " + shortened(lines.front()),
                has_tabs
                    ? "it is a table of " + std::to_string(tabs + 1) +
                          " columns between tabs; logs have commas or blanks there, ratings "
                          "user, item and rating, texts a label and words"
                    : "format=NAME names the form; take a file that is no log out of the folder",
                file + ":1");
  }
  return *best;
}

bool is_text_log(const std::string& file, std::string_view head) {
  constexpr std::size_t kLines = 8;
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < head.size() && lines.size() < kLines;) {
    const std::size_t end = std::min(head.find('\n', at), head.size());
    std::string_view line = head.substr(at, end - at);
    if (lines.empty()) line = without_mark(line);
    if (!is_no_row(line) || (lines.empty() && is_marked_header(line))) lines.emplace_back(line);
    at = end + 1;
  }
  if (lines.empty()) return false;
  try {
    recognise_log(file, lines, "auto");
    return true;
  } catch (const Error&) {
    return false;
  }
}

namespace {

class TextRows : public FrameReader {
 public:
  TextRows(file::ByteReader bytes, const std::string& format, const LogReading& reading)
      : is_live_(bytes.is_live()), reader_(std::move(bytes)) {
    std::string_view line;
    std::vector<std::string> probe;
    while (probe.size() < wanted_lines(probe, is_live_) && reader_.next(line)) {
      if (probe.empty() && line.starts_with(kByteOrderMark)) {
        line.remove_prefix(kByteOrderMark.size());
      }
      if (probe.empty()) line = without_mark(line);
      const bool is_first = probe.empty() && is_marked_header(line);
      const char separator = probe.empty() ? '\0' : separator_of(probe.front());
      if (!is_first && is_no_row(line, separator)) {
        pass(line);
        continue;
      }
      probe.emplace_back(line);
      first_lines_.emplace_back(reader_.line_number(), std::string(line));
    }
    if (probe.empty()) throw Error(ExitCode::kData, "the file is empty", "", reader_.name());
    std::string head;
    for (const std::string& one : probe) head += one + "\n";
    if (const std::string what = file::not_text(head); !what.empty()) {
      throw file::refuse_not_text(reader_.name(), what);
    }
    layout_ = recognise_log(reader_.name(), probe, format, reading);
    if (!layout_.table && has_short_times(probe.front())) {
      std::vector<double> times;
      for (const std::string& one : probe) {
        CanFrame frame;
        if (layout_.parse(layout_, one, frame) == nullptr) times.push_back(frame.time);
      }
      look_like_gaps_ = look_like_gaps(times);
    }
    layout_.channels = &channels_;
    if (layout_.has_header) first_used_ = 1;
    may_be_decimal_ = layout_.parse == parse_hcrl_row;
  }

  const char* format() const override { return layout_.format; }
  std::string fault() const override { return std::string(fault_) + ": " + shortened(line_); }
  std::string where() const override { return reader_.name() + ":" + std::to_string(line_number_); }
  int64_t bytes_read() const override { return reader_.bytes_read(); }
  const ChannelNames& channel_names() const override { return channels_; }
  double units_a_second() const override {
    return layout_.table ? layout_.table->units_a_second() : 0;
  }
  bool times_look_like_gaps() const override { return look_like_gaps_; }
  bool has_label_column() const override { return layout_.table != nullptr; }
  Notes notes() const override {
    Notes out;
    if (layout_.table) out = layout_.table->notes(reader_.name());
    ids_.tell(reader_.name(), out);
    passed_.tell(reader_.name(), out);
    for (const std::string& what : channels_.problems()) out.push_back({reader_.name(), what, ""});
    return out;
  }

  Got next(CanFrame& frame) override {
    while (next_line()) {
      fault_ = layout_.parse(layout_, line_, frame);
      const char separator = layout_.table ? layout_.table->separator() : '\0';
      if (fault_ != nullptr && is_no_row(line_, separator)) {
        pass(line_);
        frame = CanFrame();
        continue;
      }
      if (fault_ == nullptr && layout_.table) {
        layout_.table->see(frame);
      } else if (fault_ == nullptr && may_be_decimal_) {
        ids_.see(frame);
      }
      // candump -e says more of an error frame in lines of their own.
      const bool is_more = is_behind_error_ && fault_ != nullptr && line_.starts_with('\t');
      is_behind_error_ = fault_ == row::kErrorFrame || is_more;
      if (is_behind_error_) {
        passed_.error_frames += is_more ? 0 : 1;
        frame = CanFrame();
        continue;
      }
      return fault_ == nullptr ? Got::kFrame : Got::kFault;
    }
    return Got::kEnd;
  }

 private:
  void pass(std::string_view line) {
    if (!row::trim(line).empty()) passed_.count("comments", Passed::Say::kWithOthers);
  }

  bool next_line() {
    if (first_used_ < first_lines_.size()) {
      line_number_ = first_lines_[first_used_].first;
      line_ = first_lines_[first_used_++].second;
      return true;
    }
    if (!reader_.next(line_)) return false;
    line_number_ = reader_.line_number();
    return true;
  }

  bool is_live_;
  file::LineReader reader_;
  LogLayout layout_;
  ChannelNames channels_;
  Passed passed_;
  bool look_like_gaps_ = false, is_behind_error_ = false, may_be_decimal_ = false;
  IdDoubt ids_;
  std::vector<std::pair<int64_t, std::string>> first_lines_;  // read to recognise the form
  std::size_t first_used_ = 0;
  std::string_view line_;  // the last one
  int64_t line_number_ = 0;
  const char* fault_ = nullptr;
};

}  // namespace

std::unique_ptr<FrameReader> open_text_log(file::ByteReader bytes, const std::string& format,
                                           const LogReading& reading) {
  return std::make_unique<TextRows>(std::move(bytes), format, reading);
}

}  // namespace kdgat::data
