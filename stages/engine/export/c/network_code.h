// NetworkCode: what is written of a network in C: its tables, the calls of its layers, and the
// memory that they work in. Knows no files and no windows.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/file/safetensors.h"
#include "engine/model/config/model_header.h"

namespace kdgat::exporting {

/// The most that a window has.
struct GraphBounds {
  int64_t rows = 0, nodes = 0;
};

/// An array of floats in the state.
struct CArray {
  std::string name, dims;  ///< "[N]" or "[N][M]"
  int64_t count = 0;
  std::string comment;
};

struct NetworkCode {
  std::map<std::string, int64_t> macros;  ///< KDGAT_*: what runtime/*.c is compiled by
  std::string tables;                     ///< static const, all of the weights
  std::string function;                   ///< kdgat_network()
  std::vector<CArray> arrays;             ///< of the state
  int64_t shared = 0;                     ///< floats of u.values, which share the graph's room
  int64_t table_bytes = 0, multiply_adds = 0;
  bool is_probability = false;  ///< the score is one, of the log-odds that kdgat_network() returns
  /// With int8: what the C computes with in place of tensors, and of the embedding of all ids.
  std::map<std::string, std::vector<float>> rounded;
  std::vector<float> rounded_embedding;
};

/// Throws Error(kData) as native::load_network(), which should have taken the file before.
NetworkCode network_code(const file::SafetensorsFile& file, const model::ModelHeader& header,
                         const std::vector<int64_t>& ids, const GraphBounds& most, bool int8);

}  // namespace kdgat::exporting
