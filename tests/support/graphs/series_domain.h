// A tiny domain of tests: series of numbers. What a domain must bring, and nothing else.
//
//   NAME.series   a number a line
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "engine/data/core/domain.h"
#include "engine/data/core/import_options.h"
#include "engine/data/core/synth_size.h"
#include "engine/file/line_reader.h"
#include "kdgat/atomic_file.h"
#include "support/can/log_text.h"
#include "support/programs/command.h"

namespace kdgat::test {

struct SeriesOptions : data::SharedOptions {
  double scale = 1;
  int64_t series_threads = 1;

  static auto table() {
    return std::tuple{
        format_row(), seed_row(), field("scale", &SeriesOptions::scale, "Factor of all numbers."),
        field("series_threads", &SeriesOptions::series_threads, "Threads.").runtime()};
  }
};

struct SeriesSynth : data::SynthSeed {
  int64_t length = 40;

  static auto table() {
    return std::tuple{seed_row(), field("length", &SeriesSynth::length, "Numbers.").range(1, 1000)};
  }
};

class SeriesInput : public data::DomainInput {
 public:
  SeriesInput(const std::filesystem::path& path, SeriesOptions options)
      : data::DomainInput({{path, path.filename().string(), "", "train"}}),
        options_(std::move(options)) {}

  void import(const data::ImportCall& call) const override {
    std::vector<float> values;
    file::LineReader lines(files().front().path, call.cancelled);
    std::string_view line;
    while (lines.next(line)) {
      values.push_back(static_cast<float>(options_.scale * std::stod(std::string(line))));
      call.done(static_cast<int64_t>(line.size()) + 1);
    }
    const graph::Source source{files().front().name, "", "train", "series",
                               static_cast<int64_t>(values.size())};
    const nlohmann::json facts = {{"graphs", 1},
                                  {"unlabelled", 0},
                                  {"parts", {{"train", values.size()}}},
                                  {"series", {{"length", values.size()}}}};
    file::SafetensorsWriter writer;
    writer.add("value", {static_cast<int64_t>(values.size())}, std::span<const float>(values));
    writer.metadata("format", "test.series");
    writer.metadata("sources", nlohmann::json(std::vector{source}).dump());
    writer.metadata("options", call.made_with.dump());
    writer.metadata("facts", facts.dump());
    writer.write(call.to, /*hashes=*/true);
  }

 private:
  SeriesOptions options_;
};

inline std::string series_headline(const nlohmann::json& facts) {
  return facts.at("series").at("length").dump() + " numbers";
}
inline data::Description describe_series_import(const nlohmann::json& result) {
  return data::Description().text(series_headline(result) + data::place_text(result));
}
inline data::Description describe_series_store(const nlohmann::json& result) {
  return data::Description().text(series_headline(result.at("facts")) + "\n").options();
}

class SeriesDomain : public data::WithOptions<data::Domain, SeriesOptions, SeriesSynth> {
 public:
  const char* name() const override { return "series"; }
  std::vector<std::string> formats() const override { return {"series"}; }

  data::Found find(const std::filesystem::path& source,
                   const nlohmann::json& values) const override {
    const std::filesystem::path path =
        std::filesystem::is_directory(source) ? source / "made.series" : source;
    if (path.extension() != ".series" || !std::filesystem::exists(path)) return {};
    const auto options = data::own_options<SeriesOptions>(values);
    return {data::Sureness::kSure,
            [path, options](data::Notes&) { return std::make_shared<SeriesInput>(path, options); }};
  }

  bool is_store(const file::SafetensorsFile& file) const override {
    const auto format = file.metadata().find("format");
    return format != file.metadata().end() && format->second == "test.series";
  }
  const char* source_word() const override { return "series"; }

  data::StoreView open(const std::filesystem::path& store, graph::Check check) const override {
    const file::SafetensorsFile file = file::SafetensorsFile::open(store);
    if (file.header_hash() != file.metadata().at("hash.header")) {
      throw Error(ExitCode::kData, store.string() + ": the header differs from its hash");
    }
    if (check != graph::Check::kRanges) {
      std::vector<Diagnostic> problems = file::verify_hashes(file);
      if (!problems.empty()) throw Error(ExitCode::kData, std::move(problems));
    }
    const auto parsed = [&](const char* key) {
      return nlohmann::json::parse(file.metadata().at(key));
    };
    data::StoreView out{file.header_hash(),
                        parsed("facts"),
                        parsed("options"),
                        parsed("sources").get<std::vector<graph::Source>>(),
                        1,
                        0};
    out.rows = out.sources.front().rows;
    return out;
  }
  std::vector<Diagnostic> verify(const std::filesystem::path& store) const override {
    open(store, graph::Check::kRanges);
    return file::verify_hashes(file::SafetensorsFile::open(store));
  }
  nlohmann::json inspect(const std::filesystem::path& store) const override {
    const data::StoreView view = open(store, graph::Check::kRanges);
    return {{"path", store.string()}, {"content_hash", view.content_hash},
            {"facts", view.facts},    {"options", view.options},
            {"files", view.sources},  {"parts", view.facts.at("parts")}};
  }

  const char* facts_key() const override { return "series"; }
  const data::Wording& wording() const override {
    static constexpr data::Wording words = {series_headline, describe_series_import,
                                            describe_series_store};
    return words;
  }

  std::vector<data::SynthKind> synth_kinds() const override {
    return {{"series", "numbers, one a line"}};
  }
  void synthesize(const std::filesystem::path& folder, const nlohmann::json& values,
                  const nlohmann::json&, const std::function<bool()>& cancelled) const override {
    if (cancelled && cancelled()) throw Error(ExitCode::kInterrupted, "interrupted");
    const auto options = data::own_options<SeriesSynth>(values);
    std::string text;
    for (int64_t i = 0; i < options.length; ++i) {
      text += std::to_string((i * 7 + options.seed) % 11) + "\n";
    }
    write_text(folder / "made.series", text);
  }
};

inline const data::Domain& series_domain() {
  static const SeriesDomain domain;
  return domain;
}

}  // namespace kdgat::test
