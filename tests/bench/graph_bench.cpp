// kdgat_bench: what scripts/bench measures inside one process. Prints one JSON object a call.
//
//   kdgat_bench open STORE                       cold open: milliseconds, private memory
//   kdgat_bench batch STORE N [attr]             one shuffled epoch in batches of N graphs
//   kdgat_bench text SOURCE DIR [key=value ...]  texts to their graph: seconds, CPU, peak memory
//   kdgat_bench log FILE                         frames of a log: number, CPU, peak memory
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "bench.h"
#include "engine/data/can/logs/can_log.h"
#include "engine/data/core/import.h"
#include "engine/graph/graph_store.h"
#include "engine/graph/pack.h"
#include "fields/texts/data/text_store.h"
#include "pipeline/data/domains.h"

namespace {

using kdgat::bench::seconds_since;
using kdgat::graph::GraphStore;

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

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// Makes the graph anew, with import options that are numbers or words.
nlohmann::json text(const std::vector<std::string>& words) {
  nlohmann::json options = nlohmann::json::object();
  for (std::size_t i = 3; i < words.size(); ++i) {
    const auto equals = words[i].find('=');
    const std::string value = words[i].substr(equals + 1);
    const nlohmann::json number = nlohmann::json::parse(value, nullptr, false);
    options[words[i].substr(0, equals)] = number.is_discarded() ? nlohmann::json(value) : number;
  }
  const std::filesystem::path store = words[2] + "/graphs.safetensors";
  std::filesystem::remove(store);
  const double before = cpu_seconds();
  const auto start = std::chrono::steady_clock::now();
  const kdgat::data::ImportReport report =
      kdgat::data::import_source(kdgat::data::all_domains(), words[1], words[2], options);
  nlohmann::json out = report.build;
  out["seconds"] = seconds_since(start);
  out["cpu_seconds"] = cpu_seconds() - before;
  out["peak_over_start_mib"] = (report.build.at("peak_resident_bytes").get<double>() -
                                report.build.at("resident_before_bytes").get<double>()) /
                               (1 << 20);
  const nlohmann::json facts = kdgat::texts::TextStore::open(store).facts().at("text");
  for (const char* key : {"documents", "nodes", "nonzeros"}) out[key] = facts.at(key);
  return out;
}

nlohmann::json log(const std::string& path) {
  const double before = cpu_seconds();
  kdgat::data::CanLog log(kdgat::file::ByteReader(path), "auto", false);
  kdgat::data::CanFrame frame;
  while (log.next(frame)) continue;
  return {{"format", log.format()},
          {"frames", log.rows()},
          {"malformed", log.malformed()},
          {"cpu_seconds", cpu_seconds() - before},
          {"peak_mib", status_mib("VmHWM:")}};
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  return kdgat::bench::run(
      "usage: kdgat_bench open STORE | batch STORE N [attr] | text SOURCE DIR [key=value ...] | "
      "log FILE\n",
      [&] {
        if (words.size() == 2 && words[0] == "open") {
          std::cout << open_store(words[1]) << "\n";
        } else if (words.size() >= 3 && words[0] == "batch") {
          std::cout << batch(words[1], std::stoll(words[2]), words.size() > 3) << "\n";
        } else if (words.size() >= 3 && words[0] == "text") {
          std::cout << text(words) << "\n";
        } else if (words.size() == 2 && words[0] == "log") {
          std::cout << log(words[1]) << "\n";
        } else {
          return false;
        }
        return true;
      });
}
