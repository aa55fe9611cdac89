#include "pipeline/data/data_tables.h"

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "kdgat/text.h"
#include "pipeline/show/graphs_text.h"
#include "pipeline/show/table.h"
#include "pipeline/show/text.h"

namespace kdgat {
namespace {

using nlohmann::json;

/// "23/27/29/30".
std::string sizes(const json& counts) {
  std::string out;
  for (const char* at : {"p50", "p95", "p99", "max"}) {
    if (!out.empty()) out += '/';
    out += std::to_string(counts.at(at).get<int64_t>());
  }
  return out;
}

/// Of names and counts.
Table count_table() { return Table(Table::Align::kRightButFirst); }

/// Splits "folder/file" so that a table names each folder once.
class Folders {
 public:
  std::string name(Table& table, const std::string& path) {
    const auto slash = path.rfind('/');
    const std::string folder = slash == std::string::npos ? "" : path.substr(0, slash);
    if (folder != last_ && !folder.empty()) table.add_heading(folder + "/");
    last_ = folder;
    return folder.empty() ? path : "  " + path.substr(slash + 1);
  }

 private:
  std::string last_;
};

/// A table of more files is no help: --json has them all.
constexpr std::size_t kMostFiles = 100;

/// "window=100 stride=100 ..." without what no one sets.
std::string options_line(const json& options) {
  std::string out = "options";
  for (const auto& [key, value] : options.items()) {
    if (key != "input") out += " " + key + "=" + value_text(value);
  }
  return wrapped(out, 8);
}

/// Graphs in space: files, parts, and the classes part by part.
void print_inspect_spatial(std::ostream& out, const json& result) {
  const json& facts = result.at("facts");
  const json& spatial = facts.at("spatial");
  const std::string length =
      format_number("%.4g", spatial.at("edge_length").at("median").get<double>());
  out << result.at("path").get<std::string>() << ": " << graphs_text(facts) << ", "
      << grouped(facts.at("unlabelled")) << " without class\n"
      << grouped(facts.at("node_features")) << " node features; "
      << grouped(facts.at("nodes").at("sum")) << " nodes, " << grouped(facts.at("edges").at("sum"))
      << " edges of median length " << length << ", " << grouped(spatial.at("paths").at("sum"))
      << " paths\n"
      << options_line(result.at("options"))
      << "\nnodes, edges and paths of a graph: p50/p95/p99/max " << sizes(facts.at("nodes")) << ", "
      << sizes(facts.at("edges")) << ", " << sizes(spatial.at("paths")) << "\n\n";
  const json& parts = result.at("parts");
  Table table = count_table();
  std::vector<std::string> heading = {"class", "graphs"};
  for (const auto& [name, part] : parts.items()) heading.push_back(name);
  table.add(std::move(heading));
  const auto row = [&](const std::string& name, const json& all, const auto& of_part) {
    std::vector<std::string> cells = {name, grouped(all)};
    for (const json& part : parts) cells.push_back(grouped(of_part(part)));
    table.add(std::move(cells));
  };
  for (std::size_t c = 0; c < spatial.at("classes").size(); ++c) {
    row(spatial.at("classes")[c].get<std::string>(), spatial.at("class_graphs")[c],
        [c](const json& part) { return part.at("classes")[c]; });
  }
  if (facts.at("unlabelled") != 0) {
    row("(none)", facts.at("unlabelled"), [](const json& part) { return part.at("unlabelled"); });
  }
  row("all", facts.at("graphs"), [](const json& part) { return part.at("graphs"); });
  out << table.text();
  if (result.at("files").size() > kMostFiles) return;
  out << '\n';
  Table files = count_table();
  Folders folders;
  files.add({"file", "rows", "graphs", "nodes", "edges"});
  for (const json& file : result.at("files")) {
    const std::string name = folders.name(files, file.at("name"));
    files.add({name, grouped(file.at("rows")), grouped(file.at("graphs")), sizes(file.at("nodes")),
               sizes(file.at("edges"))});
  }
  out << files.text();
}

// ---- texts

void print_import_text(std::ostream& out, const json& result) {
  Table table = count_table();
  Folders folders;
  for (const json& source : result.at("sources")) {
    std::vector<std::string> cells = {
        folders.name(table, source.at("path")), grouped(source.at("rows")) + " rows",
        source.at("role").get<std::string>(), source.at("format").get<std::string>()};
    if (source.at("malformed") != 0) {
      cells.push_back(grouped(source.at("malformed")) + " malformed");
    }
    table.add(std::move(cells));
  }
  if (result.at("sources").size() <= kMostFiles) out << table.text();
  const json& parts = result.at("parts");
  const json& text = result.at("text");
  out << graphs_text(result) << ": train " << grouped(parts.at("train")) << ", val "
      << grouped(parts.at("val")) << ", test " << grouped(parts.at("test"))
      << (result.at("reused").get<bool>() ? "; already in " : "; written to ")
      << result.at("folder").get<std::string>() << '\n'
      << grouped(text.at("nodes")) << " nodes, " << grouped(text.at("nonzeros")) << " nonzeros";
  if (!result.contains("build")) {
    out << '\n';
    return;
  }
  const json& build = result.at("build");
  const double read = build.at("read_seconds");
  const double graph =
      build.at("graph_seconds").get<double>() + build.at("write_seconds").get<double>();
  out << "; text read in " << format_number("%.2f s", read) << " ("
      << format_number("%.0f MB/s",
                       build.at("text_bytes").get<double>() / 1e6 / std::max(read, 1e-9))
      << "), graph made in " << format_number("%.2f s", graph) << " ("
      << format_number("%.1f million nonzeros/s",
                       text.at("nonzeros").get<double>() / 1e6 / std::max(graph, 1e-9))
      << "), peak "
      << mebibytes(build.at("peak_resident_bytes").get<int64_t>() -
                   build.at("resident_before_bytes").get<int64_t>())
      << " above the start\n";
}

void print_text_memory(std::ostream& out, const json& result) {
  const json& memory = result.at("memory");
  const json& text = result.at("facts").at("text");
  const int64_t splits = memory.at("splits");
  Table table = count_table();
  table.add_heading("memory");
  table.add({"  graph, mapped once", mebibytes(memory.at("cached_bytes"))});
  table.add({"  as int64 pairs and float32", mebibytes(memory.at("coo_bytes"))});
  table.add({"  identity features, naive",
             format_number("%.1f GB", memory.at("identity_bytes").get<double>() / 1e9)});
  out << table.text();
  const std::string cached = mebibytes(memory.at("cached_bytes"));
  out << "cached graph in memory (" << cached << ")";
  for (const char* part : {"val", "test"}) {
    if (result.at("parts").at(part).at("documents") == 0) continue;
    out << ", reused for " << part << " (saves ~" << cached << ")";
  }
  out << "\nthe graph is shared by " << splits << (splits == 1 ? " part" : " parts") << ": saved ~"
      << mebibytes(memory.at("saved_bytes")) << " of "
      << mebibytes(memory.at("cached_bytes").get<int64_t>() * splits) << ", "
      << format_number("%.1f%%", 100 * memory.at("saved_share").get<double>())
      << "\nidentity features, " << grouped(text.at("nodes")) << " x " << grouped(text.at("nodes"))
      << " float32, are never allocated: S I W = S W\n";
}

void print_inspect_text(std::ostream& out, const json& result) {
  const json& facts = result.at("facts");
  const json& text = facts.at("text");
  const int64_t edges = text.at("nonzeros").get<int64_t>() - text.at("nodes").get<int64_t>();
  const auto edges_of = [&](const char* kind, const char* format) {
    const auto value = [&](const char* what) {
      return format_number(format, text.at(std::string(kind) + what).get<double>());
    };
    return grouped(text.at(std::string(kind) + "_edges")) + " (mean " + value("_mean") + ", max " +
           value("_max") + ")";
  };
  out << result.at("path").get<std::string>() << ": " << graphs_text(facts) << '\n'
      << grouped(text.at("nodes")) << " nodes, " << grouped(edges) << " directed edges: PMI "
      << edges_of("pmi", "%.4f") << ", TF-IDF " << edges_of("tfidf", "%.4f") << '\n'
      << grouped(text.at("tokens")) << " words, "
      << format_number("%.2f", text.at("average_length").get<double>()) << " a document, in "
      << grouped(text.at("windows")) << " windows of " << grouped(text.at("window")) << '\n'
      << options_line(result.at("options")) << "\n\n";
  Table table = count_table();
  table.add({"class", "documents", "train", "val", "test"});
  const json& parts = result.at("parts");
  for (std::size_t c = 0; c < text.at("classes").size(); ++c) {
    std::vector<std::string> cells = {text.at("classes")[c],
                                      grouped(text.at("class_documents")[c])};
    for (const char* part : {"train", "val", "test"}) {
      cells.push_back(grouped(parts.at(part).at("classes")[c]));
    }
    table.add(std::move(cells));
  }
  table.add({"all", grouped(text.at("documents")), grouped(parts.at("train").at("documents")),
             grouped(parts.at("val").at("documents")), grouped(parts.at("test").at("documents"))});
  out << table.text();
  out << '\n';
  print_text_memory(out, result);
}

// ---- ratings

void print_import_ratings(std::ostream& out, const json& result) {
  Table table = count_table();
  for (const json& source : result.at("sources")) {
    std::vector<std::string> cells = {source.at("path"), grouped(source.at("rows")) + " rows",
                                      source.at("role"), source.at("format")};
    if (source.at("malformed") != 0) {
      cells.push_back(grouped(source.at("malformed")) + " malformed");
    }
    table.add(std::move(cells));
  }
  out << table.text();
  const json& parts = result.at("parts");
  const json& ratings = result.at("ratings");
  out << graphs_text(result) << ": train " << grouped(parts.at("train")) << ", test "
      << grouped(parts.at("test"))
      << (result.at("reused").get<bool>() ? "; already in " : "; written to ")
      << result.at("folder").get<std::string>() << '\n'
      << grouped(ratings.at("nodes")) << " nodes, " << grouped(ratings.at("edges"))
      << " directed edges, " << grouped(ratings.at("features")) << " features\n";
}

void print_inspect_ratings(std::ostream& out, const json& result) {
  const json& facts = result.at("facts");
  const json& r = facts.at("ratings");
  const auto range = [&r](const char* format) {
    return format_number(format, r.at("min").get<double>()) + " to " +
           format_number(format, r.at("max").get<double>());
  };
  out << result.at("path").get<std::string>() << ": " << graphs_text(facts) << '\n'
      << "ratings from " << range("%g") << ", mean of train "
      << format_number("%.4f", r.at("mean").get<double>()) << "; "
      << format_number("%.2f%%", 100 * r.at("density").get<double>()) << " of all pairs; times "
      << (r.at("timed").get<bool>() ? "known" : "unknown") << '\n'
      << "graph of train: " << grouped(r.at("nodes")) << " nodes, " << grouped(r.at("edges"))
      << " directed edges; " << grouped(r.at("train_users")) << " users and "
      << grouped(r.at("train_items")) << " items in it, a user has "
      << grouped(r.at("least_of_user")) << " or more\n"
      << r.at("user_features").size() << " features of users, " << r.at("item_features").size()
      << " of items; mapped once for all models: "
      << mebibytes(result.at("memory").at("mapped_bytes")) << '\n'
      << options_line(result.at("options")) << "\n\n";
  Table table = count_table();
  table.add({"part", "ratings", "users", "items", "cold users", "cold items", "mean"});
  for (const auto& [name, part] : result.at("parts").items()) {
    table.add({name, grouped(part.at("ratings")), grouped(part.at("users")),
               grouped(part.at("items")), grouped(part.at("cold_users")),
               grouped(part.at("cold_items")), format_number("%.4f", part.at("mean"))});
  }
  out << table.text();
}

}  // namespace

void print_import(std::ostream& out, const json& result) {
  if (result.contains("ratings")) return print_import_ratings(out, result);
  if (result.contains("text")) return print_import_text(out, result);
  const bool is_spatial = result.contains("spatial");
  Table table = count_table();
  Folders folders;
  for (const json& source : result.at("sources")) {
    const int64_t graphs = source.at("graphs");
    std::vector<std::string> cells = {
        folders.name(table, source.at("path")), grouped(source.at("rows")) + " rows",
        is_spatial ? grouped(graphs) + (graphs == 1 ? " graph" : " graphs") : windows_text(graphs),
        source.at("format").get<std::string>()};
    if (source.at("malformed") != 0) {
      cells.push_back(grouped(source.at("malformed")) + (is_spatial ? " left out" : " malformed"));
    }
    table.add(std::move(cells));
  }
  if (!is_spatial || result.at("sources").size() <= kMostFiles) out << table.text();
  int64_t test = 0;
  for (const auto& [name, graphs] : result.at("parts").items()) {
    if (name.rfind("test", 0) == 0) test += graphs.get<int64_t>();
  }
  const json& parts = result.at("parts");
  out << graphs_text(result);
  if (!is_spatial) out << ", " << grouped(result.at("num_ids")) << " ids";
  out << ": train " << grouped(parts.value("train", 0)) << ", val "
      << grouped(parts.value("val", 0)) << ", test " << grouped(test)
      << (result.at("reused").get<bool>() ? "; already in " : "; written to ")
      << result.at("folder").get<std::string>() << '\n';
}

void print_inspect(std::ostream& out, const json& result) {
  const json& facts = result.at("facts");
  if (facts.contains("text")) return print_inspect_text(out, result);
  if (facts.contains("ratings")) return print_inspect_ratings(out, result);
  if (facts.contains("spatial")) return print_inspect_spatial(out, result);
  out << result.at("path").get<std::string>() << ": "
      << windows_text(facts.at("graphs").get<int64_t>()) << ", " << grouped(facts.at("attack"))
      << " attack, " << grouped(facts.at("benign")) << " benign, "
      << grouped(facts.at("unlabelled")) << " without label\n"
      << grouped(facts.at("num_ids")) << " ids, " << grouped(facts.at("node_features"))
      << " node and " << grouped(facts.at("edge_features")) << " edge features; "
      << grouped(facts.at("nodes").at("sum")) << " nodes, " << grouped(facts.at("edges").at("sum"))
      << " edges\n"
      << options_line(result.at("options")) << "\nnodes and edges of a window: p50/p95/p99/max\n\n";
  const auto counts = [](std::vector<std::string> cells, const json& c) {
    for (const char* key : {"graphs", "attack", "benign", "unlabelled", "ids"}) {
      cells.push_back(grouped(c.at(key)));
    }
    cells.push_back(sizes(c.at("nodes")));
    cells.push_back(sizes(c.at("edges")));
    return cells;
  };
  Table files = count_table();
  Folders folders;
  files.add({"file", "rows", "windows", "attack", "benign", "none", "ids", "nodes", "edges"});
  for (const json& file : result.at("files")) {
    const std::string name = folders.name(files, file.at("name"));
    files.add(counts({name, grouped(file.at("rows"))}, file));
  }
  out << files.text();
  if (result.at("parts").empty()) return;
  out << '\n';
  Table parts = count_table();
  Folders folders_of_parts;
  parts.add({"part", "windows", "attack", "benign", "none", "ids", "nodes", "edges"});
  for (const auto& [name, part] : result.at("parts").items())
    parts.add(counts({folders_of_parts.name(parts, name)}, part));
  out << parts.text();
}

}  // namespace kdgat
