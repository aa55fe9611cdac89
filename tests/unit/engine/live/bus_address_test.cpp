#include "engine/live/bus_address.h"

#include <catch2/catch.hpp>

#include "support/can/log_text.h"

namespace kdgat::live {
namespace {

std::string usage_error(const std::string& text) {
  return test::error_of([&] { bus_address(text); }, ExitCode::kUsage);
}

TEST_CASE("a bus is an interface or a UDP port", "[bus_address]") {
  CHECK_FALSE(bus_address("can0").is_udp());
  CHECK(bus_address("can0").name == "can0");
  const BusAddress local = bus_address("udp:127.0.0.1:0");
  CHECK(local.is_udp());
  CHECK(local.host == "127.0.0.1");
  CHECK(local.port == "0");
  const BusAddress six = bus_address("udp:[fe80::1]:29536");
  CHECK(six.host == "fe80::1");
  CHECK(six.port == "29536");
}

TEST_CASE("what can be no bus is refused by its name", "[bus_address]") {
  for (const char* text :
       {"", "an-interface-of-16", "can/0", "can 0", "udp:", "udp:localhost", "udp::5", "udp:::1:5",
        "udp:h:", "udp:h:65536", "udp:h:-1", "udp:h:5x"}) {
    INFO(text);
    CHECK(usage_error(text).starts_with("\"" + std::string(text) + "\" "));
  }
}

TEST_CASE("buses of one reader are few and different", "[bus_address]") {
  const auto fault = [](const std::vector<std::string>& texts) {
    return test::error_of([&] { bus_addresses(texts); }, ExitCode::kUsage);
  };
  CHECK(fault({}).starts_with("no bus is named"));
  CHECK(fault({"can0", "can1", "can0"}).starts_with("\"can0\" is named twice"));
  std::vector<std::string> many;
  for (int i = 0; i < 8; ++i) many.push_back("can" + std::to_string(i));
  CHECK(bus_addresses(many).size() == 8);
  many.push_back("can8");
  CHECK(fault(many).starts_with("9 buses are named\n"));
  CHECK(bus_addresses({"udp:127.0.0.1:0", "udp:127.0.0.1:0"}).size() == 2);
}

TEST_CASE("a filter wants the ids that equal its own where its mask has ones", "[bus_address]") {
  const std::vector<can_filter> standard = {id_filter("120:7F0")};
  CHECK(is_wanted(0x12F, standard));
  CHECK_FALSE(is_wanted(0x130, standard));
  CHECK_FALSE(is_wanted(0x120 | CAN_EFF_FLAG, standard));
  const std::vector<can_filter> both = {id_filter("007:7FF"), id_filter("18FEF100:1FFFFF00")};
  CHECK(is_wanted(0x18FEF1AA | CAN_EFF_FLAG, both));
  CHECK_FALSE(is_wanted(0x18FEF2AA | CAN_EFF_FLAG, both));
  CHECK(is_wanted(0x123, {}));
}

TEST_CASE("what is no filter is refused", "[bus_address]") {
  for (const char* text : {"", "123", ":7FF", "123:", "123:7FG", "1234:7FF", "800:7FF",
                           "FFFFFFFF:0", "123:7FF ", "123:1FFFFFFFFF"}) {
    INFO(text);
    CHECK(test::error_of([&] { id_filter(text); }, ExitCode::kUsage).find("no filter") !=
          std::string::npos);
  }
}

}  // namespace
}  // namespace kdgat::live
