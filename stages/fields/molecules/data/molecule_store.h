// MoleculeStore: many molecules in one memory-mapped file, the parts they are in, and the catalogue
// of ligands. Owns the mapping. Knows nothing about models.
//
// G molecules, N atoms, B bonds, P pairs, T angles, Q dihedrals in all, L ligands, W values each.
// Numbers of atoms are local to their molecule; features as in molecule_graph.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "engine/graph/graph_set.h"
#include "engine/graph/store_file.h"
#include "fields/molecules/data/ligands.h"
#include "fields/molecules/data/molecule_graph.h"

namespace kdgat::molecules {

inline constexpr const char* kMoleculeParts[] = {"train", "val", "test"};

/// To a training its edges are bonds and pairs in both directions, its label the ligand; a batch
/// that it gathers says which molecules are in it and how large it is, no more.
///
/// facts():
/// {"graphs","unlabelled","nodes","edges","molecules":{"atoms","bonds","pairs","angles","dihedrals",
///  "impropers","residues","ligands","labelled_ligands","width","cutoff": A,"each":{"atoms","bonds",
///  "pairs","angles","dihedrals": {"p50","p95","p99","max","sum"}}},"parts":{"train","val","test":
///  molecules}}; bonds and pairs are counted once, not for both directions
class MoleculeStore : public graph::StoreFile, public graph::GraphSet {
 public:
  static constexpr graph::StoreKind kKind = {"kdgat.molecules", 1, "store of molecules",
                                             "kdgat data import MOLECULES -o DIR makes one"};
  /// Checks header, shapes, facts, hashes as `check` says, and that nothing in it that indexes
  /// memory leaves its molecule. Throws Error(kData).
  static MoleculeStore open(const std::filesystem::path& path,
                            graph::Check check = graph::Check::kOnce) {
    return {path, check};
  }
  static bool is_store(const file::SafetensorsFile& file) {
    return graph::StoreFile::is_store(file, kKind);
  }

  /// Some rows of each molecule: those of molecule g are [ptr[g], ptr[g+1]).
  template <std::size_t ends>
  struct Terms {
    std::span<const int64_t> ptr;    ///< [G+1]
    std::span<const int32_t> index;  ///< [.,ends]
    std::span<const float> attr;     ///< [., features]
    int64_t count() const { return static_cast<int64_t>(index.size() / ends); }
  };

  graph::StepTotals size_of(int64_t id) const override;
  int64_t label_of(int64_t id) const override { return ligand_[static_cast<std::size_t>(id)]; }
  bool is_spatial() const override { return true; }
  const std::string& content_hash() const override { return graph::StoreFile::content_hash(); }
  void gather(std::span<const int64_t> ids, bool with_edge_attr,
              graph::GraphBatch& out) const override;

  int64_t molecules() const { return static_cast<int64_t>(ligand_.size()); }
  int64_t atoms() const { return atom_ptr_.back(); }
  std::span<const int64_t> atom_ptr() const { return atom_ptr_; }  ///< [G+1]
  std::span<const float> x() const { return x_; }                  ///< [N,kAtomFeatures]
  std::span<const float> pos() const { return pos_; }              ///< [N,3] A
  const Terms<2>& bonds() const { return bonds_; }
  const Terms<2>& pairs() const { return pairs_; }
  const Terms<3>& angles() const { return angles_; }
  const Terms<4>& dihedrals() const { return dihedrals_; }
  /// [G] number of its ligand in the catalogue, -1 = none
  std::span<const int32_t> ligand() const { return ligand_; }
  /// [G] index into kMoleculeParts
  std::span<const int32_t> part() const { return part_; }
  std::span<const int32_t> source_of() const { return source_of_; }  ///< [G] index into sources()
  /// The molecules of "train", "val" or "test". Throws std::logic_error for others.
  std::vector<int64_t> in_part(const std::string& part) const;

  const std::vector<std::string>& names() const { return names_; }    ///< [G]
  const std::vector<std::string>& groups() const { return groups_; }  ///< [G] that it was split by
  const std::vector<std::string>& ligands() const { return ligands_; }  ///< [L]
  std::span<const float> embeddings() const { return embeddings_; }     ///< [L,W] as they came
  int64_t embedding_width() const { return width_; }                    ///< W, 0 = none

  /// Data hashes, order of bonds and pairs, values that are not finite; empty when sound.
  std::vector<Diagnostic> verify() const;

 private:
  MoleculeStore(const std::filesystem::path& path, graph::Check check);
  template <std::size_t ends>
  Terms<ends> read_terms(const std::string& name, int64_t features);
  void check_facts() const;
  void check_ranges() const;

  std::span<const int64_t> atom_ptr_;
  std::span<const float> x_, pos_, embeddings_;
  Terms<2> bonds_, pairs_;
  Terms<3> angles_;
  Terms<4> dihedrals_;
  std::span<const int32_t> ligand_, part_, source_of_;
  std::vector<std::string> names_, groups_, ligands_;
  int64_t width_ = 0;
};

/// What a store is made of.
struct MoleculeStoreData {
  std::vector<MoleculeGraph> graphs;
  std::vector<std::string> names, groups;        ///< of each
  std::vector<int32_t> ligand, part, source_of;  ///< of each
  Ligands ligands;
  double cutoff = 0;  ///< A, of pairs
  std::vector<graph::Source> sources;
  nlohmann::json options;
};

/// Writes atomically, with hashes and facts. Throws Error(kData).
void write_molecule_store(const std::filesystem::path& path, const MoleculeStoreData& data);

}  // namespace kdgat::molecules
