// Folders as the TUDataset collection has them (Morris and others, arXiv 2007.08663): NAME_A.txt
// has an edge a line, "from, to", by numbers of nodes that begin with 1 and go on from graph to
// graph; NAME_graph_indicator.txt the number of the graph of each node, NAME_graph_labels.txt a
// label a graph; where they are there, NAME_node_labels.txt, NAME_node_attributes.txt, and the same
// of edges in the order of NAME_A.txt. Attributes stand before labels in the features, as PyTorch
// Geometric has them; a label is a column for each of its values that occur.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <tuple>

#include "engine/arrays/index.h"
#include "engine/data/graphs/graphs_import.h"
#include "engine/file/line_reader.h"
#include "engine/file/number_text.h"

namespace kdgat::data {
namespace {

constexpr std::size_t kMostLabels = 4096;  // a column each

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

/// One of the files, word by word; lines without any are passed over.
class TuLines {
 public:
  TuLines(const GraphsImport& import, const std::filesystem::path& path)
      : import_(import), lines_(path, import.cancelled) {}

  bool next() {
    std::string_view line;
    do {
      if (!lines_.next(line)) {
        import_.done(lines_.bytes_read());
        return false;
      }
    } while (trimmed(line).empty());
    words_.clear();
    while (true) {
      const std::size_t comma = line.find(',');
      words_.push_back(trimmed(line.substr(0, comma)));
      if (comma == std::string_view::npos) return true;
      line.remove_prefix(comma + 1);
    }
  }
  const std::vector<std::string_view>& words() const { return words_; }  ///< until next()
  void require_words(std::size_t count) const {
    if (words_.size() == count) return;
    throw refuse(std::to_string(words_.size()) + " numbers, not " + std::to_string(count));
  }
  int64_t integer(std::size_t word) const {
    int64_t value = 0;
    const std::string_view text = words_[word];
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size()) return value;
    throw refuse("not a whole number: " + file::shown(text));
  }
  float number(std::size_t word) const {
    const std::optional<double> value = file::number_in(words_[word]);
    if (value && std::isfinite(static_cast<float>(*value))) return static_cast<float>(*value);
    throw refuse("not a number: " + file::shown(words_[word]));
  }
  Error refuse(const std::string& what, const std::string& hint = "") const {
    return {ExitCode::kData, what, hint, where()};
  }
  std::string where() const { return lines_.name() + ":" + std::to_string(lines_.line_number()); }

 private:
  const GraphsImport& import_;
  file::LineReader lines_;
  std::vector<std::string_view> words_;
};

/// Features of nodes or edges: rows of numbers.
struct TuFeatures {
  std::vector<std::string> names;
  std::vector<float> values;  // [rows, names]

  void append_row(std::size_t row, std::vector<float>& to) const {
    const auto from = values.begin() + static_cast<std::ptrdiff_t>(row * names.size());
    to.insert(to.end(), from, from + static_cast<std::ptrdiff_t>(names.size()));
  }
};

class TuReader {
 public:
  explicit TuReader(const GraphsImport& import) : import_(import) {
    for (const LogFile& file : import.input.files) by_kind_.emplace(file.channel, &file);
  }

  /// Labels by graph, or numbers to be predicted, and where each stands.
  void read_labels(GraphCollection& out) {
    const bool has_both = has("graph_labels") && has(kNumbers);
    reads_numbers_ = !has("graph_labels") || (has_both && import_.options.task == "regression");
    if (has_both && !reads_numbers_) {
      import_.warnings.push_back({file(kNumbers).name, "not read: the graphs have labels, too",
                                  "task=regression predicts these numbers", "", 1});
    }
    TuLines lines(import_, of_graphs().path);
    while (lines.next()) {
      GraphInfo info;
      if (reads_numbers_) {
        if (out.graphs.empty()) {
          for (std::size_t c = 0; c < lines.words().size(); ++c) {
            out.targets.push_back("target_" + std::to_string(c));
          }
        }
        lines.require_words(out.targets.size());
        for (std::size_t c = 0; c < out.targets.size(); ++c)
          info.targets.push_back(lines.number(c));
      } else {
        lines.require_words(1);
        if (lines.words()[0].empty()) throw lines.refuse("no label");
        info.label = lines.words()[0];
      }
      out.graphs.push_back(std::move(info));
      label_line_.push_back(lines.where());
    }
    if (out.graphs.empty()) throw Error(ExitCode::kData, "no graph", "", of_graphs().name);
  }

  void read_indicator() {
    const auto graphs = static_cast<int64_t>(label_line_.size());
    nodes_of_.assign(arrays::at(graphs), {});
    TuLines lines(import_, file("graph_indicator").path);
    while (lines.next()) {
      lines.require_words(1);
      const int64_t graph = lines.integer(0);
      if (graph < 1 || graph > graphs) {
        throw lines.refuse("a node of graph " + std::to_string(graph) + ": " + of_graphs().name +
                           " has " + std::to_string(graphs) + " lines");
      }
      if (graph_of_.size() >= arrays::at(std::numeric_limits<int32_t>::max())) {
        throw lines.refuse("more nodes than can be counted");
      }
      std::vector<int32_t>& nodes = nodes_of_[arrays::at(graph - 1)];
      graph_of_.push_back(static_cast<int32_t>(graph - 1));
      local_.push_back(static_cast<int32_t>(nodes.size()));
      nodes.push_back(static_cast<int32_t>(graph_of_.size()) - 1);
    }
    for (std::size_t g = 0; g < nodes_of_.size(); ++g) {
      if (!nodes_of_[g].empty()) continue;
      throw Error(ExitCode::kData,
                  "a graph without nodes: " + file("graph_indicator").name + " has none of it", "",
                  label_line_[g]);
    }
  }

  void read_edges() {
    edges_of_.assign(nodes_of_.size(), {});
    TuLines lines(import_, file("A").path);
    const auto nodes = static_cast<int64_t>(graph_of_.size());
    while (lines.next()) {
      lines.require_words(2);
      const auto end_of = [&](std::size_t word) {
        const int64_t node = lines.integer(word);
        if (node >= 1 && node <= nodes) return arrays::at(node - 1);
        throw lines.refuse("an edge of node " + std::to_string(node) + ": " +
                           file("graph_indicator").name + " has " + std::to_string(nodes) +
                           " nodes");
      };
      const std::size_t source = end_of(0), target = end_of(1);
      if (graph_of_[source] != graph_of_[target]) {
        throw lines.refuse("an edge between graph " + std::to_string(graph_of_[source] + 1) +
                               " and graph " + std::to_string(graph_of_[target] + 1),
                           "numbers of nodes go on from graph to graph; here they seem to begin "
                           "anew");
      }
      edges_of_[arrays::at(graph_of_[source])].push_back(edge_source_.size());
      edge_source_.push_back(local_[source]);
      edge_target_.push_back(local_[target]);
    }
    refuse_local_numbers();
  }

  /// Attributes and labels of `rows` nodes or edges.
  TuFeatures read_features(const std::string& what, std::size_t rows, const std::string& of) {
    TuFeatures numbers, labels;
    if (import_.options.attributes && has(what + "_attributes")) {
      numbers = read_attributes(what + "_attributes", rows, of);
    }
    if (has(what + "_labels")) labels = read_one_hot(what + "_labels", rows, of);
    if (labels.names.empty()) return numbers;
    if (numbers.names.empty()) return labels;
    TuFeatures out;
    out.names = numbers.names;
    out.names.insert(out.names.end(), labels.names.begin(), labels.names.end());
    out.values.reserve(numbers.values.size() + labels.values.size());
    for (std::size_t row = 0; row < rows; ++row) {
      numbers.append_row(row, out.values);
      labels.append_row(row, out.values);
    }
    return out;
  }

  GivenGraph graph(std::size_t g) const {
    GivenGraph out;
    out.nodes = static_cast<int64_t>(nodes_of_[g].size());
    for (const int32_t node : nodes_of_[g]) node_features.append_row(arrays::at(node), out.x);
    for (const std::size_t edge : edges_of_[g]) {
      out.source.push_back(edge_source_[edge]);
      out.target.push_back(edge_target_[edge]);
      edge_features.append_row(edge, out.edge_attr);
    }
    return out;
  }

  const LogFile& file(const std::string& kind) const { return *by_kind_.at(kind); }
  /// What says something of each graph.
  const LogFile& of_graphs() const { return file(reads_numbers_ ? kNumbers : "graph_labels"); }
  std::size_t nodes() const { return graph_of_.size(); }
  std::size_t edges() const { return edge_source_.size(); }
  const std::string& where(std::size_t g) const { return label_line_[g]; }

  TuFeatures node_features, edge_features;

 private:
  bool has(const std::string& kind) const { return by_kind_.contains(kind); }

  /// Node numbers that begin anew in each graph put the edges of all graphs into the first ones:
  /// the other graphs have no edge, and the same edges stand there again and again.
  void refuse_local_numbers() const {
    const auto without = std::count_if(edges_of_.begin(), edges_of_.end(),
                                       [](const auto& edges) { return edges.empty(); });
    if (2 * arrays::at(without) <= edges_of_.size()) return;
    std::set<std::tuple<int32_t, int32_t, int32_t>> distinct;
    for (std::size_t g = 0; g < edges_of_.size(); ++g) {
      for (const std::size_t e : edges_of_[g]) {
        distinct.emplace(static_cast<int32_t>(g), edge_source_[e], edge_target_[e]);
      }
    }
    if (2 * distinct.size() > edge_source_.size()) return;
    throw Error(ExitCode::kData,
                std::to_string(without) + " of " + std::to_string(edges_of_.size()) +
                    " graphs have no edge, and most edges stand there twice: the numbers of nodes "
                    "begin anew in each graph",
                "number the nodes from 1 through all graphs, as the TUDataset collection does",
                file("A").name);
  }

  /// Throws unless a file had a line for each of `rows`.
  void require_rows(const TuLines& lines, std::size_t found, std::size_t rows,
                    const std::string& of) const {
    if (found == rows) return;
    throw lines.refuse("ends after " + std::to_string(found) + " lines: " + file(of).name +
                       " has " + std::to_string(rows));
  }

  TuFeatures read_attributes(const std::string& kind, std::size_t rows, const std::string& of) {
    TuFeatures out;
    TuLines lines(import_, file(kind).path);
    std::size_t row = 0;
    for (; lines.next(); ++row) {
      if (row == rows) {
        throw lines.refuse("a line too many: " + file(of).name + " has " + std::to_string(rows));
      }
      for (std::size_t c = 0; row == 0 && c < lines.words().size(); ++c) {
        out.names.push_back("attribute_" + std::to_string(c));
      }
      lines.require_words(out.names.size());
      for (std::size_t c = 0; c < out.names.size(); ++c) out.values.push_back(lines.number(c));
    }
    require_rows(lines, row, rows, of);
    return out;
  }

  /// A column for each value that occurs, of each word of a line.
  TuFeatures read_one_hot(const std::string& kind, std::size_t rows, const std::string& of) {
    std::vector<std::map<int64_t, std::size_t>> values;  // by word; then their columns
    std::vector<int64_t> read;
    TuLines lines(import_, file(kind).path);
    std::size_t row = 0;
    for (; lines.next(); ++row) {
      if (row == rows) {
        throw lines.refuse("a line too many: " + file(of).name + " has " + std::to_string(rows));
      }
      if (row == 0) values.resize(lines.words().size());
      lines.require_words(values.size());
      for (std::size_t w = 0; w < values.size(); ++w) {
        read.push_back(lines.integer(w));
        values[w].emplace(read.back(), 0);
        if (values[w].size() <= kMostLabels) continue;
        throw lines.refuse("more than " + std::to_string(kMostLabels) + " different labels",
                           "each is a column: numbers that are no labels belong in a file of "
                           "attributes");
      }
    }
    require_rows(lines, row, rows, of);
    TuFeatures out;
    for (std::size_t w = 0; w < values.size(); ++w) {
      const std::string prefix = "label" + (w == 0 ? std::string() : std::to_string(w + 1)) + "_";
      for (auto& [value, column] : values[w]) {
        column = out.names.size();
        out.names.push_back(prefix + std::to_string(value));
      }
    }
    out.values.assign(rows * out.names.size(), 0);
    for (std::size_t i = 0; i < read.size(); ++i) {
      const std::size_t column = values[i % values.size()].at(read[i]);
      out.values[i / values.size() * out.names.size() + column] = 1;
    }
    return out;
  }

  static constexpr const char* kNumbers = "graph_attributes";

  const GraphsImport& import_;
  bool reads_numbers_ = false;
  std::map<std::string, const LogFile*> by_kind_;
  std::vector<std::string> label_line_;         // [G]
  std::vector<int32_t> graph_of_, local_;       // [N]
  std::vector<std::vector<int32_t>> nodes_of_;  // [G]
  std::vector<int32_t> edge_source_, edge_target_;
  std::vector<std::vector<std::size_t>> edges_of_;  // [G]
};

}  // namespace

GraphCollection read_tu_dataset(const GraphsImport& import) {
  GraphCollection out;
  out.format = kTuDataset;
  const auto reader = std::make_shared<TuReader>(import);
  reader->read_labels(out);
  out.name = reader->of_graphs().name;
  reader->read_indicator();
  reader->read_edges();
  reader->node_features = reader->read_features("node", reader->nodes(), "graph_indicator");
  reader->edge_features = reader->read_features("edge", reader->edges(), "A");
  out.node_features = reader->node_features.names;
  out.edge_features = reader->edge_features.names;
  out.graph = [reader](std::size_t g) { return reader->graph(g); };
  out.where = [reader](std::size_t g) { return reader->where(g); };
  return out;
}

}  // namespace kdgat::data
