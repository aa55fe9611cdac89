#include "pipeline/records/mlflow_address.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "kdgat/error.h"

namespace kdgat {
namespace {

bool is_server(const std::string& uri) {
  return uri.starts_with("http://") || uri.starts_with("https://");
}

/// Text behind which a password could stand unseen is not taken, and not repeated either.
void check_server(const std::string& uri) {
  const bool is_odd = std::any_of(uri.begin(), uri.end(), [](char c) {
    return static_cast<unsigned char>(c) <= ' ' || c == 0x7F ||
           std::string_view("\"'`<>\\").find(c) != std::string_view::npos;
  });
  if (!is_odd && uri.find('@', user_info(uri).second) == std::string::npos) return;
  throw Error(ExitCode::kUsage,
              "mlflow_uri: the address holds a blank, a quote or an @ behind its host",
              "in a user, password or path @ is written %40, / is %2F, a blank is %20");
}

}  // namespace

std::pair<std::size_t, std::size_t> user_info(const std::string& uri) {
  const std::size_t scheme = uri.find("://");
  if (scheme == std::string::npos) return {0, 0};
  const std::size_t begin = scheme + 3;
  const std::size_t at = uri.substr(0, uri.find('/', begin)).rfind('@');
  return at == std::string::npos || at < begin ? std::pair{begin, begin} : std::pair{begin, at + 1};
}

std::string mlflow_origin(const std::string& uri) {
  std::string out = without_password(uri);
  const std::size_t host = out.find("://");
  if (host != std::string::npos) out.resize(std::min(out.find('/', host + 3), out.size()));
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const std::string port = out.starts_with("https:") ? ":443" : ":80";
  if (out.ends_with(port)) out.resize(out.size() - port.size());
  return out;
}

MlflowKind mlflow_kind(const std::string& uri) {
  const std::size_t scheme = uri.find(':');
  if (is_server(uri)) {
    check_server(uri);
    return MlflowKind::kServer;
  }
  if (uri.starts_with("file:") || scheme == std::string::npos || uri.find('/') < scheme) {
    return MlflowKind::kFolder;
  }
  throw Error(ExitCode::kUsage, "mlflow_uri: " + without_password(uri) + " cannot be written to",
              "http://HOST:PORT of a server, or a folder; a database is opened by a server: "
              "mlflow server --backend-store-uri sqlite:///mlflow.db");
}

std::filesystem::path mlflow_folder(const std::string& uri) {
  if (uri.starts_with("file://")) return uri.substr(std::string("file://").size());
  if (uri.starts_with("file:")) return uri.substr(std::string("file:").size());
  return uri;
}

std::string without_password(const std::string& uri) {
  const auto [begin, end] = user_info(uri);
  const std::string out = uri.substr(0, begin) + uri.substr(end);
  return is_server(uri) ? out.substr(0, out.find_first_of("?#")) : out;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string query_of(const std::string& uri) {
  const std::size_t mark = is_server(uri) ? uri.find('?') : std::string::npos;
  if (mark == std::string::npos) return "";
  return uri.substr(mark + 1, uri.find('#', mark) - mark - 1);
}

}  // namespace kdgat
