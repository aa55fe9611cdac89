// What a server may do to the program: send it elsewhere, and answer without end. What curl is
// told, and how.
#include "pipeline/records/http.h"

#include <netinet/in.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "pipeline/records/mlflow.h"
#include "support/graphs/variable.h"
#include "support/programs/command.h"
#include "support/programs/held_port.h"
#include "support/runs/fake_mlflow.h"

using namespace kdgat;
using namespace kdgat::test;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

// Ends a request that would wait for ever; no answer is this late, on a busy machine neither.
constexpr double kRequestSeconds = 120;
/// What a FakeMlflow answers with 404.
constexpr const char* kNowhere = "/api/2.0/mlflow/experiments/get-by-name";

/// Answers every request on a loopback port as it is told, byte by byte if need be. Each connection
/// has a thread of its own: one that asks nothing, say of another program, keeps nobody waiting.
class RawServer {
 public:
  /// Writes to the socket until it is done; false from `send` = the other side has gone.
  using Answer = std::function<void(const std::function<bool(const std::string&)>& send)>;

  explicit RawServer(Answer answer)
      : answer_(std::move(answer)), socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0);
    REQUIRE(::listen(socket_, SOMAXCONN) == 0);
    socklen_t size = sizeof(address);
    ::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  RawServer(const RawServer&) = delete;
  RawServer& operator=(const RawServer&) = delete;
  ~RawServer() {
    ends_ = true;
    ::shutdown(socket_, SHUT_RDWR);
    thread_.join();
    for (const int client : clients_) ::shutdown(client, SHUT_RDWR);
    for (std::thread& answering : answering_) answering.join();
    for (const int client : clients_) ::close(client);
    ::close(socket_);
  }

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  int64_t sent() const { return sent_; }

 private:
  void serve() {
    while (!ends_) {
      const int client = ::accept(socket_, nullptr, nullptr);
      if (client < 0) return;
      clients_.push_back(client);
      answering_.emplace_back([this, client] { answer(client); });
    }
  }

  void answer(int client) {
    char request[4096];
    if (::recv(client, request, sizeof(request), 0) > 0) {
      answer_([&](const std::string& text) {
        const ssize_t done = ::send(client, text.data(), text.size(), MSG_NOSIGNAL);
        if (done > 0) sent_ += done;
        return done == static_cast<ssize_t>(text.size()) && !ends_;
      });
    }
    ::shutdown(client, SHUT_RDWR);
  }

  Answer answer_;
  int socket_ = -1;
  uint16_t port_ = 0;
  std::atomic<bool> ends_ = false;
  std::atomic<int64_t> sent_ = 0;
  std::vector<int> clients_;  // of the thread, and after its end
  std::vector<std::thread> answering_;
  std::thread thread_;
};

/// A server that sends so many requests on to another, and what came to it.
class Elsewhere {
 public:
  explicit Elsewhere(std::string to, int times = 1000) : left_(times) {
    const auto answer = [this, to = std::move(to)](const httplib::Request& request,
                                                   httplib::Response& response) {
      constexpr int kMoved = 307;
      const std::lock_guard lock(mutex_);
      authorization_ = request.get_header_value("Authorization");
      target_ = request.target;
      if (left_-- <= 0) {
        response.set_content(R"({"experiment": {"experiment_id": "1"}})", "application/json");
        return;
      }
      response.status = kMoved;
      // The whole target, query and all, as servers do.
      response.set_header("Location", to + request.target);
    };
    server_.Get(".*", answer);
    server_.Post(".*", answer);
    server_.Put(".*", answer);
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::yield();
  }
  Elsewhere(const Elsewhere&) = delete;
  Elsewhere& operator=(const Elsewhere&) = delete;
  ~Elsewhere() {
    server_.stop();
    thread_.join();
  }
  std::string host() const { return "127.0.0.1:" + std::to_string(port_); }
  std::string authorization() {
    const std::lock_guard lock(mutex_);
    return authorization_;
  }
  std::string target() {
    const std::lock_guard lock(mutex_);
    return target_;
  }

 private:
  httplib::Server server_;
  std::thread thread_;
  std::mutex mutex_;
  std::string authorization_, target_;
  int left_ = 0, port_ = 0;
};

/// A server over TLS whose certificate, signed by itself, is for so named a host.
class TlsServer {
 public:
  explicit TlsServer(const std::string& name, const std::string& certificate_file)
      : key_(EVP_RSA_gen(2048)), certificate_(X509_new()) {
    X509_set_version(certificate_, X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate_), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate_), -3600);
    X509_gmtime_adj(X509_getm_notAfter(certificate_), 3600);
    X509_set_pubkey(certificate_, key_);
    X509_NAME* subject = X509_get_subject_name(certificate_);
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>("kdgat test"), -1, -1, 0);
    X509_set_issuer_name(certificate_, subject);
    X509_EXTENSION* extension =
        X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, name.c_str());
    REQUIRE(extension != nullptr);
    X509_add_ext(certificate_, extension, -1);
    X509_EXTENSION_free(extension);
    REQUIRE(X509_sign(certificate_, key_, EVP_sha256()) > 0);
    std::FILE* file = std::fopen(certificate_file.c_str(), "w");
    REQUIRE(file != nullptr);
    PEM_write_X509(file, certificate_);
    std::fclose(file);
    server_ = std::make_unique<httplib::SSLServer>(certificate_, key_);
    server_->set_keep_alive_max_count(2);  // ends connections that the client would keep
    server_->Get("/hello", [](const httplib::Request&, httplib::Response& response) {
      response.set_content("hello", "text/plain");
    });
    port_ = server_->bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_->listen_after_bind(); });
    while (!server_->is_running()) std::this_thread::yield();
  }
  TlsServer(const TlsServer&) = delete;
  TlsServer& operator=(const TlsServer&) = delete;
  ~TlsServer() {
    server_->stop();
    thread_.join();
    X509_free(certificate_);
    EVP_PKEY_free(key_);
  }
  std::string url() const { return "https://127.0.0.1:" + std::to_string(port_) + "/hello"; }

 private:
  EVP_PKEY* key_;
  X509* certificate_;
  std::unique_ptr<httplib::SSLServer> server_;
  std::thread thread_;
  int port_ = 0;
};

/// A program named curl that stands before the machine's in PATH: a script, in which "$real" is the
/// machine's and "$here" a folder of its own.
class CurlInPath {
 public:
  explicit CurlInPath(const std::string& script) {
    std::ofstream(here_ / "curl") << "#!/bin/sh\nreal='" << find_curl(deadline_in(60)).path
                                  << "'\nhere='" << here_.path().string() << "'\n"
                                  << script << "\n";
    fs::permissions(here_ / "curl", fs::perms::owner_all);
  }
  std::string path() const { return (here_ / "curl").string(); }
  std::string text(const std::string& name) const { return read_text(here_ / name); }

 private:
  const ScratchFolder here_;
  const Variable first_{"PATH", here_.path().string() + ":" + std::getenv("PATH")};
};

}  // namespace

TEST_CASE("what is secret, and what is sent, stands in no argument of curl", "[records]") {
  const CurlInPath curl(R"(printf '%s\n' "$@" >> "$here/arguments"
[ "$2" = --version ] && exec "$real" "$@"
tee -a "$here/input" | "$real" "$@")");
  FakeMlflow server;
  const std::string host = server.url().substr(std::string("http://").size());
  const auto store =
      mlflow_server("http://ann:secret@" + host + "?token=s3cret", http_process(kRequestSeconds));
  CHECK(store->experiment("much to hide") == "1");
  CHECK(server.last_authorization() == "Basic YW5uOnNlY3JldA==");
  CHECK(curl.text("arguments") ==
        "--disable\n--version\n--disable\n--config\n-\n--disable\n--config\n-\n");
  CHECK_THAT(curl.text("input"), Contains("Basic YW5uOnNlY3JldA==") && Contains("token=s3cret"));
}

TEST_CASE("without a curl, or with one older than 7.75, no request is made", "[records]") {
  FakeMlflow server;
  const HttpRequest request{"GET", server.url() + kNowhere};
  const std::string cure =
      ", and requests to a server need 7.75 or later; install it (apt-get install curl)";
  const auto answer_with = [&](const std::string& script) {
    const CurlInPath curl(script);
    HttpResponse answer = http_process(kRequestSeconds)(request);
    const std::size_t at = answer.error.find(curl.path());
    if (at == 0) answer.error.erase(0, curl.path().size());
    return answer;
  };
  {
    const ScratchFolder empty;
    const Variable path("PATH", empty.path().string());
    CHECK(http_process(kRequestSeconds)(request).error == "no curl in PATH" + cure);
  }
  CHECK(answer_with("echo 'curl 7.74.9 (x86_64-pc-linux-gnu)'").error ==
        " is version 7.74.9" + cure);
  CHECK(answer_with("echo hello").error == " is version ?" + cure);
  CHECK(server.requests == 0);
  CHECK(answer_with(R"([ "$2" = --version ] || exec "$real" "$@"
echo 'curl 7.75.0 (x86_64-pc-linux-gnu)')")
            .status == 404);
  CHECK(answer_with(R"([ "$2" = --version ] && exec "$real" "$@"
cat > "$here/input")")
            .error == ", which makes requests, ended unexpectedly");
}

TEST_CASE("no text of a request becomes an option of curl", "[records]") {
  const ScratchFolder scratch;
  const std::string made = (scratch / "made").string();
  const std::string line = "\"\noutput = \"" + made + "\"\n#";
  FakeMlflow server;
  const Http http = http_process(kRequestSeconds);
  const std::string odd = R"(Bearer "a\" \n b\\" # = @c)";
  CHECK(http({"GET", server.url() + kNowhere, {}, "", {{"Authorization", odd}}}).status == 404);
  CHECK(server.last_authorization() == odd);
  CHECK(http({"GET", server.url() + kNowhere + "?" + line}).status == 404);
  CHECK(http({"GET", server.url() + kNowhere, {}, "", {}, "token=" + line}).status == 404);
  CHECK_THAT(server.last_query(), Contains("token=\"%0Aoutput%20=%20\"/"));
  const Variable file("MLFLOW_TRACKING_SERVER_CERT_PATH", line);
  CHECK(http({"GET", server.url() + kNowhere + "?name=[1-3]{a,b}"}).status == 404);
  CHECK(server.requests == 4);
  CHECK_THAT(http({"GET", server.url(), {}, "", {{"Authorization", line}}}).error,
             Contains("Authorization has a line break"));
  CHECK(server.requests == 4);
  CHECK_FALSE(fs::exists(made));
}

TEST_CASE("any bytes are sent as they are, and much at once", "[records]") {
  FakeMlflow server;
  const auto store = mlflow_server(server.url(), http_process(kRequestSeconds));
  const MlflowRun run{"1", store->create_run("1", "r", 1, {})};
  std::string content = "@/etc/hostname";
  for (int i = 0; content.size() < (3 << 20); ++i) content += static_cast<char>(i * i);
  for (const std::string& sent : {content, std::string()}) {
    CHECK(store->put_artifact(run, "bytes", sent));
    CHECK((server.run("r").artifacts.at("bytes") == sent));
  }
}

TEST_CASE("neither a .curlrc nor a proxy of the environment changes a request", "[records]") {
  const ScratchFolder home;
  std::ofstream(home / ".curlrc") << "output = \"" << (home / "made").string() << "\"\n";
  std::ofstream(home / ".netrc") << "default login ann password secret\n";
  const Variable curl_home("CURL_HOME", home.path().string()), user("HOME", home.path().string());
  const HeldPort nobody;
  const std::string proxy = "http://127.0.0.1:" + nobody.text();
  const Variable one("http_proxy", proxy), all("ALL_PROXY", proxy);
  FakeMlflow server;
  CHECK(http_process(kRequestSeconds)({"GET", server.url() + kNowhere}).status == 404);
  CHECK(server.last_authorization().empty());
  CHECK_FALSE(fs::exists(home / "made"));
}

TEST_CASE("over TLS a server is known by its certificate", "[records]") {
  const ScratchFolder scratch;
  const std::string file = (scratch / "certificate.pem").string();
  const TlsServer server("IP:127.0.0.1", file);
  const HttpRequest request = {"GET", server.url()};
  CHECK_THAT(http_process(kRequestSeconds)(request).error,
             Contains("TLS: the server's certificate is not trusted"));
  {
    const Variable trusted("MLFLOW_TRACKING_SERVER_CERT_PATH", file);
    const Http http = http_process(kRequestSeconds);
    for (int i = 0; i < 7; ++i) {  // over several connections
      const HttpResponse answer = http(request);
      CHECK(answer.status == 200);
      CHECK(answer.body == "hello");
    }
  }
  {
    const Variable missing("MLFLOW_TRACKING_SERVER_CERT_PATH", file + ".none");
    CHECK_THAT(http_process(kRequestSeconds)(request).error, Contains(".none cannot be read"));
  }
  const Variable insecure("MLFLOW_TRACKING_INSECURE_TLS", "true");
  CHECK(http_process(kRequestSeconds)(request).status == 200);
}

TEST_CASE("a trusted certificate of another host is refused", "[records]") {
  const ScratchFolder scratch;
  const std::string file = (scratch / "certificate.pem").string();
  const TlsServer server("DNS:other.example", file);
  const Variable trusted("MLFLOW_TRACKING_SERVER_CERT_PATH", file);
  const HttpResponse answer = http_process(kRequestSeconds)({"GET", server.url()});
  CHECK(answer.status == 0);
  CHECK_THAT(answer.error, Contains("certificate is not trusted"));
}

TEST_CASE("what is no URL, or no header, is not sent", "[records]") {
  const Http http = http_process(kRequestSeconds);
  for (const char* url : {"ftp://127.0.0.1/", "http://", "http://127.0.0.1:x/", "127.0.0.1/a",
                          "http://ann:secret@127.0.0.1/"}) {
    INFO(url);
    CHECK_THAT(http({"GET", url}).error, Contains("not a URL"));
  }
  FakeMlflow server;
  CHECK_THAT(http({"GET", server.url() + "/", {{"X-Token", "a\r\nX-Other: b"}}}).error,
             Contains("X-Token has a line break"));
  CHECK(server.requests == 0);
  CHECK(http({"GET", server.url() + "/a b\r\nX-Other: c"}).status == 404);
}

TEST_CASE("an answer of several parts, and one after it, are read", "[records]") {
  const RawServer server([](const auto& send) {
    send(
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        "4;a=b\r\nabcd\r\n2\r\nef\r\n0\r\nTrailer: x\r\n\r\n");
  });
  const Http http = http_process(kRequestSeconds);
  for (int i = 0; i < 3; ++i) {  // each over a connection of its own: the server ends them
    const HttpResponse answer = http({"GET", server.url() + "/"});
    CHECK(answer.error.empty());
    CHECK(answer.status == 200);
    CHECK(answer.body == "abcdef");
  }
  const RawServer other([](const auto& send) { send("SSH-2.0-OpenSSH_9.2\r\n"); });
  CHECK_THAT(http({"GET", other.url() + "/"}).error, Contains("is not HTTP"));
  const RawServer half(
      [](const auto& send) { send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"); });
  CHECK(http({"GET", half.url() + "/"}).error == "the connection ended before the whole answer");
}

TEST_CASE("another origin that a server sends to is told no credentials", "[records]") {
  FakeMlflow other;
  Elsewhere first(other.url());
  const auto store = mlflow_server("http://ann:secret@" + first.host() + "?token=s3cret",
                                   http_process(kRequestSeconds));
  CHECK(store->experiment("e") == "1");
  CHECK(first.authorization() == "Basic YW5uOnNlY3JldA==");
  CHECK_THAT(first.target(), Contains("token=s3cret"));
  CHECK(other.requests > 0);
  CHECK(other.last_authorization().empty());
  CHECK(other.last_query().empty());  // of the request that made the experiment
}

TEST_CASE("the same origin is told them again", "[records]") {
  Elsewhere server("/elsewhere", 1);
  const auto store = mlflow_server("http://ann:secret@" + server.host() + "?token=s3cret",
                                   http_process(kRequestSeconds));
  CHECK(store->experiment("e") == "1");
  CHECK(server.authorization() == "Basic YW5uOnNlY3JldA==");
  CHECK_THAT(server.target(), Contains("/elsewhere/") && Contains("token=s3cret"));
}

TEST_CASE("servers that send in a circle are left", "[records]") {
  Elsewhere one("");  // to itself
  const HttpResponse answer = http_process(kRequestSeconds)({"GET", "http://" + one.host() + "/a"});
  CHECK(answer.status == 0);
  CHECK(answer.error == "too many redirections");
}

TEST_CASE("an answer without an end is bounded in bytes", "[records]") {
  const std::string many(1 << 16, 'x');
  for (const std::string head :
       {"HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n"}) {
    const RawServer server([&](const auto& send) {
      for (bool goes_on = send(head); goes_on;) goes_on = send(many);
    });
    const Http http = http_process(kRequestSeconds);
    const HttpResponse answer = http({"GET", server.url() + "/"});
    CHECK(answer.status == 0);
    CHECK(answer.error == "the answer is longer than 4 MiB");
    CHECK(server.sent() < (64 << 20));  // with what sockets hold
    // The same process still serves.
    FakeMlflow good;
    CHECK(http({"GET", good.url() + "/api/2.0/mlflow/experiments/get-by-name"}).status == 404);
  }
}

TEST_CASE("headers without an end are bounded in bytes", "[records]") {
  std::string many;
  while (many.size() < (1 << 16))
    many += "X-Header-" + std::to_string(many.size()) + ": " + std::string(4000, 'x') + "\r\n";
  const RawServer server([&](const auto& send) {
    for (bool goes_on = send("HTTP/1.1 200 OK\r\n"); goes_on;) goes_on = send(many);
  });
  constexpr double kSeconds = 600;  // far more than it takes: what ends it is the limit
  const HttpResponse answer = http_process(kSeconds)({"GET", server.url() + "/"});
  CHECK(answer.status == 0);
  CHECK(answer.error == "the headers of the answer are longer than 256 KiB");
  CHECK(server.sent() < (64 << 20));  // with what sockets hold
}

TEST_CASE("an answer that drips is bounded in time", "[records]") {
  const RawServer server([](const auto& send) {
    bool goes_on = send("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n");
    while (goes_on) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      goes_on = send("x");
    }
  });
  const HttpResponse answer = http_process(0.5)({"GET", server.url() + "/"});
  CHECK(answer.status == 0);
  CHECK_THAT(answer.error, Contains("in time"));
}
