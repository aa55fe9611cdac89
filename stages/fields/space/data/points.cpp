// Points with features, as segments of images (superpixels) are kept: a CSV with columns graph, x,
// y, maybe z, and any others as features; rows of a graph need not stand together. Edges go from
// each point to its nearest others.
#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>

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
  explicit Columns(const file::CsvReader& table) : graph(table.require("graph")) {
    place = {table.require("x"), table.require("y")};
    if (const auto z = table.find("z")) place.push_back(*z);
    for (std::size_t c = 0; c < table.header().size(); ++c) {
      if (c == graph || std::find(place.begin(), place.end(), c) != place.end()) continue;
      feature.push_back(c);
      names.push_back(table.header()[c]);
    }
    if (feature.empty()) names = {"one"};  // without features all points are alike
  }
  std::size_t graph;
  std::vector<std::size_t> place, feature;
  std::vector<std::string> names;
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

std::vector<Points> read_points(file::CsvReader& table, const Columns& columns) {
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
    for (const std::size_t c : columns.feature) points.x.push_back(table.number(c));
    if (columns.feature.empty()) points.x.push_back(1);
  }
  return graphs;
}

}  // namespace

graph::GraphStoreData import_points(const SpatialImport& import) {
  const Labels labels = import.labels("graph");
  std::optional<SpatialBuilder> builder;
  std::vector<std::string> names;
  int64_t unlabelled = 0;
  for (const data::LogFile& file : import.input.files) {
    file::CsvReader table(file::LineReader(file.path, import.cancelled));
    const Columns columns(table);
    if (!builder) builder.emplace(names = columns.names);
    if (columns.names != names) {
      throw Error(ExitCode::kData, "other features than in " + import.input.files.front().name, "",
                  table.name() + ":1");
    }
    std::vector<Points> graphs = read_points(table, columns);
    if (graphs.empty()) throw Error(ExitCode::kData, "no point", "", table.name());
    graph::Source source{file.name, "", "train", "superpixel", table.row() + 1, 0, 0, 0};
    source.independent = true;
    builder->begin_source(std::move(source));
    for (Points& points : graphs) {
      if (import.options.standardise && !columns.feature.empty()) {
        standardise(points.x, columns.feature.size());
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
  return builder->finish();
}

}  // namespace kdgat::space
