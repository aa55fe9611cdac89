#include "fields/molecules/data/force_field.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <unordered_map>

#include "fields/molecules/data/elements.h"
#include "fields/molecules/data/neighbours.h"
#include "fields/molecules/data/rna_templates.h"

namespace kdgat::molecules {
namespace {

using nlohmann::json;

constexpr double kLink = 2.5;   // A, from O3' to the P that follows it
constexpr double kTouch = 1.3;  // times the sum of covalent radii: a bond

/// What a template says of an atom.
struct AtomTerms {
  double charge, radius, depth;  // with hydrogens; rmin/2; epsilon
};

/// The terms of a residue, those of the backbone among them.
struct Template {
  std::unordered_map<std::string, AtomTerms> atoms;
  std::vector<json> bonds, angles, dihedrals;
};

const Template& template_of(char nucleotide) {
  static const std::map<char, Template> all = [] {
    std::map<char, Template> out;
    const json text = json::parse(kRnaTemplates);
    for (const auto& [name, own] : text.at("residues").items()) {
      Template& to = out[name.front()];
      for (const json* group : {&text.at("backbone"), &own}) {
        for (const json& row : group->at("atoms")) {
          to.atoms[row.at(0)] = {row.at(2), row.at(3), row.at(4)};
        }
        for (const json& row : group->at("bonds")) to.bonds.push_back(row);
        for (const json& row : group->at("angles")) to.angles.push_back(row);
        for (const json& row : group->at("dihedrals")) to.dihedrals.push_back(row);
      }
    }
    return out;
  }();
  return all.at(nucleotide);
}

/// Lennard-Jones parameters that atoms share.
class PairTypes {
 public:
  int32_t type_of(double radius, double depth) {
    const auto [found, is_new] =
        number_.emplace(std::pair(radius, depth), static_cast<int32_t>(number_.size()));
    if (is_new) kinds_.emplace_back(radius, depth);
    return found->second;
  }
  /// A = eps R^12, B = 2 eps R^6 with R the sum of radii and eps the geometric mean of depths.
  void fill(Molecule& out) const {
    constexpr int kRepulsion = 12, kAttraction = 6;
    out.types = static_cast<int32_t>(kinds_.size());
    for (const auto& [radius, depth] : kinds_) {
      for (const auto& [other_radius, other_depth] : kinds_) {
        const double r = radius + other_radius, eps = std::sqrt(depth * other_depth);
        out.lj_a.push_back(eps * std::pow(r, kRepulsion));
        out.lj_b.push_back(2 * eps * std::pow(r, kAttraction));
      }
    }
  }

 private:
  std::map<std::pair<double, double>, int32_t> number_;
  std::vector<std::pair<double, double>> kinds_;
};

class Builder {
 public:
  Builder(const Structure& structure, const std::vector<std::size_t>& residues, bool bond_others,
          LeftOut& left_out)
      : structure_(structure), bond_others_(bond_others), left_out_(left_out) {
    for (const std::size_t r : residues) add_residue(structure_.residues[r]);
  }

  Molecule finish() {
    link();
    for (std::size_t r = 0; r < kinds_.size(); ++r) {
      if (kinds_[r] != 0) add_terms(r);
    }
    if (bond_others_) bond_by_distance();
    types_.fill(out_);
    return std::move(out_);
  }

 private:
  using Places = std::unordered_map<std::string, int32_t>;  // atom by name

  void add_residue(const SolvedResidue& residue) {
    const char kind = nucleotide_of(residue.name);
    if (kind == 0 && !bond_others_) {
      ++left_out_.residues[residue.name];
      return;
    }
    const auto number = static_cast<int32_t>(out_.residues.size());
    out_.residues.push_back(residue.name);
    kinds_.push_back(kind);
    Places& places = places_.emplace_back();
    for (const SolvedAtom& atom : residue.atoms) {
      Atom one;
      one.pos = atom.pos;
      one.name = atom.name;
      one.residue = number;
      one.number = atom.number;
      if (const Element* element = element_of_number(atom.number)) one.mass = element->mass;
      if (kind != 0) {
        const Template& terms = template_of(kind);
        const auto found = terms.atoms.find(atom.name);
        if (found == terms.atoms.end()) {
          ++left_out_.atoms[std::string(1, kind) + ":" + atom.name];
          continue;
        }
        one.charge = found->second.charge;
        one.type = types_.type_of(found->second.radius, found->second.depth);
      } else {
        one.type = types_.type_of(0, 0);
      }
      places.emplace(atom.name, static_cast<int32_t>(out_.atoms.size()));
      out_.atoms.push_back(std::move(one));
    }
  }

  std::optional<int32_t> find(std::size_t residue, const std::string& name) const {
    const auto found = places_[residue].find(name);
    if (found == places_[residue].end()) return std::nullopt;
    return found->second;
  }
  const Point& pos(int32_t atom) const { return out_.atoms[static_cast<std::size_t>(atom)].pos; }

  /// before_ of each residue: the one whose O3' its P is bonded to.
  void link() {
    before_.assign(kinds_.size(), -1);
    std::vector<Point> ends;
    std::vector<std::pair<std::size_t, bool>> of;  // residue, and whether the point is its P
    for (std::size_t r = 0; r < kinds_.size(); ++r) {
      if (kinds_[r] == 0) continue;
      for (const bool is_p : {false, true}) {
        const std::optional<int32_t> atom = find(r, is_p ? "P" : "O3'");
        if (!atom) continue;
        ends.push_back(pos(*atom));
        of.emplace_back(r, is_p);
      }
    }
    std::vector<double> nearest(kinds_.size(), kLink * kLink);
    for (const auto& [a, b] : pairs_within(ends, kLink)) {
      auto [one, one_is_p] = of[static_cast<std::size_t>(a)];
      auto [other, other_is_p] = of[static_cast<std::size_t>(b)];
      if (one == other || one_is_p == other_is_p) continue;
      if (one_is_p) std::swap(one, other);  // now `other` has the P
      const double square =
          squared_distance(ends[static_cast<std::size_t>(a)], ends[static_cast<std::size_t>(b)]);
      if (square >= nearest[other]) continue;
      nearest[other] = square;
      before_[other] = static_cast<int64_t>(one);
    }
  }

  /// The first `count` names of a row as atoms; nothing where one is not there.
  template <std::size_t count>
  std::optional<std::array<int32_t, count>> atoms_of(const json& row, std::size_t residue) const {
    std::array<int32_t, count> out{};
    for (std::size_t i = 0; i < count; ++i) {
      std::string name = row.at(i);
      std::size_t where = residue;
      if (name.front() == '-') {
        if (before_[residue] < 0) return std::nullopt;
        where = static_cast<std::size_t>(before_[residue]);
        name.erase(0, 1);
      }
      const std::optional<int32_t> atom = find(where, name);
      if (!atom) return std::nullopt;
      out[i] = *atom;
    }
    return out;
  }

  void add_terms(std::size_t residue) {
    const Template& terms = template_of(kinds_[residue]);
    for (const json& row : terms.bonds) {
      if (const auto a = atoms_of<2>(row, residue)) {
        out_.bonds.push_back({(*a)[0], (*a)[1], row.at(2), row.at(3)});
      }
    }
    for (const json& row : terms.angles) {
      if (const auto a = atoms_of<3>(row, residue)) {
        out_.angles.push_back({(*a)[0], (*a)[1], (*a)[2], row.at(3), row.at(4)});
      }
    }
    for (const json& row : terms.dihedrals) {
      if (const auto a = atoms_of<4>(row, residue)) {
        out_.dihedrals.push_back({(*a)[0], (*a)[1], (*a)[2], (*a)[3], row.at(4), row.at(5),
                                  row.at(6), row.at(7).get<int>() != 0});
      }
    }
  }

  void bond_by_distance() {
    constexpr double kLongest = 4.0;  // A, above 1.3 times the largest radii that bond
    std::vector<Point> points;
    for (const Atom& atom : out_.atoms) points.push_back(atom.pos);
    const auto radius = [](const Atom& atom) {
      const Element* element = element_of_number(atom.number);
      return element == nullptr ? 0.0 : element->radius;
    };
    for (const auto& [i, j] : pairs_within(points, kLongest)) {
      const Atom &a = out_.atoms[static_cast<std::size_t>(i)],
                 &b = out_.atoms[static_cast<std::size_t>(j)];
      const bool is_rna = kinds_[static_cast<std::size_t>(a.residue)] != 0 &&
                          kinds_[static_cast<std::size_t>(b.residue)] != 0;
      if (is_rna || radius(a) == 0 || radius(b) == 0) continue;
      const double most = kTouch * (radius(a) + radius(b));
      if (squared_distance(a.pos, b.pos) < most * most) out_.bonds.push_back({i, j, 0, 0});
    }
  }

  const Structure& structure_;
  bool bond_others_;
  LeftOut& left_out_;
  Molecule out_;
  PairTypes types_;
  std::vector<char> kinds_;      // of each residue; 0 = no RNA
  std::vector<Places> places_;   // of each residue
  std::vector<int64_t> before_;  // of each residue; -1 = none
};

}  // namespace

char nucleotide_of(const std::string& residue) {
  std::string_view name = residue;
  if (name.size() > 1 && name.front() == 'R') name.remove_prefix(1);
  if (name.size() == 2 && (name[1] == '5' || name[1] == '3' || name[1] == 'N')) {
    name.remove_suffix(1);
  }
  const bool is_one =
      name.size() == 1 && std::string_view("ACGU").find(name.front()) != std::string_view::npos;
  return is_one ? name.front() : '\0';
}

double template_length(char nucleotide, const std::string& i, const std::string& j) {
  for (const json& row : template_of(nucleotide).bonds) {
    if ((row.at(0) == i && row.at(1) == j) || (row.at(0) == j && row.at(1) == i)) return row.at(2);
  }
  throw std::logic_error("no bond " + i + "-" + j);
}

double template_angle(char nucleotide, const std::string& i, const std::string& j,
                      const std::string& k) {
  for (const json& row : template_of(nucleotide).angles) {
    if (row.at(1) != j) continue;
    if ((row.at(0) == i && row.at(2) == k) || (row.at(0) == k && row.at(2) == i)) return row.at(3);
  }
  throw std::logic_error("no angle " + i + "-" + j + "-" + k);
}

Molecule with_force_field(const Structure& structure, const std::vector<std::size_t>& residues,
                          bool bond_others, LeftOut& left_out) {
  return Builder(structure, residues, bond_others, left_out).finish();
}

}  // namespace kdgat::molecules
