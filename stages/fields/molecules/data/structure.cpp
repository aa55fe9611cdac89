#include "fields/molecules/data/structure.h"

#include <algorithm>
#include <cctype>

#include "fields/molecules/data/elements.h"
#include "fields/molecules/data/structure_builder.h"

namespace kdgat::molecules {
namespace {

/// Names of old files in the words of today.
std::string modern_name(std::string_view name) {
  std::string out(name);
  std::replace(out.begin(), out.end(), '*', '\'');
  if (out == "O1P") return "OP1";
  if (out == "O2P") return "OP2";
  if (out == "O3P") return "OP3";
  return out;
}

/// Of a file that names no element: the letters that its atom's name begins with.
const Element* element_of(const AtomRow& row) {
  if (!row.element.empty()) return element_named(row.element);
  std::string_view name = row.name;
  while (!name.empty() && !std::isalpha(static_cast<unsigned char>(name.front()))) {
    name.remove_prefix(1);
  }
  // An atom named as its residue is an ion: MG, ZN. Elsewhere CA is a carbon.
  if (row.name == row.residue) return element_named(row.name);
  return element_named(name.substr(0, 1));
}

}  // namespace

std::string SolvedResidue::title() const {
  return (chain.empty() ? "" : "chain " + chain + ", ") + name + " " + number;
}

void StructureBuilder::add(const AtomRow& row) {
  ++out_.rows;
  const Element* element = element_of(row);
  if (element != nullptr && element->number == 1) {
    ++out_.hydrogens;
    return;
  }
  std::string key = std::to_string(ended_).append("\n").append(row.chain);
  for (const std::string_view part : {row.number, row.residue}) key.append("\n").append(part);
  const auto [found, is_new] = place_.emplace(std::move(key), out_.residues.size());
  if (is_new) {
    out_.residues.push_back(
        {std::string(row.residue), std::string(row.chain), std::string(row.number), {}});
  }
  std::string name = modern_name(row.name);
  const bool is_first_choice = row.alternate.empty() || row.alternate == "A";
  std::vector<SolvedAtom>& atoms = out_.residues[found->second].atoms;
  const bool was_seen = !seen_.emplace(found->second, name).second;
  if (was_seen) {
    ++(row.alternate.empty() ? out_.repeated : out_.alternates);
    if (!is_first_choice || row.alternate.empty()) return;
    // A is asked for wherever it stands.
    const auto same = std::find_if(atoms.begin(), atoms.end(),
                                   [&](const SolvedAtom& atom) { return atom.name == name; });
    same->pos = row.pos;
    return;
  }
  atoms.push_back({std::move(name), element == nullptr ? 0 : element->number, row.pos});
}

std::vector<Pocket> cut_pockets(const Structure& structure, const std::string& ligand,
                                double cutoff, const std::vector<bool>& wanted) {
  std::vector<Pocket> out;
  for (std::size_t copy = 0; copy < structure.residues.size(); ++copy) {
    const SolvedResidue& centre = structure.residues[copy];
    if (centre.name != ligand) continue;
    Pocket pocket{copy, {}};
    for (std::size_t r = 0; r < structure.residues.size(); ++r) {
      const SolvedResidue& residue = structure.residues[r];
      if (!wanted[r] || residue.name == ligand) continue;
      const auto is_near = [&](const SolvedAtom& atom) {
        return std::any_of(centre.atoms.begin(), centre.atoms.end(), [&](const SolvedAtom& other) {
          return squared_distance(atom.pos, other.pos) <= cutoff * cutoff;
        });
      };
      if (std::any_of(residue.atoms.begin(), residue.atoms.end(), is_near)) {
        pocket.residues.push_back(r);
      }
    }
    out.push_back(std::move(pocket));
  }
  return out;
}

}  // namespace kdgat::molecules
