#include <string>
#include <vector>

#include "fields/molecules/data/molecules_domain.h"
#include "kdgat/text.h"

namespace kdgat::molecules {

using nlohmann::json;

namespace {

std::string molecules_headline(const json& facts) {
  const json& of = facts.at("molecules");
  const int64_t ligands = of.at("ligands"), width = of.at("width");
  return grouped(facts.at("graphs")) + " molecules, " + grouped(of.at("atoms")) + " atoms" +
         (ligands > 0 ? ", " + grouped(ligands) + " ligands" : "") +
         (width > 0 ? " of " + grouped(width) + " numbers" : "");
}

data::Description describe_import(const json& result) {
  data::Description out;
  const json& sources = result.at("sources");
  if (sources.size() <= data::kMostFiles) {
    data::DescribedTable table;
    data::FolderNames folders;
    for (const json& source : sources) {
      table.add(
          {folders.name(table, source.at("path")), grouped(source.at("rows")) + " atoms",
           grouped(source.at("graphs")) + (source.at("graphs") == 1 ? " molecule" : " molecules"),
           source.at("format").get<std::string>()});
    }
    out.table(std::move(table));
  }
  return out.text(molecules_headline(result) + data::parts_text(result) + data::place_text(result));
}

data::DescribedTable table_of_terms(const json& of) {
  data::DescribedTable table;
  table.add({"", "all", "p50", "p95", "p99", "most"});
  for (const char* what : {"atoms", "bonds", "angles", "dihedrals", "pairs"}) {
    const json& each = of.at("each").at(what);
    table.add({what, grouped(of.at(what)), grouped(each.at("p50")), grouped(each.at("p95")),
               grouped(each.at("p99")), grouped(each.at("max"))});
  }
  return table;
}

data::DescribedTable table_of_parts(const json& parts) {
  data::DescribedTable table;
  table.add({"part", "molecules", "groups", "ligands", "atoms", "pairs"});
  for (const char* name : {"train", "val", "test"}) {
    const json& part = parts.at(name);
    table.add({name, grouped(part.at("molecules")), grouped(part.at("groups")),
               grouped(part.at("ligands")), grouped(part.at("atoms")), grouped(part.at("pairs"))});
  }
  return table;
}

data::Description describe_store(const json& result) {
  const json& facts = result.at("facts");
  const json& of = facts.at("molecules");
  data::Description out;
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

const data::Wording& molecules_wording() {
  static constexpr data::Wording wording = {molecules_headline, describe_import, describe_store};
  return wording;
}

}  // namespace kdgat::molecules
