// Distillation through the executable: the published command lines and keys, teachers by path and
// by step, converted PyTorch teachers.
#include <catch2/catch.hpp>
#include <string>

#include "engine/file/safetensors.h"
#include "support/programs/cli.h"
#include "support/programs/python.h"

using kdgat::file::SafetensorsFile;

namespace {

/// A small data set "data" and a run of two small teachers.
struct Trained {
  Trained() {
    must("data synth -o logs --seconds 10 --vehicles 2 --attacks dos,fuzzing");
    must("data import logs -o data");
    must(
        "run --preset vgae,gat,teacher --data data --root teachers max_epochs=1 "
        "hidden_dims=[24,12] latent_dim=12 autoencoder.heads=2 hidden=12 classifier.heads=2");
    teacher = newest_run(scratch / "teachers" / "data");
  }

  CommandResult must(const std::string& words) const { return must_kdgat(words, scratch.path()); }
  /// The log of the newest run's `step` below `root`.
  std::string log(const std::string& root, const std::string& step) const {
    return read_text(newest_run(scratch / root / "data", step) / step / "log.txt");
  }

  ScratchFolder scratch;
  fs::path teacher;
};

}  // namespace

TEST_CASE("the published words of distillation train a student", "[distillation][cli]") {
  const Trained f;
  const std::string student =
      "run autoencoder --preset vgae,student --data data --max-epochs 1 --use-kd true "
      "--offload-teacher-to-cpu true --teacher-path ";
  f.must(student + f.teacher.string());
  CHECK(f.log("runs", "autoencoder").find("teacher: cache") != std::string::npos);
  f.must(student + "teachers/data/" + f.teacher.filename().string() +
         "/autoencoder --root uncached --use-teacher-cache false");
  CHECK(f.log("uncached", "autoencoder").find("teacher: offload") != std::string::npos);
  f.must("run distill --data data --root small --max-epochs 1 --teacher-path " +
         (f.teacher / "classifier" / "model.safetensors").string());
  CHECK(f.log("small", "distill").find("teacher: cache") != std::string::npos);

  std::ofstream(f.scratch / "flat.json")
      << R"({"max_epochs": 1, "use_kd": true, "teacher_path": ")" << f.teacher.string()
      << R"(", "kd_temperature": 4.0, "kd_alpha": 0.7, "kd_vgae_latent_weight": 0.5,)"
      << R"( "kd_vgae_recon_weight": 0.5, "use_teacher_cache": true,)"
      << R"( "offload_teacher_to_cpu": true, "log_teacher_student_comparison": true,)"
      << R"( "vgae_hidden_dims": [8, 4], "vgae_latent_dim": 4, "gat_hidden": 4})";
  for (const std::string stage : {"autoencoder", "classifier"}) {
    f.must("run " + stage + " --config flat.json --data data --root flat");
    CHECK(f.log("flat", stage).find("teacher: cache") != std::string::npos);
  }

  SECTION("the same teacher elsewhere keeps the step, another in its place runs it again") {
    fs::copy(f.teacher, f.scratch / "copy", fs::copy_options::recursive);
    CHECK(f.must(student + "copy -n").out.find("kept") != std::string::npos);
    fs::copy_file(f.teacher / "classifier" / "model.safetensors",
                  f.scratch / "copy" / "autoencoder" / "model.safetensors",
                  fs::copy_options::overwrite_existing);
    const CommandResult other = f.must(student + "copy -n");
    CHECK(other.out.find("option changed: autoencoder.teacher_path") != std::string::npos);
    const CommandResult refused = run_kdgat(student + "copy/autoencoder", f.scratch.path());
    CHECK(refused.exit_code == 3);
    CHECK(refused.err.find("is a gat model, the student needs a vgae") != std::string::npos);
  }
  SECTION("a PyTorch file is refused with the way to convert it") {
    std::ofstream(f.scratch / "best_model.pt") << "PK";
    for (const std::string name : {"best_model.pt", "absent.pt"}) {
      const CommandResult result = run_kdgat(student + name, f.scratch.path());
      INFO(result.err);
      CHECK(result.exit_code == 2);
      CHECK(result.err.find("scripts/convert_checkpoint") != std::string::npos);
    }
  }
}

TEST_CASE("a profile wires teachers to students", "[distillation][cli]") {
  const Trained f;
  const CommandResult result = f.must(
      "run --preset distill --data data --root chain --json max_epochs=1 lr=0.01 "
      "'classifier teacher.hidden=8' 'autoencoder teacher.hidden_dims=[24,12]' "
      "'autoencoder teacher.latent_dim=12'");
  CHECK(json::parse(result.out).at("steps").size() == 5);
  for (const std::string step : {"autoencoder", "classifier"}) {
    CHECK(f.log("chain", step).find("teacher: cache") != std::string::npos);
  }
}

TEST_CASE("a published state dict becomes a teacher", "[distillation][cli]") {
  const auto python = python_with("torch, safetensors.torch, xxhash");
  if (!python) return;
  const Trained f;
  // The names of the published modules, the numbers of the teachers just trained.
  std::ofstream(f.scratch / "publish.py") << R"(
import json, re, sys, torch
from safetensors.torch import load_file
names = {"classifier": [("input.embedding.", "id_embedding."), ("head.", "fc_layers.")],
         "autoencoder": [("input.embedding.", "id_embedding."), (r"encoder.(\d+).conv.", r"encoder_layers.\1."),
                         (r"encoder.(\d+).norm.", r"encoder_bns.\1."), ("mean.", "z_mean."), ("logvar.", "z_logvar."),
                         ("decoder.conv.", "decoder_layers.0."), ("decoder.norm.", "decoder_bns.0."),
                         ("output.", "decoder_layers.1."), ("ids.", "canid_classifier."),
                         ("neighbours.", "neighborhood_decoder.")]}
for step, renames in names.items():
    state = load_file(f"{sys.argv[1]}/{step}/model.safetensors")
    assert not [name for name in state if name.startswith("_pad")], "a state dict that load_state_dict refuses"
    for pattern, published in renames:
        state = {re.sub("^" + pattern, published, name): value for name, value in state.items()}
    torch.save(state, step + ".pt")
torch.save({"strange.weight": torch.zeros(2)}, "strange.pt")
json.dump({"gat_dropout": 0.2, "vgae_dropout": 0.15}, open("config.json", "w"))
)";
  const auto shell = [&](const std::string& line) { return run_shell(line, f.scratch.path()); };
  REQUIRE(shell(*python + " publish.py " + f.teacher.string()).exit_code == 0);
  const std::string convert =
      *python + " '" + (fs::current_path() / "scripts/convert_checkpoint").string() + "' ";
  for (const std::string step : {"autoencoder", "classifier"}) {
    INFO(step);
    const CommandResult made =
        shell(convert + step + ".pt --store data -o " + step + ".safetensors");
    INFO(made.err);
    REQUIRE(made.exit_code == 0);
    const SafetensorsFile before = SafetensorsFile::open(f.teacher / step / "model.safetensors");
    const SafetensorsFile after = SafetensorsFile::open(f.scratch / (step + ".safetensors"));
    CHECK(after.tensors().size() == before.tensors().size());
    for (const auto& [name, tensor] : before.tensors()) {
      INFO(name);
      CHECK(std::equal(tensor.data, tensor.data + tensor.bytes, after.tensor(name).data));
    }
    f.must("run " + step +
           " --preset vgae,gat,student --data data --root converted --max-epochs 1 "
           "--use-kd true --teacher-path " +
           step + ".safetensors");
  }
  const CommandResult strange = shell(convert + "strange.pt --store data -o strange.safetensors");
  CHECK(strange.exit_code == 2);
  CHECK(strange.err.find("strange.weight") != std::string::npos);
  CHECK_FALSE(fs::exists(f.scratch / "strange.safetensors"));
  REQUIRE(shell("mkdir alone && cp classifier.pt alone").exit_code == 0);
  const CommandResult silent =
      shell(convert + "alone/classifier.pt --store data -o no.safetensors");
  CHECK(silent.exit_code == 2);
  CHECK(silent.err.find("config.json: the frozen configuration is missing") != std::string::npos);
}
