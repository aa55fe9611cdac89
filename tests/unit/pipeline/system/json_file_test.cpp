#include "pipeline/system/json_file.h"

#include <catch2/catch.hpp>

#include "kdgat/atomic_file.h"
#include "support/command.h"
#include "support/log_text.h"

using namespace kdgat;
using namespace kdgat::test;
using nlohmann::json;

TEST_CASE("a JSON file that must be there says what is wrong with it, and where", "[json_file]") {
  const ScratchFolder scratch;
  const std::filesystem::path file = scratch / "a.json";
  const auto problem = [&] { return error_of([&] { load_object(file); }, ExitCode::kData); };
  CHECK(problem() == file.string() + ": no such file");
  write_file(file, "[1]");
  CHECK(problem() == file.string() + ": not a JSON object");
  write_file(file, "{\"a\": 1,\n \"b\": }");
  CHECK(problem().find(file.string() + ":2: not valid JSON: syntax error") == 0);
  write_file(file, "{\"a\": 1}");
  CHECK(load_object(file) == json{{"a", 1}});
  const auto folder = [&] {
    return error_of([&] { load_object(scratch.path()); }, ExitCode::kData);
  };
  CHECK(folder() == scratch.path().string() + ": cannot be read");
}

TEST_CASE("a JSON file that may be anything is read as nothing", "[json_file]") {
  const ScratchFolder scratch;
  const std::filesystem::path file = scratch / "a.json";
  CHECK(read_json(file).is_null());
  CHECK(read_object(file) == json::object());
  CHECK(read_json(scratch.path()).is_null());
  write_file(file, "{\"a\": ");
  CHECK(read_json(file).is_null());
  write_file(file, "[1, 2]");
  CHECK(read_json(file) == json{1, 2});
  CHECK(read_object(file) == json::object());
  write_file(file, "{\"a\": 1}");
  CHECK(read_object(file) == json{{"a", 1}});
}
