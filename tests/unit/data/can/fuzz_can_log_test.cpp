#include <catch2/catch.hpp>

#include "support/mutate.h"

// The fuzz target itself, under a name of its own so that several may stand in one program.
#define LLVMFuzzerTestOneInput fuzz_can_log
#include "fuzz/fuzz_can_log.cpp"
#undef LLVMFuzzerTestOneInput

namespace kdgat::graph {
namespace {

TEST_CASE("mutated logs of every form are refused or read within bounds", "[can_log]") {
  const std::vector<std::string> texts = {
      "timestamp,arbitration_id,data_field,attack\n1.5,1E5,460196E001FE6701,0\n2.5,0F9,,1\n",
      "1513920236.608807,0189,7,8F,FF,0F,FF,2F,FF,2D,R\n1513920237,0189,0,T\n",
      "(1.0) can0 1A0#0011\n(2.0) can0 0CF00400##1001122\n(3.0) can0 123#R8\n",
      " (008.63)  can0  0CF00400   [8]  00 7D 83 AA 16 00 0F 83\n can0 123 [0]\n",
      "852,32,10,0,0,0,2,116,128,0.0\n852,32,10,0,0,0,2,116,128,1\n",
      "timestamp,CAN_ID,DLC,PAYLOAD_HEX,PAYLOAD_BIN,ANOMALY\n9e-06,1D0,8,61,01100001,False\n",
      "Time,IntID1,IntID2,DLC,IntData1,IntData2,IntData3,IntData4,IntData5,IntData6,IntData7,"
      "IntData8,Label\n15.6,128,0,8,0,23,72,10,33,26,33,77,0\n",
      "(0.0) can0 110#02202e13 False\tTrue\n",
      "1532612950.492784,can0,0EE,2,0001000011110001\n"};
  std::vector<std::string> seeds;
  const auto forms = static_cast<char>(log_formats().size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    seeds.push_back(static_cast<char>(i) + texts[i]);
    seeds.push_back(forms + texts[i]);
  }
  test::run_mutations(seeds, 20000, 1, fuzz_can_log);
}

}  // namespace
}  // namespace kdgat::graph
