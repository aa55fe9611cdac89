#include <catch2/catch.hpp>

#include "engine/file/safetensors.h"
#include "support/programs/command.h"
#include "support/programs/mutate.h"

// The fuzz target itself, under a name of its own so that several may stand in one program.
#define LLVMFuzzerTestOneInput fuzz_safetensors
#include "fuzz/fuzz_safetensors.cpp"
#undef LLVMFuzzerTestOneInput

namespace kdgat::file {
namespace {

std::string raw_bytes(const std::string& header, const std::string& data) {
  std::string out(8, '\0');
  for (int i = 0; i < 8; ++i) out[i] = static_cast<char>(header.size() >> (8 * i));
  return out + header + data;
}

TEST_CASE("mutated safetensors files are refused or read within bounds", "[safetensors]") {
  const test::ScratchFolder folder;
  const std::vector<float> x = {1, 2, 3, 4, 5, 6};
  const std::vector<int64_t> ids = {7, 8, 9};
  SafetensorsWriter writer;
  writer.add("x", {2, 3}, std::span(x));
  writer.add("ids", {3}, std::span(ids));
  writer.metadata("format", "test");
  writer.write(folder / "a", true);
  const std::vector<std::string> seeds = {
      test::read_text(folder / "a"), raw_bytes("{}", ""),
      raw_bytes(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                R"("b":{"dtype":"U8","shape":[2,0],"data_offsets":[4,4]}})",
                "abcd")};
  test::run_mutations(seeds, 4000, 1, fuzz_safetensors);
  // Changes that leave the header's length true, so that they reach the JSON.
  for (const std::string& seed : seeds) {
    const std::string header = seed.substr(
        8, static_cast<unsigned char>(seed[0]) + 256U * static_cast<unsigned char>(seed[1]));
    const std::string data = seed.substr(8 + header.size());
    test::run_mutations({header}, 4000, 2, [&data](const uint8_t* bytes, std::size_t size) {
      const std::string file = raw_bytes(std::string(bytes, bytes + size), data);
      return fuzz_safetensors(reinterpret_cast<const uint8_t*>(file.data()), file.size());
    });
  }
}

}  // namespace
}  // namespace kdgat::file
