// Numbers of a molecule that no network made: what a learned vector has to beat, and may be given
// beside what it learns.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "fields/molecules/model/molecule_view.h"

namespace kdgat::molecules {

/// Place of each kind of atom (AtomStatistics::kinds) among them.
using KindPlaces = std::map<std::pair<int64_t, int64_t>, int64_t>;
KindPlaces places_of(std::span<const std::pair<int64_t, int64_t>> kinds);

/// Columns behind those of kinds: ten pairs of C, N, O and P, twenty steps of 1 A each.
inline constexpr int64_t kDistanceColumns = int64_t{10} * 20;

/// Adds to `out` [kinds + kDistanceColumns] the molecule's atoms by kind, and its pairs of two
/// elements by how far apart they are (below 20 A), each pair shared by the two steps whose middles
/// are nearest. Atoms of other kinds have no column.
void count_plain_numbers(const MoleculeView& molecule, const KindPlaces& kinds,
                         std::span<float> out);

/// A row of such numbers for each molecule.
struct PlainNumbers {
  int64_t width = 0;
  std::vector<float> rows;

  std::span<const float> row(std::size_t i) const {
    return std::span(rows).subspan(i * static_cast<std::size_t>(width),
                                   static_cast<std::size_t>(width));
  }
};
/// Of the molecules `ids`; kinds are those of the molecules `known`.
PlainNumbers plain_numbers(const MoleculeStore& store, std::span<const int64_t> ids,
                           std::span<const int64_t> known);

}  // namespace kdgat::molecules
