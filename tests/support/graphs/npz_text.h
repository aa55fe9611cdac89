// Bytes of .npy and .npz files for tests: what numpy writes, and what it does not.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <string>
#include <vector>

namespace kdgat::test {

inline std::string little(uint64_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
  return out;
}

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

/// An array of version 1.0; `shape` as Python writes it: "(2, 3)".
inline std::string npy(const std::string& descr, const std::string& shape, const std::string& data,
                       bool fortran = false) {
  std::string header = "{'descr': '" + descr +
                       "', 'fortran_order': " + (fortran ? "True" : "False") +
                       ", 'shape': " + shape + ", }";
  while ((10 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  return std::string("\x93NUMPY\x01") + '\0' + little(header.size(), 2) + header + data;
}

/// Deflated, without a header around it.
inline std::string raw_deflated(const std::string& text) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

struct NpzEntry {
  std::string name, content;
  uint64_t told_size = 0;  ///< 0 = the true one
};

/// A zip archive of them; with the sizes in 64 bits where `is_wide`.
inline std::string npz(const std::vector<NpzEntry>& entries, bool deflated, bool is_wide = false) {
  std::string out, directory;
  for (const NpzEntry& entry : entries) {
    const std::string packed = deflated ? raw_deflated(entry.content) : entry.content;
    const uint64_t size = entry.told_size > 0 ? entry.told_size : entry.content.size();
    const auto crc = ::crc32(0, reinterpret_cast<const Bytef*>(entry.content.data()),
                             static_cast<uInt>(entry.content.size()));
    const uint64_t at = out.size();
    const std::string extra =
        is_wide ? little(1, 2) + little(16, 2) + little(size, 8) + little(packed.size(), 8) : "";
    const std::string sizes = is_wide ? little(0xFFFFFFFF, 4) + little(0xFFFFFFFF, 4)
                                      : little(packed.size(), 4) + little(size, 4);
    const std::string common = little(0, 2) + little(deflated ? 8 : 0, 2) + little(0, 4) +
                               little(crc, 4) + sizes + little(entry.name.size(), 2) +
                               little(extra.size(), 2);
    out += "PK\x03\x04" + little(20, 2) + common + entry.name + extra + packed;
    directory += "PK\x01\x02" + little(20, 2) + little(20, 2) + common + little(0, 2) +
                 little(0, 2) + little(0, 2) + little(0, 4) + little(at, 4) + entry.name + extra;
  }
  const uint64_t begin = out.size();
  out += directory;
  return out + "PK\x05\x06" + little(0, 4) + little(entries.size(), 2) + little(entries.size(), 2) +
         little(directory.size(), 4) + little(begin, 4) + little(0, 2);
}

/// Two graphs, of two nodes and of one: members of an .npz. edge_index in Fortran's order.
inline std::vector<NpzEntry> small_npz() {
  return {{"x.npy", npy("<f4", "(3, 2)", bytes_of<float>({1, 2, 3, 4, 5, 6}))},
          {"edge_index.npy", npy("<i8", "(2, 2)", bytes_of<int64_t>({0, 1, 1, 0}), true)},
          {"edge_attr.npy", npy("<f8", "(2, 1)", bytes_of<double>({0.5, 1.5}))},
          {"y.npy", npy("<U2", "(2,)", bytes_of<uint32_t>({'b', 0, 0xE9, 'a'}))},
          {"node_ptr.npy", npy("<i8", "(3,)", bytes_of<int64_t>({0, 2, 3}))},
          {"edge_ptr.npy", npy("<i4", "(3,)", bytes_of<int32_t>({0, 2, 2}))}};
}

}  // namespace kdgat::test
