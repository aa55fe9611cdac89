#include "fields/molecules/data/synth_molecules.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <vector>

#include "engine/arrays/random.h"
#include "engine/data/core/folder_files.h"
#include "engine/file/safetensors.h"
#include "fields/molecules/data/nucleotide_chain.h"
#include "kdgat/atomic_file.h"
#include "kdgat/error.h"

namespace kdgat::molecules {
namespace {

constexpr int64_t kAtomsOfResidue = 21;
constexpr int64_t kWidth = 16;      // of a ligand's vector
constexpr double kFavoured = 0.55;  // share of a ligand's two favoured bases in its pockets
constexpr double kBend = 18;        // degrees, by which ligands bend alpha and zeta
constexpr double kJitter = 6;       // degrees, of each torsion
constexpr std::string_view kBases = "ACGU";

std::string ligand_name(int64_t number) {
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "L%02d", static_cast<int>(number));
  return text.data();
}

/// Of a normal distribution with deviation 1.
double normal(arrays::Random& random) {
  double sum = 0;
  for (int i = 0; i < 12; ++i) sum += random.uniform();
  return sum - 6;
}

std::string pdb_of(const Structure& structure) {
  std::string out;
  int serial = 0;
  for (const SolvedResidue& residue : structure.residues) {
    for (const SolvedAtom& atom : residue.atoms) {
      std::array<char, 96> line{};
      std::snprintf(line.data(), line.size(),
                    "ATOM  %5d  %-3s %3s %1s%4s    %8.3f%8.3f%8.3f  1.00  0.00          %2s\n",
                    ++serial, atom.name.c_str(), residue.name.c_str(), residue.chain.c_str(),
                    residue.number.c_str(), atom.pos[0], atom.pos[1], atom.pos[2],
                    atom.name.substr(0, 1).c_str());
      out += line.data();
    }
  }
  return out + "END\n";
}

/// A strand as the ligand likes it: two of the four bases more often, and bent.
std::string synthetic_pocket(const data::SynthSize& options, int64_t graph) {
  const int64_t ligand = graph % options.classes;
  arrays::Random random(static_cast<uint64_t>(options.seed), static_cast<uint64_t>(graph) + 1);
  arrays::Random taste(static_cast<uint64_t>(options.seed) + 1, static_cast<uint64_t>(ligand));
  const std::size_t one = taste.below(kBases.size()), other = taste.below(kBases.size());
  const double bend = kBend * normal(taste), turn = kBend * normal(taste);
  const int64_t residues = std::max<int64_t>(2, options.nodes / kAtomsOfResidue);
  NucleotideChain chain;
  for (int64_t r = 0; r < residues; ++r) {
    const bool is_favoured = random.uniform() < kFavoured;
    const std::size_t base =
        is_favoured ? (random.below(2) == 0 ? one : other) : random.below(kBases.size());
    Torsions torsions;
    torsions.alpha += bend;
    torsions.zeta += turn;
    for (double* torsion : {&torsions.alpha, &torsions.beta, &torsions.gamma, &torsions.epsilon,
                            &torsions.zeta, &torsions.chi}) {
      *torsion += kJitter * normal(random);
    }
    chain.add(kBases[base], torsions);
  }
  return pdb_of(chain.structure());
}

}  // namespace

void write_synthetic_molecules(const std::filesystem::path& folder, const data::SynthSize& options,
                               const std::function<bool()>& cancelled) {
  data::make_folder(folder);
  std::string labels = "file,ligand\n";
  for (int64_t g = 0; g < options.graphs; ++g) {
    if (cancelled && cancelled()) {
      throw Error(ExitCode::kInterrupted, "interrupted while writing molecules");
    }
    std::array<char, 32> name{};
    std::snprintf(name.data(), name.size(), "pocket%04d.pdb", static_cast<int>(g));
    write_file(folder / name.data(), synthetic_pocket(options, g));
    labels += std::string(name.data()) + "," + ligand_name(g % options.classes) + "\n";
  }
  write_file(folder / "labels.csv", labels);
  std::vector<std::vector<float>> vectors(static_cast<std::size_t>(options.classes));
  file::SafetensorsWriter writer;
  arrays::Random random(static_cast<uint64_t>(options.seed) + 2);
  for (std::size_t l = 0; l < vectors.size(); ++l) {
    for (int64_t i = 0; i < kWidth; ++i) vectors[l].push_back(static_cast<float>(normal(random)));
    writer.add(ligand_name(static_cast<int64_t>(l)), {kWidth}, std::span<const float>(vectors[l]));
  }
  writer.write(folder / "ligands.safetensors");
}

}  // namespace kdgat::molecules
