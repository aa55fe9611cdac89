// kdgat_http: makes the requests it reads, one JSON object a line, and writes what came of each,
// one JSON object a line; ends with its input (see http.h). The only source that includes httplib.
#include <httplib.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

namespace {

using nlohmann::json;
using Moment = std::chrono::steady_clock::time_point;

constexpr std::size_t kMostBody = std::size_t{4} << 20;
constexpr int kMostRedirects = 10;

/// "https://host:443/prefix/path" is the server https://host:443 and the target /prefix/path.
struct Url {
  std::string server, target;

  std::string text() const { return server + target; }
};

Url split(const std::string& url) {
  const std::size_t host = url.find("://");
  const std::size_t path = host == std::string::npos ? host : url.find_first_of("/?", host + 3);
  if (path == std::string::npos) return {url, "/"};
  return {url.substr(0, path), (url[path] == '?' ? "/" : "") + url.substr(path)};
}

/// The same for the same origin: lower case, without the port that its scheme has anyway.
std::string origin_of(const Url& url) {
  std::string out = url.server;
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const std::string port = out.starts_with("https:") ? ":443" : ":80";
  if (out.ends_with(port)) out.resize(out.size() - port.size());
  return out;
}

/// What a Location stands for, said by the answer to `from`.
Url resolved(const Url& from, const std::string& location) {
  if (location.find("://") < location.find_first_of("/?#")) return split(location);
  if (location.starts_with("//")) {
    return split(from.server.substr(0, from.server.find(':') + 1) + location);
  }
  if (location.starts_with("/")) return {from.server, location};
  const std::string path = from.target.substr(0, from.target.find('?'));
  return {from.server, path.substr(0, path.rfind('/') + 1) + location};
}

std::string with_query(const std::string& target, const std::string& query) {
  if (query.empty()) return target;
  return target + (target.find('?') == std::string::npos ? "?" : "&") + query;
}

/// A server may repeat the query of a request where it sends to; of `secret` nothing goes there.
std::string without_query(const std::string& target, const std::string& secret) {
  const std::size_t mark = target.find('?');
  if (mark == std::string::npos || secret.empty()) return target;
  std::string kept;
  std::istringstream parts(target.substr(mark + 1));
  for (std::string part; std::getline(parts, part, '&');) {
    if (("&" + secret + "&").find("&" + part + "&") != std::string::npos) continue;
    kept += (kept.empty() ? "?" : "&") + part;
  }
  return target.substr(0, mark) + kept;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::unique_ptr<httplib::Client> connect(const std::string& server) {
  auto client = std::make_unique<httplib::Client>(server);
  client->set_keep_alive(true);
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
    default:
      return "request failed: " + httplib::to_string(error);
  }
}

/// What came of one request to one server.
struct Answer {
  int status = 0;  ///< 0: `error` says why
  std::string body{}, location{}, error{};
};

void add_headers(httplib::Request& to, const json& headers) {
  for (const auto& [name, value] : headers.items()) {
    to.headers.emplace(name, value.get<std::string>());
  }
}

/// One client, kept while requests go to the same server.
class Requests {
 public:
  json make(const json& request) {
    const Url first = split(request.at("url"));
    const std::string secret = request.at("query");
    const Moment until =
        std::chrono::steady_clock::now() +
        std::chrono::milliseconds(static_cast<int64_t>(1000 * request.at("seconds").get<double>()));
    httplib::Request sent;
    sent.method = request.at("method");
    sent.body = request.at("body");
    add_headers(sent, request.at("headers"));
    Url at = {first.server, with_query(first.target, secret)};
    for (int i = 0; i <= kMostRedirects; ++i) {
      httplib::Request now = sent;
      if (origin_of(at) == origin_of(first)) {
        add_headers(now, request.at("credentials"));
      } else {
        at.target = without_query(at.target, secret);
      }
      Answer answer = send(at, std::move(now), until);
      if (answer.status == 0) return {{"error", answer.error}};
      if (answer.location.empty()) {
        return {{"status", answer.status}, {"body", std::move(answer.body)}};
      }
      at = resolved(at, answer.location);
      constexpr int kSeeOther = 303;  // what was sent has been taken
      if (answer.status == kSeeOther) {
        sent.method = "GET";
        sent.body.clear();
      }
    }
    return {{"error", "too many redirections"}};
  }

  /// After what left it in between.
  void forget() { client_.reset(); }

 private:
  Answer send(const Url& url, httplib::Request request, Moment until) {
    if (!client_ || url.server != server_) {
      client_ = connect(url.server);
      server_ = url.server;
    }
    if (!client_->is_valid()) return {.error = "not a URL: " + url.server};
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        until - std::chrono::steady_clock::now());
    if (left.count() <= 0) return {.error = "no whole answer came in time"};
    client_->set_connection_timeout(left);
    client_->set_read_timeout(left);
    client_->set_write_timeout(left);
    Answer answer;
    request.path = url.target;
    request.content_receiver = [&](const char* data, std::size_t size, uint64_t, uint64_t) {
      if (answer.body.size() + size > kMostBody) {
        answer.error = "the answer is longer than 4 MiB";
      } else if (std::chrono::steady_clock::now() > until) {
        answer.error = "no whole answer came in time";
      } else {
        answer.body.append(data, size);
      }
      return answer.error.empty();
    };
    const httplib::Result result = client_->send(request);
    if (!result) {
      client_.reset();
      if (answer.error.empty()) answer.error = error_text(result.error());
      return answer;
    }
    answer.status = result->status;
    constexpr std::array<int, 5> kMoved = {301, 302, 303, 307, 308};
    if (std::find(kMoved.begin(), kMoved.end(), answer.status) != kMoved.end()) {
      answer.location = result->get_header_value("Location");
    }
    return answer;
  }

  std::string server_;
  std::unique_ptr<httplib::Client> client_;
};

/// The library reads headers of any length and number: what they take is bounded here.
void bound_memory() {
#ifndef __SANITIZE_ADDRESS__  // whose shadow memory counts
  constexpr rlim_t kMost = rlim_t{512} << 20;
  const rlimit limit{kMost, kMost};
  ::setrlimit(RLIMIT_DATA, &limit);
#endif
}

}  // namespace

int main() {
  bound_memory();
  Requests requests;
  for (std::string line; std::getline(std::cin, line);) {
    json answer;
    try {
      answer = requests.make(json::parse(line));
    } catch (const std::bad_alloc&) {
      requests.forget();
      answer = {{"error", "the answer takes more than 512 MiB of memory"}};
    } catch (const std::exception& e) {
      requests.forget();
      answer = {{"error", e.what()}};
    }
    std::cout << answer.dump(-1, ' ', false, json::error_handler_t::replace) << std::endl;
  }
  return 0;
}
