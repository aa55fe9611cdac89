#include "engine/live/bus_address.h"

#include <net/if.h>

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "engine/data/can/frames/can_frame.h"
#include "kdgat/error.h"

namespace kdgat::live {
namespace {

constexpr std::string_view kUdp = "udp:";
constexpr int kMostPort = 65535;

template <class T>
bool read_whole(std::string_view text, T& number, int base) {
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return fault == std::errc() && end == text.data() + text.size();
}

[[noreturn]] void refuse(const std::string& text, const std::string& fault) {
  throw Error(ExitCode::kUsage, "\"" + text + "\" " + fault,
              "name an interface, as can0 (`ip -br link` lists them), or udp:HOST:PORT");
}

}  // namespace

BusAddress bus_address(const std::string& text) {
  BusAddress address{text, "", ""};
  if (text.starts_with(kUdp)) {
    const std::string rest = text.substr(kUdp.size());
    const std::size_t colon = rest.rfind(':');
    if (colon == std::string::npos || colon == 0) refuse(text, "has no host and port");
    address.host = rest.substr(0, colon);
    address.port = rest.substr(colon + 1);
    if (address.host.front() == '[' && address.host.back() == ']') {
      address.host = address.host.substr(1, address.host.size() - 2);
    } else if (address.host.find(':') != std::string::npos) {
      refuse(text, "needs brackets around its IPv6 address");
    }
    uint32_t port = 0;
    if (!read_whole(address.port, port, 10) || port > kMostPort) refuse(text, "has no such port");
    return address;
  }
  const bool is_odd = text.find_first_of("/: \t\n") != std::string::npos;
  if (text.empty() || text.size() >= IFNAMSIZ || is_odd) refuse(text, "can be no interface");
  return address;
}

std::vector<BusAddress> bus_addresses(const std::vector<std::string>& texts) {
  if (texts.empty()) throw Error(ExitCode::kUsage, "no bus is named", "can0, or udp:HOST:PORT");
  if (texts.size() > data::kMostChannels) {
    throw Error(ExitCode::kUsage, std::to_string(texts.size()) + " buses are named",
                "at most " + std::to_string(data::kMostChannels) + " are read together");
  }
  std::vector<BusAddress> out;
  for (const std::string& text : texts) {
    // Two ports of the system's choice are two buses.
    const bool is_twice = std::count(texts.begin(), texts.end(), text) > 1;
    out.push_back(bus_address(text));
    if (is_twice && out.back().port != "0") refuse(text, "is named twice");
  }
  return out;
}

can_filter id_filter(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view id = text.substr(0, colon);
  can_filter out{};
  const bool is_extended = id.size() == 8;
  if (colon == std::string_view::npos || !(is_extended || (!id.empty() && id.size() <= 3)) ||
      !read_whole(id, out.can_id, 16) || !read_whole(text.substr(colon + 1), out.can_mask, 16) ||
      out.can_id > (is_extended ? CAN_EFF_MASK : CAN_SFF_MASK)) {
    throw Error(
        ExitCode::kUsage, "\"" + std::string(text) + "\" is no filter of ids",
        "ID:MASK in hex, as 123:7FF, or 18FEF100:1FFFFF00 with 8 digits for ids of 29 bits");
  }
  if (is_extended) out.can_id |= CAN_EFF_FLAG;
  out.can_mask = (out.can_mask & CAN_EFF_MASK) | CAN_EFF_FLAG;
  return out;
}

bool is_wanted(canid_t id, std::span<const can_filter> filters) {
  return filters.empty() || std::any_of(filters.begin(), filters.end(), [&](const can_filter& f) {
           return (id & f.can_mask) == (f.can_id & f.can_mask);
         });
}

}  // namespace kdgat::live
