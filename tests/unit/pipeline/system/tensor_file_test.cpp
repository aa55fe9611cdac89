#include "pipeline/system/tensor_file.h"

#include <catch2/catch.hpp>

#include "kdgat/atomic_file.h"
#include "support/programs/command.h"

namespace kdgat {
namespace {

/// A head of this JSON behind its length, and `tail`.
std::string with_head(const std::string& json, std::size_t length, const std::string& tail = "") {
  std::string out;
  for (int i = 0; i < 8; ++i) out += static_cast<char>((length >> (8 * i)) & 0xff);
  return out + json + tail;
}

}  // namespace

TEST_CASE("a word is read from the head of a file of tensors, and nothing from others") {
  const test::ScratchFolder scratch;
  const auto file = scratch / "m.safetensors";
  const std::string json = R"({"__metadata__":{"scored_by":"rank","n":3},"w":{}})";
  const auto found = [&](const std::string& bytes, const std::string& key = "scored_by") {
    write_file(file, bytes);
    return tensor_metadata(file, key);
  };
  CHECK(found(with_head(json, json.size(), "1234")) == "rank");
  CHECK(found(with_head(json, json.size()), "other").empty());
  CHECK(found(with_head(json, json.size()), "n").empty());  // no text
  CHECK(found(with_head(json, json.size() + 1)).empty());   // cut off
  CHECK(found(with_head(json, json.size() - 1)).empty());   // no JSON
  CHECK(found(with_head(json, SIZE_MAX)).empty());
  CHECK(found("").empty());
  CHECK(found("{}").empty());
  CHECK(found(with_head("[]", 2)).empty());
  const std::string deep(100'000, '[');
  CHECK(found(with_head(deep, deep.size())).empty());
  CHECK(tensor_metadata(scratch / "nowhere", "scored_by").empty());
  CHECK(tensor_metadata(scratch.path(), "scored_by").empty());
}

}  // namespace kdgat
