// All that is wrong with a store, whether opening or verify finds it.
#pragma once

#include <filesystem>
#include <string>

#include "engine/graph/store_file.h"

namespace kdgat::test {

/// "message; message; ", without the name of the file; "" where the store is sound.
template <class Store>
std::string problems_of(const std::filesystem::path& path) {
  std::vector<Diagnostic> found;
  try {
    found = Store::open(path, graph::Check::kRanges).verify();
  } catch (const Error& error) {
    found = error.diagnostics();
  }
  std::string out;
  for (const Diagnostic& problem : found) {
    const std::string name = path.string() + ": ";
    out += (problem.message.starts_with(name) ? problem.message.substr(name.size())
                                              : problem.message) +
           "; ";
  }
  return out;
}

}  // namespace kdgat::test
