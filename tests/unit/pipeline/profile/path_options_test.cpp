#include "pipeline/profile/path_options.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "support/programs/command.h"
#include "support/runs/fake_plan.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;
using test::fake_step;
using test::ScratchFolder;

void write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

Profile naming(const fs::path& path) {
  StepSpec step = fake_step("a", "trainer");
  step.options.values["teacher_path"] = path.string();
  step.options.origin["teacher_path"] = "command line, argument 4";
  return test::fake_profile({step});
}

std::string content(const fs::path& path) {
  Profile profile = naming(path);
  resolve_path_options(profile);
  return profile.steps[0].contents.at("teacher_path");
}

TEST_CASE("a path names its content, wherever it lies", "[path_options]") {
  const ScratchFolder scratch;
  write(scratch / "run/one/model.safetensors", "weights");
  write(scratch / "copy/model.safetensors", "weights");
  write(scratch / "other/model.safetensors", "others");
  const std::string hash = content(scratch / "run/one/model.safetensors");
  CHECK(content(scratch / "run/one") == hash);
  CHECK(content(scratch / "copy") == hash);
  CHECK(content(scratch / "other") != hash);
  const std::string of_run = content(scratch / "run");
  write(scratch / "run/two/model.safetensors", "more");
  CHECK(content(scratch / "run") != of_run);

  Profile profile = naming("");
  resolve_path_options(profile);
  CHECK(profile.steps[0].contents.empty());
}

TEST_CASE("relative paths lie in the working directory and become absolute", "[path_options]") {
  const ScratchFolder scratch;
  write(scratch / "model.safetensors", "weights");
  const fs::path before = fs::current_path();
  fs::current_path(scratch.path());
  Profile profile = naming("model.safetensors");
  resolve_path_options(profile);
  fs::current_path(before);
  const fs::path path = profile.steps[0].options.values.at("teacher_path").get<std::string>();
  CHECK(path.is_absolute());
  CHECK(fs::exists(path));
}

TEST_CASE("a path that names nothing is a usage error with its place", "[path_options]") {
  const ScratchFolder scratch;
  fs::create_directories(scratch / "empty");
  for (const auto& [path, reason] :
       {std::pair{scratch / "absent.pt", "there is no such file or folder"},
        std::pair{scratch / "empty", "holds no model.safetensors"}}) {
    Profile profile = naming(path);
    try {
      resolve_path_options(profile);
      FAIL("accepted");
    } catch (const Error& error) {
      CHECK(error.code() == ExitCode::kUsage);
      CHECK_THAT(error.what(), Catch::Contains("command line, argument 4: teacher_path: ") &&
                                   Catch::Contains(reason) &&
                                   Catch::Contains("scripts/convert_checkpoint"));
    }
  }
}

TEST_CASE("another teacher under the same path is another step", "[path_options][plan]") {
  const ScratchFolder scratch;
  PluginCatalog catalog = test::fake_catalog();
  const auto plan = [&](const fs::path& path, const std::vector<PastStep>& past) {
    Profile profile = naming(path);
    resolve_path_options(profile);
    return make_plan(profile, catalog, "d1", past, {});
  };
  write(scratch / "teacher/model.safetensors", "weights");
  const Plan first = plan(scratch / "teacher", {});
  const std::vector<PastStep> past = test::past_of(first);
  fs::rename(scratch / "teacher", scratch / "moved");
  CHECK(plan(scratch / "moved", past).steps[0].action == Action::kKeep);
  write(scratch / "teacher/model.safetensors", "others");
  const Plan second = plan(scratch / "teacher", past);
  CHECK(second.steps[0].action == Action::kRun);
  CHECK_THAT(second.steps[0].reason, Catch::Contains("option changed: a.teacher_path"));
}

}  // namespace
}  // namespace kdgat
