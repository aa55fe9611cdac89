// A tracking server as far as kdgat needs one, in this process and on a loopback port, which can be
// told to misbehave.
#pragma once

#include <httplib.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

namespace kdgat::test {

class FakeMlflow {
 public:
  enum class Mood { kGood, kError, kHang, kGarbage, kTruncated };

  struct Run {
    std::string name, experiment, status = "RUNNING";
    int64_t end = 0;
    std::map<std::string, std::string> tags, params, artifacts;
    std::multiset<std::tuple<std::string, double, int64_t, int64_t>>
        sent;  ///< key, value, ms, step

    std::multiset<std::string> keys() const {
      std::multiset<std::string> out;
      for (const auto& metric : sent) out.insert(std::get<0>(metric));
      return out;
    }
  };

  /// `port` 0: any free one.
  explicit FakeMlflow(int port = 0) {
    const auto answer = [this](const httplib::Request& request, httplib::Response& response) {
      serve(request, response);
    };
    server_.Get(".*", answer);
    server_.Post(".*", answer);
    server_.Put(".*", answer);
    server_.set_keep_alive_timeout(1);
    port_ = port == 0 ? server_.bind_to_any_port("127.0.0.1") : port;
    if (port != 0 && !server_.bind_to_port("127.0.0.1", port)) throw std::runtime_error("port");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::yield();
  }
  FakeMlflow(const FakeMlflow&) = delete;
  FakeMlflow& operator=(const FakeMlflow&) = delete;
  ~FakeMlflow() {
    mood = Mood::kGood;
    server_.stop();
    thread_.join();
  }

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  int port() const { return port_; }

  /// The run of this name; fails with std::out_of_range if there is none.
  Run run(const std::string& name) {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, run] : runs_) {
      if (run.name == name) return run;
    }
    throw std::out_of_range("no run " + name);
  }
  std::size_t runs() {
    const std::lock_guard lock(mutex_);
    return runs_.size();
  }
  void forget_runs() {
    const std::lock_guard lock(mutex_);
    runs_.clear();
  }
  std::string last_authorization() {
    const std::lock_guard lock(mutex_);
    return authorization_;
  }
  /// What stood behind the ? of the last request.
  std::string last_query() {
    const std::lock_guard lock(mutex_);
    return query_;
  }

  std::atomic<Mood> mood = Mood::kGood;
  std::atomic<int> good_for = -1;  ///< requests until its mood is kError; -1 = for ever
  std::atomic<int> requests = 0;

 private:
  using json = nlohmann::json;

  void serve(const httplib::Request& request, httplib::Response& response) {
    ++requests;
    if (good_for == 0) mood = Mood::kError;
    if (good_for > 0) --good_for;
    switch (mood) {
      case Mood::kError:
        response.status = 500;
        response.set_content("<html>out of order</html>", "text/html");
        return;
      case Mood::kHang:
        while (mood == Mood::kHang) std::this_thread::sleep_for(std::chrono::milliseconds(2));
        return;
      case Mood::kGarbage:
        response.set_content("it works!", "text/plain");
        return;
      case Mood::kTruncated:
        response.set_content("{\"experiment\": {\"experiment_id\": ", "application/json");
        return;
      case Mood::kGood:
        break;
    }
    const std::lock_guard lock(mutex_);
    authorization_ = request.get_header_value("Authorization");
    query_ = request.target.substr(std::min(request.target.find('?'), request.target.size()));
    const std::string artifacts = "/api/2.0/mlflow-artifacts/artifacts/";
    if (request.method == "PUT" && request.path.starts_with(artifacts)) {
      return put(request.path.substr(artifacts.size()), request.body, response);
    }
    const std::string path = request.path.substr(std::string("/api/2.0/mlflow/").size());
    const json body = json::parse(request.body, nullptr, false);
    const auto [status, answer] = call(path, request, body);
    response.status = status;
    response.set_content(answer.dump(), "application/json");
  }

  static std::pair<int, json> refuse(int status, const std::string& code) {
    return {status, {{"error_code", code}, {"message", "fake: " + code}}};
  }

  std::pair<int, json> call(const std::string& path, const httplib::Request& request,
                            const json& body) {
    if (path == "experiments/get-by-name") {
      const std::string name = request.get_param_value("experiment_name");
      if (!experiments_.contains(name)) return refuse(404, "RESOURCE_DOES_NOT_EXIST");
      return {200, {{"experiment", {{"experiment_id", experiments_[name]}}}}};
    }
    if (path == "experiments/create") {
      const std::string id = std::to_string(experiments_.size() + 1);
      if (!experiments_.emplace(body.at("name"), id).second) {
        return refuse(400, "RESOURCE_ALREADY_EXISTS");
      }
      return {200, {{"experiment_id", id}}};
    }
    if (path == "runs/search") return {200, search(body.at("filter"))};
    if (path == "runs/create") {
      const std::string id = "run" + std::to_string(++made_);
      Run& run = runs_[id];
      run.name = body.at("run_name");
      run.experiment = body.at("experiment_id");
      for (const json& tag : body.at("tags")) run.tags[tag.at("key")] = tag.at("value");
      return {200, {{"run", info(id)}}};
    }
    const std::string id =
        path == "runs/get" ? request.get_param_value("run_id") : body.value("run_id", "");
    if (!runs_.contains(id)) return refuse(404, "RESOURCE_DOES_NOT_EXIST");
    Run& run = runs_[id];
    if (path == "runs/get") return {200, {{"run", info(id)}}};
    if (path == "runs/update") {
      run.status = body.at("status");
      run.end = body.value("end_time", int64_t{0});
      return {200, json::object()};
    }
    if (path == "runs/log-batch") return log(run, body);
    return refuse(404, "ENDPOINT_NOT_FOUND");
  }

  std::pair<int, json> log(Run& run, const json& body) {
    const json metrics = body.value("metrics", json::array());
    const json params = body.value("params", json::array());
    if (metrics.size() > 1000 || params.size() > 100) return refuse(400, "INVALID_PARAMETER_VALUE");
    for (const json& param : params) {
      const auto [at, is_new] = run.params.emplace(param.at("key"), param.at("value"));
      if (at->second != param.at("value")) return refuse(400, "INVALID_PARAMETER_VALUE");
    }
    for (const json& m : metrics) {
      run.sent.emplace(m.at("key").get<std::string>(), m.at("value").get<double>(),
                       m.at("timestamp").get<int64_t>(), m.at("step").get<int64_t>());
    }
    for (const json& tag : body.value("tags", json::array())) {
      run.tags[tag.at("key")] = tag.at("value");
    }
    return {200, json::object()};
  }

  json search(const std::string& filter) {
    for (const auto& [id, run] : runs_) {
      for (const auto& [key, value] : run.tags) {
        if (filter == "tags.`" + key + "` = '" + value + "'") {
          return {{"runs", json::array({info(id)})}};
        }
      }
    }
    return json::object();
  }

  static json info(const std::string& id) {
    return {
        {"info", {{"run_id", id}, {"artifact_uri", "mlflow-artifacts:/1/" + id + "/artifacts"}}}};
  }

  void put(const std::string& path, const std::string& content, httplib::Response& response) {
    for (auto& [id, run] : runs_) {
      const std::string place = "1/" + id + "/artifacts/";
      if (path.starts_with(place)) run.artifacts[path.substr(place.size())] = content;
    }
    response.set_content("{}", "application/json");
  }

  httplib::Server server_;
  std::thread thread_;
  int port_ = 0;
  std::mutex mutex_;
  std::map<std::string, std::string> experiments_;
  std::map<std::string, Run> runs_;
  std::string authorization_, query_;
  int made_ = 0;
};

}  // namespace kdgat::test
