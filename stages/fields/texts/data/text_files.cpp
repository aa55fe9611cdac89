// Which files of a folder hold texts, and in which form.
#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <set>
#include <utility>

#include "engine/data/core/folder_walk.h"
#include "engine/data/core/part_names.h"
#include "engine/file/byte_reader.h"
#include "engine/file/csv.h"
#include "engine/file/number_text.h"
#include "engine/file/text_kind.h"
#include "fields/texts/data/text_columns.h"
#include "fields/texts/data/text_import.h"
#include "fields/texts/data/text_lines.h"
#include "kdgat/text.h"

namespace kdgat::texts {

namespace fs = std::filesystem;

namespace {

constexpr const char* kLabelText = "label-text";
constexpr const char* kSplitLabelText = "split-label-text";
constexpr const char* kTextLabel = "text-label";
constexpr const char* kCsv = "text-csv";
constexpr const char* kFastText = "fasttext";
constexpr const char* kTextGcn = "textgcn";
constexpr std::size_t kHeadBytes = 1 << 13;
constexpr std::size_t kMostTables = 64;  // more files than these are documents, not tables of them

/// The name without folders and without .gz.
fs::path plain_name(const fs::path& path) {
  const fs::path name = path.filename();
  return data::small_letters(name.extension().string()) == ".gz" ? name.stem() : name;
}

bool may_be_table(const fs::path& path) {
  const std::string extension = data::small_letters(plain_name(path).extension().string());
  constexpr std::array kTables = {".en", ".tsv",   ".txt",   ".csv", ".tab",
                                  ".ft", ".train", ".valid", ".test"};
  return std::find(kTables.begin(), kTables.end(), extension) != kTables.end();
}

std::string_view without_mark(std::string_view head) {
  if (head.starts_with("\xEF\xBB\xBF")) head.remove_prefix(3);
  return head;
}

/// The fields of a header line.
std::vector<std::string> header_of(std::string_view head) {
  const std::vector<std::string_view> lines = first_lines(without_mark(head), 1);
  if (lines.empty()) return {};
  return file::csv_fields(lines.front(), file::csv_separator(lines.front()));
}

/// Whether a table has words in the column of its texts: names of columns alone may mislead.
bool has_words(std::string_view head, std::size_t column) {
  constexpr std::size_t kLines = 8;
  const std::vector<std::string_view> lines = first_lines(head, kLines);
  const char separator = file::csv_separator(lines.front());
  Tokens tokens;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const std::vector<std::string> fields = file::csv_fields(lines[i], separator);
    if (column < fields.size()) tokens.add(fields[column]);
  }
  return tokens.words > 0 && 3 * tokens.words >= tokens.all;
}

bool is_text_table(std::string_view head, const TextImportOptions& options) {
  const std::vector<std::string> header = header_of(head);
  const TextColumns columns(header, options);
  if (!columns.are_there()) return false;
  const auto text = static_cast<std::size_t>(columns.text);
  return header[text] == options.text_column || has_words(head, text);
}

/// The form of a table of documents by its first lines; "" if it is none.
std::string form_of(std::string_view head, const TextImportOptions& options) {
  if (!file::not_text(head).empty()) return "";
  head = without_mark(head);
  if (head.starts_with(kFastTextMark)) return kFastText;
  std::string_view line = head.substr(0, head.find('\n'));
  if (line.ends_with('\r')) line.remove_suffix(1);
  const bool is_plain_header = line == "label\ttext" || line == "split\tlabel\ttext";
  if (!is_plain_header && is_text_table(head, options)) return kCsv;
  const std::size_t tab = line.find('\t');
  if (tab == std::string_view::npos || is_document_list(head)) return "";
  const std::string_view first = line.substr(0, tab), rest = line.substr(tab + 1);
  if (is_label(first) && are_labelled_texts(head, false)) {
    const bool names_part = part_named(first) != TextPart::kNone || first == "split";
    return names_part && rest.find('\t') != std::string_view::npos ? kSplitLabelText : kLabelText;
  }
  return are_labelled_texts(head, true) ? kTextLabel : "";
}

/// The texts that a list of documents, NAME.txt, is of; empty if there are none.
fs::path corpus_of(const fs::path& list) {
  std::error_code ignored;
  const std::string name = plain_name(list).stem().string();
  for (const char* ending : {".txt", ".txt.gz", ".clean.txt", ".clean.txt.gz"}) {
    fs::path texts = list.parent_path() / "corpus" / (name + ending);
    if (fs::is_regular_file(texts, ignored)) return texts;
  }
  return {};
}

bool is_list_file(const fs::path& path) {
  return plain_name(path).extension() == ".txt" &&
         is_document_list(without_mark(file::head_of(path, kHeadBytes)));
}

TextInput textgcn_at(const fs::path& list) {
  const fs::path texts = corpus_of(list);
  if (texts.empty()) return {};
  return {kTextGcn,
          {{list, list.filename().string(), "", ""},
           {texts, "corpus/" + texts.filename().string(), "", "labels"}}};
}

/// Lists of documents in a folder, or in its folder data, by name.
std::vector<fs::path> lists_in(const fs::path& root) {
  std::vector<fs::path> out;
  std::error_code failure;
  for (const fs::path& folder : {root, root / "data"}) {
    for (fs::directory_iterator entries(folder, failure), end; !failure && entries != end;
         entries.increment(failure)) {
      const bool is_file = entries->is_regular_file() && !data::is_hidden(entries->path());
      if (is_file && is_list_file(entries->path())) out.push_back(entries->path());
    }
    failure.clear();
  }
  std::sort(out.begin(), out.end());
  return out;
}

TextInput textgcn_in(const fs::path& root) {
  std::vector<fs::path> lists = lists_in(root);
  std::erase_if(lists, [](const fs::path& list) { return corpus_of(list).empty(); });
  if (lists.size() > 1) {
    throw Error(ExitCode::kData,
                root.string() + ": " + std::to_string(lists.size()) +
                    " lists of documents, of which one is wanted",
                "name the file, e.g. " + lists.front().string());
  }
  return lists.empty() ? TextInput() : textgcn_at(lists.front());
}

/// Files below `root` that are not hidden, by name.
std::vector<fs::path> files_in(const fs::path& root, data::Notes& notes) {
  data::FolderWalk walk = data::walk_folder(root);
  for (data::Note& note : walk.notes) notes.push_back(std::move(note));
  std::vector<fs::path> out;
  out.reserve(walk.files.size());
  for (const fs::path& path : walk.files) out.push_back(path.lexically_relative(root));
  std::sort(out.begin(), out.end());
  return out;
}

/// Reads parts from folders, and notes each folder that contradicts one around it.
class FolderParts {
 public:
  FolderParts(const fs::path& root, data::Notes& notes) : root_(root), notes_(notes) {}

  data::FolderPart of(const fs::path& folders) {
    // By whole words: "testimonials" is the name of a class.
    data::FolderPart out = data::part_of_folders(folders, data::part_of_name);
    if (!out.outer.empty() && told_.insert(out.folder).second) {
      notes_.push_back(data::contradiction_of(root_, out));
    }
    return out;
  }

 private:
  const fs::path& root_;
  data::Notes& notes_;
  std::set<fs::path> told_;
};

/// Where some files say what they are for, one that does not is most often all of them together.
void keep_named_parts(const fs::path& root, std::vector<data::LogFile>& files, data::Notes& notes) {
  const auto says = [](const data::LogFile& file) { return !file.role.empty(); };
  if (std::none_of(files.begin(), files.end(), says)) return;
  constexpr std::size_t kShown = 8;
  std::vector<std::string> others;
  for (const data::LogFile& file : files) {
    if (!says(file)) others.push_back(file.name);
  }
  std::erase_if(files, [&](const data::LogFile& file) {
    if (says(file)) return false;
    if (others.size() <= kShown) {
      notes.push_back({file.path.string(),
                       "left out: other files are named for train, val or test, this one is not",
                       "", "file", 1});
    }
    return true;
  });
  if (others.size() <= kShown) return;
  notes.push_back({root.string(),
                   grouped(std::ssize(others)) +
                       " files left out: others are named for train, val or test, these are not: " +
                       data::counted_folders(others),
                   "", "file", std::ssize(others)});
}

/// Tables of documents in a folder, of the form `wanted` ("" = that of the first).
TextInput tables_in(const fs::path& root, const std::vector<fs::path>& names,
                    const TextImportOptions& options, std::string wanted, data::Notes& notes) {
  TextInput out;
  FolderParts parts(root, notes);
  data::Notes unlabelled;
  std::size_t looked_at = 0;
  std::vector<fs::path> others;
  for (const fs::path& name : names) {
    if (!may_be_table(name)) {
      others.push_back(name);
      continue;
    }
    if (out.files.empty() && wanted.empty() && ++looked_at > kMostTables) break;
    const std::string head = file::head_of(root / name, kHeadBytes);
    const std::string form = form_of(head, options);
    if (form.empty()) {
      const TextColumns columns(header_of(head), options);
      if (columns.text >= 0 && has_words(head, static_cast<std::size_t>(columns.text))) {
        unlabelled.push_back({(root / name).string(), "left out: no column of labels",
                              "data.label_column=NAME", "file", 1});
      } else {
        others.push_back(name);
      }
      continue;
    }
    if (wanted.empty()) wanted = form;
    if (form != wanted) {
      std::string why = "left out: ";
      why.append(form).append(", others are ").append(wanted);
      notes.push_back({(root / name).string(), std::move(why), "", "file", 1});
      continue;
    }
    std::string part(data::part_of_name(name.filename().string()));
    if (part.empty()) part = parts.of(name.parent_path()).part;
    out.files.push_back({root / name, name.generic_string(), "", part});
  }
  out.format = wanted;
  if (!out.files.empty()) notes.insert(notes.end(), unlabelled.begin(), unlabelled.end());
  if (!out.files.empty() && !others.empty()) {
    notes.push_back({root.string(),
                     "left out, as they are no tables of texts: " + data::counted_endings(others),
                     "", "file", std::ssize(others), true});
  }
  keep_named_parts(root, out.files, notes);
  return out;
}

/// Whether nothing in the name says that a file is something else than a text.
bool may_be_document(const fs::path& path) {
  const std::string extension = data::small_letters(plain_name(path).extension().string());
  const bool is_number = std::all_of(extension.begin(), extension.end(), [](unsigned char c) {
    return c == '.' || std::isdigit(c) != 0;
  });
  return is_number || extension == ".txt" || extension == ".text" || extension == ".eml";
}

/// Whether the first documents, by name, are text, and words in the main: graphs and logs in
/// folders are none.
bool begin_as_text(const fs::path& root, const std::vector<fs::path>& names) {
  constexpr std::size_t kMostLookedAt = 16;
  Tokens tokens;
  for (std::size_t i = 0; i < std::min(names.size(), kMostLookedAt); ++i) {
    const std::string head = file::head_of(root / names[i], kHeadBytes);
    if (!file::not_text(head).empty()) return false;
    for (const std::string_view line : first_lines(head, kMostLookedAt)) tokens.add(line);
  }
  return tokens.words > 0 && 3 * tokens.words >= tokens.all;
}

/// The folder that names the class: the one below that of the part ("train/pos/1.txt"), or where
/// there is none the outermost ("pos/train/1.txt", "pos/1.txt"); "" where no folder is left.
std::string class_of(const fs::path& folders, const fs::path& of_part) {
  const auto depth = std::distance(of_part.begin(), of_part.end());
  auto below = folders.begin();
  std::advance(below, depth);
  if (below != folders.end()) return below->string();
  return depth == 1 || folders.empty() ? "" : folders.begin()->string();
}

/// A folder for each class, maybe below folders for train and test. `is_sure`: it was asked for.
TextInput classes_in(const fs::path& root, const std::vector<fs::path>& names, bool is_sure,
                     data::Notes& notes) {
  TextInput out{kClassFolders, {}};
  std::set<std::string> classes;
  FolderParts parts(root, notes);
  int64_t beside = 0;
  for (const fs::path& name : names) {
    const data::FolderPart said = parts.of(name.parent_path());
    const std::string of_class = class_of(name.parent_path(), said.folder);
    if (!is_sure && !of_class.empty() && !may_be_document(name)) return {};
    if (of_class.empty()) {  // a file beside the classes, as README
      ++beside;
      continue;
    }
    classes.insert(of_class);
    out.files.push_back({root / name, name.generic_string(), of_class, said.part});
  }
  if (!is_sure && (classes.size() < 2 || !begin_as_text(root, names))) return {};
  if (beside > 0) {
    notes.push_back({root.string(),
                     grouped(beside) + (beside == 1 ? " file" : " files") +
                         " left out: in no folder of a class",
                     "", "file", beside, true});
  }
  keep_named_parts(root, out.files, notes);
  return out;
}

TextInput find_in_folder(const fs::path& source, const std::string& form,
                         const TextImportOptions& options, data::Notes& notes) {
  TextInput found;
  if (form.empty() || form == kTextGcn) found = textgcn_in(source);
  if (!found.files.empty()) data::report_left_out(source, found.files, notes);
  if (!found.files.empty() || form == kTextGcn) return found;
  const std::vector<fs::path> names = files_in(source, notes);
  if (form != kClassFolders) found = tables_in(source, names, options, form, notes);
  if (!found.files.empty()) return found;
  if (form.empty() || form == kClassFolders)
    found = classes_in(source, names, form == kClassFolders, notes);
  return found;
}

}  // namespace

const std::vector<std::string>& text_formats() {
  static const std::vector<std::string> formats = {
      "text", kLabelText, kSplitLabelText, kTextLabel, kCsv, kFastText, kTextGcn, kClassFolders};
  return formats;
}

bool may_be_other_data(const std::string& format) {
  return format == kClassFolders || format == kLabelText || format == kTextLabel;
}

std::vector<std::string> label_columns(const TextImportOptions& options) {
  if (options.names_label()) return {options.label_column};
  return {"label", options.label_name()};
}

TextPart part_named(std::string_view word) {
  const auto found =
      std::find(std::begin(kTextParts), std::end(kTextParts), data::part_of_word(word));
  if (found == std::end(kTextParts)) return TextPart::kNone;
  return static_cast<TextPart>(found - std::begin(kTextParts));
}

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

std::optional<TextInput> find_text_input(const fs::path& source, const TextImportOptions& options,
                                         data::Notes& notes) {
  const auto& formats = text_formats();
  const std::string& format = options.format;
  const bool is_named = std::find(formats.begin(), formats.end(), format) != formats.end();
  if (!is_named && format != "auto") return std::nullopt;
  const std::string form = is_named && format != "text" ? format : "";
  std::error_code failure;
  TextInput out;
  if (source == "-") {
    if (!is_named) return std::nullopt;
    if (form.empty() || form == kClassFolders || form == kTextGcn) {
      throw Error(ExitCode::kUsage, "the form of texts on standard input must be named",
                  "data.format=label-text, split-label-text, text-label, text-csv or fasttext");
    }
    return TextInput{form, {{source, "standard input", "", ""}}};
  }
  if (!fs::exists(source, failure)) return std::nullopt;  // said by who reads it
  if (fs::is_directory(source)) {
    out = find_in_folder(source, form, options, notes);
  } else if (form == kClassFolders) {
    throw Error(ExitCode::kData, source.string() + ": class-folders are folders, this is a file");
  } else if (form == kTextGcn || (form.empty() && is_list_file(source))) {
    out = textgcn_at(source);
  } else if (is_named || may_be_table(source)) {
    out.format = form.empty() ? form_of(file::head_of(source, kHeadBytes), options) : form;
    const std::string part(data::part_of_name(source.filename().string()));
    if (!out.format.empty()) {
      out.files = {{source, source.filename().string(), "", part}};
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

std::optional<Diagnostic> near_texts(const fs::path& source, const TextImportOptions& options) {
  std::error_code ignored;
  const bool is_folder = fs::is_directory(source, ignored);
  fs::path list;
  if (is_folder) {
    const std::vector<fs::path> lists = lists_in(source);
    if (!lists.empty()) list = lists.front();
  } else if (fs::is_regular_file(source, ignored) && is_list_file(source)) {
    list = source;
  }
  if (!list.empty()) {
    return Diagnostic{list.string(), "a list of documents with their labels, but no texts",
                      "put the texts, one a line in the same order, into corpus/" +
                          plain_name(list).stem().string() + ".txt next to it"};
  }
  if (is_folder || !may_be_table(source)) return std::nullopt;
  const std::string head = file::head_of(source, kHeadBytes);
  if (!file::not_text(head).empty()) return std::nullopt;
  const std::vector<std::string> header = header_of(head);
  const TextColumns columns(header, options);
  if (columns.text < 0 || !has_words(head, static_cast<std::size_t>(columns.text))) {
    return std::nullopt;
  }
  return Diagnostic{source.string(),
                    "a table of texts (column " +
                        file::shown(header[static_cast<std::size_t>(columns.text)]) +
                        ") without a column of labels",
                    "data.label_column=NAME names the column of the classes"};
}

}  // namespace kdgat::texts
