// MLflow's REST API 2.0.
#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "pipeline/records/mlflow.h"

namespace kdgat {
namespace {

using nlohmann::json;

// The most one request may hold.
constexpr std::size_t kMetrics = 1000, kParams = 100;
constexpr std::size_t kParamBytes = 500, kTagBytes = 5000;
constexpr int kClientError = 400, kNotFound = 404, kServerError = 500;
constexpr int kTooMany = 429, kTimeout = 408, kUnauthorized = 401, kForbidden = 403;

std::string base64(const std::string& text) {
  constexpr const char* kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < text.size(); i += 3) {
    uint32_t bits = 0;
    const std::size_t bytes = std::min<std::size_t>(3, text.size() - i);
    for (std::size_t j = 0; j < 3; ++j) {
      bits = bits << 8 | (j < bytes ? static_cast<unsigned char>(text[i + j]) : 0U);
    }
    for (std::size_t j = 0; j < 4; ++j) {
      out += j <= bytes ? kDigits[bits >> (18 - 6 * j) & 63] : '=';
    }
  }
  return out;
}

/// Each byte of an address that is not plain as %XX; `kept` stay.
std::string percent(const std::string& text, const std::string& kept = "") {
  constexpr const char* kDigits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = std::isalnum(byte) != 0 || std::string("-_.~").find(c) != std::string::npos;
    if (plain || kept.find(c) != std::string::npos) {
      out += c;
    } else {
      out += '%';
      out += kDigits[byte >> 4];
      out += kDigits[byte & 15];
    }
  }
  return out;
}

std::string unpercent(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string digits = text[i] == '%' ? text.substr(i + 1, 2) : "";
    char* end = nullptr;
    const long byte = std::strtol(digits.c_str(), &end, 16);
    if (digits.size() == 2 && *end == '\0') {
      out += static_cast<char>(byte);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string authorization(const std::string& uri, bool takes_environment) {
  const auto given = [&](const char* name) {
    return takes_environment ? variable(name) : std::string();
  };
  std::string user = given("MLFLOW_TRACKING_USERNAME");
  std::string password = given("MLFLOW_TRACKING_PASSWORD");
  const std::string token = given("MLFLOW_TRACKING_TOKEN");
  if (const auto [begin, end] = user_info(uri); end > begin) {
    const std::string said = uri.substr(begin, end - 1 - begin);
    const std::size_t colon = std::min(said.find(':'), said.size());
    user = unpercent(said.substr(0, colon));
    password = colon < said.size() ? unpercent(said.substr(colon + 1)) : "";
  }
  if (!user.empty()) return "Basic " + base64(user + ":" + password);
  return token.empty() ? "" : "Bearer " + token;
}

json pairs(const MlflowPairs& list, std::size_t most_bytes) {
  json out = json::array();
  for (const auto& [key, value] : list) {
    out.push_back({{"key", mlflow_name(key)}, {"value", value.substr(0, most_bytes)}});
  }
  return out;
}

json metric_json(const MlflowMetric& metric) {
  return {{"key", mlflow_name(metric.key)},
          {"value", metric.value},
          {"timestamp", metric.milliseconds},
          {"step", metric.step}};
}

class Server : public MlflowStore {
 public:
  Server(const std::string& uri, Http http, bool sends_credentials)
      : base_(without_password(uri)),
        query_(query_of(uri)),
        http_(std::move(http)),
        authorization_(authorization(uri, sends_credentials)) {
    while (base_.ends_with('/')) base_.pop_back();
  }

  std::string experiment(const std::string& name) override {
    constexpr int kTries = 3;  // another run may make it between the two requests
    const std::string find = "experiments/get-by-name?experiment_name=" + percent(name);
    for (int i = 1;; ++i) {
      try {
        return text_at(call("GET", find), "/experiment/experiment_id");
      } catch (const MlflowRefusal& e) {
        if (e.code() != ExitCode::kData) throw;  // not: there is none
      }
      try {
        return text_at(call("POST", "experiments/create", {{"name", name}}), "/experiment_id");
      } catch (const MlflowRefusal&) {
        if (i == kTries) throw;
      }
    }
  }

  std::string find_run(const std::string& experiment, const std::string& key,
                       const std::string& value) override {
    const json found = call("POST", "runs/search",
                            {{"experiment_ids", {experiment}},
                             {"filter", "tags.`" + key + "` = '" + value + "'"},
                             {"max_results", 1}});
    const json::json_pointer id("/runs/0/info/run_id");
    return found.contains(id) ? text_at(found, id.to_string()) : "";
  }

  std::string create_run(const std::string& experiment, const std::string& name,
                         int64_t start_milliseconds, const MlflowPairs& tags) override {
    return text_at(call("POST", "runs/create",
                        {{"experiment_id", experiment},
                         {"run_name", name},
                         {"start_time", start_milliseconds},
                         {"tags", pairs(tags, kTagBytes)}}),
                   "/run/info/run_id");
  }

  void log(const MlflowRun& run, const std::vector<MlflowMetric>& metrics,
           const MlflowPairs& params, const MlflowPairs& tags) override {
    for (std::size_t i = 0; i < metrics.size(); i += kMetrics) {
      json list = json::array();
      for (std::size_t j = i; j < std::min(metrics.size(), i + kMetrics); ++j) {
        list.push_back(metric_json(metrics[j]));
      }
      call("POST", "runs/log-batch", {{"run_id", run.id}, {"metrics", std::move(list)}});
    }
    for (const auto& [name, list, most] :
         {std::tuple{"params", &params, kParamBytes}, std::tuple{"tags", &tags, kTagBytes}}) {
      for (std::size_t i = 0; i < list->size(); i += kParams) {
        const auto begin = list->begin() + static_cast<std::ptrdiff_t>(i);
        const auto end = begin + static_cast<std::ptrdiff_t>(std::min(kParams, list->size() - i));
        call("POST", "runs/log-batch", {{"run_id", run.id}, {name, pairs({begin, end}, most)}});
      }
    }
  }

  void set_status(const MlflowRun& run, const std::string& status,
                  int64_t end_milliseconds) override {
    json update = {{"run_id", run.id}, {"status", status}};
    if (end_milliseconds > 0) update["end_time"] = end_milliseconds;
    call("POST", "runs/update", update);
  }

  bool put_artifact(const MlflowRun& run, const std::string& name,
                    const std::string& content) override {
    const std::string scheme = "mlflow-artifacts:/";  // the server passes files on
    const std::string place =
        text_at(call("GET", "runs/get?run_id=" + percent(run.id)), "/run/info/artifact_uri");
    if (!place.starts_with(scheme)) return false;
    std::string path = place.substr(scheme.size());
    if (path.starts_with("/")) path = path.substr(std::min(path.find('/', 1), path.size()));
    while (path.starts_with("/")) path.erase(0, 1);
    send("PUT", "/api/2.0/mlflow-artifacts/artifacts/" + percent(path + "/" + name, "/"), content,
         "application/octet-stream");
    return true;
  }

 private:
  json call(const std::string& method, const std::string& path, const json& body = json()) {
    const std::string text =
        body.is_null() ? "" : body.dump(-1, ' ', false, json::error_handler_t::replace);
    const std::string answer = send(method, "/api/2.0/mlflow/" + path, text, "application/json");
    json read = json::parse(answer, nullptr, false);
    if (!read.is_object()) {
      throw Error(ExitCode::kData, base_ + " answers what MLflow does not: no JSON object");
    }
    return read;
  }

  std::string send(const std::string& method, const std::string& path, const std::string& body,
                   const std::string& type) {
    HttpRequest request{method, base_ + path, {{"Content-Type", type}}, body, {}, query_};
    if (!authorization_.empty()) request.credentials["Authorization"] = authorization_;
    const HttpResponse response = http_(request);
    if (response.status == 0) throw Error(ExitCode::kData, base_ + ": " + response.error);
    if (response.status >= 200 && response.status < 300) return response.body;
    fail(response);
  }

  [[noreturn]] void fail(const HttpResponse& response) const {
    constexpr std::size_t kShown = 300;
    const json said = json::parse(response.body, nullptr, false);
    std::string text = base_ + " answers " + std::to_string(response.status);
    std::string code;
    if (said.is_object()) {
      const auto part = [&](const char* name) {
        const auto found = said.find(name);
        return found != said.end() && found->is_string() ? found->get<std::string>()
                                                         : std::string();
      };
      code = part("error_code");
      if (!part("message").empty()) text += ": " + part("message").substr(0, kShown);
    }
    if (response.status == kUnauthorized || response.status == kForbidden) {
      throw Error(ExitCode::kData, text,
                  "MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD, or "
                  "MLFLOW_TRACKING_TOKEN, say who asks; they are sent only to an address that "
                  "--mlflow-uri, --to or MLFLOW_TRACKING_URI names, and not on to another origin");
    }
    const bool later = response.status < kClientError || response.status >= kServerError ||
                       response.status == kTooMany || response.status == kTimeout || code.empty();
    if (later) throw Error(ExitCode::kData, text);
    throw MlflowRefusal(response.status == kNotFound ? ExitCode::kData : ExitCode::kUsage, text);
  }

  std::string text_at(const json& answer, const std::string& place) const {
    const json::json_pointer at(place);
    if (answer.contains(at) && answer.at(at).is_string()) return answer.at(at);
    throw Error(ExitCode::kData, base_ + " answers what MLflow does not: no " + place);
  }

  std::string base_, query_;
  Http http_;
  std::string authorization_;
};

}  // namespace

std::string mlflow_name(const std::string& text) {
  constexpr std::size_t kMost = 250;
  std::string out = text.substr(0, kMost);
  for (char& c : out) {
    const bool allowed = std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                         std::string("_-. :/").find(c) != std::string::npos;
    if (!allowed) c = '_';
  }
  return out;
}

std::unique_ptr<MlflowStore> mlflow_server(const std::string& uri, Http http,
                                           bool sends_credentials) {
  return std::make_unique<Server>(uri, std::move(http), sends_credentials);
}

}  // namespace kdgat
