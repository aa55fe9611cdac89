// What every domain must do, those of the program and one that only tests know.
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <stdexcept>
#include <vector>

#include "engine/data/core/graph_domain.h"
#include "engine/data/core/import.h"
#include "engine/data/core/import_options.h"
#include "engine/data/core/synth.h"
#include "pipeline/data/domains.h"
#include "support/can/log_text.h"
#include "support/graphs/series_domain.h"
#include "support/programs/command.h"
#include "support/programs/folder_bytes.h"

namespace kdgat::data {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::bytes_below;

const std::vector<const Domain*>& domains_of_tests() {
  static const std::vector<const Domain*> domains = [] {
    const Domains own = all_domains();
    std::vector<const Domain*> out(own.begin(), own.end());
    out.push_back(&test::series_domain());
    return out;
  }();
  return domains;
}

/// Small input of the domain's first kind.
json small_synth(const Domain& domain, int64_t seed = 1) {
  json out = {{"kind", domain.synth_kinds().front().name}, {"seed", seed}};
  const json properties = domain.synth_schema().at("properties");
  const json wanted = {{"seconds", 3}, {"attacks", {"dos"}}, {"graphs", 24}, {"nodes", 30}};
  for (const auto& [name, value] : wanted.items()) {
    if (properties.contains(name)) out[name] = value;
  }
  return out;
}

/// A domain with its data made up and imported.
struct Imported {
  explicit Imported(const Domain& of) : domain(of) {
    write_synthetic(domains_of_tests(), folder / "in", small_synth(domain));
    report = import_source(domains_of_tests(), folder / "in", folder / "out", json::object());
  }
  fs::path store() const { return folder / "out" / kStoreName; }

  const Domain& domain;
  test::ScratchFolder folder;
  ImportReport report;
};

/// What `kdgat data import` gives, as far as it is described.
json import_result(const Imported& data) {
  const DataFolder made = open_folder(domains_of_tests(), data.folder / "out", graph::Check::kOnce);
  json out = {{"folder", "out"},
              {"reused", data.report.reused},
              {"rows", data.report.rows},
              {"graphs", data.report.graphs},
              {"unlabelled", made.store.facts.at("unlabelled")},
              {"sources", data.report.sources},
              {"parts", made.store.facts.at("parts")}};
  for (const char* key : {"attack", "num_ids", data.domain.facts_key()}) {
    if (made.store.facts.contains(key)) out[key] = made.store.facts.at(key);
  }
  return out;
}

template <class F>
Error thrown_by(F act) {
  try {
    act();
  } catch (const Error& error) {
    return error;
  }
  FAIL("nothing was thrown");
  throw std::logic_error("unreachable");
}

std::string text_of(const Description& description) {
  std::string out;
  for (const Description::Block& block : description.blocks) {
    out += block.text;
    for (const auto& row : block.table.rows) {
      for (const std::string& cell : row.cells) out += cell + " ";
    }
  }
  return out;
}

/// Another value of an option.
json changed(const json& schema) {
  const json& value = schema.at("default");
  if (schema.contains("enum")) {
    for (const json& choice : schema.at("enum")) {
      if (choice != value) return choice;
    }
  }
  if (value.is_boolean()) return !value.get<bool>();
  if (value.is_number_integer()) return value.get<int64_t>() + 2;
  if (value.is_number()) return value.get<double>() / 2;
  if (value.is_string()) return value.get<std::string>() + "x";
  const json& items = schema.at("items");
  if (items.contains("enum")) return json::array({items.at("enum").front()});
  if (items.at("type") == "number") return {0.5, 0.25, 0.25};
  return json::array({"x"});
}

}  // namespace

TEST_CASE("a domain makes up the same bytes for the same seed", "[domain]") {
  for (const Domain* domain : domains_of_tests()) {
    INFO(domain->name());
    const test::ScratchFolder folder;
    write_synthetic(domains_of_tests(), folder / "a", small_synth(*domain));
    write_synthetic(domains_of_tests(), folder / "b", small_synth(*domain));
    write_synthetic(domains_of_tests(), folder / "c", small_synth(*domain, 2));
    CHECK_FALSE(bytes_below(folder / "a").empty());
    CHECK(bytes_below(folder / "a") == bytes_below(folder / "b"));
    CHECK(bytes_below(folder / "a") != bytes_below(folder / "c"));
    CHECK(&domain_of_synth(domains_of_tests(), small_synth(*domain)) == domain);
    CHECK(thrown_by([&] {
            write_synthetic(domains_of_tests(), folder / "d", small_synth(*domain), nullptr,
                            [] { return true; });
          }).code() == ExitCode::kInterrupted);
  }
}

TEST_CASE("a file of a folder that is not read is counted, and a link that is not followed",
          "[domain]") {
  for (const Domain* domain : all_domains()) {
    INFO(domain->name());
    const test::ScratchFolder folder;
    write_synthetic(all_domains(), folder / "in", small_synth(*domain));
    const auto unused = [&](const std::string& out) {
      return unused_in(
          import_source(all_domains(), folder / "in", folder / out, {{"strict", true}}).warnings);
    };
    json wanted = unused("sound");  // labels of made-up trees have a column of numbers, too
    CHECK_FALSE(wanted.contains("file"));
    test::write_text(folder / "in/notes.md", "of these data\n");
    wanted["file"] = 1;
    CHECK(unused("more") == wanted);
    fs::create_directory_symlink(folder / "in", folder / "in/again");
    const auto linked = import_source(all_domains(), folder / "in", folder / "linked", {});
    wanted["link"] = 1;
    CHECK(unused_in(linked.warnings) == wanted);
    const auto again = import_source(all_domains(), folder / "in", folder / "linked", {});
    CHECK(again.reused);
    CHECK(json(again.warnings) == json(linked.warnings));
  }
}

TEST_CASE("a domain knows its source, its store and its facts", "[domain]") {
  for (const Domain* domain : domains_of_tests()) {
    INFO(domain->name());
    const Imported data(*domain);
    CHECK(&domain_of_source(domains_of_tests(), data.folder / "in", json::object()) == domain);
    CHECK(&domain_of_store(domains_of_tests(), data.store()) == domain);
    CHECK(store_of(domains_of_tests(), data.folder / "out") == data.store());
    const DataFolder made =
        open_folder(domains_of_tests(), data.folder / "out", graph::Check::kOnce);
    CHECK(made.domain == domain);
    CHECK(domain_of_facts(domains_of_tests(), made.store.facts) == domain);
    CHECK(made.store.facts.at("parts").contains("train"));
    CHECK(fs::exists(data.folder / "out" / kSplitName) != domain->has_parts_inside());
    CHECK(data.report.rows > 0);
    CHECK(data.report.rows == made.store.rows);
    CHECK(domain->verify(data.store()).empty());
  }
}

TEST_CASE("an import that stands is not made again, and its hash is that of the store",
          "[domain]") {
  for (const Domain* domain : domains_of_tests()) {
    INFO(domain->name());
    const Imported data(*domain);
    CHECK_FALSE(data.report.reused);
    const ImportReport again =
        import_source(domains_of_tests(), data.folder / "in", data.folder / "out", json::object());
    CHECK(again.reused);
    CHECK(again.rows == data.report.rows);
    CHECK(again.graphs == data.report.graphs);
    CHECK(import_fingerprint(domains_of_tests(), data.folder / "out", json::object()) ==
          domain->open(data.store(), graph::Check::kAlways).content_hash);
  }
}

TEST_CASE("a domain says what it holds", "[domain]") {
  for (const Domain* domain : domains_of_tests()) {
    INFO(domain->name());
    const Imported data(*domain);
    const json result = import_result(data);
    const std::string headline = domain->wording().headline(result);
    CHECK_FALSE(headline.empty());
    CHECK_THAT(text_of(domain->wording().of_import(result)), Catch::Contains(headline));
    const json seen = domain->inspect(data.store());
    CHECK(seen.at("content_hash") == domain->open(data.store(), graph::Check::kOnce).content_hash);
    CHECK_FALSE(text_of(domain->wording().of_store(seen)).empty());
    CHECK_THAT(domain->synth_headline(small_synth(*domain, 7), result), Catch::Contains("seed 7"));
  }
}

TEST_CASE("a damaged store is found, and made again by an import", "[domain]") {
  for (const Domain* domain : domains_of_tests()) {
    INFO(domain->name());
    const Imported data(*domain);
    const std::string whole = bytes_below(data.folder / "out").at(kStoreName);
    const file::SafetensorsFile file = file::SafetensorsFile::open(data.store());
    std::string damaged = whole;
    damaged[damaged.size() - 3] = static_cast<char>(damaged[damaged.size() - 3] ^ 0x41);
    test::write_text(data.store(), damaged);
    CHECK_FALSE(domain->verify(data.store()).empty());
    CHECK_FALSE(
        import_source(domains_of_tests(), data.folder / "in", data.folder / "out", json::object())
            .reused);
    CHECK(bytes_below(data.folder / "out").at(kStoreName) == whole);
    test::write_text(data.store(), whole.substr(0, whole.size() - 64));
    CHECK(thrown_by([&] { domain->open(data.store(), graph::Check::kOnce); }).code() ==
          ExitCode::kData);
  }
}

TEST_CASE("a cancelled import leaves no store", "[domain]") {
  for (const Domain* domain : domains_of_tests()) {
    INFO(domain->name());
    const test::ScratchFolder folder;
    write_synthetic(domains_of_tests(), folder / "in", small_synth(*domain));
    CHECK(thrown_by([&] {
            import_source(domains_of_tests(), folder / "in", folder / "out", json::object(), {},
                          [] { return true; });
          }).code() == ExitCode::kInterrupted);
    CHECK_FALSE(fs::exists(folder / "out" / kStoreName));
  }
}

TEST_CASE("exactly the options of a domain that can change a result are its identity", "[domain]") {
  const json properties = import_schema(domains_of_tests()).at("properties");
  const std::set<std::string> relative = {"use_labels", "inject", "own_seconds", "most_windows",
                                          "forgotten"};
  std::set<std::string> bound = relative;
  bound.insert({"fold", "min_nodes"});
  json defaults = json::object();
  for (const auto& [name, schema] : properties.items()) defaults[name] = schema.at("default");
  for (const Domain* domain : domains_of_tests()) {
    const json own = domain->import_schema().at("properties");
    const json before = domain->import_identity(defaults);
    for (const auto& [name, schema] : properties.items()) {
      if (bound.contains(name)) continue;  // by others: see below
      INFO(domain->name() << " " << name);
      json values = defaults;
      values[name] = name == "folds" ? json(5) : changed(schema);
      const bool matters = own.contains(name) && !own.at(name).contains("x-runtime");
      CHECK((domain->import_identity(values) != before) == matters);
    }
    json folded = defaults;
    folded["folds"] = 5;
    const json first = domain->import_identity(folded);
    folded["fold"] = 2;
    CHECK((domain->import_identity(folded) != first) == own.contains("fold"));
    if (!own.contains("forgotten")) continue;
    json of_profiles = defaults;
    of_profiles["features"] = "relative";
    const json usual = domain->import_identity(of_profiles);
    for (const std::string& name : relative) {
      INFO(name);
      json values = of_profiles;
      values[name] = changed(properties.at(name));
      CHECK(domain->import_identity(values) != usual);
    }
  }
}

TEST_CASE("options that no domain has, or that two find wrong, are told once", "[domain]") {
  const auto problems = [](const json& values) {
    return thrown_by([&] { check_import_options(domains_of_tests(), values); }).diagnostics();
  };
  CHECK(problems({{"wndow", 5}}).front().message == "unknown option wndow");
  CHECK(problems({{"folds", 1}}).size() == 1);
  CHECK(problems({{"split", 3}}).size() == 1);
  CHECK_NOTHROW(check_import_options(domains_of_tests(), {{"folds", 3}, {"fold", 2}}));
}

TEST_CASE("what two domains are sure of must be named", "[domain]") {
  const test::ScratchFolder folder;
  test::write_text(folder / "a/made.series", "1\n2\n");
  for (const char* name : {"graphs.csv", "nodes.csv", "edges.csv"}) {
    test::write_text(folder / "a" / name, "graph\n");
  }
  const Error error = thrown_by(
      [&] { import_source(domains_of_tests(), folder / "a", folder / "out", json::object()); });
  CHECK(error.code() == ExitCode::kData);
  CHECK_THAT(error.what(), Catch::Contains("could be data of the domain graphs or series"));
  CHECK_FALSE(fs::exists(folder / "out"));
  CHECK(import_source(domains_of_tests(), folder / "a", folder / "out", {{"format", "series"}})
            .rows == 2);
}

TEST_CASE("every form and every made-up kind is of one domain", "[domain]") {
  std::set<std::string> forms, kinds, names;
  std::size_t all_forms = 0, all_kinds = 0;
  for (const Domain* domain : domains_of_tests()) {
    names.insert(domain->name());
    for (const std::string& form : domain->formats()) forms.insert(form), ++all_forms;
    for (const SynthKind& kind : domain->synth_kinds()) kinds.insert(kind.name), ++all_kinds;
  }
  CHECK(names.size() == domains_of_tests().size());
  CHECK(forms.size() == all_forms);
  CHECK(kinds.size() == all_kinds);
  CHECK(import_schema(domains_of_tests()).at("properties").at("format").at("enum").size() ==
        all_forms + 1);
}

}  // namespace kdgat::data
