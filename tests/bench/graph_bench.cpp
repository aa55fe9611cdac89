// kdgat_bench: what scripts/bench measures inside one process. Prints one JSON object a call.
//
//   kdgat_bench open STORE            cold open: milliseconds, private memory
//   kdgat_bench batch STORE N [attr]  one shuffled epoch gathered into batches of N graphs
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "graph/graph_store.h"
#include "graph/pack.h"

namespace {

using kdgat::graph::GraphStore;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// A field of /proc/self/status in MiB, e.g. "RssAnon:".
double status_mib(const std::string& field) {
  std::ifstream in("/proc/self/status");
  std::string key;
  while (in >> key) {
    if (key == field) {
      double kib = 0;
      in >> kib;
      return kib / 1024;
    }
    in.ignore(1 << 12, '\n');
  }
  return 0;
}

nlohmann::json open_store(const std::string& path) {
  const double before = status_mib("RssAnon:");
  const auto start = std::chrono::steady_clock::now();
  const GraphStore store = GraphStore::open(path);
  const double seconds = seconds_since(start);
  return {{"graphs", store.graphs()},
          {"ms", seconds * 1e3},
          {"private_mib", status_mib("RssAnon:") - before}};
}

nlohmann::json batch(const std::string& path, int64_t size, bool edge_attr) {
  const GraphStore store = GraphStore::open(path);
  std::vector<int64_t> ids(static_cast<std::size_t>(store.graphs()));
  std::iota(ids.begin(), ids.end(), 0);
  kdgat::graph::GraphBatch out;
  std::vector<double> rates;
  for (int64_t epoch = 0; epoch < 7; ++epoch) {
    const auto start = std::chrono::steady_clock::now();
    const kdgat::graph::PackPlan plan =
        kdgat::graph::make_pack_plan(store, ids, {size, 0, 0, 0}, true, 42, epoch);
    for (int64_t p = 0; p < plan.packs(); ++p) {
      kdgat::graph::gather(store, plan.pack(p), edge_attr, out);
    }
    rates.push_back(static_cast<double>(store.graphs()) / seconds_since(start));
  }
  return {{"graphs", store.graphs()},
          {"batch", size},
          {"edge_attr", edge_attr},
          {"graphs_per_s", rates}};
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  try {
    if (words.size() == 2 && words[0] == "open") {
      std::cout << open_store(words[1]) << "\n";
    } else if (words.size() >= 3 && words[0] == "batch") {
      std::cout << batch(words[1], std::stoll(words[2]), words.size() > 3) << "\n";
    } else {
      std::cerr << "usage: kdgat_bench open STORE | batch STORE N [attr]\n";
      return 2;
    }
  } catch (const std::exception& e) {
    std::cerr << "error: " << e.what() << "\n";
    return 1;
  }
  return 0;
}
