#include "fields/ratings/data/ratings_import.h"

#include <algorithm>

#include "engine/file/csv.h"
#include "engine/file/line_reader.h"
#include "fields/ratings/data/ratings_reader.h"
#include "fields/ratings/data/ratings_store.h"

namespace kdgat::ratings {

namespace fs = std::filesystem;

namespace {

constexpr const char* kUData = "u-data";
constexpr const char* kCsv = "ratings-csv";

/// The name without .gz.
std::string plain_name(const fs::path& path) {
  const fs::path name = path.filename();
  return (name.extension() == ".gz" ? name.stem() : name).string();
}

/// `folder`/NAME or NAME.gz; empty if there is neither.
fs::path plain_or_gz(const fs::path& folder, const std::string& name) {
  for (const char* ending : {"", ".gz"}) {
    if (fs::exists(folder / (name + ending))) return folder / (name + ending);
  }
  return {};
}

/// The first line of a table, as its name has it; empty if it is none.
std::string first_line(const fs::path& path) {
  static constexpr const char* kTables[] = {".csv", ".txt", ".tsv", ".inter", ".dat"};
  const std::string extension = fs::path(plain_name(path)).extension().string();
  if (std::find(std::begin(kTables), std::end(kTables), extension) == std::end(kTables)) return "";
  file::LineReader lines(path);
  std::string_view first;
  if (!lines.next(first)) return "";
  if (first.starts_with("\xEF\xBB\xBF")) first.remove_prefix(3);
  return std::string(first);
}

std::vector<std::string> header_of(const fs::path& path) {
  const std::string line = first_line(path);
  return file::csv_fields(line, file::csv_separator(line));
}

bool is_ratings_csv(const fs::path& path, const RatingsOptions& options) {
  return RatingColumns(header_of(path), options).are_there();
}

/// Ratings without a header: any with "::", others by the name of the file.
bool are_plain_ratings(const fs::path& path) {
  const std::string_view separator = separator_of(first_line(path));
  return separator == "::" || (!separator.empty() && plain_name(path).starts_with("ratings"));
}

RatingsInput u_data_at(const fs::path& ratings) {
  RatingsInput out{kUData, {{ratings, ratings.filename().string(), "", "ratings"}}};
  for (const auto& [name, role] : {std::pair("u.user", "users"), std::pair("u.item", "items")}) {
    const fs::path path = plain_or_gz(ratings.parent_path(), name);
    if (!path.empty()) out.files.push_back({path, path.filename().string(), "", role});
  }
  return out;
}

RatingsInput csv_at(const fs::path& path) {
  return {kCsv, {{path, path.filename().string(), "", "ratings"}}};
}

/// The file of ratings.dat, alone: what stands next to it has another form than u.user and u.item.
RatingsInput plain_at(const fs::path& path) {
  return {kUData, {{path, path.filename().string(), "", "ratings"}}};
}

/// Nothing recognised, or what `form` ("" = any) says.
std::optional<RatingsInput> recognise(const fs::path& source, const std::string& form,
                                      bool is_named, const RatingsOptions& options) {
  if (fs::is_directory(source)) {
    const fs::path u_data = plain_or_gz(source, "u.data");
    if (form != kCsv && !u_data.empty()) return u_data_at(u_data);
    std::vector<fs::path> tables, plain;
    for (const auto& entry : fs::directory_iterator(source)) {
      if (!entry.is_regular_file()) continue;
      if (form != kUData && is_ratings_csv(entry.path(), options)) tables.push_back(entry.path());
      if (form != kCsv && are_plain_ratings(entry.path())) plain.push_back(entry.path());
    }
    // Of several files without a header the one that is named for ratings.
    const auto named = std::find_if(plain.begin(), plain.end(), [](const fs::path& path) {
      return plain_name(path).starts_with("ratings.");
    });
    if (tables.empty() && named != plain.end()) return plain_at(*named);
    tables.insert(tables.end(), plain.begin(), plain.end());
    if (form == kUData && tables.size() == 1) return plain_at(tables.front());
    if (tables.size() > 1) {
      std::sort(tables.begin(), tables.end());
      throw Error(ExitCode::kData,
                  source.string() + ": " + std::to_string(tables.size()) +
                      " tables of ratings, of which one is wanted",
                  "name the file, e.g. " + tables.front().string());
    }
    if (tables.empty()) return std::nullopt;
    return plain.empty() ? csv_at(tables.front()) : plain_at(tables.front());
  }
  const bool is_u_data = plain_name(source) == "u.data";
  if (form != kCsv && (is_u_data || form == kUData)) return u_data_at(source);
  if (form == kCsv) return csv_at(source);
  if (is_ratings_csv(source, options)) return csv_at(source);
  if (are_plain_ratings(source)) return plain_at(source);
  if (!is_named) return std::nullopt;
  file::LineReader lines(source);
  std::string_view first;
  if (lines.next(first) && !separator_of(first).empty()) return u_data_at(source);
  return std::nullopt;
}

}  // namespace

std::optional<RatingsInput> find_ratings_input(const fs::path& source,
                                               const RatingsImportOptions& options) {
  const std::string& format = options.format;
  const bool is_named = format == "ratings" || format == kUData || format == kCsv;
  if (!is_named && format != "auto") return std::nullopt;
  const std::string form = format == kUData || format == kCsv ? format : "";
  if (source == "-") {
    if (!is_named) return std::nullopt;
    if (form.empty()) {
      throw Error(ExitCode::kUsage, "the form of ratings on standard input must be named",
                  "data.format=u-data or ratings-csv");
    }
    return RatingsInput{form, {{source, "standard input", "", "ratings"}}};
  }
  std::error_code failure;
  if (!fs::exists(source, failure)) return std::nullopt;  // said by who reads it
  std::optional<RatingsInput> out = recognise(source, form, is_named, options);
  if (!out && is_named) {
    throw Error(
        ExitCode::kData,
        source.string() + ": no ratings " + (form.empty() ? "" : "(" + form + ") ") + "were found",
        "a folder with u.data, or a CSV with the columns " + options.user_column + ", " +
            options.item_column + ", " + options.rating_column);
  }
  return out;
}

std::optional<Diagnostic> near_ratings(const fs::path& source, const RatingsOptions& options) {
  std::error_code ignored;
  if (!fs::is_regular_file(source, ignored)) return std::nullopt;
  const std::vector<std::string> header = header_of(source);
  const RatingColumns columns(header, options);
  const int there = (columns.user >= 0) + (columns.item >= 0) + (columns.rating >= 0);
  if (there != 2) return std::nullopt;
  const char* const missing = columns.user < 0 ? "user" : columns.item < 0 ? "item" : "rating";
  return Diagnostic{source.string(),
                    std::string("a table of ratings without a column of the ") + missing,
                    std::string("data.") + missing + "_column=NAME names it"};
}

void import_ratings(const RatingsImport& import, const nlohmann::json& made_with,
                    const fs::path& to, data::ImportReport& report) {
  const RatingsImportOptions& options = import.options;
  RatingsReader reader(import, report);
  std::vector<graph::Source> sources;
  for (const data::LogFile& file : import.input.files) {
    graph::Source source{file.name, "", file.role, import.input.format, 0, 0, 0, 0};
    file::LineReader lines(file.path, import.cancelled);
    if (file.role == "users") {
      reader.read_users(std::move(lines), source);
    } else if (file.role == "items") {
      reader.read_items(std::move(lines), source);
    } else if (import.input.format == kCsv) {
      reader.read_csv(std::move(lines), source);
    } else {
      reader.read_u_data(std::move(lines), source);
    }
    reader.sum_up(source, file.path);
    sources.push_back(std::move(source));
  }
  const std::string path = import.input.files.front().path.string();
  const Ratings ratings = reader.finish(path);
  const bool by_time = options.rating_split == "time";
  if (by_time && ratings.time.empty()) {
    throw Error(ExitCode::kData, "rating_split: time, but not every rating has a time", "", path);
  }
  const RatingParts parts = by_time ? newest_parts(ratings.time, options.test_fraction)
                                    : permuted_parts(ratings.count(), options.test_fraction,
                                                     static_cast<uint32_t>(options.seed));
  if (parts.train.empty()) {
    throw Error(ExitCode::kData, "no rating is left to train on", "lower test_fraction", path);
  }
  write_rating_store(to, ratings, parts, sources, made_with);
}

}  // namespace kdgat::ratings
