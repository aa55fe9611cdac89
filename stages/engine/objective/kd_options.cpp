#include "engine/objective/kd_options.h"

#include <system_error>

namespace kdgat::objective {
namespace {

/// What is wired to the input "teacher", or null.
const Input* wired_teacher(const Request& request) {
  const auto found = request.inputs.find("teacher");
  return found == request.inputs.end() || found->second.empty() ? nullptr : &found->second.front();
}

}  // namespace

void check_teacher(const KdOptions& options, const Request& request) {
  if (!options.use_kd) return;
  const Input* wired = wired_teacher(request);
  const std::filesystem::path named = options.teacher_path;
  if (wired == nullptr && named.empty()) {
    throw Error(ExitCode::kUsage, "distillation (use_kd) needs a teacher, and there is none",
                "name the folder of a trained one, teacher_path=RUN, or the step that trains it "
                "under needs: of " +
                    request.step);
  }
  if (wired == nullptr || wired->path.empty() || named.empty()) return;
  std::error_code ignored;
  if (!std::filesystem::equivalent(named, wired->path, ignored) &&
      !std::filesystem::equivalent(named, wired->path / "model.safetensors", ignored)) {
    throw Error(ExitCode::kUsage,
                "two teachers: teacher_path " + named.string() + " and the step " + wired->step,
                "leave teacher_path empty, or the step out of needs: of " + request.step);
  }
}

std::filesystem::path teacher_source(const KdOptions& options, const Request& request,
                                     const Host& host) {
  check_teacher(options, request);
  const Input* wired = wired_teacher(request);
  const std::filesystem::path named = options.teacher_path;
  if (options.use_kd) return wired != nullptr ? wired->path : named;
  if (wired != nullptr || !named.empty()) {
    const std::string which =
        wired != nullptr ? "the teacher " + wired->step : "teacher_path " + named.string();
    host.log("warning", which + " is not used: use_kd is false");
  }
  return {};
}

}  // namespace kdgat::objective
