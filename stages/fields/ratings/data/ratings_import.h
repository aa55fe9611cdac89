// From ratings to their graph.
//
//   u-data        a file u.data: user<TAB>item<TAB>rating<TAB>time, one a line, without header;
//                 beside it, for features, where there are:
//                   u.user  id|age|gender|occupation|zip
//                   u.item  id|title|dd-Mmm-yyyy|..|..|genres, 0 or 1 each
//                 or a file ratings.dat: user::item::rating::time; also with commas or blanks
//   ratings-csv   a table with a header, comma, semicolon or tab, and the columns user_column,
//                 item_column, rating_column, perhaps time_column, or what public tables call them
//                 (ratings_reader.cpp)
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/data/core/dataset_files.h"
#include "engine/data/core/import_options.h"
#include "engine/data/core/import_report.h"
#include "fields/ratings/data/ratings_options.h"

namespace kdgat::ratings {

struct RatingsInput {
  std::string format;                ///< "u-data" or "ratings-csv"
  std::vector<data::LogFile> files;  ///< role "ratings", "users" or "items"; the ratings first
};

/// What a source that no form fits lacks to be ratings; none if it is something else. Reads first
/// lines only.
std::optional<Diagnostic> near_ratings(const std::filesystem::path& source,
                                       const RatingsOptions& options);

/// What `source` holds, if that are ratings: a file, or a folder with one. Nothing where format is
/// neither "auto", "ratings" nor a form of them. Reads first lines only. Throws Error(kData) if
/// what the option format names is not there.
std::optional<RatingsInput> find_ratings_input(const std::filesystem::path& source,
                                               const RatingsImportOptions& options);

struct RatingsImport {
  const RatingsInput& input;
  const RatingsImportOptions& options;
  std::function<void(int64_t bytes)> done;  ///< so many more bytes; throws to end the import
  std::function<bool()> cancelled{};        ///< asked while a file is unpacked
};

/// Reads, divides and writes the store `to`. Of a pair that is rated twice the last rating counts.
/// A malformed line is counted and told, with options.strict an error. Features: users z(age),
/// gender F and M, occupations in order; items z(year), missing ones the median, and genres; z with
/// mean and standard deviation (of all, not of a sample) of all users or items. Throws Error(kData)
/// with "file:line" of what is wrong.
void import_ratings(const RatingsImport& import, const nlohmann::json& made_with,
                    const std::filesystem::path& to, data::ImportReport& report);

}  // namespace kdgat::ratings
