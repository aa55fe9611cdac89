// Requests over HTTP and HTTPS, made by the program curl, one process a request: it is killed when
// one takes too long, a look-up of a name too. What it is told goes over its standard input, as
// arguments are for everybody to see. It reads no configuration of the user's, takes no proxy and
// follows no redirect: what goes to another origin is decided here.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "pipeline/system/subprocess.h"

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

/// By curl. No request takes longer than `seconds`, no answer more than 4 MiB. Certificates are
/// checked against the system's, or against those of MLFLOW_TRACKING_SERVER_CERT_PATH; not at all
/// with MLFLOW_TRACKING_INSECURE_TLS=true.
Http http_process(double seconds);

struct CurlProgram {
  std::string path, version;
  std::string problem;  ///< why it makes no requests; "" where it does
};
/// The curl of PATH.
CurlProgram find_curl(Deadline until);
inline constexpr const char* kCurlHint = "apt-get install curl";

}  // namespace kdgat
