#include "engine/file/safetensors.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <set>
#include <stdexcept>

#include "engine/file/metadata_json.h"
#include "engine/file/tensor_hash.h"
#include "support/can/log_text.h"
#include "support/programs/command.h"
#include "support/programs/python.h"

namespace kdgat::file {
namespace {

using test::write_text;

std::string raw(const std::string& header, const std::string& data) {
  std::string out(8, '\0');
  const uint64_t length = header.size();
  std::memcpy(out.data(), &length, 8);
  return out + header + data;
}

SafetensorsFile parse(const std::string& bytes) {
  return SafetensorsFile::parse(std::as_bytes(std::span(bytes)), "test.safetensors");
}

/// The message of the Error(kData) that parsing throws; empty if it throws none.
std::string refusal(const std::string& bytes) {
  try {
    parse(bytes);
    return "";
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::kData);
    return error.what();
  }
}

std::string sample(const test::ScratchFolder& folder, bool hashes) {
  static const std::vector<float> x = {1.5F, -2, 3, 4, 5, 6};
  static const std::vector<int64_t> ids = {-7, 8, int64_t{1} << 62};
  static const std::vector<uint8_t> bytes = {1, 2, 3};
  SafetensorsWriter writer;
  writer.add("bytes", {3}, std::span(bytes));
  writer.add("x", {2, 3}, std::span(x));
  writer.add("none", {0, 4}, std::span<const float>());
  writer.add("ids", {3}, std::span(ids));
  writer.metadata("format", "test");
  writer.write(folder / "sample.safetensors", hashes);
  return test::read_text(folder / "sample.safetensors");
}

TEST_CASE("what is written to a tensor file is read back", "[safetensors]") {
  const test::ScratchFolder folder;
  sample(folder, true);
  const SafetensorsFile file = SafetensorsFile::open(folder / "sample.safetensors");
  CHECK(file.path() == folder / "sample.safetensors");
  CHECK(file.metadata().at("format") == "test");
  CHECK(file.tensors().size() == 4);  // padding is hidden
  CHECK(file.require<float>("x", {-1, 3})[1] == -2);
  CHECK(file.require<int64_t>("ids", {3})[2] == int64_t{1} << 62);
  CHECK(file.require<float>("none", {0, 4}).empty());
  CHECK(file.tensor("x").elements() == 6);
  CHECK_FALSE(file.has("y"));
  CHECK(verify_hashes(file).empty());
}

TEST_CASE("every written tensor is aligned to 64 bytes and is a view of the mapping",
          "[safetensors]") {
  const test::ScratchFolder folder;
  sample(folder, false);
  const SafetensorsFile file = SafetensorsFile::open(folder / "sample.safetensors");
  std::set<std::uintptr_t> pages;
  for (const auto& [name, view] : file.tensors()) {
    CHECK(reinterpret_cast<std::uintptr_t>(view.data) % 64 == 0);
    pages.insert(reinterpret_cast<std::uintptr_t>(view.data) / 4096);
  }
  CHECK(pages.size() == 1);
}

TEST_CASE("the mapping outlives the file's object and its name", "[safetensors]") {
  const test::ScratchFolder folder;
  sample(folder, false);
  std::shared_ptr<const void> mapping;
  std::span<const float> x;
  {
    const SafetensorsFile file = SafetensorsFile::open(folder / "sample.safetensors");
    mapping = file.mapping();
    x = file.require<float>("x", {2, 3});
    std::filesystem::remove(folder / "sample.safetensors");
  }
  CHECK(x[5] == 6);
}

TEST_CASE("a tensor is not read as another type or shape", "[safetensors]") {
  const test::ScratchFolder folder;
  const std::string bytes = sample(folder, false);
  const SafetensorsFile file = parse(bytes);
  CHECK_THROWS_WITH(file.require<int32_t>("x", {2, 3}),
                    "test.safetensors: tensor 'x' has an unexpected dtype, F32");
  CHECK_THROWS_WITH(file.require<float>("x", {3, -1}),
                    "test.safetensors: tensor 'x' has shape [2,3] instead of [3,?]");
  CHECK_THROWS_WITH(file.require<float>("x", {6}),
                    "test.safetensors: tensor 'x' has shape [2,3] instead of [6]");
  CHECK_THROWS_WITH(file.tensor("y"), "test.safetensors: no tensor 'y'");
  CHECK_THROWS_AS(file.tensor("x").as<int64_t>(), Error);
  CHECK(file.tensor("x").as<std::byte>().size() == 24);
}

TEST_CASE("a tensor file cut at any byte is refused", "[safetensors]") {
  const test::ScratchFolder folder;
  const std::string bytes = sample(folder, true);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    INFO("cut to " << size << " of " << bytes.size() << " bytes");
    const std::string message = refusal(bytes.substr(0, size));
    CHECK(message.find("test.safetensors: ") == 0);
  }
  CHECK(refusal(bytes).empty());
  CHECK(refusal(bytes + "x") == "test.safetensors: bytes after the last tensor");
  for (const std::size_t size : {std::size_t{0}, std::size_t{8}, bytes.size() - 1}) {
    write_text(folder / "cut", bytes.substr(0, size));
    CHECK_THROWS_AS(SafetensorsFile::open(folder / "cut"), Error);
  }
}

TEST_CASE("a file that is absent or no file is refused", "[safetensors]") {
  const test::ScratchFolder folder;
  CHECK_THROWS_WITH(SafetensorsFile::open(folder / "absent"), Catch::Contains("cannot open"));
  CHECK_THROWS_WITH(SafetensorsFile::open(folder.path()), Catch::Contains("not a regular file"));
}

TEST_CASE("JSON in the metadata may be as large as a header, and is refused by key",
          "[safetensors]") {
  const test::ScratchFolder scratch;
  const std::vector<std::string> names(8'100, std::string(4'000, 'n'));  // 32.4 MB
  SafetensorsWriter writer;
  writer.metadata("names", nlohmann::json(names).dump());
  writer.metadata("half", "[1");
  writer.metadata("words", R"(["a"])");
  writer.write(scratch / "a.safetensors", true);
  const SafetensorsFile file = SafetensorsFile::open(scratch / "a.safetensors");
  CHECK(metadata_json<std::vector<std::string>>(file, "names") == names);
  const auto refused = [&](const auto& read) { return test::data_error(read); };
  CHECK_THAT(refused([&] { metadata_json(file, "none"); }), Catch::Contains("no metadata 'none'"));
  CHECK_THAT(refused([&] { metadata_json(file, "half"); }),
             Catch::Contains("a.safetensors: malformed metadata 'half': "));
  CHECK_THAT(refused([&] { metadata_json<std::vector<int>>(file, "words"); }),
             Catch::Contains("malformed metadata 'words': "));
}

TEST_CASE("malformed headers are refused with the reason", "[safetensors]") {
  const auto tensor = [](const std::string& dtype, const std::string& shape,
                         const std::string& offsets) {
    return R"({"a":{"dtype":)" + dtype + R"(,"shape":)" + shape + R"(,"data_offsets":)" + offsets +
           "}}";
  };
  const std::string f32 = R"("F32")";
  const struct {
    std::string header, data, reason;
  } cases[] = {
      {"", "", "does not start with '{'"},
      {" {}", "", "does not start with '{'"},
      {"[]", "", "does not start with '{'"},
      {"{", "", "not valid JSON"},
      {"{} x", "", "not valid JSON"},
      {"{\"\xff\":1}", "", "not valid JSON"},
      {R"({"a":1})", "", "needs exactly"},
      {R"({"a":{"dtype":"F32","shape":[1]}})", "", "needs exactly"},
      {R"({"__metadata__":[]})", "", "__metadata__ is not an object"},
      {R"({"__metadata__":{"a":1}})", "", "is not a string"},
      {R"({"__metadata__":{"a":"1","a":"2"}})", "", "names 'a' twice"},
      {R"({"__metadata__":{},"__metadata__":{}})", "", "names '__metadata__' twice"},
      {R"({"a":{"dtype":"U8","dtype":"U8","shape":[0],"data_offsets":[0,0]}})", "",
       "names 'dtype' twice"},
      {tensor(f32, "[[[[]]]]", "[0,4]"), "abcd", "nested too deeply"},
      {tensor(f32, "[[]]", "[0,4]"), "abcd", "not a count"},
      {tensor(f32, "[-1]", "[0,4]"), "abcd", "not a count"},
      {tensor(f32, "[1.0]", "[0,4]"), "abcd", "not a count"},
      {tensor(f32, "[9223372036854775808]", "[0,4]"), "abcd", "not a count"},
      {tensor(f32, "[99999999999999999999999]", "[0,4]"), "abcd", "not a count"},
      {tensor(f32, "[9223372036854775807]", "[0,4]"), "abcd", "does not fill"},
      {tensor(f32, "[4294967296,4294967296]", "[0,0]"), "", "does not fill"},
      {tensor(f32, "[4294967296,4294967296,0]", "[0,0]"), "", "does not fill"},
      {tensor(f32, "[2]", "[0,4]"), "abcd", "does not fill"},
      {tensor(f32, "{}", "[0,4]"), "abcd", "malformed"},
      {tensor(f32, "[1]", "[4,0]"), "abcd", "does not fill"},
      {tensor(f32, "[1]", "[0,4,4]"), "abcd", "malformed"},
      {tensor(f32, "[1]", "[0,-4]"), "abcd", "not a count"},
      {tensor(f32, "[1]", "[0,4]"), "abc", "truncated within tensor 'a'"},
      {tensor(f32, "[1]", "[4,8]"), "abcdefgh", "hole or overlap"},
      {tensor(f32, "[1]", "[0,4]"), "abcde", "bytes after the last tensor"},
      {tensor("\"F8_E4M3\"", "[1]", "[0,1]"), "a", "unsupported dtype \"F8_E4M3\""},
      {tensor("1", "[1]", "[0,1]"), "a", "malformed"},
      {R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
       R"("b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})",
       "abc", "hole or overlap before tensor 'b'"},
      {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
       R"("a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})",
       "ab", "names 'a' twice"},
  };
  for (const auto& c : cases) {
    INFO(c.header);
    CHECK_THAT(refusal(raw(c.header, c.data)), Catch::Contains(c.reason));
  }
}

TEST_CASE("header lengths beyond the file or 100 MB are refused", "[safetensors]") {
  for (const uint64_t length :
       {uint64_t{3}, uint64_t{100'000'000}, uint64_t{100'000'001}, ~uint64_t{0}, ~uint64_t{7}}) {
    std::string bytes = raw("{}", "");
    std::memcpy(bytes.data(), &length, 8);
    INFO(length);
    CHECK_THAT(refusal(bytes),
               Catch::Contains(length > 100'000'000 ? "longer than 100 MB"
                                                    : "truncated within the header"));
  }
}

TEST_CASE("an empty file of tensors is allowed", "[safetensors]") {
  CHECK(refusal(raw("{}", "")).empty());
  CHECK(refusal(raw("{}     ", "")).empty());
  const test::ScratchFolder folder;
  SafetensorsWriter().write(folder / "empty", true);
  CHECK(verify_hashes(SafetensorsFile::open(folder / "empty")).empty());
}

TEST_CASE("tensors of foreign files are read wherever they stand", "[safetensors]") {
  // An odd header and a U8 tensor in front put the others off their alignment.
  std::string header = R"({"b":{"dtype":"F64","shape":[],"data_offsets":[1,9]},)"
                       R"("a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                       R"("c":{"dtype":"I16","shape":[2],"data_offsets":[9,13]}})";
  for (int shift = 0; shift < 8; ++shift) {
    const double b = 2.75;
    const int16_t c[2] = {-3, 1234};
    std::string data = "x" + std::string(reinterpret_cast<const char*>(&b), 8) +
                       std::string(reinterpret_cast<const char*>(c), 4);
    const std::string bytes = raw(header, data);
    const SafetensorsFile file = parse(bytes);
    CHECK(file.require<double>("b", {})[0] == 2.75);
    CHECK(file.require<int16_t>("c", {2})[1] == 1234);
    CHECK(reinterpret_cast<std::uintptr_t>(file.tensor("b").data) % 8 == 0);
    header += " ";
  }
}

TEST_CASE("the hash of a file is that of its bytes, whatever its size", "[safetensors]") {
  const test::ScratchFolder folder;
  for (const std::size_t size : {0, 1, 65535, 65536, 65537, 200000}) {
    std::string bytes(size, 'x');
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 7 % 251);
    write_text(folder / "file", bytes);
    CHECK(hash_file(folder / "file") == hash_bytes(bytes.data(), bytes.size()));
  }
}

TEST_CASE("what cannot be read has no hash", "[safetensors]") {
  const test::ScratchFolder folder;
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  for (const char* name : {"missing", "pipe", "."}) {
    INFO(name);
    CHECK_THROWS_AS(hash_file(folder / name, "a hint"), Error);
  }
}

TEST_CASE("a flipped byte is found by the hashes", "[safetensors]") {
  const test::ScratchFolder folder;
  const std::string bytes = sample(folder, true);
  const SafetensorsFile sound = parse(bytes);
  const auto x_at = reinterpret_cast<const char*>(sound.tensor("x").data) - bytes.data();
  std::string data_changed = bytes;
  data_changed[static_cast<std::size_t>(x_at)] ^= 1;
  const std::vector<Diagnostic> faults = verify_hashes(parse(data_changed));
  REQUIRE(faults.size() == 1);
  CHECK(faults[0].text() == "test.safetensors: tensor 'x' differs from its hash");

  std::string header_changed = bytes;
  header_changed.replace(bytes.find("\"test\""), 6, "\"tess\"");
  REQUIRE(verify_hashes(parse(header_changed)).size() == 1);
  CHECK(verify_hashes(parse(header_changed))[0].message == "the header differs from its hash");
}

TEST_CASE("a file without hashes is reported, not trusted", "[safetensors]") {
  const test::ScratchFolder folder;
  const std::string bytes = sample(folder, false);
  CHECK(verify_hashes(parse(bytes)).size() == 5);  // the header and four tensors
}

TEST_CASE("the same tensors make the same bytes", "[safetensors]") {
  const test::ScratchFolder folder;
  CHECK(sample(folder, true) == sample(folder, true));
}

TEST_CASE("without padding a file holds what was added, each tensor on its own alignment",
          "[safetensors]") {
  const test::ScratchFolder folder;
  const std::vector<uint8_t> bytes = {1, 2, 3};
  const std::vector<float> floats = {1.5F, 2.5F, 3.5F};
  const std::vector<int64_t> longs = {7, 8};
  SafetensorsWriter writer;
  writer.add("bytes", {3}, std::span(bytes));
  writer.add("floats", {3}, std::span(floats));
  writer.add("longs", {2}, std::span(longs));
  writer.without_padding();
  writer.write(folder / "model.safetensors", true);
  const std::string written = test::run_shell("cat model.safetensors", folder.path()).out;
  CHECK(written.find("_pad") == std::string::npos);
  const auto file = SafetensorsFile::open(folder / "model.safetensors");
  CHECK(verify_hashes(file).empty());
  CHECK(std::ranges::equal(file.tensor("bytes").as<uint8_t>(), bytes));
  CHECK(std::ranges::equal(file.tensor("floats").as<float>(), floats));
  CHECK(std::ranges::equal(file.tensor("longs").as<int64_t>(), longs));
  CHECK(file.tensor("longs").data < file.tensor("floats").data);
  CHECK(file.tensor("floats").data < file.tensor("bytes").data);
}

TEST_CASE("the writer refuses names and shapes that the format cannot hold", "[safetensors]") {
  const std::vector<float> x = {1, 2};
  SafetensorsWriter writer;
  writer.add("x", {2}, std::span(x));
  CHECK_THROWS_AS(writer.add("x", {2}, std::span(x)), std::logic_error);
  CHECK_THROWS_AS(writer.add("__metadata__", {2}, std::span(x)), std::logic_error);
  CHECK_THROWS_AS(writer.add("_pad.0", {2}, std::span(x)), std::logic_error);
  CHECK_THROWS_AS(writer.add("y", {-2}, std::span(x)), std::logic_error);
  CHECK_THROWS_AS(writer.add("z", {3}, std::span(x)), std::logic_error);
}

TEST_CASE("metadata may hold any text", "[safetensors]") {
  const test::ScratchFolder folder;
  SafetensorsWriter writer;
  writer.metadata("quote", "a \"b\" \\ \n \xc3\xa9");
  writer.metadata("not UTF-8", "\xff");  // a file name, say: becomes the replacement character
  writer.write(folder / "a", true);
  const SafetensorsFile file = SafetensorsFile::open(folder / "a");
  CHECK(file.metadata().at("quote") == "a \"b\" \\ \n \xc3\xa9");
  CHECK(file.metadata().at("not UTF-8") == "\xef\xbf\xbd");
  CHECK(verify_hashes(file).empty());
}

TEST_CASE("Python's safetensors opens what is written", "[safetensors]") {
  const std::optional<std::string> python = test::python_with_safetensors();
  if (!python) return;
  const test::ScratchFolder folder;
  sample(folder, true);
  write_text(folder / "read.py",
             "from safetensors import safe_open\n"
             "from safetensors.numpy import load_file\n"
             "t = load_file('sample.safetensors')\n"
             "print(t['x'].tolist(), t['ids'].tolist(), t['none'].shape, t['bytes'].tolist())\n"
             "print(safe_open('sample.safetensors', 'np').metadata()['format'])\n");
  const test::CommandResult result = test::run_shell(*python + " read.py", folder.path());
  CHECK(result.err.empty());
  CHECK(result.out ==
        "[[1.5, -2.0, 3.0], [4.0, 5.0, 6.0]] [-7, 8, 4611686018427387904] (0, 4) [1, 2, 3]\n"
        "test\n");
}

}  // namespace
}  // namespace kdgat::file
