#include "pipeline/show/table.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <sstream>

#include "pipeline/show/line_width.h"
#include "pipeline/show/sparkline.h"
#include "pipeline/show/text.h"

using namespace kdgat;
using nlohmann::json;

TEST_CASE("a table aligns numbers to the right and words to the left", "[table]") {
  const json result = {{"table",
                        {{"columns", {"", "F1", "größe"}},
                         {"rows", {{"autoencoder", 0.5, "a"}, {"b", 0.12345, nullptr}}}}}};
  CHECK(tables_text(result) ==
        "\n                F1  größe\nautoencoder  0.500  a\nb            0.123\n\n");
  CHECK(tables_text(json::object()).empty());
  CHECK(tables_text({{"table", 7}, {"tables", "x"}}).empty());
}

TEST_CASE("tables of several steps with equal columns are one", "[table]") {
  const auto with = [](const char* part, double value) {
    const json rows = json::array({json::array({part, value}), json::array({"test", 0.5})});
    return json{{"table", {{"columns", {"part", "F1"}}, {"rows", rows}}}};
  };
  const json other = {{"table", {{"columns", {"model"}}, {"rows", {{"gat"}}}}}};
  CHECK(joined_tables_text({{"a", with("val", 1)}, {"b", json::object()}}) ==
        tables_text(with("val", 1)));
  CHECK(joined_tables_text({{"first", with("val", 0.25)}, {"c", with("train", 1)}}) ==
        "\nstep   part      F1\n"
        "first  val    0.250\n"
        "       test   0.500\n"
        "c      train  1.000\n"
        "       test   0.500\n\n");
  const std::string both = joined_tables_text({{"a", with("val", 1)}, {"b", other}});
  CHECK(both.find("step  model\nb     gat\n") != std::string::npos);
}

TEST_CASE("a table of counts has all but its first column to the right", "[table]") {
  Table table(Table::Align::kRightButFirst);
  CHECK(table.text().empty());
  table.add_heading("a folder of a long name/");
  table.add({"file", "rows", "nodes"});
  table.add({"  größe", "1,000", "2/3/4/5"});
  table.add({"b", "7"});
  CHECK(table.text() ==
        "a folder of a long name/\n"
        "file      rows    nodes\n"
        "  größe  1,000  2/3/4/5\n"
        "b            7\n");
}

TEST_CASE("no cell of a table steers the terminal", "[table]") {
  Table table;
  table.add_heading("\x1b[2J");
  table.add({"a\x07", "b"});
  CHECK(table.text() == "?[2J\na?  b\n");
}

TEST_CASE("tables fit the columns there are: words are wrapped, columns put below", "[table]") {
  struct Limit {
    explicit Limit(std::size_t columns) { limit_tables(columns); }
    ~Limit() { limit_tables(0); }
  };
  const auto widest = [](const std::string& text) {
    std::size_t most = 0;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) most = std::max(most, text_width(line));
    return most;
  };
  Table words, numbers;
  words.add({"name", "what", "n"});
  words.add(
      {"größer",
       "a line of words that is too long for a narrow terminal, and /a/path/that/has/no/blank",
       "7"});
  std::vector<std::string> head = {"model"}, row = {"gat"};
  for (int i = 0; i < 12; ++i) {
    head.push_back("figure " + std::to_string(i));
    row.push_back(std::to_string(i) + ".125");
  }
  numbers.add(head);
  numbers.add(row);
  CHECK(widest(words.text()) > 80);
  CHECK(widest(numbers.text()) > 80);
  const std::string wide = words.text();
  for (const std::size_t columns : {40, 60, 80}) {
    const Limit limit(columns);
    CHECK(widest(words.text()) <= columns);
    CHECK(widest(numbers.text()) <= columns);
    const std::string text = numbers.text();
    for (const std::string& cell : row) CHECK(text.find(cell) != std::string::npos);
    CHECK(text.find("\n\nmodel  ") != std::string::npos);
  }
  CHECK(words.text() == wide);
}

TEST_CASE("each block of a table names its rows, and names break where they are joined",
          "[table]") {
  const std::size_t columns = GENERATE(60, 80, 120);
  struct Limit {
    explicit Limit(std::size_t most) { limit_tables(most); }
    ~Limit() { limit_tables(0); }
  } const limit(columns);
  Table table;
  std::vector<std::string> head = {"test part", "method"};
  for (int i = 0; i < 8; ++i) head.push_back("figure number " + std::to_string(i));
  table.add(head);
  for (const char* method : {"detector", "period of each id"}) {
    std::vector<std::string> row = {"test_02_unknown_vehicle_known_attack", method};
    for (int i = 0; i < 8; ++i) row.push_back("0.125");
    table.add(row);
  }
  const std::string text = table.text();
  INFO(text);
  std::istringstream lines(text);
  std::size_t blocks = 0, named = 0;
  for (std::string line; std::getline(lines, line);) {
    CHECK(text_width(line) <= columns);
    blocks += line.find("figure") != std::string::npos && line.rfind("test part", 0) == 0;
    named += line.find("detector") != std::string::npos;
  }
  CHECK(blocks > 1);
  CHECK(named == blocks);
  for (const char* broken : {"unknow\n", "vehicl\n", "unknow ", "vehicl "}) {
    CHECK(text.find(broken) == std::string::npos);
  }
}

TEST_CASE("a sparkline goes from the least to the greatest, in blocks or in plain characters",
          "[table]") {
  CHECK(sparkline({3, 2, 1}, 8, true) == "█▅▁");
  CHECK(sparkline({3, 2, 1}, 8, false) == "#=_");
  CHECK(sparkline({1, 1}, 8, false) == "__");
  CHECK(sparkline({1, NAN, 2}, 8, false) == "_#");
  CHECK(sparkline({4, 4, 2, 2, 0, 0}, 3, false) == "#=_");
  CHECK(sparkline({}, 8, true).empty());
}
