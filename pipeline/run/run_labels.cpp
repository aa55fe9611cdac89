#include "pipeline/run/run_labels.h"

#include <sys/file.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "kdgat/atomic_file.h"
#include "kdgat/text.h"
#include "pipeline/run/run_lock.h"
#include "pipeline/show/text.h"
#include "pipeline/system/clock.h"
#include "pipeline/system/json_file.h"
#include "pipeline/system/program.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kLabelsLock = "labels.lock";
constexpr std::size_t kLongestLabel = 100, kLongestNote = 10'000, kMostNotes = 1000;

void check_label(const char* what, const std::string& label) {
  if (const std::string problem = label_problem(label); !problem.empty()) {
    throw Error(ExitCode::kUsage, std::string(what) + " \"" + label + "\" " + problem);
  }
}

}  // namespace

bool RunLabels::has(const std::string& tag) const {
  return std::find(tags.begin(), tags.end(), tag) != tags.end();
}

std::string label_problem(const std::string& label) {
  if (label.empty()) return "is empty";
  if (label.size() > kLongestLabel) return "is longer than 100 bytes";
  if (!is_utf8(label)) return "is not UTF-8";
  if (holds_control(label)) return "is not one line of text";
  if (label.find_first_of("$`'\"\\") != std::string::npos) {
    return "holds $, \\, ` or a quote (' or \"), which a shell takes for more than text";
  }
  if (label.find('/') != std::string::npos) return "has a \"/\", as folders do";
  if (label.find(',') != std::string::npos) return "has a comma, which stands between several";
  if (label.front() == '-') return "begins with a dash, as flags do";
  if (label.front() == ' ' || label.back() == ' ') return "begins or ends with a blank";
  return "";
}

/// All that the file holds, whoever wrote it.
RunLabels whole_labels(const fs::path& run_folder) {
  return record::read<RunLabels>(read_json(run_folder / kLabelsFile));
}

RunLabels read_labels(const fs::path& run_folder) {
  RunLabels labels = whole_labels(run_folder);
  // Others may have written more than this program takes.
  labels.tags.resize(std::min(labels.tags.size(), kMostNotes));
  labels.notes.resize(std::min(labels.notes.size(), kMostNotes));
  labels.name = shortened(labels.name, kLongestLabel);
  for (std::string& tag : labels.tags) tag = shortened(tag, kLongestLabel);
  for (RunNote& note : labels.notes) {
    note = {shortened(note.time, kLongestLabel), shortened(note.text, kLongestNote)};
  }
  return labels;
}

RunLabels change_labels(const fs::path& run_folder, const LabelChange& change) {
  if (change.name && !change.name->empty()) check_label("the name", *change.name);
  for (const std::string& tag : change.tags) check_label("the tag", tag);
  if (change.note.size() > kLongestNote) {
    throw Error(ExitCode::kUsage,
                "the note has " + std::to_string(change.note.size()) + " bytes, more than " +
                    std::to_string(kLongestNote),
                "keep a longer text in a file and show it with kdgat report RUN --notes FILE.md");
  }
  const OwnedFd turn = lock_file(run_folder / kLabelsLock, LOCK_EX);
  RunLabels labels = whole_labels(run_folder);
  if (change.name) labels.name = *change.name;
  for (const std::string& tag : change.tags) {
    if (!labels.has(tag)) labels.tags.push_back(tag);
  }
  std::erase_if(labels.tags, [&](const std::string& tag) {
    return std::find(change.untag.begin(), change.untag.end(), tag) != change.untag.end();
  });
  if (!change.note.empty() && labels.notes.size() >= kMostNotes) {
    throw Error(ExitCode::kUsage, "the run has " + std::to_string(kMostNotes) + " notes already",
                "remove some in " + (run_folder / kLabelsFile).string());
  }
  if (!change.note.empty()) labels.notes.push_back({iso_now(), change.note});
  write_file(
      run_folder / kLabelsFile,
      record::write<json>(labels).dump(1, ' ', false, json::error_handler_t::replace) + "\n");
  return labels;
}

}  // namespace kdgat
