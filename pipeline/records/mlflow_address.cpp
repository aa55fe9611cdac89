#include "pipeline/records/mlflow_address.h"

#include "kdgat/error.h"

namespace kdgat {

std::pair<std::size_t, std::size_t> user_info(const std::string& uri) {
  const std::size_t scheme = uri.find("://");
  if (scheme == std::string::npos) return {0, 0};
  const std::size_t begin = scheme + 3;
  const std::size_t at = uri.substr(0, uri.find('/', begin)).rfind('@');
  return at == std::string::npos || at < begin ? std::pair{begin, begin} : std::pair{begin, at + 1};
}

MlflowKind mlflow_kind(const std::string& uri) {
  const std::size_t scheme = uri.find(':');
  if (uri.starts_with("http://") || uri.starts_with("https://")) return MlflowKind::kServer;
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
  return uri.substr(0, begin) + uri.substr(end);
}

}  // namespace kdgat
