// What an installed tree must do: another LibTorch in it is refused before a plugin is opened, and
// nothing in it names the folder that it was built in.
#include <catch2/catch.hpp>
#include <fstream>
#include <string>

#include "support/programs/cli.h"

namespace {

using Catch::Contains;

fs::path built() { return fs::absolute(kdgat_binary()).parent_path(); }

/// A tree of the program with libraries in the place of LibTorch's that say they are of a version.
class Tree {
 public:
  explicit Tree(const std::string& version, const std::string& flags = "") {
    fs::create_directories(path() / "lib/torch");
    fs::copy_file(built() / "kdgat", path() / "kdgat");
    for (const char* name :
         {"lib/libkdgat_graph.so", "lib/libkdgat_engine.so", "plugins", "profiles"}) {
      fs::create_symlink(built() / name, path() / name);
    }
    std::ofstream(scratch_ / "libtorch.cpp")
        << "#include <string>\nnamespace at { std::string show_config() {\n  return \"PyTorch "
           "built with:\\n  - Build settings: BLAS_INFO=mkl, TORCH_VERSION="
        << version << ", USE_CUDA=0, \\n\"; } }\n";
    std::ofstream(scratch_ / "c10.cpp") << "";
    const CommandResult made = run_shell(
        "c++ -shared -fPIC " + flags + " libtorch.cpp -o tree/lib/torch/libtorch_cpu.so && " +
            "c++ -shared -fPIC c10.cpp -o tree/lib/torch/libc10.so",
        scratch_.path());
    INFO(made.err);
    REQUIRE(made.exit_code == 0);
  }
  fs::path path() const { return scratch_.path() / "tree"; }
  CommandResult run(const std::string& words) const {
    return run_shell("tree/kdgat " + words, scratch_.path());
  }

 private:
  ScratchFolder scratch_;
};

/// "2.13.0" of what the stages are built for.
std::string version_built_for() {
  const std::string list = run_kdgat("plugins show curriculum --json", fs::current_path()).out;
  const std::size_t at = list.find("libtorch ") + std::string("libtorch ").size();
  return list.substr(at, list.find_first_of(" +\"", at) - at);
}

}  // namespace

TEST_CASE("a LibTorch of another version is refused before a plugin is opened", "[cli]") {
  const Tree tree("2.99.0");
  const CommandResult result = tree.run("open-plugin tree/plugins/kdgat_curriculum.so");
  CHECK(result.exit_code == 4);
  CHECK_THAT(result.err,
             Contains("tree/lib/torch is version 2.99.0, the stages are built for " +
                      version_built_for()) &&
                 Contains("pip install torch==" + version_built_for()) &&
                 Contains("+torch2.99.0-*.whl (scripts/package/wheel --torch 2.99.0 ") &&
                 !Contains("undefined symbol"));
  const CommandResult doctor = tree.run("doctor");
  CHECK(doctor.exit_code != 0);
  CHECK_THAT(doctor.out, Contains("fail  LibTorch") && Contains("is version 2.99.0"));
  const CommandResult run = tree.run("run --preset smoke --until autoencoder");
  CHECK(run.exit_code == 4);
  CHECK_THAT(run.err, Contains("is version 2.99.0"));
}

TEST_CASE("a LibTorch with another C++ ABI is refused", "[cli]") {
  const Tree tree(version_built_for(), "-D_GLIBCXX_USE_CXX11_ABI=0");
  const CommandResult result = tree.run("open-plugin tree/plugins/kdgat_curriculum.so");
  CHECK(result.exit_code == 4);
  CHECK_THAT(result.err, Contains("built with another C++ ABI"));
}

TEST_CASE("a file that is no library in LibTorch's place is named", "[cli]") {
  const Tree tree("2.99.0");
  std::ofstream(tree.path() / "lib/torch/libtorch_cpu.so") << "hello";
  const CommandResult result = tree.run("open-plugin tree/plugins/kdgat_curriculum.so");
  CHECK(result.exit_code == 4);
  CHECK_THAT(result.err, Contains("cannot load LibTorch") && Contains("libtorch_cpu.so"));
}

TEST_CASE("no binary names the folder it was built in, and LD_LIBRARY_PATH does not win", "[cli]") {
  for (const char* name : {"kdgat", "lib/libkdgat_graph.so", "lib/libkdgat_engine.so",
                           "plugins/kdgat_classifier.so"}) {
    INFO(name);
    const std::string dynamic =
        run_shell("readelf -d '" + (built() / name).string() + "'", fs::current_path()).out;
    CHECK_THAT(dynamic, Contains("(RPATH)") && Contains("[$ORIGIN") && !Contains("(RUNPATH)") &&
                            !Contains(":/") && !Contains("[/"));
  }
  const ScratchFolder other;
  for (const char* name : {"libc10.so", "libtorch_cpu.so", "libgomp.so.1"}) {
    std::ofstream(other / name) << "no library";
  }
  const CommandResult result =
      run_shell("LD_LIBRARY_PATH='" + other.path().string() + "' '" + (built() / "kdgat").string() +
                    "' open-plugin '" + (built() / "plugins/kdgat_curriculum.so").string() + "'",
                other.path());
  INFO(result.err);
  CHECK(result.exit_code == 0);
}

TEST_CASE("man pages and completions are written for every verb", "[cli]") {
  const ScratchFolder share;
  REQUIRE(run_kdgat("write-texts .", share.path()).exit_code == 0);
  for (const char* name : {"man/man1/kdgat.1", "man/man1/kdgat-run.1", "man/man1/kdgat-score.1",
                           "bash-completion/completions/kdgat", "zsh/site-functions/_kdgat",
                           "fish/vendor_completions.d/kdgat.fish"}) {
    INFO(name);
    CHECK(fs::file_size(share / name) > 500);
  }
  // What roff would take for a request must not begin a line of its own.
  const CommandResult checked = run_shell(
      "grep -hE '^[.]' man/man1/*.1 | grep -vE '^[.](TH|SH|nf|fi|BR)( |$)'", share.path());
  CHECK(checked.out.empty());
  CHECK(run_shell("bash -n bash-completion/completions/kdgat", share.path()).exit_code == 0);
}

TEST_CASE("the SBOM that is installed lists what version --all lists", "[cli]") {
  const ScratchFolder share;
  REQUIRE(run_kdgat("write-texts .", share.path()).exit_code == 0);
  const auto bill = nlohmann::json::parse(std::ifstream(share / "doc/kdgat/kdgat.cdx.json"));
  const auto version = nlohmann::json::parse(run_kdgat("version --all --json", share.path()).out);
  CHECK(bill.at("bomFormat") == "CycloneDX");
  CHECK(bill.at("metadata").at("component").at("version") == version.at("kdgat"));
  const auto& components = bill.at("components");
  const auto& libraries = version.at("libraries");
  REQUIRE(components.size() == libraries.size());
  CHECK(libraries.size() >= 11);
  const std::string page = read_text(share / "doc/kdgat/THIRD_PARTY.md");
  for (std::size_t i = 0; i < libraries.size(); ++i) {
    INFO(libraries[i]);
    CHECK(components[i].at("name") == libraries[i].at("name"));
    CHECK(components[i].at("version") == libraries[i].at("version"));
    CHECK(components[i].at("licenses")[0].at("license").at("id") == libraries[i].at("licence"));
    CHECK(components[i].value("purl", "") == libraries[i].at("purl"));
    CHECK_THAT(page, Contains("| " + libraries[i].at("name").get<std::string>() + " | " +
                              libraries[i].at("version").get<std::string>() + " |"));
  }
}
