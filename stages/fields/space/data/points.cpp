// Points with features, as segments of images (superpixels) are kept: a CSV with columns graph, x,
// y, maybe z, and any others as features; rows of a graph need not stand together. Edges go from
// each point to its nearest others.
#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>

#include "engine/data/core/feature_columns.h"
#include "engine/file/csv.h"
#include "fields/space/data/spatial_builder.h"
#include "fields/space/data/spatial_import.h"

namespace kdgat::space {
namespace {

/// The points of one graph, in the order of their rows.
struct Points {
  std::string name;
  std::vector<float> pos, x;
  int64_t row_begin = 0, row_end = 0;
};

/// Columns of a table of points.
struct Columns {
  Columns(const file::CsvReader& table, data::Notes& notes)
      : graph(table.require("graph")), place(places_in(table)), features(table, known(), notes) {}

  std::size_t graph;
  std::vector<std::size_t> place;
  data::FeatureColumns features;

 private:
  static std::vector<std::size_t> places_in(const file::CsvReader& table) {
    std::vector<std::size_t> out = {table.require("x"), table.require("y")};
    if (const auto z = table.find("z")) out.push_back(*z);
    return out;
  }
  std::vector<std::size_t> known() const {
    std::vector<std::size_t> out = place;
    out.push_back(graph);
    return out;
  }
};

/// Mean 0 and deviation 1 of each of `width` columns; 0 where all are the same.
void standardise(std::vector<float>& x, std::size_t width) {
  const std::size_t rows = x.size() / width;
  for (std::size_t f = 0; f < width; ++f) {
    double mean = 0, variance = 0;
    for (std::size_t r = 0; r < rows; ++r) mean += static_cast<double>(x[r * width + f]);
    mean /= static_cast<double>(rows);
    for (std::size_t r = 0; r < rows; ++r) {
      const double difference = static_cast<double>(x[r * width + f]) - mean;
      variance += difference * difference;
    }
    const double deviation = std::sqrt(variance / static_cast<double>(rows));
    // What rounding of the mean alone would give is no difference.
    const bool is_same = !(deviation > 1e-7 * std::abs(mean));
    for (std::size_t r = 0; r < rows; ++r) {
      float& value = x[r * width + f];
      value = is_same ? 0.0F : static_cast<float>((static_cast<double>(value) - mean) / deviation);
    }
  }
}

std::vector<Points> read_points(file::CsvReader& table, Columns& columns) {
  std::vector<Points> graphs;
  std::unordered_map<std::string, std::size_t> known;
  while (table.next()) {
    const std::string& name = table.filled(columns.graph);
    const auto [at, is_new] = known.emplace(name, graphs.size());
    if (is_new) graphs.push_back({name, {}, {}, table.row(), 0});
    Points& points = graphs[at->second];
    points.row_end = table.row() + 1;
    for (const std::size_t c : columns.place) points.pos.push_back(table.number(c));
    if (columns.place.size() == 2) points.pos.push_back(0);
    columns.features.append(table, points.x);
  }
  return graphs;
}

/// Without features all points are alike.
const std::vector<std::string> kWithoutFeatures = {"one"};

/// Takes columns that count the rows away; gives the names of the features that are left.
std::vector<std::string> keep_features(std::vector<Points>& graphs,
                                       const data::FeatureColumns& columns, data::Notes& notes) {
  const std::vector<std::size_t> counters = columns.counters(graphs.size(), notes);
  std::vector<std::string> names = columns.names();
  data::erase_columns(names, counters);
  for (Points& points : graphs) {
    data::erase_columns(points.x, columns.size(), counters);
    if (names.empty()) points.x.assign(points.pos.size() / 3, 1);
  }
  return names;
}

}  // namespace

graph::GraphStoreData import_points(const SpatialImport& import) {
  const Labels labels = import.labels("graph");
  std::optional<SpatialBuilder> builder;
  std::vector<std::string> names;
  int64_t unlabelled = 0;
  for (const data::LogFile& file : import.input.files) {
    file::CsvReader table(file::LineReader(file.path, import.cancelled));
    Columns columns(table, import.warnings);
    std::vector<Points> graphs = read_points(table, columns);
    if (graphs.empty()) throw Error(ExitCode::kData, "no point", "", table.name());
    const std::vector<std::string> features =
        keep_features(graphs, columns.features, import.warnings);
    if (!builder) builder.emplace(names = features.empty() ? kWithoutFeatures : features);
    if (names != (features.empty() ? kWithoutFeatures : features)) {
      throw Error(ExitCode::kData, "other features than in " + import.input.files.front().name, "",
                  table.name() + ":1");
    }
    graph::Source source{file.name, "", "train", "superpixel", table.row() + 1, 0, 0, 0};
    source.independent = true;
    builder->begin_source(std::move(source));
    for (Points& points : graphs) {
      if (import.options.standardise && !features.empty()) {
        standardise(points.x, features.size());
      }
      SpatialGraph graph;
      graph.edges = arrays::nearest_edges(points.pos, import.options.neighbours);
      graph.parent = arrays::spanning_forest(points.pos, graph.edges.source, graph.edges.target);
      graph.x = std::move(points.x);
      graph.pos = std::move(points.pos);
      graph.row_begin = points.row_begin;
      graph.row_end = points.row_end;
      const Label* label = labels.find(points.name);
      unlabelled += label == nullptr;
      builder->add(graph, label);
    }
    import.done(table.bytes_read());
  }
  if (unlabelled > 0 && !import.input.labels.empty()) {
    import.warnings.push_back({import.input.labels.string(),
                               std::to_string(unlabelled) + " graphs have no row: without labels",
                               ""});
  }
  labels.report_unmet(import.input.labels.string(), import.warnings);
  return builder->finish();
}

}  // namespace kdgat::space
