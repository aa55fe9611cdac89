// Sections: what a store may hold beside the arrays that every store has. Each is a struct with a
// file of its own and knows no other:
//
//   kName, kHint            "the graphs have no <kName>", and who makes such
//   Data                    what a builder hands in
//   fault(Data, graphs)     why that cannot be written; empty when it can
//   derive(..., graphs)     what follows from it, where anything does
//   write                   puts its arrays into a writer; they outlive it
//   read                    from a file, nothing where none of its arrays is there; checks shapes
//                           alone, throws Error(kData) where only some of them are
//   fault(graphs, g)        why the arrays of graph g are not what they should be; edges are sound
//   Batch, gather           the same of some graphs one behind the other, whose nodes begin at
//                           node_ptr
//   add_facts, is_in        what is said of it in the facts of a store
//
// Used by GraphStore and gather().
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "engine/graph/sections/common_arrays.h"
#include "engine/graph/sections/frames.h"
#include "engine/graph/sections/ids.h"
#include "engine/graph/sections/path_counts.h"
#include "engine/graph/sections/positions.h"
#include "engine/graph/sections/targets.h"
#include "engine/graph/sections/trees.h"
#include "kdgat/error.h"

namespace kdgat::graph {

/// The sections of an opened store. A new one is a row here, in SectionData and in MadeSections.
struct Sections {
  std::optional<Positions> positions;
  std::optional<Trees> trees;
  std::optional<PathCounts> path_counts;
  std::optional<Targets> targets;
  std::optional<Ids> ids;
  std::optional<Frames> frames;

  template <class Section>
  const std::optional<Section>& get() const {
    return std::get<const std::optional<Section>&>(
        std::tie(positions, trees, path_counts, targets, ids, frames));
  }
  /// What would index memory outside of graph `g`; empty if nothing would. Cheap: for each opening.
  std::string range_fault(const CommonArrays& graphs, std::size_t g) const;
  /// The same of what belongs to no graph.
  std::string range_fault() const { return frames ? frames->fault() : ""; }
  /// What is missing in the facts of sections, or of another type; empty if nothing is.
  std::string fact_fault(const nlohmann::json& facts) const;
  /// What fault(graphs, g) of each says that is there; those that say nothing are left out.
  std::vector<std::string> faults(const CommonArrays& graphs, std::size_t g) const;
  /// All but the ids, which stand among the common arrays.
  void write(file::SafetensorsWriter& writer) const;
};
Sections read_sections(const file::SafetensorsFile& file, const CommonArrays& graphs);

/// Where the facts of a store hold those of its sections.
inline constexpr const char* kSectionFacts = "spatial";

/// That the graphs have no such section; `where` is "" or "file: ".
template <class Section>
Error lacks(const std::string& where) {
  return Error(ExitCode::kData, where + "the graphs have no " + Section::kName, Section::kHint);
}

/// What a store is made with of each section.
struct SectionData {
  std::optional<Positions::Data> positions;
  std::optional<Trees::Data> trees;
  bool count_paths = false;
  std::optional<Targets::Data> targets;
  std::optional<Ids::Data> ids;
  std::optional<Frames::Data> frames;
};
/// Why `data` cannot be written; empty when it can.
std::string section_fault(const SectionData& data, const CommonArrays& graphs);

/// The sections of a store that is being written, and what follows from them.
class MadeSections {
 public:
  /// `data` is without fault; it and `graphs` outlive this.
  MadeSections(const SectionData& data, const CommonArrays& graphs);
  MadeSections(const MadeSections&) = delete;
  MadeSections& operator=(const MadeSections&) = delete;

  const Sections& views() const { return views_; }
  nlohmann::json facts() const;  ///< null where there is nothing to say

 private:
  const CommonArrays& graphs_;
  Sections views_;
  Trees::Derived trees_;
  PathCounts::Derived paths_;
  std::vector<float> targets_;
};

}  // namespace kdgat::graph
