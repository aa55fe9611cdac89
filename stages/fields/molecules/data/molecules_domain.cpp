#include "fields/molecules/data/molecules_domain.h"

#include <set>
#include <utility>

#include "engine/arrays/index.h"
#include "engine/data/core/folder_files.h"
#include "engine/data/core/store_domain.h"
#include "fields/molecules/data/molecule_import.h"
#include "fields/molecules/data/molecule_store.h"
#include "fields/molecules/data/synth_molecules.h"

namespace kdgat::molecules {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

class MoleculesInput : public data::DomainInput {
 public:
  MoleculesInput(MoleculeInput input, MoleculeImportOptions options)
      : DomainInput(all_files(input)), input_(std::move(input)), options_(std::move(options)) {}

  void import(const data::ImportCall& call) const override {
    import_molecules({input_, options_, call.cancelled, call.done}, call.made_with, call.to,
                     call.report);
  }

 private:
  /// What the import depends on.
  static std::vector<data::LogFile> all_files(const MoleculeInput& input) {
    std::vector<data::LogFile> out = input.files;
    if (!input.aside.labels.empty()) {
      out.push_back({input.aside.labels, "labels", "", "labels"});
    }
    if (!input.aside.embeddings.empty()) {
      out.push_back({input.aside.embeddings, "embeddings", "", "labels"});
    }
    return out;
  }

  MoleculeInput input_;
  MoleculeImportOptions options_;
};

/// {name: {"molecules","labelled","ligands","groups","atoms","pairs"}}
json parts_of(const MoleculeStore& store) {
  json parts = json::object();
  for (const char* part : kMoleculeParts) {
    std::set<int32_t> ligands;
    std::set<std::string> groups;
    int64_t labelled = 0, atoms = 0, pairs = 0;
    const std::vector<int64_t> molecules = store.in_part(part);
    for (const int64_t molecule : molecules) {
      const std::size_t g = arrays::at(molecule);
      groups.insert(store.groups()[g]);
      atoms += store.atom_ptr()[g + 1] - store.atom_ptr()[g];
      pairs += store.pairs().ptr[g + 1] - store.pairs().ptr[g];
      if (store.ligand()[g] < 0) continue;
      ++labelled;
      ligands.insert(store.ligand()[g]);
    }
    parts[part] = {
        {"molecules", molecules.size()}, {"labelled", labelled}, {"ligands", ligands.size()},
        {"groups", groups.size()},       {"atoms", atoms},       {"pairs", pairs}};
  }
  return parts;
}

class MoleculesDomain : public data::WithOptions<data::StoreDomain<MoleculeStore>,
                                                 MoleculeImportOptions, data::SynthSize> {
 public:
  const char* name() const override { return "molecules"; }
  const char* source_word() const override { return "files"; }
  const char* facts_key() const override { return "molecules"; }
  std::vector<std::string> formats() const override { return molecule_formats(); }
  const data::Wording& wording() const override { return molecules_wording(); }

  data::Found find(const fs::path& source, const json& values) const override {
    const auto options = data::own_options<MoleculeImportOptions>(values);
    const auto input = find_molecules(source, options.format, {options.labels, options.embeddings});
    if (!input) return {};
    return {data::Sureness::kSure, [input, options, source](data::Notes& notes) {
              auto read = std::make_shared<MoleculesInput>(*input, options);
              data::report_left_out(source, read->files(), notes);
              return read;
            }};
  }

  data::StoreView open(const fs::path& path, graph::Check check) const override {
    data::StoreView out = data::StoreDomain<MoleculeStore>::open(path, check);
    out.graphs = out.facts.at("graphs");
    return out;
  }

  void synthesize(const fs::path& folder, const json& values, const json&,
                  const std::function<bool()>& cancelled) const override {
    write_synthetic_molecules(folder, data::own_options<data::SynthSize>(values), cancelled);
  }
  std::vector<data::SynthKind> synth_kinds() const override {
    return {{"molecules", "pockets of RNA that bind ligands (PDB)"}};
  }

 protected:
  void add_counts(const MoleculeStore& store, json& seen) const override {
    seen["parts"] = parts_of(store);
  }
};

}  // namespace

const data::Domain& molecules_domain() {
  static const MoleculesDomain domain;
  return domain;
}

}  // namespace kdgat::molecules
