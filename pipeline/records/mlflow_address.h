// What the address of an MLflow store means: of a server, or a folder in the layout of its file
// store.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>

namespace kdgat {

/// What a tracking address means: http:// and https:// a server, file: or a path a folder. Throws
/// Error(kUsage) for any other (databases are opened by a server of MLflow's).
enum class MlflowKind { kServer, kFolder };
MlflowKind mlflow_kind(const std::string& uri);
/// The folder of a file store's address.
std::filesystem::path mlflow_folder(const std::string& uri);

/// The address without user and password, for files and messages.
std::string without_password(const std::string& uri);

/// Where user and password of an address begin and end; equal if there are none.
std::pair<std::size_t, std::size_t> user_info(const std::string& uri);

}  // namespace kdgat
