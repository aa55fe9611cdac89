#include <catch2/catch.hpp>

#include "support/can/log_forms.h"
#include "support/can/mf4_writer.h"
#include "support/programs/mutate.h"

// The fuzz target itself, under a name of its own so that several may stand in one program.
#define LLVMFuzzerTestOneInput fuzz_can_log
#include "fuzz/fuzz_can_log.cpp"
#undef LLVMFuzzerTestOneInput

namespace kdgat::data {
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

/// A frame of each kind.
std::vector<CanFrame> some_frames() {
  std::vector<CanFrame> out(4);
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i].time = static_cast<double>(i) + 0.5;
    out[i].id = 0x100 + static_cast<uint32_t>(i);
    out[i].length = static_cast<uint8_t>(4 * i);
    out[i].fd = out[i].length > 8;
    out[i].extended = i % 2 == 1;
    out[i].remote = i == 0;
    out[i].channel = static_cast<uint8_t>(i % 2);
    std::fill_n(out[i].payload.begin(), out[i].length, uint8_t{0x5a});
  }
  return out;
}

TEST_CASE("mutated logs of forms of their own are refused or read within bounds", "[can_log]") {
  const std::vector<CanFrame> frames = some_frames();
  const std::vector<std::vector<std::string>> forms = {
      {test::blf_of(frames, {false}), test::blf_of(frames, {true, false}), test::blf_of(frames)},
      {test::pcap_of(frames), test::pcap_of(frames, true, true)},
      {test::pcapng_of(frames), test::pcapng_of(frames, true)},
      {test::mf4_of(frames), test::mf4_of(frames, {true, true}),
       test::mf4_of(frames, {false, true, false}), test::mf4_of(frames, {true, true, true, 2, 64}),
       test::mf4_of(frames, {true, false, true, 1, 64, true})},
      {"date Sat Sep 30 10:06:13.191 PM 2017\nbase hex timestamps absolute\n1.5 1 6F9 Rx d 2 05 "
       "0C\n"
       "2.0 CANFD 2 Rx 11 Name 1 0 9 12 01 02 03 04 05 06 07 08 09 0A 0B 0C\n2.1 1 ErrorFrame\n"},
      {";$FILEVERSION=2.1\n;$STARTTIME=25570.5\n;$COLUMNS=N,O,T,B,I,d,R,L,D\n"
       " 1 1.0 FB 1 0300 Rx - 9 00 01 02 03 04 05 06 07 08 09 0A 0B\n",
       ";$FILEVERSION=1.1\n 1) 1841.0 Rx 0001 8 00 01 02 03 04 05 06 07\n"}};
  const auto any = static_cast<char>(log_formats().size());
  for (const std::vector<std::string>& form : forms) {
    std::vector<std::string> seeds;
    for (const std::string& bytes : form) seeds.push_back(any + bytes);
    test::run_mutations(seeds, 20000, 1, fuzz_can_log);
  }
}

}  // namespace
}  // namespace kdgat::data
