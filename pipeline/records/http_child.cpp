// kdgat_http: makes the requests it reads, one JSON object a line, and writes what came of each,
// one JSON object a line; ends with its input (see http.h). The only source that includes httplib.
#include <httplib.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

namespace {

using nlohmann::json;

/// "https://host:443/prefix/path" is the server https://host:443 and the target /prefix/path.
struct Url {
  std::string server, target;
};

Url split(const std::string& url) {
  const std::size_t host = url.find("://");
  const std::size_t path = host == std::string::npos ? host : url.find('/', host + 3);
  return {url.substr(0, path), path == std::string::npos ? "/" : url.substr(path)};
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::unique_ptr<httplib::Client> connect(const std::string& server) {
  auto client = std::make_unique<httplib::Client>(server);
  client->set_keep_alive(true);
  client->set_follow_location(true);
  const std::string insecure = variable("MLFLOW_TRACKING_INSECURE_TLS");
  client->enable_server_certificate_verification(insecure != "true" && insecure != "1");
  if (const std::string file = variable("MLFLOW_TRACKING_SERVER_CERT_PATH"); !file.empty()) {
    client->set_ca_cert_path(file.c_str());
  }
  return client;
}

/// In words; the library's own are names of its constants.
std::string error_text(httplib::Error error) {
  switch (error) {
    case httplib::Error::Connection:
    case httplib::Error::ConnectionTimeout:
      return "no connection";
    case httplib::Error::Read:
      return "the connection ended, or no answer came in time";
    case httplib::Error::Write:
      return "the connection ended while the request was sent";
    case httplib::Error::SSLConnection:
      return "TLS: no agreement with the server";
    case httplib::Error::SSLLoadingCerts:
      return "TLS: the certificates to check with cannot be read";
    case httplib::Error::SSLServerVerification:
      return "TLS: the server's certificate is not trusted";
    case httplib::Error::ExceedRedirectCount:
      return "too many redirections";
    default:
      return "request failed: " + httplib::to_string(error);
  }
}

/// One client, kept while requests go to the same server.
class Requests {
 public:
  json make(const json& request) {
    const Url url = split(request.at("url"));
    if (!client_ || url.server != server_) {
      client_ = connect(url.server);
      server_ = url.server;
    }
    if (!client_->is_valid()) return {{"error", "not a URL: " + url.server}};
    const std::chrono::milliseconds most{
        static_cast<int64_t>(1000 * request.at("seconds").get<double>())};
    client_->set_connection_timeout(most);
    client_->set_read_timeout(most);
    client_->set_write_timeout(most);
    httplib::Request sent;
    sent.method = request.at("method");
    sent.path = url.target;
    for (const auto& [name, value] : request.at("headers").items()) {
      sent.headers.emplace(name, value.get<std::string>());
    }
    sent.body = request.at("body");
    const httplib::Result result = client_->send(sent);
    if (!result) return {{"error", error_text(result.error())}};
    return {{"status", result->status}, {"body", result->body}};
  }

 private:
  std::string server_;
  std::unique_ptr<httplib::Client> client_;
};

}  // namespace

int main() {
  Requests requests;
  for (std::string line; std::getline(std::cin, line);) {
    json answer;
    try {
      answer = requests.make(json::parse(line));
    } catch (const std::exception& e) {
      answer = {{"error", e.what()}};
    }
    std::cout << answer.dump(-1, ' ', false, json::error_handler_t::replace) << std::endl;
  }
  return 0;
}
