// Numbers of a molecule that no network made: what a learned vector has to beat. No LibTorch.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/molecules/molecule_store.h"

namespace kdgat::equivariant {

/// For each of `ids`: counts of atoms by kind (charge and number, those of `known`), and how many
/// pairs of two elements are how far apart (C, N, O, P; 1 A steps to 20 A). Rows of one width.
struct PlainNumbers {
  int64_t width = 0;
  std::vector<float> rows;

  std::span<const float> row(std::size_t i) const {
    return std::span(rows).subspan(i * static_cast<std::size_t>(width),
                                   static_cast<std::size_t>(width));
  }
};
PlainNumbers plain_numbers(const graph::MoleculeStore& store, std::span<const int64_t> ids,
                           std::span<const int64_t> known);

}  // namespace kdgat::equivariant
