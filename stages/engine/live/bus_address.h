// What a bus is called on the command line: an interface, or a UDP port that frames come to; and
// which ids are wanted of it. Opens nothing.
#pragma once

#include <linux/can.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kdgat::live {

struct BusAddress {
  std::string name;  ///< as it was given
  /// Of "udp:HOST:PORT", else empty. HOST may be a name, an IPv4 address, or one of IPv6 in
  /// brackets; PORT 0 lets the system choose.
  std::string host, port;

  bool is_udp() const { return !port.empty(); }
};

/// Throws Error(kUsage) for what can be neither.
BusAddress bus_address(const std::string& text);
/// One for each channel. Throws Error(kUsage) also for none, too many, or one that is named twice.
std::vector<BusAddress> bus_addresses(const std::vector<std::string>& texts);

/// "ID:MASK" in hex, as candump has them: wanted is what equals ID in the bits of MASK. ID has up
/// to 3 digits for ids of 11 bits and 8 for those of 29; one kind never stands for the other.
/// Throws Error(kUsage).
can_filter id_filter(std::string_view text);
/// What the kernel does with the filters of a socket: none wants all.
bool is_wanted(canid_t id, std::span<const can_filter> filters);

}  // namespace kdgat::live
