#include <string>
#include <vector>

#include "fields/molecules/data/molecules_domain.h"
#include "kdgat/text.h"

namespace kdgat::graph {

using nlohmann::json;

namespace {

std::string molecules_headline(const json& facts) {
  const json& of = facts.at("molecules");
  const int64_t ligands = of.at("ligands"), width = of.at("width");
  return grouped(facts.at("graphs")) + " molecules, " + grouped(of.at("atoms")) + " atoms" +
         (ligands > 0 ? ", " + grouped(ligands) + " ligands" : "") +
         (width > 0 ? " of " + grouped(width) + " numbers" : "");
}

Description describe_import(const json& result) {
  Description out;
  const json& sources = result.at("sources");
  if (sources.size() <= kMostFiles) {
    DescribedTable table;
    FolderNames folders;
    for (const json& source : sources) {
      table.add(
          {folders.name(table, source.at("path")), grouped(source.at("rows")) + " atoms",
           grouped(source.at("graphs")) + (source.at("graphs") == 1 ? " molecule" : " molecules"),
           source.at("format").get<std::string>()});
    }
    out.table(std::move(table));
  }
  return out.text(molecules_headline(result) + parts_text(result) + place_text(result));
}

DescribedTable table_of_terms(const json& of) {
  DescribedTable table;
  table.add({"", "all", "p50", "p95", "p99", "most"});
  for (const char* what : {"atoms", "bonds", "angles", "dihedrals", "pairs"}) {
    const json& each = of.at("each").at(what);
    table.add({what, grouped(of.at(what)), grouped(each.at("p50")), grouped(each.at("p95")),
               grouped(each.at("p99")), grouped(each.at("max"))});
  }
  return table;
}

DescribedTable table_of_parts(const json& parts) {
  DescribedTable table;
  table.add({"part", "molecules", "groups", "ligands", "atoms", "pairs"});
  for (const char* name : {"train", "val", "test"}) {
    const json& part = parts.at(name);
    table.add({name, grouped(part.at("molecules")), grouped(part.at("groups")),
               grouped(part.at("ligands")), grouped(part.at("atoms")), grouped(part.at("pairs"))});
  }
  return table;
}

Description describe_store(const json& result) {
  const json& facts = result.at("facts");
  const json& of = facts.at("molecules");
  Description out;
  out.text(result.at("path").get<std::string>() + ": " + molecules_headline(facts) + "\n" +
           grouped(of.at("residues")) + " residues, " + grouped(of.at("impropers")) +
           " of the dihedrals improper, pairs up to " +
           format_number("%g A", of.at("cutoff").get<double>()) + "; " +
           grouped(of.at("labelled_ligands")) + " of the ligands occur\n")
      .options()
      .text("\n\n")
      .table(table_of_terms(of))
      .text("\nbonds and pairs are counted once, not for both directions\n\n")
      .table(table_of_parts(result.at("parts")));
  return out;
}

}  // namespace

const Wording& molecules_wording() {
  static constexpr Wording wording = {molecules_headline, describe_import, describe_store};
  return wording;
}

}  // namespace kdgat::graph
