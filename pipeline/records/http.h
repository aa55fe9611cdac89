// Requests over HTTP and HTTPS. The library behind them takes longer to load than the program has
// for its help, and a look-up of a name has no time-out: so they are made by a process of their
// own, kdgat_http (http_child.cpp), which is started at the first request and killed when one takes
// too long.
#pragma once

#include <functional>
#include <map>
#include <string>

namespace kdgat {

struct HttpRequest {
  std::string method;  ///< GET, POST, PUT or PATCH
  std::string url;     ///< http:// or https://
  std::map<std::string, std::string> headers{};
  std::string body{};
  /// Headers, and a part of the query, that only the origin of `url` is sent: no other to which it
  /// redirects.
  std::map<std::string, std::string> credentials{};
  std::string query{};
};

struct HttpResponse {
  int status = 0;  ///< 0 = no response: `error` says why
  std::string body{};
  std::string error{};
};

/// Never throws for what the network does.
using Http = std::function<HttpResponse(const HttpRequest& request)>;

/// Through kdgat_http; one that lives as long as what is returned. No request takes longer than
/// `seconds`, no answer more than 4 MiB. Certificates are checked against the system's, or against
/// those of MLFLOW_TRACKING_SERVER_CERT_PATH; not at all with MLFLOW_TRACKING_INSECURE_TLS=true.
Http http_process(double seconds);

}  // namespace kdgat
