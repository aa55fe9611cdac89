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
      "1532612950.492784,can0,0EE,2,0001000011110001\n",
      "Timestamp: 1479121434.850202  ID: 0350  000  DLC: 2  00 02\n"};
  const std::vector<std::string> tables = {
      "timestamp,arbitration_id,extended,remote,error,dlc,data\n1,0x123,0,0,0,3,AQID\n"
      "2,0x124,0,1,0,5,\n",
      "Timestamp,CAN ID,DLC,DATA[0],DATA[1],DATA[2],Flag\n1.0,0316,3,05,21,68,R\n"
      "1.1,05f0,2,01,00,T,\n",
      "ID,DATA_0,DATA_1,DATA_2,DATA_3,DATA_4,DATA_5,DATA_6,DATA_7,label,category\n"
      "65,96,0,132,0,0,0,0,7,BENIGN,DoS\n",
      "TimestampEpoch;BusChannel;ID;IDE;DLC;DataLength;Dir;EDL;BRS;ESI;RTR;DataBytes\n"
      "1594718410.5;1;71D;0;9;12;1;1;1;0;0;000102030405060708090A0B\n",
      "Index\tDirection\tTimestamp\tID\tFormat\tType\tLength\tData\t\n"
      "0\tReceive\t 23:59:59.500.0\t0x1cebff00\tData\tExtend\t2\tB7 0E \t\n",
      "\"timestamp\",\"id\",\"data\"\n\"2021-03-01T11:00:00.2+01:00\",\"3A6\",\"00-11\"\n",
      "Time Stamp,ID,Extended,Dir,Bus,LEN,D1,D2\n973,0000013B,false,Rx,0,2,00,4C,\n"};
  const std::vector<std::string> dumps = {
      // candump -tA, -x, -td, and with labels
      " (2023-01-01 10:00:00.123456)  can0  123   [2]  00 11\n",
      " (1672567200.5)  can0  RX B -  124  [04]  00 11 22 33\n (1672567200.6)  can0  TX - -  1A0  "
      "[0]  remote request\n",
      " (000.010000)  can0  123   [2]  00 11\n (000.012000)  can0  124   [2]  00 11\n",
      "(1.0) can0 123#00 1\n(1.1) can0 20000004#0004000000000000 0\n"};
  std::vector<std::string> seeds;
  const auto forms = static_cast<char>(log_formats().size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    seeds.push_back(static_cast<char>(i) + texts[i]);
    seeds.push_back(forms + texts[i]);
  }
  for (const std::string& table : tables) seeds.push_back(forms + table);
  for (const std::string& dump : dumps) seeds.push_back(forms + dump);
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
      {test::pcap_of(frames), test::pcap_of(frames, true, true),
       test::pcap_of(frames, false, false, 113), test::pcap_of(frames, false, false, 276, true)},
      {test::pcapng_of(frames), test::pcapng_of(frames, true)},
      {test::mf4_of(frames), test::mf4_of(frames, {true, true}),
       test::mf4_of(frames, {false, true, false}), test::mf4_of(frames, {true, true, true, 2, 64}),
       test::mf4_of(frames, {true, false, true, 1, 64, true})},
      {"date Sat Sep 30 10:06:13.191 PM 2017\nbase hex timestamps absolute\n1.5 1 6F9 Rx d 2 05 "
       "0C\n"
       "2.0 CANFD 2 Rx 11 Name 1 0 9 12 01 02 03 04 05 06 07 08 09 0A 0B 0C\n2.1 1 ErrorFrame\n",
       "date 2017-09-30T15:06:13.191+02:00\nbase dec timestamps relative\nBegin Triggerblock Sat "
       "Sep 30 10:06:13.191 PM 2017\n-0.5 CANXL 2 Rx FBFF 1 2 291 Msg1 1 1 255 a 1 1240\n"
       "1.3 CANFD 1 Rx 125 0 0 4 0 1 2 10 0\nEnd TriggerBlock\n"},
      {";$FILEVERSION=2.1\n;$STARTTIME=25570.5\n;$COLUMNS=N,O,T,B,I,d,R,L,D\n"
       " 1 1.0 FB 1 0300 Rx - 9 00 01 02 03 04 05 06 07 08 09 0A 0B\n",
       ";$FILEVERSION=1.1\n 1) 1841.0 Rx 0001 8 00 01 02 03 04 05 06 07\n",
       ";####\n;   Start time: 24.06.2002 09:07:51.106.0\n 1) 1841 0001 2 00 01\n"},
      {"***BUSMASTER Ver 3.2.2***\n***PROTOCOL CAN***\n***START DATE AND TIME 18:9:2019 "
       "22:17:28:928***\n***HEX***\n***ABSOLUTE MODE***\n00:00:01:1667 Rx 1 0x177 s 2 FE 13 \n",
       "***BUSMASTER Ver 2.4.0***\n***START DATE AND TIME 8:8:2014 "
       "11:49:7:965***\n***DEC***\n***SYSTEM MODE***\n11:49:12:9420 Tx 2 375 xr 1\n"},
      {"1542473901.020305 CXX Info\n1542473901.020305 1R11 7E8 02 41\n1542473901.1 2T29 18DAF110 "
       "03\n"}};
  const auto any = static_cast<char>(log_formats().size());
  for (const std::vector<std::string>& form : forms) {
    std::vector<std::string> seeds;
    for (const std::string& bytes : form) seeds.push_back(any + bytes);
    test::run_mutations(seeds, 20000, 1, fuzz_can_log);
  }
}

}  // namespace
}  // namespace kdgat::data
