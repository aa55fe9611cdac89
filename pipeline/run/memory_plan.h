// What a step was planned to need, and what it needed: "planned" and "actual" of memory.json, and
// "memory" of the answer of a stage's plan(). MemoryPlan::json() of
// stages/engine/memory/memory_plan.h writes most of it, a stage adds what it alone has.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/system/record.h"

namespace kdgat {

/// Bytes that a part of something takes.
struct MemoryItem {
  std::string name;
  int64_t bytes = 0;
  static auto keys() {
    return std::tuple{key("name", &MemoryItem::name, "in words"),
                      key("bytes", &MemoryItem::bytes, "bytes")};
  }
};

struct MemoryPlan {
  using Number = std::optional<double>;

  struct Device {
    std::string name;
    Number total, share;
    static auto keys() {
      return std::tuple{key("name", &Device::name), key("total", &Device::total),
                        key("share", &Device::share)};
    }
  };
  /// What is held between steps, and a step.
  struct Held {
    Number context, parameters, embeddings, gradients, optimizer, weights_kept, teacher, workspaces,
        step, input;
    static auto keys() {
      using T = Held;
      return std::tuple{key("context", &T::context),
                        key("parameters", &T::parameters),
                        key("embeddings", &T::embeddings),
                        key("gradients", &T::gradients),
                        key("optimizer", &T::optimizer),
                        key("weights_kept", &T::weights_kept),
                        key("teacher", &T::teacher),
                        key("workspaces", &T::workspaces),
                        key("step", &T::step),
                        key("input", &T::input)};
    }
  };
  struct Batch {
    Number graphs, nodes, edges;
    static auto keys() {
      return std::tuple{key("graphs", &Batch::graphs), key("nodes", &Batch::nodes),
                        key("edges", &Batch::edges)};
    }
  };
  /// Bytes as a function of the size of a batch.
  struct Cost {
    double fixed = 0, graph = 0, node = 0, edge = 0;
    static auto keys() {
      return std::tuple{key("fixed", &Cost::fixed), key("graph", &Cost::graph),
                        key("node", &Cost::node), key("edge", &Cost::edge)};
    }
  };
  struct Component {
    std::string name;
    Cost cost;
    static auto keys() {
      return std::tuple{key("name", &Component::name), key("cost", &Component::cost)};
    }
  };
  /// A pack that was run.
  struct Check {
    int64_t graphs = 0, nodes = 0;
    double counted = 0, measured = 0;
    static auto keys() {
      return std::tuple{key("graphs", &Check::graphs), key("nodes", &Check::nodes),
                        key("counted", &Check::counted), key("measured", &Check::measured)};
    }
  };

  std::string line, mode;
  Device device;
  Held table;
  Batch batch;
  Number available, predicted, margin, steps, epochs;
  int64_t least = 0;                            ///< with which the largest graph alone is admitted
  int64_t mapped = 0;                           ///< bytes of files that are mapped
  nlohmann::json binds, cache_policy, teacher;  ///< each a text or a list of texts
  std::vector<Component> components;
  std::vector<Check> checks;
  std::vector<MemoryItem> items;

  static auto keys() {
    using T = MemoryPlan;
    return std::tuple{key("line", &T::line),           key("mode", &T::mode),
                      key("device", &T::device),       key("table", &T::table),
                      key("batch", &T::batch),         key("available", &T::available),
                      key("predicted", &T::predicted), key("margin", &T::margin),
                      key("steps", &T::steps),         key("epochs", &T::epochs),
                      key("least", &T::least),         key("mapped", &T::mapped),
                      key("binds", &T::binds),         key("cache_policy", &T::cache_policy),
                      key("teacher", &T::teacher),     key("components", &T::components),
                      key("checks", &T::checks),       key("items", &T::items)};
  }
};

/// Bytes and counts; -1 = not measured.
struct MemoryUse {
  double process = -1, context = -1, tensors = -1, reserved = -1, released = -1;
  double releases = -1, splits = -1;
  static auto keys() {
    using T = MemoryUse;
    return std::tuple{key("peak_anonymous_bytes", &T::process),
                      key("context_bytes", &T::context),
                      key("peak_tensor_bytes", &T::tensors),
                      key("peak_reserved_bytes", &T::reserved),
                      key("released_bytes", &T::released),
                      key("releases", &T::releases),
                      key("splits", &T::splits)};
  }
};

/// "memory" of the result of a step that ran, and its memory.json.
struct MemoryOfStep {
  struct Timeline {
    std::vector<std::optional<double>> seconds, bytes;
    static auto keys() {
      return std::tuple{key("seconds", &Timeline::seconds), key("bytes", &Timeline::bytes)};
    }
  };
  nlohmann::json planned, actual;  ///< MemoryPlan and MemoryUse; null = not known
  Timeline timeline;
  static auto keys() {
    using T = MemoryOfStep;
    return std::tuple{key("planned", &T::planned), key("actual", &T::actual),
                      key("timeline", &T::timeline)};
  }
};

}  // namespace kdgat
