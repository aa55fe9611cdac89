#include <algorithm>
#include <string>
#include <vector>

#include "fields/texts/data/texts_domain.h"
#include "kdgat/text.h"

namespace kdgat::texts {

using nlohmann::json;

namespace {

/// How long reading and building took, of what was not there before.
std::string build_text(const json& build, const json& text) {
  const double read = build.at("read_seconds");
  const double graph =
      build.at("graph_seconds").get<double>() + build.at("write_seconds").get<double>();
  return "; text read in " + format_number("%.2f s", read) + " (" +
         format_number("%.0f MB/s",
                       build.at("text_bytes").get<double>() / 1e6 / std::max(read, 1e-9)) +
         "), graph made in " + format_number("%.2f s", graph) + " (" +
         format_number("%.1f million nonzeros/s",
                       text.at("nonzeros").get<double>() / 1e6 / std::max(graph, 1e-9)) +
         "), peak " +
         mebibytes(build.at("peak_resident_bytes").get<int64_t>() -
                   build.at("resident_before_bytes").get<int64_t>()) +
         " above the start";
}

data::DescribedTable classes_and_parts(const json& result) {
  const json& text = result.at("facts").at("text");
  const json& parts = result.at("parts");
  data::DescribedTable table;
  table.add({"class", "documents", "train", "val", "test"});
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
  return table;
}

void describe_memory(const json& result, data::Description& out) {
  const json& memory = result.at("memory");
  const json& text = result.at("facts").at("text");
  const int64_t splits = memory.at("splits");
  const std::string cached = mebibytes(memory.at("cached_bytes"));
  data::DescribedTable table;
  table.add_heading("memory");
  table.add({"  graph, mapped once", cached});
  table.add({"  as int64 pairs and float32", mebibytes(memory.at("coo_bytes"))});
  table.add({"  identity features, naive",
             format_number("%.1f GB", memory.at("identity_bytes").get<double>() / 1e9)});
  std::string lines = "cached graph in memory (" + cached + ")";
  for (const char* part : {"val", "test"}) {
    if (result.at("parts").at(part).at("documents") == 0) continue;
    lines.append(", reused for ").append(part).append(" (saves ~").append(cached).append(")");
  }
  lines += "\nthe graph is shared by " + std::to_string(splits) +
           (splits == 1 ? " part" : " parts") + ": saved ~" + mebibytes(memory.at("saved_bytes")) +
           " of " + mebibytes(memory.at("cached_bytes").get<int64_t>() * splits) + ", " +
           format_number("%.1f%%", 100 * memory.at("saved_share").get<double>()) +
           "\nidentity features, " + grouped(text.at("nodes")) + " x " + grouped(text.at("nodes")) +
           " float32, are never allocated: S I W = S W\n";
  out.table(std::move(table)).text(std::move(lines));
}

std::string texts_headline(const json& facts) {
  const json& text = facts.at("text");
  return grouped(text.at("documents")) + " documents, " +
         std::to_string(text.at("classes").size()) + " classes, " + grouped(text.at("words")) +
         " words";
}

data::Description describe_texts_import(const json& result) {
  data::Description out;
  if (result.at("sources").size() <= data::kMostFiles) {
    data::DescribedTable table;
    data::FolderNames folders;
    for (const json& source : result.at("sources")) {
      std::vector<std::string> cells = {
          folders.name(table, source.at("path")), grouped(source.at("rows")) + " rows",
          source.at("role").get<std::string>(), source.at("format").get<std::string>()};
      if (source.at("malformed") != 0) {
        cells.push_back(grouped(source.at("malformed")) + " malformed");
      }
      table.add(std::move(cells));
    }
    out.table(std::move(table));
  }
  const json& text = result.at("text");
  return out.text(texts_headline(result) + data::parts_text(result) + data::place_text(result) +
                  grouped(text.at("nodes")) + " nodes, " + grouped(text.at("nonzeros")) +
                  " nonzeros" +
                  (result.contains("build") ? build_text(result.at("build"), text) : "") + "\n");
}

data::Description describe_texts_store(const json& result) {
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
  data::Description out;
  out.text(result.at("path").get<std::string>() + ": " + texts_headline(facts) + "\n" +
           grouped(text.at("nodes")) + " nodes, " + grouped(edges) + " directed edges: PMI " +
           edges_of("pmi", "%.4f") + ", TF-IDF " + edges_of("tfidf", "%.4f") + "\n" +
           grouped(text.at("tokens")) + " words, " +
           format_number("%.2f", text.at("average_length").get<double>()) + " a document, in " +
           grouped(text.at("windows")) + " windows of " + grouped(text.at("window")) + "\n")
      .options()
      .text("\n\n")
      .table(classes_and_parts(result))
      .text("\n");
  describe_memory(result, out);
  return out;
}

}  // namespace

const data::Wording& texts_wording() {
  static constexpr data::Wording wording = {texts_headline, describe_texts_import,
                                            describe_texts_store};
  return wording;
}

}  // namespace kdgat::texts
