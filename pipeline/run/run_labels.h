// What its user says of a run: a name, tags and notes, in labels.json of its folder. It is no part
// of run.json, which the process at work rewrites: so a run can be named while it works, and none
// of two who write at once is lost.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/system/record.h"

namespace kdgat {

inline constexpr const char* kLabelsFile = "labels.json";

struct RunNote {
  std::string time, text;
  static auto keys() {
    return std::tuple{key("time", &RunNote::time, "UTC, ISO 8601"),
                      key("text", &RunNote::text, "as it was written")};
  }
};

struct RunLabels {
  std::string name;               ///< "" = none; several runs may have the same
  std::vector<std::string> tags;  ///< each once, in the order in which they came
  std::vector<RunNote> notes;     ///< the oldest first

  bool has(const std::string& tag) const;

  static auto keys() {
    using L = RunLabels;
    return std::tuple{key("name", &L::name, "\"\" = none"), key("tags", &L::tags, "all of them"),
                      key("notes", &L::notes, "all of them").of_type("@note")};
  }
};

/// What is to become of them.
struct LabelChange {
  std::optional<std::string> name{};  ///< "" takes it away
  std::vector<std::string> tags{}, untag{};
  std::string note{};  ///< "" = none

  bool is_empty() const { return !name && tags.empty() && untag.empty() && note.empty(); }
};

/// What is wrong with a name or a tag; "" if nothing. It is one line of up to 100 bytes of UTF-8,
/// without a comma, "/" and what a shell takes for more than text ($, backquotes, quotes,
/// backslashes), and begins with neither a dash nor a blank.
std::string label_problem(const std::string& label);

/// Those of a run's folder; none where the file is absent or not readable as such.
RunLabels read_labels(const std::filesystem::path& run_folder);

/// Changes them, one after another where several do. Throws Error(kUsage) for a name or tag that is
/// none, Error(kData) where the folder cannot be written.
RunLabels change_labels(const std::filesystem::path& run_folder, const LabelChange& change);

}  // namespace kdgat
