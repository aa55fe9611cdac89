#include "fields/molecules/data/molecule_files.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>

#include "engine/data/core/folder_files.h"
#include "engine/file/tar.h"

namespace kdgat::molecules {

namespace fs = std::filesystem;

namespace {

struct Ending {
  std::string_view text;
  MoleculeFile kind;
};
constexpr std::array kEndings = {Ending{".prmtop", MoleculeFile::kTopology},
                                 Ending{".parm7", MoleculeFile::kTopology},
                                 Ending{".inpcrd", MoleculeFile::kCoordinates},
                                 Ending{".rst7", MoleculeFile::kCoordinates},
                                 Ending{".pdb", MoleculeFile::kPdb},
                                 Ending{".ent", MoleculeFile::kPdb},
                                 Ending{".cif", MoleculeFile::kMmcif},
                                 Ending{".mmcif", MoleculeFile::kMmcif}};

std::string base_of(const std::string& name) { return name.substr(name.rfind('/') + 1); }

std::string without_gz(const std::string& name) {
  return name.ends_with(".gz") ? name.substr(0, name.size() - 3) : name;
}

const Ending* ending_of(const std::string& name) {
  const std::string plain = without_gz(base_of(name));
  if (plain.starts_with(".")) return nullptr;
  const auto* found = std::find_if(kEndings.begin(), kEndings.end(),
                                   [&](const Ending& e) { return plain.ends_with(e.text); });
  return found == kEndings.end() ? nullptr : found;
}

/// A file that an option names, else the one at its usual place, if there is one.
fs::path beside(const fs::path& named, const char* option, const fs::path& usual) {
  std::error_code ignored;
  if (named.empty()) return fs::is_regular_file(usual, ignored) ? usual : fs::path();
  if (fs::is_regular_file(named, ignored)) return named;
  throw Error(ExitCode::kData, std::string(option) + ": " + named.string() + ": no such file");
}

bool has_molecule(const std::string& name) { return kind_of_file(name) != MoleculeFile::kNone; }

/// Whether an option `format` takes files of a kind.
bool takes(const std::string& format, MoleculeFile kind) {
  switch (kind) {
    case MoleculeFile::kNone:
      return false;
    case MoleculeFile::kTopology:
    case MoleculeFile::kCoordinates:
      return format == "auto" || format == "amber";
    case MoleculeFile::kPdb:
      return format == "auto" || format == "pdb";
    case MoleculeFile::kMmcif:
      return format == "auto" || format == "mmcif";
  }
  return false;
}

}  // namespace

const std::vector<std::string>& molecule_formats() {
  static const std::vector<std::string> formats = {"amber", "pdb", "mmcif"};
  return formats;
}

MoleculeFile kind_of_file(const std::string& name) {
  const Ending* ending = ending_of(name);
  return ending == nullptr ? MoleculeFile::kNone : ending->kind;
}

std::string stem_of(const std::string& name) {
  const std::string plain = without_gz(base_of(name));
  const Ending* ending = ending_of(name);
  return ending == nullptr ? plain : plain.substr(0, plain.size() - ending->text.size());
}

std::optional<MoleculeInput> find_molecules(const fs::path& source, const std::string& format,
                                            const MoleculeAside& named) {
  const auto& formats = molecule_formats();
  const bool is_named = std::find(formats.begin(), formats.end(), format) != formats.end();
  if ((!is_named && format != "auto") || source == "-") return std::nullopt;
  std::error_code failure;
  if (!fs::exists(source, failure)) return std::nullopt;
  MoleculeInput out;
  out.format = format;
  const auto is_molecule = [&](const fs::path& path) {
    return takes(format, kind_of_file(path.filename().string()));
  };
  const bool is_folder = fs::is_directory(source, failure);
  if (is_folder) {
    out.files = data::files_where(source, is_molecule);
    if (out.files.empty()) {
      out.files = data::files_where(source, [](const fs::path& path) {
        return data::is_archive(path) && data::archive_holds(path, has_molecule);
      });
    }
  } else if (is_molecule(source) ||
             (data::is_archive(source) && data::archive_holds(source, has_molecule))) {
    out.files = {data::as_file(source, source.filename().string())};
    // The other half of a topology or of coordinates stands beside it.
    const std::string stem = stem_of(source.filename().string());
    const MoleculeFile kind = kind_of_file(source.filename().string());
    if (kind == MoleculeFile::kTopology || kind == MoleculeFile::kCoordinates) {
      const fs::path folder = source.has_parent_path() ? source.parent_path() : ".";
      for (const auto& entry : fs::directory_iterator(folder, failure)) {
        const std::string name = entry.path().filename().string();
        const MoleculeFile other = kind_of_file(name);
        const bool is_other_half =
            (other == MoleculeFile::kTopology || other == MoleculeFile::kCoordinates) &&
            other != kind;
        if (is_other_half && stem_of(name) == stem)
          out.files.push_back(data::as_file(entry.path(), name));
      }
    }
  }
  if (out.files.empty()) {
    if (!is_named) return std::nullopt;
    throw Error(ExitCode::kData, source.string() + ": no " + format + " file is there");
  }
  const fs::path folder = is_folder ? source : source.parent_path();
  out.aside = {beside(named.labels, "labels", folder / "labels.csv"),
               beside(named.embeddings, "embeddings", folder / "ligands.safetensors")};
  return out;
}

MoleculeEntries::MoleculeEntries(const MoleculeInput& input, int64_t largest_member,
                                 const std::function<bool()>& cancelled) {
  std::vector<Member> members;
  for (const data::LogFile& file : input.files) {
    if (data::is_archive(file.path)) {
      read_archive(file, input.files.size() == 1 ? "" : file.name + "/", largest_member, cancelled,
                   members);
      continue;
    }
    members.push_back({file.name, kind_of_file(file.name),
                       [path = file.path, cancelled] { return file::LineReader(path, cancelled); },
                       static_cast<int64_t>(fs::file_size(file.path))});
  }
  std::erase_if(members, [&](const Member& m) { return !takes(input.format, m.kind); });
  if (members.empty()) {
    throw Error(ExitCode::kData, "no file of a molecule in this archive", "",
                input.files.front().path.string());
  }
  pair(std::move(members));
}

void MoleculeEntries::read_archive(const data::LogFile& file, const std::string& prefix,
                                   int64_t largest, const std::function<bool()>& cancelled,
                                   std::vector<Member>& out) {
  file::TarReader archive(file.path, cancelled, largest);
  for (int64_t told = 0; archive.next();) {
    std::string name = archive.name();
    if (name.starts_with("./")) name.erase(0, 2);
    if (base_of(name) == "labels.csv") labels_ = archive.content();
    const MoleculeFile kind = kind_of_file(name);
    if (kind == MoleculeFile::kNone) continue;
    // Shared, as the function that opens it is copied.
    const auto content = std::make_shared<const std::string>(archive.content());
    const std::string where = archive.archive() + "/" + name;
    const auto open = [content, where] {
      if (!where.ends_with(".gz")) return file::LineReader(where, *content);
      const auto bytes = std::make_shared<file::ByteReader>(where, *content);
      return file::LineReader(
          where, [bytes, content](char* to, std::size_t room) { return bytes->read(to, room); });
    };
    out.push_back({prefix + name, kind, open, archive.bytes_read() - told});
    told = archive.bytes_read();
  }
}

void MoleculeEntries::pair(std::vector<Member> members) {
  std::sort(members.begin(), members.end(),
            [](const Member& a, const Member& b) { return a.name < b.name; });
  // Coordinates by the name without its ending, folder included.
  const auto key_of = [](const std::string& name) {
    return name.substr(0, name.size() - base_of(name).size()) + stem_of(name);
  };
  std::map<std::string, const Member*> coordinates, topologies;
  for (const Member& member : members) {
    const bool is_coordinates = member.kind == MoleculeFile::kCoordinates;
    if (!is_coordinates && member.kind != MoleculeFile::kTopology) continue;
    auto& of = is_coordinates ? coordinates : topologies;
    if (!of.emplace(key_of(member.name), &member).second) {
      throw Error(ExitCode::kData, "two files of this name hold the same half of a molecule", "",
                  member.name);
    }
  }
  for (const auto& [key, member] : coordinates) {
    if (topologies.contains(key)) continue;
    throw Error(
        ExitCode::kData,
        "coordinates without a topology: " + base_of(key) + ".prmtop or .parm7 is not there", "",
        member->name);
  }
  for (std::size_t i = 0; i < members.size(); ++i) {
    const Member& member = members[i];
    if (member.kind == MoleculeFile::kCoordinates) continue;
    if (i > 0 && members[i - 1].name == member.name) {
      throw Error(ExitCode::kData, "appears twice", "", member.name);
    }
    MoleculeEntry entry{member.name, member.kind, member.open, {}, member.bytes};
    if (member.kind == MoleculeFile::kTopology) {
      const auto found = coordinates.find(key_of(member.name));
      if (found == coordinates.end()) {
        throw Error(ExitCode::kData,
                    "a topology without coordinates: " + base_of(key_of(member.name)) +
                        ".inpcrd or .rst7 is not there",
                    "", member.name);
      }
      entry.open_coordinates = found->second->open;
      entry.bytes += found->second->bytes;
    }
    entries_.push_back(std::move(entry));
  }
}

}  // namespace kdgat::molecules
