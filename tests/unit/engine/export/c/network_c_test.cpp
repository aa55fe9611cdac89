// Networks as C sources: the native engine's bits in every form of the models, with every compiler
// that is there.
#include "engine/export/c/network_c.h"

#include <catch2/catch.hpp>
#include <functional>

#include "engine/model/config/trained_model.h"
#include "kdgat/error.h"
#include "support/can/made_network.h"
#include "support/programs/exported.h"

namespace kdgat::exporting {
namespace {

using test::ExportedFolder;
using test::has_program;
using test::kStrict;
using test::made_ids;
using test::MadeNetwork;
using test::ScratchFolder;
using test::vectors_fault;

/// A threshold in the middle of what made-up networks say, so that windows on both sides of it
/// come.
constexpr double kMiddle = 0.45;

struct Form {
  std::string name;
  std::function<void(const std::filesystem::path&)> write;
};

model::GatConfig small_gat() {
  model::GatConfig out = model::GatConfig::student(0);
  out.hidden = 7;  // fills no vector
  out.heads = 3;
  out.embedding_dim = 5;
  return out;
}

Form of_gat(const std::string& name, const data::WindowShape& shape,
            const std::function<void(model::GatConfig&)>& change, int64_t ids = 40) {
  return {name, [=](const std::filesystem::path& path) {
            model::GatConfig config = small_gat();
            change(config);
            MadeNetwork(made_ids(ids), shape, 7).write(config, path);
          }};
}

Form of_vgae(const std::string& name, const data::WindowShape& shape,
             const std::function<void(model::VgaeConfig&)>& change) {
  return {name, [=](const std::filesystem::path& path) {
            model::VgaeConfig config = model::VgaeConfig::student(0);
            change(config);
            MadeNetwork(made_ids(30), shape, 8).write(config, path);
          }};
}

std::vector<Form> forms() {
  const data::WindowShape whole{100, 100, 0};
  return {
      of_gat("published", whole, [](auto& c) { c = model::GatConfig::student(0); }),
      of_gat("small, overlapping windows", {30, 7, 0}, [](auto&) {}),
      of_gat("windows with gaps", {20, 33, 0}, [](auto& c) { c.norm = "graph"; }),
      of_gat("chunks", {25, 25, 8}, [](auto& c) { c.id_embedding = "unknown"; }),
      of_gat("chunks of two", {16, 16, 2}, [](auto&) {}),
      of_gat("shortest windows", {2, 1, 0}, [](auto& c) { c.layers = 1; }),
      of_gat(
          "no ids", {40, 40, 0}, [](auto& c) { c.fc_layers = 1; }, 0),
      of_gat("hashed, standardised", whole,
             [](auto& c) {
               c.id_embedding = "hashed";
               c.id_buckets = 16;
               c.standardise = true;
             }),
      of_gat("lstm", whole, [](auto& c) { c.jk = "lstm"; }),
      of_gat("lstm over one layer", whole,
             [](auto& c) {
               c.jk = "lstm";
               c.layers = 1;
               c.hidden = 8;
             }),
      of_gat("second kind", whole,
             [](auto& c) {
               c.conv = "gatv2";
               c.standardise = true;
             }),
      of_gat("second kind, lstm, graph norm", {50, 20, 0},
             [](auto& c) {
               c.conv = "gatv2";
               c.jk = "lstm";
               c.norm = "graph";
               c.layers = 3;
             }),
      of_vgae("autoencoder", whole, [](auto&) {}),
      of_vgae("autoencoder, graph norm", {60, 10, 0},
              [](auto& c) {
                c.norm = "graph";
                c.standardise = true;
              }),
      of_vgae("autoencoder, heads that do not divide", whole,
              [](auto& c) {
                c.hidden_dims = {10, 9};
                c.latent_dim = 6;
                c.heads = 4;
                c.id_embedding = "hashed";
              }),
  };
}

CSource source_of(const std::filesystem::path& model, bool int8 = false, bool on_raw = false) {
  const model::TrainedModel made = model::open_model(model);
  NetworkCOptions options;
  options.threshold = on_raw ? 0 : kMiddle;
  options.on_raw = on_raw;
  options.int8 = int8;
  options.hash = "0123";
  return network_c(made.file, made.header, options);
}

CSource source_of(const Form& form, bool int8 = false, bool on_raw = false) {
  const ScratchFolder scratch;
  form.write(scratch / "model.safetensors");
  return source_of(scratch / "model.safetensors", int8, on_raw);
}

TEST_CASE("a network in C has the native engine's bits, in every form", "[export]") {
  for (const Form& form : forms()) {
    for (const bool int8 : {false, true}) {
      INFO(form.name << (int8 ? ", int8" : ""));
      const ExportedFolder folder(source_of(form, int8));
      CHECK(vectors_fault(folder, "gcc -O0 -Wvla" + kStrict) == "");
      CHECK(vectors_fault(folder, "gcc -O3 -Wvla" + kStrict) == "");
    }
  }
}

TEST_CASE("other compilers and machines make the same bits of it", "[export]") {
  const std::vector<Form> all = forms();
  std::vector<std::pair<std::string, std::string>> ways;
  const std::string clang = has_program("clang-14") ? "clang-14" : "clang";
  if (clang == "clang-14" || has_program("clang")) {
    ways.emplace_back(clang + " -O0 -Wvla" + kStrict, "");
    ways.emplace_back(clang + " -O3 -Wvla" + kStrict, "");
  }
  if (has_program("tcc")) ways.emplace_back("tcc -std=c99 -Wall -Werror", "");
  if (has_program("arm-linux-gnueabihf-gcc") && has_program("qemu-arm")) {
    ways.emplace_back("arm-linux-gnueabihf-gcc -static -O3" + kStrict, "qemu-arm");
    ways.emplace_back("arm-linux-gnueabihf-gcc -static -O0 -mfpu=neon-vfpv4" + kStrict, "qemu-arm");
  }
  if (has_program("aarch64-linux-gnu-gcc") && has_program("qemu-aarch64")) {
    ways.emplace_back("aarch64-linux-gnu-gcc -static -O0" + kStrict, "qemu-aarch64");
    ways.emplace_back("aarch64-linux-gnu-gcc -static -O3" + kStrict, "qemu-aarch64");
  }
  for (const std::size_t i : {std::size_t{1}, std::size_t{8}, std::size_t{11}, std::size_t{13}}) {
    const ExportedFolder folder(source_of(all[i], i == 8));
    for (const auto& [compiler, run] : ways) {
      INFO(all[i].name << ": " << compiler);
      CHECK(vectors_fault(folder, compiler, run) == "");
    }
  }
}

TEST_CASE("the check of an export tells a changed weight and a changed score", "[export]") {
  CSource source = source_of(forms()[1], false, true);
  const auto change = [](std::string& text, const std::string& behind) {
    REQUIRE(text.find(behind) != text.npos);
    const std::size_t at = text.find_first_of("123456789", text.find(behind) + behind.size());
    text[at] = text[at] == '9' ? '8' : static_cast<char>(text[at] + 1);
  };
  CHECK(vectors_fault(ExportedFolder(source), "gcc -O1") == "");
  CSource weight = source;
  change(weight.files.at("detector.c"), "kdgat_head_6_bias[2] = {");
  CHECK(vectors_fault(ExportedFolder(weight), "gcc -O1") != "");
  CSource score = source;
  change(score.files.at("vectors.h"), "kdgat_vector_events[] = {\n    {31, ");
  CHECK(vectors_fault(ExportedFolder(score), "gcc -O1") != "");
}

TEST_CASE("an exported network asks for no heap and no libm", "[export]") {
  for (const std::size_t i : {std::size_t{0}, std::size_t{11}, std::size_t{13}}) {
    const ExportedFolder folder(source_of(forms()[i], i == 13));
    for (const std::string level : {"-O0", "-O2", "-O3"}) {
      std::string line = "gcc -ffreestanding -c " + level;
      line += kStrict + "detector.c && nm -u detector.o | awk '{print $2}' | sort";
      const auto said = folder.run(line);
      REQUIRE(said.exit_code == 0);
      std::istringstream lines(said.out);
      for (std::string symbol; lines >> symbol;) {
        INFO(symbol);
        // What a compiler may call of itself, on any machine.
        CHECK((symbol == "memcpy" || symbol == "memmove" || symbol == "memset"));
      }
    }
  }
}

TEST_CASE("a network in C takes frames of any kind", "[export]") {
  const char* wanted = std::getenv("KDGAT_FUZZ_FRAMES");
  const std::string frames = wanted != nullptr ? wanted : "20000";
  const std::filesystem::path fuzzer =
      std::filesystem::absolute("tests/support/programs/export_fuzz.c");
  for (const std::size_t i : {1U, 3U, 5U, 7U, 8U, 10U, 11U, 12U, 13U}) {
    const Form form = forms()[i];
    INFO(form.name);
    const ExportedFolder folder(source_of(form, i == 10));
    const auto run = [&](const std::string& flags) {
      std::string line = "gcc " + flags;
      line += kStrict + " -I. detector.c " + fuzzer.string();
      return folder.run(line.append(" -o fuzz && ./fuzz ").append(frames));
    };
    const auto safe = run("-g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all");
    CHECK(safe.exit_code == 0);
    CHECK(safe.err == "");
    const auto fast = run("-O3");
    CHECK(fast.exit_code == 0);
    CHECK(fast.out == safe.out);
  }
}

TEST_CASE("the header of an export says the state's size, and C++ takes it", "[export]") {
  for (const std::size_t i : {std::size_t{0}, std::size_t{3}, std::size_t{11}, std::size_t{14}}) {
    const CSource source = source_of(forms()[i]);
    const std::string size = std::to_string(source.size.state_bytes);
    CHECK(source.files.at("detector.h").find(" " + size + " bytes: all that is written to") !=
          std::string::npos);
    const ExportedFolder folder(source);
    std::ofstream(folder / "size.cpp") << "#include <cstdio>\n#include \"detector.h\"\n"
                                          "static kdgat_state state;\n"
                                          "int main() {\n  kdgat_init(&state);\n"
                                          "  std::printf(\"%zu\", sizeof(state));\n}\n";
    const auto said = folder.run(
        "gcc -c detector.c && g++ -Wall -Wextra -Werror -pedantic size.cpp "
        "detector.o -o size && ./size");
    CHECK(said.err == "");
    CHECK(said.out == size);
    const auto flash =
        folder.run("gcc -O2 -c detector.c && size detector.o | awk 'NR == 2 {print $1 + $2}'");
    CHECK(std::abs(std::stol(flash.out) - source.size.flash_bytes) < 3000);
  }
}

TEST_CASE("an exported folder builds by itself, for ESP-IDF and for Zephyr", "[export]") {
  const ExportedFolder folder(source_of(forms()[1]));
  const auto host = folder.run(
      "cmake -B build > /dev/null && cmake --build build > /dev/null && "
      "ctest --test-dir build && build/detect --windows < /dev/null");
  CHECK(host.out.find("100% tests passed") != std::string::npos);
  CHECK(host.err.find("no frame on standard input") != std::string::npos);
  // What these two make available, in as many words as are needed.
  const std::string head = "cmake_minimum_required(VERSION 3.13)\nproject(other C)\n";
  const std::string esp = head + R"(
set(ESP_PLATFORM 1)
function(idf_component_register)
  cmake_parse_arguments(A "" "" "SRCS;INCLUDE_DIRS" ${ARGN})
  add_library(component STATIC ${A_SRCS})
  set(COMPONENT_LIB component PARENT_SCOPE)
endfunction()
add_subdirectory(../part part)
)";
  const std::string zephyr = head + R"(
set(Zephyr_FOUND 1)
add_library(of_all INTERFACE)
function(zephyr_include_directories)
  target_include_directories(of_all INTERFACE ${ARGN})
endfunction()
function(zephyr_library_named name)
  add_library(${name} STATIC)
  set(ZEPHYR_CURRENT_LIBRARY ${name} PARENT_SCOPE)
endfunction()
macro(zephyr_library_sources)
  target_sources(${ZEPHYR_CURRENT_LIBRARY} PRIVATE ${ARGN})
endmacro()
macro(zephyr_library_compile_options)
  target_compile_options(${ZEPHYR_CURRENT_LIBRARY} PRIVATE ${ARGN})
endmacro()
add_subdirectory(../part part)
)";
  for (const auto& [name, text] : {std::pair("esp", esp), std::pair("zephyr", zephyr)}) {
    std::filesystem::create_directory(folder / name);
    std::ofstream(folder / name / "CMakeLists.txt") << text;
    const auto said =
        folder.run("mkdir -p part && cp *.c *.h CMakeLists.txt part/ && cmake -S " +
                   std::string(name) + " -B of_" + name + " && cmake --build of_" + name);
    INFO(said.out << said.err);
    CHECK(said.exit_code == 0);
  }
}

TEST_CASE("int8 takes a quarter of the room, and its rounded model is what it computes",
          "[export]") {
  const ScratchFolder scratch;
  forms()[0].write(scratch / "model.safetensors");
  const auto size_of = [](const CSource& source) {
    const ExportedFolder folder(source);
    const auto said =
        folder.run("gcc -Os -c detector.c && size detector.o | awk 'NR == 2 {print $1}'");
    return std::stol(said.out);
  };
  const CSource floats = source_of(scratch / "model.safetensors");
  const CSource bytes = source_of(scratch / "model.safetensors", true);
  CHECK(size_of(bytes) < size_of(floats) / 3);
  const model::TrainedModel made = model::open_model(scratch / "model.safetensors");
  write_rounded(made.file, made.header, scratch / "rounded.safetensors");
  CHECK(source_of(scratch / "rounded.safetensors").files.at("vectors.h") ==
        bytes.files.at("vectors.h"));
  CHECK(floats.files.at("vectors.h") != bytes.files.at("vectors.h"));
}

TEST_CASE("an export takes no name of its other files or of a header of C", "[export]") {
  for (const char* good : {"detector", "my_net2", "Main"}) CHECK(c_name_problem(good) == "");
  for (const char* bad : {"", "1st", "a-b", "main", "check", "vectors", "string", "stdint"}) {
    INFO(bad);
    CHECK_FALSE(c_name_problem(bad).empty());
  }
}

TEST_CASE("what cannot be exported says which part and what to do", "[export]") {
  const ScratchFolder scratch;
  const std::filesystem::path path = scratch / "model.safetensors";
  const auto message = [&](const std::function<void(NetworkCOptions&)>& change,
                           const std::string& name = "") -> std::string {
    model::TrainedModel made = model::open_model(path);
    if (!name.empty()) made.header.name = name;
    NetworkCOptions options;
    change(options);
    try {
      network_c(made.file, made.header, options);
    } catch (const Error& error) {
      return error.diagnostics().front().text();
    }
    return "";
  };
  const auto nothing = [](NetworkCOptions&) {};
  forms()[1].write(path);
  CHECK(message(nothing) == "");
  CHECK_THAT(message(nothing, "fusion"),
             Catch::Contains("a fusion joins two networks") && Catch::Contains("each by itself"));
  CHECK_THAT(message(nothing, "textgcn"), Catch::Contains("no network of windows"));
  CHECK_THAT(message([](auto& o) { o.name = "my detector"; }), Catch::Contains("'my detector'"));
  CHECK_THAT(message([](auto& o) { o.name = "2nd"; }), Catch::Contains("'2nd'"));
  CHECK_THAT(message([](auto& o) { o.threshold = std::nan(""); }),
             Catch::Contains("threshold is no number"));
  MadeNetwork(made_ids(5), {kMostRows + 1, 100, 0}, 1).write(small_gat(), path);
  CHECK_THAT(message(nothing),
             Catch::Contains("windows of 4097 frames") && Catch::Contains("window=4096 or less"));
  {  // a byte of a weight, behind what its hash was made of
    forms()[1].write(path);
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-5, std::ios::end);
    file.put('x');
  }
  CHECK_THAT(message(nothing), Catch::Contains("differs from its hash"));
}

}  // namespace
}  // namespace kdgat::exporting
