#include "pipeline/show/chart_svg.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "pipeline/show/bars_svg.h"
#include "pipeline/show/markup.h"
#include "support/programs/markup_check.h"

using namespace kdgat;
using Catch::Contains;
using test::markup_problem;

namespace {

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t out = 0;
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; ++at) ++out;
  return out;
}

Chart chart_of(std::vector<std::pair<double, double>> points) {
  Chart chart;
  chart.title = "a < b";
  chart.x = {.title = "epoch", .ticks = Axis::Ticks::kWhole};
  chart.lines = {{"loss & more", std::move(points)}};
  return chart;
}

/// The path of the first line of a chart: "M30.1 20L...".
std::string drawn(const Chart& chart) {
  const std::string svg = chart_svg(chart);
  const std::size_t from = svg.find("d=\"", svg.find("class=\"line")) + 3;
  return svg.substr(from, svg.find('"', from) - from);
}

/// The words of all <text>, each in brackets.
std::string words(const std::string& svg) {
  std::string out;
  for (std::size_t at = 0; (at = svg.find("<text", at)) != std::string::npos;) {
    const std::size_t from = svg.find('>', at) + 1;
    at = svg.find('<', from);
    out += "[" + svg.substr(from, at - from) + "]";
  }
  return out;
}

}  // namespace

TEST_CASE("a chart has round ticks, a legend and words for the pointer", "[chart]") {
  const std::string svg = chart_svg(chart_of({{1, 0.2}, {2, 0.75}, {3, 0.4}}));
  CHECK(markup_problem(svg) == "");
  CHECK_THAT(words(svg), Contains("[0][0.2][0.4][0.6][0.8]") && Contains("[1][2][3]") &&
                             Contains("[loss &amp; more]") && Contains("[epoch]"));
  CHECK_THAT(svg, Contains("<title>loss &amp; more: 0.75 at 2 (epoch)</title>") &&
                      Contains("role=\"img\" aria-label=\"a &lt; b\""));
}

TEST_CASE("a chart is logarithmic where values span decades", "[chart]") {
  Chart chart = chart_of({{1, 8}, {2, 0.5}, {3, 0.003}});
  chart.y.scale = Axis::Scale::kByValues;
  CHECK_THAT(words(chart_svg(chart)), Contains("[0.01][0.1][1][10]") && Contains("[logarithmic]"));
  chart.lines[0].points.back().second = 0.2;
  CHECK_THAT(words(chart_svg(chart)), Contains("[0][2][4][6][8]") && !Contains("logarithmic"));
  // What has no logarithm keeps the axis linear.
  chart.lines[0].points.back().second = 0;
  CHECK_THAT(words(chart_svg(chart)), !Contains("logarithmic"));
}

TEST_CASE("an axis that has an end keeps it", "[chart]") {
  Chart chart = chart_of({{1, 1}, {2, 1}});
  chart.y.to = 1;
  CHECK_THAT(words(chart_svg(chart)), Contains("[0.98][1][1][2]"));
}

TEST_CASE("bytes stand in MiB or GiB", "[chart]") {
  constexpr double kMiB = 1 << 20;
  Chart chart = chart_of({{0, 10 * kMiB}, {1, 95 * kMiB}});
  chart.y.ticks = Axis::Ticks::kBytes;
  CHECK_THAT(words(chart_svg(chart)), Contains("[0][20][40][60][80][100]") && Contains("[MiB]"));
  chart.lines[0].points[1].second = 3000 * kMiB;
  CHECK_THAT(words(chart_svg(chart)), Contains("[0][0.5][1]") && Contains("[GiB]"));
}

TEST_CASE("a chart of nothing, of one point and of what is no number", "[chart]") {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  CHECK(chart_svg(Chart()) == "");
  CHECK(chart_svg(chart_of({{1, kNan}, {kInfinity, 2}})) == "");
  for (const auto& points :
       std::vector<std::vector<std::pair<double, double>>>{{{1, 0.5}},
                                                           {{1, 1}, {2, 1}},
                                                           {{0, 0}, {0, 0}},
                                                           {{1, -3}, {2, kNan}, {3, -5}},
                                                           {{1, 1e300}, {2, 1e-300}},
                                                           {{7, 1e-7}}}) {
    for (const auto scale : {Axis::Scale::kLinear, Axis::Scale::kByValues}) {
      Chart chart = chart_of(points);
      chart.y.scale = scale;
      const std::string svg = chart_svg(chart);
      CHECK(count(svg, "class=\"line") == 1);
      CHECK(count(svg, "nan") + count(svg, "inf") == 0);
      CHECK(markup_problem(svg) == "");
    }
  }
}

TEST_CASE("a long line answers the pointer at some of its points", "[chart]") {
  std::vector<std::pair<double, double>> points;
  for (int i = 0; i < 3000; ++i) points.emplace_back(i, std::sin(i / 100.0));
  const std::string svg = chart_svg(chart_of(points));
  CHECK(count(svg, "<title>") <= 60);
  CHECK(count(svg, "<title>") >= 30);
}

TEST_CASE("of a line with more points than pixels only those are drawn that shape it", "[chart]") {
  constexpr int kPoints = 100'000, kPeak = 61'803, kDip = 31'415;
  std::vector<std::pair<double, double>> points;
  for (int i = 0; i < kPoints; ++i) points.emplace_back(i, std::sin(i / 5000.0));
  Chart chart = chart_of(points);
  chart.lines[0].name = "";
  CHECK(drawn(chart).size() < 30'000);
  CHECK(count(drawn(chart), "L") > 300);
  // One point of a hundred thousand that stands out is seen.
  chart.y = {.from = -2, .to = 2};
  chart.lines[0].points[kPeak].second = 2;
  chart.lines[0].points[kDip].second = -2;
  Chart flat = chart;
  for (const double value : {2.0, -2.0}) {
    flat.lines[0].points = {{0, value}, {kPoints, value}};
    const std::string line = drawn(flat);
    CHECK_THAT(drawn(chart), Contains(line.substr(line.rfind(' ')) + "L"));
  }
  // Few points are all there.
  flat.lines[0].points = {{0, 0}, {1, 1}, {1, 0.5}, {2, 1}};
  CHECK(count(drawn(flat), "L") == 3);
}

TEST_CASE("lines past the palette begin it again, rules and marks are named", "[chart]") {
  Chart chart = chart_of({{0, 0}, {1, 1}});
  chart.lines[0].colour = kColours + 2;
  chart.rules = {{0.5, "best: 12"}, {0.2, "split", 1, true}, {0.3, "split", 1, true}};
  chart.marks = {{0.5, 0.5, 3, "threshold <0.5>"}};
  const std::string svg = chart_svg(chart);
  CHECK_THAT(svg, Contains("class=\"line l2\"") && Contains("threshold &lt;0.5&gt;"));
  CHECK(count(words(svg), "[best: 12]") == 1);
  CHECK(count(words(svg), "[split]") == 1);  // in the legend alone
}

TEST_CASE("lines have dashes and markers of their own where a chart wants them", "[chart]") {
  Chart chart = chart_of({{0, 0}, {1, 1}});
  chart.lines[0].name = "first";
  for (int i = 1; i < 5; ++i) {
    chart.lines.push_back({"line " + std::to_string(i), {{0, 0}, {1, 0.1 * i}}, i});
  }
  chart.lines.push_back({"base", {{0, 0}, {1, 0}}, kGrey, true});
  CHECK(count(chart_svg(chart), "class=\"sign") == 0);
  chart.has_markers = true;
  const std::string svg = chart_svg(chart);
  CHECK(markup_problem(svg) == "");
  // Four along each line and one in the legend; none on what is grey and dashed.
  CHECK(count(svg, "class=\"sign") == 5 * 5);
  CHECK(count(svg, "<circle class=\"sign f0\"") == 5);
  for (const char* shape : {"f1", "f2", "f3", "f4"}) {
    CHECK(count(svg, std::string("<polygon class=\"sign ") + shape) == 5);
  }
  for (const char* dashes : {"l0 p0", "l1 p1", "l2 p2", "l3 p3", "l4 p0"}) {
    CHECK(count(svg, std::string("class=\"line ") + dashes) == 1);
  }
  // A line without length has no place for one.
  chart.lines = {{"point", {{0.5, 0.5}}, 0}, {"still", {{0.5, 0.5}, {0.5, 0.5}}, 1}};
  CHECK(count(chart_svg(chart), "class=\"sign") == 2);
  CHECK(markup_problem(chart_svg(chart)) == "");
}

TEST_CASE("stretches are tinted or stand along the upper edge, and in the legend once", "[chart]") {
  Chart chart = chart_of({{0, 0}, {100, 1}});
  chart.spans = {{10, 20, "attack", "attack: 10 to 20", 1, true},
                 {40, 60, "attack", "attack: 40 to 60", 1, true},
                 {12, 12, "alarm <1>", "alarm", 3, false}};
  const std::string svg = chart_svg(chart);
  CHECK(markup_problem(svg) == "");
  CHECK(count(svg, "<rect class=\"tint f1\"") == 3);
  CHECK(count(svg, "<rect class=\"strip f3\"") == 2);
  CHECK(count(words(svg), "[attack]") == 1);
  CHECK_THAT(words(svg), Contains("[alarm &lt;1&gt;]"));
  CHECK_THAT(svg, Contains("<title>attack: 40 to 60</title>"));
  const auto width_of = [&](const std::string& title) {
    const std::size_t end = svg.rfind("<rect", svg.find("<title>" + title));
    const std::size_t at = svg.find(" width=\"", end) + 8;
    return std::stod(svg.substr(at));
  };
  CHECK(width_of("attack: 40 to 60") == Approx(2 * width_of("attack: 10 to 20")).epsilon(0.01));
  CHECK(width_of("alarm<") == 1.5);  // what has no length is seen all the same
}

TEST_CASE("bars have names, numbers and intervals", "[chart]") {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const auto bar = [](const std::string& name, double value, bool is_pale = false) {
    Bar out;
    out.name = name;
    out.value = value;
    out.is_pale = is_pale;
    return out;
  };
  BarChart chart;
  chart.title = "F1, test <1>";
  chart.axis = "F1";
  CHECK(bars_svg(chart) == "");
  chart.bars = {bar("none", kNan)};
  CHECK(bars_svg(chart) == "");
  chart.bars = {bar("detector", 0.98), bar("rule & more", 0.49, true), bar("half", 0.5, true),
                bar("none", kNan), bar("zero", 0)};
  chart.bars[0].low = chart.bars[2].low = 0.4;
  chart.bars[0].high = 1;
  chart.bars[2].high = kNan;
  const std::string svg = bars_svg(chart);
  CHECK(markup_problem(svg) == "");
  CHECK(count(svg, "<rect") == 4);
  CHECK(count(svg, "class=\"pale ") == 2);
  CHECK(count(svg, "whisker") == 3);  // one interval: a line and its two ends
  CHECK(count(svg, "nan") == 0);
  CHECK_THAT(words(svg), Contains("[detector][0.980]") && Contains("[rule &amp; more][0.490]") &&
                             Contains("[0][0.5][1]") && Contains("[F1]"));
  const auto width_of = [&](const std::string& title) {
    const std::size_t at = svg.rfind(" width=\"", svg.find("<title>" + title)) + 8;
    return std::stod(svg.substr(at));
  };
  CHECK(width_of("detector") == Approx(2 * width_of("rule")).epsilon(0.01));
}

TEST_CASE("bars of one name stand below it, from zero to either side, with a legend", "[chart]") {
  BarChart chart;
  chart.title = "differences";
  chart.from = chart.to = std::nullopt;
  chart.has_signs = true;
  chart.legend = {{"validation", 0}, {std::string(100, 'x'), 1}};
  for (const double value : {0.25, -0.125}) {
    Bar bar;
    bar.name = "teacher";
    bar.value = value;
    bar.is_more = value < 0;
    chart.bars.push_back(bar);
  }
  const std::string svg = bars_svg(chart);
  CHECK(markup_problem(svg) == "");
  CHECK(count(svg, ">teacher</text>") == 1);
  CHECK_THAT(svg, Contains(">+0.250</text>") && Contains(">-0.125</text>"));
  CHECK_THAT(svg, Contains(">validation</text>") && Contains("xxx…</text>"));
  const auto number_of = [&](const std::string& title, const std::string& name) {
    const std::size_t end = svg.find("<title>" + title);
    return std::stod(svg.substr(svg.rfind(" " + name + "=\"", end) + name.size() + 3));
  };
  const std::string more = "teacher: +0.250", less = "teacher: -0.125";
  CHECK(number_of(less, "x") + number_of(less, "width") ==
        Approx(number_of(more, "x")).margin(0.2));
  CHECK(number_of(more, "width") == Approx(2 * number_of(less, "width")).margin(0.3));
  CHECK(number_of(less, "y") > number_of(more, "y"));
}

TEST_CASE("a text of a chart is cut to the room that it has", "[chart]") {
  CHECK(chart_text_within("short", 100) == "short");
  const std::string cut = chart_text_within("überlange Namen über alle Maßen", 63);
  CHECK(cut == "überlange…");
  CHECK(chart_text_width(cut) <= 63);
  CHECK(chart_text_within("ab", 1) == "…");
}

TEST_CASE("no text is markup", "[chart]") {
  CHECK(escaped("<a href=\"x\" b='c'>&") == "&lt;a href=&quot;x&quot; b=&#39;c&#39;&gt;&amp;");
  CHECK(escaped("caf\xc3\xa9\n\t") == "caf\xc3\xa9\n\t");
  CHECK(escaped("\x1b[31m\x01") == "\uFFFD[31m\uFFFD");
  CHECK(escaped("half \xc3 of it") == "half \uFFFD of it");
}
