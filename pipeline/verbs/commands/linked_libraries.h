// The libraries of others that the binaries hold or open, with their versions, and the two files
// that packages make of them: an SBOM and a page of licences. The table is in
// scripts/package/libraries.cmake.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace kdgat {

struct LinkedLibrary {
  std::string name;
  std::string version;  ///< of the package it was built with; "unknown" outside Debian
  std::string licence;  ///< an SPDX identifier
  std::string how;      ///< "inside" a binary, or "opened" at its start
  std::string files;    ///< which binaries; "all"
  std::string purl;     ///< the package URL of its source; "" if unknown
};

/// In the order of the table. The source of this function is made when the build is configured.
const std::vector<LinkedLibrary>& linked_libraries();

/// The value of the key `libraries` of `kdgat version --all --json`.
nlohmann::json libraries_json();

/// An SBOM in the form CycloneDX 1.5, of the same table: the same text for the same build.
std::string software_bill();

/// The page THIRD_PARTY.md of packages.
std::string licence_page();

}  // namespace kdgat
