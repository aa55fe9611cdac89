// What a report draws of judged windows: counts by hand, and few numbers of many windows.
#include "support/catch_torch.h"
// Catch first: see catch_torch.h.
#include <cmath>
#include <limits>

#include "engine/compare/comparison.h"
#include "engine/compare/pictures.h"
#include "support/can/judged_logs.h"

using namespace kdgat;
using namespace kdgat::compare;
using Catch::Contains;
using kdgat::test::judged_log;
using nlohmann::json;

namespace {

json drawn(const std::vector<JudgedLog>& logs) {
  return pictures_of(logs, Comparison(logs, {"model"}, {}));
}

}  // namespace

TEST_CASE("curves, counts and spans of windows are those that a hand counts", "[detector]") {
  const JudgedLog log = judged_log("part/a", {0, 0, 1, 1, 0, 0, 1, 0}, {0, 1, 3, .4F, 2, 0, 3, 0});
  const json out = drawn({log});
  CHECK(out.at("measure") == "F1");
  CHECK(out.at("shortfalls").empty());
  const json& part = out.at("parts").at("part");
  const json& method = part.at("methods").at(0);
  CHECK(method.at("name") == "model");
  CHECK(method.at("model") == true);
  CHECK(method.at("attacks") == 3);
  CHECK(method.at("benign") == 5);
  CHECK(method.at("hours") == Approx(0.5));
  // Falling: two attacks at 3, benign at 2 and at 1, an attack at 0.4, three benign ones at 0.
  CHECK(method.at("tp") == json{0, 2, 2, 3, 3});
  CHECK(method.at("fp") == json{0, 0, 1, 2, 5});
  CHECK(method.at("at") == json{{"tp", 2}, {"fp", 2}});  // above 0.5
  const json& histogram = method.at("histogram");
  CHECK(histogram.at("from") == -0.5);
  CHECK(histogram.at("to") == 2.5);
  int64_t benign = 0, attack = 0;
  for (const json& count : histogram.at("benign")) benign += count.get<int64_t>();
  for (const json& count : histogram.at("attack")) attack += count.get<int64_t>();
  CHECK(benign == 5);
  CHECK(attack == 3);
  CHECK(histogram.at("attack").back() == 2);
  const json& line = part.at("logs").at(0);
  CHECK(line.at("axis") == "seconds");
  CHECK(line.at("windows") == 8);
  CHECK(line.at("attacks") == json{{720, 1440}, {2160, 2520}});
  const json& model = line.at("models").at(0);
  CHECK(model.at("x").size() == 8);
  CHECK(model.at("low") == model.at("high"));
  CHECK(model.at("low")[2] == 2.5);
  CHECK(model.at("alarms") == json{{360, 1080}, {1440, 1800}, {2160, 2520}});
}

TEST_CASE("alarms are those of a stream", "[detector]") {
  std::vector<int64_t> labels(400);
  std::vector<float> scores(400, -5);
  for (const std::size_t w : {10, 13, 60, 200, 201, 399}) scores[w] = 2;
  JudgedLog log = judged_log("part/a", labels, scores, 1);
  for (std::size_t w = 0; w < 400; ++w) {
    log.begin[w] = 0.5 * static_cast<double>(w);
    log.end[w] = log.begin[w] + 0.5;
  }
  const json alarms =
      drawn({log}).at("parts").at("part").at("logs")[0].at("models")[0].at("alarms");
  CHECK(alarms == json{{5.0, 7.0}, {30.0, 30.5}, {100.0, 101.0}, {199.5, 200.0}});
}

TEST_CASE("a part of one class, a log without times and verdicts that begin later", "[detector]") {
  JudgedLog quiet = judged_log("part/quiet", {0, 0, 0}, {0, .1F, .2F});
  for (double& t : quiet.begin) t = std::numeric_limits<double>::quiet_NaN();
  json part = drawn({quiet}).at("parts").at("part");
  CHECK(part.at("methods")[0].at("attacks") == 0);
  CHECK(part.at("methods")[0].at("fp") == json{0, 1, 2, 3});
  CHECK(part.at("logs")[0].at("axis") == "windows");
  CHECK(part.at("logs")[0].at("attacks").empty());
  CHECK(part.at("logs")[0].at("models")[0].at("x") == json{0, 1, 2});
  JudgedLog later = judged_log("part/later", {0, 1, 1, 0}, {.9F, .1F});  // of the last two
  part = drawn({later}).at("parts").at("part");
  CHECK(part.at("methods")[0].at("attacks") == 1);
  CHECK(part.at("logs")[0].at("models")[0].at("x") == json{720, 1080});
  CHECK(part.at("logs")[0].at("models")[0].at("alarms") == json{{720, 1080}});
  CHECK(part.at("logs")[0].at("attacks") == json{{360, 1080}});
  CHECK(drawn({}).at("parts").empty());
}

TEST_CASE("many windows are few numbers, and no peak is lost", "[detector]") {
  std::vector<JudgedLog> logs;
  for (int log = 0; log < 50; ++log) {
    std::vector<int64_t> labels(20'000);
    std::vector<float> scores(labels.size());
    for (std::size_t i = 0; i < labels.size(); ++i) {
      labels[i] = i % 100 == 7 ? 1 : 0;
      scores[i] = static_cast<float>((i * 7919) % 1000) / 2500 + (labels[i] == 1 ? 0.3F : 0);
    }
    scores[12'345] = 9;
    logs.push_back(judged_log("part/" + std::to_string(log), labels, scores));
  }
  const json out = drawn(logs);
  CHECK(out.dump().size() < 400'000);
  const json& part = out.at("parts").at("part");
  CHECK(part.at("logs").size() + part.at("more_logs").get<std::size_t>() == 50);
  CHECK(part.at("methods")[0].at("tp").size() < 400);
  for (const json& log : part.at("logs")) {
    double most = 0;
    for (const json& high : log.at("models")[0].at("high"))
      most = std::max(most, high.get<double>());
    CHECK(most == Approx(8.5));
  }
}
