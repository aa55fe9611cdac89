#include <catch2/catch.hpp>

#include "support/graphs/npz_text.h"
#include "support/programs/mutate.h"

// The fuzz target itself, under a name of its own so that several may stand in one program.
#define LLVMFuzzerTestOneInput fuzz_graphs
#include "fuzz/fuzz_graphs.cpp"
#undef LLVMFuzzerTestOneInput

namespace kdgat::data {
namespace {

TEST_CASE("mutated archives of arrays are refused or read as graphs", "[graphs]") {
  std::vector<std::string> seeds;
  for (const bool deflated : {false, true}) {
    for (const bool is_wide : {false, true}) {
      seeds.push_back(static_cast<char>(deflated) +
                      test::npz(test::small_npz(), deflated, is_wide));
    }
  }
  test::run_mutations(seeds, 10000, 1, fuzz_graphs);
}

TEST_CASE("mutated tables and TUDataset files are refused or read as graphs", "[graphs]") {
  const std::string tables =
      "graph,label,split,group\na,yes,train,p\nb,no,test,\nc,yes,,q\n--\n"
      "graph,node,size\nb,n1,1\na,n1,2\na,n2,3e1\nc,7,4\n--\n"
      "graph,source,target,weight\na,n2,n1,7\na,n2,n2,1\na,n2,n1,9\n";
  const std::string tu =
      "1, 2\n2, 1\n4, 3\n--\n1\n1\n2\n2\n3\n--\n1\n-1\n1\n--\n3\n0\n3\n3\n9\n--\n"
      "0.5,1\n1,1\n2,1\n3,1\n4,-1e3\n--\n0.5\n1\n2\n";
  std::vector<std::string> seeds;
  for (const int undirected : {0, 1}) {
    seeds.push_back(static_cast<char>(64 + undirected) + tables);
    seeds.push_back(static_cast<char>(128 + undirected) + tu);
  }
  test::run_mutations(seeds, 1000, 2, fuzz_graphs);
}

}  // namespace
}  // namespace kdgat::data
