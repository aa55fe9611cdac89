// Texts as the data of a profile.
#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "pipeline/data/data.h"
#include "support/programs/command.h"
#include "support/programs/data_spec.h"

using namespace kdgat;
using nlohmann::json;
using test::error_of;
using test::names_in;
using test::of_path;
using test::prepare;
using test::ScratchFolder;
using test::set;
namespace fs = std::filesystem;

TEST_CASE("a profile may ask for synthetic texts, or be given a store of texts", "[data]") {
  const ScratchFolder scratch;
  DataSpec data;
  data.synthetic = true;
  data.synth.values = {{"kind", "text"}, {"graphs", 60}, {"nodes", 40}, {"classes", 2}};
  set(data, "remove_rare_words", 2);
  const fs::path folder = data_folder(data, scratch / "runs");
  const PreparedData made = prepare(data, folder);
  CHECK_THAT(made.summary, Catch::StartsWith("synthetic 60 documents, 2 classes, ") &&
                               Catch::EndsWith(" words, seed 1"));
  CHECK(made.facts.at("parts") == json{{"train", 32}, {"val", 8}, {"test", 20}});
  CHECK(made.facts.at("text").at("nodes").get<int64_t>() > 60);
  CHECK(names_in(folder) == std::set<std::string>{"graphs.safetensors", "import.json"});
  CHECK(verify_data(folder).empty());
  CHECK(prepare(data, folder).reused);
  CHECK(prepare(data, scratch / "other").fingerprint == made.fingerprint);
  set(data, "build_threads", 1);  // changes nothing
  CHECK(data_folder(data, scratch / "runs") == folder);
  set(data, "seed", 7);  // of the parts, which stand in the store
  CHECK(data_folder(data, scratch / "runs") != folder);

  DataSpec given = of_path(folder);
  const PreparedData linked = prepare(given, data_folder(given, scratch / "given"));
  CHECK(linked.fingerprint == made.fingerprint);
  CHECK_THAT(linked.summary, Catch::StartsWith("2 files, 60 documents"));
  set(given, "seed", 7);
  const Error refused = error_of([&] { prepare(given, scratch / "never"); });
  CHECK(refused.code() == ExitCode::kUsage);
  CHECK_THAT(refused.what(), Catch::Contains("name the texts instead of the store"));
}
