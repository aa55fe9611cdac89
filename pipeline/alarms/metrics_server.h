// GET /metrics on the loopback address: the numbers of a run for a Prometheus of this computer.
// Owns the socket and a thread; the only place of the program that listens for connections
// (scripts/check_layers). It knows no number by name.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "pipeline/alarms/metrics_text.h"

namespace kdgat {

class MetricsServer {
 public:
  /// On 127.0.0.1; port 0: any that is free. `snapshot` is asked at each request, on the server's
  /// thread, and must not wait for long. `seconds`: what a client may take. Throws Error(kUsage)
  /// where the port cannot be had. A request whose Host is not localhost, 127.0.0.1 or [::1] is
  /// refused with 421, so that no page of the web reads the numbers through a name of its own.
  MetricsServer(int port, std::function<std::vector<Metric>()> snapshot, double seconds = 5);
  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;
  /// Ends it, in the middle of an answer too.
  ~MetricsServer();

  int port() const { return port_; }

 private:
  class Server;
  std::unique_ptr<Server> server_;
  int port_ = 0;
};

}  // namespace kdgat
