#include "pipeline/system/clock.h"

#include <sys/random.h>

#include <array>
#include <chrono>
#include <ctime>

#include "kdgat/error.h"

namespace kdgat {

std::string make_run_id(int64_t milliseconds) {
  constexpr const char* kDigits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
  constexpr int kTimeDigits = 10, kRandomDigits = 16;
  std::array<unsigned char, kRandomDigits> random{};
  if (::getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size())) {
    throw Error(ExitCode::kStageFailed, "the system gives no random numbers");
  }
  std::string id(kTimeDigits, '0');
  for (int i = kTimeDigits - 1; i >= 0; --i, milliseconds >>= 5) id[i] = kDigits[milliseconds & 31];
  for (const unsigned char byte : random) id += kDigits[byte & 31];
  return id;
}

std::string iso_now() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text.data();
}

double unix_now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<double>(std::chrono::duration_cast<std::chrono::milliseconds>(now).count()) /
         1000;
}

}  // namespace kdgat
