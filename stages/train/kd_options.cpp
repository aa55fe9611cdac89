#include "train/kd_options.h"

#include <system_error>

namespace kdgat::train {

std::filesystem::path teacher_source(const KdOptions& options, const Request& request,
                                     const Host& host) {
  const auto wired = request.inputs.find("teacher");
  const bool is_wired = wired != request.inputs.end() && !wired->second.empty();
  const std::filesystem::path named = options.teacher_path;
  if (!options.use_kd) {
    if (is_wired || !named.empty()) {
      const std::string which =
          is_wired ? "the teacher " + wired->second.front().step : "teacher_path " + named.string();
      host.log("warning", which + " is not used: use_kd is false");
    }
    return {};
  }
  if (!is_wired && named.empty()) {
    throw Error(ExitCode::kUsage, "distillation (use_kd) needs a teacher, and there is none",
                "name the folder of a trained one, teacher_path=RUN, or the step that trains it "
                "under needs: of " +
                    request.step);
  }
  if (!is_wired) return named;
  const std::filesystem::path made = wired->second.front().path;
  std::error_code ignored;
  if (!named.empty() && !std::filesystem::equivalent(named, made, ignored) &&
      !std::filesystem::equivalent(named, made / "model.safetensors", ignored)) {
    throw Error(ExitCode::kUsage,
                "two teachers: teacher_path " + named.string() + " and the step " +
                    wired->second.front().step,
                "leave teacher_path empty, or the step out of needs: of " + request.step);
  }
  return made;
}

}  // namespace kdgat::train
