#include "engine/data/can/logs/label_intervals.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "engine/data/can/frames/row_fields.h"
#include "engine/data/can/logs/can_columns.h"
#include "engine/data/can/logs/cells.h"
#include "engine/data/can/logs/row_times.h"
#include "engine/data/core/dataset_files.h"
#include "engine/data/core/feature_columns.h"
#include "engine/file/csv.h"
#include "engine/file/number_text.h"
#include "kdgat/error.h"
#include "kdgat/text.h"

namespace kdgat::data {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMostIntervals = 1'000'000;  // a few are meant
constexpr double kLeastEpoch = 1e8;                // seconds: later times are since 1970 (1973)

std::string seconds_text(double seconds) { return format_number("%.15g", seconds); }

std::string format_id(uint32_t id) {
  char text[16];
  std::snprintf(text, sizeof text, id > 0x7FF ? "%08X" : "%03X", id);
  return text;
}

using Names = std::initializer_list<std::string_view>;

/// The column that one of these names stands for, by its letters and digits alone.
std::optional<std::size_t> column_of(const file::CsvReader& rows, const auto& is_wanted) {
  for (std::size_t c = 0; c < rows.header().size(); ++c) {
    if (is_wanted(column_key(rows.header()[c]))) return c;
  }
  return std::nullopt;
}
std::optional<std::size_t> column_of(const file::CsvReader& rows, Names names) {
  return column_of(rows, [&](const std::string& key) {
    return std::find(names.begin(), names.end(), key) != names.end();
  });
}

double time_in(const file::CsvReader& rows, std::size_t column) {
  const std::string_view text = row::trim(rows.field(column));
  const std::optional<double> value = file::number_in(text);
  if (value && std::isfinite(*value)) return *value;
  double date = 0;
  if (row::read_date_time(text, date) == nullptr) return date;
  throw Error(ExitCode::kData, file::shown(text) + " is no time in seconds", "", rows.where());
}

/// The ids of a row, maybe several, with blanks or signs between them.
std::vector<uint32_t> ids_in(const file::CsvReader& rows, std::size_t column) {
  constexpr std::string_view kBetween = " \t;,|[]'\"";
  std::vector<uint32_t> out;
  std::string_view rest = rows.field(column);
  for (;;) {
    rest.remove_prefix(std::min(rest.find_first_not_of(kBetween), rest.size()));
    if (rest.empty()) return out;
    const std::string_view text = rest.substr(0, rest.find_first_of(kBetween));
    rest.remove_prefix(text.size());
    bool ignored = false;
    CanFrame frame;
    if (const char* fault = row::read_hex_id(bare_id(text, ignored), frame)) {
      throw Error(ExitCode::kData, std::string(fault) + ": " + file::shown(text), "", rows.where());
    }
    out.push_back(frame.id);
  }
}

}  // namespace

LabelIntervals::LabelIntervals(const fs::path& table) : table_(table.string()) {
  file::CsvReader rows(file::LineReader(table), false, 0);
  const auto is_label = [](const std::string& key) {
    return column_named(key) == Column::kLabel || column_named(key) == Column::kSubclass;
  };
  const auto begin = column_of(rows, {"begin", "start", "starttime", "begintime", "from",
                                      "startsec", "attackstart", "starttimestamp"});
  const auto end = column_of(
      rows, {"end", "stop", "endtime", "stoptime", "to", "endsec", "attackend", "endtimestamp"});
  const auto id = column_of(rows, [](const std::string& key) {
    return key == "ids" || column_named(key) == Column::kId;
  });
  const auto label = column_of(rows, is_label);
  const auto log = column_of(rows, {"file", "filename", "log", "logfile"});
  if (!begin) rows.require("begin");
  if (!end) rows.require("end");
  report_unused_columns(rows, {begin, end, id, label, log}, unused_);
  while (rows.next()) {
    Interval one{time_in(rows, *begin), time_in(rows, *end)};
    one.line = rows.line();
    if (one.end < one.begin) {
      throw Error(ExitCode::kData, "the interval ends before it begins", "", rows.where());
    }
    const std::optional<int> what = label ? label_word(rows.field(*label)) : 1;
    if (!what) {
      throw Error(ExitCode::kData, file::shown(rows.field(*label)) + " is no label", "",
                  rows.where());
    }
    if (*what == 0) {
      ++benign_;
      continue;
    }
    if (log) one.file = fs::path(std::string(row::trim(rows.field(*log)))).filename().string();
    const std::vector<uint32_t> ids = id ? ids_in(rows, *id) : std::vector<uint32_t>();
    if (ids.empty()) intervals_.push_back(one);
    for (const uint32_t number : ids) {
      one.id = number;
      ids_[number] = false;
      intervals_.push_back(one);
    }
    if (intervals_.size() > kMostIntervals) {
      throw Error(ExitCode::kData, "more than 1,000,000 intervals", "", rows.where());
    }
  }
  std::sort(intervals_.begin(), intervals_.end(),
            [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  for (const Interval& one : intervals_) {
    latest_end_.push_back(latest_end_.empty() ? one.end : std::max(latest_end_.back(), one.end));
  }
  unmet_ = intervals_.size();
}

void LabelIntervals::begin(const fs::path& log) {
  for (Interval& one : intervals_) {
    one.is_of_log = one.file.empty() || one.file == log.filename() ||
                    one.file == unpacked_name(log) || one.file == unpacked_name(log).stem();
  }
}

int8_t LabelIntervals::label_of(const CanFrame& frame) {
  see(frame);
  if (std::isnan(frame.time)) return -1;
  const auto after =
      std::upper_bound(intervals_.begin(), intervals_.end(), frame.time,
                       [](double time, const Interval& one) { return time < one.begin; });
  int8_t label = 0;
  for (auto i = static_cast<std::size_t>(after - intervals_.begin()); i-- > 0;) {
    if (latest_end_[i] < frame.time) break;  // and so did all before it
    Interval& one = intervals_[i];
    if (!one.is_of_log || one.end < frame.time || (one.id >= 0 && one.id != int64_t{frame.id}))
      continue;
    label = 1;
    if (!std::exchange(one.is_met, true)) --unmet_;
    if (unmet_ == 0) break;  // else others may be met by the same frame
  }
  return label;
}

void LabelIntervals::see(const CanFrame& frame) {
  ++asked_;
  if (const auto id = ids_.find(frame.id); id != ids_.end()) id->second = true;
  if (std::isnan(frame.time)) return;
  first_ = std::min(first_, frame.time);
  last_ = std::max(last_, frame.time);
}

std::string LabelIntervals::shown(const Interval& one) const {
  std::string out = "line " + std::to_string(one.line) + ", ";
  if (one.id >= 0) out += "id " + format_id(static_cast<uint32_t>(one.id)) + " ";
  return out + seconds_text(one.begin) + " to " + seconds_text(one.end);
}

std::string LabelIntervals::times() const {
  if (first_ > last_) return "the frames have no times";
  const double from = intervals_.front().begin, to = latest_end_.back();
  std::string out = "the frames are from " + seconds_text(first_) + " to " + seconds_text(last_);
  if (to >= first_ && from <= last_) return out;
  out += ", the intervals from " + seconds_text(from) + " to " + seconds_text(to);
  const bool is_since_start = to < kLeastEpoch && first_ >= kLeastEpoch;
  const bool is_epoch = from >= kLeastEpoch && last_ < kLeastEpoch;
  if (is_since_start) out += ": those look like seconds since the start of the log";
  if (is_epoch) out += ": those look like seconds since 1970, the frames count from a start";
  return out;
}

Notes LabelIntervals::notes() const {
  const auto of_all = [&](std::size_t count) {
    return grouped(static_cast<int64_t>(count)) + " of " + grouped(std::ssize(intervals_)) +
           (intervals_.size() == 1 ? " interval" : " intervals");
  };
  Notes out = unused_;
  if (intervals_.empty() && benign_ > 0) return out;
  const auto with = [&](Note note) {
    out.push_back(std::move(note));
    return out;
  };
  if (intervals_.empty())
    return with({table_, "holds no interval: every frame counts as benign", ""});
  if (asked_ == 0) {
    return with(
        {table_, "not used: every row of the log has a label of its own", "", "label table", 1});
  }
  if (unmet_ == 0) return out;
  const auto first = std::find_if(intervals_.begin(), intervals_.end(),
                                  [](const Interval& one) { return !one.is_met; });
  std::string message = of_all(unmet_) + " met no frame, the first is " + shown(*first);
  const bool is_none = unmet_ == intervals_.size();
  if (is_none) message += "; every frame counts as benign";
  std::string absent;
  int64_t absent_ids = 0;
  for (const auto& [id, is_there] : ids_) {
    if (is_there) continue;
    if (absent_ids++ == 0) absent = format_id(id);
  }
  if (absent_ids > 0) {
    message += "; no frame has the id " + absent +
               (absent_ids > 1 ? " and " + grouped(absent_ids - 1) + " more of its ids" : "");
  }
  return with({table_, message + "; " + times(),
               is_none ? "begin and end are seconds on the clock of the log" : "", "interval",
               static_cast<int64_t>(unmet_)});
}

LabelIntervals* LabelTables::of(const fs::path& log) {
  if (log == "-") return nullptr;
  const fs::path table = label_table_of(log);
  if (table.empty()) return nullptr;
  const auto found = tables_.find(table);
  LabelIntervals& labels = found != tables_.end()
                               ? found->second
                               : tables_.emplace(table, LabelIntervals(table)).first->second;
  labels.begin(log);
  return &labels;
}

Notes LabelTables::notes() const {
  Notes out;
  for (const auto& [path, table] : tables_) {
    for (Note& note : table.notes()) out.push_back(std::move(note));
  }
  return out;
}

}  // namespace kdgat::data
