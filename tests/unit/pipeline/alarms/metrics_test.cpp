// The numbers of a run as Prometheus reads them, over HTTP.
#include <catch2/catch.hpp>
#include <cmath>
#include <sstream>

#include "kdgat/error.h"
#include "pipeline/alarms/metrics_server.h"
#include "support/can/alarm_peers.h"
#include "support/programs/command.h"
#include "support/programs/python.h"

using namespace kdgat;
using namespace kdgat::test;
using Catch::Contains;

namespace {

const std::string kOddValue = "a \"quoted\" \\ value\nof two lines";

std::vector<Metric> some_metrics() {
  return {{"kdgat_frames_total",
           "Frames read,\nby bus \\ interface",
           "counter",
           {{{{"bus", "can0"}}, 12345678901.0}, {{{"bus", kOddValue}, {"dir", "rx"}}, 0.1}}},
          {"kdgat_latency_seconds",
           "Latency",
           "summary",
           {{{{"quantile", "0.5"}}, 0.25}, {{}, 3.5, "_sum"}, {{}, 14, "_count"}}},
          {"kdgat_share", "Share", "gauge", {{{}, std::nan("")}}},
          {"kdgat_none", "Nothing yet", "gauge", {}}};
}

/// A sample line taken apart by the rules of the format: its name, labels and value.
struct ReadSample {
  std::string name;
  std::vector<std::pair<std::string, std::string>> labels;
  std::string value;
};

ReadSample read_sample(const std::string& line) {
  ReadSample out;
  std::size_t at = line.find_first_of("{ ");
  out.name = line.substr(0, at);
  if (line[at] == '{') {
    while (line[at] != '}') {
      const std::size_t equal = line.find('=', at);
      const std::string label = line.substr(at + 1, equal - at - 1);
      std::string value;
      for (at = equal + 2; line.at(at) != '"'; ++at) {
        if (line[at] == '\\') {
          ++at;
          value += line[at] == 'n' ? '\n' : line[at];
        } else {
          value += line[at];
        }
      }
      ++at;
      out.labels.emplace_back(label, value);
    }
    ++at;
  }
  out.value = line.substr(at + 1);
  return out;
}

/// All that a server says to these bytes.
std::string asked(int port, const std::string& bytes) {
  const OwnedFd socket = connected(port);
  REQUIRE(socket.get() >= 0);
  REQUIRE(::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
          static_cast<ssize_t>(bytes.size()));
  std::string out;
  for (std::string more; !(more = next_of(socket.get())).empty();) out += more;
  return out;
}

}  // namespace

TEST_CASE("metrics are written as they can be read back", "[alarms]") {
  std::istringstream text(prometheus_text(some_metrics()));
  std::vector<std::string> comments;
  std::vector<ReadSample> samples;
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with("#")) {
      comments.push_back(line);
    } else {
      samples.push_back(read_sample(line));
    }
  }
  REQUIRE(comments.size() == 8);
  CHECK(comments[0] == "# HELP kdgat_frames_total Frames read,\\nby bus \\\\ interface");
  CHECK(comments[1] == "# TYPE kdgat_frames_total counter");
  CHECK(comments[7] == "# TYPE kdgat_none gauge");
  REQUIRE(samples.size() == 6);
  CHECK(std::stod(samples[0].value) == 12345678901.0);
  CHECK(samples[1].labels ==
        std::vector<std::pair<std::string, std::string>>{{"bus", kOddValue}, {"dir", "rx"}});
  CHECK(std::stod(samples[1].value) == 0.1);
  CHECK(samples[3].name == "kdgat_latency_seconds_sum");
  CHECK(samples[4].value == "14");
  CHECK(samples[5].value == "NaN");
}

TEST_CASE("the client library of Prometheus reads the same metrics", "[alarms]") {
  const auto python = python_with("prometheus_client.parser");
  if (!python) return;
  const ScratchFolder scratch;
  std::ofstream(scratch / "metrics") << prometheus_text(some_metrics());
  std::ofstream(scratch / "read.py")
      << "from prometheus_client.parser import text_string_to_metric_families as read\n"
         "for family in read(open('metrics').read()):\n"
         "  for s in family.samples: print(s.name, sorted(s.labels.items()), s.value)\n";
  const CommandResult read = run_shell(*python + " read.py", scratch.path());
  INFO(read.err);
  CHECK(read.exit_code == 0);
  CHECK_THAT(read.out, Contains("kdgat_frames_total [('bus', 'can0')] 12345678901.0") &&
                           Contains(R"(('bus', 'a "quoted" \\ value\nof two lines'))") &&
                           Contains("kdgat_latency_seconds_count [] 14.0"));
}

TEST_CASE("metrics are served on the loopback address, anew for each request", "[alarms]") {
  int asks = 0;
  const MetricsServer server(0, [&] {
    return std::vector<Metric>{{"asks", "Requests", "counter", {{{}, double(++asks)}}}};
  });
  const std::string first =
      asked(server.port(), "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
  CHECK_THAT(first, Catch::StartsWith("HTTP/1.1 200 OK\r\n") &&
                        Contains("Content-Type: text/plain; version=0.0.4") &&
                        Contains("Content-Length: 48\r\n") && Catch::EndsWith("\nasks 1\n"));
  CHECK(first.substr(first.find("\r\n\r\n") + 4).size() == 48);
  CHECK_THAT(asked(server.port(), "GET /metrics?x=1 HTTP/1.0\n\n"), Catch::EndsWith("\nasks 2\n"));
}

TEST_CASE("other requests get their answers", "[alarms]") {
  const MetricsServer server(0, [] { return std::vector<Metric>{}; });
  const auto status = [&](const std::string& bytes) {
    const std::string out = asked(server.port(), bytes);
    return out.substr(0, out.find("\r\n"));
  };
  CHECK(status("GET / HTTP/1.1\r\n\r\n") == "HTTP/1.1 404 Not Found");
  CHECK(status("GET /metrics/../x HTTP/1.1\r\n\r\n") == "HTTP/1.1 404 Not Found");
  CHECK(status("POST /metrics HTTP/1.1\r\nContent-Length: 0\r\n\r\n") ==
        "HTTP/1.1 405 Method Not Allowed");
  CHECK(status("hello\r\n\r\n") == "HTTP/1.1 400 Bad Request");
  CHECK(status("GET /metrics HTTP/2\r\n\r\n") == "HTTP/1.1 400 Bad Request");
  CHECK(status("GET /metrics HTTP/1.1\r\nX: " + std::string(8000, 'x')) ==
        "HTTP/1.1 431 Request Header Fields Too Large");
  CHECK(status("GET /metrics HTTP/1.1\r\n\r\n") == "HTTP/1.1 200 OK");
}

TEST_CASE("metrics are answered to requests for this computer alone", "[alarms]") {
  const MetricsServer server(0, [] { return std::vector<Metric>{}; });
  const auto status = [&](const std::string& headers) {
    const std::string out = asked(server.port(), "GET /metrics HTTP/1.1\r\n" + headers + "\r\n");
    return out.substr(0, out.find("\r\n"));
  };
  const std::string port = ":" + std::to_string(server.port());
  for (const std::string host : {"localhost", "LocalHost", "127.0.0.1", "[::1]"}) {
    INFO(host);
    CHECK(status("Host: " + host + port + "\r\n") == "HTTP/1.1 200 OK");
    CHECK(status("hOST:" + host + " \r\n") == "HTTP/1.1 200 OK");
  }
  for (const std::string host :
       {"evil.example", "localhost.evil.example", "evil.example:localhost",
        "localhost:80@evil.example", "127.0.0.1.evil.example", "[::2]", ""}) {
    INFO(host);
    CHECK(status("Host: " + host + "\r\n") == "HTTP/1.1 421 Misdirected Request");
    CHECK(status("Host: localhost\r\nHost: " + host + "\r\n") ==
          "HTTP/1.1 421 Misdirected Request");
  }
}

TEST_CASE("slow clients are left behind, and the others served", "[alarms]") {
  const MetricsServer server(
      0, [] { return std::vector<Metric>{}; }, 0.05);
  std::vector<OwnedFd> slow;
  for (int i = 0; i < 40; ++i) {  // more than there is room for
    slow.push_back(connected(server.port()));
    REQUIRE(::send(slow.back().get(), "GET", 3, MSG_NOSIGNAL) == 3);
  }
  // On a busy machine it may be too slow itself, then another time.
  CHECK(comes_true([&] {
    return asked(server.port(), "GET /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 200 OK");
  }));
  CHECK(next_of(slow.front().get()).empty());
}

TEST_CASE("a snapshot that fails is an answer, not an end", "[alarms]") {
  const MetricsServer server(0, []() -> std::vector<Metric> { throw std::runtime_error("odd"); });
  for (int i = 0; i < 2; ++i) {
    CHECK_THAT(asked(server.port(), "GET /metrics HTTP/1.1\r\n\r\n"),
               Contains("500") && Contains("odd"));
  }
}

TEST_CASE("a port that is taken is said", "[alarms]") {
  const auto none = [] { return std::vector<Metric>{}; };
  const MetricsServer server(0, none);
  CHECK_THROWS_WITH(MetricsServer(server.port(), none),
                    Contains("cannot listen on 127.0.0.1:" + std::to_string(server.port())) &&
                        Contains("Address already in use"));
}

TEST_CASE("the server ends with clients that wait", "[alarms]") {
  OwnedFd waits;
  {
    const MetricsServer server(
        0, [] { return std::vector<Metric>{}; }, 1e6);
    waits = connected(server.port());
    CHECK_THAT(asked(server.port(), "GET / HTTP/1.1\r\n\r\n"), Contains("404"));
  }
  CHECK(next_of(waits.get()).empty());
}
