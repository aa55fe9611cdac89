// Files of a folder by what is asked of them, and tar archives. Knows no domain.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "engine/data/core/dataset_files.h"

namespace kdgat::data {

/// A file to train on, called `name`.
inline LogFile as_file(const std::filesystem::path& path, const std::string& name) {
  return {path, name, "", "train"};
}

/// Makes it and what it stands in, if it is not there. Throws Error(kData).
void make_folder(const std::filesystem::path& folder);

/// Files below `root` that `is_wanted`, by name. Throws Error(kData) if a folder cannot be read.
std::vector<LogFile> files_where(
    const std::filesystem::path& root,
    const std::function<bool(const std::filesystem::path&)>& is_wanted);

/// Says in `notes` what of the folder `source` is none of `used`: files by name, many of them by
/// ending, and links that are not followed. Does nothing where `source` is no folder.
void report_left_out(const std::filesystem::path& source, const std::vector<LogFile>& used,
                     Notes& notes);

/// Says in `notes`, where folders say what some files are for, which are in no such folder and are
/// taken for training, which folders contradict each other, and whether none is for training.
/// `names`: relative to the data set.
void report_folder_parts(const std::vector<std::string>& names, Notes& notes);

/// Whether the name is one of a tar archive: .tar, .tar.gz or .tgz.
bool is_archive(const std::filesystem::path& path);
/// Whether one of the first files of an archive has a name that `is_wanted`; false where it cannot
/// be read, which whoever reads it says.
bool archive_holds(const std::filesystem::path& archive,
                   const std::function<bool(const std::string& name)>& is_wanted);

}  // namespace kdgat::data
