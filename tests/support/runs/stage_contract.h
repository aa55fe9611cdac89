// What every stage promises, whatever it computes: a row for each stage, and the checks of one. A
// stage runs in a process of its own, as it does in the program; one that computes gradients could
// not be forked from, so this process computes none. Include catch_torch.h first.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "support/can/log_text.h"
#include "support/runs/stage_data.h"

namespace kdgat::test {

namespace fs = std::filesystem;

/// A stage, data for it, and options for a run of a second.
struct ContractRow {
  std::shared_ptr<StageData> data;
  std::function<json(const Request&)> plan;
  std::function<json(const Request&, Host&)> run, run_other;  ///< with options, and with other ones
  /// The file that holds what it computed; empty = its result alone does.
  std::string file = "model.safetensors";
  int64_t polls = 6;  ///< so often it asks whether to go on before it is in the middle of its work
  bool has_checkpoint = true;
  std::map<std::string, fs::path> inputs;  ///< beside "graphs", by port

  Request request(const std::string& step) const {
    Request out = data->request(step);
    for (const auto& [port, path] : inputs) out.inputs[port] = {{port, port, path, {}}};
    return out;
  }
};

template <class Stage>
ContractRow contract_row(std::shared_ptr<StageData> data, const typename Stage::Options& options,
                         const typename Stage::Options& other) {
  ContractRow out;
  out.data = std::move(data);
  out.plan = [options](const Request& request) { return Stage::plan(options, request); };
  out.run = [options](const Request& r, Host& host) { return Stage::run(options, r, host); };
  out.run_other = [other](const Request& r, Host& host) { return Stage::run(other, r, host); };
  return out;
}

/// Of a stage that trains: the other options have another learning rate.
template <class Stage>
ContractRow training_row(std::shared_ptr<StageData> data, typename Stage::Options options) {
  options.checkpoint_seconds = 0;  // after every step
  typename Stage::Options other = options;
  other.lr *= 2;
  return contract_row<Stage>(std::move(data), options, other);
}

/// How a process ended that ran a stage.
struct Ended {
  int signal = 0;  ///< that killed it
  ExitCode code = ExitCode::kOk;
  std::string error, log;
  json result;
};

using Run = std::function<json(const Request&, Host&)>;

/// Runs a stage in a process of its own. When it asks for the time after `polls` whether to go on
/// it is told to leave, or killed; -1 = never.
inline Ended run_apart(const Run& run, const Request& request, int64_t polls = -1,
                       bool kills = false) {
  const fs::path report = request.run_dir.parent_path() / (request.step + ".json");
  std::fflush(nullptr);  // or the child writes what waits in the parent's buffers again
  const pid_t child = ::fork();
  if (child == 0) {
    FakeHost fake;
    fake.polls_left = polls;
    fake.kills = kills;
    json said = {{"code", 0}, {"error", ""}, {"result", nullptr}};
    try {
      said["result"] = run(request, fake.host);
    } catch (const Error& error) {
      said["code"] = static_cast<int>(error.code());
      said["error"] = error.what();
    } catch (const std::exception& error) {
      said["code"] = static_cast<int>(ExitCode::kStageFailed);
      said["error"] = error.what();
    }
    said["log"] = fake.log;
    std::ofstream(report) << Host::dump(said);
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  Ended out;
  if (WIFSIGNALED(status)) {
    out.signal = WTERMSIG(status);
    return out;
  }
  const json said = json::parse(read_text(report));
  out.code = static_cast<ExitCode>(said.at("code").get<int>());
  out.error = said.at("error");
  out.log = said.at("log");
  out.result = said.at("result");
  return out;
}

/// Runs to the end; everything that was computed, to be compared bit by bit.
inline std::string outcome_of(const ContractRow& row, const Run& run, const std::string& step,
                              std::string* log = nullptr) {
  const Ended ended = run_apart(run, row.request(step));
  INFO(step << ": " << ended.error);
  REQUIRE(ended.signal == 0);
  REQUIRE(ended.code == ExitCode::kOk);
  if (log != nullptr) *log = ended.log;
  if (row.file.empty()) return ended.result.at("metrics").dump();
  CHECK_FALSE(fs::exists(row.data->folder / step / "checkpoint"));
  return row.data->weights(step, row.file);
}

inline void check_left(const ContractRow& row, const std::string& step) {
  if (!row.file.empty()) CHECK_FALSE(fs::exists(row.data->folder / step / row.file));
  CHECK(fs::exists(row.data->folder / step / "checkpoint") == row.has_checkpoint);
}

/// A plan says what it can of what it is told, and touches nothing.
inline void check_plan(const ContractRow& row) {
  Request request = row.request("planned");
  CHECK(row.plan(request).is_object());
  CHECK(fs::is_empty(request.run_dir));
  request.inputs.at("graphs").front() = {"data", "graphs", "", json::object()};
  json of_nothing = row.plan(request);
  of_nothing.erase("figures");  // names of its own figures depend on no data
  CHECK(of_nothing.empty());
}

/// A stage that is told to leave does so with the code it was told, and goes on to what an
/// undisturbed run computes.
inline void check_cancel(const ContractRow& row, const std::string& undisturbed) {
  const Ended ended = run_apart(row.run, row.request("cancelled"), row.polls);
  REQUIRE(ended.signal == 0);
  CHECK(ended.code == ExitCode::kRequeue);
  if (row.has_checkpoint) {
    CHECK_THAT(ended.error, Catch::StartsWith("checkpoint at epoch "));
  } else {
    CHECK_THAT(ended.error, Catch::StartsWith("stopped ") || Catch::StartsWith("interrupted "));
  }
  check_left(row, "cancelled");
  std::string log;
  CHECK(outcome_of(row, row.run, "cancelled", &log) == undisturbed);
  CHECK((log.find("continues from the checkpoint at epoch ") != std::string::npos) ==
        row.has_checkpoint);
}

/// So does one whose process is killed, with what was written by then.
inline void check_kill(const ContractRow& row, const std::string& undisturbed) {
  const Ended ended = run_apart(row.run, row.request("killed"), row.polls, /*kills=*/true);
  REQUIRE(ended.signal == SIGKILL);
  check_left(row, "killed");
  std::string log;
  CHECK(outcome_of(row, row.run, "killed", &log) == undisturbed);
  CHECK((log.find("continues from the checkpoint at epoch ") != std::string::npos) ==
        row.has_checkpoint);
}

/// What a run with other options left is not continued but said to be there.
inline void check_other_options(const ContractRow& row, const std::string& undisturbed) {
  const std::string other = outcome_of(row, row.run_other, "other");
  if (row.has_checkpoint) CHECK(other != undisturbed);
  REQUIRE(run_apart(row.run, row.request("changed"), row.polls).code == ExitCode::kRequeue);
  std::string log;
  CHECK(outcome_of(row, row.run_other, "changed", &log) == other);
  CHECK((log.find("the checkpoint is of other options or data: starting over") !=
         std::string::npos) == row.has_checkpoint);
}

inline void check_contract(const ContractRow& row) {
  check_plan(row);
  const std::string undisturbed = outcome_of(row, row.run, "undisturbed");
  check_cancel(row, undisturbed);
  check_kill(row, undisturbed);
  check_other_options(row, undisturbed);
}

/// A model of an epoch that other stages need.
template <class Stage>
void train_shortly(const StageData& data, const std::string& step,
                   typename Stage::Options options) {
  options.max_epochs = 1;
  const auto run = [&](const Request& r, Host& host) { return Stage::run(options, r, host); };
  const Ended ended = run_apart(run, data.request(step));
  INFO(ended.error);
  REQUIRE(ended.code == ExitCode::kOk);
}

}  // namespace kdgat::test
