#include "engine/graph/sections/sections.h"

#include <algorithm>
#include <string>
#include <vector>

namespace kdgat::graph {

namespace {

template <class Section>
std::string fault_of(const std::optional<typename Section::Data>& given,
                     const CommonArrays& graphs) {
  return given ? Section::fault(*given, graphs) : "";
}

}  // namespace

std::string Sections::range_fault(const CommonArrays& graphs, std::size_t g) const {
  if (trees && !trees->is_within(graphs, g)) return "has a tree that leaves the graph";
  if (targets && !targets->is_labelled(graphs, g)) return Targets::kLabelFault;
  if (ids && !ids->is_within(graphs, g)) return Ids::kIdFault;
  return "";
}

std::string Sections::fact_fault(const nlohmann::json& facts) const {
  using nlohmann::json;
  const auto lacks_number = [&facts](const char* key) {
    const json::json_pointer place(key);
    return !facts.contains(place) || !facts.at(place).is_number();
  };
  std::vector<const char*> numbers;
  if (positions) numbers.push_back("/edge_length/median");
  if (path_counts) {
    numbers.insert(numbers.end(), {"/paths/p50", "/paths/p95", "/paths/p99", "/paths/max",
                                   "/paths/sum", "/triplets/sum", "/arcs/sum"});
  }
  if (targets) numbers.push_back("/targets");
  for (const char* key : numbers) {
    if (lacks_number(key)) return key + std::string(" is not a number");
  }
  if (trees && !facts.value("are_trees", json()).is_boolean()) return "/are_trees is not a truth";
  if (!targets) return "";
  const json counts = facts.value("class_graphs", json());
  const bool is_counted = counts.is_array() && counts.size() == targets->classes.size() &&
                          std::all_of(counts.begin(), counts.end(),
                                      [](const json& n) { return n.is_number_unsigned(); });
  if (!is_counted) return "/class_graphs is not a number for each class";
  return facts.value("classes", json()) == json(targets->classes)
             ? ""
             : "/classes is not what the data hold";
}

std::vector<std::string> Sections::faults(const CommonArrays& graphs, std::size_t g) const {
  std::vector<std::string> out;
  const auto check = [&](const auto& section) {
    if (!section) return;
    if (std::string fault = section->fault(graphs, g); !fault.empty()) {
      out.push_back(std::move(fault));
    }
  };
  check(positions);
  check(trees);
  check(path_counts);
  check(targets);
  check(ids);
  return out;
}

void Sections::write(file::SafetensorsWriter& writer) const {
  // Arrays of graphs before those of nodes: what is read of all graphs stands together. The order
  // enters the content hash.
  if (trees) trees->write_graphs(writer);
  if (targets) targets->write(writer);
  if (positions) positions->write(writer);
  if (trees) trees->write_nodes(writer);
  if (path_counts) path_counts->write(writer);
  if (frames) frames->write(writer);
}

Sections read_sections(const file::SafetensorsFile& file, const CommonArrays& graphs) {
  return {Positions::read(file, graphs), Trees::read(file, graphs), PathCounts::read(file, graphs),
          Targets::read(file, graphs),   Ids::read(file, graphs),   Frames::read(file, graphs)};
}

std::string section_fault(const SectionData& data, const CommonArrays& graphs) {
  for (std::string fault :
       {fault_of<Positions>(data.positions, graphs), fault_of<Trees>(data.trees, graphs),
        fault_of<Targets>(data.targets, graphs), fault_of<Ids>(data.ids, graphs),
        fault_of<Frames>(data.frames, graphs)}) {
    if (!fault.empty()) return fault;
  }
  const bool is_lost = data.positions && data.ids && data.ids->vocabulary.empty();  // see Ids::read
  return is_lost ? "ids of graphs in space need a vocabulary" : "";
}

MadeSections::MadeSections(const SectionData& data, const CommonArrays& graphs) : graphs_(graphs) {
  if (data.positions) views_.positions = Positions{data.positions->pos};
  if (data.trees) {
    trees_ = Trees::derive(*data.trees, graphs);
    views_.trees = Trees{data.trees->parent, trees_.tour, trees_.relations};
  }
  if (data.count_paths) {
    paths_ = PathCounts::derive(graphs);
    views_.path_counts = PathCounts{paths_.count};
  }
  if (data.targets) {
    targets_ = Targets::derive(*data.targets, graphs);
    views_.targets = Targets{data.targets->classes, data.targets->names, targets_};
  }
  if (data.ids) views_.ids = Ids{data.ids->vocabulary};
  if (data.frames) views_.frames = Frames::of(*data.frames);
}

nlohmann::json MadeSections::facts() const {
  nlohmann::json out;
  if (views_.positions) views_.positions->add_facts(graphs_, out);
  if (views_.trees) views_.trees->add_facts(graphs_, out);
  if (views_.path_counts) PathCounts::add_facts(paths_, graphs_, out);
  if (views_.targets) views_.targets->add_facts(graphs_, out);
  return out;
}

}  // namespace kdgat::graph
