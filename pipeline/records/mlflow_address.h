// What the address of an MLflow store means: of a server, or a folder in the layout of its file
// store.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>

namespace kdgat {

/// What a tracking address means: http:// and https:// a server, file: or a path a folder. Throws
/// Error(kUsage) for any other (databases are opened by a server of MLflow's), and for one of a
/// server in which the end of a password cannot be told.
enum class MlflowKind { kServer, kFolder };
MlflowKind mlflow_kind(const std::string& uri);
/// The folder of a file store's address.
std::filesystem::path mlflow_folder(const std::string& uri);

/// The address without user and password, and of a server without its query, which may hold a
/// token: for files and messages.
std::string without_password(const std::string& uri);

/// "token=abc" of http://HOST/mlflow?token=abc: a part of every request to this server.
std::string query_of(const std::string& uri);

/// "https://host:8080": scheme, host and port of a server's address in lower case, without the port
/// that the scheme has anyway; two addresses with the same are of one server.
std::string mlflow_origin(const std::string& uri);

/// What a variable of the environment says; "" if it is not set.
std::string variable(const char* name);

/// Where user and password of an address begin and end; equal if there are none.
std::pair<std::size_t, std::size_t> user_info(const std::string& uri);

}  // namespace kdgat
