// Words behind --alarm: which are right, and what is said of those that are not.
#include "pipeline/alarms/alarm_words.h"

#include <catch2/catch.hpp>

#include "kdgat/error.h"
#include "pipeline/alarms/alarm_sink.h"
#include "pipeline/alarms/alarms.h"
#include "pipeline/system/secrets.h"
#include "support/programs/command.h"

using namespace kdgat;
using namespace kdgat::test;
using Catch::Contains;

namespace {

/// What is said of these words; "" if they are taken.
std::string said_of(const std::string& words) {
  try {
    choose_alarm_sink(words);
  } catch (const Error& e) {
    CHECK(e.code() == ExitCode::kUsage);
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("words of alarms that are wrong are named with what is meant", "[alarms]") {
  const std::pair<const char*, const char*> wrong[] = {
      {"fiel:/tmp/x", "did you mean file?"},
      {"", "the forms are"},
      {"stdout:/dev/null", "nothing stands behind stdout"},
      {"stdout,rate=5", "rate=5 is no rate"},
      {"stdout,rate=0/s", "rate=0/s is no rate"},
      {"stdout,rate=0.5/s", "rate=0.5/s is no rate"},
      {"stdout,rate=1e3/s", "rate=1e3/s is no rate"},
      {"stdout,rate=10001/day", "rate=10001/day is no rate"},
      {"stdout,rate=", "rate= is no rate"},
      {"stdout,rate=1/week", "rate=1/week is no rate"},
      {"file:", "which file?"},
      {"file:/tmp", "cannot write to /tmp: Is a directory"},
      {"file:/nowhere/at/all", "No such file or directory"},
      {"file:x,max=none", "is not a size"},
      {"file:x,max=0", "leaves room for nothing"},
      {"file:x,keep=0", "keep=0 is no whole number from 1"},
      {"file:x,kep=1", "there is no option kep, did you mean keep?"},
      {"file:x,keep=1,keep=2", "keep stands twice"},
      {"file:x,y", "\"y\" is no option"},
      {"unix:", "which socket?"},
      {"syslog:lokal3", "there is no facility lokal3: daemon, user"},
      {"udp:127.0.0.1", "is no HOST:PORT"},
      {"udp:127.0.0.1:0", "is no HOST:PORT"},
      {"udp:127.0.0.1:99999", "is no HOST:PORT"},
      {"udp:::1:9000", "stands in brackets"},
      {"can:can0", "on which id?"},
      {"can:,id=1", "which interface?"},
      {"can:udp:127.0.0.1:9,id=800", "id=800 is no id"},
      {"can:udp:127.0.0.1:9,id=20000000", "id=20000000 is no id"},
      {"can:udp:127.0.0.1:9,id=1G0", "id=1G0 is no id"},
      {"command:", "which program?"},
      {"command:logger x", "named by its path"},
      {"command:/bin/sh 'x", "a quote is not closed"},
      {"command:/bin/no-such-program", "cannot run /bin/no-such-program"},
      {"command,timeout=0s:/bin/sh", "timeout=0s is no time"},
      {"command,timeout=2days:/bin/sh", "timeout=2days is no time"},
      {"command,time=1s:/bin/sh", "there is no option time"},
      {"mqtt://host", "which broker, which topic?"},
      {"mqtt://host:0/topic", "is no HOST or HOST:PORT"},
      {"mqtt://host/", "is no topic"},
      {"mqtt://host/all/#", "is no topic"},
      {"mqtt://host/t?qos=3", "qos=3 is no whole number from 0 to 2"},
      {"mqtt://user:a%0@host/t", "% must be followed by"}};
  for (const auto& [words, why] : wrong) {
    INFO(words);
    CHECK_THAT(said_of(words), Contains(why) && Contains("--alarm"));
  }
  CHECK_THAT(said_of("fiel:x"),
             Contains("mqtt://HOST[:PORT]/TOPIC") && Contains("command[,timeout=30s]:"));
}

TEST_CASE("the hint of a refused broker keeps its form where secrets are taken out", "[alarms]") {
  for (const char* bad : {"mqtt:", "mqtt://h", "mqtt://:1/t", "mqtt://u:p@/t", "mqtt://h/a%00b"}) {
    const std::string said = said_of(bad);
    INFO(said);
    CHECK_THAT(said, Contains("the form is mqtt://HOST[:PORT]/TOPIC"));
    const std::string hint = said.substr(said.find("  hint: "));
    CHECK(without_secrets(hint) == hint);
  }
  CHECK_THAT(said_of("mqtt://h/a%00b"), Contains("%00 cannot be part"));
  CHECK_THAT(said_of("mqtt://h/a%4"), Contains("two hexadecimal digits"));
  for (const AlarmKind& kind : alarm_kinds()) CHECK(without_secrets(kind.form) == kind.form);
}

TEST_CASE("a bus that is not there is refused", "[alarms]") {
  // Whether the kernel has no CAN or no such interface.
  CHECK_THAT(said_of("can:nocan99,id=6F0"),
             Contains("this kernel has no CAN") || Contains("there is no interface nocan99"));
}

TEST_CASE("a password stands in no message and no name", "[alarms]") {
  CHECK_THAT(said_of("mqtt://user:geheim@host/t?qos=7"),
             Contains("mqtt://host/t") && !Contains("geheim"));
  CHECK_THAT(said_of("mqt://user:geheim@host/t"),
             Contains("did you mean mqtt") && !Contains("geheim"));
}

TEST_CASE("sinks of which one is wrong are not made", "[alarms]") {
  const ScratchFolder scratch;
  const std::string file = (scratch / "x").string();
  CHECK_THROWS_WITH(AlarmSinks({"stdout", "file:" + file + ",keep=none"}, {}),
                    Contains("keep=none"));
  CHECK(names_in(scratch.path()).empty());
}

TEST_CASE("help names every kind with its form", "[alarms]") {
  const std::string help = alarm_help();
  for (const AlarmKind& kind : alarm_kinds()) {
    CHECK_THAT(help, Contains(std::string("  ") + kind.form + "\n"));
    CHECK(alarm_kind_of(kind.form).substr(0, alarm_kind_of(kind.form).find('[')) == kind.name);
  }
}

TEST_CASE("options are taken out of the words", "[alarms]") {
  AlarmWords behind("file:/a/b.c,keep=3,rate=10/min", OptionsAt::kBehind, "");
  CHECK(behind.target() == "/a/b.c");
  CHECK(behind.number("keep", 1, 0, 9) == 3);
  CHECK(behind.number("other", 4, 0, 9) == 4);
  const auto rate = behind.rate("");
  REQUIRE(rate);
  CHECK(rate->count == 10);
  CHECK(rate->seconds == 60);
  behind.check_all_known();

  AlarmWords before("command,timeout=1.5min:/bin/x a,b=c:d", OptionsAt::kBefore, "");
  CHECK(before.target() == "/bin/x a,b=c:d");
  CHECK(before.seconds("timeout", 1) == 90);
  CHECK_FALSE(before.rate("").has_value());

  AlarmWords query("mqtt://h/t,x?qos=2&retain=1", OptionsAt::kQuery, "");
  CHECK(query.target() == "//h/t,x");
  CHECK(query.number("qos", 1, 0, 2) == 2);
  CHECK_THROWS_WITH(query.check_all_known(), Contains("there is no option retain"));
}

TEST_CASE("texts of words are read exactly", "[alarms]") {
  CHECK(whole_number("12", 0, 12) == 12);
  for (const char* text : {"", "13", "-1", "1.0", " 1", "1 ", "0x1"})
    CHECK_FALSE(whole_number(text, 0, 12));
  CHECK(percent_decoded("a%20b%2Fc") == "a b/c");
  for (const char* text : {"%", "%2", "%2G", "%00", "%-1"}) CHECK_FALSE(percent_decoded(text));
  CHECK(words_between_blanks(" a  'b c'd \"\" ") == std::vector<std::string>{"a", "b cd", ""});
  CHECK_FALSE(words_between_blanks("a \"b"));
}
