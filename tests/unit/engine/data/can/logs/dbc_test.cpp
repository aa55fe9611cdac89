// Names of a DBC: what its lines say, where signals lie, faults, and the same as cantools reads.
#include "engine/data/can/logs/dbc.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "support/can/log_text.h"
#include "support/programs/command.h"
#include "support/programs/mutate.h"
#include "support/programs/python.h"

// The fuzz target itself, under a name of its own so that several may stand in one program.
#define LLVMFuzzerTestOneInput fuzz_dbc
#include "fuzz/fuzz_dbc.cpp"
#undef LLVMFuzzerTestOneInput

namespace kdgat::data {
namespace {

using Catch::Contains;
using nlohmann::json;

const std::string kCar =
    "VERSION \"1.0\"\n\n\n"
    "NS_ : \n\tNS_DESC_\n\tCM_\n\tBA_DEF_\n\tSG_MUL_VAL_\n\n"
    "BS_:\n\nBU_: Engine Gateway Display\n\n"
    "BO_ 790 EngineData: 8 Engine\n"
    " SG_ EngineSpeed : 24|16@1+ (0.125,0) [0|8031.875] \"rpm\"  Gateway,Display\n"
    " SG_ Torque : 15|12@0- (1,-1000) [-1E3|1e+03] \"N.m\" Gateway\n"
    " SG_ Temperature : 60|4@1+ (1,-40) [0|0] \"\" Vector__XXX\n\n"
    "BO_ 2566844926 CCVS: 8 Vector__XXX\n"
    " SG_ Select M : 0|8@1+ (1,0) [0|255] \"\" Vector__XXX\n"
    " SG_ Speed m0 : 8|16@1+ (0.00390625,0) [0|250.996] \"km/h\" Vector__XXX\n"
    " SG_ Inner m1M : 8|8@1+ (1,0) [0|1] \"\" Vector__XXX\n"
    " SG_ Deep m3 : 16|1@1+ (1,0) [0|1] \"\" Vector__XXX\n\n"
    "BO_ 3221225472 VECTOR__INDEPENDENT_SIG_MSG: 0 Vector__XXX\n"
    " SG_ Lost : 0|8@1+ (1,0) [0|0] \"\" Vector__XXX\n\n"
    "BO_TX_BU_ 790 : Engine,Gateway;\n"
    "CM_ \"in two\nBO_ 1 is no line of its own: \\\" nor this\n SG_ neither\";\n"
    "CM_ SG_ 790 EngineSpeed \"a comment\";\n"
    "VAL_ 790 Temperature 0 \"cold\" 15 \"hot\" ;\n"
    "SG_MUL_VAL_ 2566844926 Speed Select 0-0;\nSG_MUL_VAL_ 2566844926 Inner Select 1-1;\n"
    "SG_MUL_VAL_ 2566844926 Deep Inner 3-3;\n";

DbcNames read(const std::string& text) { return DbcNames(file::LineReader("car.dbc", text)); }

std::vector<std::string> names_at(const DbcMessage& message, int64_t byte) {
  return message.signals_at(byte);
}

using Names = std::vector<std::string>;

TEST_CASE("a DBC's messages and signals are read with where they lie", "[dbc]") {
  const DbcNames car = read(kCar);
  REQUIRE(car.messages().size() == 2);
  const DbcMessage* engine = car.find(790, false);
  REQUIRE(engine != nullptr);
  CHECK(car.find(790, true) == nullptr);
  CHECK(engine->name == "EngineData");
  CHECK(engine->length == 8);
  REQUIRE(engine->signals.size() == 3);
  CHECK(engine->signals[1].is_big_endian);
  CHECK(names_at(*engine, 0).empty());
  // 15|12@0: bits 15 to 8, then 23 to 20.
  CHECK(names_at(*engine, 1) == Names{"Torque"});
  CHECK(names_at(*engine, 2) == Names{"Torque"});
  CHECK(names_at(*engine, 3) == Names{"EngineSpeed"});
  CHECK(names_at(*engine, 4) == Names{"EngineSpeed"});
  CHECK(names_at(*engine, 5).empty());
  CHECK(names_at(*engine, 7) == Names{"Temperature"});
  const DbcMessage* speed = car.find(0x18FEF1FE, true);
  REQUIRE(speed != nullptr);
  CHECK(speed->signals[0].is_multiplexer);
  CHECK_FALSE(speed->signals[0].multiplexed_by);
  CHECK(speed->signals[1].multiplexed_by == 0);
  CHECK(speed->signals[2].is_multiplexer);
  CHECK(speed->signals[2].multiplexed_by == 1);
  CHECK(speed->signals[3].multiplexed_by == 3);
  CHECK(names_at(*speed, 2) == Names{"Speed", "Deep"});
  REQUIRE(car.notes().size() == 1);
  CHECK_THAT(car.notes()[0].message, Contains("11 lines of other keywords"));
}

TEST_CASE("signals lie in the bytes that their bits are in", "[dbc]") {
  struct Case {
    int64_t start, length;
    bool is_big;
    int64_t first, last;
  };
  for (const Case& one :
       {Case{0, 8, false, 0, 0}, Case{7, 2, false, 0, 1}, Case{0, 64, false, 0, 7},
        Case{7, 8, true, 0, 0}, Case{7, 9, true, 0, 1}, Case{0, 2, true, 0, 1},
        Case{7, 64, true, 0, 7}, Case{3, 4, true, 0, 0}, Case{3, 13, true, 0, 2},
        Case{55, 1, true, 6, 6}, Case{500, 12, false, 62, 63}}) {
    DbcSignal signal;
    signal.start = one.start;
    signal.length = one.length;
    signal.is_big_endian = one.is_big;
    INFO(one.start << "|" << one.length << "@" << !one.is_big);
    CHECK(signal.first_byte() == one.first);
    CHECK(signal.last_byte() == one.last);
  }
}

TEST_CASE("an id of a log finds its message, whatever its bus, priority and source", "[dbc]") {
  const DbcNames car = read(kCar);
  CHECK(car.of_key(790)->name == "EngineData");
  CHECK(car.of_key(3U << 29 | 790)->name == "EngineData");
  CHECK(car.of_key(791) == nullptr);
  CHECK(car.of_key(0x18FEF1FE)->name == "CCVS");
  CHECK(car.of_key(0x00FEF1FE)->name == "CCVS");  // without its priority
  CHECK(car.of_key(0x18FEF121)->name == "CCVS");  // source 254 of the file is any
  CHECK(car.of_key(0x18FEF221) == nullptr);
  const DbcNames from_0 = read("BO_ 2566844672 CCVS: 8 X\n");  // 18FEF100
  CHECK(from_0.of_key(0x0CFEF100)->name == "CCVS");
  CHECK(from_0.of_key(0x18FEF121) == nullptr);
  // A short id of 29 bits.
  CHECK(read("BO_ 2147483658 Short: 8 X\n").of_key(10)->name == "Short");
}

TEST_CASE("a malformed line of a DBC is a warning with file and line", "[dbc]") {
  const std::string head = "VERSION \"\"\n\nBO_ 790 EngineData: 8 Engine\n";
  const auto fault = [&](const std::string& line) {
    const DbcNames names = read(head + line + "\nBO_ 1 Next: 8 X\n");
    CHECK(names.find(790, false)->name == "EngineData");
    CHECK(names.find(1, false)->name == "Next");
    if (names.warnings().empty()) return std::string("none");
    CHECK(names.warnings().size() == 1);
    CHECK(names.warnings().front().where == "car.dbc:4");
    return names.warnings().front().message;
  };
  CHECK_THAT(fault("BO_ x Name: 8 X"), Contains("the id") && Contains("BO_ x Name: 8 X"));
  CHECK_THAT(fault("BO_ 4294967296 Name: 8 X"), Contains("the id"));
  CHECK_THAT(fault("BO_ 3221225472 Name: 8 X"), Contains("beyond 29 bits"));
  CHECK_THAT(fault("BO_ 12 : 8 X"), Contains("no name"));
  CHECK_THAT(fault("BO_ 12 Na-me: 8 X"), Contains("no :"));
  CHECK_THAT(fault("BO_ 12 Name: 1786 X"), Contains("no length"));
  CHECK_THAT(fault("BO_ 12 Name: 8 X Y"), Contains("more than one sender"));
  const std::string rest = " (1,0) [0|1] \"\" X";
  CHECK_THAT(fault(" SG_ : 0|8@1+" + rest), Contains("the signal has no name"));
  CHECK_THAT(fault(" SG_ A n1 : 0|8@1+" + rest), Contains("multiplexing"));
  CHECK_THAT(fault(" SG_ A 0|8@1+" + rest), Contains("multiplexing"));
  CHECK_THAT(fault(" SG_ A : |8@1+" + rest), Contains("first bit"));
  CHECK_THAT(fault(" SG_ A : 0|0@1+" + rest), Contains("length of the signal"));
  CHECK_THAT(fault(" SG_ A : 0|8@2+" + rest), Contains("order of bytes"));
  CHECK_THAT(fault(" SG_ A : 0|8@1" + rest), Contains("no sign"));
  CHECK_THAT(fault(" SG_ A : 0|8@1+ (1) [0|1] \"\" X"), Contains("factor"));
  CHECK_THAT(fault(" SG_ A : 0|8@1+ (1,nan) [0|1] \"\" X"), Contains("factor"));
  CHECK_THAT(fault(" SG_ A : 0|8@1+ (1,0) [0,1] \"\" X"), Contains("minimum"));
  CHECK_THAT(fault(" SG_ A : 0|8@1+ (1,0) [0|1] rpm X"), Contains("no unit"));
  CHECK_THAT(fault(" SG_ A : 0|8@1+ (1,0) [0|1] \"rpm X"), Contains("no unit"));
  CHECK_THAT(fault(" SG_ A : 0|8@1+ (1,0) [0|1] \"\" X;"), Contains("receivers"));
  CHECK(fault(" SG_ A : 0|8@1+ (1,0) [0|1] \"a\\\"b\" X, Y") == "none");
  CHECK(fault(" SG_ A:0|8@1-(1.,+0)[0|1]\"\"") == "none");
  CHECK_THROWS_WITH(read(" SG_ A : 0|8@1+" + rest + "\n"), Contains("ahead of all messages"));
  CHECK_THROWS_WITH(read("VERSION \"\"\nBU_: X\n"), Contains("no message"));
  CHECK_THAT(read(head + "CM_ \"open\nBO_ 1 A: 8 X\n").warnings()[0].text(),
             Contains("car.dbc:4: a text in quotes has no end"));
}

TEST_CASE("an id beyond 11 bits is one of 29, and m without a number is read", "[dbc]") {
  const DbcNames names =
      read("BO_ 256 Speed: 8 A\n SG_ V m : 0|16@1+ (1,0) [0|0] \"\" A\nBO_ 274923520 Doors: 1 A\n");
  CHECK(names.find(256, false)->signals_at(0) == Names{"V"});
  CHECK(names.find(274923520, true)->name == "Doors");
  REQUIRE(names.warnings().size() == 2);
  CHECK(names.warnings()[0].where == "car.dbc:2");
  CHECK_THAT(names.warnings()[0].message, Contains("m without a number"));
  CHECK(names.warnings()[1].where == "car.dbc:3");
  CHECK_THAT(names.warnings()[1].message, Contains("taken as one of 29 bits"));
}

TEST_CASE("signals of a message that could not be read are counted, many faults too", "[dbc]") {
  std::string text = "BO_ 1 A: 8 X\nBO_ 2 B 8 X\n SG_ V : 0|8@1+ (1,0) [0|0] \"\" X\n";
  for (int i = 0; i < 10; ++i) text += " SG_ bad\n";
  const DbcNames names = read(text);
  CHECK(names.find(1, false)->signals.empty());
  CHECK(names.find(2, false) == nullptr);
  REQUIRE(names.warnings().size() == 7);
  CHECK(names.warnings()[5].message == "such lines in all: 11");
  CHECK_THAT(names.warnings()[6].message, Contains("1 signal of messages"));
}

TEST_CASE("a DBC of GMLAN without bit 31 gives its names", "[dbc]") {
  const auto path = test::shared_path("field/gmlan.dbc");
  if (!path) return;
  const DbcNames names{file::LineReader(*path)};
  CHECK(names.find(256, false)->name == "Speed");
  CHECK(names.find(274923520, true)->name == "Doors");
  CHECK(names.warnings().size() == 1);
}

TEST_CASE("texts that are no UTF-8 are read as Latin-1, and no name steers a terminal", "[dbc]") {
  const DbcNames latin =
      read("BO_ 1 K\xFChler: 8 X\n SG_ \xD6l : 0|8@1+ (1,0) [0|1] \"\xB0\x43\" X\n");
  CHECK(latin.find(1, false)->name == "K\xC3\xBChler");
  CHECK(latin.find(1, false)->signals_at(0) == Names{"\xC3\x96l"});
  CHECK(read("\xEF\xBB\xBF"
             "BO_ 1 K\xC3\xBChler: 8 X\r\n")
            .find(1, false)
            ->name == "K\xC3\xBChler");
  CHECK_THROWS_AS(read("BO_ 1 A\x9B"
                       "31m: 8 X\n"),
                  Error);
  CHECK_THROWS_AS(read("BO_ 1 A\x1B: 8 X\n"), Error);
}

TEST_CASE("of two messages of one id the first name counts, and it is told", "[dbc]") {
  const DbcNames twice = read("BO_ 1 First: 8 X\nBO_ 1 Second: 8 X\nBO_ 2147483649 Long: 8 X\n");
  CHECK(twice.find(1, false)->name == "First");
  CHECK(twice.find(1, true)->name == "Long");
  REQUIRE(twice.notes().size() == 1);
  CHECK(twice.notes()[0].where == "car.dbc:2");
  CHECK_THAT(twice.notes()[0].message, Contains("Second"));
}

TEST_CASE("mutated DBCs are refused or read within bounds", "[dbc]") {
  test::run_mutations({kCar, kCar.substr(kCar.find("BO_ 256"))}, 20000, 3, fuzz_dbc);
}

TEST_CASE("a DBC has the messages and signals that cantools finds in it", "[dbc]") {
  const std::optional<std::string> python = test::python_with("cantools");
  if (!python) return;
  // Signals at every place and of every length, in both orders of bytes.
  std::string text = kCar;
  uint32_t id = 0x100;
  for (const bool is_big : {false, true}) {
    for (int start = 0; start < 64; start += 5) {
      for (int length = 1; length <= 64; length += 7) {
        DbcSignal signal;
        signal.start = start;
        signal.length = length;
        signal.is_big_endian = is_big;
        if (signal.last_byte() > 7) continue;
        text += "BO_ " + std::to_string(id) + " M" + std::to_string(id) +
                ": 8 Engine\n SG_ S : " + std::to_string(start) + "|" + std::to_string(length) +
                (is_big ? "@0" : "@1") + "+ (1,0) [0|0] \"\" Gateway\n\n";
        ++id;
      }
    }
  }
  const test::ScratchFolder scratch;
  test::write_text(scratch / "car.dbc", text);
  // Each signal with all its bits set, encoded: the bytes that are not 0 are its own.
  test::write_text(scratch / "read.py", R"(
import cantools, json
out = []
for m in cantools.database.load_file("car.dbc", strict=False).messages:
    signals = []
    for s in m.signals:
        bits = s.length if s.byte_order == "little_endian" else None
        if bits:
            places = range(s.start, s.start + s.length)
        else:
            first = 8 * (s.start // 8) + 7 - s.start % 8
            places = [8 * (p // 8) + 7 - p % 8 for p in range(first, first + s.length)]
        signals.append([s.name, s.start, s.length, s.byte_order == "big_endian", s.is_multiplexer,
                        (s.multiplexer_ids or [None])[0], sorted({p // 8 for p in places})])
    out.append([m.frame_id, m.is_extended_frame, m.name, m.length, sorted(signals)])
print(json.dumps(sorted(out)))
)");
  const auto ran = test::run_shell(*python + " read.py", scratch.path());
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  const DbcNames read = DbcNames(file::LineReader(scratch / "car.dbc"));
  std::vector<json> ours;
  for (const DbcMessage& message : read.messages()) {
    std::vector<json> signals;
    for (const DbcSignal& one : message.signals) {
      json bytes = json::array();
      for (int64_t byte = one.first_byte(); byte <= one.last_byte(); ++byte) bytes.push_back(byte);
      signals.push_back({one.name, one.start, one.length, one.is_big_endian, one.is_multiplexer,
                         one.multiplexed_by ? json(*one.multiplexed_by) : json(), bytes});
    }
    std::sort(signals.begin(), signals.end());
    ours.push_back({message.id, message.extended, message.name, message.length, signals});
  }
  std::sort(ours.begin(), ours.end());
  REQUIRE(ours.size() > 100);
  CHECK(json(ours) == json::parse(ran.out));
}

}  // namespace
}  // namespace kdgat::data
