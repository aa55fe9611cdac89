#include "engine/decision/detector/joined_files.h"

#include <string>

#include "engine/file/tensor_hash.h"
#include "kdgat/error.h"
#include "kdgat/kinds.h"

namespace kdgat::decision {
namespace {

namespace fs = std::filesystem;

void check_file(const fs::path& file, const std::string& wanted) {
  const char* const needs = "a fusion with a detector needs the files of both next to its own";
  if (file::hash_file(file, needs) == wanted) return;
  throw Error(ExitCode::kData, file.string() + ": not the file that the fusion was made with",
              "copy the files of the step together, or run the fusion again");
}

}  // namespace

bool is_joined(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_regular_file(folder / kChannelFile, ignored);
}

JoinedFiles read_joined(const fs::path& folder, const Warn& warn) {
  NetworkChannel channel = NetworkChannel::read(folder / kChannelFile, warn);
  check_file(folder / kModelFile, channel.network);
  check_file(folder / kChannelDetector, channel.detector);
  return {std::move(channel), DetectorModel::read(folder / kChannelDetector)};
}

}  // namespace kdgat::decision
