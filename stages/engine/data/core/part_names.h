// Which part of a data set a file is for, by the names of the folders it lies in. Reads names only.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "kdgat/error.h"

namespace kdgat::data {

/// With small letters for capital ones, of those of ASCII.
std::string small_letters(std::string_view text);

/// "train", "val" or "test"; "" for a word that names no part. In any case of letters.
std::string_view part_of_word(std::string_view word);

/// The part that a word of the name names ("20news-bydate-test", "r8.train.en", "valData"); "" if
/// no word does, or if words name several parts.
std::string_view part_of_name(std::string_view name);

/// part_of_name(), and of a name without such a word the part whose name it begins with
/// ("testdata").
std::string_view part_of_folder(std::string_view name);

/// What the folders between a data set and a file say.
struct FolderPart {
  std::string part;  ///< "train", "val", "test" or ""
  /// The outermost folder that names the part, as a path relative to the data set.
  std::filesystem::path folder;
  /// A folder around it that names another part, likewise; empty if none does.
  std::filesystem::path outer;
};

/// Of a path of folders, relative to the data set, each by `part_of` of its name. Where two
/// contradict each other, the inner one counts.
FolderPart part_of_folders(const std::filesystem::path& folders,
                           std::string_view (*part_of)(std::string_view name) = part_of_folder);

/// The same of a file, by its name relative to the data set; by whole words of its folders.
std::string part_of_file(const std::filesystem::path& name);

/// The warning of a folder of `root` that contradicts one around it.
Diagnostic contradiction_of(const std::filesystem::path& root, const FolderPart& said);

}  // namespace kdgat::data
