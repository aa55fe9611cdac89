#include "fields/molecules/data/amber.h"

#include <cmath>
#include <cstdlib>
#include <map>
#include <numbers>
#include <optional>
#include <string>
#include <utility>

#include "engine/file/number_text.h"
#include "fields/molecules/data/elements.h"
#include "kdgat/error.h"

namespace kdgat::molecules {
namespace {

constexpr double kChargeUnit =
    18.2223;  // sqrt of Coulomb's constant in kcal/mol A, as files have it
constexpr int64_t kMostAtoms = 10'000'000;
constexpr double kDegrees = 180 / std::numbers::pi;

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// The fields of one block and where they stand.
struct Block {
  int64_t line = 0;  // of its %FLAG
  char kind = 'a';   // of its format: a, I, E or F
  std::size_t width = 0;
  std::vector<std::pair<std::string, int64_t>> fields;  // with their lines
};

/// The blocks of a topology that are asked for by name.
class Topology {
 public:
  explicit Topology(file::LineReader lines) : lines_(std::move(lines)) { read(); }

  const Block& block(const std::string& name) const {
    const auto found = blocks_.find(name);
    if (found == blocks_.end()) fail(0, "no block %FLAG " + name);
    return found->second;
  }
  bool has(const std::string& name) const { return blocks_.contains(name); }

  /// Exactly `count` numbers.
  std::vector<double> numbers(const std::string& name, std::size_t count) const {
    const Block& block = sized(name, count);
    std::vector<double> out;
    out.reserve(count);
    for (const auto& [text, line] : block.fields) {
      const std::optional<double> value = file::number_in(trimmed(text));
      if (!value || !std::isfinite(*value)) fail(line, "'" + file::shown(text) + "' is no number");
      out.push_back(*value);
    }
    return out;
  }
  /// Exactly `count` whole numbers; any number of them where that is none.
  std::vector<int64_t> integers(const std::string& name, std::optional<std::size_t> count) const {
    const Block& found = count ? sized(name, *count) : block(name);
    std::vector<int64_t> out;
    for (const auto& [text, line] : found.fields) {
      const std::optional<double> value = file::number_in(trimmed(text));
      if (!value || *value != std::floor(*value) || std::abs(*value) > 1e15) {
        fail(line, "'" + file::shown(text) + "' is no whole number");
      }
      out.push_back(static_cast<int64_t>(*value));
    }
    return out;
  }
  std::vector<std::string> names(const std::string& name, std::size_t count) const {
    std::vector<std::string> out;
    for (const auto& [text, line] : sized(name, count).fields) out.emplace_back(trimmed(text));
    return out;
  }
  [[noreturn]] void fail(int64_t line, const std::string& what) const {
    throw Error(ExitCode::kData, what, "",
                line == 0 ? lines_.name() : lines_.name() + ":" + std::to_string(line));
  }

 private:
  const Block& sized(const std::string& name, std::size_t count) const {
    const Block& found = block(name);
    if (found.fields.size() != count) {
      fail(found.line, name + " has " + std::to_string(found.fields.size()) + " values, not " +
                           std::to_string(count));
    }
    return found;
  }

  void read() {
    std::string_view line;
    Block* block = nullptr;
    bool is_topology = false;
    while (lines_.next(line)) {
      if (line.starts_with("%VERSION")) {
        is_topology = true;
      } else if (line.starts_with("%FLAG")) {
        is_topology = true;
        const std::string name(trimmed(line.substr(5)));
        if (name == "CTITLE" || name.starts_with("CHARMM_")) refuse_chamber();
        if (blocks_.contains(name)) fail(lines_.line_number(), name + " appears twice");
        block = &blocks_[name];
        block->line = lines_.line_number();
      } else if (line.starts_with("%FORMAT")) {
        if (block == nullptr) fail(lines_.line_number(), "%FORMAT without a %FLAG");
        read_format(line, *block);
      } else if (line.starts_with("%COMMENT")) {
        continue;
      } else if (block != nullptr) {
        take(line, *block);
      } else if (!trimmed(line).empty()) {
        break;
      }
      if (!is_topology) break;
    }
    if (!is_topology) fail(1, "no AMBER topology: it does not begin with %VERSION or %FLAG");
  }

  [[noreturn]] void refuse_chamber() const {
    throw Error(ExitCode::kData,
                "a CHAMBER topology (a CHARMM force field in the form of AMBER) is not supported",
                "a topology with an AMBER force field, or the structure as PDB or mmCIF",
                lines_.name() + ":" + std::to_string(lines_.line_number()));
  }

  void read_format(std::string_view line, Block& block) const {
    const auto open = line.find('('), close = line.find(')');
    const std::string_view inside =
        open == std::string_view::npos || close == std::string_view::npos
            ? ""
            : line.substr(open + 1, close - open - 1);
    const auto letter = inside.find_first_of("aAiIeEfF");
    if (letter != std::string_view::npos) {
      block.kind = inside[letter];
      const std::string_view digits = inside.substr(letter + 1, inside.find('.') - letter - 1);
      const std::optional<double> width = file::number_in(digits);
      if (width && *width >= 1 && *width <= 1000) block.width = static_cast<std::size_t>(*width);
    }
    if (block.width == 0)
      fail(lines_.line_number(), "'" + file::shown(line) + "' is no known format");
  }

  void take(std::string_view line, Block& block) {
    if (block.width == 0) fail(lines_.line_number(), "values ahead of a %FORMAT");
    const bool is_text = block.kind == 'a' || block.kind == 'A';
    const std::string_view full = is_text ? line : line.substr(0, line.find_last_not_of(" \t") + 1);
    for (std::size_t at = 0; at < full.size(); at += block.width) {
      const std::string_view field = full.substr(at, block.width);
      // The last line of names is filled up with blanks.
      if (is_text && trimmed(full.substr(at)).empty()) break;
      block.fields.emplace_back(field, lines_.line_number());
    }
  }

  file::LineReader lines_;
  std::map<std::string, Block> blocks_;
};

/// Reads what a topology says into a molecule.
class AmberReader {
 public:
  explicit AmberReader(file::LineReader lines) : file_(std::move(lines)) {}

  Molecule read() {
    const std::vector<int64_t> pointers = file_.integers("POINTERS", std::nullopt);
    if (pointers.size() < 12) file_.fail(file_.block("POINTERS").line, "POINTERS is too short");
    atoms_ = pointers[0];
    if (atoms_ < 1 || atoms_ > kMostAtoms) {
      file_.fail(file_.block("POINTERS").line, std::to_string(atoms_) + " atoms");
    }
    if (pointers[1] < 1 || pointers[1] > 10000) {
      file_.fail(file_.block("POINTERS").line, std::to_string(pointers[1]) + " types of atoms");
    }
    out_.types = static_cast<int32_t>(pointers[1]);
    read_atoms();
    read_residues(static_cast<std::size_t>(std::max<int64_t>(pointers[11], 0)));
    read_pairs();
    read_bonds();
    read_angles();
    read_dihedrals();
    return std::move(out_);
  }

 private:
  std::size_t count() const { return static_cast<std::size_t>(atoms_); }

  void read_atoms() {
    const std::vector<double> charge = file_.numbers("CHARGE", count());
    const std::vector<double> mass = file_.numbers("MASS", count());
    const std::vector<std::string> name = file_.names("ATOM_NAME", count());
    const std::vector<int64_t> type = file_.integers("ATOM_TYPE_INDEX", count());
    std::vector<int64_t> number;
    if (file_.has("ATOMIC_NUMBER")) number = file_.integers("ATOMIC_NUMBER", count());
    out_.atoms.resize(count());
    for (std::size_t i = 0; i < count(); ++i) {
      Atom& atom = out_.atoms[i];
      atom.charge = charge[i] / kChargeUnit;
      atom.mass = mass[i];
      atom.name = name[i];
      if (type[i] < 1 || type[i] > out_.types) {
        file_.fail(file_.block("ATOM_TYPE_INDEX").fields[i].second,
                   "atom " + std::to_string(i + 1) + " has the type " + std::to_string(type[i]) +
                       " of " + std::to_string(out_.types));
      }
      atom.type = static_cast<int32_t>(type[i] - 1);
      if (!number.empty() && number[i] > 0) {
        atom.number = static_cast<int32_t>(std::min<int64_t>(number[i], 118));
      } else if (const Element* element = element_of_mass(mass[i])) {
        atom.number = element->number;
      }
    }
  }

  void read_residues(std::size_t residues) {
    out_.residues = file_.names("RESIDUE_LABEL", residues);
    const std::vector<int64_t> first = file_.integers("RESIDUE_POINTER", residues);
    for (std::size_t r = 0; r < residues; ++r) {
      const int64_t begin = first[r] - 1, end = r + 1 < residues ? first[r + 1] - 1 : atoms_;
      if (begin < 0 || end < begin || end > atoms_) {
        file_.fail(
            file_.block("RESIDUE_POINTER").fields[r].second,
            "residue " + std::to_string(r + 1) + " begins at atom " + std::to_string(first[r]));
      }
      for (int64_t i = begin; i < end; ++i) {
        out_.atoms[static_cast<std::size_t>(i)].residue = static_cast<int32_t>(r);
      }
    }
  }

  void read_pairs() {
    const auto types = static_cast<std::size_t>(out_.types);
    const std::size_t kinds = types * (types + 1) / 2;
    const std::vector<int64_t> index = file_.integers("NONBONDED_PARM_INDEX", types * types);
    const std::vector<double> a = file_.numbers("LENNARD_JONES_ACOEF", kinds);
    const std::vector<double> b = file_.numbers("LENNARD_JONES_BCOEF", kinds);
    for (std::size_t t = 0; t < types * types; ++t) {
      // Below 0: hydrogen bonds of the 10-12 form, which modern force fields have none of.
      const auto kind = static_cast<std::size_t>(std::max<int64_t>(index[t], 0));
      if (kind > kinds) {
        file_.fail(file_.block("NONBONDED_PARM_INDEX").fields[t].second,
                   "pair of types " + std::to_string(t + 1) + " has the parameters " +
                       std::to_string(index[t]) + " of " + std::to_string(kinds));
      }
      out_.lj_a.push_back(kind == 0 ? 0 : a[kind - 1]);
      out_.lj_b.push_back(kind == 0 ? 0 : b[kind - 1]);
    }
  }

  /// Calls take(atoms, kind) of each row of a list of terms: `width` atoms, as 3 (number - 1), and
  /// the number of its parameters, below `kinds`. Signs of the last two atoms stay.
  template <class F>
  void terms(const char* name, std::size_t width, std::size_t kinds, F take) {
    const std::vector<int64_t> all = file_.integers(name, std::nullopt);
    const Block& block = file_.block(name);
    if (all.size() % (width + 1) != 0) file_.fail(block.line, std::string(name) + " is cut off");
    for (std::size_t at = 0; at < all.size(); at += width + 1) {
      std::array<int64_t, 4> atom{};
      for (std::size_t i = 0; i < width; ++i) {
        const int64_t stored = std::abs(all[at + i]);
        if (stored % 3 != 0 || stored / 3 >= atoms_ || (i < 2 && all[at + i] < 0)) {
          file_.fail(block.fields[at + i].second, std::string(name) + " names the atom " +
                                                      std::to_string(all[at + i]) + "/3 of " +
                                                      std::to_string(atoms_));
        }
        atom[i] = all[at + i] < 0 ? -(stored / 3) : stored / 3;
      }
      const int64_t kind = all[at + width];
      if (kind < 1 || static_cast<std::size_t>(kind) > kinds) {
        file_.fail(block.fields[at + width].second, std::string(name) + " names the parameters " +
                                                        std::to_string(kind) + " of " +
                                                        std::to_string(kinds));
      }
      take(atom, static_cast<std::size_t>(kind - 1), all[at + width - 1] < 0);
    }
  }
  std::size_t kinds_of(const char* name) { return file_.block(name).fields.size(); }
  static int32_t index(int64_t atom) { return static_cast<int32_t>(std::abs(atom)); }

  void read_bonds() {
    const std::size_t kinds = kinds_of("BOND_FORCE_CONSTANT");
    const std::vector<double> k = file_.numbers("BOND_FORCE_CONSTANT", kinds);
    const std::vector<double> length = file_.numbers("BOND_EQUIL_VALUE", kinds);
    terms("BONDS_WITHOUT_HYDROGEN", 2, kinds, [&](const auto& a, std::size_t kind, bool) {
      out_.bonds.push_back({index(a[0]), index(a[1]), length[kind], k[kind]});
    });
    terms("BONDS_INC_HYDROGEN", 2, kinds, [&](const auto& a, std::size_t, bool) {
      out_.hydrogen_bonds.push_back({index(a[0]), index(a[1])});
    });
  }

  void read_angles() {
    const std::size_t kinds = kinds_of("ANGLE_FORCE_CONSTANT");
    const std::vector<double> k = file_.numbers("ANGLE_FORCE_CONSTANT", kinds);
    const std::vector<double> radians = file_.numbers("ANGLE_EQUIL_VALUE", kinds);
    terms("ANGLES_WITHOUT_HYDROGEN", 3, kinds, [&](const auto& a, std::size_t kind, bool) {
      out_.angles.push_back(
          {index(a[0]), index(a[1]), index(a[2]), radians[kind] * kDegrees, k[kind]});
    });
  }

  void read_dihedrals() {
    const std::size_t kinds = kinds_of("DIHEDRAL_FORCE_CONSTANT");
    const std::vector<double> k = file_.numbers("DIHEDRAL_FORCE_CONSTANT", kinds);
    const std::vector<double> periodicity = file_.numbers("DIHEDRAL_PERIODICITY", kinds);
    const std::vector<double> radians = file_.numbers("DIHEDRAL_PHASE", kinds);
    terms("DIHEDRALS_WITHOUT_HYDROGEN", 4, kinds,
          [&](const auto& a, std::size_t kind, bool is_improper) {
            out_.dihedrals.push_back({index(a[0]), index(a[1]), index(a[2]), index(a[3]), k[kind],
                                      std::abs(periodicity[kind]), radians[kind] * kDegrees,
                                      is_improper});
          });
  }

  Topology file_;
  int64_t atoms_ = 0;
  Molecule out_;
};

}  // namespace

Molecule read_amber_topology(file::LineReader lines) {
  return AmberReader(std::move(lines)).read();
}

void read_amber_coordinates(file::LineReader lines, Molecule& molecule) {
  constexpr std::size_t kWidth = 12;
  const auto fail = [&lines](const std::string& what) {
    throw Error(ExitCode::kData, what, "",
                lines.name() + ":" + std::to_string(lines.line_number()));
  };
  std::string_view line;
  if (!lines.next(line) || !lines.next(line)) fail("no coordinates: the file ends after its title");
  const std::string_view head = trimmed(line);
  const std::optional<double> count = file::number_in(head.substr(0, head.find_first_of(" \t")));
  if (!count || *count != static_cast<double>(molecule.atoms.size())) {
    fail("coordinates of '" + file::shown(head) + "' atoms, the topology has " +
         std::to_string(molecule.atoms.size()));
  }
  const std::size_t wanted = 3 * molecule.atoms.size();
  std::size_t have = 0;
  while (have < wanted && lines.next(line)) {
    for (std::size_t at = 0; at < line.size() && have < wanted; at += kWidth, ++have) {
      const std::string_view field = trimmed(line.substr(at, kWidth));
      const std::optional<double> value = file::number_in(field);
      if (!value || !std::isfinite(*value)) fail("'" + file::shown(field) + "' is no coordinate");
      molecule.atoms[have / 3].pos[have % 3] = *value;
    }
  }
  if (have < wanted) {
    fail("the file ends after " + std::to_string(have) + " of " + std::to_string(wanted) +
         " coordinates");
  }
}

}  // namespace kdgat::molecules
