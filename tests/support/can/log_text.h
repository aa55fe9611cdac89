// What tests of the log importers share: files of text, standard input, the message of an error,
// and the folder of real logs. Knows no log format.
#pragma once

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "kdgat/error.h"

namespace kdgat::test {

inline void write_text(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

inline void write_gzip(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  gzFile file = gzopen(path.c_str(), "wb");
  REQUIRE(file != nullptr);
  REQUIRE(gzwrite(file, text.data(), static_cast<unsigned>(text.size())) ==
          static_cast<int>(text.size()));
  gzclose(file);
}

/// While it lives, the process reads `path` as its standard input.
class StandardInput {
 public:
  explicit StandardInput(const std::filesystem::path& path) : kept_(::dup(STDIN_FILENO)) {
    const int file = ::open(path.c_str(), O_RDONLY);
    ::dup2(file, STDIN_FILENO);
    ::close(file);
  }
  StandardInput(const StandardInput&) = delete;
  StandardInput& operator=(const StandardInput&) = delete;
  ~StandardInput() {
    ::dup2(kept_, STDIN_FILENO);
    ::close(kept_);
  }

 private:
  int kept_;
};

/// The message of the Error that `act` throws, whose code must be `code`; "" if it throws none.
template <class F>
std::string error_of(F act, ExitCode code) {
  try {
    act();
  } catch (const Error& error) {
    CHECK(error.code() == code);
    return error.what();
  }
  return "";
}

template <class F>
std::string data_error(F act) {
  return error_of(act, ExitCode::kData);
}

/// `name` below the folder of shared material ($KDGAT_SHARED, else ../shared); says so if absent.
inline std::optional<std::filesystem::path> shared_path(const std::string& name) {
  const char* named = std::getenv("KDGAT_SHARED");
  const std::filesystem::path path =
      std::filesystem::path(named != nullptr ? named : "../shared") / name;
  if (std::filesystem::exists(path)) return path;
  std::printf("skipped: %s is not there\n", path.c_str());
  return std::nullopt;
}

}  // namespace kdgat::test
