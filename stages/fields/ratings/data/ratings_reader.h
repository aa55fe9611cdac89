// RatingsReader: the files of one data set of ratings, line by line, to Ratings with their
// features. Owns what it has read. Which files these are says ratings_import.h.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/file/line_reader.h"
#include "fields/ratings/data/ratings.h"
#include "fields/ratings/data/ratings_import.h"

namespace kdgat::ratings {

/// Where a table of ratings has them; -1 = nowhere.
struct RatingColumns {
  int64_t user, item, rating, time;
  RatingColumns(const std::vector<std::string>& header, const RatingsOptions& options);
  bool are_there() const { return user >= 0 && item >= 0 && rating >= 0; }
};

/// What stands between the fields of a line without a header: "::", a tab, a comma or a blank, the
/// first of them that gives user, item, rating and perhaps time, a rating being a number; "" if
/// none does.
std::string_view separator_of(std::string_view line);

class RatingsReader {
 public:
  /// Both outlive it; warnings go to `report`.
  RatingsReader(const RatingsImport& import, data::ImportReport& report)
      : import_(import), report_(report) {}

  /// Each counts the rows of `source`. Throws Error(kData) with "file:line" of what is wrong.
  void read_u_data(file::LineReader lines, graph::Source& source);
  void read_csv(file::LineReader lines, graph::Source& source);
  void read_users(file::LineReader lines, graph::Source& source);
  void read_items(file::LineReader lines, graph::Source& source);
  /// Once a file is read: how many of its lines were malformed, if not all of them were told.
  void sum_up(const graph::Source& source, const std::filesystem::path& file);

  /// Throws Error(kData) if there is too little to learn from; `path` is what was read.
  Ratings finish(const std::string& path);

 private:
  /// Names in the order they came, with numbers.
  class Names {
   public:
    int32_t number(std::string_view name);
    /// The names in order; `numbers`, as number() gave them, become places in it.
    std::vector<std::string> sort(std::vector<int32_t>& numbers) const;

   private:
    std::map<std::string, int32_t, std::less<>> numbers_;
  };

  bool next(file::LineReader& lines, std::string_view& line);
  /// Calls row(fields, where) for each line of at least `least` fields between bars.
  template <class Row>
  void each_row(file::LineReader& lines, graph::Source& source, std::size_t least, const Row& row);
  template <class Where>
  void note(Names& names, std::vector<int32_t>& row_of, std::string_view name, int32_t row,
            const Where& where);
  void malformed(graph::Source& source, const std::string& where, const std::string& what);
  template <class Where>
  void take(graph::Source& source, const Where& where, std::string_view user, std::string_view item,
            std::string_view rating, std::string_view time);
  void keep_last_of_pairs();
  void fill_years(const std::string& path);
  void make_features(const std::string& path);

  const RatingsImport& import_;
  data::ImportReport& report_;
  Ratings data_;
  Names users_, items_;
  bool timed_ = true;
  std::vector<int32_t> user_row_, item_row_;  // of a number, the row of its file; -1 = none
  std::vector<double> ages_, years_;
  std::vector<std::array<std::size_t, 2>> user_ones_;  // columns that are 1
  std::vector<std::vector<std::size_t>> item_ones_;
  std::vector<std::string> user_columns_, item_columns_;
};

}  // namespace kdgat::ratings
