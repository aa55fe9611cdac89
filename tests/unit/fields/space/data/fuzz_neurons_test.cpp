#include <catch2/catch.hpp>

#include "support/graphs/tar_text.h"
#include "support/programs/mutate.h"

// The fuzz target itself, under a name of its own so that several may stand in one program.
#define LLVMFuzzerTestOneInput fuzz_neurons
#include "fuzz/fuzz_neurons.cpp"
#undef LLVMFuzzerTestOneInput

namespace kdgat::space {
namespace {

TEST_CASE("mutated neurons and archives are refused or read as trees", "[swc][tar]") {
  const std::string neuron =
      "# SCALE 1 2 3\n1 1 0 0 0 2 -1\n2 3 1.5 0 0 1 1\n3 3 2 1e1 0 0.5 2\n4 2 0 -1 0 1 1\n";
  const std::string archive = test::tar_entry("a.swc", neuron) +
                              test::tar_entry("x", test::pax_record("path", "long/b.swc"), 'x') +
                              test::tar_entry("b.swc", neuron) +
                              test::tar_entry("n", "c.swc", 'L') +
                              test::tar_entry("c.swc", neuron) + test::tar_end();
  std::vector<std::string> seeds;
  for (const int repairs : {0, 1, 3, 4, 8, 15}) {
    seeds.push_back(static_cast<char>(repairs) + neuron);
    seeds.push_back(static_cast<char>(128 + repairs) + archive);
  }
  test::run_mutations(seeds, 20000, 1, fuzz_neurons);
}

}  // namespace
}  // namespace kdgat::space
