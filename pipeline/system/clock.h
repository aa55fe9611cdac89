// What time it is, to read and to count with, and names that sort by it.
#pragma once

#include <cstdint>
#include <string>

namespace kdgat {

/// 26 characters that sort by time (ULID).
std::string make_run_id(int64_t milliseconds);
/// "2026-03-01T18:04:09Z"
std::string iso_now();
/// Seconds since 1970, to the millisecond.
double unix_now();

}  // namespace kdgat
