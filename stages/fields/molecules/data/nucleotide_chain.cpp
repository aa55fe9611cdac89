#include "fields/molecules/data/nucleotide_chain.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "fields/molecules/data/elements.h"
#include "fields/molecules/data/force_field.h"

namespace kdgat::molecules {
namespace {

constexpr double kRadians = std::numbers::pi / 180;

Point minus(const Point& a, const Point& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
Point cross(const Point& a, const Point& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
Point unit(const Point& a) {
  const double length = std::sqrt(squared_distance(a, {}));
  return {a[0] / length, a[1] / length, a[2] / length};
}

/// The fourth corner of a-b-c-d.
Point fourth(const Point& a, const Point& b, const Point& c, double length, double angle,
             double torsion) {
  const Point along = unit(minus(c, b));
  const Point normal = unit(cross(minus(b, a), along));
  const Point side = cross(normal, along);
  const double sine = std::sin(angle);
  const double x = -length * std::cos(angle), y = length * std::cos(torsion) * sine,
               z = length * std::sin(torsion) * sine;
  Point out{};
  for (std::size_t d = 0; d < 3; ++d) out[d] = c[d] + x * along[d] + y * side[d] + z * normal[d];
  return out;
}

/// How the base of a nucleotide stands: four atoms and the torsion of the last. "N" is the atom
/// that is bonded to C1'.
struct Step {
  const char *a, *b, *c, *name;
  double torsion;
};
constexpr double kTurned = 180;

// chi stands at the atom that the convention names: C4 of purines, C2 of pyrimidines.
constexpr Step kPurine[] = {{"C1'", "N9", "C8", "N7", kTurned}, {"C1'", "N9", "C4", "C5", kTurned},
                            {"C1'", "N9", "C4", "N3", 0},       {"N9", "C4", "N3", "C2", kTurned},
                            {"C4", "N3", "C2", "N1", 0},        {"N9", "C4", "C5", "C6", kTurned}};
constexpr Step kPyrimidine[] = {{"C1'", "N1", "C2", "O2", 0},
                                {"C1'", "N1", "C2", "N3", kTurned},
                                {"N1", "C2", "N3", "C4", 0},
                                {"C1'", "N1", "C6", "C5", kTurned}};
constexpr Step kAdenine[] = {{"C4", "C5", "C6", "N6", kTurned}};
constexpr Step kGuanine[] = {{"C4", "C5", "C6", "O6", kTurned}, {"C4", "N3", "C2", "N2", kTurned}};
constexpr Step kCytosine[] = {{"C2", "N3", "C4", "N4", kTurned}};
constexpr Step kUracil[] = {{"C2", "N3", "C4", "O4", kTurned}};

std::span<const Step> own_steps(char nucleotide) {
  switch (nucleotide) {
    case 'A':
      return kAdenine;
    case 'G':
      return kGuanine;
    case 'C':
      return kCytosine;
    default:
      return kUracil;
  }
}

}  // namespace

Point NucleotideChain::point_of(const std::string& name) const {
  const bool is_before = name.front() == '-';
  const SolvedResidue& residue = *(structure_.residues.rbegin() + (is_before ? 1 : 0));
  const std::string wanted = is_before ? name.substr(1) : name;
  const auto found = std::find_if(residue.atoms.begin(), residue.atoms.end(),
                                  [&](const SolvedAtom& atom) { return atom.name == wanted; });
  if (found == residue.atoms.end()) throw std::logic_error("no atom " + name + " yet");
  return found->pos;
}

void NucleotideChain::place(const char* a, const char* b, const char* c, const std::string& name,
                            double torsion) {
  const char nucleotide = structure_.residues.back().name.front();
  const double length = template_length(nucleotide, c, name);
  const double angle = template_angle(nucleotide, b, c, name) * kRadians;
  structure_.residues.back().atoms.push_back(
      {name, element_named(name.substr(0, 1))->number,
       fourth(point_of(a), point_of(b), point_of(c), length, angle, torsion * kRadians)});
}

void NucleotideChain::add(char nucleotide, const Torsions& torsions) {
  const std::size_t number = structure_.residues.size() + 1;
  structure_.residues.push_back({std::string(1, nucleotide), "A", std::to_string(number), {}});
  std::vector<SolvedAtom>& atoms = structure_.residues.back().atoms;
  const auto start = [&](const char* name, const Point& where) {
    atoms.push_back({name, element_named(std::string(1, name[0]))->number, where});
  };
  if (number == 1) {  // somewhere: three atoms that are not on a line
    start("P", {0, 0, 0});
    start("O5'", {1.61, 0, 0});
    start("C5'", {2.33, 1.24, 0});
  } else {
    place("-C4'", "-C3'", "-O3'", "P", last_.epsilon);
    place("-C3'", "-O3'", "P", "O5'", last_.zeta);
    place("-O3'", "P", "O5'", "C5'", torsions.alpha);
  }
  constexpr double kThird = 120;  // between the substituents of one atom
  // Of a sugar in C3'-endo, degrees.
  constexpr double kNu0 = 2.8, kNu3 = -36, kNu4 = 20.6, kNu2 = 36;
  place("C5'", "O5'", "P", "OP1", torsions.alpha + kThird);
  place("C5'", "O5'", "P", "OP2", torsions.alpha - kThird);
  place("P", "O5'", "C5'", "C4'", torsions.beta);
  place("O5'", "C5'", "C4'", "C3'", torsions.gamma);
  place("O5'", "C5'", "C4'", "O4'", torsions.gamma - kThird);
  place("C5'", "C4'", "C3'", "O3'", torsions.delta);
  place("O4'", "C4'", "C3'", "C2'", kNu3);
  place("C3'", "C4'", "O4'", "C1'", kNu4);
  place("C4'", "C3'", "C2'", "O2'", kNu2 + kThird);
  const bool is_purine = nucleotide == 'A' || nucleotide == 'G';
  const char* const bonded = is_purine ? "N9" : "N1";
  place("C4'", "O4'", "C1'", bonded, kNu0 - kThird);
  place("O4'", "C1'", bonded, is_purine ? "C4" : "C2", torsions.chi);
  place("O4'", "C1'", bonded, is_purine ? "C8" : "C6", torsions.chi + kTurned);
  const auto base = is_purine ? std::span<const Step>(kPurine) : std::span<const Step>(kPyrimidine);
  for (const Step& step : base) place(step.a, step.b, step.c, step.name, step.torsion);
  for (const Step& step : own_steps(nucleotide)) {
    place(step.a, step.b, step.c, step.name, step.torsion);
  }
  last_ = torsions;
}

}  // namespace kdgat::molecules
