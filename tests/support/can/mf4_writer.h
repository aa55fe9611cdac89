// A writer of measurement files (ASAM MDF 4) as loggers make them: sorted or not, packed or not,
// brought to their end or not. Independent of the reader; asammdf reads what it writes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/can/log_forms.h"

namespace kdgat::test {

struct Mf4Writing {
  bool is_sorted = true;          ///< data and remote frames in data groups of their own
  bool payloads_apart = false;    ///< as values of variable length
  bool is_finished = true;        ///< false: lengths and counts are missing, as after a power cut
  int packing = 0;                ///< 0 none, 1 deflate, 2 deflate of columns
  std::size_t block_bytes = 500;  ///< of data, where it is packed
  /// MDF 4.2: records in blocks DV, what is invalid of them in DI, both in two lists LD.
  bool are_values = false;
  bool direction_is_text = false;  ///< T or R in the place of a bit
  uint64_t start_ns = 86400'000'000'000;
};

class Mf4Writer {
 public:
  explicit Mf4Writer(Mf4Writing how) : how_(how) {}

  std::string write(const std::vector<data::CanFrame>& frames) {
    out_ = how_.is_finished ? "MDF     4.11    kdgat   " : "UnFinMF 4.11    kdgat   ";
    out_ += std::string(4, '\0');
    put<uint16_t>(out_, 411);
    out_ += std::string(30, '\0');
    put<uint16_t>(out_, how_.is_finished ? 0 : 0x25);  // counts, last length, sizes of payloads
    put<uint16_t>(out_, 0);
    std::string header;
    put<uint64_t>(header, how_.start_ns);
    header += std::string(24, '\0');
    const std::size_t at = add("HD", 6, header);
    // asammdf wants a history.
    const std::string comment =
        "<FHcomment><TX>made</TX><tool_id>kdgat</tool_id>"
        "<tool_vendor>kdgat</tool_vendor><tool_version>1</tool_version></FHcomment>";
    const std::size_t text = add("MD", 0, comment + std::string(8 - comment.size() % 8, '\0'));
    std::string times;
    put<uint64_t>(times, how_.start_ns);
    times += std::string(8, '\0');
    const std::size_t history = add("FH", 2, times);
    link(history, 1, text);
    link(at, 1, history);
    std::size_t last = at;
    int place = 0;
    for (const bool remote : {false, true}) {
      std::vector<data::CanFrame> part;
      for (const data::CanFrame& frame : frames) {
        if (!how_.is_sorted || frame.remote == remote) part.push_back(frame);
      }
      if (!how_.is_sorted && remote) break;
      const std::size_t group =
          add("DG", 4, std::string(how_.is_sorted ? "\0\0\0\0\0\0\0\0" : "\1\0\0\0\0\0\0\0", 8));
      link(last, place, group);
      last = group;
      place = 0;
      add_data(group, part, remote);
    }
    return out_;
  }

 private:
  struct Part {
    const char* name;
    uint32_t byte;
    uint8_t bit;
    uint32_t bits;
    uint8_t data_type, channel_type;
  };

  std::size_t add(const std::string& id, std::size_t links, const std::string& data) {
    out_ += std::string((8 - out_.size() % 8) % 8, '\0');
    const std::size_t at = out_.size();
    out_ += "##" + id + std::string(4, '\0');
    put<uint64_t>(out_, 24 + 8 * links + data.size());
    put<uint64_t>(out_, links);
    out_ += std::string(8 * links, '\0') + data;
    return at;
  }
  void link(std::size_t block, std::size_t place, std::size_t to) {
    std::string bytes;
    put<uint64_t>(bytes, to);
    out_.replace(block + 24 + 8 * place, 8, bytes);
  }
  std::size_t text(const std::string& words) {
    return add("TX", 0, words + std::string(8 - words.size() % 8, '\0'));
  }

  std::size_t add_channel(const Part& part) {
    std::string data;
    put<uint8_t>(data, part.channel_type);
    put<uint8_t>(data, part.channel_type == 2 ? 1 : 0);
    put<uint8_t>(data, part.data_type);
    put<uint8_t>(data, part.bit);
    put<uint32_t>(data, part.byte);
    put<uint32_t>(data, part.bits);
    data += std::string(60, '\0');
    const std::size_t at = add("CN", 8, data);
    link(at, 2, text(part.name));
    return at;
  }

  /// Time, then the frame: bus, id, flags, length, payload.
  std::size_t add_group(bool remote, std::size_t count, std::size_t& payload_channel) {
    const uint32_t bytes = remote || !how_.payloads_apart ? (remote ? 17 : 80) : 24;
    std::string data;
    put<uint64_t>(data, remote ? 2 : 1);
    put<uint64_t>(data, how_.is_finished ? count : 0);
    put<uint16_t>(data, 6);  // an event of a bus
    put<uint16_t>(data, '.');
    put<uint32_t>(data, 0);
    put<uint32_t>(data, bytes);
    put<uint32_t>(data, how_.are_values ? 1 : 0);
    const std::size_t group = add("CG", 6, data);
    const std::string name = remote ? "CAN_RemoteFrame" : "CAN_DataFrame";
    const std::size_t time = add_channel({"Timestamp", 0, 0, 64, 0, 2});
    // Nanoseconds.
    std::string conversion;
    put<uint8_t>(conversion, 1);
    put<uint8_t>(conversion, 0);
    put<uint16_t>(conversion, 0);
    put<uint16_t>(conversion, 0);
    put<uint16_t>(conversion, 2);
    for (const double value : {0.0, 0.0, 0.0, 1e-9}) put<double>(conversion, value);
    link(time, 4, add("CC", 4, conversion));
    link(group, 1, time);
    const std::size_t whole = add_channel({name.c_str(), 8, 0, 8 * (bytes - 8), 10, 0});
    link(time, 0, whole);
    const std::string n = name + ".";
    const std::vector<std::string> names = {n + "BusChannel", n + "ID",  n + "IDE",       n + "EDL",
                                            n + "DataLength", n + "DLC", n + "DataBytes", n + "BRS",
                                            n + "ESI",        n + "Dir"};
    std::vector<Part> parts = {{names[0].c_str(), 8, 0, 2, 0, 0},
                               {names[1].c_str(), 9, 0, 29, 0, 0},
                               {names[2].c_str(), 12, 7, 1, 0, 0},
                               {names[3].c_str(), 8, 2, 1, 0, 0},
                               {names[4].c_str(), 13, 0, 7, 0, 0},
                               {names[5].c_str(), 14, 0, 4, 0, 0},
                               {names[7].c_str(), 8, 3, 1, 0, 0},
                               {names[8].c_str(), 8, 4, 1, 0, 0},
                               how_.direction_is_text ? Part{names[9].c_str(), 15, 0, 8, 7, 0}
                                                      : Part{names[9].c_str(), 8, 5, 1, 0, 0}};
    if (!remote) {
      parts.push_back(how_.payloads_apart ? Part{names[6].c_str(), 16, 0, 64, 10, 1}
                                          : Part{names[6].c_str(), 16, 0, 512, 10, 0});
    }
    std::size_t last = 0;
    for (const Part& part : parts) {
      const std::size_t channel = add_channel(part);
      if (last == 0) {
        link(whole, 1, channel);
      } else {
        link(last, 0, channel);
      }
      last = channel;
    }
    payload_channel = last;
    return group;
  }

  std::string record(const data::CanFrame& frame, uint64_t payload_offset) const {
    std::string out;
    put<uint64_t>(out, static_cast<uint64_t>(frame.time * 1e9 + .5));
    put<uint8_t>(out, static_cast<uint8_t>(frame.channel | (frame.fd ? 4 : 0) |
                                           (frame.fd_flags & 3) << 3 | (frame.tx ? 32 : 0)));
    put<uint32_t>(out, frame.id | (frame.extended ? 1U << 31 : 0));
    put<uint8_t>(out, frame.length);
    put<uint8_t>(out, frame.remote ? frame.remote_length : frame.fd ? 15 : frame.length);
    out += how_.direction_is_text ? frame.tx ? 'T' : 'R' : '\0';
    if (frame.remote) return out + std::string(1, '\0');
    if (how_.payloads_apart) {
      put<uint64_t>(out, payload_offset);
    } else {
      put_payload(out, frame, 64);
    }
    return out;
  }

  void add_data(std::size_t data_group, const std::vector<data::CanFrame>& frames, bool remote) {
    std::size_t payload_channel = 0, remote_channel = 0, count = 0;
    for (const data::CanFrame& frame : frames) count += frame.remote == remote ? 1 : 0;
    const std::size_t group = add_group(remote, count, payload_channel);
    link(data_group, 1, group);
    std::size_t payload_group = 0;
    if (!how_.is_sorted) {
      const std::size_t second = add_group(true, frames.size() - count, remote_channel);
      link(group, 0, second);
      if (how_.payloads_apart) {
        std::string data;
        put<uint64_t>(data, 3);
        put<uint64_t>(data, how_.is_finished ? count : 0);
        put<uint16_t>(data, 1);
        data += std::string(14, '\0');
        payload_group = add("CG", 6, data);
        link(second, 0, payload_group);
        link(payload_channel, 5, payload_group);
      }
    }
    std::string records, payloads;
    for (const data::CanFrame& frame : frames) {
      if (!how_.is_sorted) records += frame.remote ? '\2' : '\1';
      records += record(frame, payloads.size());
      if (frame.remote || !how_.payloads_apart) continue;
      std::string payload;
      put<uint32_t>(payload, frame.length);
      put_payload(payload, frame, frame.length);
      payloads += payload;
      if (!how_.is_sorted) records += '\3' + payload;
    }
    if (payload_group != 0 && how_.is_finished) {
      std::string bytes;
      put<uint64_t>(bytes, payloads.size());
      out_.replace(payload_group + 24 + 48 + 24, 8, bytes);
    }
    if (how_.is_sorted && how_.payloads_apart && !remote) {
      link(payload_channel, 5, add_blocks("SD", payloads, 1));
    }
    const std::size_t width = remote ? 17 : how_.payloads_apart ? 24 : 80;
    link(data_group, 2,
         how_.are_values ? add_values(records, width)
                         : add_blocks("DT", records, how_.is_sorted ? width : 1));
  }

  std::size_t add_blocks(const std::string& id, const std::string& bytes, std::size_t width) {
    if (how_.packing == 0) {
      const std::size_t at = add(id, 0, bytes);
      if (!how_.is_finished) {
        std::string length;
        put<uint64_t>(length, 24);
        out_.replace(at + 8, 8, length);
      }
      return at;
    }
    // Two lists, the second behind the first.
    std::vector<std::size_t> blocks;
    for (std::size_t from = 0; from < bytes.size(); from += how_.block_bytes) {
      blocks.push_back(add_packed(id, bytes.substr(from, how_.block_bytes), width));
    }
    const std::size_t half = blocks.size() / 2;
    std::size_t next = 0;
    for (const auto& [first, end] :
         {std::pair{half, blocks.size()}, std::pair{std::size_t{0}, half}}) {
      std::string data;
      put<uint32_t>(data, 1);  // of equal length
      put<uint32_t>(data, static_cast<uint32_t>(end - first));
      put<uint64_t>(data, how_.block_bytes);
      const std::size_t list = add("DL", 1 + end - first, data);
      link(list, 0, next);
      for (std::size_t i = first; i < end; ++i) link(list, 1 + i - first, blocks[i]);
      next = list;
    }
    std::string data;
    put<uint16_t>(data, 1);
    put<uint8_t>(data, static_cast<uint8_t>(how_.packing - 1));
    data += std::string(5, '\0');
    const std::size_t head = add("HL", 1, data);
    link(head, 0, next);
    return head;
  }

  std::size_t add_values(const std::string& bytes, std::size_t width) {
    const std::size_t rows = bytes.size() / width, half = (rows + 1) / 2;
    std::size_t next = 0;
    for (const auto& [first, end] : {std::pair{half, rows}, std::pair{std::size_t{0}, half}}) {
      const std::string values = bytes.substr(first * width, (end - first) * width);
      const std::size_t block =
          how_.packing == 0 ? add("DV", 0, values) : add_packed("DV", values, width);
      const std::size_t invalid = add("DI", 0, std::string(end - first, '\x55'));
      std::string data;
      put<uint32_t>(data, 1U << 31);  // with what is invalid
      put<uint32_t>(data, 1);
      put<uint64_t>(data, first * width);
      const std::size_t list = add("LD", 3, data);
      link(list, 0, next);
      link(list, 1, block);
      link(list, 2, invalid);
      next = list;
    }
    return next;
  }

  std::size_t add_packed(const std::string& id, std::string bytes, std::size_t width) {
    const std::size_t size = bytes.size();
    if (how_.packing == 2) {
      const std::size_t rows = size / width;
      std::string turned;
      for (std::size_t column = 0; column < width; ++column) {
        for (std::size_t row = 0; row < rows; ++row) turned += bytes[row * width + column];
      }
      bytes = turned + bytes.substr(rows * width);
    }
    const std::string packed = deflated(bytes);
    std::string data = id;
    put<uint8_t>(data, static_cast<uint8_t>(how_.packing - 1));
    put<uint8_t>(data, 0);
    put<uint32_t>(data, how_.packing == 2 ? static_cast<uint32_t>(width) : 0);
    put<uint64_t>(data, size);
    put<uint64_t>(data, packed.size());
    return add("DZ", 0, data + packed);
  }

  Mf4Writing how_;
  std::string out_;
};

inline std::string mf4_of(const std::vector<data::CanFrame>& frames, const Mf4Writing& how = {}) {
  return Mf4Writer(how).write(frames);
}

}  // namespace kdgat::test
