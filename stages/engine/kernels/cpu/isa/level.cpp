#include "engine/kernels/cpu/isa/level.h"

#include <atomic>
#include <cstdlib>

#include "kdgat/error.h"

namespace kdgat::kernels {

namespace {

struct Level {
  const char* name;
  const isa::Tables<float>& (*tables_float)();
  const isa::Tables<double>& (*tables_double)();
};

constexpr Level kLevels[] = {
    {"portable", isa::portable::tables_float, isa::portable::tables_double},
#if defined(__x86_64__)
    {"avx2", isa::avx2::tables_float, isa::avx2::tables_double},
    {"avx512", isa::avx512::tables_float, isa::avx512::tables_double},
#endif
};

bool is_supported(std::string_view name) {
#if defined(__x86_64__)
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (name == "avx2") return avx2;
  if (name == "avx512") {
    return avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  }
#endif
  return name == "portable";
}

const Level& find(std::string_view name, const std::string& where) {
  std::string known;
  for (const Level& level : kLevels) {
    if (!is_supported(level.name)) continue;
    if (name == level.name) return level;
    known += (known.empty() ? "" : ", ") + std::string(level.name);
  }
  throw Error(ExitCode::kUsage, "no instruction set '" + std::string(name) + "' on this machine",
              "use " + known, where);
}

const Level& choose() {
  if (const char* wanted = std::getenv("KDGAT_ISA"); wanted != nullptr && *wanted != '\0') {
    return find(wanted, "KDGAT_ISA");
  }
  const Level* best = nullptr;
  for (const Level& level : kLevels) {
    if (is_supported(level.name)) best = &level;
  }
  return *best;
}

std::atomic<const Level*>& current() {
  static std::atomic<const Level*> level{&choose()};
  return level;
}

}  // namespace

std::string_view isa_level() { return current().load()->name; }

std::vector<std::string> isa_levels_available() {
  std::vector<std::string> out;
  for (const Level& level : kLevels) {
    if (is_supported(level.name)) out.emplace_back(level.name);
  }
  return out;
}

void set_isa_level(std::string_view name) { current() = &find(name, ""); }

template <>
const isa::Tables<float>& loops<float>() {
  return current().load()->tables_float();
}
template <>
const isa::Tables<double>& loops<double>() {
  return current().load()->tables_double();
}

}  // namespace kdgat::kernels
