#include "fields/molecules/data/molecule_store.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>

#include "engine/arrays/index.h"
#include "engine/arrays/ranges.h"
#include "engine/file/safetensors_header.h"
#include "engine/graph/pack.h"
#include "engine/graph/sections/common_arrays.h"

namespace kdgat::molecules {

using nlohmann::json;

namespace {

std::vector<int64_t> sizes_of(std::span<const int64_t> ptr) {
  std::vector<int64_t> out;
  for (std::size_t g = 0; g + 1 < ptr.size(); ++g) out.push_back(ptr[g + 1] - ptr[g]);
  return out;
}

/// Of each molecule: bonds and pairs in both directions.
std::vector<int64_t> directed_edges(std::span<const int64_t> bond_ptr,
                                    std::span<const int64_t> pair_ptr) {
  std::vector<int64_t> out = sizes_of(bond_ptr);
  const std::vector<int64_t> pairs = sizes_of(pair_ptr);
  for (std::size_t g = 0; g < out.size(); ++g) out[g] = 2 * (out[g] + pairs[g]);
  return out;
}

bool covers(std::span<const int64_t> ptr, int64_t total) {
  return !ptr.empty() && ptr.front() == 0 && ptr.back() == total && arrays::are_ascending(ptr);
}

/// Terms of all molecules, one behind the other.
template <std::size_t ends>
struct Joined {
  std::vector<int64_t> ptr{0};
  std::vector<int32_t> index;
  std::vector<float> attr;

  void add(const std::vector<std::array<int32_t, ends>>& terms, const std::vector<float>& values) {
    for (const auto& term : terms) index.insert(index.end(), term.begin(), term.end());
    attr.insert(attr.end(), values.begin(), values.end());
    ptr.push_back(static_cast<int64_t>(index.size() / ends));
  }
  void write(const std::string& name, int64_t features, file::SafetensorsWriter& writer) const {
    const int64_t count = ptr.back();
    writer.add(name + "_ptr", {static_cast<int64_t>(ptr.size())}, std::span(ptr));
    writer.add(name + "_index", {count, static_cast<int64_t>(ends)}, std::span(index));
    writer.add(name + "_attr", {count, features}, std::span(attr));
  }
};

struct JoinedGraphs {
  std::vector<int64_t> atom_ptr{0};
  std::vector<float> x, pos;
  Joined<2> bonds, pairs;
  Joined<3> angles;
  Joined<4> dihedrals;
  int64_t impropers = 0, residues = 0;

  explicit JoinedGraphs(const std::vector<MoleculeGraph>& graphs) {
    for (const MoleculeGraph& g : graphs) {
      x.insert(x.end(), g.x.begin(), g.x.end());
      pos.insert(pos.end(), g.pos.begin(), g.pos.end());
      atom_ptr.push_back(atom_ptr.back() + g.atoms());
      bonds.add(g.bonds, g.bond_attr);
      pairs.add(g.pairs, g.pair_attr);
      angles.add(g.angles, g.angle_attr);
      dihedrals.add(g.dihedrals, g.dihedral_attr);
      impropers += g.impropers;
      residues += g.residues;
    }
  }
};

json facts_of(const MoleculeStoreData& data, const JoinedGraphs& all) {
  json parts = json::object();
  for (std::size_t p = 0; p < std::size(kMoleculeParts); ++p) {
    parts[kMoleculeParts[p]] =
        std::count(data.part.begin(), data.part.end(), static_cast<int32_t>(p));
  }
  std::set<int32_t> seen(data.ligand.begin(), data.ligand.end());
  seen.erase(-1);
  return {{"graphs", data.graphs.size()},
          {"unlabelled", std::count(data.ligand.begin(), data.ligand.end(), -1)},
          {"nodes", graph::size_facts(sizes_of(all.atom_ptr))},
          {"edges", graph::size_facts(directed_edges(all.bonds.ptr, all.pairs.ptr))},
          {"parts", parts},
          {"molecules",
           {{"atoms", all.atom_ptr.back()},
            {"bonds", all.bonds.ptr.back()},
            {"pairs", all.pairs.ptr.back()},
            {"angles", all.angles.ptr.back()},
            {"dihedrals", all.dihedrals.ptr.back()},
            {"impropers", all.impropers},
            {"residues", all.residues},
            {"ligands", data.ligands.names().size()},
            {"labelled_ligands", seen.size()},
            {"width", data.ligands.width()},
            {"cutoff", data.cutoff},
            {"each",
             {{"atoms", graph::size_facts(sizes_of(all.atom_ptr))},
              {"bonds", graph::size_facts(sizes_of(all.bonds.ptr))},
              {"pairs", graph::size_facts(sizes_of(all.pairs.ptr))},
              {"angles", graph::size_facts(sizes_of(all.angles.ptr))},
              {"dihedrals", graph::size_facts(sizes_of(all.dihedrals.ptr))}}}}}};
}

bool are_finite(std::span<const float> values) {
  return std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); });
}

}  // namespace

template <std::size_t ends>
MoleculeStore::Terms<ends> MoleculeStore::read_terms(const std::string& name, int64_t features) {
  Terms<ends> out;
  out.ptr = file().require<int64_t>(name + "_ptr", {molecules() + 1});
  out.index = file().require<int32_t>(name + "_index", {-1, static_cast<int64_t>(ends)});
  out.attr = file().require<float>(name + "_attr", {out.count(), features});
  if (!covers(out.ptr, out.count())) {
    throw refuse(path(), name + "_ptr does not cover its rows");
  }
  return out;
}

MoleculeStore::MoleculeStore(const std::filesystem::path& path, graph::Check check)
    : graph::StoreFile(path, kKind, check) {
  read("names", names_);
  read("groups", groups_);
  read("ligands", ligands_);
  ligand_ = file().require<int32_t>("ligand", {-1});
  part_ = file().require<int32_t>("part", {molecules()});
  source_of_ = file().require<int32_t>("source_of", {molecules()});
  atom_ptr_ = file().require<int64_t>("atom_ptr", {molecules() + 1});
  x_ = file().require<float>("x", {-1, kAtomFeatures});
  const auto atoms = static_cast<int64_t>(x_.size()) / kAtomFeatures;
  if (!covers(atom_ptr_, atoms)) throw refuse(path, "atom_ptr does not cover its rows");
  pos_ = file().require<float>("pos", {atoms, 3});
  bonds_ = read_terms<2>("bond", kBondFeatures);
  pairs_ = read_terms<2>("pair", kPairFeatures);
  angles_ = read_terms<3>("angle", kAngleFeatures);
  dihedrals_ = read_terms<4>("dihedral", kDihedralFeatures);
  if (file().has("embeddings")) {
    embeddings_ = file().require<float>("embeddings", {static_cast<int64_t>(ligands_.size()), -1});
    width_ = file().tensor("embeddings").shape[1];
  }
  check_ranges();
  check_facts();
  file().forget_pages();
}

void MoleculeStore::check_ranges() const {
  const auto molecules = static_cast<std::size_t>(this->molecules());
  if (names_.size() != molecules || groups_.size() != molecules) {
    throw refuse(path(), "names are of another number of molecules");
  }
  if (!arrays::are_within(ligand_, -1, static_cast<int64_t>(ligands_.size()))) {
    throw refuse(path(), "a molecule names a ligand that is not there");
  }
  if (!arrays::are_within(part_, 0, std::ssize(kMoleculeParts))) {
    throw refuse(path(), "a molecule is in a part that is none");
  }
  if (!arrays::are_within(source_of_, 0, static_cast<int64_t>(sources().size()))) {
    throw refuse(path(), "a molecule names a source that is not there");
  }
  const auto check = [&](const auto& terms, std::size_t ends, const char* what) {
    for (std::size_t g = 0; g < molecules; ++g) {
      const auto first = arrays::at(terms.ptr[g]) * ends,
                 size = arrays::at(terms.ptr[g + 1]) * ends - first;
      if (arrays::are_within(terms.index.subspan(first, size), 0, atom_ptr_[g + 1] - atom_ptr_[g]))
        continue;
      throw refuse(
          path(), "molecule " + std::to_string(g) + " has " + what + " with an atom outside of it");
    }
  };
  check(bonds_, 2, "a bond");
  check(pairs_, 2, "a pair");
  check(angles_, 3, "an angle");
  check(dihedrals_, 4, "a dihedral");
}

void MoleculeStore::check_facts() const {
  const auto part = [this](int32_t p) { return std::count(part_.begin(), part_.end(), p); };
  const auto most = [](std::span<const int64_t> ptr) {
    const std::vector<int64_t> sizes = sizes_of(ptr);
    return sizes.empty() ? int64_t{0} : *std::max_element(sizes.begin(), sizes.end());
  };
  require_facts({{"/graphs", molecules()},
                 {"/unlabelled", std::count(ligand_.begin(), ligand_.end(), -1)},
                 {"/parts/train", part(0)},
                 {"/parts/val", part(1)},
                 {"/parts/test", part(2)},
                 {"/nodes/sum", atoms()},
                 {"/nodes/max", most(atom_ptr_)},
                 {"/edges/sum", 2 * (bonds_.count() + pairs_.count())},
                 {"/molecules/atoms", atoms()},
                 {"/molecules/bonds", bonds_.count()},
                 {"/molecules/pairs", pairs_.count()},
                 {"/molecules/angles", angles_.count()},
                 {"/molecules/dihedrals", dihedrals_.count()},
                 {"/molecules/ligands", ligands_.size()},
                 {"/molecules/width", width_},
                 {"/molecules/each/atoms/max", most(atom_ptr_)},
                 {"/molecules/each/pairs/max", most(pairs_.ptr)}});
  require_numbers({"/molecules/impropers", "/molecules/residues", "/molecules/labelled_ligands",
                   "/molecules/cutoff", "/edges/max", "/molecules/each/bonds/max",
                   "/molecules/each/angles/max", "/molecules/each/dihedrals/max",
                   "/molecules/each/atoms/p50", "/molecules/each/pairs/p50"});
}

graph::StepTotals MoleculeStore::size_of(int64_t id) const {
  const auto count = [g = arrays::at(id)](std::span<const int64_t> ptr) {
    return ptr[g + 1] - ptr[g];
  };
  graph::StepTotals out;
  out.graphs = 1;
  out.nodes = count(atom_ptr_);
  out.edges = 2 * (count(bonds_.ptr) + count(pairs_.ptr));
  return out;
}

void MoleculeStore::gather(std::span<const int64_t> ids, bool /*with_edge_attr*/,
                           graph::GraphBatch& out) const {
  graph::Exchange* const exchange = out.exchange;
  out = {};
  out.exchange = exchange;
  out.graphs = std::ssize(ids);
  out.node_ptr.resize(out.graphs + 1);
  out.y.resize(out.graphs);
  out.graph_id.resize(out.graphs);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const graph::StepTotals size = size_of(ids[i]);
    const auto row = static_cast<int64_t>(i);
    out.node_ptr[row] = static_cast<int32_t>(out.nodes);
    out.y[row] = label_of(ids[i]);
    out.graph_id[row] = ids[i];
    out.nodes += size.nodes;
    out.edges += size.edges;
  }
  out.node_ptr[out.graphs] = static_cast<int32_t>(out.nodes);
}

std::vector<int64_t> MoleculeStore::in_part(const std::string& part) const {
  const auto* found = std::find(std::begin(kMoleculeParts), std::end(kMoleculeParts), part);
  if (found == std::end(kMoleculeParts)) {
    throw std::logic_error("no part of a store of molecules is called " + part);
  }
  const auto wanted = static_cast<int32_t>(found - std::begin(kMoleculeParts));
  std::vector<int64_t> out;
  for (int64_t g = 0; g < molecules(); ++g) {
    if (part_[arrays::at(g)] == wanted) out.push_back(g);
  }
  return out;
}

std::vector<Diagnostic> MoleculeStore::verify() const {
  std::vector<Diagnostic> problems = file::verify_hashes(file());
  const auto problem = [&](const std::string& message) {
    problems.push_back({path().string(), message, ""});
  };
  const std::pair<const char*, std::span<const float>> values[] = {
      {"an atom's feature", x_},
      {"a position", pos_},
      {"a bond's feature", bonds_.attr},
      {"a pair's feature", pairs_.attr},
      {"an angle's feature", angles_.attr},
      {"a dihedral's feature", dihedrals_.attr},
      {"an embedding", embeddings_}};
  for (const auto& [what, of] : values) {
    if (!are_finite(of)) problem(std::string(what) + " is not finite");
  }
  const auto check = [&](const Terms<2>& terms, const std::string& what) {
    for (int64_t g = 0; g < molecules(); ++g) {
      for (int64_t t = terms.ptr[arrays::at(g)]; t < terms.ptr[arrays::at(g) + 1]; ++t) {
        const std::size_t i = 2 * arrays::at(t);
        const bool is_first = t == terms.ptr[arrays::at(g)];
        const auto ends = [&](std::size_t k) {
          return std::pair(terms.index[k], terms.index[k + 1]);
        };
        const bool is_sound =
            terms.index[i] < terms.index[i + 1] && (is_first || ends(i - 2) < ends(i));
        if (is_sound) continue;
        problem("molecule " + std::to_string(g) + " has " + what + " out of order");
        return;
      }
    }
  };
  check(bonds_, "bonds");
  check(pairs_, "pairs");
  return problems;
}

void write_molecule_store(const std::filesystem::path& path, const MoleculeStoreData& data) {
  const JoinedGraphs all(data.graphs);
  const auto molecules = static_cast<int64_t>(data.graphs.size());
  file::SafetensorsWriter writer;
  writer.add("ligand", {molecules}, std::span(data.ligand));
  writer.add("part", {molecules}, std::span(data.part));
  writer.add("source_of", {molecules}, std::span(data.source_of));
  writer.add("atom_ptr", {molecules + 1}, std::span(all.atom_ptr));
  writer.add("x", {all.atom_ptr.back(), kAtomFeatures}, std::span(all.x));
  writer.add("pos", {all.atom_ptr.back(), 3}, std::span(all.pos));
  all.bonds.write("bond", kBondFeatures, writer);
  all.pairs.write("pair", kPairFeatures, writer);
  all.angles.write("angle", kAngleFeatures, writer);
  all.dihedrals.write("dihedral", kDihedralFeatures, writer);
  if (data.ligands.width() > 0) {
    writer.add("embeddings",
               {static_cast<int64_t>(data.ligands.names().size()), data.ligands.width()},
               std::span(data.ligands.vectors()));
  }
  writer.metadata(
      graph::store_metadata(MoleculeStore::kKind, data.sources, data.options, facts_of(data, all)));
  writer.metadata("names", file::json_text(data.names));
  writer.metadata("groups", file::json_text(data.groups));
  writer.metadata("ligands", file::json_text(data.ligands.names()));
  writer.write(path, true);
}

}  // namespace kdgat::molecules
