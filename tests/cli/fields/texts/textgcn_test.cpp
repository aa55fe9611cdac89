// The stage textgcn and the published profiles of texts, as a person meets them.
#include <catch2/catch.hpp>
#include <fstream>
#include <string>

#include "support/programs/cli.h"

namespace {

/// A profile of two lines' difference from the shipped one.
std::string published(const std::string& from, const std::string& to) {
  std::ifstream in("profiles/fields/texts/testGCN.json");
  std::string text((std::istreambuf_iterator<char>(in)), {});
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

json read(const std::filesystem::path& file) {
  std::ifstream in(file);
  return json::parse(in);
}

}  // namespace

TEST_CASE("texts are trained on from the command line, and all parts are evaluated",
          "[cli][textgcn]") {
  const ScratchFolder scratch;
  must_kdgat("data synth -o texts --kind text --graphs 120 --nodes 60 --classes 3", scratch.path());
  const std::string words = "run textgcn --data texts data.remove_rare_words=2 epochs=20";
  CHECK_THAT(must_kdgat(words, scratch.path()).out, Catch::Contains("macro F1"));
  const auto run = newest_run(scratch / "runs/texts", "textgcn");
  const json metrics = read(run / "textgcn/metrics.json");
  CHECK(metrics.at("parts").at("test").at("accuracy") > 0.6);
  CHECK(metrics.at("parts").at("val").at("averages").at("recall").contains("weighted"));
  CHECK(metrics.at("memory").at("planned").at("identity, naive") > 0);
  CHECK(metrics.at("memory").at("peak_over_start_bytes") > 0);
  CHECK(std::filesystem::exists(run / "textgcn/model.safetensors"));
  CHECK_THAT(must_kdgat(words + " -n", scratch.path()).out, Catch::Contains("textgcn  kept"));
}

TEST_CASE("the plan of a text graph names what is never allocated", "[cli][textgcn]") {
  const ScratchFolder scratch;
  must_kdgat("data synth -o texts --kind text --graphs 120 --nodes 60", scratch.path());
  const CommandResult plan = must_kdgat("plan textgcn --data texts", scratch.path());
  CHECK_THAT(plan.out + plan.err, Catch::Contains("identity features, naive: "));
  const CommandResult none =
      run_kdgat("plan textgcn --data texts --memory-limit 1MiB", scratch.path());
  CHECK(none.exit_code == 5);
}

TEST_CASE("the published profiles of texts have the published values", "[cli][textgcn]") {
  const ScratchFolder scratch;
  const auto settings = [&](const std::string& preset) {
    return must_kdgat("config show --preset " + preset + " --data texts", scratch.path()).out;
  };
  const std::string normal = settings("testGCN"), low = settings("testGCN_low_memory");
  for (const char* line :
       {"dataset: 20ng\n", "cleaning: seed\n", "remove_stopwords: true\n", "hidden_dims: [200]\n",
        "lr: 0.02\n", "dropout: 0.5\n", "max_epochs: 100\n", "patience: 10\n", "use_bn: true\n",
        "bias: true\n", "stop: best\n", "model: text_gcn\n"}) {
    CHECK_THAT(normal, Catch::Contains(line));
    CHECK_THAT(low, Catch::Contains(line));
  }
  CHECK_THAT(normal, Catch::Contains("tvt_split: [0.7, 0.2, 0.1]\n") &&
                         Catch::Contains("remove_rare_words: 15\n") &&
                         Catch::Contains("vocab_size: 0\n") &&
                         Catch::Contains("word_window: 20\n"));
  CHECK_THAT(low, Catch::Contains("tvt_split: [0.8, 0, 0.2]\n") &&
                      Catch::Contains("remove_rare_words: 100\n") &&
                      Catch::Contains("vocab_size: 8000\n") &&
                      Catch::Contains("word_window: 15\n"));

  // Its shares leave nothing for validation: the loader of the published program ends there.
  must_kdgat("data synth -o texts --kind text --graphs 150 --nodes 60 --classes 3", scratch.path());
  must_kdgat("run --preset testGCN_low_memory --data texts data.remove_rare_words=2 epochs=20",
             scratch.path());
  const json metrics = read(newest_run(scratch / "runs/20ng", "textgcn") / "textgcn/metrics.json");
  CHECK(metrics.at("epochs") == 20);
  CHECK_FALSE(metrics.at("parts").contains("val"));
}

TEST_CASE("a key that published profiles do not have is refused with the nearest one",
          "[cli][textgcn]") {
  const ScratchFolder scratch;
  must_kdgat("data synth -o texts --kind text --graphs 120 --nodes 60", scratch.path());
  const auto refused = [&](const std::string& from, const std::string& to) {
    std::ofstream(scratch / "mine.json") << published(from, to);
    const CommandResult result =
        run_kdgat("run --config mine.json --data texts -n", scratch.path());
    CHECK(result.exit_code == 2);
    return result.err;
  };
  // Published sweeps set hidden_dim, which their program ignores.
  CHECK_THAT(refused("\"hidden_dims\": [200]", "\"hidden_dim\": 100"),
             Catch::Contains("mine.json:29: unknown option") &&
                 Catch::Contains("did you mean hidden_dims?"));
  CHECK_THAT(refused("window_size", "windows_size"),
             Catch::Contains("unknown option dataset.gnn_encoding.windows_size") &&
                 Catch::Contains("did you mean dataset.gnn_encoding.window_size?"));
  CHECK_THAT(refused("\"identity\"", "\"glove\""), Catch::Contains("glove"));
  CHECK_THAT(refused("\"gnn_encoding\"", "\"rnn_encoding\""),
             Catch::Contains("dataset.rnn_encoding is not supported"));
  CHECK_THAT(refused("[0.7, 0.2, 0.1]", "[1, 0.5, 0.5]"), Catch::Contains("add up to 2, not 1"));
  CHECK_THAT(refused("\"shuffle\": true", "\"shuffle\": false"),
             Catch::Contains("dataset.shuffle"));
  CHECK_THAT(refused("text_gcn", "lstm"), Catch::Contains("lstm"));
}
