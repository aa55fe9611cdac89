// kdgat_mqtt: publishes the lines it reads to an MQTT broker. The first line says where to, as a
// JSON object; each other line is a message, and is answered by a line: "ok" once the broker has
// confirmed it (with qos=0: once it is sent), else why not, after which the program ends and may be
// started again. Ends with its input. The only source that includes libmosquitto.
#include <mosquitto.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>

namespace {

using std::chrono::steady_clock;

constexpr int kSecondsToAnswer = 10;
constexpr int kKeepAlive = 30;

steady_clock::time_point in_time() {
  return steady_clock::now() + std::chrono::seconds(kSecondsToAnswer);
}

/// Lines of standard input, which is waited for beside the broker.
class Input {
 public:
  /// A line that has come as a whole.
  std::optional<std::string> next() {
    const std::size_t end = text_.find('\n');
    if (end == std::string::npos) return std::nullopt;
    std::string line = text_.substr(0, end);
    text_.erase(0, end + 1);
    return line;
  }
  /// Waits if there is nothing. False at the end.
  bool read() {
    std::array<char, 1 << 14> buffer{};
    const ssize_t got = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (got > 0) text_.append(buffer.data(), static_cast<std::size_t>(got));
    return got > 0 || (got < 0 && errno == EINTR);
  }

 private:
  std::string text_;
};

void check(int code) {
  if (code == MOSQ_ERR_ERRNO) throw std::runtime_error(std::strerror(errno));
  if (code != MOSQ_ERR_SUCCESS) throw std::runtime_error(mosquitto_strerror(code));
}

class Broker {
 public:
  explicit Broker(const nlohmann::json& where)
      : topic_(where.at("topic")), qos_(where.at("qos")), retain_(where.at("retain")) {
    if (!client_) throw std::runtime_error(std::strerror(errno));
    const std::string user = where.at("user"), password = where.at("password");
    if (!user.empty()) {
      check(mosquitto_username_pw_set(client_.get(), user.c_str(), password.c_str()));
    }
    mosquitto_connect_callback_set(client_.get(), [](mosquitto*, void* self, int code) {
      static_cast<Broker*>(self)->answer_ = code;
    });
    mosquitto_publish_callback_set(client_.get(), [](mosquitto*, void* self, int message) {
      static_cast<Broker*>(self)->confirmed_ = message;
    });
    const std::string host = where.at("host");
    check(mosquitto_connect(client_.get(), host.c_str(), where.at("port"), kKeepAlive));
    const auto until = in_time();
    while (answer_ != 0) step(until);
  }
  Broker(const Broker&) = delete;
  Broker& operator=(const Broker&) = delete;
  ~Broker() {
    mosquitto_disconnect(client_.get());
    mosquitto_loop_write(client_.get(), 1);
  }

  /// Returns once it is confirmed.
  void publish(const std::string& text) {
    int message = 0;
    check(mosquitto_publish(client_.get(), &message, topic_.c_str(), static_cast<int>(text.size()),
                            text.data(), qos_, retain_));
    const auto until = in_time();
    while (confirmed_ != message) step(until);
  }

  /// Returns once there is input, and keeps the connection until then.
  void wait_for_input() {
    while (!turn(STDIN_FILENO)) continue;
  }

 private:
  struct Destroy {
    void operator()(mosquitto* client) const { mosquitto_destroy(client); }
  };

  void step(steady_clock::time_point until) {
    if (steady_clock::now() >= until) throw std::runtime_error("the broker does not answer");
    turn(-1);
  }

  /// Whatever the broker and the clock ask for, within a second; whether there is input.
  bool turn(int input) {
    constexpr int kPause = 1000;
    const bool wants = mosquitto_want_write(client_.get());
    const short events = wants ? POLLIN | POLLOUT : POLLIN;
    std::array<pollfd, 2> ready{{{mosquitto_socket(client_.get()), events, 0}, {input, POLLIN, 0}}};
    if (::poll(ready.data(), ready.size(), kPause) < 0 && errno != EINTR) check(MOSQ_ERR_ERRNO);
    if ((ready[0].revents & ~POLLOUT) != 0) {
      const int code = mosquitto_loop_read(client_.get(), 1);
      if (answer_ > 0) throw std::runtime_error(mosquitto_connack_string(answer_));
      check(code);
    }
    if ((ready[0].revents & POLLOUT) != 0) check(mosquitto_loop_write(client_.get(), 1));
    check(mosquitto_loop_misc(client_.get()));
    return ready[1].revents != 0;
  }

  std::string topic_;
  int qos_;
  bool retain_;
  int answer_ = -1;  ///< of the broker to the connection
  int confirmed_ = -1;
  std::unique_ptr<mosquitto, Destroy> client_{mosquitto_new(nullptr, true, this)};
};

void serve() {
  Input input;
  std::optional<std::string> line;
  while (!(line = input.next())) {
    if (!input.read()) return;
  }
  Broker broker(nlohmann::json::parse(*line));
  while (true) {
    while ((line = input.next())) {
      broker.publish(*line);
      std::cout << "ok" << std::endl;
    }
    broker.wait_for_input();
    if (!input.read()) return;
  }
}

}  // namespace

int main() {
  // Who starts it may have blocked them all.
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  mosquitto_lib_init();
  try {
    serve();
  } catch (const std::exception& e) {
    std::cout << e.what() << std::endl;
    return 1;
  }
  return 0;
}
