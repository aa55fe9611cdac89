// The stage of one graph of texts, on synthetic corpora.
#include "support/catch_torch.h"
// Catch first: see catch_torch.h.
#include <filesystem>
#include <functional>
#include <string>
#include <thread>

#include "engine/memory/out_of_memory.h"
#include "fields/texts/textgcn/text_memory.h"
#include "fields/texts/textgcn/text_splits.h"
#include "fields/texts/textgcn/textgcn.h"
#include "support/fields/texts/text_fixture.h"
#include "support/runs/stage_data.h"

using namespace kdgat;
using kdgat::test::TextFixture;
using nlohmann::json;
using textgcn::TextGcn;
using textgcn::TextGcnOptions;

namespace fs = std::filesystem;

namespace {

TextGcnOptions small() {
  TextGcnOptions o;
  o.hidden_dims = {16};
  o.max_epochs = 40;
  return o;
}

/// That of `part` in what run() gave.
double accuracy(const json& made, const std::string& part) {
  return made.at("metrics").at("parts").at(part).at("accuracy");
}

}  // namespace

TEST_CASE("text models learn the classes of synthetic documents", "[textgcn]") {
  TextFixture f;
  for (const char* name : {"text_gcn", "sgc", "ssgc"}) {
    INFO(name);
    TextGcnOptions o = small();
    o.model = name;
    if (o.model != "text_gcn") o.lr = 0.2;
    const json made = TextGcn::run(o, f.request(name), f.fake.host);
    CHECK(accuracy(made, "train") > 0.95);
    CHECK(accuracy(made, "test") > 0.7);  // a third by chance
    const json& test = made.at("metrics").at("parts").at("test");
    CHECK(test.at("confusion").size() == 3);
    CHECK(test.at("averages").at("f1").at("micro").get<double>() ==
          Approx(test.at("accuracy").get<double>()));
    CHECK(made.at("table").at("rows").size() == 3);
    CHECK(made.at("facts").at("parameters") ==
          textgcn::count_parameters(
              textgcn::config_of(o, textgcn::sizes_of(f.store().facts().at("text")))));
    CHECK_FALSE(fs::exists(f.folder / name / "checkpoint"));
    CHECK(fs::exists(f.folder / name / "model.safetensors"));
  }
}

TEST_CASE("every form of the text model trains, and has as many parameters as planned",
          "[textgcn]") {
  TextFixture f;
  const auto with = [](const std::function<void(TextGcnOptions&)>& change) {
    TextGcnOptions o = small();
    o.max_epochs = 3;
    change(o);
    return o;
  };
  const TextGcnOptions forms[] = {
      with([](TextGcnOptions& o) { o.use_bn = o.bias = true, o.stop = "best"; }),
      with([](TextGcnOptions& o) { o.pred_type = "mlp", o.act = "prelu"; }),
      with([](TextGcnOptions& o) {
        o.hidden_dims = {12, 8}, o.act = "tanh";
      }),
      with([](TextGcnOptions& o) { o.use_edge_weights = false, o.act = "sigmoid"; })};
  for (const TextGcnOptions& o : forms) {
    INFO(dump_options(o).dump());
    const json planned = TextGcn::plan(o, f.request("form"));
    TextGcn::run(o, f.request("form"), f.fake.host);
    const auto file = file::SafetensorsFile::open(f.folder / "form" / "model.safetensors");
    int64_t numbers = 0;
    for (const auto& [name, tensor] : file.tensors()) {
      if (name.find("running") != std::string::npos || name.rfind("_pad", 0) == 0 ||
          name.find("num_batches") != std::string::npos) {
        continue;
      }
      int64_t size = 1;
      for (const int64_t n : tensor.shape) size *= n;
      numbers += size;
    }
    CHECK(planned.at("parameters") == numbers);
  }
}

TEST_CASE("training stops by the mean of the validation losses before, as first published",
          "[textgcn]") {
  TextFixture f;
  TextGcnOptions o = small();
  o.max_epochs = 200;
  o.patience = 3;
  o.lr = 0.1;
  const json made = TextGcn::run(o, f.request("mean"), f.fake.host);
  REQUIRE(made.at("metrics").at("stopped_by") == "mean_loss");
  const std::vector<json>& epochs = f.fake.epochs;
  const auto loss = [&](std::size_t e) { return epochs[e].at("val_loss").get<double>(); };
  for (std::size_t e = 0; e < epochs.size(); ++e) {  // e + 1 epochs done
    const bool is_last = e + 1 == epochs.size();
    const bool above = e >= 3 && loss(e) > (loss(e - 1) + loss(e - 2) + loss(e - 3)) / 3;
    CHECK(above == is_last);
  }
  CHECK(made.at("metrics").at("best_epoch") == epochs.size());  // the last weights are kept

  o.stop = "best";
  f.fake.epochs.clear();
  const json best = TextGcn::run(o, f.request("best"), f.fake.host);
  const int64_t epoch = best.at("metrics").at("best_epoch");
  CHECK(best.at("metrics").at("stopped_by") == "best");
  std::size_t least = 0;
  for (std::size_t e = 0; e < epochs.size(); ++e) least = loss(e) < loss(least) ? e : least;
  CHECK(epochs.size() == least + 1 + 3);
  CHECK(accuracy(best, "val") ==
        f.fake.epochs[static_cast<std::size_t>(epoch - 1)].at("val_accuracy"));
}

TEST_CASE("without validation documents all epochs are trained, and the loss is that of training",
          "[textgcn]") {
  TextFixture f({0.8, 0, 0.2});
  for (const char* stop : {"mean_loss", "best"}) {
    TextGcnOptions o = small();
    o.max_epochs = 15;
    o.patience = 1;
    o.stop = stop;
    f.fake.epochs.clear();
    const json made = TextGcn::run(o, f.request(stop), f.fake.host);
    CHECK(made.at("metrics").at("epochs") == 15);
    CHECK(f.fake.epochs.size() == 15);
    CHECK_FALSE(f.fake.epochs.back().contains("val_loss"));
    CHECK_FALSE(made.at("metrics").at("parts").contains("val"));
    CHECK(accuracy(made, "test") > 0.6);
    CHECK_THAT(f.fake.log, Catch::Contains("no validation documents: all 15 epochs"));
  }
}

TEST_CASE("text models trained in threads of one process are those trained alone", "[textgcn]") {
  TextFixture f;
  TextGcnOptions o = small();
  o.max_epochs = 6;
  for (const int64_t seed : {1, 2}) {
    TextGcn::run(o, f.request("alone " + std::to_string(seed), seed), f.fake.host);
  }
  std::vector<std::thread> threads;
  test::FakeHost hosts[2];
  for (const int64_t seed : {1, 2}) {
    threads.emplace_back([&, seed] {
      Request r = f.request("beside " + std::to_string(seed), seed);
      r.memory.own = true;
      memory::Guarded<TextGcn>::run(o, r, hosts[seed - 1].host);
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(f.weights("beside 1") == f.weights("alone 1"));
  CHECK(f.weights("beside 2") == f.weights("alone 2"));
  CHECK(f.weights("alone 1") != f.weights("alone 2"));
}

TEST_CASE("training, validation and test share one graph, at one address", "[textgcn]") {
  TextFixture f;
  texts::TextStore::forget_shared();
  const textgcn::TextSplits splits = textgcn::open_splits(f.folder / "data", true);
  const float* address = splits.train.store.value().data();
  CHECK(splits.val.store.value().data() == address);
  CHECK(splits.test.store.value().data() == address);
  CHECK(splits.matrix.value_E.const_data_ptr<float>() == address);  // and the model's, without copy
  CHECK(splits.matrix.col_E.const_data_ptr<int32_t>() == splits.val.store.col().data());
  CHECK(splits.train.documents.numel() + splits.val.documents.numel() +
            splits.test.documents.numel() ==
        120);
  const textgcn::TextSplits equal = textgcn::open_splits(f.folder / "data", false);
  const int32_t* row_ptr = splits.matrix.row_ptr_N1.const_data_ptr<int32_t>();
  const int32_t column = splits.matrix.col_E[0].item<int32_t>();
  CHECK(equal.matrix.value_E[0].item<float>() ==
        Approx(1 / std::sqrt(static_cast<float>((row_ptr[1] - row_ptr[0]) *
                                                (row_ptr[column + 1] - row_ptr[column])))));
}

TEST_CASE("the bytes of training a text model are planned within a tenth", "[textgcn]") {
  TextFixture f({}, 600);
  for (const char* stop : {"mean_loss", "best"}) {
    TextGcnOptions o;
    o.max_epochs = 2;
    o.stop = stop;
    const json planned = TextGcn::plan(o, f.request(stop));
    memory::meter(at::kCPU).trim();
    memory::meter(at::kCPU).reset_peaks();
    const json made = TextGcn::run(o, f.request(stop), f.fake.host);
    const json& bytes = planned.at("bytes");
    CHECK(bytes.at("total") == made.at("metrics").at("memory").at("planned").at("total"));
    const auto counted = bytes.at("total").get<double>() - bytes.at("graph, mapped").get<double>();
    const double actual = made.at("memory").at("actual").at("peak_tensor_bytes").get<double>();
    CHECK(actual == Approx(counted).epsilon(0.1));
    const int64_t nodes = planned.at("nodes");
    CHECK(bytes.at("identity, naive") == 4 * nodes * nodes);
    CHECK(bytes.at("graph, mapped").get<double>() ==
          Approx(static_cast<double>(f.store().mapped_bytes())).epsilon(0.02));
    CHECK_THAT(f.fake.log, Catch::Contains("are never allocated"));
  }
  Request small_machine = f.request("small");
  small_machine.memory.device = "a small one";
  small_machine.memory.total = 1 << 20;
  CHECK_THROWS_AS(TextGcn::plan(TextGcnOptions(), small_machine), Error);
}

TEST_CASE("the figures of the published sizes are planned without making anything", "[textgcn]") {
  const textgcn::TextSizes sizes{29108, 15617374, 20};
  const json bytes = textgcn::bytes_by_category(TextGcnOptions(), sizes, true);
  CHECK(bytes.at("identity, naive").get<double>() / 1e9 == Approx(3.39).margin(0.01));
  CHECK(bytes.at("messages, naive").get<double>() / 1e9 == Approx(12.5).margin(0.1));
  CHECK(bytes.at("total").get<double>() / 1e6 < 300);
  TextGcnOptions seed;  // the published form: 200 N + 200 + 400 + 200 C + C + 2 C
  seed.bias = seed.use_bn = true;
  const textgcn::TextSizes news{60736, 1, 20};
  CHECK(textgcn::count_parameters(textgcn::config_of(seed, news)) ==
        200 * 60736 + 200 + 400 + 200 * 20 + 20 + 40);
}
