// JSON in the metadata of a safetensors file.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "engine/file/safetensors.h"
#include "engine/file/safetensors_header.h"
#include "kdgat/error.h"
#include "kdgat/parse_json.h"

namespace kdgat::file {

/// What the metadata `key` holds, of any size that a header may have. Throws Error(kData) that
/// names file and key if there is none, or if it is no JSON for a T.
template <class T = nlohmann::json>
T metadata_json(const SafetensorsFile& file, const std::string& key) {
  const auto fault = [&](const std::string& reason) {
    return Error(ExitCode::kData, file.path().string() + ": " + reason);
  };
  const auto found = file.metadata().find(key);
  if (found == file.metadata().end()) throw fault("no metadata '" + key + "'");
  JsonFault why;
  const auto value = strict_json(found->second, why, kDeepestJson, kMaxHeader);
  if (!value) throw fault("malformed metadata '" + key + "': " + why.what);
  try {
    return value->get<T>();
  } catch (const nlohmann::json::exception& e) {
    throw fault("malformed metadata '" + key + "': " + e.what());
  }
}

}  // namespace kdgat::file
