#include "engine/objective/distillation.h"

#include <unistd.h>

#include <fstream>

#include "support/graphs/batches.h"
// The others need torch's macros gone.
#include "engine/model/model_file.h"
#include "engine/objective/teacher_cache.h"
#include "kdgat/error.h"
#include "support/graphs/random_graphs.h"
#include "support/programs/command.h"

namespace kdgat::objective {
namespace {

using nlohmann::json;
using test::check_close;
using test::make_batch;
using test::random_small_graphs;
using test::ScratchFolder;
using test::tensor_of;

const json kLayout = {{"node_features", {"id", "byte"}}, {"vocabulary", {1, 2, 3}}};

graph::StepTotals distill_totals(const graph::GraphBatch& batch) {
  return {batch.graphs, batch.nodes, batch.edges};
}

template <class Config>
std::filesystem::path save(const std::filesystem::path& folder, const Config& config,
                           const json& data = kLayout) {
  const bool is_gat = std::is_same_v<Config, model::GatConfig>;
  std::filesystem::create_directories(folder);
  model::save_model(folder / "model.safetensors", *model::make_model(config),
                    {is_gat ? "gat" : "vgae", config, data, {}});
  return folder / "model.safetensors";
}

/// A GAT classifier wide enough that rounding depends on how matrix products are cut.
model::GatConfig wide_gat() {
  model::GatConfig config = model::GatConfig::teacher(20);
  config.hidden = 24;
  config.layers = 2;
  return config;
}

model::VgaeConfig wide_vgae() {
  model::VgaeConfig config = model::VgaeConfig::teacher(20);
  config.hidden_dims = {120, 60, 24};
  config.latent_dim = 24;
  return config;
}

std::unique_ptr<Teacher> gat_teacher(const ScratchFolder& scratch) {
  return std::make_unique<ModelTeacher>(save(scratch / "gat", wide_gat()), "gat", kLayout);
}

std::unique_ptr<Teacher> vgae_teacher(const ScratchFolder& scratch) {
  return std::make_unique<ModelTeacher>(save(scratch / "vgae", wide_vgae()), "vgae", kLayout);
}

std::unique_ptr<ClassifierDistillation> classifier_student(const ScratchFolder& scratch) {
  model::GatConfig config = model::GatConfig::student(20);
  config.dropout = 0;
  return std::make_unique<ClassifierDistillation>(model::make_model(config), gat_teacher(scratch));
}

/// With running statistics: batch norm sees only its part of a step.
std::unique_ptr<AutoencoderDistillation> autoencoder_student(const ScratchFolder& scratch) {
  model::VgaeConfig config = model::VgaeConfig::student(20);
  config.dropout = 0;
  auto out =
      std::make_unique<AutoencoderDistillation>(model::make_model(config), vgae_teacher(scratch));
  for (const auto& module : out->module().modules(false)) {
    if (module->name().find("BatchNorm") != std::string::npos) module->eval();
  }
  return out;
}

/// Calls check(objective) for a student of each kind.
template <class Check>
void for_both(const Check& check) {
  const ScratchFolder scratch;
  torch::manual_seed(3);
  check(*classifier_student(scratch));
  check(*autoencoder_student(scratch));
}

TEST_CASE("the distillation loss equals PyTorch's", "[distillation][golden]") {
  const auto file = test::fixture("distillation");
  if (!file) return;
  const torch::Tensor student = tensor_of(*file, "student").requires_grad_();
  const torch::Tensor kd =
      distillation_loss(student, tensor_of(*file, "teacher"), 4) / static_cast<double>(32);
  check_close(kd, tensor_of(*file, "kd"), "kd");
  const torch::Tensor total =
      0.7 * kd + 0.3 * torch::cross_entropy_loss(student, tensor_of(*file, "y"));
  check_close(total, tensor_of(*file, "total"), "total");
  total.backward();
  check_close(student.grad(), tensor_of(*file, "grad_student"), "gradient");
}

TEST_CASE("the loss of a student is alpha times its teacher's and the rest its task's",
          "[distillation]") {
  const graph::GraphBatch batch = make_batch(random_small_graphs(6, 31));
  for_both([&](auto& student) {
    const auto at = [&](double alpha) {
      student.alpha = alpha;
      return student.loss(batch, distill_totals(batch), {7, 3}).template item<double>();
    };
    const double task = at(0), teacher = at(1);
    CHECK(teacher > 0);
    CHECK(at(0.7) == Approx(0.7 * teacher + 0.3 * task).epsilon(1e-5));
  });
}

TEST_CASE("gradients of a student are finite differences of its loss", "[distillation]") {
  const graph::GraphBatch batch = make_batch(random_small_graphs(6, 32));
  for_both([&](auto& student) {
    const auto loss = [&] { return student.loss(batch, distill_totals(batch), {7, 3}); };
    loss().backward();
    const torch::NoGradGuard no_grad;
    for (auto& item : student.module().named_parameters()) {
      const torch::Tensor gradient = item.value().grad();
      if (!gradient.defined()) continue;
      const double norm = gradient.norm().template item<double>();
      if (norm < 1e-3) continue;  // float32 losses tell no more
      INFO(item.key());
      const torch::Tensor step = gradient * (2e-3 / norm);
      const auto moved = [&](double sign) {
        item.value().add_(step, sign);
        const double out = loss().template item<double>();
        item.value().sub_(step, sign);
        return out;
      };
      CHECK((moved(1) - moved(-1)) / 4e-3 == Approx(norm).epsilon(0.05).margin(1e-3));
    }
  });
}

TEST_CASE("the parts of a distilling step add up to the step", "[distillation]") {
  const auto graphs = random_small_graphs(8, 33);
  const graph::GraphBatch whole = make_batch(graphs);
  for_both([&](auto& student) {
    const torch::Tensor loss = student.loss(whole, distill_totals(whole), {7, 3});
    loss.backward();
    std::vector<torch::Tensor> grads;
    for (auto& p : student.module().parameters()) {
      grads.push_back(p.grad().clone());
      p.mutable_grad().zero_();
    }
    double sum = 0;
    for (const auto& graph : graphs) {
      const graph::GraphBatch one = make_batch({graph});
      const torch::Tensor part = student.loss(one, distill_totals(whole), {7, 3});
      part.backward();
      sum += part.template item<double>();
    }
    CHECK(sum == Approx(loss.template item<double>()).epsilon(1e-6));
    const auto parameters = student.module().parameters();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      check_close(parameters[i].grad(), grads[i], "gradient", 1e-6, 1e-4);
    }
  });
}

TEST_CASE("a teacher says of a graph the same bits in every batch", "[distillation][teacher]") {
  const ScratchFolder scratch;
  const int threads = at::get_num_threads();
  at::set_num_threads(1);
  const auto graphs = random_small_graphs(70, 34);
  const auto check = [&](Teacher& teacher) {
    const std::vector<torch::Tensor> all = teacher.outputs(make_batch(graphs));
    for (const std::size_t size : {1, 2, 3, 5, 8, 33}) {
      int64_t node = 0;
      for (std::size_t first = 0; first < graphs.size(); first += size) {
        INFO("batches of " << size << ", from graph " << first);
        const std::vector<test::SmallGraph> some(
            graphs.begin() + static_cast<std::ptrdiff_t>(first),
            graphs.begin() + static_cast<std::ptrdiff_t>(std::min(first + size, graphs.size())));
        const graph::GraphBatch batch = make_batch(some);
        const std::vector<torch::Tensor> outputs = teacher.outputs(batch);
        for (std::size_t i = 0; i < all.size(); ++i) {
          const bool per_node = teacher.tensors()[i].per_node;
          const int64_t at = per_node ? node : static_cast<int64_t>(first);
          CHECK(torch::equal(outputs[i], all[i].slice(0, at, at + outputs[i].size(0))));
          CHECK_FALSE(outputs[i].requires_grad());
        }
        node += batch.nodes;
      }
    }
  };
  check(*gat_teacher(scratch));
  check(*vgae_teacher(scratch));
  at::set_num_threads(threads);
}

TEST_CASE("a projection is trained and checkpointed with the student, but no part of it",
          "[distillation]") {
  const ScratchFolder scratch;
  const auto student = autoencoder_student(scratch);
  REQUIRE(student->projection);
  CHECK(student->projection->weight.sizes() == torch::IntArrayRef{24, 16});
  const auto trained = student->module().named_parameters();
  CHECK(trained.contains("projection.weight"));
  CHECK(trained.contains("student.mean.weight"));
  CHECK(trained.size() == student->model()->named_parameters().size() + 2);
  const graph::GraphBatch batch = make_batch(random_small_graphs(4, 35));
  student->loss(batch, distill_totals(batch), {}).backward();
  CHECK(student->projection->weight.grad().norm().item<double>() > 0);

  model::VgaeConfig same = model::VgaeConfig::student(20);
  same.latent_dim = 24;
  const AutoencoderDistillation equal(model::make_model(same), vgae_teacher(scratch));
  CHECK_FALSE(equal.projection);
}

TEST_CASE("a teacher that does not fit is refused with the reason", "[distillation][teacher]") {
  const ScratchFolder scratch;
  const auto refuses = [&](const std::filesystem::path& file, const std::string& model,
                           const std::string& reason) {
    INFO(reason);
    CHECK_THROWS_WITH(ModelTeacher(file, model, kLayout),
                      Catch::Contains(file.string()) && Catch::Contains(reason));
  };
  refuses(save(scratch / "gat", model::GatConfig::student(20)), "vgae",
          "is a gat model, the student needs a vgae");
  json other = kLayout;
  other["vocabulary"] = {1, 2, 3, 4};
  refuses(save(scratch / "vocabulary", wide_gat(), other), "gat",
          "other vocabulary: 4 ids, here 3");
  other = kLayout;
  other["node_features"] = {"id"};
  refuses(save(scratch / "features", wide_gat(), other), "gat", "other feature layout");
  refuses(save(scratch / "silent", wide_gat(), json::object()), "gat",
          "does not say which graphs it was made for");

  const std::filesystem::path frozen = scratch / "frozen.safetensors";
  file::SafetensorsWriter writer;
  writer.metadata("model", "gat");
  writer.write(frozen);
  refuses(frozen, "gat", "no metadata 'config'");

  model::GatConfig narrow = wide_gat();
  narrow.hidden = 23;
  model::save_model(scratch / "sizes.safetensors", *model::make_model(narrow),
                    {"gat", wide_gat(), kLayout, {}});
  refuses(scratch / "sizes.safetensors", "gat", "the model needs F32");

  const std::filesystem::path damaged = save(scratch / "damaged", wide_gat());
  {
    std::fstream file(damaged, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(-3, std::ios::end);
    file.put('\x55');
  }
  refuses(damaged, "gat", "differs from its hash");
}

TEST_CASE("a teacher is found in a file, a step or a run, and only one",
          "[distillation][teacher]") {
  const ScratchFolder scratch;
  const std::filesystem::path run = scratch / "run";
  const std::filesystem::path gat = save(run / "classifier", wide_gat());
  const std::filesystem::path vgae = save(run / "autoencoder", wide_vgae());
  CHECK(find_teacher(gat, "gat") == gat);
  CHECK(find_teacher(run / "classifier", "gat") == gat);
  CHECK(find_teacher(run, "gat") == gat);
  CHECK(find_teacher(run, "vgae") == vgae);
  save(run / "small", model::GatConfig::student(20));
  CHECK_THROWS_WITH(find_teacher(run, "gat"),
                    Catch::Contains("classifier (gat), small (gat)") &&
                        Catch::Contains("teacher_path=" + (run / "classifier").string()));
  std::filesystem::create_directories(scratch / "empty");
  CHECK_THROWS_WITH(find_teacher(scratch / "empty", "gat"), Catch::Contains("holds no gat model"));
  std::filesystem::remove_all(run / "autoencoder");
  CHECK_THROWS_WITH(find_teacher(run, "vgae"), Catch::Contains("only classifier (gat)"));
  CHECK_THROWS_WITH(find_teacher(scratch / "absent", "gat"), Catch::Contains("no such file"));
  for (const char* name : {"best_model.pt", "best_model.ckpt"}) {
    std::ofstream(scratch / name) << "PK";
    try {
      find_teacher(scratch / name, "gat");
      FAIL("accepted");
    } catch (const Error& error) {
      CHECK(error.code() == ExitCode::kUsage);
      CHECK_THAT(error.what(), Catch::Contains("scripts/convert_checkpoint"));
    }
  }
}

TEST_CASE("a teacher's cache holds its bits and is computed once for one key",
          "[distillation][teacher]") {
  const ScratchFolder scratch;
  at::set_num_threads(1);
  test::RandomGraphs wanted;
  wanted.node_features = 11;
  wanted.files = {600};  // more than a chunk
  const graph::GraphStore store = test::random_store(scratch / "graphs.safetensors", wanted);
  std::vector<int64_t> ids;
  for (int64_t id = store.graphs() - 1; id >= 0; id -= id % 7 == 0 ? 2 : 1) ids.push_back(id);
  int computed = 0;
  std::string notes;
  TeacherUse use;
  use.mode = "cache";
  use.folder = scratch.path();
  use.note = [&](const std::string& text) { notes += text + "\n"; };
  use.progress = [&](int64_t done, int64_t total) { computed += done == total ? 1 : 0; };
  const auto load = [&](const char* kind) {
    const bool is_gat = std::string(kind) == "gat";
    return std::make_unique<ModelTeacher>(scratch / kind / "model.safetensors",
                                          is_gat ? "gat" : "vgae", kLayout);
  };
  save(scratch / "gat", wide_gat());
  save(scratch / "vgae", wide_vgae());
  for (const char* kind : {"gat", "vgae"}) {
    const auto cached = keep_teacher(load(kind), store, ids, use);
    const auto resident = load(kind);
    REQUIRE(cached->tensors().size() == resident->tensors().size());
    for (const std::vector<int64_t>& some :
         {std::vector<int64_t>{ids[3]}, {ids[5], ids[0], ids[99]}, {ids.end() - 40, ids.end()}}) {
      graph::GraphBatch batch;
      graph::gather(store, some, false, batch);
      const auto a = cached->outputs(batch), b = resident->outputs(batch);
      for (std::size_t i = 0; i < a.size(); ++i) CHECK(torch::equal(a[i], b[i]));
    }
  }
  CHECK(computed == 2);
  CHECK(notes.find("left memory") != std::string::npos);
  keep_teacher(load("vgae"), store, ids, use);
  CHECK(computed == 2);
  ids.pop_back();
  keep_teacher(load("vgae"), store, ids, use);
  CHECK(computed == 3);
  {
    std::fstream file(teacher_cache_file(scratch.path()),
                      std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(-3, std::ios::end);
    file.put('\x55');
  }
  keep_teacher(load("vgae"), store, ids, use);
  CHECK(computed == 4);
  use.mode = "auto";
  notes.clear();
  keep_teacher(load("gat"), store, ids, use);
  CHECK(notes.find("teacher: cache") != std::string::npos);
  use.may_cache = false;
  keep_teacher(load("gat"), store, ids, use);
  CHECK(notes.find("teacher: resident") != std::string::npos);
  use.may_offload = true;
  keep_teacher(load("gat"), store, ids, use);
  CHECK(notes.find("teacher: offload") != std::string::npos);
  CHECK(notes.find("same as resident") != std::string::npos);
  clear_teacher_cache(scratch.path());
  CHECK_FALSE(std::filesystem::exists(teacher_cache_file(scratch.path())));
}

}  // namespace
}  // namespace kdgat::objective
