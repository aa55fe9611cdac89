// Cards a plan can be made for without having them. Knows no device library.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kdgat {

struct Card {
  std::string name;      ///< "v100-16"
  uint64_t total = 0;    ///< bytes its driver reports, less than the name says
  uint64_t context = 0;  ///< bytes of its total that are never tensors: CUDA and its libraries
};

const std::vector<Card>& known_cards();

/// By name, in any case, with or without GB at its end. Throws Error(kUsage) with the nearest and
/// with all there are.
Card find_card(const std::string& name);

/// A card of this size that has no name.
Card card_of_size(uint64_t bytes);

}  // namespace kdgat
