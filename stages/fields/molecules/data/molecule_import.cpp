#include "fields/molecules/data/molecule_import.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "engine/arrays/random.h"
#include "engine/data/core/folder_files.h"
#include "engine/data/core/part_names.h"
#include "fields/molecules/data/amber.h"
#include "fields/molecules/data/force_field.h"
#include "fields/molecules/data/molecule_labels.h"
#include "fields/molecules/data/molecule_store.h"

namespace kdgat::molecules {
namespace {

using nlohmann::json;

constexpr std::size_t kMostFaults = 10;
constexpr int kMostNames = 8;  // in a warning

/// "HOH 163, MG 10".
int64_t sum_of(const std::map<std::string, int64_t>& counts) {
  int64_t sum = 0;
  for (const auto& [name, count] : counts) sum += count;
  return sum;
}

std::string list_of(const std::map<std::string, int64_t>& counts) {
  std::vector<std::pair<int64_t, std::string>> order;
  order.reserve(counts.size());
  for (const auto& [name, count] : counts) order.emplace_back(-count, name);
  std::sort(order.begin(), order.end());
  std::string out;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i == kMostNames) return out + " and " + std::to_string(order.size() - i) + " more";
    out += (i == 0 ? "" : ", ") + order[i].second + " " + std::to_string(-order[i].first);
  }
  return out;
}

/// What precedes the first '_': molecules of one entry of the Protein Data Bank.
std::string entry_of(const std::string& name) {
  const std::string stem = stem_of(name);
  return stem.substr(0, stem.find('_'));
}

class Importer {
 public:
  Importer(const MoleculeImport& import, data::ImportReport& report)
      : import_(import), options_(import.options), report_(report) {
    const std::filesystem::path& embeddings = import_.input.aside.embeddings;
    if (!embeddings.empty()) data_.ligands = Ligands(embeddings);
    data_.cutoff = options_.distance_cutoff;
  }

  MoleculeStoreData read() {
    const MoleculeEntries entries(import_.input, options_.largest_member_mb << 20,
                                  import_.cancelled);
    read_labels(entries);
    for (const MoleculeEntry& entry : entries.entries()) {
      read_entry(entry);
      import_.done(entry.bytes);
    }
    if (!faults_.empty()) throw Error(ExitCode::kData, std::move(faults_));
    if (data_.graphs.empty()) {
      throw Error(ExitCode::kData, "no pocket: no file has the residue " + options_.ligand, "",
                  import_.input.files.front().path.string());
    }
    settle_parts();
    divide_groups(data_.groups, options_.val_fraction, options_.test_fraction, options_.seed,
                  data_.part);
    sort_ligands();
    warn();
    return std::move(data_);
  }

 private:
  void read_labels(const MoleculeEntries& entries) {
    if (!import_.input.aside.labels.empty()) {
      labels_ = MoleculeLabels(file::LineReader(import_.input.aside.labels, import_.cancelled),
                               options_, report_.warnings);
    } else if (!entries.labels().empty()) {
      labels_ = MoleculeLabels(file::LineReader("labels.csv in the archive", entries.labels()),
                               options_, report_.warnings);
    } else if (!options_.split_column.empty() || !options_.group_column.empty()) {
      throw Error(ExitCode::kUsage, "split_column and group_column name columns of labels",
                  "data.labels=FILE.csv");
    }
  }

  void read_entry(const MoleculeEntry& entry) {
    graph::Source source{entry.name, "", "train", "", 0, 0, graphs(), 0};
    try {
      if (entry.kind == MoleculeFile::kTopology) {
        source.format = "amber";
        read_amber(entry, source);
      } else {
        source.format = entry.kind == MoleculeFile::kPdb ? "pdb" : "mmcif";
        read_structure(entry, source);
      }
    } catch (const Error& error) {
      if (error.code() != ExitCode::kData) throw;
      const auto& found = error.diagnostics();
      faults_.insert(faults_.end(), found.begin(), found.end());
      if (faults_.size() >= kMostFaults) throw Error(ExitCode::kData, std::move(faults_));
      return;
    }
    source.graphs = graphs() - source.first_graph;
    data_.sources.push_back(std::move(source));
  }

  void read_amber(const MoleculeEntry& entry, graph::Source& source) {
    Molecule molecule = read_amber_topology(entry.open());
    read_amber_coordinates(entry.open_coordinates(), molecule);
    source.rows = static_cast<int64_t>(molecule.atoms.size());
    add(molecule, stem_of(entry.name), entry, "");
  }

  void read_structure(const MoleculeEntry& entry, graph::Source& source) {
    const Structure structure =
        entry.kind == MoleculeFile::kPdb ? read_pdb(entry.open()) : read_mmcif(entry.open());
    source.rows = structure.rows;
    hydrogens_ += structure.hydrogens;
    alternates_ += structure.alternates;
    repeated_ += structure.repeated;
    more_models_ += structure.has_more_models;
    const bool bonds_others = options_.other_residues == "bond";
    if (options_.ligand.empty()) {
      std::vector<std::size_t> all(structure.residues.size());
      std::iota(all.begin(), all.end(), std::size_t{0});
      const Molecule molecule = with_force_field(structure, all, bonds_others, left_out_);
      if (molecule.atoms.empty()) {
        throw Error(ExitCode::kData, "no atom of RNA", "data.other_residues=bond keeps others",
                    entry.name);
      }
      add(molecule, stem_of(entry.name), entry, "");
      return;
    }
    std::vector<bool> wanted;
    for (const SolvedResidue& residue : structure.residues) {
      wanted.push_back(bonds_others || nucleotide_of(residue.name) != 0);
    }
    for (const Pocket& pocket :
         cut_pockets(structure, options_.ligand, options_.pocket_cutoff, wanted)) {
      if (pocket.residues.empty()) {
        ++empty_pockets_;
        continue;
      }
      const SolvedResidue& ligand = structure.residues[pocket.ligand];
      const std::string name =
          stem_of(entry.name) + "_" + ligand.name + "_" + ligand.chain + ligand.number;
      add(with_force_field(structure, pocket.residues, bonds_others, left_out_), name, entry,
          options_.ligand);
    }
  }

  /// `ligand`: what it was cut out around; "" = what the labels say.
  void add(const Molecule& molecule, const std::string& name, const MoleculeEntry& entry,
           const std::string& ligand) {
    const MoleculeLabel* label = labels_.find(ligand.empty() ? entry.name : name);
    if (label == nullptr && !ligand.empty()) label = labels_.find(entry.name);
    std::string wanted = label != nullptr && !label->ligand.empty() ? label->ligand : ligand;
    int32_t number = -1;
    if (!wanted.empty()) {
      number = data_.ligands.find_or_add(wanted);
      if (number < 0) {
        throw Error(ExitCode::kData, "the ligand " + wanted + " is not among the embeddings", "",
                    label != nullptr ? label->where : entry.name);
      }
    }
    unlabelled_ += number < 0;
    data_.graphs.push_back(graph_of(molecule, options_.distance_cutoff));
    data_.names.push_back(name);
    data_.groups.push_back(label != nullptr && !label->group.empty() ? label->group
                                                                     : entry_of(entry.name));
    data_.ligand.push_back(number);
    has_folder_parts_ |= part_of_folders(entry.name) >= 0;
    data_.part.push_back(label == nullptr || label->part < 0 ? part_of_folders(entry.name)
                                                             : label->part);
    data_.source_of.push_back(static_cast<int32_t>(data_.sources.size()));
  }

  /// An index into kMoleculeParts, -1: they say none.
  static int32_t part_of_folders(const std::string& name) {
    const auto* const part =
        std::find(std::begin(kMoleculeParts), std::end(kMoleculeParts), data::part_of_file(name));
    return part == std::end(kMoleculeParts)
               ? -1
               : static_cast<int32_t>(part - std::begin(kMoleculeParts));
  }

  /// Ligands that came from labels alone in the order of their names, as those of a file are.
  void sort_ligands() {
    if (data_.ligands.width() > 0) return;
    const std::vector<std::string> as_they_came = data_.ligands.names();
    std::vector<std::string> names = as_they_came;
    std::sort(names.begin(), names.end());
    Ligands sorted;
    for (const std::string& name : names) sorted.find_or_add(name);
    for (int32_t& ligand : data_.ligand) {
      if (ligand >= 0) ligand = sorted.find(as_they_came[static_cast<std::size_t>(ligand)]);
    }
    data_.ligands = std::move(sorted);
  }

  /// Where folders say what some are for, those in none are for training, as other data is.
  void settle_parts() {
    if (!has_folder_parts_) return;
    std::vector<std::string> names;
    names.reserve(data_.sources.size());
    for (const graph::Source& source : data_.sources) names.push_back(source.path);
    data::report_folder_parts(names, report_.warnings);
    std::replace(data_.part.begin(), data_.part.end(), int32_t{-1}, int32_t{0});
  }

  void warn() {
    const auto warn = [this](const std::string& what, const char* unused = "", int64_t count = 0,
                             bool is_usual = false) {
      report_.warnings.push_back({"", what, "", unused, count, is_usual});
    };
    const auto warn_of = [&](int64_t number, const char* what, const char* unused, bool is_usual) {
      if (number > 0) warn(std::to_string(number) + what, unused, number, is_usual);
    };
    warn_of(hydrogens_, " hydrogen atoms left out", "hydrogen atom", true);
    warn_of(alternates_, " other locations of atoms left out", "other location", true);
    warn_of(repeated_, " atoms left out: their residue had one of the same name before", "atom",
            false);
    warn_of(more_models_, " files with more models: the first of each is read", "model", true);
    if (!left_out_.residues.empty()) {
      warn("residues that are no RNA left out: " + list_of(left_out_.residues), "residue",
           sum_of(left_out_.residues));
    }
    if (!left_out_.atoms.empty()) {
      warn("atoms that no template has left out: " + list_of(left_out_.atoms), "atom",
           sum_of(left_out_.atoms));
    }
    if (empty_pockets_ > 0) {
      warn(std::to_string(empty_pockets_) + " copies of " + options_.ligand +
           " have no residue near them: no pocket");
    }
    labels_.report_unmet(report_.warnings);
    if (unlabelled_ > 0 && !labels_.empty()) {
      warn(std::to_string(unlabelled_) + " molecules without a ligand in labels");
    }
  }

  int64_t graphs() const { return static_cast<int64_t>(data_.graphs.size()); }

  const MoleculeImport& import_;
  const MoleculeImportOptions& options_;
  data::ImportReport& report_;
  MoleculeStoreData data_;
  MoleculeLabels labels_;
  LeftOut left_out_;
  std::vector<Diagnostic> faults_;
  bool has_folder_parts_ = false;
  int64_t unlabelled_ = 0, empty_pockets_ = 0;
  int64_t hydrogens_ = 0, alternates_ = 0, repeated_ = 0, more_models_ = 0;
};

}  // namespace

void divide_groups(const std::vector<std::string>& groups, double val_fraction,
                   double test_fraction, int64_t seed, std::vector<int32_t>& part) {
  std::map<std::string, std::vector<std::size_t>> members;
  std::size_t open = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (part[g] >= 0) continue;
    members[groups[g]].push_back(g);
    ++open;
  }
  std::vector<const std::vector<std::size_t>*> order;
  order.reserve(members.size());
  for (const auto& [name, list] : members) order.push_back(&list);
  arrays::Random random(static_cast<uint64_t>(seed));
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  const auto tests =
      static_cast<std::size_t>(std::llround(test_fraction * static_cast<double>(open)));
  const auto vals = static_cast<std::size_t>(
      std::llround(val_fraction * static_cast<double>(open - std::min(tests, open))));
  std::size_t in_test = 0, in_val = 0;
  for (const auto* list : order) {
    const int32_t to = in_test < tests ? 2 : in_val < vals ? 1 : 0;
    for (const std::size_t g : *list) part[g] = to;
    if (to == 2) in_test += list->size();
    if (to == 1) in_val += list->size();
  }
}

MoleculeStoreData read_molecules(const MoleculeImport& import, data::ImportReport& report) {
  return Importer(import, report).read();
}

void import_molecules(const MoleculeImport& import, const json& made_with,
                      const std::filesystem::path& to, data::ImportReport& report) {
  MoleculeStoreData data = read_molecules(import, report);
  data.options = made_with;
  write_molecule_store(to, data);
}

}  // namespace kdgat::molecules
