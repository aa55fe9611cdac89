// Which files of a source hold molecules, and what each of them is. Reads names alone.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/data/core/dataset_files.h"
#include "engine/file/line_reader.h"

namespace kdgat::molecules {

/// "amber", "pdb" and "mmcif", as the option `format` names them.
const std::vector<std::string>& molecule_formats();

enum class MoleculeFile { kNone, kTopology, kCoordinates, kPdb, kMmcif };
/// By the end of the name, .gz or not.
MoleculeFile kind_of_file(const std::string& name);
/// The name without its folders and what says its kind: "gaucu" of "a/gaucu.parm7.gz".
std::string stem_of(const std::string& name);

/// What is told of molecules beside them; empty = nothing.
struct MoleculeAside {
  std::filesystem::path labels, embeddings;
};

struct MoleculeInput {
  std::vector<data::LogFile> files;
  MoleculeAside aside;
  std::string format;  ///< "auto": each by its name
};

/// What `source` holds, if that are molecules: a file, a folder or a tar archive of them; nothing
/// otherwise, and where `format` is neither "auto" nor one of molecule_formats(). What `named` does
/// not name is looked for beside the molecules: labels.csv and ligands.safetensors. Throws
/// Error(kData) if what is named is not there.
std::optional<MoleculeInput> find_molecules(const std::filesystem::path& source,
                                            const std::string& format, const MoleculeAside& named);

/// One molecule's files.
struct MoleculeEntry {
  std::string name;  ///< relative to the data set, with '/'
  MoleculeFile kind = MoleculeFile::kNone;
  std::function<file::LineReader()> open;
  std::function<file::LineReader()> open_coordinates;  ///< of a topology
  int64_t bytes = 0;                                   ///< as stored
};

/// All molecules of the input, by name: topologies with their coordinates. What archives hold is
/// kept in memory until it is read. Throws Error(kData) with the name: a topology without
/// coordinates or the reverse, a name that stands twice, an archive without a molecule.
class MoleculeEntries {
 public:
  MoleculeEntries(const MoleculeInput& input, int64_t largest_member,
                  const std::function<bool()>& cancelled);

  const std::vector<MoleculeEntry>& entries() const { return entries_; }
  /// Of an archive that brings a labels.csv; empty = none.
  const std::string& labels() const { return labels_; }

 private:
  struct Member {
    std::string name;
    MoleculeFile kind;
    std::function<file::LineReader()> open;
    int64_t bytes;
  };
  void read_archive(const data::LogFile& file, const std::string& prefix, int64_t largest,
                    const std::function<bool()>& cancelled, std::vector<Member>& out);
  void pair(std::vector<Member> members);

  std::vector<MoleculeEntry> entries_;
  std::string labels_;
};

}  // namespace kdgat::molecules
