#include "fields/molecules/equivariant/physics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "fields/molecules/model/pocket_model.h"

namespace kdgat::equivariant {
namespace {

using Vector = std::array<double, 3>;

double dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
Vector cross(const Vector& a, const Vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
double length(const Vector& a) { return std::sqrt(dot(a, a)); }

Vector between(std::span<const float> pos, int32_t from, int32_t to) {
  Vector out{};
  for (std::size_t d = 0; d < 3; ++d) {
    out[d] = double{pos[3 * static_cast<std::size_t>(to) + d]} -
             pos[3 * static_cast<std::size_t>(from) + d];
  }
  return out;
}

double angle_of(const Vector& a, const Vector& b) {
  return std::atan2(length(cross(a, b)), dot(a, b));
}

double dihedral_of(const Vector& b1, const Vector& b2, const Vector& b3) {
  const Vector n1 = cross(b1, b2), n2 = cross(b2, b3);
  return std::atan2(dot(cross(n1, n2), b2) / std::max(length(b2), 1e-12), dot(n1, n2));
}

struct Mean {
  double sum = 0, count = 0;
  void add(double value) {
    sum += value;
    ++count;
  }
  double value() const { return count > 0 ? sum / count : 0; }
};

}  // namespace

double physics_loss(const molecules::MoleculeStore& store, std::span<const int64_t> ids) {
  Mean bonds, angles, dihedrals;
  for (const int64_t id : ids) {
    const molecules::MoleculeView m = molecules::view_of(store, id);
    for (std::size_t b = 0; 2 * b < m.bonds.size(); ++b) {
      const double r = length(between(m.pos, m.bonds[2 * b], m.bonds[2 * b + 1]));
      const float* attr = &m.bond_attr[b * molecules::kBondFeatures];
      bonds.add(attr[1] * std::pow(r - 2.0 * attr[0], 2));
    }
    for (std::size_t a = 0; 3 * a < m.angles.size(); ++a) {
      const int32_t* i = &m.angles[3 * a];
      const float* attr = &m.angle_attr[a * molecules::kAngleFeatures];
      const double theta = angle_of(between(m.pos, i[1], i[0]), between(m.pos, i[1], i[2]));
      angles.add(attr[1] * std::pow(theta - attr[0] * std::numbers::pi, 2));
    }
    for (std::size_t d = 0; 4 * d < m.dihedrals.size(); ++d) {
      const int32_t* i = &m.dihedrals[4 * d];
      const float* attr = &m.dihedral_attr[d * molecules::kDihedralFeatures];
      const double phi = dihedral_of(between(m.pos, i[0], i[1]), between(m.pos, i[1], i[2]),
                                     between(m.pos, i[2], i[3]));
      dihedrals.add(attr[0] * (1 + std::cos(6.0 * attr[1] * phi - attr[2] * 2 * std::numbers::pi)));
    }
  }
  return bonds.value() + angles.value() + dihedrals.value();
}

}  // namespace kdgat::equivariant
