// Who works on a run or a step: a lock on the file `lock` of its folder, held by the program and by
// its stages, with the machine and process of its owner inside. Knows no run.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "pipeline/system/owned_fd.h"

namespace kdgat {

/// In a run's folder; locked by the process that writes the records of the run.
inline constexpr const char* kRecordsLock = "records.lock";

/// Told once, in words, whose end is waited for.
using OnWait = std::function<void(const std::string& whom)>;

std::string host_name();

/// Locks a file, made if it is not there, as flock() does; empty if another holds it and `how` has
/// LOCK_NB. Throws Error(kData).
OwnedFd lock_file(const std::filesystem::path& path, int how);

/// Takes the lock of a folder if it is free, and leaves the name of its owner in the file.
OwnedFd try_lock(const std::filesystem::path& folder);

/// The same, waiting for the last stage of a program that died. It has been told to leave, and does
/// so at its next checkpoint: to begin anew beside it would throw away what it is about to write.
/// `stage`: in words. Throws Error with the code of a signal that comes while waiting.
OwnedFd lock_after_orphan(const std::filesystem::path& folder, const std::string& stage,
                          const OnWait& on_wait);

/// Whether a living process holds the lock of a run.
bool is_worked_on(const std::filesystem::path& run_folder);

/// Whether a process writes the records of a run: it may outlive the program.
bool are_records_written(const std::filesystem::path& folder);

/// "machine process" of who took the lock last.
std::string owner_of(const std::filesystem::path& folder);

}  // namespace kdgat
