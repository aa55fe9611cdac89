#include "pipeline/plugin/schema.h"

#include <catch2/catch.hpp>

using kdgat::check_value;
using kdgat::plain_scalar;
using nlohmann::json;

namespace {

const json kNumber = {{"type", "number"}, {"minimum", 1e-6}, {"maximum", 1}};
const json kInteger = {{"type", "integer"}, {"minimum", 1}};
const json kBoolean = {{"type", "boolean"}};
const json kChoice = {{"type", "string"}, {"enum", {"16-mixed", "32"}}};
const json kNumbers = {{"type", "array"}, {"items", {{"type", "integer"}, {"minimum", 1}}}};
const json kWords = {{"type", "array"}, {"items", {{"type", "string"}}}};

}  // namespace

TEST_CASE("plain scalars have the types of YAML 1.2", "[schema]") {
  CHECK(plain_scalar("true").value == json(true));
  CHECK(plain_scalar("False").value == json(false));
  for (const char* text : {"no", "yes", "on", "off", "y"}) {
    CHECK(plain_scalar(text).value == json(text));
  }
  CHECK(plain_scalar("").value.is_null());
  CHECK(plain_scalar("~").value.is_null());
  CHECK(plain_scalar("-12").value == json(-12));
  CHECK(plain_scalar("+3").value == json(3));
  CHECK(plain_scalar("1e-3").value == json(0.001));
  CHECK(plain_scalar(".5").value == json(0.5));
  for (const char* text : {"1.2.3", "14GiB", "4h", "e5", "-", "1-2", ".inf", "1e999"}) {
    CHECK(plain_scalar(text).value == json(text));
  }
}

TEST_CASE("a value is stored in the type of its option", "[schema]") {
  CHECK(check_value(kNumber, plain_scalar("1")).value.is_number_float());
  CHECK(check_value(kInteger, plain_scalar("1e3")).value == json(1000));
  CHECK(check_value(kInteger, plain_scalar("1e3")).value.is_number_integer());
  CHECK(check_value(kChoice, plain_scalar("32")).value == json("32"));
  CHECK(check_value(kWords, plain_scalar("dos,replay")).value == json({"dos", "replay"}));
  CHECK(check_value(kNumbers, plain_scalar("480,240")).value == json({480, 240}));
  CHECK(check_value(kNumbers, plain_scalar("16")).value == json::array({16}));
  CHECK(check_value(kNumbers, plain_scalar("[480, 240]")).value == json({480, 240}));
  CHECK(check_value(kWords, plain_scalar("[]")).value == json::array());
}

TEST_CASE("a bad value says what is wrong with it", "[schema]") {
  CHECK(check_value(kNumber, plain_scalar("0")).problem == "0 is outside [1e-06, 1]");
  CHECK(check_value(kNumber, plain_scalar("fast")).problem == "\"fast\" is not a number");
  CHECK(check_value(kInteger, plain_scalar("0")).problem == "0 is outside [1, ...]");
  CHECK(check_value(kInteger, plain_scalar("1.5")).problem == "1.5 is not a whole number");
  CHECK(check_value(kInteger, plain_scalar("")).problem == "has no value");
  CHECK(check_value(kBoolean, plain_scalar("no")).problem == "\"no\" is not true or false");
  CHECK(check_value(kBoolean, plain_scalar("1")).problem == "1 is not true or false");
  CHECK(check_value(kChoice, plain_scalar("8")).problem == "\"8\" is not one of 16-mixed, 32");
  CHECK(check_value(kNumbers, plain_scalar("4,0")).problem == "0 is outside [1, ...]");
  json some = kNumbers;
  some["minItems"] = 1;
  CHECK(check_value(some, {json::array(), "[]", {}}).problem == "[] is empty");
  CHECK(check_value(kNumbers, {json::array(), "[]", {}}).value == json::array());
}

TEST_CASE("an option is known under its own and its published name", "[schema]") {
  const json schema = {
      {"properties", {{"hidden", {{"type", "integer"}, {"x-aliases", {"gat_hidden"}}}}}}};
  CHECK(kdgat::own_option_name(schema, "hidden") == "hidden");
  CHECK(kdgat::own_option_name(schema, "gat_hidden") == "hidden");
  CHECK(kdgat::own_option_name(schema, "gat").empty());
  CHECK(kdgat::option_names(schema) == std::vector<std::string>{"hidden", "gat_hidden"});
}

TEST_CASE("help of an option shows flag, bounds, default and published name", "[schema]") {
  const json schema = {{"properties",
                        {{"hidden_dims",
                          {{"type", "array"},
                           {"items", {{"type", "integer"}, {"minimum", 1}, {"maximum", 9}}},
                           {"description", "Widths."},
                           {"default", {4, 2}},
                           {"x-aliases", {"vgae_hidden_dims"}}}}}}};
  CHECK(kdgat::options_text(schema) ==
        "  --hidden-dims N N ...           Widths. [1, 9] (default [4, 2]) (also "
        "vgae_hidden_dims)\n");
}

TEST_CASE("a choice with a number in it is checked before anything runs", "[schema]") {
  using kdgat::plain_scalar;
  const nlohmann::json schema = {
      {"type", "array"},
      {"items", {{"type", "string"}, {"enum", {"never", "every:N", "fragmentation:P"}}}}};
  const auto problem = [&](const std::string& text) {
    return check_value(schema, plain_scalar(text)).problem;
  };
  for (const char* good :
       {"never", "every:1", "every:100,never", "fragmentation:1.5", "[every:5, fragmentation:2]"}) {
    INFO(good);
    CHECK(problem(good) == "");
  }
  for (const char* bad :
       {"every:0", "every:-1", "every:1.5", "every:", "every:N", "every:+5", "fragmentation:nan",
        "fragmentation:inf", "fragmentation:1", "fragmentation:P", "often", "never,every:0"}) {
    INFO(bad);
    CHECK(problem(bad).find("is not one of never, every:N, fragmentation:P") != std::string::npos);
  }
  CHECK(kdgat::pattern_of(schema["items"]["enum"]) ==
        "^(never|every:[1-9][0-9]*|fragmentation:[0-9]+(\\.[0-9]+)?)$");
}
