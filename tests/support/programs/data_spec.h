// The data that a profile names, written down and prepared in one line.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "kdgat/error.h"
#include "pipeline/data/data.h"

namespace kdgat::test {

inline DataSpec of_path(const std::filesystem::path& path) {
  DataSpec data;
  data.path = path.string();
  return data;
}

inline void set(DataSpec& data, const std::string& key, const nlohmann::json& value) {
  data.import.values[key] = value;
  data.import.origin[key] = "command line, argument 3";
}

inline PreparedData prepare(const DataSpec& data, const std::filesystem::path& folder) {
  return prepare_data(data, folder, {}, {});
}

template <class Call>
Error error_of(Call&& call) {
  try {
    call();
  } catch (const Error& e) {
    return e;
  }
  return Error(ExitCode::kOk, "no error");
}

}  // namespace kdgat::test
