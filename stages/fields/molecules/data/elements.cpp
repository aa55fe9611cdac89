#include "fields/molecules/data/elements.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>

namespace kdgat::molecules {
namespace {

// Masses as in the force fields of AMBER; radii: Cordero et al., Dalton Trans. 2008, 2832.
constexpr Element kElements[] = {
    {1, "H", 1.008, 0.31},    {3, "Li", 6.94, 1.28},   {5, "B", 10.81, 0.84},
    {6, "C", 12.01, 0.76},    {7, "N", 14.01, 0.71},   {8, "O", 16.00, 0.66},
    {9, "F", 19.00, 0.57},    {11, "Na", 22.99, 1.66}, {12, "Mg", 24.305, 1.41},
    {14, "Si", 28.09, 1.11},  {15, "P", 30.97, 1.07},  {16, "S", 32.06, 1.05},
    {17, "Cl", 35.45, 1.02},  {19, "K", 39.10, 2.03},  {20, "Ca", 40.08, 1.76},
    {25, "Mn", 54.94, 1.39},  {26, "Fe", 55.85, 1.32}, {27, "Co", 58.93, 1.26},
    {28, "Ni", 58.69, 1.24},  {29, "Cu", 63.55, 1.32}, {30, "Zn", 65.40, 1.22},
    {34, "Se", 78.97, 1.20},  {35, "Br", 79.90, 1.20}, {38, "Sr", 87.62, 1.95},
    {48, "Cd", 112.41, 1.44}, {53, "I", 126.9, 1.39},  {55, "Cs", 132.91, 2.44},
    {56, "Ba", 137.33, 2.15}};

}  // namespace

const Element* element_named(std::string_view symbol) {
  const auto same = [](char a, char b) {
    return std::toupper(static_cast<unsigned char>(a)) ==
           std::toupper(static_cast<unsigned char>(b));
  };
  const auto* found =
      std::find_if(std::begin(kElements), std::end(kElements), [&](const Element& e) {
        const std::string_view name = e.symbol;
        return std::equal(name.begin(), name.end(), symbol.begin(), symbol.end(), same);
      });
  return found == std::end(kElements) ? nullptr : found;
}

const Element* element_of_mass(double mass) {
  constexpr double kNear = 0.6;
  const auto* best = std::min_element(std::begin(kElements), std::end(kElements),
                                      [mass](const Element& a, const Element& b) {
                                        return std::abs(a.mass - mass) < std::abs(b.mass - mass);
                                      });
  return std::abs(best->mass - mass) <= kNear ? best : nullptr;
}

const Element* element_of_number(int32_t number) {
  const auto* found = std::find_if(std::begin(kElements), std::end(kElements),
                                   [number](const Element& e) { return e.number == number; });
  return found == std::end(kElements) ? nullptr : found;
}

}  // namespace kdgat::molecules
