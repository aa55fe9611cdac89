// Which log files of a folder make a data set, and what each is for. Reads names and, to find
// doubles, contents; knows no log format.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "kdgat/error.h"

namespace kdgat::data {

struct LogFile {
  std::filesystem::path path;
  std::string name;             ///< relative to the data set, with '/'
  std::string scenario;         ///< test files: the folder's name; "" otherwise
  std::string role;             ///< "train" or "test"
  std::string channel = "all";  ///< of what has several buses: which is read
};

/// Whether the name is one of a table: .csv, .log or .txt, with or without .gz or .zst.
bool is_table(const std::filesystem::path& path);
/// Whether the name is one of a log: a table's, or .asc, .blf, .mf4, .pcap, .pcapng or .trc; not
/// labels.csv and NAME.labels.csv, which hold the labels of logs beside them.
bool is_log(const std::filesystem::path& path);
/// The name in its folder without .gz or .zst.
std::filesystem::path unpacked_name(const std::filesystem::path& path);

/// The logs of `source` (a file, "-", or a folder), by folder then by name. A file belongs to the
/// folder it stands in: "test..." is a test scenario, everything else trains; where any folder is
/// named "...train...", folders that are neither are left out. Files whose name contains a word of
/// `exclude` are left out, with `deduplicate` also training files that stand with the same name and
/// content in an earlier training folder; each is told in `notes`. Throws Error(kData) if nothing
/// is left.
std::vector<LogFile> find_log_files(const std::filesystem::path& source,
                                    const std::vector<std::string>& exclude, bool deduplicate,
                                    std::vector<Diagnostic>& notes);

}  // namespace kdgat::data
