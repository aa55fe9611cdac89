// kdgat_http: makes the requests it reads, one JSON object a line, and writes what came of each,
// one JSON object a line; ends with its input (see http.h). It waits for a server as long as that
// takes: who started it kills it. The only source that includes Boost.
#include <openssl/err.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <cctype>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>

namespace {

namespace http = boost::beast::http;
namespace net = boost::asio;
using boost::system::error_code;
using net::ip::tcp;
using nlohmann::json;
using Request = http::request<http::string_body>;
using Response = http::response<http::string_body>;

constexpr std::size_t kMostBody = std::size_t{4} << 20;
constexpr std::size_t kMostHeaders = std::size_t{256} << 10;
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

/// Where systems keep the certificates that they trust. OpenSSL knows only the place of the system
/// it was built for, and a package brings it along to others.
void find_certificates() {
  if (!variable("SSL_CERT_FILE").empty() || !variable("SSL_CERT_DIR").empty()) return;
  for (const char* file : {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
                           "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"}) {
    if (::access(file, R_OK) != 0) continue;
    ::setenv("SSL_CERT_FILE", file, 0);
    return;
  }
}

struct Server {
  bool is_tls = false;
  std::string host{}, port{};
};

/// Of "https://host:443" or "http://[::1]:80".
Server parse_server(const std::string& text) {
  const std::runtime_error bad("not a URL: " + text);
  const std::size_t mark = text.find("://");
  if (mark == std::string::npos) throw bad;
  std::string scheme = text.substr(0, mark);
  std::transform(scheme.begin(), scheme.end(), scheme.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (scheme != "http" && scheme != "https") throw bad;
  Server out{scheme == "https", text.substr(mark + 3), scheme == "https" ? "443" : "80"};
  const std::size_t bracket = out.host.find(']');
  const std::size_t colon = out.host.find(':', bracket == std::string::npos ? 0 : bracket);
  if (colon != std::string::npos) {
    out.port = out.host.substr(colon + 1);
    out.host.resize(colon);
  }
  if (out.host.starts_with("[") && out.host.ends_with("]")) {
    out.host = out.host.substr(1, out.host.size() - 2);
  }
  if (out.host.empty() || out.port.empty() || out.host.find('@') != std::string::npos ||
      out.port.find_first_not_of("0123456789") != std::string::npos) {
    throw bad;
  }
  return out;
}

/// What a request line and a header may hold: a server may send to any bytes.
std::string encoded(const std::string& target) {
  std::string out;
  for (const char c : target) {
    const auto byte = static_cast<unsigned char>(c);
    constexpr const char* kDigits = "0123456789ABCDEF";
    if (byte > 0x20 && byte < 0x7f) {
      out += c;
    } else {
      out += {'%', kDigits[byte / 16], kDigits[byte % 16]};
    }
  }
  return out;
}

/// The connection ended and nothing of an answer had come.
struct NoAnswer : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// One connection, kept while requests go to the same server. Throws what went wrong, in words.
class Connection {
 public:
  explicit Connection(const std::string& server) : server_(parse_server(server)) {
    error_code error;
    const auto found = tcp::resolver(context_).resolve(server_.host, server_.port, error);
    if (error) throw std::runtime_error("no connection: " + error.message());
    net::connect(socket(), found, error);
    if (error) throw std::runtime_error("no connection: " + error.message());
    socket().set_option(tcp::no_delay(true), error);
    if (server_.is_tls) agree();
  }

  /// False once the server has ended it, or said what nobody asked for.
  bool is_idle() {
    char byte = 0;
    const ssize_t there =
        ::recv(socket().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT | MSG_NOSIGNAL);
    return there < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
  }

  Response exchange(Request& request) {
    return server_.is_tls ? exchange_over(tls_, request)
                          : exchange_over(tls_.next_layer(), request);
  }

 private:
  using Tls = net::ssl::stream<tcp::socket>;

  tcp::socket& socket() { return tls_.next_layer(); }

  static net::ssl::context tls_context() {
    net::ssl::context out(net::ssl::context::tls_client);
    error_code error;
    if (const std::string file = variable("MLFLOW_TRACKING_SERVER_CERT_PATH"); !file.empty()) {
      out.load_verify_file(file, error);
      if (error) throw std::runtime_error("TLS: the certificates in " + file + " cannot be read");
    } else {
      out.set_default_verify_paths(error);
    }
    return out;
  }

  void agree() {
    const std::string insecure = variable("MLFLOW_TRACKING_INSECURE_TLS");
    error_code error;
    if (insecure != "true" && insecure != "1") {
      tls_.set_verify_mode(net::ssl::verify_peer, error);
      tls_.set_verify_callback(net::ssl::host_name_verification(server_.host), error);
    }
    error_code not_a_name;
    net::ip::make_address(server_.host, not_a_name);
    if (not_a_name) SSL_set_tlsext_host_name(tls_.native_handle(), server_.host.c_str());
    tls_.handshake(net::ssl::stream_base::client, error);
    if (!error) return;
    const long verdict = SSL_get_verify_result(tls_.native_handle());
    if (verdict != X509_V_OK) {
      throw std::runtime_error("TLS: the server's certificate is not trusted: " +
                               std::string(X509_verify_cert_error_string(verdict)));
    }
    throw std::runtime_error("TLS: no agreement with the server: " + error.message());
  }

  static bool is_end(const error_code& error) {
    return error == http::error::end_of_stream || error == net::error::eof ||
           error == net::error::connection_reset || error == net::error::broken_pipe;
  }

  template <typename Stream>
  Response exchange_over(Stream& stream, Request& request) {
    const bool is_usual = server_.port == (server_.is_tls ? "443" : "80");
    const std::string host =
        server_.host.find(':') == std::string::npos ? server_.host : "[" + server_.host + "]";
    request.set(http::field::host, is_usual ? host : host + ":" + server_.port);
    error_code error;
    http::write(stream, request, error);
    if (error) throw NoAnswer("the connection ended while the request was sent");
    for (;;) {
      http::response_parser<http::string_body> parser;
      parser.body_limit(kMostBody);
      parser.header_limit(kMostHeaders);
      http::read_header(stream, buffer_, parser, error);
      if (error && buffer_.size() == 0 && is_end(error)) {
        throw NoAnswer("the connection ended before the whole answer");
      }
      // Room for as much as it says is made before the limit is looked at.
      if (!error && parser.content_length().value_or(0) > kMostBody)
        error = http::error::body_limit;
      if (!error) http::read(stream, buffer_, parser, error);
      if (error == http::error::body_limit) {
        throw std::runtime_error("the answer is longer than 4 MiB");
      }
      if (error == http::error::header_limit || error == http::error::buffer_overflow) {
        throw std::runtime_error("the headers of the answer are longer than 256 KiB");
      }
      if (error.category() == http::make_error_code(http::error::bad_version).category() &&
          error != http::error::end_of_stream && error != http::error::partial_message) {
        throw std::runtime_error("the answer is not HTTP: " + error.message());
      }
      if (error) throw std::runtime_error("the connection ended before the whole answer");
      if (parser.get().result_int() >= 200) return parser.release();  // not "continue"
    }
  }

  Server server_;
  net::io_context context_;
  net::ssl::context trusted_ = tls_context();
  Tls tls_{context_, trusted_};
  boost::beast::flat_buffer buffer_{kMostHeaders + (std::size_t{64} << 10)};
};

void add_headers(Request& to, const json& headers) {
  for (const auto& [name, value] : headers.items()) {
    const auto text = value.get<std::string>();
    if ((name + text).find_first_of("\r\n") != std::string::npos) {
      throw std::runtime_error("the header " + name + " has a line break");
    }
    to.set(name, text);
  }
}

class Requests {
 public:
  json make(const json& request) {
    const Url first = split(request.at("url"));
    const std::string secret = request.at("query");
    Request sent;
    sent.version(11);
    sent.method_string(request.at("method").get<std::string>());
    sent.body() = request.at("body");
    sent.set(http::field::user_agent, "kdgat");
    add_headers(sent, request.at("headers"));
    Url at = {first.server, with_query(first.target, secret)};
    for (int i = 0; i <= kMostRedirects; ++i) {
      Request now = sent;
      if (origin_of(at) == origin_of(first)) {
        add_headers(now, request.at("credentials"));
      } else {
        at.target = without_query(at.target, secret);
      }
      Response answer = send(at, std::move(now));
      constexpr std::array<unsigned, 5> kMoved = {301, 302, 303, 307, 308};
      const std::string location(answer[http::field::location]);
      const unsigned status = answer.result_int();
      if (location.empty() || std::find(kMoved.begin(), kMoved.end(), status) == kMoved.end()) {
        return {{"status", status}, {"body", std::move(answer.body())}};
      }
      at = resolved(at, location);
      constexpr unsigned kSeeOther = 303;  // what was sent has been taken
      if (status == kSeeOther) {
        sent.method(http::verb::get);
        sent.body().clear();
      }
    }
    throw std::runtime_error("too many redirections");
  }

  /// After what left it in between.
  void forget() { connection_.reset(); }

 private:
  Response send(const Url& url, Request request) {
    const bool is_used = connection_ && url.server == server_ && connection_->is_idle();
    if (!is_used) connect(url);
    request.target(encoded(url.target));
    request.prepare_payload();
    Response answer = exchange(url, request, is_used);
    if (!answer.keep_alive()) connection_.reset();
    return answer;
  }

  void connect(const Url& url) {
    connection_.reset();
    connection_ = std::make_unique<Connection>(url.server);
    server_ = url.server;
  }

  /// A server may end a connection that was idle just when it is used again: once more, over
  /// another.
  Response exchange(const Url& url, Request& request, bool is_used) {
    try {
      return connection_->exchange(request);
    } catch (const NoAnswer&) {
      if (!is_used) throw;
    }
    connect(url);
    return connection_->exchange(request);
  }

  std::string server_;
  std::unique_ptr<Connection> connection_;
};

}  // namespace

int main() {
  find_certificates();
  Requests requests;
  for (std::string line; std::getline(std::cin, line);) {
    json answer;
    try {
      answer = requests.make(json::parse(line));
    } catch (const std::exception& e) {
      requests.forget();
      answer = {{"error", e.what()}};
    }
    std::cout << answer.dump(-1, ' ', false, json::error_handler_t::replace) << std::endl;
  }
  return 0;
}
