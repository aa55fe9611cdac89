// PipedInput: what a pipe gives, as a file. A pipe can be read once and from its beginning alone,
// while finding out what data are, and how much there is, reads them more than once.
#pragma once

#include <filesystem>
#include <functional>

#include "kdgat/error.h"

namespace kdgat::data {

/// Whether `path` is a pipe or a terminal: /dev/stdin, a FIFO, what `<(zcat log.gz)` names.
bool is_pipe(const std::filesystem::path& path);

class PipedInput {
 public:
  /// Of a pipe, copies all it gives, as it is, into a file in a folder of its own below `folder`;
  /// of any other path there is nothing to do. Throws Error(kData) if a device that is no pipe is
  /// named, or for a full disk, and Error(kInterrupted) once `cancelled`.
  PipedInput(const std::filesystem::path& given, const std::filesystem::path& folder,
             const std::function<bool()>& cancelled);
  PipedInput(const PipedInput&) = delete;
  PipedInput& operator=(const PipedInput&) = delete;
  ~PipedInput();

  /// The file, or what was given.
  const std::filesystem::path& path() const { return path_; }
  /// `error` with the name that was given in the place of the file's.
  Error renamed(const Error& error) const;

 private:
  void remove();

  std::filesystem::path given_, path_;
  std::filesystem::path folder_;  // that holds the file; empty = no pipe was given
  int lock_ = -1;                 // of the folder: what nobody holds is cleared away by others
};

}  // namespace kdgat::data
