# The libraries of others that the binaries hold or open: the one table. `kdgat version --all`, the
# SBOM and the page of licences in packages are made of it (pipeline/verbs/commands/linked_libraries.h).
# Included by the CMakeLists.txt of the project.
#
# name | a header of it | licence (SPDX) | inside or opened | which files
set(KDGAT_LIBRARIES
  "yaml-cpp|yaml-cpp/yaml.h|MIT|inside|kdgat"
  "nlohmann/json|nlohmann/json.hpp|MIT|inside|all"
  "CLI11|CLI/CLI.hpp|BSD-3-Clause|inside|kdgat"
  "spdlog|spdlog/spdlog.h|MIT|inside|kdgat"
  "fmt|fmt/format.h|MIT|inside|kdgat"
  "xxHash|xxhash.h|BSD-2-Clause|inside|kdgat, lib/libkdgat_graph.so, lib/libkdgat_detect.so"
  "SQLite|sqlite3.h|blessing|inside|kdgat"
  "Zstandard|zstd.h|BSD-3-Clause|inside|lib/libkdgat_graph.so, lib/libkdgat_detect.so"
  "Gloo|gloo/algorithm.h|BSD-3-Clause|inside|lib/libkdgat_engine.so"
  "zlib|zlib.h|Zlib|opened|lib/libkdgat_graph.so, lib/libkdgat_detect.so"
  "libmosquitto|mosquitto.h|EPL-2.0|opened|kdgat_mqtt")

# The package of the system that owns the header, its version and its source; empty where dpkg does
# not know it.
function(kdgat_package_of header package version source)
  foreach(name ${package} ${version} ${source})
    set(${name} "" PARENT_SCOPE)
  endforeach()
  find_program(DPKG_QUERY dpkg-query)
  find_file(header_${header} ${header})
  if(NOT DPKG_QUERY OR NOT header_${header})
    return()
  endif()
  execute_process(COMMAND ${DPKG_QUERY} -S ${header_${header}} OUTPUT_VARIABLE owner ERROR_QUIET)
  if(NOT owner MATCHES "^([^:, ]+)")
    return()
  endif()
  set(name ${CMAKE_MATCH_1})
  execute_process(COMMAND ${DPKG_QUERY} -W -f "\${Version}|\${source:Package}@\${source:Version}" ${name}
                  OUTPUT_VARIABLE found)
  string(REGEX MATCH "^(.*)[|](.*)$" found "${found}")
  set(${package} ${name} PARENT_SCOPE)
  set(${version} "${CMAKE_MATCH_1}" PARENT_SCOPE)
  set(${source} "${CMAKE_MATCH_2}" PARENT_SCOPE)
  # An update of the package is seen by the next build.
  file(GLOB list /var/lib/dpkg/info/${name}.list /var/lib/dpkg/info/${name}:*.list)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${list})
endfunction()

set(rows "")
set(KDGAT_LIBRARY_PACKAGES "")  # whose licences an installation copies
foreach(row ${KDGAT_LIBRARIES})
  string(REPLACE "|" ";" row "${row}")
  list(GET row 0 name)
  list(GET row 1 header)
  list(GET row 2 licence)
  list(GET row 3 how)
  list(GET row 4 files)
  kdgat_package_of(${header} package version source)
  if(name STREQUAL libmosquitto AND NOT MOSQUITTO)
    continue()
  endif()
  if(version STREQUAL "")
    set(version unknown)
  endif()
  list(APPEND KDGAT_LIBRARY_PACKAGES ${package})
  set(purl "")
  if(source)
    set(purl "pkg:deb/debian/${source}")
  endif()
  string(APPEND rows "    {\"${name}\", \"${version}\", \"${licence}\", \"${how}\", \"${files}\", \"${purl}\"},\n")
endforeach()
if(KDGAT_RUNTIME)
  string(REGEX MATCH "[0-9][0-9.]*" version "${KDGAT_RUNTIME}")
  string(APPEND rows "    {\"LibTorch\", \"${version}\", \"BSD-3-Clause\", \"opened\", \"lib/libkdgat_engine.so\", \"pkg:pypi/torch@${version}\"},\n")
endif()
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/linked_libraries.cpp CONTENT
"// Made by scripts/package/libraries.cmake.
#include \"pipeline/verbs/commands/linked_libraries.h\"

namespace kdgat {

const std::vector<LinkedLibrary>& linked_libraries() {
  static const std::vector<LinkedLibrary> libraries = {
@rows@  };
  return libraries;
}

}  // namespace kdgat
" @ONLY)
