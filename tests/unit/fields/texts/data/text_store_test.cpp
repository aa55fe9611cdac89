#include "fields/texts/data/text_store.h"

#include <catch2/catch.hpp>

#include "engine/file/safetensors_stream.h"
#include "engine/graph/graph_store.h"
#include "fields/texts/data/text_options.h"
#include "support/can/log_text.h"
#include "support/graphs/import_options.h"
#include "support/graphs/store_problems.h"
#include "support/programs/command.h"

namespace kdgat::texts {
namespace {

using ImportChoices = graph::ImportOptionsWith<TextOptions>;

using test::data_error;

/// The store of some made-up texts.
std::filesystem::path make_store(const test::ScratchFolder& folder, ImportChoices options = {}) {
  graph::SynthOptions synth;
  synth.kind = "text";
  synth.graphs = 90;
  synth.nodes = 60;
  graph::write_synthetic(folder / "in", synth);
  options.remove_rare_words = 2;
  graph::import_logs(folder / "in", folder / "out", options);
  return folder / "out/graphs.safetensors";
}

std::string with_number(std::string bytes, const std::string& path, const std::string& tensor,
                        std::size_t element, int32_t number) {
  const file::SafetensorsFile file = file::SafetensorsFile::open(path);
  const auto* const start = reinterpret_cast<const char*>(file.tensor("row_ptr").data);
  const auto* const at = reinterpret_cast<const char*>(file.tensor(tensor).data) + 4 * element;
  // row_ptr is the first tensor: its place in the file is where the header ends.
  uint64_t header = 0;
  std::copy_n(bytes.data(), 8, reinterpret_cast<char*>(&header));
  std::copy_n(reinterpret_cast<const char*>(&number), 4,
              bytes.data() + 8 + header + static_cast<std::size_t>(at - start));
  return bytes;
}

}  // namespace

TEST_CASE("training, validation and test see one graph at one address", "[text_store]") {
  const test::ScratchFolder folder;
  const std::filesystem::path path = make_store(folder);
  CHECK(TextStore::shared_bytes(path) == 0);
  const TextStore train = TextStore::shared(path), val = TextStore::shared(path),
                  test = TextStore::shared(folder.path() / "out" / ".." / "out/graphs.safetensors");
  CHECK(train.value().data() == val.value().data());
  CHECK(train.col().data() == test.col().data());
  CHECK(train.row_ptr().data() == test.row_ptr().data());
  CHECK(train.mask("train").data() != train.mask("val").data());
  CHECK(train.mapping() == val.mapping());
  CHECK(TextStore::shared_bytes(path) == train.mapped_bytes());
  CHECK(train.mapped_bytes() > 8 * train.nonzeros());
  CHECK(TextStore::open(path).value().data() != train.value().data());
  TextStore::forget_shared();
  CHECK(TextStore::shared_bytes(path) == 0);
  CHECK(val.value()[0] > 0);  // still mapped
  // Another file under the same name is another graph.
  ImportChoices other;
  other.word_window = 3;
  const TextStore before = TextStore::shared(path);
  make_store(folder, other);
  CHECK(TextStore::shared(path).nonzeros() != before.nonzeros());
  TextStore::forget_shared();
  CHECK_THROWS_AS(train.mask("dev"), std::logic_error);
}

TEST_CASE("a store of texts is told from one of graphs", "[text_store]") {
  const test::ScratchFolder folder;
  const std::filesystem::path path = make_store(folder);
  CHECK(TextStore::is_store(file::SafetensorsFile::open(path)));
  CHECK_THAT(data_error([&] { graph::GraphStore::open(path); }),
             Catch::Contains("not a graph store"));
  graph::SynthOptions synth;
  synth.kind = "tree";
  synth.graphs = 3;
  graph::write_synthetic(folder / "trees", synth);
  graph::import_logs(folder / "trees", folder / "out", {});  // in the place of the texts
  CHECK_FALSE(TextStore::is_store(file::SafetensorsFile::open(path)));
  CHECK_THAT(data_error([&] { TextStore::open(path); }), Catch::Contains("not a graph of texts"));
  CHECK(std::filesystem::exists(folder / "out/split.safetensors"));
  make_store(folder);
  CHECK(TextStore::is_store(file::SafetensorsFile::open(path)));
  CHECK_FALSE(std::filesystem::exists(folder / "out/split.safetensors"));
}

TEST_CASE("verify finds rows that are no graph of texts", "[text_store]") {
  const test::ScratchFolder folder;
  const std::filesystem::path path = make_store(folder);
  const std::string bytes = test::read_text(path);
  const auto problems = [&](const std::string& tensor, std::size_t element, int32_t number) {
    test::write_text(folder / "bad.safetensors",
                     with_number(bytes, path.string(), tensor, element, number));
    return test::problems_of<TextStore>(folder / "bad.safetensors");
  };
  CHECK(problems("row_ptr", 0, 0).empty());
  CHECK_THAT(problems("col", 1, 1 << 30), Catch::Contains("a row names a node that is not there"));
  CHECK_THAT(problems("col", 0, 1),
             Catch::Contains("row 0") && Catch::Contains("'col' differs from its hash"));
  CHECK_THAT(problems("row_ptr", 1, 1 << 30), Catch::Contains("ends before it begins"));
  CHECK_THAT(problems("value", 1, 0x3DCCCCCD), Catch::Contains("is not symmetric"));
  CHECK_THAT(problems("value", 1, 0x7FC00000), Catch::Contains("not positive"));
  CHECK_THAT(problems("doc_source", 0, 7), Catch::Contains("a document names a source"));
  CHECK_THAT(problems("y", 0, 9), Catch::Contains("a node has a label that it cannot have"));
  CHECK_THAT(problems("train_mask", 0, 0x40404040), Catch::Contains("neither true nor false"));
  CHECK_THAT(problems("doc_mask", 0, 0), Catch::Contains("label"));
}

TEST_CASE("a damaged or foreign store of texts is refused", "[text_store]") {
  const test::ScratchFolder folder;
  const std::filesystem::path path = make_store(folder);
  std::string bytes = test::read_text(path);
  const std::size_t version = bytes.find("\"version\":\"1\"");
  REQUIRE(version != std::string::npos);
  std::string other = bytes;
  other[version + 11] = '9';
  test::write_text(folder / "v.safetensors", other);
  CHECK_THAT(data_error([&] { TextStore::open(folder / "v.safetensors"); }),
             Catch::Contains("format version 9"));
  other = bytes;
  other[bytes.find("\\\"windows\\\":") + 13] ^= 1;
  test::write_text(folder / "h.safetensors", other);
  CHECK_THAT(data_error([&] { TextStore::open(folder / "h.safetensors"); }),
             Catch::Contains("differs from its hash"));
  test::write_text(folder / "t.safetensors", bytes.substr(0, bytes.size() - 9));
  CHECK_THAT(data_error([&] { TextStore::open(folder / "t.safetensors"); }),
             Catch::Contains("truncated"));
}

TEST_CASE("tensors written in pieces make the same file", "[safetensors]") {
  const test::ScratchFolder folder;
  const std::vector<float> a = {1, 2, 3, 4, 5};
  const std::vector<int32_t> b = {7, 8, 9};
  file::SafetensorsWriter writer;
  writer.add("a", {5}, std::span<const float>(a));
  writer.add("b", {3, 1}, std::span<const int32_t>(b));
  writer.add("c", {0}, std::span<const int64_t>());
  writer.metadata("of", "test");
  writer.write(folder / "whole.safetensors", true);
  file::SafetensorsStream stream(folder / "pieces.safetensors",
                                 {{"a", file::DType::kF32, {5}},
                                  {"b", file::DType::kI32, {3, 1}},
                                  {"c", file::DType::kI64, {0}}},
                                 {{"of", "test"}});
  stream.write("a", std::span(a).first(2));
  stream.write("b", std::span(b));
  stream.write("a", std::span(a).subspan(2));
  CHECK_FALSE(std::filesystem::exists(folder / "pieces.safetensors"));
  stream.finish();
  CHECK(test::read_text(folder / "pieces.safetensors") ==
        test::read_text(folder / "whole.safetensors"));

  file::SafetensorsStream bad(folder / "bad.safetensors", {{"a", file::DType::kF32, {2}}}, {});
  CHECK_THROWS_AS(bad.write("a", std::span(a)), std::logic_error);
  CHECK_THROWS_AS(bad.write("a", std::span(b)), std::logic_error);
  CHECK_THROWS_AS(bad.write("z", std::span(a)), std::logic_error);
  CHECK_THROWS_AS(bad.finish(), std::logic_error);
}

}  // namespace kdgat::texts
