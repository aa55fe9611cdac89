// A run's folder as kdgat leaves it, made by hand: for what reads journals.
#pragma once

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace kdgat::test {

inline void append_text(const std::filesystem::path& file, const std::string& text) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary | std::ios::app) << text;
}

inline void write_json(const std::filesystem::path& file, const nlohmann::json& content) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << content.dump(1) << "\n";
}

/// One line of a journal, `second` seconds after some moment.
inline std::string journal_line(nlohmann::json event, int second) {
  constexpr int kStart = 1'700'000'000;  // 2023-11-14T22:13:20Z
  event["unix"] = kStart + second + 0.25;
  event["time"] = "2023-11-14T22:13:" + std::to_string(20 + second) + "Z";
  return event.dump() + "\n";
}

inline nlohmann::json epoch_event(int epoch, double train_loss) {
  return {{"event", "metrics"},
          {"what", "epoch"},
          {"index", epoch},
          {"values",
           {{"train_loss", train_loss},
            {"val_accuracy", 0.5},
            {"sample", {{"ratio", 2.0}}},
            {"memory", {{"allocated", 1 << 30}, {"rss_anon", 1 << 29}}}}}};
}

/// <root>/cars/01RUN with the step `classifier`, after two epochs. Returns the run's folder.
inline std::filesystem::path begin_run(const std::filesystem::path& root,
                                       const nlohmann::json& records = {}) {
  const std::filesystem::path run = root / "cars" / "01RUN";
  nlohmann::json document = {
      {"id", "01RUN"},
      {"profile", "smoke"},
      {"plan", "abc"},
      {"kdgat", "0.1.0"},
      {"host", "here"},
      {"started", "2023-11-14T22:13:20Z"},
      {"steps", {{{"step", "classifier"}, {"stage", "classifier"}, {"status", "running"}}}}};
  if (!records.is_null()) document["records"] = records;
  write_json(run / "run.json", document);
  write_json(run / "classifier" / "config.json",
             {{"stage", "classifier"},
              {"step", "classifier"},
              {"seed", 42},
              {"device", "cpu"},
              {"inputs", {{"teacher", {{{"path", "/runs/cars/01OLD/classifier teacher"}}}}}},
              {"options", {{"lr", 0.003}, {"use_kd", true}, {"hidden", {24, 12}}}}});
  append_text(run / "classifier" / "journal.jsonl",
              journal_line({{"event", "start"}, {"run", "01RUN"}}, 0) +
                  journal_line(epoch_event(1, 0.5), 1) + journal_line(epoch_event(2, 0.25), 2));
  return run;
}

/// Two more epochs and a good end, or one with `code` and `error`.
inline void end_run(const std::filesystem::path& run, int code = 0, const std::string& error = "") {
  const std::filesystem::path step = run / "classifier";
  append_text(step / "journal.jsonl",
              journal_line(epoch_event(3, 0.125), 3) + journal_line(epoch_event(4, 0.0625), 4));
  if (code == 0) {
    write_json(step / "metrics.json", {{"val_auc", 0.75}, {"from", "val"}});
    write_json(step / "step.json", {{"facts", {{"size", "student"}, {"model", "gat"}}}});
  }
  nlohmann::json end = {{"event", "end"}, {"code", code}};
  if (!error.empty()) end["error"] = error;
  append_text(step / "journal.jsonl", journal_line(end, 5));
  std::ifstream in(run / "run.json");
  nlohmann::json document = nlohmann::json::parse(in);
  document["exit_code"] = code;
  document["finished"] = "2023-11-14T22:13:26Z";
  document["steps"][0]["status"] = code == 0 ? "done" : "failed";
  write_json(run / "run.json", document);
}

}  // namespace kdgat::test
