// Which log files of a folder make a data set, and what each is for. Reads names and, to find
// doubles, contents; knows no log format.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/data/core/note.h"

namespace kdgat::data {

/// What find_log_files() does with files that no folder gives a part, where others are for
/// training.
inline constexpr const char* kLeaveOut = "leave_out";

struct LogFile {
  std::filesystem::path path;
  std::string name;             ///< relative to the data set, with '/'
  std::string scenario;         ///< test files: the folder's name; "" otherwise
  std::string role;             ///< "train", "val" or "test"
  std::string channel = "all";  ///< of what has several buses: which is read
};

/// Whether the name is one of a table: .csv, .log or .txt, with or without .gz or .zst. Endings are
/// those of any case of letters, here and below.
bool is_table(const std::filesystem::path& path);
/// Whether the name is one of a log: a table's, or .asc, .blf, .mf4, .pcap, .pcapng, .trc or .crtd;
/// not labels.csv and NAME.labels.csv, which hold the labels of logs beside them.
bool is_log(const std::filesystem::path& path);
/// The name in its folder without .gz or .zst.
std::filesystem::path unpacked_name(const std::filesystem::path& path);
/// The table with the labels of a log: of "drive.blf" "drive.labels.csv", else "labels.csv" in the
/// same folder; empty if there is neither.
std::filesystem::path label_table_of(const std::filesystem::path& log);

/// The endings of files with their numbers, "2 .png, 1 without an ending"; of many the first ones.
std::string counted_endings(const std::vector<std::filesystem::path>& files);
/// Which folders the files of these names, relative to a data set, lie in, with their numbers:
/// "extra (10), misc (2)"; of many the first ones.
std::string counted_folders(const std::vector<std::string>& names);

/// The logs of `source` (a file, "-", or a folder), by folder then by name. What each is for is
/// said by the folders between `source` and the file (part_of_folders()); a file of which none says
/// it trains, or where any file is in a folder for training is for the part `unnamed`: "train",
/// "val", "test", or kLeaveOut. Files whose name contains a word of `exclude` are left out, with
/// `deduplicate` also training files that stand with the same name and content in an earlier
/// training folder. `notes` name what is left out, files that are no logs among them, and folders
/// that contradict each other. Throws Error(kData) if nothing is left.
std::vector<LogFile> find_log_files(const std::filesystem::path& source,
                                    const std::vector<std::string>& exclude, bool deduplicate,
                                    Notes& notes, const std::string& unnamed = "train");

}  // namespace kdgat::data
