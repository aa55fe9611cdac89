#include "fields/ratings/data/ratings_reader.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <numeric>
#include <span>
#include <tuple>

#include "engine/arrays/index.h"
#include "engine/data/core/feature_columns.h"
#include "engine/file/csv.h"
#include "engine/file/number_text.h"

namespace kdgat::ratings {

namespace {

constexpr std::size_t kShownLines = 5;
constexpr int64_t kLinesAtOnce = 1 << 14;

std::vector<std::string_view> fields_of(std::string_view line, std::string_view separator) {
  std::vector<std::string_view> out;
  for (std::size_t from = 0;;) {
    const std::size_t end = line.find(separator, from);
    out.push_back(line.substr(from, end - from));
    if (end == std::string_view::npos) return out;
    from = end + separator.size();
  }
}

/// A number, maybe with a decimal comma.
std::optional<double> number_with_comma(std::string_view text) {
  if (text.find(',') == std::string_view::npos) return file::number_in(text);
  std::string plain(text);
  std::replace(plain.begin(), plain.end(), ',', '.');
  return file::number_in(plain);
}

/// What public tables call their columns, as plain() writes it; the first that is there is taken.
constexpr const char* kUsers[] = {"user", "userid", "reviewerid", "reviewer", "customerid", "uid"};
constexpr const char* kItems[] = {"item",       "itemid",     "movie",    "movieid", "asin",
                                  "parentasin", "book",       "bookid",   "isbn",    "product",
                                  "productid",  "businessid", "artistid", "iid"};
constexpr const char* kRatings[] = {"rating", "overall", "stars", "score", "bookrating"};
constexpr const char* kTimes[] = {"time", "timestamp", "unixreviewtime", "unixtime"};

/// A name of a column in lower case, without marks, and of RecBole without its type:
/// "user_id:token" is "userid".
std::string plain(const std::string& name) {
  std::string out;
  for (const char c : name.substr(0, name.find(':'))) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0) out += static_cast<char>(std::tolower(byte));
  }
  return out;
}

/// The column `wanted`, or where that is merely the default, the first of `others`; -1 = none.
int64_t column_of(const std::vector<std::string>& header, const std::string& wanted,
                  const std::string& fallback, std::span<const char* const> others) {
  const auto place_of = [](const std::vector<std::string>& names, const std::string& name) {
    const auto found = std::find(names.begin(), names.end(), name);
    return found == names.end() ? int64_t{-1} : int64_t{found - names.begin()};
  };
  const int64_t exact = place_of(header, wanted);
  if (exact >= 0 || wanted != fallback) return exact;
  std::vector<std::string> names;
  names.reserve(header.size());
  for (const std::string& name : header) names.push_back(plain(name));
  for (const char* other : others) {
    if (const int64_t place = place_of(names, other); place >= 0) return place;
  }
  return -1;
}

/// (value - mean) / deviation; 0 where all are equal.
std::vector<float> standardised(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double square = 0;
  for (const double v : values) square += (v - mean) * (v - mean);
  const double deviation = std::sqrt(square / n);
  std::vector<float> out;
  out.reserve(values.size());
  for (const double v : values) {
    out.push_back(deviation > 0 ? static_cast<float>((v - mean) / deviation) : 0.0F);
  }
  return out;
}

}  // namespace

RatingColumns::RatingColumns(const std::vector<std::string>& header, const RatingsOptions& o)
    : user(column_of(header, o.user_column, "user", kUsers)),
      item(column_of(header, o.item_column, "item", kItems)),
      rating(column_of(header, o.rating_column, "rating", kRatings)),
      time(column_of(header, o.time_column, "time", kTimes)) {}

std::string_view separator_of(std::string_view line) {
  for (const std::string_view separator : {"::", "\t", ",", " "}) {
    const std::vector<std::string_view> fields = fields_of(line, separator);
    if (fields.size() >= 3 && fields.size() <= 4 && !fields[0].empty() && !fields[1].empty() &&
        file::number_in(fields[2])) {
      return separator;
    }
  }
  return "";
}

int32_t RatingsReader::Names::number(std::string_view name) {
  const auto found = numbers_.find(name);
  if (found != numbers_.end()) return found->second;
  return numbers_.emplace(std::string(name), static_cast<int32_t>(numbers_.size())).first->second;
}

std::vector<std::string> RatingsReader::Names::sort(std::vector<int32_t>& numbers) const {
  std::vector<std::string> names;
  std::vector<int32_t> place(numbers_.size());
  for (const auto& [name, number] : numbers_) {
    place[arrays::at(number)] = static_cast<int32_t>(names.size());
    names.push_back(name);
  }
  for (int32_t& number : numbers) number = place[arrays::at(number)];
  return names;
}

bool RatingsReader::next(file::LineReader& lines, std::string_view& line) {
  const int64_t before = lines.bytes_read();
  const bool is_there = lines.next(line);
  if (lines.bytes_read() > before) import_.done(lines.bytes_read() - before);
  return is_there;
}

template <class Row>
void RatingsReader::each_row(file::LineReader& lines, graph::Source& source, std::size_t least,
                             const Row& row) {
  std::string_view line;
  while (next(lines, line)) {
    if (line.empty()) continue;
    ++source.rows;
    const auto where = [&] { return lines.name() + ":" + std::to_string(lines.line_number()); };
    const std::vector<std::string_view> fields = fields_of(line, "|");
    if (fields.size() < least) {
      throw Error(ExitCode::kData,
                  data::count_of(static_cast<int64_t>(fields.size()), "field") + " between |, " +
                      std::to_string(least) + " are wanted",
                  "", where());
    }
    row(fields, where);
  }
}

template <class Where>
void RatingsReader::note(Names& names, std::vector<int32_t>& row_of, std::string_view name,
                         int32_t row, const Where& where) {
  const auto number = arrays::at(names.number(name));
  if (number >= row_of.size()) row_of.resize(number + 1, -1);
  if (row_of[number] >= 0) {
    throw Error(ExitCode::kData, file::shown(name) + " appears twice", "", where());
  }
  row_of[number] = row;
}

void RatingsReader::malformed(graph::Source& source, const std::string& where,
                              const std::string& what) {
  if (import_.options.strict) throw Error(ExitCode::kData, what, "", where);
  if (arrays::at(source.malformed++) < kShownLines)
    report_.warnings.push_back({where, what, "left out"});
}

template <class Where>
void RatingsReader::take(graph::Source& source, const Where& where, std::string_view user,
                         std::string_view item, std::string_view rating, std::string_view time) {
  const auto name_in = [](std::string_view text) {
    const std::size_t from = std::min(text.find_first_not_of(" \t"), text.size());
    text = text.substr(from, text.find_last_not_of(" \t") + 1 - from);
    return text == "nan" || text == "NaN" ? std::string_view() : text;  // pandas' for none
  };
  user = name_in(user);
  item = name_in(item);
  const std::optional<double> value = number_with_comma(rating), when = file::number_in(time);
  if (user.empty() || item.empty()) {
    return malformed(source, where(), "no " + std::string(user.empty() ? "user" : "item"));
  }
  if (!value || !std::isfinite(static_cast<float>(*value))) {
    return malformed(source, where(), "the rating is not a number: " + file::shown(rating));
  }
  if (!time.empty() && (!when || !std::isfinite(*when) || std::fabs(*when) > 9e15)) {
    return malformed(source, where(), "the time is not a number: " + file::shown(time));
  }
  timed_ = timed_ && when;
  data_.user.push_back(users_.number(user));
  data_.item.push_back(items_.number(item));
  data_.rating.push_back(static_cast<float>(*value));
  data_.time.push_back(when ? static_cast<int64_t>(*when) : 0);
}

void RatingsReader::read_u_data(file::LineReader lines, graph::Source& source) {
  std::string_view line, separator;
  while (next(lines, line)) {
    if (line.empty()) continue;
    if (separator.empty()) separator = separator_of(line);
    const std::string_view between = separator.empty() ? "\t" : separator;
    ++source.rows;
    const auto where = [&] { return lines.name() + ":" + std::to_string(lines.line_number()); };
    const std::vector<std::string_view> fields = fields_of(line, between);
    if (fields.size() < 3 || fields.size() > 4) {
      const std::string word = between == "\t" ? " TAB " : " " + std::string(between) + " ";
      std::string what =
          data::count_of(static_cast<int64_t>(fields.size()), "field") + ", not user";
      for (const char* name : {"item", "rating", "time"}) what.append(word).append(name);
      malformed(source, where(), what);
      continue;
    }
    take(source, where, fields[0], fields[1], fields[2],
         fields.size() == 4 ? fields[3] : std::string_view());
  }
}

void RatingsReader::read_csv(file::LineReader lines, graph::Source& source) {
  file::CsvReader rows(std::move(lines), false, 0);
  const RatingColumns columns(rows.header(), import_.options);
  if (!columns.are_there()) {
    rows.require(columns.user < 0   ? import_.options.user_column
                 : columns.item < 0 ? import_.options.item_column
                                    : import_.options.rating_column);
  }
  const auto place = [](int64_t column) {
    return column < 0 ? std::optional<std::size_t>() : arrays::at(column);
  };
  data::report_unused_columns(
      rows, {place(columns.user), place(columns.item), place(columns.rating), place(columns.time)},
      report_.warnings);
  int64_t read = 0;
  while (rows.next()) {
    ++source.rows;
    take(
        source, [&] { return rows.where(); }, rows.field(arrays::at(columns.user)),
        rows.field(arrays::at(columns.item)), rows.field(arrays::at(columns.rating)),
        columns.time >= 0 ? std::string_view(rows.field(arrays::at(columns.time)))
                          : std::string_view());
    if (source.rows % kLinesAtOnce == 0) {
      import_.done(rows.bytes_read() - read);
      read = rows.bytes_read();
    }
  }
  import_.done(rows.bytes_read() - read);
}

void RatingsReader::read_users(file::LineReader lines, graph::Source& source) {
  std::map<std::string, std::size_t> genders, occupations;
  std::vector<std::array<std::string, 2>> words;
  each_row(lines, source, 4, [&](const std::vector<std::string_view>& f, const auto& where) {
    const std::optional<double> age = file::number_in(f[1]);
    if (!age)
      throw Error(ExitCode::kData, "the age is not a number: " + file::shown(f[1]), "", where());
    note(users_, user_row_, f[0], static_cast<int32_t>(ages_.size()), where);
    ages_.push_back(*age);
    words.push_back({std::string(f[2]), std::string(f[3])});
    genders.emplace(f[2], 0);
    occupations.emplace(f[3], 0);
  });
  user_columns_ = {"age"};
  for (auto* names : {&genders, &occupations}) {
    for (auto& [name, column] : *names) {
      column = user_columns_.size();
      user_columns_.push_back((names == &genders ? "gender " : "occupation ") + name);
    }
  }
  for (const auto& [gender, occupation] : words) {
    user_ones_.push_back({genders.at(gender), occupations.at(occupation)});
  }
}

void RatingsReader::read_items(file::LineReader lines, graph::Source& source) {
  static constexpr const char* kGenres[] = {
      "unknown",     "Action", "Adventure", "Animation", "Children", "Comedy",  "Crime",
      "Documentary", "Drama",  "Fantasy",   "Film-Noir", "Horror",   "Musical", "Mystery",
      "Romance",     "Sci-Fi", "Thriller",  "War",       "Western"};
  constexpr std::size_t kFirst = 5, kFields = kFirst + std::size(kGenres);
  each_row(lines, source, kFields, [&](const std::vector<std::string_view>& f, const auto& where) {
    note(items_, item_row_, f[0], static_cast<int32_t>(years_.size()), where);
    const std::string_view date = f[2];
    const std::optional<double> year =
        date.size() < 4 ? std::nullopt : file::number_in(date.substr(date.size() - 4));
    if (!date.empty() && !year) {
      throw Error(ExitCode::kData, "no year ends the date " + file::shown(date), "", where());
    }
    years_.push_back(year ? *year : std::nan(""));
    std::vector<std::size_t> ones;
    for (std::size_t g = 0; g < std::size(kGenres); ++g) {
      const std::string_view flag = f[kFirst + g];
      if (flag != "0" && flag != "1") {
        throw Error(
            ExitCode::kData,
            "genre " + std::string(kGenres[g]) + " is neither 0 nor 1: " + file::shown(flag), "",
            where());
      }
      if (flag == "1") ones.push_back(1 + g);
    }
    item_ones_.push_back(std::move(ones));
  });
  item_columns_ = {"year"};
  for (const char* genre : kGenres) item_columns_.push_back(std::string("genre ") + genre);
}

void RatingsReader::sum_up(const graph::Source& source, const std::filesystem::path& file) {
  if (arrays::at(source.malformed) > kShownLines) {
    report_.warnings.push_back(
        {file.string(), data::count_of(source.malformed, "malformed line") + " left out", ""});
  }
}

void RatingsReader::keep_last_of_pairs() {
  const auto count = data_.rating.size();
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto pair_of = [&](std::size_t r) { return std::pair(data_.user[r], data_.item[r]); };
  // Where all have times the latest is the last, else the one that stands last.
  const auto place_of = [&](std::size_t r) {
    return std::tuple(data_.user[r], data_.item[r], timed_ ? data_.time[r] : 0);
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return place_of(a) < place_of(b); });
  std::vector<bool> is_late(count, false);
  int64_t repeated = 0;
  for (std::size_t i = 0; i + 1 < count; ++i) {
    if (pair_of(order[i]) != pair_of(order[i + 1])) continue;
    is_late[order[i]] = true;
    ++repeated;
  }
  if (repeated == 0) return;
  std::size_t to = 0;
  for (std::size_t r = 0; r < count; ++r) {
    if (is_late[r]) continue;
    data_.user[to] = data_.user[r];
    data_.item[to] = data_.item[r];
    data_.rating[to] = data_.rating[r];
    data_.time[to++] = data_.time[r];
  }
  data_.user.resize(to);
  data_.item.resize(to);
  data_.rating.resize(to);
  data_.time.resize(to);
  report_.warnings.push_back(
      {import_.input.files.front().path.string(),
       data::count_of(repeated, "pair") + " rated again: the last rating counts", ""});
}

void RatingsReader::fill_years(const std::string& path) {
  std::vector<double> known;
  std::copy_if(years_.begin(), years_.end(), std::back_inserter(known),
               [](double year) { return !std::isnan(year); });
  if (known.empty()) throw Error(ExitCode::kData, "no item has a year", "", path);
  std::sort(known.begin(), known.end());
  const std::size_t half = known.size() / 2;
  const double median = known.size() % 2 == 1 ? known[half] : (known[half - 1] + known[half]) / 2;
  for (double& year : years_) {
    if (std::isnan(year)) year = median;
  }
}

void RatingsReader::make_features(const std::string& path) {
  fill_years(path);
  data_.user_columns = user_columns_;
  data_.item_columns = item_columns_;
  const auto width = arrays::at(data_.columns());
  data_.x.assign(arrays::at(data_.nodes()) * width, 0.0F);
  const auto fill = [&](Names& names, const std::vector<std::string>& sorted,
                        const std::vector<int32_t>& row_of, const std::vector<double>& values,
                        const auto& ones, std::size_t first, const char* file) {
    const std::vector<float> z = standardised(values);
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      const auto number = arrays::at(names.number(sorted[i]));
      if (number >= row_of.size() || row_of[number] < 0) {
        throw Error(ExitCode::kData,
                    file::shown(sorted[i]) + " is rated or rates, but not in " + file, "", path);
      }
      float* row = data_.x.data() + (first + i) * width;
      row[0] = z[arrays::at(row_of[number])];
      for (const std::size_t column : ones[arrays::at(row_of[number])]) row[column] = 1;
    }
  };
  fill(users_, data_.users, user_row_, ages_, user_ones_, 0, "u.user");
  fill(items_, data_.items, item_row_, years_, item_ones_, data_.users.size(), "u.item");
}

Ratings RatingsReader::finish(const std::string& path) {
  keep_last_of_pairs();
  if (data_.count() < 2) {
    std::vector<Diagnostic> why = {
        {path, data::count_of(data_.count(), "rating") + ": nothing to learn from", ""}};
    for (const data::Note& note : report_.warnings)
      why.push_back(note);  // lines that are no ratings
    throw Error(ExitCode::kData, std::move(why));
  }
  data_.users = users_.sort(data_.user);
  data_.items = items_.sort(data_.item);
  if (!timed_) data_.time.clear();
  // Of whom u.user or u.item knows nothing, no features: half known they would be no features.
  if (user_ones_.empty() != item_ones_.empty()) {
    report_.warnings.push_back({path,
                                std::string("without ") +
                                    (user_ones_.empty() ? "u.user" : "u.item") +
                                    " beside it nothing has features",
                                ""});
  }
  if (!user_ones_.empty() && !item_ones_.empty()) make_features(path);
  return std::move(data_);
}

}  // namespace kdgat::ratings
