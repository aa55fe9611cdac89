#include "pipeline/system/json_file.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <map>

#include "kdgat/atomic_file.h"
#include "kdgat/exact_json.h"
#include "kdgat/parse_json.h"
#include "support/can/log_text.h"
#include "support/programs/command.h"

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
            .starts_with("here:1: not valid JSON: "));
  // Brackets inside of strings are no levels, and those beside each other neither.
  const std::string wide = "[\"" + std::string(500, '[') + "\\\"" + std::string(500, '{') + "\"]";
  CHECK(checked_json(wide, "").size() == 1);
  std::string many = "[0";
  for (int i = 0; i < 500; ++i) many += ",[]";
  CHECK(checked_json(many + "]", "").size() == 501);
  const std::string allowed = std::string(100, '[') + std::string(100, ']');
  CHECK(checked_json(allowed, "").is_array());
  CHECK(json_or_none("[" + allowed + "]").is_discarded());
}

TEST_CASE("JSON in which a name is given twice is refused", "[json_file]") {
  const ScratchFolder scratch;
  const std::filesystem::path file = scratch / "a.json";
  for (const auto& [text, name] :
       std::map<std::string, std::string>{{R"({"a": 1, "b": 2, "a": 1})", "a"},
                                          {R"({"a": [1, {"b": {"c": 1, "c": 2}}]})", "a.1.b.c"},
                                          {R"({"\u0061": 1, "a": 2})", "a"}}) {
    write_file(file, text);
    CHECK(error_of([&] { load_object(file); }, ExitCode::kData) ==
          file.string() + ": \"" + name + "\" is given twice");
    CHECK(read_json(file).is_null());
  }
  CHECK(checked_json(R"([{"a": 1}, {"a": {"a": 2}}])", "").size() == 2);
}

TEST_CASE("a JSON file has a largest size, and is a regular file", "[json_file]") {
  const ScratchFolder scratch;
  const std::filesystem::path file = scratch / "a.json";
  write_file(file, "{}");
  std::filesystem::resize_file(file, 40'000'000);
  const auto problem = [&] { return error_of([&] { load_object(file); }, ExitCode::kData); };
  CHECK(problem() == file.string() + ": is 40.0 MB; at most 32 MB are read");
  CHECK(read_json(file).is_null());
  std::filesystem::remove(file);
  REQUIRE(::mkfifo(file.c_str(), 0600) == 0);  // nobody writes to it: nothing is waited for
  CHECK(problem() == file.string() + ": cannot be read");
  CHECK(read_json(file).is_null());
}

TEST_CASE("strings of any bytes go through JSON and come back", "[json_file]") {
  const json value = {{"a\xff", {"\xff\xfe.csv", std::string("n\0FF", 4), 1, nullptr}},
                      {"b", "\xc3\xa9"}};
  const std::string text = exact_dump(value);
  CHECK(json::parse(text).at("b") == "\xc3\xa9");
  CHECK_NOTHROW(json::parse(text).dump());
  CHECK(exact_parse(text) == value);
  const json plain = {{"a", {"b", 1.5}}};
  CHECK(exact_dump(plain) == plain.dump());
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
