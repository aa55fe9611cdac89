#include "pipeline/profile/path_options.h"

#include <set>
#include <system_error>

#include "kdgat/kinds.h"
#include "pipeline/system/hash.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;

/// "" if `path` names nothing.
std::string content_hash(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_regular_file(path, ignored)) return hash_file(path);
  if (fs::is_regular_file(path / kModelFile, ignored)) return hash_file(path / kModelFile);
  std::set<std::string> found;  // in an order that does not depend on the names of steps
  for (const auto& entry : fs::directory_iterator(path, ignored)) {
    const fs::path file = entry.path() / kModelFile;
    if (fs::is_regular_file(file, ignored)) found.insert(hash_file(file));
  }
  std::string all;
  for (const std::string& hash : found) all += hash;
  return all.empty() ? "" : hash_text(all);
}

}  // namespace

bool is_pytorch_file(const fs::path& file) {
  const std::string end = file.extension().string();
  return end == ".pt" || end == ".pth" || end == ".ckpt";
}

void resolve_path_options(Profile& profile) {
  std::vector<Diagnostic> problems;
  std::set<std::string> seen;
  for (StepSpec& step : profile.steps) {
    for (auto& [name, value] : step.options.values.items()) {
      if (!name.ends_with("_path") || !value.is_string() || value == "") continue;
      const fs::path path = fs::absolute(value.get<std::string>()).lexically_normal();
      const std::string hash = content_hash(path);
      if (!hash.empty()) {
        value = path.string();
        step.contents[name] = hash;
        continue;
      }
      const bool exists = fs::exists(path);
      const std::string origin = step.options.origin[name];
      const std::string message =
          name + ": " + value.get<std::string>() +
          (exists ? " holds no " + std::string(kModelFile) : ": there is no such file or folder");
      if (!seen.insert(origin + message).second) continue;
      problems.push_back(
          {origin, message,
           "a run folder, a step folder or a model.safetensors; PyTorch checkpoints: "
           "scripts/convert_checkpoint"});
    }
  }
  if (!problems.empty()) throw Error(ExitCode::kUsage, std::move(problems));
}

}  // namespace kdgat
