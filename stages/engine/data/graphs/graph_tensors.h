// Labelled graphs as arrays: x [N,F], edge_index [2,E], edge_attr [E,K], y [G], node_ptr and
// edge_ptr [G+1], and what may stand beside them.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "engine/data/graphs/graph_collection.h"
#include "engine/file/safetensors.h"

namespace kdgat::data {

/// The arrays of a file by name, numbers and texts. Views stay valid while the file is open.
struct NamedArrays {
  std::string file;  ///< in messages
  std::string format;
  std::map<std::string, file::TensorView> numbers;
  std::map<std::string, std::vector<std::string>> texts;
};

/// Arrays that are read: those above, of which edge_attr may lack, y (numbers or texts, -1 = no
/// label), "classes" (texts: y counts them), "split" [G] (0 train, 1 val, 2 test) and "group" [G]
/// (numbers or texts). Numbers of nodes in edge_index are local to their graph. Floats are F32 or
/// F64, numbers I32 or I64. `arrays` is copied into what comes out; what its views show must
/// outlive that. Throws Error(kData).
GraphCollection collect_arrays(const NamedArrays& arrays);

/// The arrays of a safetensors file; its metadata "classes" is a JSON list of names. Throws
/// Error(kData).
NamedArrays arrays_in(const file::SafetensorsFile& file);

}  // namespace kdgat::data
