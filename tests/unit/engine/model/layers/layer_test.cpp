// That a layer which does not count itself does not compile.
#include "engine/model/layers/layer.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

#include "support/programs/exported.h"

namespace kdgat::model {
namespace {

/// A class of a layer, with TORCH_MODULE as a declaration alone: LibTorch takes long to compile.
test::CommandResult compile(const test::ScratchFolder& scratch, const std::string& members) {
  std::filesystem::create_directories(scratch / "torch/nn");
  std::ofstream(scratch / "torch/nn/pimpl.h") << "#define TORCH_MODULE(NAME) class NAME\n";
  std::ofstream(scratch / "layer.cpp") << "#include \"engine/model/layers/layer.h\"\n"
                                       << "class DoublingImpl {\n public:\n"
                                       << members << "};\nKDGAT_LAYER(Doubling);\n";
  const std::string sources = std::filesystem::absolute("stages").string();
  return test::run_shell("c++ -std=c++20 -fsyntax-only -I. -I'" + sources + "' layer.cpp",
                         scratch.path());
}

TEST_CASE("a layer that does not count itself does not compile", "[memory][footprint]") {
  if (!std::filesystem::exists("stages")) {
    std::cout << "skipped: no sources are here\n";
    return;
  }
  if (!test::has_program("c++")) return;
  const test::ScratchFolder scratch;
  const std::string forward = "  int forward(int x) { return 2 * x; }\n";
  const test::CommandResult counted =
      compile(scratch, forward + "  int count(int x) { return x; }\n");
  INFO(counted.err);
  CHECK(counted.exit_code == 0);
  const test::CommandResult alone = compile(scratch, forward);
  CHECK(alone.exit_code != 0);
  CHECK_THAT(alone.err, Catch::Contains("DoublingImpl has no count()"));
}

}  // namespace
}  // namespace kdgat::model
