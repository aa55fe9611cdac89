#include "fields/texts/data/text_import.h"

#include <sys/resource.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <map>

#include "engine/arrays/index.h"
#include "engine/arrays/threads.h"
#include "engine/data/core/class_labels.h"
#include "engine/file/utf8.h"
#include "fields/texts/data/text_clean.h"
#include "fields/texts/data/text_graph.h"
#include "fields/texts/data/text_store.h"

namespace kdgat::texts {
namespace {

using nlohmann::json;

constexpr int64_t kMebibyte = int64_t{1} << 20;

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

/// Adds documents to a corpus.
class CorpusReader {
 public:
  CorpusReader(const TextOptions& options, TextCorpus& corpus)
      : cleaner_(options.cleaning), corpus_(corpus) {}

  void take(const TextRow& row) {
    text_bytes_ += static_cast<int64_t>(row.text.size());
    for (const char c : row.text) {
      latin_ += std::isalpha(static_cast<unsigned char>(c)) != 0 ? 1 : 0;
      foreign_ += static_cast<unsigned char>(c) >= 0xC0 ? 1 : 0;  // begins a letter in UTF-8
    }
    const std::string_view label = valid(trimmed(row.label), row, label_);
    if (label.empty()) {
      if (unlabelled_++ == 0) first_unlabelled_ = row.where;
      return;
    }
    for (const std::string_view word : cleaner_.words(valid(row.text, row, text_))) {
      corpus_.token.push_back(corpus_.words.add(word));
    }
    require_index_sizes(static_cast<int64_t>(corpus_.token.size()), 0, 0);
    corpus_.doc_ptr.push_back(static_cast<int32_t>(corpus_.token.size()));
    const auto known = labels_.emplace(label, static_cast<int32_t>(labels_.size())).first;
    corpus_.label.push_back(known->second);
    corpus_.part.push_back(row.part);
    corpus_.source.push_back(row.source);
    corpus_.row.push_back(static_cast<int32_t>(row.row));
  }

  /// Names the classes, in order, and says what was odd. Throws Error(kData) if there is nothing to
  /// learn; `path` is what was read.
  void finish(const std::string& path, data::Notes& warnings) {
    if (corpus_.documents() == 0) {
      throw Error(ExitCode::kData, "no document has a label", "", path);
    }
    if (labels_.size() == 1) {
      throw Error(ExitCode::kData, "only one class, '" + labels_.begin()->first + "'",
                  "a classifier needs two", path);
    }
    require_labels(path);
    corpus_.is_foreign = foreign_ > latin_;
    std::vector<int32_t> number(labels_.size());
    for (const auto& [name, as_it_came] : labels_) {
      number[static_cast<std::size_t>(as_it_came)] = static_cast<int32_t>(corpus_.classes.size());
      corpus_.classes.push_back(name);
    }
    for (int32_t& label : corpus_.label) label = number[static_cast<std::size_t>(label)];
    if (unlabelled_ > 0) {
      warnings.push_back({first_unlabelled_,
                          data::count_of(unlabelled_, "row") + " without a label left out", "",
                          "row", unlabelled_});
    }
    if (faults_ > 0) {
      warnings.push_back({first_fault_,
                          data::count_of(faults_, "byte") + " that are no UTF-8 were replaced",
                          "this is the first place"});
    }
  }

  /// Labels that are the names or numbers of documents teach nothing.
  void require_labels(const std::string& path) const {
    std::vector<std::string> name(labels_.size()), labels;
    for (const auto& [label, as_it_came] : labels_) {
      name[static_cast<std::size_t>(as_it_came)] = label;
    }
    for (const int32_t label : corpus_.label) labels.push_back(name[arrays::at(label)]);
    data::LabelPlace place{"the label", [&path](std::size_t) { return path; }};
    place.hint += "; data.label_column names another column of a table";
    place.of = "documents";
    data::require_classes(labels, place);
  }

  int64_t text_bytes() const { return text_bytes_; }

 private:
  std::string_view valid(std::string_view text, const TextRow& row, std::string& repaired) {
    const int64_t faults = file::repair_utf8(text, repaired);
    if (faults == 0) return text;
    if (faults_ == 0) first_fault_ = row.where;
    faults_ += faults;
    return repaired;
  }

  TextCleaner cleaner_;
  TextCorpus& corpus_;
  std::map<std::string, int32_t, std::less<>> labels_;
  std::string label_, text_;  // repaired
  std::string first_unlabelled_, first_fault_;
  int64_t unlabelled_ = 0, faults_ = 0, text_bytes_ = 0;
  int64_t latin_ = 0, foreign_ = 0;  // letters
};

/// Seconds since the last call.
class Stopwatch {
 public:
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    const double seconds = std::chrono::duration<double>(now - last_).count();
    last_ = now;
    return seconds;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

/// The most memory that this process has had resident so far.
int64_t peak_resident_bytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return int64_t{1024} * usage.ru_maxrss;
}

}  // namespace

void import_text(const TextImport& import, const json& made_with, const std::filesystem::path& to,
                 data::ImportReport& report) {
  const TextImportOptions& options = import.options;
  const std::string path = import.input.files.front().path.string();
  const int64_t peak_before = peak_resident_bytes();
  Stopwatch watch;
  TextCorpus corpus;
  std::vector<graph::Source> sources;
  CorpusReader reader(options, corpus);
  read_texts(
      import, [&](const TextRow& row) { reader.take(row); }, sources, report.warnings);
  reader.finish(path, report.warnings);
  if (corpus.is_foreign && options.cleaning != "none") {
    report.warnings.push_back(
        {path,
         "cleaning=" + options.cleaning + " keeps letters from a to z alone, and most are others",
         "data.cleaning=none keeps words as they are written"});
  }
  const double read_seconds = watch.lap();

  const bool says_parts = std::any_of(corpus.part.begin(), corpus.part.end(),
                                      [](TextPart p) { return p != TextPart::kNone; });
  if (says_parts && !options.tvt_split.empty()) {
    report.warnings.push_back({path, "tvt_split is set: the parts that the files name are not used",
                               "", "part", int64_t{3}});
  }
  std::vector<bool> is_trained =
      divide(corpus, options, options.val_fraction, options.test_fraction, options.seed,
             options.split != "random");
  const int64_t first = choose_vocabulary(corpus, options, is_trained);
  if (std::find(is_trained.begin(), is_trained.end(), true) == is_trained.end()) {
    throw Error(ExitCode::kData, "no document to train on has a word of the vocabulary", "", path);
  }
  if (corpus.empty > 0) {
    report.warnings.push_back(
        {path,
         data::count_of(corpus.empty, "document") + " without a word of the vocabulary " +
             (options.cleaning == "seed" ? "left out" : "kept, joined to nothing"),
         "", options.cleaning == "seed" ? "document" : "", corpus.empty, true});
  }
  const TextTokens tokens{corpus.token, corpus.doc_ptr,
                          static_cast<int64_t>(corpus.vocabulary.size()), first,
                          options.word_window};
  const TextGraphBuilder graph(tokens, arrays::thread_count(options.build_threads),
                               import.cancelled);
  const double graph_seconds = watch.lap();
  write_text_store(to, {corpus, is_trained, std::move(sources), made_with}, tokens, graph,
                   options.build_memory_mb * kMebibyte);
  report.build = {{"read_seconds", read_seconds},
                  {"graph_seconds", graph_seconds},
                  {"write_seconds", watch.lap()},
                  {"text_bytes", reader.text_bytes()},
                  {"threads", arrays::thread_count(options.build_threads)},
                  {"peak_resident_bytes", peak_resident_bytes()},
                  {"resident_before_bytes", peak_before}};
}

}  // namespace kdgat::texts
