// Made-up trees and points, which every release makes of the same bytes.
#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "support/graphs/import_options.h"
#include "support/programs/folder_bytes.h"

using namespace kdgat::graph;
using kdgat::test::bytes_below;

TEST_CASE("synthetic trees and points are the same bytes for the same seed", "[synth]") {
  const auto hash = [](const std::map<std::string, std::string>& files) {
    uint64_t value = 0xCBF29CE484222325ULL;
    for (const auto& [name, text] : files) {
      for (const char c : name + text) {
        value = (value ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
      }
    }
    return value;
  };
  // When these change on purpose, raise kSynthVersion and put the new numbers here.
  const std::map<std::string, uint64_t> known = {{"tree", 0x6CA21E7B54E92D6ULL},
                                                 {"superpixel", 0xEEC4105A89015F29ULL}};
  for (const auto& [kind, wanted] : known) {
    INFO(kind);
    const kdgat::test::ScratchFolder a, b;
    SynthOptions options;
    options.kind = kind;
    options.graphs = 5;
    options.nodes = 60;
    write_synthetic(a.path(), options);
    CHECK(hash(bytes_below(a.path())) == wanted);
    options.seed = 2;
    write_synthetic(b.path(), options);
    CHECK(hash(bytes_below(b.path())) != wanted);
  }
}

TEST_CASE("a cancelled synthesis of graphs ends", "[synth]") {
  const kdgat::test::ScratchFolder folder;
  for (const char* kind : {"tree", "superpixel"}) {
    SynthOptions options;
    options.kind = kind;
    CHECK_THROWS_AS(write_synthetic(folder.path(), options, [] { return true; }), kdgat::Error);
  }
}

TEST_CASE("the options of made-up trees are those that change them", "[synth]") {
  SynthOptions tree;
  tree.kind = "tree";
  const nlohmann::json before = synth_identity(tree);
  tree.seconds = 5;
  CHECK(synth_identity(tree) == before);
  tree.nodes = 5;
  CHECK(synth_identity(tree) != before);
}
