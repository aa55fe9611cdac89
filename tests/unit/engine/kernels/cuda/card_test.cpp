#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <optional>

#include "engine/kernels/cuda/card/driver.h"
#include "engine/kernels/cuda/card/kernel_image.h"
#include "engine/kernels/cuda/card/opened_card.h"
#include "engine/kernels/cuda/card/source_text.h"
#include "engine/kernels/cuda/launch/sums_launches.h"
#include "kdgat/error.h"
#include "support/cards/cuda_cases.h"
#include "support/graphs/variable.h"
#include "support/programs/command.h"

// What opens NVIDIA's libraries, on a library that stands for them (support/fake_cuda.cpp); and the
// true compiler where there is one.
namespace kdgat::kernels::cuda {
namespace {

namespace fs = std::filesystem;
using Catch::Contains;
using test::Variable;

const std::string kFake = test::build_folder() / "lib/libkdgat_fake_cuda.so";

/// A cache folder of its own.
struct OwnCache {
  test::ScratchFolder folder;
  Variable cache{"XDG_CACHE_HOME", folder.path().string()};

  fs::path kernels() const { return folder.path() / "kdgat" / "kernels"; }
  std::vector<fs::path> files() const {
    std::vector<fs::path> out;
    if (!fs::exists(kernels())) return out;
    for (const auto& entry : fs::directory_iterator(kernels())) out.push_back(entry.path());
    return out;
  }
};

std::string words_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("a compiler that is not there is said by the names that were tried", "[cuda]") {
  CHECK(words_of([] {
          Nvrtc({"libnone.so.1", "/none/libnvrtc.so"});
        }) == "cannot open any of libnone.so.1, /none/libnvrtc.so");
  CHECK_THAT(words_of([] { Nvrtc({"libc.so.6"}); }), Contains("libc.so.6 has no nvrtc"));
  CHECK_THAT(words_of([] { Driver({"libnone.so.1"}); }), Contains("libnone.so.1"));
}

TEST_CASE("compilers are looked for beside LibTorch and in packages", "[cuda]") {
  const test::ScratchFolder dir;
  for (const char* name : {"libnvrtc-672ee683.so.12", "libnvrtc-builtins.so.12.9", "libnvrtc.so.13",
                           "libnvrtc.alt.so.12", "libcudart.so.12"}) {
    std::ofstream(dir.path() / name) << "";
  }
  std::optional<Variable> named(std::in_place, "KDGAT_NVRTC", "");
  const std::vector<std::string> names = nvrtc_names({dir.path(), "/none"});
  const std::vector<std::string> all = {dir.path() / "libnvrtc.so.13",
                                        dir.path() / "libnvrtc-672ee683.so.12", "libnvrtc.so.13",
                                        "libnvrtc.so.12", "libnvrtc.so.11.2"};
  CHECK(names == all);
  named.emplace("KDGAT_NVRTC", "/some/libnvrtc.so");
  CHECK(nvrtc_names({dir.path()}) == std::vector<std::string>{"/some/libnvrtc.so"});
}

TEST_CASE("a card newer than the compiler gets PTX, an older one the reason", "[cuda]") {
  const Nvrtc nvrtc({kFake});
  CHECK(nvrtc.version() == "12.3");
  CHECK(nvrtc.architectures() == std::vector<int>{75, 80});
  CHECK_THAT(nvrtc.compile("text", 80), Contains("--gpu-architecture=sm_80\n"));
  CHECK_THAT(nvrtc.compile("text", 90), Contains("--gpu-architecture=compute_80\n"));
  CHECK_THAT(nvrtc.compile("text", 78), Contains("--gpu-architecture=compute_75\n"));
  CHECK(words_of([&] { nvrtc.compile("text", 70); }) ==
        "NVRTC 12.3 makes no code for sm_70, the least is sm_75");
  const Variable says("FAKE_CUDA_SAYS", "no code");
  CHECK_THAT(words_of([&] { nvrtc.compile("text", 80); }),
             Contains("NVRTC_ERROR_COMPILATION: kdgat.cu(1): error: made up"));
}

TEST_CASE("of a compiler's log a line says the first errors", "[cuda]") {
  CHECK(first_errors("").empty());
  CHECK(first_errors("nothing of the kind\nat all") == "nothing of the kind");
  std::string log = "kdgat.cu(1): warning: this\n";
  for (int line = 2; line < 500; ++line) {
    log += "kdgat.cu(" + std::to_string(line) + "): error: that\n    x = y;\n    ^\n";
  }
  CHECK(first_errors(log) ==
        "kdgat.cu(2): error: that; kdgat.cu(3): error: that; kdgat.cu(4): error: that");
  CHECK(first_errors("error: " + std::string(5000, 'x')).size() < 410);
}

TEST_CASE("what a kernel takes is read from the compiler's log", "[cuda]") {
  std::string log;
  Nvrtc({kFake}).compile("text", 80, &log);
  const std::vector<KernelUse> uses = kernel_uses(log);
  REQUIRE(uses.size() == 1);
  CHECK(uses[0].kernel == "one_float");
  CHECK(uses[0].registers == 40);
  CHECK(uses[0].shared_bytes == 2048);
  CHECK(uses[0].spilled_bytes == 12);
  CHECK(uses[0].stack_bytes == 16);
}

TEST_CASE("compiled kernels are kept for the user alone, and broken ones made anew", "[cuda]") {
  const OwnCache cache;
  const Nvrtc nvrtc({kFake});
  const std::string image = kernel_image(nvrtc, "text", 80);
  REQUIRE(cache.files().size() == 1);
  const fs::path file = cache.files().front();
  CHECK(fs::status(cache.kernels()).permissions() == fs::perms::owner_all);
  {
    const Variable says("FAKE_CUDA_SAYS", "no code");  // so it is read
    CHECK(kernel_image(nvrtc, "text", 80) == image);
    CHECK_THAT(words_of([&] { kernel_image(nvrtc, "other text", 80); }), Contains("made up"));
    CHECK_THAT(words_of([&] { kernel_image(nvrtc, "text", 75); }), Contains("made up"));
  }
  const auto size = fs::file_size(file);
  for (const std::string& broken : {std::string(), std::string("short"), std::string(size, 'x')}) {
    std::ofstream(file, std::ios::trunc) << broken;
    CHECK(kernel_image(nvrtc, "text", 80) == image);
    CHECK(fs::file_size(file) == size);
  }
  fs::permissions(file, fs::perms::group_write, fs::perm_options::add);
  {
    const Variable says("FAKE_CUDA_SAYS", "no code");
    CHECK_THAT(words_of([&] { kernel_image(nvrtc, "text", 80); }), Contains("made up"));
  }
  const Variable nowhere("XDG_CACHE_HOME", "/proc/none");
  CHECK(kernel_image(nvrtc, "text", 80) == image);
}

TEST_CASE("the whole log of a compiler that fails is kept", "[cuda]") {
  const OwnCache cache;
  const Variable says("FAKE_CUDA_SAYS", "no code");
  const std::string words = words_of([] { kernel_image(Nvrtc({kFake}), "text", 80); });
  const fs::path log = cache.kernels() / "compile.log";
  CHECK_THAT(words, Contains("error: made up; all of it: " + log.string()));
  CHECK(words.find('\n') == std::string::npos);
  std::string kept;
  std::getline(std::ifstream(log), kept);
  CHECK(kept == "kdgat.cu(1): error: made up");
  const Variable nowhere("XDG_CACHE_HOME", "/proc/none");
  CHECK_THAT(words_of([] { kernel_image(Nvrtc({kFake}), "text", 80); }), !Contains("all of it"));
}

/// The stand-in as a compiler for newer cards alone.
fs::path newer_compiler(const test::ScratchFolder& folder) {
  fs::path out = folder.path() / "libnvrtc-sm90.so";
  fs::copy_file(kFake, out);
  return out;
}

TEST_CASE("a compiler that does not know the card leaves it to the next", "[cuda]") {
  const OwnCache cache;
  const test::ScratchFolder folder;
  const std::string newer = newer_compiler(folder).string();
  const Variable card("FAKE_CUDA_CARD", "75");
  const Driver driver({kFake});
  const auto open = [&](const std::vector<std::string>& names) {
    return open_card(driver, 0, names, "text", [] { return nullptr; });
  };
  const OpenedCard opened = open({"libnone.so.1", newer, kFake});
  CHECK(opened.words == "NVRTC 12.3 for sm_75");
  const SumArgs<float> nothing{};
  opened.launcher->launch("sum_of_sources", false, {1}, &nothing);
  CHECK(words_of([&] {
          open({newer, "libnone.so.1", "libnone.so.2"});
        }) ==
        "NVRTC 13.5 makes no code for sm_75, the least is sm_90; "
        "cannot open any of libnone.so.1, libnone.so.2");
  const Variable says("FAKE_CUDA_SAYS", "refuses");
  CHECK_THAT(words_of([&] {
               open({newer, kFake});
             }),
             Contains("sm_90; the compiled kernels are not taken: made up"));
}

TEST_CASE("a compiler is found without a card", "[cuda]") {
  const FoundCompiler found = find_compiler({"libnone.so.1", "libc.so.6", kFake});
  CHECK(found.is_there);
  CHECK(found.words == "NVRTC 12.3 compiles for sm_75 to sm_80 (" + kFake + ")");
  const FoundCompiler none = find_compiler({"libc.so.6", "libnone.so.1"});
  CHECK_FALSE(none.is_there);
  CHECK_THAT(none.words,
             Contains("libc.so.6 has no nvrtc") && Contains("; cannot open any of libnone.so.1"));
}

TEST_CASE("a compiler is found only if it compiles", "[cuda]") {
  const Variable says("FAKE_CUDA_SAYS", "no code");
  const FoundCompiler found = find_compiler({kFake});
  CHECK_FALSE(found.is_there);
  CHECK_THAT(found.words, Contains("error: made up"));
}

TEST_CASE("what a compiler asks the loader for by name is opened next to it", "[cuda]") {
  const Variable says("FAKE_CUDA_SAYS", "needs builtins");
  const test::ScratchFolder folder;
  const fs::path compiler = folder.path() / "libnvrtc.so.99";
  fs::copy_file(kFake, compiler);
  CHECK_FALSE(find_compiler({compiler}).is_there);
  std::ofstream(folder.path() / "none.c") << "int none;\n";
  const std::string in = folder.path().string() + "/";
  REQUIRE(std::system(("cc -shared -fPIC -Wl,-soname,libnvrtc-builtins.so.99 -o " + in +
                       "libnvrtc-builtins.so.99 " + in + "none.c")
                          .c_str()) == 0);
  CHECK(find_compiler({compiler}).is_there);
}

TEST_CASE("a card without memory is out of memory, not without kernels", "[cuda]") {
  const OwnCache cache;
  const Driver driver({kFake});
  const auto stream = [] { return nullptr; };
  CardLauncher launcher(driver, 0, "image", stream);
  const Variable says("FAKE_CUDA_SAYS", "full");
  const auto out_of_memory = [](const std::function<void()>& call) -> std::string {
    try {
      call();
    } catch (const std::bad_alloc& error) {
      return error.what();
    }
    return "";
  };
  CHECK(out_of_memory([&] {
          open_card(driver, 0, {kFake, kFake}, "text", stream);
        }) == "the compiled kernels are not taken: out of memory");
  const SumArgs<float> nothing{};
  CHECK(out_of_memory([&] { launcher.launch("sum_of_sources", false, {1}, &nothing); }) ==
        "kernel sum_of_sources_float: out of memory");
}

TEST_CASE("a driver without a card says so", "[cuda]") {
  const Variable says("FAKE_CUDA_SAYS", "no card");
  CHECK(words_of([] { Driver({kFake}); }) ==
        "the driver cannot be used: no CUDA-capable device is detected");
}

TEST_CASE("kernels start on a card with their arguments", "[cuda]") {
  const Variable card("FAKE_CUDA_CARD", "75");
  const Driver driver({kFake});
  CHECK(driver.architecture(0) == 75);
  CHECK(driver.memory(0) == int64_t{24} << 30);
  CHECK(words_of([&] { driver.architecture(1); }) == "device 1: made up");
  CardLauncher launcher(driver, 0, "image", [] { return nullptr; });
  const test::CardGraphs graphs = test::card_graphs({3, 17}, 1);
  const auto x = test::random_numbers<double>(graphs.nodes() * 40, 1, 1);
  std::vector<double> on_card(x.size()), as_loops(x.size());
  ShimLauncher loops;
  for (const bool back : {false, true}) {
    neighbour_sum<double>(launcher, {graphs.edges(), 40, x.data(), on_card.data()}, back);
    neighbour_sum<double>(loops, {graphs.edges(), 40, x.data(), as_loops.data()}, back);
    CHECK(on_card == as_loops);
  }
  const SumArgs<float> nothing{};
  neighbour_sum(launcher, nothing, false);  // no blocks: nothing is started
  CHECK(words_of([&] { launcher.launch("no_such", false, {1}, &nothing); }) ==
        "kernel no_such_float: made up");
  {
    const Variable says("FAKE_CUDA_SAYS", "faults");
    CHECK(words_of([&] { launcher.launch("sum_of_sources", false, {1}, &nothing); }) ==
          "kernel sum_of_sources_float: made up");
  }
  const Variable says("FAKE_CUDA_SAYS", "refuses");
  CHECK(words_of([&] { CardLauncher(driver, 0, "image", [] { return nullptr; }); }) ==
        "the compiled kernels are not taken: made up");
}

/// The compiler of this machine; none, and says so, where none is installed.
std::optional<Nvrtc> installed_nvrtc() {
  std::optional<Nvrtc> out;
  try {
    out.emplace(nvrtc_names({}));
  } catch (const Error& error) {
    std::cout << "skipped: " << error.what() << "\n";
  }
  return out;
}

TEST_CASE("the compiler makes code of every kernel, where it is installed", "[cuda]") {
  const std::optional<Nvrtc> nvrtc = installed_nvrtc();
  if (!nvrtc) return;
  for (const int architecture : {75, 80, 90}) {
    std::string log;
    const std::string image = nvrtc->compile(source_text(), architecture, &log);
    REQUIRE(image.substr(1, 3) == "ELF");
    for (const auto& [kernel, forms] : shim::kernels()) {
      CHECK_THAT(log, Contains("'" + kernel + "_float'") && Contains("'" + kernel + "_double'"));
    }
  }
}

TEST_CASE("products of a cross product are never part of a multiply-add", "[cuda]") {
  const std::optional<Nvrtc> nvrtc = installed_nvrtc();
  if (!nvrtc) return;
  const std::string text = nvrtc->compile(source_text(), 9999);  // PTX, as no compiler knows it
  const std::size_t begin = text.find(".entry path_triplets_float");
  REQUIRE(begin != std::string::npos);
  const std::string_view kernel(text.data() + begin, text.find(".entry", begin + 1) - begin);
  int rounded = 0;
  for (std::size_t at = 0; (at = kernel.find("mul.rn.f32", at)) != std::string_view::npos; ++at) {
    ++rounded;
  }
  CHECK(rounded >= 6);
}

}  // namespace
}  // namespace kdgat::kernels::cuda
