#include "fields/molecules/data/molecule_import.h"

#include <catch2/catch.hpp>

#include "engine/data/core/graph_domain.h"
#include "engine/data/core/import.h"
#include "engine/graph/pack.h"
#include "fields/molecules/data/molecule_store.h"
#include "kdgat/atomic_file.h"
#include "pipeline/data/domains.h"
#include "support/can/log_text.h"
#include "support/fields/molecules/molecule_text.h"
#include "support/graphs/synth_of.h"
#include "support/graphs/tar_text.h"
#include "support/programs/command.h"

namespace kdgat::molecules {
namespace {

namespace fs = std::filesystem;
using Catch::Contains;
using nlohmann::json;

std::string one_atom(double x = 0) { return test::pdb_row("P", "A", 1, {x, 0, 0}, "P"); }

data::ImportReport import(const fs::path& source, const fs::path& to,
                          const json& values = json::object()) {
  return data::import_source(data::all_domains(), source, to, values);
}
MoleculeStore store_in(const fs::path& folder) {
  return MoleculeStore::open(folder / data::kStoreName);
}

}  // namespace

TEST_CASE("groups of molecules stay in one part", "[molecules]") {
  std::vector<std::string> groups;
  for (int i = 0; i < 400; ++i) groups.push_back(std::to_string(i % 57));
  std::vector<int32_t> part(groups.size(), -1), again = part, other = part;
  part[0] = again[0] = other[0] = 1;  // said by a label
  divide_groups(groups, 0.2, 0.25, 7, part);
  divide_groups(groups, 0.2, 0.25, 7, again);
  divide_groups(groups, 0.2, 0.25, 8, other);
  CHECK(part == again);
  CHECK(part != other);
  CHECK(part[0] == 1);
  std::map<std::string, std::set<int32_t>> seen;
  for (std::size_t g = 1; g < groups.size(); ++g) seen[groups[g]].insert(part[g]);
  for (const auto& [group, parts] : seen) CHECK(parts.size() == 1);
  const auto in = [&](int32_t p) { return std::count(part.begin(), part.end(), p); };
  CHECK(in(2) >= 100);
  CHECK(in(2) < 110);
  CHECK(in(1) >= 60);
  CHECK(in(1) < 70);
}

TEST_CASE("to a training a store of molecules is a set of graphs", "[molecules]") {
  const test::ScratchFolder folder;
  graph::write_synthetic(folder / "in", test::synth_of("molecules", 5, 60));
  import(folder / "in", folder / "store");
  const MoleculeStore store = store_in(folder / "store");
  const graph::GraphSet& set = store;
  CHECK(set.is_spatial());
  graph::StepTotals sum;
  for (int64_t id = 0; id < 5; ++id) {
    const graph::StepTotals one = set.size_of(id);
    CHECK(one.graphs == 1);
    CHECK(set.label_of(id) == store.ligand()[static_cast<std::size_t>(id)]);
    sum.nodes += one.nodes;
    sum.edges += one.edges;
  }
  CHECK(sum.nodes == store.atoms());
  CHECK(sum.edges == 2 * (store.bonds().count() + store.pairs().count()));
  CHECK(sum.nodes == store.facts().at("nodes").at("sum"));
  CHECK(sum.edges == store.facts().at("edges").at("sum"));
  graph::GraphBatch batch;
  graph::gather(set, std::vector<int64_t>{3, 1}, false, batch);
  CHECK(batch.graphs == 2);
  CHECK(batch.graph_id[0] == 3);
  CHECK(batch.node_ptr[1] == set.size_of(3).nodes);
  CHECK(batch.nodes == set.size_of(3).nodes + set.size_of(1).nodes);
  const graph::PackPlan plan = graph::make_pack_plan(
      set, std::vector<int64_t>{0, 1, 2, 3, 4}, {0, 0, set.size_of(0).edges * 5 / 2}, true, 1, 0);
  CHECK(plan.order.size() == 5);
  CHECK(plan.packs() >= 3);
}

TEST_CASE("folders for train, val and test say what molecules are for", "[molecules]") {
  const test::ScratchFolder folder;
  for (const char* name : {"Train/a_1.pdb", "validation/b_1.pdb", "Test/deep/c_1.pdb"}) {
    fs::create_directories((folder / "in" / name).parent_path());
    write_file(folder / "in" / name, one_atom());
  }
  write_file(folder / "in/labels.csv", "file,ligand,note\nc_1.pdb,CCC,-\nzz.pdb,ZZZ,-\n");
  const data::ImportReport report = import(folder / "in", folder / "out");
  const MoleculeStore store = store_in(folder / "out");
  for (const auto& [part, name] :
       {std::pair("train", "a_1"), std::pair("val", "b_1"), std::pair("test", "c_1")}) {
    const std::vector<int64_t> found = store.in_part(part);
    REQUIRE(found.size() == 1);
    CHECK(store.names()[static_cast<std::size_t>(found[0])] == name);
  }
  std::string said;
  for (const data::Note& one : report.warnings) said += one.text() + "\n";
  CHECK_THAT(said,
             Contains("no graph has the label of zz.pdb") && Contains("column note is not used"));
}

TEST_CASE("a folder and an archive of the same molecules give the same store", "[molecules]") {
  const test::ScratchFolder folder;
  const std::string labels = "file,ligand,part,family\nb_1.pdb,BBB,test,f\na_1.pdb,AAA,train,g\n";
  std::string archive;
  fs::create_directories(folder / "in/sub");
  for (const auto& [name, text] :
       std::map<std::string, std::string>{{"sub/b_1.pdb", one_atom(1)},
                                          {"a_1.pdb", one_atom()},
                                          {"labels.csv", labels},
                                          {"c.parm7", test::small_topology()},
                                          {"c.rst7", test::small_coordinates()}}) {
    write_file(folder / "in" / name, text);
    archive += test::tar_entry(name, text);
  }
  write_file(folder / "all.tar", archive + test::tar_end());
  const json values = {{"split_column", "part"}, {"group_column", "family"}};
  CHECK(import(folder / "in", folder / "one", values).graphs == 3);
  import(folder / "all.tar", folder / "other", values);
  const MoleculeStore one = store_in(folder / "one"), other = store_in(folder / "other");
  CHECK(one.names() == std::vector<std::string>{"a_1", "c", "b_1"});
  CHECK(one.names() == other.names());
  CHECK(std::equal(one.x().begin(), one.x().end(), other.x().begin(), other.x().end()));
  CHECK(one.ligands() == std::vector<std::string>{"AAA", "BBB"});
  CHECK(std::vector<int32_t>(one.ligand().begin(), one.ligand().end()) ==
        std::vector<int32_t>{0, -1, 1});
  CHECK(one.in_part("test") == other.in_part("test"));
  CHECK(one.part()[0] == 0);
  CHECK(one.part()[2] == 2);
  CHECK(one.groups() == std::vector<std::string>{"g", "c", "f"});
  CHECK(one.embedding_width() == 0);
  CHECK(one.verify().empty());
}

TEST_CASE("pockets are cut out of entries, and named by their ligand", "[molecules]") {
  const test::ScratchFolder folder;
  write_file(folder / "1abc.pdb", one_atom() +
                                      test::pdb_row("C1", "TPP", 9, {3, 0, 0}, "C", "HETATM") +
                                      test::pdb_row("C1", "TPP", 10, {60, 0, 0}, "C", "HETATM"));
  const data::ImportReport report =
      import(folder / "1abc.pdb", folder / "out", {{"ligand", "TPP"}});
  CHECK(report.graphs == 1);
  REQUIRE(report.warnings.size() == 1);
  CHECK_THAT(report.warnings[0].message, Contains("1 copies of TPP have no residue near them"));
  const MoleculeStore store = store_in(folder / "out");
  CHECK(store.names() == std::vector<std::string>{"1abc_TPP_A9"});
  CHECK(store.groups() == std::vector<std::string>{"1abc"});
  CHECK(store.ligands() == std::vector<std::string>{"TPP"});
  CHECK_THAT(test::data_error([&] {
               import(folder / "1abc.pdb", folder / "no", {{ "ligand", "SAM" }});
             }),
             Contains("no file has the residue SAM"));
}

TEST_CASE("embeddings are the catalogue, and a ligand without one is refused", "[molecules]") {
  const test::ScratchFolder folder;
  fs::create_directories(folder / "in");
  write_file(folder / "in/a.pdb", one_atom());
  const std::vector<float> zero = {0, 0, 0}, one = {1, 2, 3};
  const auto write = [&](const std::vector<float>& second, const std::string& name) {
    file::SafetensorsWriter writer;
    writer.add("BBB", {3}, std::span(zero));
    writer.add("1xyz_AAA", {static_cast<int64_t>(second.size())}, std::span(second));
    writer.write(folder / name);
  };
  write(one, "in/ligands.safetensors");
  write_file(folder / "in/labels.csv", "file,ligand\na.pdb,AAA\n");
  import(folder / "in", folder / "out");
  const MoleculeStore store = store_in(folder / "out");
  CHECK(store.ligands() == std::vector<std::string>{"AAA", "BBB"});
  CHECK(store.embedding_width() == 3);
  CHECK(store.embeddings()[2] == 3);
  CHECK(store.ligand()[0] == 0);

  write_file(folder / "in/labels.csv", "file,ligand\na.pdb,CCC\n");
  CHECK_THAT(test::data_error([&] { import(folder / "in", folder / "no"); }),
             Contains("labels.csv:2: the ligand CCC is not among the embeddings"));
  CHECK_FALSE(fs::exists(folder / "no" / data::kStoreName));
  write({1, 2}, "short.safetensors");
  CHECK_THAT(test::data_error([&] {
               import(folder / "in", folder / "no",
                      {{ "embeddings",
                         (folder / "short.safetensors").string() }});
             }),
             Contains("others have"));
  CHECK_THAT(test::data_error([&] {
               import(folder / "in", folder / "no", {{ "embeddings", "none" }});
             }),
             Contains("embeddings: none: no such file"));
}

TEST_CASE("what is wrong with files of molecules is said with file and line", "[molecules]") {
  const test::ScratchFolder folder;
  const auto refused = [&](const std::map<std::string, std::string>& files,
                           const json& values = json::object()) {
    fs::remove_all(folder / "in");
    fs::create_directories(folder / "in");
    for (const auto& [name, text] : files) write_file(folder / "in" / name, text);
    return test::error_of([&] { import(folder / "in", folder / "out", values); }, ExitCode::kData);
  };
  CHECK_THAT(refused({{"a.parm7", test::small_topology()}}),
             Contains("a topology without coordinates: a.inpcrd or .rst7"));
  CHECK_THAT(refused({{"a.rst7", test::small_coordinates()}}),
             Contains("coordinates without a topology"));
  CHECK_THAT(refused({{"a.parm7", test::small_topology()}, {"a.prmtop", ""}, {"a.rst7", ""}}),
             Contains("the same half"));
  CHECK_THAT(refused({{"a.pdb", test::pdb_row("C1", "LIG", 1, {0, 0, 0}, "C")}}),
             Contains("a.pdb: no atom of RNA") && Contains("other_residues=bond"));
  const std::string said = refused({{"a.pdb", ""}, {"b.pdb", one_atom()}, {"c.cif", "data_\n"}});
  CHECK_THAT(said, Contains("a.pdb: no atoms") && Contains("c.cif: no atoms"));
  CHECK_THAT(refused({{"a.pdb", one_atom()}, {"labels.csv", "file,ligand\na.pdb,X\na.pdb,Y\n"}}),
             Contains("labels.csv:3: 'a.pdb' appears twice"));
  CHECK_THAT(refused({{"a.pdb", one_atom()}, {"labels.csv", "file,ligand,s\na.pdb,X,dev\n"}},
                     {{"split_column", "s"}}),
             Contains("labels.csv:2: s is 'dev', not train, val or test"));
  CHECK_THAT(refused({{"a.pdb", one_atom()}, {"labels.csv", "file,ligand\na.pdb,X\n"}},
                     {{"label_column", "lig"}}),
             Contains("lig"));
  CHECK(test::error_of([&] { import(folder / "in", folder / "out",
                                    {{ "split_column",
                                       "s" }}); },
                       ExitCode::kData) != "");
}

TEST_CASE("497 pockets of RNA: counts and parts", "[molecules]") {
  const auto data = test::shared_path("data/rna");
  if (!data) return;
  const test::ScratchFolder folder;
  const data::ImportReport report =
      import(*data / "pockets.tar.gz", folder / "out",
             {{"labels", (*data / "pockets.csv").string()},
              {"label_column", "ligand"},
              {"split_column", "split"},
              {"embeddings", (*data / "ligand_maccs.safetensors").string()}});
  CHECK(report.graphs == 497);
  const MoleculeStore store = store_in(folder / "out");
  CHECK(store.in_part("train").size() == 339);
  CHECK(store.in_part("val").size() == 60);
  CHECK(store.in_part("test").size() == 98);
  CHECK(store.ligands().size() == 196);
  CHECK(store.embedding_width() == 166);
  CHECK(store.facts().at("molecules").at("labelled_ligands") == 161);
  CHECK(store.verify().empty());
}

}  // namespace kdgat::molecules
