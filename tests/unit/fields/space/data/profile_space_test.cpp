// Graphs in space as the data of a profile.
#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "pipeline/data/data.h"
#include "support/programs/command.h"
#include "support/programs/data_spec.h"

using namespace kdgat;
using nlohmann::json;
using test::error_of;
using test::of_path;
using test::prepare;
using test::ScratchFolder;
using test::set;
namespace fs = std::filesystem;

TEST_CASE("a profile may ask for synthetic graphs in space", "[data]") {
  const ScratchFolder scratch;
  for (const std::string kind : {"tree", "superpixel"}) {
    INFO(kind);
    DataSpec data;
    data.synthetic = true;
    data.synth.values = {{"kind", kind}, {"graphs", 12}, {"nodes", 40}, {"classes", 2}};
    set(data, "neighbours", 4);
    const fs::path folder = data_folder(data, scratch / kind);
    const PreparedData made = prepare(data, folder);
    CHECK(made.summary == "synthetic 12 " + std::string(kind == "tree" ? "trees" : "graphs") +
                              ", 2 classes, seed 1");
    CHECK(made.facts.at("parts").at("train") > 0);
    CHECK(verify_data(folder).empty());
    const PreparedData again = prepare(data, folder);
    CHECK(again.reused);
    CHECK(again.fingerprint == made.fingerprint);
    // Made again elsewhere it is the same; what is of logs does not matter, another seed does.
    CHECK(prepare(data, scratch / ("other " + kind)).fingerprint == made.fingerprint);
    set(data, "window", 50);
    data.synth.values["seconds"] = 7;
    CHECK(data_folder(data, scratch / kind) == folder);
    data.synth.values["seed"] = 2;
    CHECK(data_folder(data, scratch / kind) != folder);
  }
}

TEST_CASE("a given store of graphs in space keeps its options and takes another fold", "[data]") {
  const ScratchFolder scratch;
  synthesize_data(scratch / "trees", {{"kind", "tree"}, {"graphs", 12}, {"nodes", 40}}, {});
  import_data(scratch / "trees", scratch / "store", {{"folds", 3}}, {}, {});
  DataSpec data = of_path(scratch / "store");
  set(data, "window", 50);  // of logs: nothing to it
  const PreparedData kept = prepare(data, data_folder(data, scratch / "runs"));
  CHECK(kept.facts.at("parts").at("test") == 4);
  set(data, "folds", 3);
  set(data, "fold", 1);
  const PreparedData other = prepare(data, data_folder(data, scratch / "runs"));
  CHECK(other.folder != kept.folder);
  CHECK(other.fingerprint != kept.fingerprint);
  set(data, "normalise", "graph_source");
  CHECK(error_of([&] { prepare(data, scratch / "never"); }).code() == ExitCode::kUsage);
}
