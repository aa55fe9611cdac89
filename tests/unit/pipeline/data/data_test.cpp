#include "pipeline/data/data.h"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <set>

#include "kdgat/error.h"
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

namespace {

DataSpec synthetic(double seconds = 6) {
  DataSpec data;
  data.synthetic = true;
  data.synth.values = {{"seconds", seconds}, {"attacks", {"dos", "spoofing"}}, {"vehicles", 2}};
  return data;
}

int64_t sum(const json& counts, const char* key) {
  int64_t total = 0;
  for (const json& c : counts) total += c.at(key).get<int64_t>();
  return total;
}

}  // namespace

TEST_CASE("what killed imports left goes with the next one", "[data]") {
  const ScratchFolder scratch;
  const pid_t gone = ::fork();
  if (gone == 0) ::_exit(0);
  REQUIRE(::waitpid(gone, nullptr, 0) == gone);
  const std::string half = "graphs.safetensors.tmp." + std::to_string(gone) + ".0";
  const auto leave = [&](const fs::path& folder, const std::string& temporary) {
    fs::create_directories(folder / temporary / "below");
    std::ofstream(folder / half) << "half";
  };
  // Of synthetic input, below the folder of a data set.
  const fs::path import = data_folder(synthetic(), scratch / "runs/smoke");
  leave(import, "logs.aB3dE6");
  leave(import.parent_path() / "0123", "link.aB3dE6");
  clear_data_leftovers(scratch / "runs/smoke");
  CHECK(names_in(import).empty());
  CHECK(names_in(import.parent_path() / "0123").empty());
  // Where people write to.
  const fs::path logs = scratch / "logs", store = scratch / "store";
  leave(logs, ".synth.aB3dE6");
  std::ofstream(logs / "notes.tmp.txt") << "mine";
  const json small = {{"seconds", 2}, {"attacks", json::array()}, {"vehicles", 1}};
  synthesize_data(logs, small, {});
  CHECK(names_in(logs).contains("notes.tmp.txt"));
  CHECK_FALSE(names_in(logs).contains(".synth.aB3dE6"));
  CHECK_FALSE(names_in(logs).contains(half));
  fs::remove(logs / "notes.tmp.txt");
  leave(store, ".synth.aB3dE6");
  import_data(logs, store, json::object(), {}, {});
  CHECK(names_in(store) ==
        std::set<std::string>{"graphs.safetensors", "import.json", "split.safetensors"});
}

TEST_CASE("the sections of a profile have schemas", "[data]") {
  const SectionSchemas schemas = data_schemas();
  CHECK(schemas.import.at("properties").contains("window"));
  CHECK(schemas.synth.at("properties").contains("seconds"));
}

TEST_CASE("the folder of an import follows its files and options", "[data]") {
  const fs::path root = "runs/smoke";
  const fs::path folder = data_folder(synthetic(), root);
  CHECK(folder.parent_path() == root / "data");
  CHECK(folder.filename().string().size() == 16);
  CHECK(folder == data_folder(synthetic(), root));
  CHECK(folder != data_folder(synthetic(7), root));
  DataSpec other = synthetic();
  set(other, "window", 50);
  CHECK(folder != data_folder(other, root));
  CHECK(data_folder(of_path("-"), root) == data_folder(of_path("-"), root));
  CHECK(error_of([&] { data_folder(of_path("no/such.csv"), root); }).code() == ExitCode::kData);
  CHECK(error_of([&] { data_folder(DataSpec(), root); }).code() == ExitCode::kUsage);
}

TEST_CASE("synthetic data is written, imported and its logs removed", "[data]") {
  const ScratchFolder scratch;
  const PreparedData first = prepare(synthetic(), scratch / "a");
  CHECK(!first.reused);
  CHECK(names_in(scratch / "a") ==
        std::set<std::string>{"graphs.safetensors", "import.json", "split.safetensors"});
  CHECK(first.facts.at("attack") > 0);
  CHECK(first.facts.at("parts").at("train") > 0);
  CHECK(first.facts.at("parts").at("val") > 0);
  CHECK(first.facts.at("parts").contains("test/test_01_known_vehicle_known_attack"));
  CHECK(first.facts.at("parts").contains("test/test_02_unknown_vehicle_known_attack"));
  CHECK(first.summary.rfind("synthetic CAN traffic, 6 s, 2 vehicles, seed 1: ", 0) == 0);

  const PreparedData again = prepare(synthetic(), scratch / "a");
  CHECK(again.reused);
  CHECK(again.fingerprint == first.fingerprint);
  CHECK(again.summary == first.summary);
  CHECK(prepare(synthetic(), scratch / "b").fingerprint == first.fingerprint);
}

TEST_CASE("logs are imported once and found again", "[data]") {
  const ScratchFolder scratch;
  const json synth = {{"seconds", 6}, {"vehicles", 1}, {"attacks", {"fuzzing"}}};
  const std::vector<std::string> files = synthesize_data(scratch / "logs", synth, {});
  CHECK(files.size() == 3);
  const DataSpec data = of_path(scratch / "logs");
  const fs::path folder = data_folder(data, scratch / "runs");
  CHECK(!find_prepared(folder));
  const PreparedData made = prepare(data, folder);
  const std::optional<PreparedData> found = find_prepared(folder);
  REQUIRE(found);
  CHECK(found->fingerprint == made.fingerprint);
  CHECK(found->facts == made.facts);
  CHECK(found->summary == made.summary);
  CHECK(made.summary.rfind("3 files, ", 0) == 0);
}

TEST_CASE("a given graph store is linked and keeps its split", "[data]") {
  const ScratchFolder scratch;
  const PreparedData made = prepare(synthetic(), scratch / "given");
  const DataSpec data = of_path(scratch / "given");
  const fs::path folder = data_folder(data, scratch / "runs");
  CHECK(folder == data_folder(of_path(scratch / "given" / "graphs.safetensors"), scratch / "runs"));
  CHECK(prepare(data, folder).fingerprint == made.fingerprint);
  CHECK(fs::equivalent(folder / "graphs.safetensors", scratch / "given" / "graphs.safetensors"));
  CHECK(names_in(folder) == std::set<std::string>{"graphs.safetensors", "split.safetensors"});

  DataSpec resplit = data;
  set(resplit, "split", "random");
  const fs::path other = data_folder(resplit, scratch / "runs");
  CHECK(other != folder);
  CHECK(prepare(resplit, other).fingerprint != made.fingerprint);

  DataSpec narrow = data;
  set(narrow, "window", 50);
  const Error refused = error_of([&] { prepare(narrow, scratch / "narrow"); });
  CHECK(refused.code() == ExitCode::kUsage);
  CHECK(std::string(refused.what()).find("window: 50 is asked for") != std::string::npos);
  CHECK(!fs::exists(scratch / "narrow"));
}

TEST_CASE("synthetic logs appear together or not at all", "[data]") {
  const ScratchFolder scratch;
  const json options = {{"seconds", 6}, {"attacks", {"dos"}}};
  const auto has_log = [&] {  // anywhere, finished or not
    for (const auto& entry : fs::recursive_directory_iterator(scratch.path())) {
      if (entry.path().extension() == ".csv") return true;
    }
    return false;
  };
  const auto stopped = [&](const char* name) {
    return error_of([&] { synthesize_data(scratch / name, options, has_log); });
  };
  CHECK(stopped("new").code() == ExitCode::kInterrupted);
  CHECK(!fs::exists(scratch / "new"));
  fs::create_directories(scratch / "old");
  std::ofstream(scratch / "old" / "note.txt") << "mine";
  CHECK(stopped("old").code() == ExitCode::kInterrupted);
  CHECK(names_in(scratch / "old") == std::set<std::string>{"note.txt"});
  CHECK(!synthesize_data(scratch / "old", options, {}).empty());
  CHECK(fs::exists(scratch / "old" / "note.txt"));
}

TEST_CASE("an interrupted import leaves nothing", "[data]") {
  const ScratchFolder scratch;
  const auto stop = [] { return true; };
  const Error stopped = error_of([&] { prepare_data(synthetic(), scratch / "a", {}, stop); });
  CHECK(stopped.code() == ExitCode::kInterrupted);
  CHECK(!fs::exists(scratch / "a"));

  synthesize_data(scratch / "logs", {{"seconds", 30}, {"attacks", {"dos"}}}, {});
  const Error import =
      error_of([&] { import_data(scratch / "logs", scratch / "b", {}, {}, stop); });
  CHECK(import.code() == ExitCode::kInterrupted);
  CHECK(!fs::exists(scratch / "b"));
}

TEST_CASE("a store is not written over the input it is made of", "[data]") {
  const ScratchFolder scratch;
  synthesize_data(scratch / "logs", {{"seconds", 30}, {"attacks", {"dos"}}}, {});
  const std::set<std::string> before = names_in(scratch / "logs");
  for (const fs::path& folder :
       {scratch / "logs", scratch / "logs" / ".", scratch / "logs/../logs"}) {
    const Error refused = error_of([&] { import_data(scratch / "logs", folder, {}, {}, {}); });
    CHECK(refused.code() == ExitCode::kUsage);
    CHECK_THAT(refused.what(), Catch::Contains("both the input and the folder of the store"));
  }
  CHECK(names_in(scratch / "logs") == before);
}

TEST_CASE("a damaged import is made again", "[data]") {
  const ScratchFolder scratch;
  const PreparedData made = prepare(synthetic(), scratch / "a");
  fs::resize_file(scratch / "a" / "graphs.safetensors", 1000);
  CHECK(!find_prepared(scratch / "a"));
  const PreparedData again = prepare(synthetic(), scratch / "a");
  CHECK(!again.reused);
  CHECK(again.fingerprint == made.fingerprint);
}

TEST_CASE("counts of files and parts add up to the store's", "[data]") {
  const ScratchFolder scratch;
  prepare(synthetic(), scratch / "a");
  const json seen = inspect_data(scratch / "a", json::object(), {}, {});
  for (const char* key : {"graphs", "attack", "benign", "unlabelled"}) {
    INFO(key);
    CHECK(sum(seen.at("files"), key) == seen.at("facts").at(key));
    CHECK(sum(seen.at("parts"), key) == seen.at("facts").at(key));
  }
  for (const json& file : seen.at("files")) {
    CHECK(file.at("ids") <= seen.at("facts").at("num_ids"));
    CHECK(file.at("nodes").at("p50") <= file.at("nodes").at("max"));
    CHECK(file.at("rows") > 0);
  }
}

TEST_CASE("a log can be inspected without importing it", "[data]") {
  const ScratchFolder scratch;
  const auto files = synthesize_data(scratch / "logs", {{"seconds", 6}, {"attacks", {"dos"}}}, {});
  const json seen = inspect_data(scratch / "logs" / files[0], {{"window", 50}}, {}, {});
  CHECK(seen.at("options").at("window") == 50);
  CHECK(seen.at("files").size() == 1);
  CHECK(names_in(scratch.path()) == std::set<std::string>{"logs"});
}

TEST_CASE("verify finds a flipped byte and a split of another store", "[data]") {
  const ScratchFolder scratch;
  prepare(synthetic(), scratch / "a");
  CHECK(verify_data(scratch / "a").empty());
  prepare(synthetic(7), scratch / "b");
  fs::copy_file(scratch / "b" / "split.safetensors", scratch / "a" / "split.safetensors",
                fs::copy_options::overwrite_existing);
  CHECK(verify_data(scratch / "a").size() == 1);

  const fs::path store = scratch / "b" / "graphs.safetensors";
  const auto size = static_cast<std::streamoff>(fs::file_size(store));
  std::fstream file(store, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(size / 2);
  const char byte = static_cast<char>(file.get() ^ 1);
  file.seekp(size / 2);
  file.put(byte);
  file.close();
  CHECK(!verify_data(scratch / "b").empty());
  CHECK(error_of([&] { verify_data(scratch.path()); }).code() == ExitCode::kData);
}
