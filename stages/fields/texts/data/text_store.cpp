#include "fields/texts/data/text_store.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <stdexcept>

#include "engine/arrays/index.h"
#include "engine/arrays/ranges.h"
#include "engine/file/safetensors_header.h"
#include "engine/file/safetensors_stream.h"
#include "engine/graph/shared_stores.h"

namespace kdgat::texts {

using nlohmann::json;

namespace {

constexpr std::size_t kMostProblems = 20;

json facts_of(const TextStoreData& data, const TextTokens& tokens, const TextGraphCounts& counts) {
  const TextCorpus& corpus = data.corpus;
  std::vector<int64_t> of_class(corpus.classes.size(), 0), of_part(std::size(kTextParts), 0);
  for (std::size_t d = 0; d < corpus.label.size(); ++d) {
    ++of_class[static_cast<std::size_t>(corpus.label[d])];
    if (corpus.part[d] != TextPart::kTrain || data.is_trained[d]) {
      ++of_part[static_cast<std::size_t>(corpus.part[d])];
    }
  }
  json parts = json::object();
  for (std::size_t p = 0; p < of_part.size(); ++p) parts[kTextParts[p]] = of_part[p];
  const auto length = static_cast<double>(tokens.token.size());
  return {{"graphs", 1},
          {"unlabelled", 0},
          {"parts", parts},
          {"text",
           {{"documents", corpus.documents()},
            {"words", tokens.words},
            {"nodes", tokens.nodes()},
            {"classes", corpus.classes},
            {"class_documents", of_class},
            {"first_documents", tokens.first_documents},
            {"tokens", tokens.token.size()},
            {"average_length", length / static_cast<double>(corpus.documents())},
            {"empty", corpus.empty},
            {"window", tokens.window},
            {"windows", counts.windows},
            {"pairs", counts.pairs},
            {"pmi_edges", counts.pmi_edges},
            {"pmi_mean", counts.pmi_mean},
            {"pmi_max", counts.pmi_max},
            {"tfidf_edges", counts.tfidf_edges},
            {"tfidf_mean", counts.tfidf_mean},
            {"tfidf_max", counts.tfidf_max},
            {"nonzeros", counts.nonzeros}}}};
}

/// Labels and masks by node.
void write_nodes(const TextStoreData& data, const TextTokens& tokens,
                 file::SafetensorsStream& out) {
  const TextCorpus& corpus = data.corpus;
  const std::size_t nodes = arrays::at(tokens.nodes());
  std::vector<int64_t> y(nodes, -1);
  const auto masks = std::make_unique<bool[]>(4 * nodes);  // of documents, then of each part
  for (int64_t d = 0; d < corpus.documents(); ++d) {
    const std::size_t node = arrays::at(tokens.node_of_document(d));
    y[node] = corpus.label[arrays::at(d)];
    masks[node] = true;
    const TextPart part = corpus.part[arrays::at(d)];
    if (part == TextPart::kTrain && !data.is_trained[arrays::at(d)]) continue;
    masks[nodes * (1 + static_cast<std::size_t>(part)) + node] = true;
  }
  out.write("y", std::span<const int64_t>(y));
  out.write("doc_mask", std::span<const bool>(masks.get(), nodes));
  for (std::size_t p = 0; p < std::size(kTextParts); ++p) {
    out.write(std::string(kTextParts[p]) + "_mask",
              std::span<const bool>(masks.get() + nodes * (1 + p), nodes));
  }
  out.write("doc_source", std::span<const int32_t>(corpus.source));
  out.write("doc_row", std::span<const int32_t>(corpus.row));
}

/// Problems of the rows of S that opening does not look for: their order and symmetry.
class RowCheck {
 public:
  explicit RowCheck(const TextStore& store)
      : row_ptr_(store.row_ptr()),
        col_(store.col()),
        value_(store.value()),
        nodes_(store.nodes()) {}

  std::string fault() {
    for (int64_t n = 0; n < nodes_; ++n) {
      if (const char* what = row_fault(n)) return named(n, what);
    }
    // Going down the rows, the columns of each come up in their order as rows that hold them.
    std::vector<int32_t> next(row_ptr_.begin(), row_ptr_.end() - 1);
    for (int64_t n = 0; n < nodes_; ++n) {
      for (int32_t e = row_ptr_[arrays::at(n)]; e < row_ptr_[arrays::at(n + 1)]; ++e) {
        const auto column = static_cast<std::size_t>(col_[static_cast<std::size_t>(e)]);
        const int32_t twin = next[column]++;
        if (twin >= row_ptr_[column + 1] || col_[static_cast<std::size_t>(twin)] != n ||
            value_[static_cast<std::size_t>(twin)] != value_[static_cast<std::size_t>(e)]) {
          return named(n, "is not symmetric");
        }
      }
    }
    return "";
  }

 private:
  static std::string named(int64_t node, const std::string& what) {
    return "row " + std::to_string(node) + " " + what;
  }

  const char* row_fault(int64_t n) const {
    bool has_loop = false;
    for (int32_t e = row_ptr_[arrays::at(n)]; e < row_ptr_[arrays::at(n + 1)]; ++e) {
      const auto i = static_cast<std::size_t>(e);
      if (e > row_ptr_[arrays::at(n)] && col_[i] <= col_[i - 1]) return "is not in order";
      if (!(value_[i] > 0) || !std::isfinite(value_[i])) return "has a value that is not positive";
      has_loop = has_loop || col_[i] == n;
    }
    return has_loop ? nullptr : "has no loop";
  }

  std::span<const int32_t> row_ptr_, col_;
  std::span<const float> value_;
  int64_t nodes_;
};

}  // namespace

TextStore::TextStore(const std::filesystem::path& path, graph::Check check)
    : graph::StoreFile(path, kKind, check) {
  read("classes", classes_);
  read("vocabulary", vocabulary_);
  y_ = file().require<int64_t>("y", {-1});
  row_ptr_ = file().require<int32_t>("row_ptr", {nodes() + 1});
  col_ = file().require<int32_t>("col", {-1});
  value_ = file().require<float>("value", {nonzeros()});
  doc_mask_ = file().require<bool>("doc_mask", {nodes()});
  for (std::size_t p = 0; p < std::size(kTextParts); ++p) {
    masks_[p] = file().require<bool>(std::string(kTextParts[p]) + "_mask", {nodes()});
  }
  doc_row_ = file().require<int32_t>("doc_row", {-1});
  doc_source_ = file().require<int32_t>("doc_source", {documents()});
  if (words() != static_cast<int64_t>(vocabulary_.size())) {
    throw refuse(path, "as many words as nodes of words are not in the vocabulary");
  }
  check_ranges();
  check_facts();
}

void TextStore::check_ranges() const {
  if (row_ptr_.front() != 0 || row_ptr_.back() != nonzeros()) {
    throw refuse(path(), "row_ptr does not cover the nonzeros");
  }
  if (!arrays::are_ascending(row_ptr_)) throw refuse(path(), "a row ends before it begins");
  if (!arrays::are_within(col_, 0, nodes()))
    throw refuse(path(), "a row names a node that is not there");
  if (!arrays::are_within(doc_source_, 0, static_cast<int64_t>(sources().size()))) {
    throw refuse(path(), "a document names a source that is not there");
  }
  for (const std::span<const bool>& mask : {doc_mask_, masks_[0], masks_[1], masks_[2]}) {
    if (!arrays::are_flags(mask)) throw refuse(path(), "a mask is neither true nor false");
  }
  // Who has a label is a document: labels index classes, and so do those of a part.
  int64_t documents = 0;
  bool wrong_label = false, wrong_part = false;
  for (std::size_t n = 0; n < y_.size(); ++n) {
    const bool is_document = doc_mask_[n];
    documents += is_document ? 1 : 0;
    wrong_label |= is_document ? (y_[n] < 0) | (y_[n] >= classes()) : y_[n] != -1;
    wrong_part |= (masks_[0][n] | masks_[1][n] | masks_[2][n]) > (is_document ? 1 : 0);
  }
  if (wrong_label) throw refuse(path(), "a node has a label that it cannot have");
  if (wrong_part) throw refuse(path(), "a word is in a part of the documents");
  if (documents != this->documents()) {
    throw refuse(path(), "doc_mask is of another number of documents");
  }
}

void TextStore::check_facts() const {
  std::vector<int64_t> of_class(classes_.size(), 0);
  for (const int64_t label : y_) {
    if (label >= 0) ++of_class[arrays::at(label)];
  }
  const auto in_part = [this](const char* part) {
    const std::span<const bool> own = mask(part);
    return std::count(own.begin(), own.end(), true);
  };
  require_facts({{"/graphs", 1},
                 {"/parts/train", in_part("train")},
                 {"/parts/val", in_part("val")},
                 {"/parts/test", in_part("test")},
                 {"/text/documents", documents()},
                 {"/text/words", words()},
                 {"/text/nodes", nodes()},
                 {"/text/nonzeros", nonzeros()},
                 {"/text/classes", classes_},
                 {"/text/class_documents", of_class}});
  require_numbers({"/unlabelled", "/text/tokens", "/text/average_length", "/text/window",
                   "/text/windows", "/text/pmi_edges", "/text/pmi_mean", "/text/pmi_max",
                   "/text/tfidf_edges", "/text/tfidf_mean", "/text/tfidf_max"});
}

// ---- one mapping for all who ask

TextStore TextStore::shared(const std::filesystem::path& path) {
  return graph::SharedStores<TextStore>::all().get(path);
}

int64_t TextStore::shared_bytes(const std::filesystem::path& path) {
  return graph::SharedStores<TextStore>::all().bytes(path);
}

void TextStore::forget_shared() { graph::SharedStores<TextStore>::all().forget(); }

// ---- what it holds

std::span<const bool> TextStore::mask(const std::string& part) const {
  for (std::size_t p = 0; p < std::size(kTextParts); ++p) {
    if (part == kTextParts[p]) return masks_[p];
  }
  throw std::logic_error("no part of a text store is called " + part);
}

std::vector<Diagnostic> TextStore::verify() const {
  std::vector<Diagnostic> problems = file::verify_hashes(file());
  const auto problem = [&](const std::string& message) {
    problems.push_back({path().string(), message, ""});
  };
  if (const std::string fault = RowCheck(*this).fault(); !fault.empty()) problem(fault);
  for (int64_t n = 0; n < nodes() && problems.size() < kMostProblems; ++n) {
    int parts = 0;
    for (const std::span<const bool>& mask : masks_) parts += mask[arrays::at(n)] ? 1 : 0;
    if (parts > 1) problem("node " + std::to_string(n) + " is in several parts");
  }
  return problems;
}

// ---- writing

void write_text_store(const std::filesystem::path& path, const TextStoreData& data,
                      const TextTokens& tokens, const TextGraphBuilder& graph, int64_t budget) {
  const int64_t nodes = tokens.nodes(), nonzeros = graph.counts().nonzeros;
  const int64_t documents = data.corpus.documents();
  std::vector<file::TensorPlace> tensors;
  const auto add = [&](const char* name, file::DType dtype, int64_t size) {
    tensors.push_back({name, dtype, {size}});
  };
  add("row_ptr", file::DType::kI32, nodes + 1);
  add("col", file::DType::kI32, nonzeros);
  add("value", file::DType::kF32, nonzeros);
  add("y", file::DType::kI64, nodes);
  for (const char* name : {"doc_mask", "train_mask", "val_mask", "test_mask"}) {
    add(name, file::DType::kBool, nodes);
  }
  add("doc_source", file::DType::kI32, documents);
  add("doc_row", file::DType::kI32, documents);
  std::map<std::string, std::string> metadata = graph::store_metadata(
      TextStore::kKind, data.sources, data.options, facts_of(data, tokens, graph.counts()));
  metadata["classes"] = file::json_text(data.corpus.classes);
  metadata["vocabulary"] = file::json_text(data.corpus.vocabulary);
  file::SafetensorsStream out(path, std::move(tensors), std::move(metadata));
  out.write("row_ptr", graph.row_ptr());
  write_nodes(data, tokens, out);

  // As many whole rows at a time as the budget holds.
  constexpr int64_t kEntryBytes = sizeof(int32_t) + sizeof(float);
  const std::span<const int32_t> row_ptr = graph.row_ptr();
  std::vector<int32_t> col;
  std::vector<float> value;
  for (int64_t begin = 0; begin < nodes;) {
    const int64_t most = row_ptr[arrays::at(begin)] + std::max<int64_t>(1, budget / kEntryBytes);
    const auto past = std::upper_bound(row_ptr.begin() + begin + 1, row_ptr.end(), most);
    const int64_t end = std::max<int64_t>(begin + 1, past - row_ptr.begin() - 1);
    const auto size =
        static_cast<std::size_t>(row_ptr[arrays::at(end)] - row_ptr[arrays::at(begin)]);
    if (col.size() < size) {
      col = {};  // before it grows: the two never exist at once
      value = {};
      col.resize(size);
      value.resize(size);
    }
    graph.fill(begin, end, col.data(), value.data());
    out.write("col", std::span<const int32_t>(col).first(size));
    out.write("value", std::span<const float>(value).first(size));
    begin = end;
  }
  out.finish();
}

}  // namespace kdgat::texts
