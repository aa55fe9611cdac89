// Which files of a folder hold texts, and in which form.
#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "engine/file/byte_reader.h"
#include "engine/file/csv.h"
#include "engine/file/number_text.h"
#include "engine/file/text_kind.h"
#include "fields/texts/data/text_import.h"

namespace kdgat::texts {

namespace fs = std::filesystem;

namespace {

constexpr const char* kLabelText = "label-text";
constexpr const char* kSplitLabelText = "split-label-text";
constexpr const char* kCsv = "text-csv";
constexpr std::size_t kHeadBytes = 1 << 13;
constexpr std::size_t kLongestLabel = 64;
constexpr std::size_t kMostTables = 64;  // more files than these are documents, not tables of them

/// The name without folders and without .gz.
fs::path plain_name(const fs::path& path) {
  const fs::path name = path.filename();
  return name.extension() == ".gz" ? name.stem() : name;
}

bool is_hidden(const fs::path& path) { return path.filename().string().starts_with("."); }

bool may_be_table(const fs::path& path) {
  const std::string extension = plain_name(path).extension().string();
  constexpr std::array kTables = {".en", ".tsv", ".txt", ".csv", ".tab"};
  return std::find(kTables.begin(), kTables.end(), extension) != kTables.end();
}

/// The part that the words of a name name, e.g. of r8.train.en or 20news-bydate-test.
TextPart part_in(const std::string& name) {
  TextPart part = TextPart::kNone;
  std::string word;
  for (const char c : name + ".") {
    if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      continue;
    }
    if (part == TextPart::kNone) part = part_named(word);
    word.clear();
  }
  return part;
}

std::string role_of(TextPart part) {
  return part == TextPart::kNone ? "" : kTextParts[static_cast<std::size_t>(part)];
}

/// Whether a token has letters beyond those of numbers in base 16, or is of letters alone and no
/// byte of a payload that happens to be so.
bool is_word(std::string_view token) {
  bool has_other_letter = false, is_of_letters = true;
  for (const char c : token) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_letter = byte > 127 || std::isalpha(byte) != 0;
    has_other_letter = has_other_letter || (is_letter && std::isxdigit(byte) == 0);
    is_of_letters = is_of_letters && is_letter;
  }
  return has_other_letter || (is_of_letters && !token.empty() && token.size() != 2);
}

/// What stands in a line, counted.
struct Tokens {
  int64_t words = 0, all = 0;

  void add(std::string_view text) {
    constexpr std::string_view kBlanks = " \t\r";
    while (true) {
      const std::size_t begin = text.find_first_not_of(kBlanks);
      if (begin == std::string_view::npos) return;
      std::string_view token = text.substr(begin, text.find_first_of(kBlanks, begin) - begin);
      text.remove_prefix(begin + token.size());
      const auto is_mark = [](char c) { return std::ispunct(static_cast<unsigned char>(c)) != 0; };
      while (!token.empty() && is_mark(token.front())) token.remove_prefix(1);
      while (!token.empty() && is_mark(token.back())) token.remove_suffix(1);
      words += is_word(token) ? 1 : 0;
      ++all;
    }
  }
};

/// Whether `word` may be the name of a class: a time, as logs begin with, is none.
bool is_label(std::string_view word) {
  const bool is_time = word.find('.') != std::string_view::npos &&
                       file::number_in(word.substr(word.starts_with('(') ? 1 : 0,
                                                   word.size() - (word.starts_with('(') ? 2 : 0)));
  return !word.empty() && word.size() <= kLongestLabel &&
         word.find(' ') == std::string_view::npos && !is_time;
}

/// Whether most of the first lines with a tab are a label and words, as those of a corpus are; a
/// log with tabs has numbers there.
bool are_labelled_texts(std::string_view head) {
  constexpr int kLines = 8;
  int lines = 0, labelled = 0;
  Tokens tokens;
  while (!head.empty() && lines < kLines) {
    const std::size_t end = head.find('\n');
    if (end == std::string_view::npos && lines > 0) break;  // may be cut anywhere
    const std::string_view line = head.substr(0, end);
    head.remove_prefix(end == std::string_view::npos ? head.size() : end + 1);
    const std::size_t tab = line.find('\t');
    if (tab == std::string_view::npos) continue;  // malformed, and counted when it is read
    ++lines;
    if (!is_label(line.substr(0, tab))) continue;
    ++labelled;
    tokens.add(line.substr(tab + 1));
  }
  return 2 * labelled > lines && 3 * tokens.words >= tokens.all && tokens.words > 0;
}

/// The form of a table of documents by its first lines; "" if it is none.
std::string form_of(std::string_view head, const TextImportOptions& options) {
  if (!file::not_text(head).empty()) return "";
  if (head.starts_with("\xEF\xBB\xBF")) head.remove_prefix(3);
  std::string_view line = head.substr(0, head.find('\n'));
  if (line.ends_with('\r')) line.remove_suffix(1);
  const std::vector<std::string> columns = file::csv_fields(line);
  const auto has = [&](const std::string& name) {
    return std::find(columns.begin(), columns.end(), name) != columns.end();
  };
  const std::vector<std::string> labels = label_columns(options);
  if (has(options.text_column) && std::any_of(labels.begin(), labels.end(), has)) return kCsv;
  const std::size_t tab = line.find('\t');
  if (tab == std::string_view::npos) return "";
  const std::string_view first = line.substr(0, tab), rest = line.substr(tab + 1);
  if (!is_label(first) || !are_labelled_texts(head)) return "";
  const bool names_part = part_named(first) != TextPart::kNone || first == "split";
  return names_part && rest.find('\t') != std::string_view::npos ? kSplitLabelText : kLabelText;
}

/// Files below `root` that are not hidden, by name.
std::vector<fs::path> files_in(const fs::path& root) {
  std::vector<fs::path> out;
  std::error_code failure;
  fs::recursive_directory_iterator entries(root, failure), end;
  for (; !failure && entries != end; entries.increment(failure)) {
    if (is_hidden(entries->path())) {
      if (entries->is_directory()) entries.disable_recursion_pending();
    } else if (entries->is_regular_file()) {
      out.push_back(fs::relative(entries->path(), root));
    }
  }
  if (failure) throw Error(ExitCode::kData, root.string() + ": " + failure.message());
  std::sort(out.begin(), out.end());
  return out;
}

/// Where some files say what they are for, one that does not is most often all of them together.
void keep_named_parts(std::vector<data::LogFile>& files, std::vector<Diagnostic>& notes) {
  const auto says = [](const data::LogFile& file) { return !file.role.empty(); };
  if (std::none_of(files.begin(), files.end(), says)) return;
  std::erase_if(files, [&](const data::LogFile& file) {
    if (says(file)) return false;
    notes.push_back({file.path.string(),
                     "left out: other files are named for train, val or test, this one is not",
                     ""});
    return true;
  });
}

/// Tables of documents in a folder, of the form `wanted` ("" = that of the first).
TextInput tables_in(const fs::path& root, const std::vector<fs::path>& names,
                    const TextImportOptions& options, std::string wanted,
                    std::vector<Diagnostic>& notes) {
  TextInput out;
  std::size_t looked_at = 0;
  for (const fs::path& name : names) {
    if (!may_be_table(name)) continue;
    if (out.files.empty() && wanted.empty() && ++looked_at > kMostTables) break;
    const std::string form = form_of(file::head_of(root / name, kHeadBytes), options);
    if (form.empty()) continue;
    if (wanted.empty()) wanted = form;
    if (form != wanted) {
      std::string others = "left out: ";
      others.append(form).append(", others are ").append(wanted);
      notes.push_back({(root / name).string(), std::move(others), ""});
      continue;
    }
    TextPart part = part_in(name.filename().string());
    if (part == TextPart::kNone) part = part_in(name.parent_path().generic_string());
    out.files.push_back({root / name, name.generic_string(), "", role_of(part)});
  }
  out.format = wanted;
  keep_named_parts(out.files, notes);
  return out;
}

/// Whether nothing in the name says that a file is something else than a text.
bool may_be_document(const fs::path& path) {
  const std::string extension = plain_name(path).extension().string();
  const bool is_number = std::all_of(extension.begin(), extension.end(), [](unsigned char c) {
    return c == '.' || std::isdigit(c) != 0;
  });
  return is_number || extension == ".txt" || extension == ".text" || extension == ".eml";
}

/// Whether the first documents, by name, are text.
bool begin_as_text(const fs::path& root, const std::vector<fs::path>& names) {
  constexpr std::size_t kMostLookedAt = 16;
  return std::all_of(
      names.begin(),
      names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kMostLookedAt)),
      [&](const fs::path& name) {
        return file::not_text(file::head_of(root / name, kHeadBytes)).empty();
      });
}

/// A folder for each class, maybe below folders for train and test. `is_sure`: it was asked for.
TextInput classes_in(const fs::path& root, const std::vector<fs::path>& names, bool is_sure,
                     std::vector<Diagnostic>& notes) {
  TextInput out{kClassFolders, {}};
  std::set<std::string> classes;
  for (const fs::path& name : names) {
    if (!is_sure && !may_be_document(name)) return {};
    std::vector<std::string> folders;
    for (const fs::path& part : name.parent_path()) folders.push_back(part.string());
    const TextPart part = folders.empty() ? TextPart::kNone : part_in(folders.front());
    const std::size_t of_class = part == TextPart::kNone ? 0 : 1;
    if (folders.size() <= of_class) continue;  // a file beside the classes, as README
    classes.insert(folders[of_class]);
    out.files.push_back({root / name, name.generic_string(), folders[of_class], role_of(part)});
  }
  if (!is_sure && (classes.size() < 2 || !begin_as_text(root, names))) return {};
  keep_named_parts(out.files, notes);
  return out;
}

TextInput find_in_folder(const fs::path& source, const std::string& form,
                         const TextImportOptions& options, std::vector<Diagnostic>& notes) {
  const std::vector<fs::path> names = files_in(source);
  TextInput found;
  if (form != kClassFolders) found = tables_in(source, names, options, form, notes);
  if (!found.files.empty()) return found;
  if (form.empty() || form == kClassFolders)
    found = classes_in(source, names, form == kClassFolders, notes);
  return found;
}

}  // namespace

const std::vector<std::string>& text_formats() {
  static const std::vector<std::string> formats = {"text", kLabelText, kSplitLabelText, kCsv,
                                                   kClassFolders};
  return formats;
}

std::vector<std::string> label_columns(const TextImportOptions& options) {
  if (options.label_column != data::LabelOptions().label_column) return {options.label_column};
  return {"label", options.label_column};
}

TextPart part_named(std::string_view word) {
  if (word == "train" || word == "training") return TextPart::kTrain;
  if (word == "val" || word == "valid" || word == "validation" || word == "dev") {
    return TextPart::kVal;
  }
  return word == "test" || word == "testing" ? TextPart::kTest : TextPart::kNone;
}

std::optional<TextInput> find_text_input(const fs::path& source, const TextImportOptions& options,
                                         std::vector<Diagnostic>& notes) {
  const auto& formats = text_formats();
  const std::string& format = options.format;
  const bool is_named = std::find(formats.begin(), formats.end(), format) != formats.end();
  if (!is_named && format != "auto") return std::nullopt;
  const std::string form = is_named && format != "text" ? format : "";
  std::error_code failure;
  TextInput out;
  if (source == "-") {
    if (!is_named) return std::nullopt;
    if (form.empty() || form == kClassFolders) {
      throw Error(ExitCode::kUsage, "the form of texts on standard input must be named",
                  "data.format=label-text, split-label-text or text-csv");
    }
    return TextInput{form, {{source, "standard input", "", ""}}};
  }
  if (!fs::exists(source, failure)) return std::nullopt;  // said by who reads it
  if (fs::is_directory(source)) {
    out = find_in_folder(source, form, options, notes);
  } else if (form == kClassFolders) {
    throw Error(ExitCode::kData, source.string() + ": class-folders are folders, this is a file");
  } else if (is_named || may_be_table(source)) {
    out.format = form.empty() ? form_of(file::head_of(source, kHeadBytes), options) : form;
    const TextPart part = part_in(source.filename().string());
    if (!out.format.empty()) {
      out.files = {{source, source.filename().string(), "", role_of(part)}};
    }
  }
  if (!out.files.empty()) return out;
  if (!is_named) return std::nullopt;
  throw Error(
      ExitCode::kData,
      source.string() + ": no texts " + (form.empty() ? "" : "(" + form + ") ") + "were found",
      "label<TAB>text or split<TAB>label<TAB>text a line, a CSV with the columns " +
          options.text_column + " and " + label_columns(options).front() +
          ", or a folder for each class");
}

}  // namespace kdgat::texts
