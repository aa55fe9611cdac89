// The documents of files of texts, one after the other.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>

#include "engine/data/core/feature_columns.h"
#include "engine/file/byte_reader.h"
#include "engine/file/csv.h"
#include "engine/file/number_text.h"
#include "fields/texts/data/text_columns.h"
#include "fields/texts/data/text_import.h"

namespace kdgat::texts {
namespace {

constexpr int64_t kMostShown = 3;  // malformed lines of a file that are shown
constexpr int64_t kRowsBetweenSteps = 256;
constexpr std::size_t kLargestDocument = std::size_t{1} << 26;  // no text that one class is for

class TextReader {
 public:
  TextReader(const TextImport& import, const std::function<void(const TextRow&)>& take,
             std::vector<graph::Source>& sources, data::Notes& warnings)
      : import_(import), take_(take), sources_(sources), warnings_(warnings) {}

  void read() {
    const std::string& format = import_.input.format;
    if (format == "class-folders") return read_folders();
    if (format == "textgcn") return read_listed(import_.input.files[0], import_.input.files[1]);
    for (const data::LogFile& file : import_.input.files) {
      begin_source(file.name, file.role);
      file::LineReader lines(file.path, import_.cancelled);
      if (format == "text-csv") {
        read_csv(file, std::move(lines));
      } else if (format == "fasttext") {
        read_fasttext(file, std::move(lines));
      } else {
        read_lines(file, std::move(lines), format);
      }
    }
  }

 private:
  void begin_source(const std::string& name, const std::string& role) {
    sources_.push_back({name, "", role, import_.input.format});
    sources_.back().first_graph = documents_;
    bytes_ = shown_ = 0;
  }

  void give(std::string_view label, std::string_view text, TextPart part, int64_t row,
            std::string where) {
    graph::Source& source = sources_.back();
    ++source.rows;
    ++source.graphs;
    ++documents_;
    take_({label, text, part, static_cast<int32_t>(sources_.size() - 1), row, std::move(where)});
  }

  /// Progress, now and then; `bytes` of the file are read.
  void step(int64_t bytes, bool at_end = false) {
    if (!at_end && ++steps_ % kRowsBetweenSteps != 0) return;
    import_.done(bytes - bytes_);
    bytes_ = bytes;
  }

  void refuse(const std::string& where, const std::string& fault, std::string_view line) {
    const Diagnostic problem{where, fault + ": " + file::shown(line), ""};
    if (import_.options.strict) throw Error(ExitCode::kData, {problem});
    graph::Source& source = sources_.back();
    ++source.rows;
    ++source.malformed;
    if (++shown_ <= kMostShown) warnings_.push_back(problem);
  }

  void end_source(const std::string& path) {
    const graph::Source& source = sources_.back();
    if (source.rows == 0) throw Error(ExitCode::kData, "no document", "", path);
    if (source.malformed > kMostShown) {
      warnings_.push_back(
          {path, std::to_string(source.malformed) + " malformed lines in all were left out", ""});
    }
  }

  /// The next line that is not blank, without a byte order mark.
  bool next_text(file::LineReader& lines, std::string_view& line) {
    while (lines.next(line)) {
      if (lines.line_number() == 1 && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
      if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
      step(lines.bytes_read());
      return true;
    }
    return false;
  }

  void read_lines(const data::LogFile& file, file::LineReader lines, const std::string& format) {
    const bool has_split = format == "split-label-text", label_last = format == "text-label";
    const TextPart of_file = part_named(file.role);
    std::string_view line;
    while (next_text(lines, line)) {
      const int64_t number = lines.line_number();
      const std::string where = lines.name() + ":" + std::to_string(number);
      std::string_view rest = line;
      const auto field = [&rest](std::string_view& to) {
        const std::size_t tab = rest.find('\t');
        if (tab == std::string_view::npos) return false;
        to = rest.substr(0, tab);
        rest.remove_prefix(tab + 1);
        return true;
      };
      std::string_view split, label;
      if ((has_split && !field(split)) || !field(label)) {
        refuse(where,
               has_split ? "no two tabs between split, label and text"
                         : "no tab between label and text",
               line);
        continue;
      }
      if (number == 1 && label == "label" && rest == "text") continue;  // a header
      if (label_last) std::swap(label, rest);
      const TextPart part = has_split ? part_named(split) : of_file;
      if (has_split && part == TextPart::kNone) {
        refuse(where, "the split is not one of train, val, test", split);
        continue;
      }
      give(label, rest, part, number, where);
    }
    step(lines.bytes_read(), true);
    end_source(lines.name());
  }

  void read_csv(const data::LogFile& file, file::LineReader lines) {
    const TextPart of_file = part_named(file.role);
    file::CsvReader table(std::move(lines), true, 0);
    const TextColumns columns(table.header(), import_.options);
    if (columns.text < 0) table.require(import_.options.text_column);
    if (columns.label < 0) table.require(label_columns(import_.options).front());
    const auto text = static_cast<std::size_t>(columns.text);
    const auto label = static_cast<std::size_t>(columns.label);
    const auto split = static_cast<std::size_t>(columns.split);
    std::optional<std::size_t> used_split;
    if (columns.split >= 0 && of_file == TextPart::kNone) used_split = split;
    data::report_unused_columns(table, {text, label, used_split}, warnings_);
    while (table.next()) {
      step(table.bytes_read());
      TextPart part = of_file;
      if (columns.split >= 0 && part == TextPart::kNone) {
        part = part_named(table.field(split));
        if (part == TextPart::kNone) {
          refuse(table.where(), "the split is not one of train, val, test", table.field(split));
          continue;
        }
      }
      give(table.field(label), table.field(text), part, table.line(), table.where());
    }
    step(table.bytes_read(), true);
    end_source(table.name());
  }

  void read_fasttext(const data::LogFile& file, file::LineReader lines) {
    const TextPart of_file = part_named(file.role);
    std::string_view line;
    while (next_text(lines, line)) {
      const int64_t number = lines.line_number();
      const std::string where = lines.name() + ":" + std::to_string(number);
      if (!line.starts_with(kFastTextMark)) {
        refuse(where, "no __label__ at the start of the line", line);
        continue;
      }
      std::string_view rest = line.substr(kFastTextMark.size());
      const std::size_t end = std::min(rest.find_first_of(" \t,"), rest.size());
      const std::string_view label = rest.substr(0, end);
      rest.remove_prefix(end);
      if (rest.find(kFastTextMark) != std::string_view::npos) {
        refuse(where, "more than one label", line);
        continue;
      }
      give(label, rest, of_file, number, where);
    }
    step(lines.bytes_read(), true);
    end_source(lines.name());
  }

  /// A list of documents, and their texts in the same order.
  void read_listed(const data::LogFile& list, const data::LogFile& corpus) {
    begin_source(list.name, "");
    file::LineReader lines(list.path, import_.cancelled), texts(corpus.path, import_.cancelled);
    std::string_view line, text;
    while (lines.next(line)) {
      if (lines.line_number() == 1 && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
      if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
      step(lines.bytes_read());
      const std::string where = lines.name() + ":" + std::to_string(lines.line_number());
      if (!texts.next(text)) {
        throw Error(ExitCode::kData, "a document without a text: " + corpus.name + " ends before",
                    "one text a line, in the order of the list", where);
      }
      const std::size_t first = line.find('\t'), second = line.find('\t', first + 1);
      if (first == std::string_view::npos || second == std::string_view::npos) {
        refuse(where, "no two tabs between name, split and label", line);
        continue;
      }
      const TextPart part = part_in(std::string(line.substr(first + 1, second - first - 1)));
      if (part == TextPart::kNone) {
        refuse(where, "the split is not one of train, val, test", line);
        continue;
      }
      give(line.substr(second + 1), text, part, lines.line_number(), where);
    }
    while (texts.next(text)) {
      if (text.find_first_not_of(" \t\r") == std::string_view::npos) continue;
      throw Error(ExitCode::kData, "a text without a document: " + list.name + " ends before", "",
                  texts.name() + ":" + std::to_string(texts.line_number()));
    }
    step(lines.bytes_read(), true);
    end_source(lines.name());
  }

  /// A source is a folder of one class.
  void read_folders() {
    std::map<std::string, std::vector<const data::LogFile*>> folders;
    for (const data::LogFile& file : import_.input.files) {
      folders[file.name.substr(0, file.name.rfind('/'))].push_back(&file);
    }
    for (const auto& [name, files] : folders) {
      begin_source(name, files.front()->role);
      int64_t number = 0;
      for (const data::LogFile* file : files) {
        const std::string content = content_of(file->path);
        step(bytes_);
        give(file->scenario, content, part_named(file->role), ++number, file->path.string());
      }
      step(bytes_, true);
    }
  }

  /// Small files: without a reader, which has large buffers, unless one is packed.
  std::string content_of(const std::filesystem::path& path) {
    const auto require_size = [&path](std::size_t size) {
      if (size <= kLargestDocument) return;
      throw Error(ExitCode::kData,
                  "a document of more than " + std::to_string(kLargestDocument >> 20) + " MiB", "",
                  path.string());
    };
    require_size(static_cast<std::size_t>(std::filesystem::file_size(path)));
    std::ifstream in(path, std::ios::binary);
    std::string stored{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    if (!in) throw Error(ExitCode::kData, "cannot read " + path.string());
    import_.done(static_cast<int64_t>(stored.size()));
    if (!stored.starts_with("\x1f\x8b")) return stored;
    file::ByteReader packed(path.string(), stored);
    std::string content, block(std::size_t{1} << 16, '\0');
    while (const std::size_t bytes = packed.read(block.data(), block.size())) {
      content.append(block, 0, bytes);
      require_size(content.size());
    }
    return content;
  }

  const TextImport& import_;
  const std::function<void(const TextRow&)>& take_;
  std::vector<graph::Source>& sources_;
  data::Notes& warnings_;
  int64_t documents_ = 0, steps_ = 0;
  int64_t bytes_ = 0;  // of the file at hand, told so far
  int64_t shown_ = 0;
};

}  // namespace

void read_texts(const TextImport& import, const std::function<void(const TextRow&)>& take,
                std::vector<graph::Source>& sources, data::Notes& warnings) {
  TextReader(import, take, sources, warnings).read();
}

}  // namespace kdgat::texts
