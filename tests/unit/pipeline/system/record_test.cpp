#include "pipeline/system/record.h"

#include <catch2/catch.hpp>
#include <limits>

#include "kdgat/result.h"

using nlohmann::json;
using nlohmann::ordered_json;

namespace {

struct Wheel {
  std::string name;
  double width = 1;
  static auto keys() {
    return std::tuple{kdgat::key("name", &Wheel::name, "where it is"),
                      kdgat::key("width", &Wheel::width, "metres").or_null()};
  }
};

struct Car {
  std::string name = "none";
  int doors = 4;
  bool runs = false;
  std::optional<int> exit_code;
  std::optional<double> speed;
  std::filesystem::path folder;
  std::vector<Wheel> wheels;
  std::vector<std::string> tags;
  std::map<std::string, double> sizes;
  json options;
  static auto keys() {
    using kdgat::key;
    return std::tuple{key("name", &Car::name, "of the car"),
                      key("doors", &Car::doors, "that open"),
                      key("runs", &Car::runs, "whether it does"),
                      key("exit_code", &Car::exit_code, "once it has ended").or_null(),
                      key("speed", &Car::speed, "if it is known"),
                      key("folder", &Car::folder, "where it is"),
                      key("wheels", &Car::wheels, "each"),
                      key("tags", &Car::tags, "by the user"),
                      key("sizes", &Car::sizes, "by name"),
                      key("options", &Car::options, "as given").of_type("open")};
  }
};

struct Garage {
  std::vector<kdgat::Diagnostic> problems;
  static auto keys() { return std::tuple{kdgat::key("problems", &Garage::problems)}; }
};

}  // namespace

TEST_CASE("a record that is written and read is the same", "[record]") {
  const json full = {{"name", "Kia"},
                     {"doors", 3},
                     {"runs", true},
                     {"exit_code", 2},
                     {"speed", 1.5},
                     {"folder", "/a"},
                     {"wheels", {{{"name", "left"}, {"width", 0.5}}}},
                     {"tags", {"red", "old"}},
                     {"sizes", {{"length", 4.0}}},
                     {"options", {{"gps", true}}}};
  CHECK(kdgat::record::write<json>(kdgat::record::read<Car>(full)) == full);
  const ordered_json ordered = kdgat::record::write<ordered_json>(Car());
  CHECK(ordered.begin().key() == "name");
  CHECK(ordered["exit_code"].is_null());
  CHECK_FALSE(ordered.contains("speed"));
}

TEST_CASE("what is absent, null or of another type keeps its default", "[record]") {
  const Car car = kdgat::record::read<Car>(
      {{"name", nullptr}, {"doors", "many"}, {"exit_code", 1.5}, {"wheels", {{{"width", true}}}}});
  CHECK(car.name == "none");
  CHECK(car.doors == 4);
  CHECK_FALSE(car.exit_code);
  CHECK(car.wheels.at(0).width == 1);
  CHECK(kdgat::record::read<Car>(json::array()).doors == 4);
  CHECK(kdgat::record::problem<Car>({{"doors", "many"}}) == "\"doors\" is not a number");
  CHECK(kdgat::record::problem<Car>({{"wheels", json::object()}}) == "\"wheels\" is not a list");
  CHECK(kdgat::record::problem<Car>({{"doors", nullptr}, {"other", 1}}).empty());
}

TEST_CASE("a number that is not finite is written as null", "[record]") {
  const Wheel wheel{"left", std::numeric_limits<double>::quiet_NaN()};
  CHECK(kdgat::record::write<json>(wheel)["width"].is_null());
}

TEST_CASE("the keys of a form of JSON follow from its record", "[record]") {
  const std::string text = kdgat::record::keys_text<Car>();
  for (const char* line :
       {"name string of the car\n", "exit_code integer|null once it has ended\n",
        "speed? number if it is known\n",
        "wheels[] object each\nwheels[].name string where it is\n"
        "wheels[].width number|null metres\n",
        "tags[] string by the user\n", "sizes object by name\nsizes.* number its value\n",
        "options open as given\n"}) {
    INFO(line);
    CHECK(text.find(line) != std::string::npos);
  }
}

TEST_CASE("structs of the SDK may stand in a record", "[record]") {
  const json full = {{"problems", {{{"where", "a"}, {"message", "b"}, {"hint", ""}}}}};
  const Garage garage = kdgat::record::read<Garage>(full);
  CHECK(garage.problems.at(0).message == "b");
  CHECK(kdgat::record::write<json>(garage) == full);
}
