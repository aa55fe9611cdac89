// Writers of logs in binary forms, each from its public description and independent of the readers.
// Slow and plain: the bytes are appended one field after another.
#pragma once

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "engine/data/can/frames/can_frame.h"

namespace kdgat::test {

using data::CanFrame;

template <typename T>
void put(std::string& out, std::type_identity_t<T> value, bool is_big = false) {
  std::string bytes(reinterpret_cast<const char*>(&value), sizeof(T));
  if (is_big) bytes = {bytes.rbegin(), bytes.rend()};
  out += bytes;
}

inline void put_payload(std::string& out, const CanFrame& frame, std::size_t padded) {
  const std::string all(reinterpret_cast<const char*>(frame.payload.data()), frame.payload.size());
  out += all.substr(0, padded);
}

inline std::string deflated(const std::string& bytes) {
  uLongf size = compressBound(bytes.size());
  std::string out(size, '\0');
  compress(reinterpret_cast<Bytef*>(out.data()), &size,
           reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  out.resize(size);
  return out;
}

// ---- BLF

struct BlfWriting {
  bool in_containers = true, is_packed = true, in_tens_of_microseconds = false;
  std::size_t container_bytes = 1000;  ///< objects reach from one to the next
};

inline std::string blf_object(uint32_t type, const std::string& body, uint64_t ticks,
                              uint32_t flags) {
  std::string out = "LOBJ";
  put<uint16_t>(out, 32);
  put<uint16_t>(out, 1);
  put<uint32_t>(out, static_cast<uint32_t>(32 + body.size()));
  put<uint32_t>(out, type);
  put<uint32_t>(out, flags);
  put<uint32_t>(out, 0);
  put<uint64_t>(out, ticks);
  out += body;
  return out + std::string(body.size() % 4, '\0');
}

/// The smallest code of CAN FD whose length holds the payload.
inline uint8_t code_of(const CanFrame& frame) {
  constexpr std::array<uint8_t, 16> kLengths = {0, 1,  2,  3,  4,  5,  6,  7,
                                                8, 12, 16, 20, 24, 32, 48, 64};
  uint8_t code = 0;
  while (kLengths[code] < frame.length) ++code;
  return code;
}

inline std::string blf_frame(const CanFrame& frame, const BlfWriting& how) {
  std::string body;
  const uint32_t id = frame.id | (frame.extended ? 1U << 31 : 0);
  const auto ticks = static_cast<uint64_t>(static_cast<int64_t>(
      std::floor(frame.time * (how.in_tens_of_microseconds ? 1e5 : 1e9) + .5)));
  const uint32_t flags = how.in_tens_of_microseconds ? 1 : 2;
  if (frame.fd && frame.channel == 1) {  // the longer kind of object
    put<uint8_t>(body, frame.channel + 1);
    put<uint8_t>(body, code_of(frame));
    put<uint8_t>(body, frame.length);
    put<uint8_t>(body, 0);
    put<uint32_t>(body, id);
    put<uint32_t>(body, 0);
    put<uint32_t>(body, 0x1000);
    for (int i = 0; i < 4; ++i) put<uint32_t>(body, 7);
    put<uint16_t>(body, 0);
    put<uint16_t>(body, 0);
    put<uint32_t>(body, 0);
    put_payload(body, frame, frame.length);
    return blf_object(101, body, ticks, flags);
  }
  put<uint16_t>(body, frame.channel + 1);
  put<uint8_t>(body, frame.remote ? 0x80 : 0);
  put<uint8_t>(body, code_of(frame));
  put<uint32_t>(body, id);
  if (frame.fd) {
    put<uint32_t>(body, 0);
    put<uint8_t>(body, 0);
    put<uint8_t>(body, 1);
    put<uint8_t>(body, frame.length);
    body += std::string(5, '\0');
  }
  put_payload(body, frame, frame.fd ? 64 : 8);
  return blf_object(frame.fd ? 100 : 86, body, ticks, flags);
}

/// `objects` behind the header of a file that began on the 2nd of January 1970, 00:00:00.250.
inline std::string blf_file(const std::string& objects, const BlfWriting& how = {}) {
  std::string out = "LOGG";
  put<uint32_t>(out, 144);
  out += std::string(32, '\0');
  for (const uint16_t part : {1970, 1, 5, 2, 0, 0, 0, 250}) put<uint16_t>(out, part);
  out += std::string(144 - out.size(), '\0');
  if (!how.in_containers) return out + objects;
  for (std::size_t at = 0; at < objects.size(); at += how.container_bytes) {
    const std::string part = objects.substr(at, how.container_bytes);
    const std::string stored = how.is_packed ? deflated(part) : part;
    out += "LOBJ";
    put<uint16_t>(out, 16);
    put<uint16_t>(out, 1);
    put<uint32_t>(out, static_cast<uint32_t>(32 + stored.size()));
    put<uint32_t>(out, 10);
    put<uint16_t>(out, how.is_packed ? 2 : 0);
    out += std::string(6, '\0');
    put<uint32_t>(out, static_cast<uint32_t>(part.size()));
    put<uint32_t>(out, 0);
    out += stored + std::string(stored.size() % 4, '\0');
  }
  return out;
}

inline constexpr double kBlfStart = 86400.25;

inline std::string blf_of(const std::vector<CanFrame>& frames, const BlfWriting& how = {}) {
  std::string objects;
  for (const CanFrame& frame : frames) objects += blf_frame(frame, how);
  return blf_file(objects, how);
}

// ---- pcap and pcapng

inline std::string can_packet(const CanFrame& frame) {
  std::string out;
  put<uint32_t>(out, frame.id | (frame.extended ? 1U << 31 : 0) | (frame.remote ? 1U << 30 : 0),
                true);
  put<uint8_t>(out, frame.length);
  put<uint8_t>(out, frame.fd ? 4 : 0);
  put<uint16_t>(out, 0);
  put_payload(out, frame, frame.fd ? 64 : 8);
  return out;
}

/// A packet with the header of a "Linux cooked" capture: link type 113, or 276 with the number of
/// an interface. `in_host_order`: the id as a little machine has it.
inline std::string cooked_packet(const CanFrame& frame, uint32_t link_type, bool in_host_order,
                                 uint16_t protocol = 0) {
  if (protocol == 0) protocol = frame.fd ? 0x0d : 0x0c;
  std::string out;
  if (link_type == 276) {
    put<uint16_t>(out, protocol, true);
    put<uint16_t>(out, 0, true);
    put<uint32_t>(out, 11 + frame.channel, true);
    put<uint16_t>(out, 280, true);
    put<uint16_t>(out, 0x0100, true);
    out += std::string(8, '\0');
  } else {
    put<uint16_t>(out, 1, true);
    put<uint16_t>(out, 280, true);
    out += std::string(10, '\0');
    put<uint16_t>(out, protocol, true);
  }
  std::string can = can_packet(frame);
  if (in_host_order) std::reverse(can.begin(), can.begin() + 4);
  return out + can;
}

inline std::string pcap_of(const std::vector<CanFrame>& frames, bool in_nanoseconds = false,
                           bool is_big = false, uint32_t link_type = 227,
                           bool ids_in_host_order = false) {
  std::string out;
  put<uint32_t>(out, in_nanoseconds ? 0xa1b23c4d : 0xa1b2c3d4, is_big);
  put<uint16_t>(out, 2, is_big);
  put<uint16_t>(out, 4, is_big);
  put<uint64_t>(out, 0, is_big);
  put<uint32_t>(out, 65535, is_big);
  put<uint32_t>(out, link_type, is_big);
  for (const CanFrame& frame : frames) {
    const auto seconds = static_cast<uint32_t>(frame.time);
    const double unit = in_nanoseconds ? 1e9 : 1e6;
    const bool is_cooked = link_type == 113 || link_type == 276;
    const std::string packet =
        is_cooked ? cooked_packet(frame, link_type, ids_in_host_order) : can_packet(frame);
    put<uint32_t>(out, seconds, is_big);
    put<uint32_t>(out, static_cast<uint32_t>((frame.time - seconds) * unit + .5), is_big);
    put<uint32_t>(out, static_cast<uint32_t>(packet.size()), is_big);
    put<uint32_t>(out, static_cast<uint32_t>(packet.size()), is_big);
    out += packet;
  }
  return out;
}

inline std::string pcapng_block(uint32_t type, std::string body, bool is_big) {
  body += std::string((4 - body.size() % 4) % 4, '\0');
  std::string out;
  put<uint32_t>(out, type, is_big);
  put<uint32_t>(out, static_cast<uint32_t>(body.size() + 12), is_big);
  out += body;
  put<uint32_t>(out, static_cast<uint32_t>(body.size() + 12), is_big);
  return out;
}

/// Interfaces can0 (microseconds) and can1 (2^-20 seconds), and behind them one that is no bus.
inline std::string pcapng_of(const std::vector<CanFrame>& frames, bool is_big = false) {
  std::string section;
  put<uint32_t>(section, 0x1a2b3c4d, is_big);
  put<uint32_t>(section, 1, is_big);
  put<int64_t>(section, -1, is_big);
  std::string out = pcapng_block(0x0a0d0d0a, section, is_big);
  for (const uint16_t type : {227, 227, 1}) {
    const bool is_second = out.find("can0") != std::string::npos;
    std::string body;
    put<uint16_t>(body, type, is_big);
    put<uint16_t>(body, 0, is_big);
    put<uint32_t>(body, 0, is_big);
    put<uint16_t>(body, 2, is_big);
    put<uint16_t>(body, 4, is_big);
    body += type == 1 ? "eth0" : is_second ? "can1" : "can0";
    if (is_second) {
      put<uint16_t>(body, 9, is_big);
      put<uint16_t>(body, 1, is_big);
      body += std::string("\x94\0\0\0", 4);
    }
    put<uint32_t>(body, 0, is_big);
    out += pcapng_block(1, body, is_big);
  }
  for (const CanFrame& frame : frames) {
    const std::string packet = can_packet(frame);
    const auto ticks =
        static_cast<uint64_t>(frame.time * (frame.channel == 1 ? double{1 << 20} : 1e6) + .5);
    std::string body;
    put<uint32_t>(body, frame.channel, is_big);
    put<uint32_t>(body, static_cast<uint32_t>(ticks >> 32), is_big);
    put<uint32_t>(body, static_cast<uint32_t>(ticks), is_big);
    put<uint32_t>(body, static_cast<uint32_t>(packet.size()), is_big);
    put<uint32_t>(body, static_cast<uint32_t>(packet.size()), is_big);
    out += pcapng_block(6, body + packet, is_big);
  }
  return out;
}

}  // namespace kdgat::test
