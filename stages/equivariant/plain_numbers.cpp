#include "equivariant/plain_numbers.h"

#include <array>
#include <cmath>
#include <map>

#include "model/molecules/pocket_model.h"

namespace kdgat::equivariant {
namespace {

constexpr int kCarbon = 6, kNitrogen = 7, kOxygen = 8, kPhosphorus = 15;
constexpr std::size_t kElements = 4, kSteps = 20;

/// 0 .. 3, or none.
int element_of(float number) {
  switch (static_cast<int>(std::lround(number))) {
    case kCarbon:
      return 0;
    case kNitrogen:
      return 1;
    case kOxygen:
      return 2;
    case kPhosphorus:
      return 3;
    default:
      return -1;
  }
}

std::size_t pair_of(std::size_t a, std::size_t b) {
  if (a > b) std::swap(a, b);
  return b * (b + 1) / 2 + a;
}

}  // namespace

PlainNumbers plain_numbers(const graph::MoleculeStore& store, std::span<const int64_t> ids,
                           std::span<const int64_t> known) {
  const model::AtomStatistics atoms = model::atom_statistics(store, known);
  std::map<std::pair<int64_t, int64_t>, std::size_t> kind;
  for (const auto& of : atoms.kinds) kind.emplace(of, kind.size());
  constexpr std::size_t kPairs = kElements * (kElements + 1) / 2;
  const std::size_t width = kind.size() + kPairs * kSteps;
  PlainNumbers out{static_cast<int64_t>(width), std::vector<float>(width * ids.size(), 0.0F)};
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const model::MoleculeView m = model::view_of(store, ids[i]);
    float* row = out.rows.data() + i * width;
    std::vector<int> element;
    for (std::size_t a = 0; a < m.x.size(); a += graph::kAtomFeatures) {
      element.push_back(element_of(m.x[a + 1]));
      const auto found = kind.find(model::kind_of_atom(&m.x[a]));
      if (found != kind.end()) row[found->second] += 1;
    }
    for (std::size_t a = 0; a < element.size(); ++a) {
      for (std::size_t b = 0; element[a] >= 0 && b < a; ++b) {
        if (element[b] < 0) continue;
        double square = 0;
        for (std::size_t d = 0; d < 3; ++d) {
          square += std::pow(double{m.pos[3 * a + d]} - m.pos[3 * b + d], 2);
        }
        const auto step = static_cast<std::size_t>(std::sqrt(square));
        if (step >= kSteps) continue;
        const std::size_t pair =
            pair_of(static_cast<std::size_t>(element[a]), static_cast<std::size_t>(element[b]));
        row[kind.size() + pair * kSteps + step] += 1;
      }
    }
  }
  return out;
}

}  // namespace kdgat::equivariant
