#include "fields/space/data/swc.h"

#include <catch2/catch.hpp>

#include "kdgat/error.h"
#include "support/can/log_text.h"

namespace kdgat::space {
namespace {

Neuron read(const std::string& text, const SwcRepairs& repairs = {}) {
  return read_swc(file::LineReader("n.swc", text), repairs);
}

std::string refused(const std::string& text, const SwcRepairs& repairs = {}) {
  return test::data_error([&] { read(text, repairs); });
}

using Repairs = std::vector<std::pair<std::string, int64_t>>;

constexpr const char* kGood = "1 1 0 0 0 2 -1\n2 3 1 0 0 1 1\n";

TEST_CASE("a neuron is read in the order of its file", "[swc]") {
  const Neuron neuron = read(
      "# a remark\n# SCALE 2 3 4\n\n"
      "  10 3 1 1 1 0.5 7\r\n"  // before its parent
      "7 1 0 -1e1 +2 2 -1 extra 9\n"
      "# between\n"
      "12\t12 2 1 1 1 10\n"
      "11 0 3 3.5 1 1 10");
  CHECK(neuron.parent == std::vector<int32_t>{1, -1, 0, 0});
  CHECK(neuron.type == std::vector<int32_t>{3, 1, 5, 0});
  CHECK(neuron.radius == std::vector<float>{0.5F, 2, 1, 1});
  CHECK(neuron.pos == std::vector<float>{2, 3, 4, 0, -30, 8, 4, 3, 4, 6, 10.5F, 4});
  CHECK(neuron.row == std::vector<int64_t>{0, 1, 2, 3});
  CHECK(neuron.rows == 4);
  CHECK(neuron.repairs.empty());
  // 0 is no parent where no node has this number, and one where there is.
  CHECK(read("1 1 0 0 0 1 0\n2 1 0 0 0 1 1\n").parent == std::vector<int32_t>{-1, 0});
  CHECK(read("0 1 0 0 0 1 -1\n1 1 0 0 0 1 0\n").parent == std::vector<int32_t>{-1, 0});
  CHECK(read("# scale bar 10 um\n1 1 0 0 0 1 -1\n").pos.size() == 3);
}

TEST_CASE("every fault is refused with its line", "[swc]") {
  const std::string good = kGood;
  CHECK(refused("") == "n.swc: no node: no line `id type x y z radius parent`");
  CHECK(refused("# only\n") == refused(""));
  CHECK_THAT(refused(good + "3 3 0 0 0 1\n"), Catch::StartsWith("n.swc:3: too few fields: 6"));
  CHECK(refused(good + "3 3 0 zero 0 1 1\n") == "n.swc:3: y is not a number: zero");
  CHECK(refused(good + "3 3 0 nan 0 1 1\n") == "n.swc:3: y is not a number: nan");
  CHECK(refused(good + "3 3 inf 0 0 1 1\n") == "n.swc:3: x is not a number: inf");
  CHECK(refused(good + "3 3 1e300 0 0 1 1\n") == "n.swc:3: a number is too large");
  CHECK(refused(good + "3.5 3 0 0 0 1 1\n") == "n.swc:3: id is not a whole number: 3.5");
  CHECK(refused(good + "-3 3 0 0 0 1 1\n") == "n.swc:3: id is negative");
  CHECK(refused(good + "3 -3 0 0 0 1 1\n") == "n.swc:3: type is negative");
  CHECK(refused("# SCALE 1 1\n" + good) == "n.swc:1: SCALE needs three positive numbers");
  CHECK(refused("# SCALE 1 -1 1\n" + good) == "n.swc:1: SCALE needs three positive numbers");
  CHECK(refused(good + "# SCALE 1 1 1\n") == "n.swc:3: SCALE comes after nodes");
  CHECK_THAT(refused(good + "3 3 0 0 0 1 9\n"),
             Catch::StartsWith("n.swc:3: the parent 9 is not in the file\n  hint: data.repair="));
  CHECK(refused("1 1 0 0 0 1 -1\n2 3 0 0 0 1 3\n3 3 0 0 0 1 2\n") ==
        "n.swc:2: a cycle: the node is an ancestor of itself");
  CHECK(refused(good + "3 3 0 0 0 1 3\n") == "n.swc:3: a cycle: the node is an ancestor of itself");
  CHECK_THAT(
      refused(good + "3 3 0 0 0 1 -1\n"),
      Catch::StartsWith("n.swc:3: a second root, the first is in line 1\n  hint: data.repair="));
  CHECK_THAT(
      refused(good + "2 3 0 0 0 1 1\n"),
      Catch::StartsWith("n.swc:3: the id 2 appears twice, first in line 2\n  hint: data.repair="));
  CHECK_THAT(refused(good + "3 3 0 0 0 0 1\n"),
             Catch::StartsWith("n.swc:3: the radius is not positive: 0"));
  CHECK_THAT(refused(good + "3 3 0 0 0 nan 1\n"),
             Catch::StartsWith("n.swc:3: radius is not a number: nan"));
}

TEST_CASE("columns behind the seventh are counted", "[swc]") {
  const Neuron neuron = read_swc(
      file::LineReader("a.swc", "1 1 0 0 0 5 -1 9 9\n2 3 1 0 0 1 1\n3 3 2 0 0 1 2 9\n"), {});
  CHECK(neuron.type.size() == 3);
  CHECK(neuron.longer_rows == 2);
}

TEST_CASE("each repair mends its fault, and counts it", "[swc]") {
  SwcRepairs roots, radius, duplicates, parents;
  roots.roots = radius.radius = duplicates.duplicates = parents.parents = true;

  const Neuron kept = read("1 1 0 0 0 1 -1\n2 3 5 0 0 1 -1\n4 3 7 0 0 1 3\n3 3 6 0 0 1 2\n", roots);
  CHECK(kept.parent == std::vector<int32_t>{-1, 2, 0});
  CHECK(kept.pos == std::vector<float>{5, 0, 0, 7, 0, 0, 6, 0, 0});
  CHECK(kept.row == std::vector<int64_t>{1, 2, 3});
  CHECK(kept.rows == 4);
  CHECK(kept.repairs == Repairs{{"roots", 1}});

  const Neuron thin = read(
      "1 1 0 0 0 0 -1\n2 3 0 0 0 -4 1\n3 3 0 0 0 nan 1\n4 3 0 0 0 ? 1\n5 3 0 0 0 3 1\n", radius);
  CHECK(thin.radius == std::vector<float>{0, 0, 0, 0, 3});
  CHECK(thin.repairs == Repairs{{"radius", 4}});

  const Neuron first = read(std::string(kGood) + "2 3 9 9 9 1 1\n", duplicates);
  CHECK(first.pos == std::vector<float>{0, 0, 0, 1, 0, 0});
  CHECK(first.repairs == Repairs{{"duplicates", 1}});

  const std::string orphan = std::string(kGood) + "3 3 0 0 0 1 9\n";
  CHECK_THAT(refused(orphan, parents), Catch::Contains("a second root"));
  parents.roots = true;
  const Neuron adopted = read(orphan, parents);
  CHECK(adopted.parent == std::vector<int32_t>{-1, 0});
  CHECK(adopted.repairs == Repairs{{"parents", 1}, {"roots", 1}});

  // No repair hides another fault.
  CHECK_THAT(refused("1 1 0 0 0 0 -1\n", roots), Catch::Contains("radius"));
  CHECK_THAT(refused(std::string(kGood) + "3 3 0 0 0 1 3\n", parents), Catch::Contains("a cycle"));
}

}  // namespace
}  // namespace kdgat::space
