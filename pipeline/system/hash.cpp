#include "pipeline/system/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "kdgat/error.h"

namespace kdgat {
namespace {

std::string hex(const XXH128_hash_t& hash) {
  std::array<char, 33> text{};
  std::snprintf(text.data(), text.size(), "%016llx%016llx",
                static_cast<unsigned long long>(hash.high64),
                static_cast<unsigned long long>(hash.low64));
  return text.data();
}

}  // namespace

std::string hash_text(std::string_view text) { return hex(XXH3_128bits(text.data(), text.size())); }

std::string hash_file(const std::filesystem::path& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"),
                                                             &std::fclose);
  const auto fail = [&] {
    throw Error(ExitCode::kPlugin, "cannot read " + path.string() + ": " + std::strerror(errno));
  };
  if (!file) fail();
  const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state(XXH3_createState(),
                                                                              &XXH3_freeState);
  XXH3_128bits_reset(state.get());
  std::vector<char> buffer(1 << 18);
  while (const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), file.get())) {
    XXH3_128bits_update(state.get(), buffer.data(), got);
  }
  if (std::ferror(file.get()) != 0) fail();
  return hex(XXH3_128bits_digest(state.get()));
}

}  // namespace kdgat
