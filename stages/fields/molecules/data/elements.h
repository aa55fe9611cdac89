// Chemical elements: symbols, masses and covalent radii of those that molecules of life hold.
#pragma once

#include <cstdint>
#include <string_view>

namespace kdgat::molecules {

struct Element {
  int32_t number;
  const char* symbol;
  double mass;    ///< atomic mass units
  double radius;  ///< covalent, A
};

/// By its symbol in any case; null if it is none of the table.
const Element* element_named(std::string_view symbol);
/// The one whose mass is nearest; null if none is within 0.6.
const Element* element_of_mass(double mass);
/// Null if it is none of the table.
const Element* element_of_number(int32_t number);

}  // namespace kdgat::molecules
