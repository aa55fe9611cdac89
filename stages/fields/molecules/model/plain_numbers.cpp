#include "fields/molecules/model/plain_numbers.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace kdgat::molecules {
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

KindPlaces places_of(std::span<const std::pair<int64_t, int64_t>> kinds) {
  KindPlaces out;
  for (const auto& of : kinds) out.emplace(of, std::ssize(out));
  return out;
}

void count_plain_numbers(const MoleculeView& molecule, const KindPlaces& kinds,
                         std::span<float> out) {
  const std::span<float> steps = out.last(static_cast<std::size_t>(kDistanceColumns));
  std::vector<int> element;
  std::vector<std::array<float, 3>> at;
  for (std::size_t a = 0; a * kAtomFeatures < molecule.x.size(); ++a) {
    const float* atom = &molecule.x[a * kAtomFeatures];
    if (const auto found = kinds.find(kind_of_atom(atom)); found != kinds.end()) {
      out[static_cast<std::size_t>(found->second)] += 1;
    }
    if (element_of(atom[1]) < 0) continue;
    element.push_back(element_of(atom[1]));
    at.push_back({molecule.pos[3 * a], molecule.pos[3 * a + 1], molecule.pos[3 * a + 2]});
  }
  for (std::size_t a = 0; a < element.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      double square = 0;
      for (std::size_t d = 0; d < 3; ++d) {
        const double difference = double{at[a][d]} - at[b][d];
        square += difference * difference;
      }
      // Shared by the two nearest middles of steps: no atom that moves a little, as where the
      // molecule is turned, makes a number jump.
      const double place = std::max(0.0, std::sqrt(square) - 0.5);
      const auto step = static_cast<std::size_t>(place);
      if (step >= kSteps) continue;
      const std::size_t pair =
          pair_of(static_cast<std::size_t>(element[a]), static_cast<std::size_t>(element[b]));
      const auto beyond = static_cast<float>(place - static_cast<double>(step));
      steps[pair * kSteps + step] += 1 - beyond;
      if (step + 1 < kSteps) steps[pair * kSteps + step + 1] += beyond;
    }
  }
}

PlainNumbers plain_numbers(const MoleculeStore& store, std::span<const int64_t> ids,
                           std::span<const int64_t> known) {
  const KindPlaces kinds = places_of(atom_statistics(store, known).kinds);
  const std::size_t width = kinds.size() + static_cast<std::size_t>(kDistanceColumns);
  PlainNumbers out{static_cast<int64_t>(width), std::vector<float>(width * ids.size(), 0.0F)};
  for (std::size_t i = 0; i < ids.size(); ++i) {
    count_plain_numbers(view_of(store, ids[i]), kinds,
                        std::span(out.rows).subspan(i * width, width));
  }
  return out;
}

}  // namespace kdgat::molecules
