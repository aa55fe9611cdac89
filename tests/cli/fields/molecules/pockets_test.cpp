// An encoder of pockets from synthetic molecules to ranked ligands, as a user does it.
#include <catch2/catch.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "support/programs/cli.h"

namespace {

constexpr const char* kSmallPockets =
    "run --preset pocket --data files --threads 1 num_layers=1 hidden_irreps=8x0e+4x1o+2x2e "
    "radial_hidden_dim=16 num_epochs=2 ";

void write_pockets(const ScratchFolder& scratch) {
  must_kdgat("data synth -o files --kind molecules --graphs 20 --nodes 50 --classes 4",
             scratch.path());
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

double last_loss(const fs::path& step) {
  return json::parse(read_text(step / "metrics.json")).at("val_loss");
}

}  // namespace

TEST_CASE("ligands are ranked for a pocket with nothing but the model file", "[cli][pockets]") {
  const ScratchFolder scratch;
  write_pockets(scratch);
  must_kdgat(kSmallPockets, scratch.path());
  const fs::path step = newest_run(scratch / "runs/files") / "equivariant";
  const std::string model = " --run '" + (step / "model.safetensors").string() + "'";

  const auto rows =
      lines_of(must_kdgat("score files/pocket0000.pdb --top 3" + model, scratch.path()).out);
  REQUIRE(rows.size() == 4);
  CHECK(rows[0] == "molecule,rank,ligand,distance");
  CHECK(rows[1].starts_with("pocket0000,1,"));
  CHECK(rows[3].starts_with("pocket0000,3,"));

  const auto objects = lines_of(must_kdgat("score files --json --top 2 --run '" +
                                               newest_run(scratch / "runs/files").string() + "'",
                                           scratch.path())
                                    .out);
  CHECK(objects.size() == 40);
  double before = -1;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const json row = json::parse(objects[i]);
    CHECK(row.at("rank") == static_cast<int>(i % 2) + 1);
    if (i % 2 == 1) CHECK(row.at("distance").get<double>() >= before);
    before = row.at("distance");
  }
  // As the run itself said of the test pockets.
  const std::string csv = read_text(step / "predictions.csv");
  const std::string name = lines_of(csv)[1].substr(0, lines_of(csv)[1].find(','));
  const auto again =
      lines_of(must_kdgat("score files/" + name + ".pdb --top 1" + model, scratch.path()).out);
  const std::string nearest = again[1].substr(again[1].find(",1,") + 3);
  CHECK_THAT(lines_of(csv)[1], Catch::Contains("," + nearest.substr(0, nearest.find(',')) + ","));

  const CommandResult log =
      run_kdgat("score " + (step / "metrics.json").string() + model, scratch.path());
  CHECK(log.exit_code == 3);
  const CommandResult none = run_kdgat("score" + model, scratch.path());
  CHECK(none.exit_code == 2);
  CHECK_THAT(none.err, Catch::Contains("kdgat score needs a file"));
  const CommandResult unknown =
      run_kdgat("score files/pocket0000.pdb --treshold 3" + model, scratch.path());
  CHECK(unknown.exit_code == 2);
}

TEST_CASE("published words of the encoder are known, and what it lacks is named",
          "[cli][pockets]") {
  const ScratchFolder scratch;
  write_pockets(scratch);
  must_kdgat(
      "run equivariant --preset rna3e,hygiene --data files --batch_size 2 --num_layers 1 "
      "--hidden_irreps '8x0e + 4x1o' --use_multi_hop --use_nonbonded --use_gate "
      "--use_layer_norm --grad_clip 1.0 --accumulation_steps 2 num_epochs=1",
      scratch.path());
  const fs::path step = newest_run(scratch / "runs/files") / "equivariant";
  const json options = json::parse(read_text(step / "config.json"));
  CHECK_THAT(options.dump(), Catch::Contains("\"use_layer_norm\":true") &&
                                 Catch::Contains("\"accumulate_grad_batches\":2"));
  const CommandResult amp =
      run_kdgat("run equivariant --preset rna3e --data files use_amp=true", scratch.path());
  CHECK(amp.exit_code == 2);
  CHECK_THAT(amp.err, Catch::Contains("precision=bf16-mixed"));
  const CommandResult irreps =
      run_kdgat("run equivariant --data files hidden_irreps=4x3o", scratch.path());
  CHECK(irreps.exit_code == 2);
  CHECK_THAT(irreps.err, Catch::Contains("is not one of 0e, 1o, 2e"));
  const CommandResult warned =
      must_kdgat(std::string(kSmallPockets) + "norm=published num_epochs=1", scratch.path());
  CHECK_THAT(warned.err, Catch::Contains("depends on how it is turned"));
}

TEST_CASE("two processes train an encoder of pockets as one does", "[cli][pockets][ranks]") {
  const ScratchFolder scratch;
  write_pockets(scratch);
  const std::string words = std::string(kSmallPockets) + "optimize_batch_size=false batch_size=4 ";
  must_kdgat(words + "--root one", scratch.path());
  must_kdgat(words + "--root two --nproc 2", scratch.path());
  const double one = last_loss(newest_run(scratch / "one/files") / "equivariant");
  const double two = last_loss(newest_run(scratch / "two/files") / "equivariant");
  CHECK(two == Approx(one).epsilon(1e-4));
}

TEST_CASE("plans of encoders name a batch for each card", "[cli][pockets][plan]") {
  const ScratchFolder scratch;
  write_pockets(scratch);
  must_kdgat("data import files -o store", scratch.path());
  int64_t before = 0;
  for (const char* memory : {"8GiB", "24GiB", "80GiB"}) {
    const json plan = json::parse(
        must_kdgat(std::string("plan equivariant --preset rna3e --data store --json "
                               "optimize_batch_size=true batch_size=100000 min_steps_per_epoch=1 "
                               "memory_estimation=static "
                               "--device ") +
                       memory,
                   scratch.path())
            .out);
    const json& of_step = plan.at("steps").at(0).at("memory");
    const int64_t edges = of_step.at("bounds").at("edges");
    INFO(of_step.dump());
    CHECK(edges > before);
    before = edges;
  }
}
