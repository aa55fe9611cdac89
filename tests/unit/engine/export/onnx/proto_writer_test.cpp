// The wire format of protocol buffers: bytes that its documentation shows, and everything read back
// by a reader of its own.
#include "engine/export/onnx/proto_writer.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "engine/export/onnx/onnx_graph.h"

namespace kdgat::exporting {
namespace {

std::string bytes_of(std::initializer_list<int> values) {
  std::string out;
  for (const int value : values) out += static_cast<char>(value);
  return out;
}

/// A field as it stands: numbers in `number`, what has a length in `bytes`.
struct Field {
  int number = 0;
  int wire_type = 0;
  uint64_t value = 0;
  std::string bytes;
};

/// Fails the test where the bytes end inside a field.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  bool is_done() const { return bytes_.empty(); }
  uint64_t varint() {
    uint64_t out = 0;
    for (int shift = 0;; shift += 7) {
      REQUIRE(shift < 70);
      const auto byte = static_cast<unsigned char>(taken(1)[0]);
      out |= static_cast<uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return out;
    }
  }
  Field field() {
    Field out;
    const uint64_t key = varint();
    out.number = static_cast<int>(key >> 3);
    out.wire_type = static_cast<int>(key & 7);
    REQUIRE((out.wire_type == 0 || out.wire_type == 2 || out.wire_type == 5));
    if (out.wire_type == 0) out.value = varint();
    if (out.wire_type == 2) out.bytes = taken(varint());
    if (out.wire_type == 5) out.bytes = taken(4);
    return out;
  }

 private:
  std::string_view taken(uint64_t count) {
    REQUIRE(count <= bytes_.size());
    const std::string_view out = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return out;
  }

  std::string_view bytes_;
};

std::vector<Field> fields_of(std::string_view bytes) {
  std::vector<Field> out;
  for (Reader reader(bytes); !reader.is_done();) out.push_back(reader.field());
  return out;
}

/// The fields of that number.
std::vector<Field> fields_of(std::string_view bytes, int number) {
  std::vector<Field> out = fields_of(bytes);
  std::erase_if(out, [&](const Field& field) { return field.number != number; });
  return out;
}

TEST_CASE("fields are the bytes that the documentation of protocol buffers shows", "[onnx]") {
  ProtoWriter varint;
  varint.integer(1, 150);
  CHECK(varint.bytes() == bytes_of({0x08, 0x96, 0x01}));
  ProtoWriter text;
  text.text(2, "testing");
  CHECK(text.bytes() == bytes_of({0x12, 0x07}) + "testing");
  ProtoWriter inner;
  inner.message(3, varint);
  CHECK(inner.bytes() == bytes_of({0x1A, 0x03, 0x08, 0x96, 0x01}));
  ProtoWriter packed;
  packed.packed(6, std::vector<int64_t>{3, 270, 86942});
  CHECK(packed.bytes() == bytes_of({0x32, 0x06, 0x03, 0x8E, 0x02, 0x9E, 0xA7, 0x05}));
  ProtoWriter none;
  none.packed(6, {});
  CHECK(none.bytes().empty());
  ProtoWriter real;
  real.real(5, 1.0F);
  CHECK(real.bytes() == bytes_of({0x2D, 0x00, 0x00, 0x80, 0x3F}));
  ProtoWriter negative;
  negative.integer(1, -2);
  CHECK(negative.bytes() ==
        bytes_of({0x08, 0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01}));
  ProtoWriter far;  // a key of two bytes
  far.integer(16, 1);
  CHECK(far.bytes() == bytes_of({0x80, 0x01, 0x01}));
}

TEST_CASE("what was written is read back", "[onnx]") {
  std::vector<int64_t> numbers = {0, 1, -1, std::numeric_limits<int64_t>::max(),
                                  std::numeric_limits<int64_t>::min()};
  for (int shift = 6; shift < 63; ++shift) {
    for (const int64_t off : {-1, 0, 1}) numbers.push_back((int64_t{1} << shift) + off);
  }
  ProtoWriter writer;
  for (const int64_t number : numbers) writer.integer(3, number);
  writer.packed(4, numbers);
  writer.text(1000, std::string(300, '\0'));
  const std::vector<Field> fields = fields_of(writer.bytes());
  REQUIRE(fields.size() == numbers.size() + 2);
  Reader packed(fields[numbers.size()].bytes);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    CHECK(fields[i].number == 3);
    CHECK(static_cast<int64_t>(fields[i].value) == numbers[i]);
    CHECK(static_cast<int64_t>(packed.varint()) == numbers[i]);
  }
  CHECK(packed.is_done());
  CHECK(fields.back().number == 1000);
  CHECK(fields.back().bytes == std::string(300, '\0'));
}

TEST_CASE("a graph holds its operators, and each constant once", "[onnx]") {
  OnnxGraph graph(18);
  const std::string x = graph.input({"x", OnnxType::kFloat, {"rows", int64_t{2}}, "what comes in"});
  const std::vector<float> weights = {1.5F, -2, 0.25F, 4};
  graph.scope("first");
  const std::string w = graph.floats("w", {2, 2}, weights);
  CHECK(graph.floats("w", {2, 2}, weights) == w);
  CHECK(graph.row({3, -1}) == graph.row({3, -1}));
  const std::string y = graph.op("Gemm", {x, w}, {{"transB", int64_t{1}}, {"alpha", 0.5F}});
  const std::string z = graph.op("Reshape", {y, graph.row({3, -1})}, {}, "z");
  CHECK(y != z);
  graph.output({z, OnnxType::kFloat, {"a", "b"}});
  const std::string file = graph.file({"small", "for a test", "kdgat", "0", {{"kind", "test"}}});

  REQUIRE(fields_of(file, 8).size() == 1);
  CHECK(fields_of(fields_of(file, 8)[0].bytes, 2)[0].value == 18);
  REQUIRE(fields_of(file, 14).size() == 1);
  CHECK(fields_of(file, 14)[0].bytes == bytes_of({10, 4}) + "kind" + bytes_of({18, 4}) + "test");
  REQUIRE(fields_of(file, 7).size() == 1);
  const std::string body = fields_of(file, 7)[0].bytes;
  REQUIRE(fields_of(body, 1).size() == 2);
  const std::string gemm = fields_of(body, 1)[0].bytes;
  CHECK(fields_of(gemm, 1)[1].bytes == "w");
  CHECK(fields_of(gemm, 2)[0].bytes == "first/Gemm_0");
  CHECK(fields_of(gemm, 4)[0].bytes == "Gemm");
  const std::string alpha = fields_of(gemm, 5)[1].bytes;
  CHECK(fields_of(alpha, 1)[0].bytes == "alpha");
  CHECK(fields_of(alpha, 2)[0].bytes == bytes_of({0, 0, 0, 0x3F}));
  CHECK(fields_of(alpha, 20)[0].value == 1);
  REQUIRE(fields_of(body, 5).size() == 2);
  const std::string constant = fields_of(body, 5)[0].bytes;
  CHECK(fields_of(constant, 8)[0].bytes == "w");
  const std::string raw = fields_of(constant, 9)[0].bytes;
  REQUIRE(raw.size() == weights.size() * sizeof(float));
  CHECK(std::memcmp(raw.data(), weights.data(), raw.size()) == 0);
  const std::string row = fields_of(body, 5)[1].bytes;
  CHECK(fields_of(row, 1)[0].value == 2);
  CHECK(fields_of(row, 7)[0].bytes.size() == 11);
}

}  // namespace
}  // namespace kdgat::exporting
