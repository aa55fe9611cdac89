#include <cmath>
#include <map>
#include <optional>

#include "engine/file/number_text.h"
#include "fields/molecules/data/structure_builder.h"
#include "kdgat/error.h"

namespace kdgat::molecules {
namespace {

constexpr const char* kCategory = "_atom_site.";

/// The words of an mmCIF file: bare, quoted, or text between lines that begin with ';'.
class CifWords {
 public:
  explicit CifWords(file::LineReader lines) : lines_(std::move(lines)) {}

  /// The next word; false at the end. `is_bare` says whether it was neither quoted nor text.
  bool next(std::string& word) {
    for (;;) {
      while (at_ < line_.size() && (line_[at_] == ' ' || line_[at_] == '\t')) ++at_;
      if (at_ < line_.size() && line_[at_] != '#') break;
      if (!next_line()) return false;
      if (line_.starts_with(';')) return read_text(word);
    }
    const char quote = line_[at_];
    is_bare_ = quote != '\'' && quote != '"';
    if (is_bare_) {
      const std::size_t end = std::min(line_.find_first_of(" \t", at_), line_.size());
      word = line_.substr(at_, end - at_);
      at_ = end;
      return true;
    }
    // A quote ends where a blank follows: 'O5'' is O5'.
    for (std::size_t end = at_ + 1; end < line_.size(); ++end) {
      const bool is_end =
          end + 1 == line_.size() || line_[end + 1] == ' ' || line_[end + 1] == '\t';
      if (line_[end] != quote || !is_end) continue;
      word = line_.substr(at_ + 1, end - at_ - 1);
      at_ = end + 1;
      return true;
    }
    fail("a quote that does not end");
  }
  bool is_bare() const { return is_bare_; }
  bool is_keyword(const std::string& word) const {
    return is_bare_ && (word == "loop_" || word.starts_with('_') || word.starts_with("data_"));
  }
  const std::string& name() const { return lines_.name(); }

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ExitCode::kData, what, "",
                lines_.name() + ":" + std::to_string(lines_.line_number()));
  }

 private:
  bool next_line() {
    std::string_view line;
    if (!lines_.next(line)) return false;
    line_ = line;
    at_ = 0;
    return true;
  }
  bool read_text(std::string& word) {
    word = line_.substr(1);
    while (next_line()) {
      if (line_.starts_with(';')) {
        at_ = 1;
        is_bare_ = false;
        return true;
      }
      word += "\n" + line_;
    }
    fail("a text that does not end");
  }

  file::LineReader lines_;
  std::string line_;
  std::size_t at_ = 0;
  bool is_bare_ = true;
};

/// The columns of _atom_site that matter.
class AtomSite {
 public:
  explicit AtomSite(std::vector<std::string> columns) {
    for (std::size_t i = 0; i < columns.size(); ++i) column_.emplace(columns[i], i);
    width_ = columns.size();
  }
  std::size_t width() const { return width_; }
  /// The value of the first of the columns that there is; "" where it says none.
  std::string_view get(const std::vector<std::string>& row,
                       std::initializer_list<const char*> names) const {
    for (const char* name : names) {
      const auto found = column_.find(name);
      if (found == column_.end()) continue;
      const std::string& value = row[found->second];
      if (value != "." && value != "?") return value;
    }
    return {};
  }

 private:
  std::map<std::string, std::size_t, std::less<>> column_;
  std::size_t width_ = 0;
};

class CifReader {
 public:
  explicit CifReader(file::LineReader lines) : words_(std::move(lines)) {}

  Structure read() {
    std::string word;
    bool is_loop = false;
    while (!is_done_ && words_.next(word)) {
      if (is_loop && words_.is_bare() && word.starts_with(kCategory)) {
        read_loop(word);
        is_loop = false;
      } else {
        is_loop = words_.is_bare() && word == "loop_";
      }
    }
    if (rows_ == 0)
      throw Error(ExitCode::kData, "no atoms: no loop of _atom_site", "", words_.name());
    return builder_.finish();
  }

 private:
  void read_loop(const std::string& first) {
    std::vector<std::string> columns;
    std::string word = first;
    do {
      columns.push_back(word.substr(std::string_view(kCategory).size()));
    } while (words_.next(word) && words_.is_bare() && word.starts_with(kCategory));
    const AtomSite site(std::move(columns));
    std::vector<std::string> row;
    bool is_there = true;
    for (; is_there && !words_.is_keyword(word); is_there = words_.next(word)) {
      row.push_back(word);
      if (row.size() < site.width()) continue;
      take(site, row);
      row.clear();
    }
    if (!row.empty()) words_.fail("a row of _atom_site that is cut off");
    is_done_ = rows_ > 0;
  }

  void take(const AtomSite& site, const std::vector<std::string>& values) {
    const std::string model(site.get(values, {"pdbx_PDB_model_num"}));
    if (rows_ == 0) model_ = model;
    if (model != model_) return builder_.note_more_models();
    const std::string number = std::string(site.get(values, {"auth_seq_id", "label_seq_id"})) +
                               std::string(site.get(values, {"pdbx_PDB_ins_code"}));
    AtomRow row;
    row.name = site.get(values, {"auth_atom_id", "label_atom_id"});
    row.alternate = site.get(values, {"label_alt_id"});
    row.residue = site.get(values, {"auth_comp_id", "label_comp_id"});
    row.chain = site.get(values, {"auth_asym_id", "label_asym_id"});
    row.number = number;
    row.element = site.get(values, {"type_symbol"});
    if (row.name.empty()) words_.fail("an atom without a name");
    const char* const coordinates[] = {"Cartn_x", "Cartn_y", "Cartn_z"};
    for (std::size_t d = 0; d < 3; ++d) {
      const std::string_view text = site.get(values, {coordinates[d]});
      const std::optional<double> value = file::number_in(text);
      if (!value || !std::isfinite(*value))
        words_.fail("'" + file::shown(text) + "' is no coordinate");
      row.pos[d] = *value;
    }
    builder_.add(row);
    ++rows_;
  }

  CifWords words_;
  StructureBuilder builder_;
  std::string model_;
  int64_t rows_ = 0;
  bool is_done_ = false;
};

}  // namespace

Structure read_mmcif(file::LineReader lines) { return CifReader(std::move(lines)).read(); }

}  // namespace kdgat::molecules
