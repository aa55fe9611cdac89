// What `kdgat data import`, `inspect` and `inject` print for people. Reads their results, see
// data.h.
#pragma once

#include <iosfwd>
#include <nlohmann/json.hpp>

#include "pipeline/system/record.h"

namespace kdgat {

/// What `kdgat data inject` wrote.
struct InjectedFile {
  std::string file, source, attack;
  int64_t attacks = 0, rows = 0, attack_rows = 0;
  int64_t added = 0, changed = 0, removed = 0, no_room = 0;
  static auto keys() {
    using F = InjectedFile;
    return std::tuple{key("file", &F::file, "relative to the folder"),
                      key("source", &F::source, "the log that it was made of"),
                      key("attack", &F::attack, "its kind"),
                      key("attacks", &F::attacks, "how many of them"),
                      key("rows", &F::rows, "of the file"),
                      key("attack_rows", &F::attack_rows, "of these"),
                      key("added", &F::added, "rows"),
                      key("changed", &F::changed, "rows"),
                      key("removed", &F::removed, "rows"),
                      key("no_room", &F::no_room, "attacks that found no place")};
  }
};
struct InjectedFiles {
  std::string folder;
  std::vector<InjectedFile> files;
  static auto keys() {
    return std::tuple{key("folder", &InjectedFiles::folder, "that was written to"),
                      key("files", &InjectedFiles::files, "each that was written")};
  }
};

/// What `kdgat data convert` wrote.
struct ConvertedLog {
  std::string file, format;
  int64_t rows = 0, malformed = 0;
  static auto keys() {
    return std::tuple{key("file", &ConvertedLog::file, "that was written"),
                      key("format", &ConvertedLog::format, "of the source"),
                      key("rows", &ConvertedLog::rows, "frames"),
                      key("malformed", &ConvertedLog::malformed, "rows that were left out")};
  }
};

void print_import(std::ostream& out, const nlohmann::json& result);
void print_inspect(std::ostream& out, const nlohmann::json& result);
void print_inject(std::ostream& out, const nlohmann::json& result);

}  // namespace kdgat
