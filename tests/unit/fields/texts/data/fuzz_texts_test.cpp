#include <catch2/catch.hpp>

#include "support/programs/mutate.h"

// The fuzz target itself, under a name of its own so that several may stand in one program.
#define LLVMFuzzerTestOneInput fuzz_texts
#include "fuzz/fuzz_texts.cpp"
#undef LLVMFuzzerTestOneInput

namespace kdgat::texts {
namespace {

TEST_CASE("mutated texts are read as words, mutated tables as rows", "[text_clean]") {
  std::vector<std::string> seeds;
  for (const char form : {'\0', '\1', '\2'}) {
    seeds.push_back(
        form + std::string("It's Part 1 of 3, don't (see http://a.org/x) begin 644 f.gif "
                           "M!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!! ` end caf\xc3\xa9 \xe2\x82\xac!"));
  }
  seeds.push_back("\3text,label\n\"one\ntwo, \"\"three\"\"\",a\r\nfour,b\n\n\"\",\"\"\n");
  seeds.push_back("\7Sentence\tlabel\n\"one\ttwo; three\"\ta\nfour\tb\n");
  test::run_mutations(seeds, 6000, 1, fuzz_texts);
}

}  // namespace
}  // namespace kdgat::texts
