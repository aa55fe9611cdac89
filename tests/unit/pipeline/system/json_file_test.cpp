#include "pipeline/system/json_file.h"

#include <catch2/catch.hpp>

#include "kdgat/atomic_file.h"
#include "kdgat/parse_json.h"
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

TEST_CASE("JSON that is nested without end is refused", "[json_file]") {
  const ScratchFolder scratch;
  const std::filesystem::path file = scratch / "a.json";
  const std::string deep = "{\"a\": " + std::string(200'000, '[') + std::string(200'000, ']') + "}";
  write_file(file, deep);
  CHECK(error_of([&] { load_object(file); }, ExitCode::kData) ==
        file.string() + ": JSON nested deeper than 100 levels");
  CHECK(read_json(file).is_null());
  CHECK(json_or_none(deep).is_discarded());
  CHECK(error_of([&] { checked_json("{", "here"); }, ExitCode::kData)
            .starts_with("here: not valid JSON: "));
  // Brackets inside of strings are no levels, and those beside each other neither.
  const std::string wide = "[\"" + std::string(500, '[') + "\\\"" + std::string(500, '{') + "\"]";
  CHECK_FALSE(is_nested_deeper(wide, kDeepestJson));
  CHECK(checked_json(wide, "").size() == 1);
  std::string many = "[0";
  for (int i = 0; i < 500; ++i) many += ",[]";
  CHECK(checked_json(many + "]", "").size() == 501);
  const std::string allowed = std::string(100, '[') + std::string(100, ']');
  CHECK(checked_json(allowed, "").is_array());
  CHECK(json_or_none("[" + allowed + "]").is_discarded());
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
