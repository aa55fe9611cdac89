// The stages of graphs in space: pre-training, fine-tuning and what stands beside them.
#include "support/catch_torch.h"
// Catch first: see catch_torch.h.
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "autoencoder/autoencoder.h"
#include "engine/graph/shape.h"
#include "engine/memory/meter.h"
#include "engine/train/probe.h"
#include "fields/space/data/spatial_options.h"
#include "fields/space/finetune/finetune.h"
#include "fields/space/gtssl/gtssl.h"
#include "support/fields/space/tree_fixture.h"
#include "support/graphs/import_options.h"
#include "support/runs/stage_fixture.h"

using namespace kdgat;
using kdgat::test::TreeFixture;
using nlohmann::json;

namespace fs = std::filesystem;

namespace {

gtssl::GtsslOptions small_gtssl() {
  gtssl::GtsslOptions o;
  o.hidden = 8;
  o.interactions = 2;
  o.max_epochs = 3;
  o.lr = 0.01;
  return o;
}

finetune::FinetuneOptions small_finetune() {
  finetune::FinetuneOptions o;
  o.hidden = 8;
  o.interactions = 2;
  o.max_epochs = 30;
  o.lr = 0.02;
  return o;
}

/// Rings of four atoms, flat or bent, with positions, bonds and two targets each, and no tree.
struct Molecules : kdgat::test::StageData {
  Molecules() {
    data.node_features = 1;
    data.node_feature_names = {"charge"};
    data.sections.positions.emplace();
    data.sections.targets = {{"flat", "bent"}, {"energy", "dipole"}, {}};
    data.sources = {{"molecules.sdf", "", "train", "sdf", 40, 0, 0, 40, true}};
    for (int32_t g = 0; g < 40; ++g) {
      const float height = g % 2 == 0 ? 0.0F : 1.0F, size = 1 + 0.01F * static_cast<float>(g);
      for (int32_t atom = 0; atom < 4; ++atom) {
        data.x.push_back(atom == 0 ? 1.0F : -1.0F);
        const float x = atom < 2 ? size : -size, y = atom == 1 || atom == 2 ? size : -size;
        auto& pos = data.sections.positions->pos;
        pos.insert(pos.end(), {x, y, atom % 2 == 0 ? height : -height});
        const auto [low, high] = std::minmax({(atom + 1) % 4, (atom + 3) % 4});
        data.edge_source.append(std::array{atom, atom});
        data.edge_target.append(std::array{low, high});
      }
      data.sections.targets->values.insert(data.sections.targets->values.end(), {size, height});
      data.node_ptr.push_back(4 * (g + 1));
      data.edge_ptr.push_back(8 * (g + 1));
      data.y.push_back(g % 2);
      data.source_of.push_back(0);
      data.row_begin.push_back(g);
      data.row_end.push_back(g + 1);
    }
    write();
  }
  void write() const {
    fs::create_directories(folder / "data");
    graph::write_graph_store(store_file(), data);
    const auto split = graph::make_split(graph::GraphStore::open(store_file()), {});
    graph::write_split(folder / "data/split.safetensors", split);
  }
  json facts() const override { return graph::GraphStore::open(store_file()).facts(); }

  graph::GraphStoreData data;
};

}  // namespace

TEST_CASE("pre-training lowers its loss, and a head on the encoder learns classes", "[gtssl]") {
  TreeFixture f;
  gtssl::GtsslOptions o = small_gtssl();
  o.max_epochs = 8;
  const json made = gtssl::Gtssl::run(o, f.request("gtssl"), f.fake.host);
  REQUIRE(f.fake.epochs.size() == 8);
  CHECK(f.fake.epochs.back().at("val_loss") < f.fake.epochs.front().at("val_loss"));
  CHECK(f.fake.epochs.back().contains("val_generation"));
  CHECK(f.fake.epochs.back().contains("val_order_positive"));
  CHECK(made.at("facts").at("widths").at("hidden") == 8);
  CHECK_FALSE(fs::exists(f.folder / "gtssl" / "checkpoint"));

  finetune::FinetuneOptions probe = small_finetune();
  probe.freeze_encoder = true;
  probe.head = "linear";
  probe.lr = 0.05;
  const std::string before = f.weights("gtssl");
  const json frozen = finetune::Finetune::run(probe, f.request("probe", "gtssl"), f.fake.host);
  CHECK(f.weights("gtssl") == before);
  const auto encoder = file::SafetensorsFile::open(f.folder / "gtssl" / "model.safetensors");
  const auto probed = file::SafetensorsFile::open(f.folder / "probe" / "model.safetensors");
  for (const auto& [name, tensor] : probed.tensors()) {
    if (name.rfind("encoder.", 0) != 0) continue;
    CHECK(file::hash_bytes(tensor.data, tensor.bytes) ==
          file::hash_bytes(encoder.tensor(name).data, encoder.tensor(name).bytes));
  }
  finetune::FinetuneOptions tune = small_finetune();
  tune.lr = 0.005;
  tune.head = "linear";  // the published one has four units here, which may all be dead
  const json tuned = finetune::Finetune::run(tune, f.request("tuned", "gtssl"), f.fake.host);
  CHECK(tuned.at("metrics").at("val_accuracy") > 0.6);  // a third by chance
  CHECK(tuned.at("metrics").at("parts").at("test").at("confusion").size() == 3);
  CHECK(tuned.at("table").at("columns")[2] == "accuracy");
  CHECK(tuned.at("facts").at("start") == "pre-trained");
}

TEST_CASE("the shape of trees in hand-crafted features tells synthetic classes apart",
          "[finetune]") {
  TreeFixture f("tree", 90, 40);
  finetune::FinetuneOptions o = small_finetune();
  o.representation = "shape";
  o.head = "linear";
  o.lr = 0.05;
  const json made = finetune::Finetune::run(o, f.request("shape"), f.fake.host);
  CHECK(made.at("metrics").at("val_accuracy") > 0.8);
  CHECK(made.at("facts").at("parameters") ==
        static_cast<int64_t>(graph::kShapeFeatures.size() + 1) * 3);
}

TEST_CASE("a share of the labels is the same for a seed, and of every class", "[finetune]") {
  TreeFixture f;
  finetune::FinetuneOptions o = small_finetune();
  o.representation = "shape";
  o.head = "linear";
  o.max_epochs = 1;
  o.label_fraction = 0.2;
  o.least_labels = 2;
  const auto count = [&](const std::string& step) {
    const json made = finetune::Finetune::run(o, f.request(step), f.fake.host);
    return made.at("metrics").at("train_graphs").get<int64_t>();
  };
  const int64_t some = count("a");
  CHECK(count("b") == some);
  CHECK(f.weights("a") == f.weights("b"));
  CHECK(some >= 6);
  o.label_fraction = 1;
  CHECK(count("c") > 3 * some);
}

TEST_CASE("numbers of graphs are learned, and evaluated in their own unit", "[finetune]") {
  TreeFixture f;
  std::string labels = "file,class,size\n";
  for (std::size_t g = 0; g < f.store.sources().size(); ++g) {
    const graph::Source& source = f.store.sources()[g];
    const auto first = static_cast<std::size_t>(source.first_graph);
    labels +=
        source.path + ",a," +
        std::to_string(100 + 2 * (f.store.node_ptr()[first + 1] - f.store.node_ptr()[first])) +
        "\n";
  }
  std::ofstream(f.folder / "files" / "labels.csv") << labels;
  graph::ImportOptionsWith<space::SpatialOptions> import;
  import.target_column = "size";
  graph::import_logs(f.folder / "files", f.folder / "data", import);
  finetune::FinetuneOptions o = small_finetune();
  o.task = "regression";
  o.representation = "shape";
  o.head = "linear";
  o.lr = 0.1;
  o.max_epochs = 150;
  o.monitor_metric = "val_loss";
  o.monitor_mode = "min";
  const json made = finetune::Finetune::run(o, f.request("size"), f.fake.host);
  // Without looking the error is the deviation of the sizes, some ten nodes or twenty units.
  CHECK(made.at("metrics").at("val_rmse") < 8);
  CHECK(made.at("metrics").at("parts").at("test").at("mae") < 8);
}

TEST_CASE("a step in parts of one graph is the same step", "[gtssl][accumulation]") {
  TreeFixture f;
  gtssl::GtsslOptions o = small_gtssl();
  o.max_epochs = 1;
  o.batch_size = 8;
  const json whole = gtssl::Gtssl::run(o, f.request("whole"), f.fake.host);
  o.batch_size = 1;
  o.accumulate_grad_batches = 8;
  const json parts = gtssl::Gtssl::run(o, f.request("parts"), f.fake.host);
  CHECK(parts.at("metrics").at("train_loss").get<double>() ==
        Approx(whole.at("metrics").at("train_loss").get<double>()).epsilon(1e-4));
}

TEST_CASE("losses stay finite in bf16", "[gtssl][precision]") {
  TreeFixture f;
  gtssl::GtsslOptions o = small_gtssl();
  o.precision = "bf16-mixed";
  o.max_epochs = 10;
  const json made = gtssl::Gtssl::run(o, f.request("bf16"), f.fake.host);
  CHECK(made.at("metrics").at("epochs") == 10);  // a loss that is not finite ends the run
  CHECK(f.fake.epochs.back().at("train_loss") < f.fake.epochs.front().at("train_loss"));
}

TEST_CASE("the plan of pre-training counts what a step needs", "[gtssl][memory]") {
  for (const auto& [kind, graphs, nodes] : {std::tuple{"superpixel", 12, 49}, {"tree", 60, 120}}) {
    TreeFixture f(kind, graphs, nodes);
    for (const int64_t batch : {2, 4}) {
      for (const int64_t budget : {2048, 8192}) {
        for (const int64_t hidden : {16, 64}) {
          INFO(kind << " batch " << batch << " budget " << budget << " hidden " << hidden);
          gtssl::GtsslOptions o = small_gtssl();
          o.max_epochs = 1;
          o.batch_size = batch;
          o.hidden = hidden;
          o.path_budget = budget;
          o.memory_estimation = "static";
          const std::string step = std::string(kind) + std::to_string(batch) + "_" +
                                   std::to_string(budget) + "_" + std::to_string(hidden);
          const json made = gtssl::Gtssl::run(o, f.request(step), f.fake.host);
          const double planned = made.at("memory").at("planned").at("predicted");
          const double actual = made.at("memory").at("actual").at("peak_tensor_bytes");
          CHECK(planned == Approx(actual).epsilon(0.05));
        }
      }
    }
  }
}

TEST_CASE("a plan for a card counts its kernels, and what its allocator rounds",
          "[gtssl][finetune][memory]") {
  TreeFixture f("tree", 24, 60);
  const auto check = [&](const auto& plan) {
    Request request = f.request("step");
    request.run_dir.clear();
    const json here = plan(request).at("memory");
    request.memory.device = "t4-16";
    request.memory.total = int64_t{16} << 30;
    request.memory.context = int64_t{500} << 20;
    const json card = plan(request).at("memory");
    CHECK(card.at("device").at("name") == "t4-16");
    const auto largest = [](const json& memory) {
      double out = 0;
      for (const json& phase : memory.at("phases"))
        out = std::max(out, phase.at("bytes").get<double>());
      return out;
    };
    CHECK(here.at("table").at("step") == Approx(largest(here)).margin(1));
    CHECK(card.at("table").at("step") > largest(card) + 1);
    // Chunks of paths and gathered batches lie on the host.
    CHECK(card.at("table").at("input") < here.at("table").at("input"));
    CHECK(card.at("components").size() == here.at("components").size());
  };
  gtssl::GtsslOptions tree = small_gtssl();
  tree.memory_estimation = "static";
  check([&](const Request& request) { return gtssl::Gtssl::plan(tree, request); });
  finetune::FinetuneOptions head = small_finetune();
  head.memory_estimation = "static";
  check([&](const Request& request) { return finetune::Finetune::plan(head, request); });
}

TEST_CASE("graphs without positions, and encoders of other graphs, are refused", "[gtssl]") {
  test::StageFixture cars;
  CHECK_THROWS_WITH(gtssl::Gtssl::run(small_gtssl(), cars.request("gtssl"), cars.fake.host),
                    Catch::Contains("the graphs have no positions"));
  TreeFixture f;
  gtssl::GtsslOptions o = small_gtssl();
  o.max_epochs = 1;
  gtssl::Gtssl::run(o, f.request("gtssl"), f.fake.host);
  TreeFixture points("superpixel", 12, 25);
  finetune::FinetuneOptions tune = small_finetune();
  tune.encoder_path = (f.folder / "gtssl").string();
  CHECK_THROWS_WITH(finetune::Finetune::run(tune, points.request("tune"), points.fake.host),
                    Catch::Contains("an encoder of 9 node features, the data has 5"));
  tune.encoder_path = (f.folder / "gtssl").string();
  CHECK_THROWS_WITH(finetune::Finetune::run(tune, f.request("tune", "gtssl"), f.fake.host),
                    Catch::Contains("two encoders"));
}

TEST_CASE("molecules need no tree to be learned, and stages name the section that they lack",
          "[finetune][gtssl][sections]") {
  Molecules f;
  CHECK_THROWS_WITH(autoencoder::Autoencoder::run({}, f.request("autoencoder"), f.fake.host),
                    Catch::Contains("the graphs have no ids of nodes"));
  CHECK_THROWS_WITH(gtssl::Gtssl::run(small_gtssl(), f.request("gtssl"), f.fake.host),
                    Catch::Contains("the graphs have no trees"));
  CHECK_THROWS_WITH(gtssl::Gtssl::plan(small_gtssl(), f.request("gtssl")),
                    Catch::Contains("the graphs have no trees"));
  finetune::FinetuneOptions o = small_finetune();
  o.task = "regression";
  CHECK_THROWS_WITH(finetune::Finetune::run(o, f.request("tune"), f.fake.host),
                    Catch::Contains("the graphs have no counts of third-order paths"));
  CHECK_THROWS_WITH(finetune::Finetune::plan(o, f.request("tune")),
                    Catch::Contains("the graphs have no counts of third-order paths"));
  f.data.sections.count_paths = true;
  f.write();
  CHECK_THROWS_WITH(finetune::Finetune::run(o, f.request("tune"), f.fake.host),
                    Catch::Contains("the graphs have several targets"));
  o.task = "classification";
  CHECK_THROWS_WITH(gtssl::Gtssl::run(small_gtssl(), f.request("gtssl"), f.fake.host),
                    Catch::Contains("the graphs have no trees"));
  o.max_epochs = 20;
  const json made = finetune::Finetune::run(o, f.request("tune"), f.fake.host);
  CHECK(made.at("metrics").at("parts").at("train").at("accuracy") > 0.9);
  o.representation = "shape";
  CHECK_THROWS_WITH(finetune::Finetune::run(o, f.request("shape"), f.fake.host),
                    Catch::Contains("the graphs have no trees"));
}
