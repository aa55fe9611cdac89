// The documents of files of texts, one after the other.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>

#include "engine/file/byte_reader.h"
#include "engine/file/csv.h"
#include "engine/file/number_text.h"
#include "fields/texts/data/text_import.h"

namespace kdgat::texts {
namespace {

constexpr int64_t kMostShown = 3;  // malformed lines of a file that are shown
constexpr int64_t kRowsBetweenSteps = 256;
constexpr std::size_t kLargestDocument = std::size_t{1} << 26;  // no text that one class is for

class TextReader {
 public:
  TextReader(const TextImport& import, const std::function<void(const TextRow&)>& take,
             std::vector<graph::Source>& sources, std::vector<Diagnostic>& warnings)
      : import_(import), take_(take), sources_(sources), warnings_(warnings) {}

  void read() {
    const std::string& format = import_.input.format;
    if (format == "class-folders") return read_folders();
    for (const data::LogFile& file : import_.input.files) {
      begin_source(file.name, file.role);
      file::LineReader lines(file.path, import_.cancelled);
      format == "text-csv" ? read_csv(file, std::move(lines))
                           : read_lines(file, std::move(lines), format == "split-label-text");
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

  void read_lines(const data::LogFile& file, file::LineReader lines, bool has_split) {
    const TextPart of_file = part_named(file.role);
    std::string_view line;
    while (lines.next(line)) {
      const int64_t number = lines.line_number();
      if (number == 1 && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
      if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
      step(lines.bytes_read());
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
    file::CsvReader table(std::move(lines), true);
    const std::size_t text = table.require(import_.options.text_column);
    std::optional<std::size_t> label, split = table.find("split");
    const std::vector<std::string> labels = label_columns(import_.options);
    for (const std::string& name : labels) {
      if (!label) label = table.find(name);
    }
    if (!label) label = table.require(labels.front());
    while (table.next()) {
      step(table.bytes_read());
      TextPart part = of_file;
      if (split && part == TextPart::kNone) {
        part = part_named(table.field(*split));
        if (part == TextPart::kNone) {
          refuse(table.where(), "the split is not one of train, val, test", table.field(*split));
          continue;
        }
      }
      give(table.field(*label), table.field(text), part, table.line(), table.where());
    }
    step(table.bytes_read(), true);
    end_source(table.name());
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
  std::vector<Diagnostic>& warnings_;
  int64_t documents_ = 0, steps_ = 0;
  int64_t bytes_ = 0;  // of the file at hand, told so far
  int64_t shown_ = 0;
};

}  // namespace

void read_texts(const TextImport& import, const std::function<void(const TextRow&)>& take,
                std::vector<graph::Source>& sources, std::vector<Diagnostic>& warnings) {
  TextReader(import, take, sources, warnings).read();
}

}  // namespace kdgat::texts
