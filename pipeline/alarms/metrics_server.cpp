#include "pipeline/alarms/metrics_server.h"

#include <netinet/in.h>
#include <poll.h>
#include <strings.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <list>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "kdgat/error.h"
#include "pipeline/alarms/patience.h"
#include "pipeline/alarms/quiet_thread.h"

namespace kdgat {
namespace {

constexpr std::size_t kMostRequest = 4096;
constexpr std::size_t kMostClients = 16;

/// A request that has come as a whole, as far as its headers go.
bool is_whole(const std::string& request) {
  return request.find("\r\n\r\n") != std::string::npos || request.find("\n\n") != std::string::npos;
}

std::string_view without_blanks(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(" \t\r"), text.size());
  return text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}

bool equals_in_any_case(std::string_view a, std::string_view b) {
  return a.size() == b.size() && ::strncasecmp(a.data(), b.data(), a.size()) == 0;
}

/// A name of this computer alone, with or without a port.
bool is_local_host(std::string_view host) {
  const auto is_name_with_port = [&](std::string_view name) {
    if (!equals_in_any_case(host.substr(0, name.size()), name)) return false;
    const std::string_view port = host.substr(name.size());
    return port.empty() || (port.front() == ':' &&
                            port.find_first_not_of("0123456789", 1) == std::string_view::npos);
  };
  return is_name_with_port("localhost") || is_name_with_port("127.0.0.1") ||
         is_name_with_port("[::1]");
}

/// Whether each Host that a request names is this computer. A page in a browser of this computer
/// may have a name that its owner lets lead here, and would be answered; it cannot hide that name.
/// What names none is no browser.
bool is_for_this_host(std::string_view request) {
  while (true) {
    const std::size_t end = request.find('\n');
    if (end == std::string_view::npos) return true;
    const std::string_view line = request.substr(0, end);
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos &&
        equals_in_any_case(without_blanks(line.substr(0, colon)), "host") &&
        !is_local_host(without_blanks(line.substr(colon + 1)))) {
      return false;
    }
    request.remove_prefix(end + 1);
  }
}

std::string response(const std::string& status, const std::string& body,
                     const std::string& header = "Content-Type: text/plain; charset=utf-8\r\n") {
  return "HTTP/1.1 " + status + "\r\n" + header + "Content-Length: " + std::to_string(body.size()) +
         "\r\nConnection: close\r\n\r\n" + body;
}

std::string answer_to(const std::string& request,
                      const std::function<std::vector<Metric>()>& snapshot) {
  const std::string line = request.substr(0, request.find_first_of("\r\n"));
  const std::size_t first = line.find(' '), second = line.find(' ', first + 1);
  if (first == std::string::npos || second == std::string::npos ||
      !std::string_view(line).substr(second).starts_with(" HTTP/1.")) {
    return response("400 Bad Request", "this is no HTTP/1.1\n");
  }
  if (!is_for_this_host(request)) {
    return response("421 Misdirected Request", "ask localhost, 127.0.0.1 or [::1]\n");
  }
  const std::string target = line.substr(first + 1, second - first - 1);
  if (target.substr(0, target.find('?')) != "/metrics") {
    return response("404 Not Found", "there is /metrics alone\n");
  }
  if (line.substr(0, first) != "GET") {
    return response("405 Method Not Allowed", "GET alone\n",
                    "Allow: GET\r\nContent-Type: text/plain; charset=utf-8\r\n");
  }
  try {
    return response("200 OK", prometheus_text(snapshot()),
                    "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n");
  } catch (const std::exception& e) {  // the thread goes on
    return response("500 Internal Server Error", std::string(e.what()) + "\n");
  }
}

/// Whether a call failed for good.
bool failed(ssize_t result) { return result < 0 && errno != EAGAIN && errno != EINTR; }

}  // namespace

class MetricsServer::Server {
 public:
  Server(int port, std::function<std::vector<Metric>()> snapshot, double seconds)
      : snapshot_(std::move(snapshot)),
        seconds_(seconds),
        listening_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    const int yes = 1;
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<uint16_t>(port));
    socklen_t size = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    ::setsockopt(listening_.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (::bind(listening_.get(), generic, size) != 0 ||
        ::listen(listening_.get(), kMostClients) != 0 ||
        ::getsockname(listening_.get(), generic, &size) != 0) {
      throw Error(
          ExitCode::kUsage,
          "cannot listen on 127.0.0.1:" + std::to_string(port) + ": " + std::strerror(errno),
          "--metrics 0 takes a port that is free");
    }
    port_ = ntohs(address.sin_port);
    thread_ = quiet_thread([this] { serve(); });
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server() {
    patience_.end();
    thread_.join();
  }

  int port() const { return port_; }

 private:
  struct Client {
    OwnedFd socket;
    Deadline until;
    std::string request{}, answer{};  ///< read until it is whole, then written
    bool is_answered = false;         ///< what still comes is thrown away, or it would see a reset
  };

  void serve() {
    while (!patience_.is_over()) {
      std::vector<pollfd> ready;
      // With as many as there may be, others wait outside.
      const short more = clients_.size() < kMostClients ? POLLIN : 0;
      ready.push_back({listening_.get(), more, 0});
      for (const Client& client : clients_) {
        const bool writes = !client.answer.empty();
        ready.push_back({client.socket.get(), static_cast<short>(writes ? POLLOUT : POLLIN), 0});
      }
      if (!patience_.wait_any(ready, next_deadline())) {
        if (patience_.is_over()) return;
      }
      auto at = ready.begin() + 1;
      clients_.remove_if([&](Client& client) { return !go_on(client, (at++)->revents != 0); });
      if (ready.front().revents != 0) accept();
    }
  }

  Deadline next_deadline() const {
    Deadline out = Deadline::max();
    for (const Client& client : clients_) out = std::min(out, client.until);
    return out;
  }

  void accept() {
    OwnedFd socket(::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (socket.get() >= 0) {
      clients_.push_back({std::move(socket), deadline_in(seconds_)});
    } else {
      constexpr double kPause = 0.1;  // where there are no descriptors left, some may be soon
      patience_.wait(-1, 0, deadline_in(kPause));
    }
  }

  /// False once there is nothing more to do for it.
  bool go_on(Client& client, bool is_ready) {
    if (std::chrono::steady_clock::now() >= client.until) return false;
    if (!is_ready) return true;
    return client.answer.empty() ? read(client) : write(client);
  }

  bool read(Client& client) {
    std::array<char, 1024> buffer{};
    const ssize_t got = ::recv(client.socket.get(), buffer.data(), buffer.size(), 0);
    if (got == 0 || failed(got)) return false;
    if (got < 0 || client.is_answered) return true;
    client.request.append(buffer.data(), static_cast<std::size_t>(got));
    if (is_whole(client.request)) {
      client.answer = answer_to(client.request, snapshot_);
    } else if (client.request.size() >= kMostRequest) {
      client.answer = response("431 Request Header Fields Too Large", "4 KiB at most\n");
    }
    return true;
  }

  static bool write(Client& client) {
    const ssize_t sent =
        ::send(client.socket.get(), client.answer.data(), client.answer.size(), MSG_NOSIGNAL);
    if (failed(sent)) return false;
    if (sent > 0) client.answer.erase(0, static_cast<std::size_t>(sent));
    if (client.answer.empty()) {
      client.is_answered = true;
      ::shutdown(client.socket.get(), SHUT_WR);
    }
    return true;
  }

  std::function<std::vector<Metric>()> snapshot_;
  double seconds_;
  OwnedFd listening_;
  int port_ = 0;
  Patience patience_;
  std::list<Client> clients_;
  std::thread thread_;
};

MetricsServer::MetricsServer(int port, std::function<std::vector<Metric>()> snapshot,
                             double seconds)
    : server_(std::make_unique<Server>(port, std::move(snapshot), seconds)),
      port_(server_->port()) {}

MetricsServer::~MetricsServer() = default;

}  // namespace kdgat
