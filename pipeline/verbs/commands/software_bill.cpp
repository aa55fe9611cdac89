// The files that packages make of the table of linked libraries.
#include "pipeline/verbs/commands/linked_libraries.h"

namespace kdgat {

using nlohmann::json;

json libraries_json() {
  json libraries = json::array();
  for (const LinkedLibrary& library : linked_libraries()) {
    libraries.push_back({{"name", library.name},
                         {"version", library.version},
                         {"licence", library.licence},
                         {"how", library.how},
                         {"files", library.files},
                         {"purl", library.purl}});
  }
  return libraries;
}

std::string software_bill() {
  const auto licences = [](const std::string& id) {
    return json::array({{{"license", {{"id", id}}}}});
  };
  json components = json::array();
  for (const LinkedLibrary& library : linked_libraries()) {
    json component{
        {"type", "library"},
        {"name", library.name},
        {"version", library.version},
        {"licenses", licences(library.licence)},
        {"properties", json::array({{{"name", "kdgat:how"}, {"value", library.how}},
                                    {{"name", "kdgat:files"}, {"value", library.files}}})}};
    if (!library.purl.empty()) component["purl"] = component["bom-ref"] = library.purl;
    components.push_back(std::move(component));
  }
  const json program{{"type", "application"},
                     {"name", "kdgat"},
                     {"version", KDGAT_VERSION},
                     {"licenses", licences("MIT")}};
  return json{{"bomFormat", "CycloneDX"},
              {"specVersion", "1.5"},
              {"version", 1},
              {"metadata", {{"component", program}}},
              {"components", components}}
             .dump(2) +
         "\n";
}

namespace {

/// The rows of a table of those that are `how`: "inside" or "opened".
std::string library_rows(const std::string& how) {
  std::string rows;
  for (const LinkedLibrary& library : linked_libraries()) {
    if (library.how != how) continue;
    rows += "| " + library.name + " | " + library.version + " | " + library.files + " | " +
            library.licence + " |\n";
  }
  return rows;
}

}  // namespace

std::string licence_page() {
  return "# Libraries in a package of kdgat, and their licences\n\n"
         "kdgat itself has the MIT licence (LICENSE). A wheel and a tarball also hold these, "
         "unchanged:\n\n"
         "| library | version | in which files | licence |\n|---|---|---|---|\n" +
         library_rows("inside") +
         "\nThe folder `licences` next to this file has their texts. kdgat opens these when it "
         "starts; they are not part of\na wheel, and a tarball holds LibTorch alone, in "
         "`lib/torch` (its licences: `licences/libtorch`):\n\n"
         "| library | version at build time | opened by | licence |\n|---|---|---|---|\n" +
         library_rows("opened") + "\nThe C and C++ libraries are the system's.\n";
}

}  // namespace kdgat
