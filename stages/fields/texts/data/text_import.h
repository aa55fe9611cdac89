// From texts with labels to the graph of a corpus.
//
//   label-text         label<TAB>text             one document a line
//   split-label-text   split<TAB>label<TAB>text   split is train, val or test
//   text-label         text<TAB>label             one document a line
//   text-csv           a table with a header, comma, semicolon or tab, and columns text_column and
//                      label_column, or what public tables call them (text_columns.cpp), perhaps
//                      split; fields may be quoted and hold line ends
//   fasttext           __label__NAME text         one document a line
//   textgcn            NAME.txt, name<TAB>split<TAB>label a line, and the texts in the same order
//                      in corpus/NAME.txt or corpus/NAME.clean.txt
//   class-folders      a folder for each class, a file for each document
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/data/core/dataset_files.h"
#include "engine/data/core/import_options.h"
#include "engine/data/core/import_report.h"
#include "fields/texts/data/text_corpus.h"
#include "fields/texts/data/text_options.h"

namespace kdgat::texts {

/// The forms, and "text" for whichever of them it is, as the option `format` names them.
const std::vector<std::string>& text_formats();

inline constexpr const char* kClassFolders = "class-folders";

/// Whether other data may look like a source of this form: folders alone, or a tab in each line.
bool may_be_other_data(const std::string& format);

struct TextInput {
  std::string format;  ///< one of the forms
  std::vector<data::LogFile>
      files;  ///< role "train", "val", "test" or "" = not said; of class-folders
              ///< scenario is the class; of textgcn the list, then its texts
};

/// What a source that no form fits lacks to be texts, with what could be given; none if it is
/// something else. Reads first lines only.
std::optional<Diagnostic> near_texts(const std::filesystem::path& source,
                                     const TextImportOptions& options);

/// What `source` holds, if that are texts: a file, or a folder of such files or of classes. Names
/// with the word train, val or test say what a file or folder is for; where some do, the others are
/// left out and told in `notes`. Nothing where `format` is neither "auto" nor one of
/// text_formats(). Reads first lines only. Throws Error(kData) if what `format` names is not there.
std::optional<TextInput> find_text_input(const std::filesystem::path& source,
                                         const TextImportOptions& options, data::Notes& notes);

struct TextRow {
  std::string_view label, text;
  TextPart part = TextPart::kNone;
  int32_t source = 0;
  int64_t row = 0;    ///< line or number, from 1
  std::string where;  ///< "file:line"
};

/// What an import reads, and where it reports to.
struct TextImport {
  const TextInput& input;
  const TextImportOptions& options;
  std::function<bool()> cancelled;          ///< may be empty
  std::function<void(int64_t bytes)> done;  ///< so many more bytes; throws to end the import
};

/// The label column that is wanted: label_column, or "label" where that is merely the default.
std::vector<std::string> label_columns(const TextImportOptions& options);
/// "train", "val", "test" and what else they are called; kNone for other words.
TextPart part_named(std::string_view word);
/// The part that the words of a name name, e.g. of r8.train.en or 20news-bydate-test.
TextPart part_in(const std::string& name);

/// Calls `take` for each document of all files, in order; appends the files to `sources` and
/// malformed lines to `warnings`. Throws Error(kData) with "file:line" for what cannot be read,
/// with options.strict also for a malformed line.
void read_texts(const TextImport& import, const std::function<void(const TextRow&)>& take,
                std::vector<graph::Source>& sources, data::Notes& warnings);

/// Reads, divides, cleans and writes the store `to`. Throws Error(kData) with the place of what is
/// wrong: no document, one class alone, no word left.
void import_text(const TextImport& import, const nlohmann::json& made_with,
                 const std::filesystem::path& to, data::ImportReport& report);

}  // namespace kdgat::texts
