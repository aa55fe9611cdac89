#include "engine/data/can/logs/label_intervals.h"

#include <algorithm>
#include <cmath>

#include "engine/data/can/frames/row_fields.h"
#include "engine/data/core/dataset_files.h"
#include "engine/file/csv.h"
#include "engine/file/number_text.h"
#include "kdgat/error.h"

namespace kdgat::data {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMostIntervals = 1'000'000;  // a few are meant

}  // namespace

LabelIntervals::LabelIntervals(const fs::path& table) {
  file::CsvReader rows{file::LineReader(table)};
  const std::size_t begin = rows.require("begin"), end = rows.require("end");
  const std::optional<std::size_t> id = rows.find("id");
  while (rows.next()) {
    const auto seconds = [&](std::size_t column) {
      const std::optional<double> value = file::number_in(row::trim(rows.field(column)));
      if (value && std::isfinite(*value)) return *value;
      throw Error(ExitCode::kData, file::shown(rows.field(column)) + " is no time in seconds", "",
                  rows.where());
    };
    Interval one{seconds(begin), seconds(end)};
    if (one.end < one.begin) {
      throw Error(ExitCode::kData, "the interval ends before it begins", "", rows.where());
    }
    if (const std::string_view text = id ? row::trim(rows.field(*id)) : ""; !text.empty()) {
      CanFrame frame;
      if (const char* fault = row::read_hex_id(text, frame)) {
        throw Error(ExitCode::kData, std::string(fault) + ": " + file::shown(text), "",
                    rows.where());
      }
      one.id = frame.id;
    }
    intervals_.push_back(one);
    if (intervals_.size() > kMostIntervals) {
      throw Error(ExitCode::kData, "more than 1,000,000 intervals", "", rows.where());
    }
  }
  std::sort(intervals_.begin(), intervals_.end(),
            [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  for (const Interval& one : intervals_) {
    latest_end_.push_back(latest_end_.empty() ? one.end : std::max(latest_end_.back(), one.end));
  }
}

int8_t LabelIntervals::label_of(const CanFrame& frame) const {
  if (std::isnan(frame.time)) return -1;
  const auto after =
      std::upper_bound(intervals_.begin(), intervals_.end(), frame.time,
                       [](double time, const Interval& one) { return time < one.begin; });
  for (auto i = static_cast<std::size_t>(after - intervals_.begin()); i-- > 0;) {
    if (latest_end_[i] < frame.time) return 0;  // and so did all before it
    const Interval& one = intervals_[i];
    if (one.end >= frame.time && (one.id < 0 || one.id == int64_t{frame.id})) return 1;
  }
  return 0;
}

std::optional<LabelIntervals> labels_beside(const fs::path& log) {
  if (log == "-") return std::nullopt;
  fs::path own = log.parent_path() / unpacked_name(log);
  own.replace_extension(".labels.csv");
  for (const fs::path& table : {own, log.parent_path() / "labels.csv"}) {
    std::error_code ignored;
    if (fs::is_regular_file(table, ignored)) return LabelIntervals(table);
  }
  return std::nullopt;
}

}  // namespace kdgat::data
