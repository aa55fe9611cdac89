#include "pipeline/execute/machine_checks.h"

#include <sys/statvfs.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string_view>

#include "pipeline/plugin/libtorch.h"
#include "pipeline/plugin/plugin_host.h"
#include "pipeline/records/http.h"
#include "pipeline/show/text.h"
#include "pipeline/system/home_path.h"
#include "pipeline/system/machine.h"
#include "pipeline/system/program.h"

namespace kdgat {
namespace {

using Check = MachineCheck;

constexpr uint64_t kGiB = uint64_t{1} << 30;

bool is_cuda(const PluginCatalog& catalog) {
  if (const auto libtorch = find_libtorch(); libtorch && has_cuda(*libtorch)) return true;
  return std::any_of(catalog.all().begin(), catalog.all().end(), [](const auto& entry) {
    return entry.second.runtime.find("cuda") != std::string::npos;
  });
}

/// "580.159.04" of "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.04  Wed ...".
std::string driver_version(const std::string& text) {
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const bool is_version = word.find('.') != std::string::npos &&
                            word.find_first_not_of("0123456789.") == std::string::npos;
    if (is_version) return word;
  }
  return text;
}

Check check_device(const Machine& machine, const PluginCatalog& catalog) {
  const std::string driver = machine.read("proc/driver/nvidia/version");
  if (driver.empty()) return {"device", "ok", "cpu (no NVIDIA driver)", ""};
  if (!is_cuda(catalog)) {
    return {"device", "warn", "an NVIDIA driver is here, but LibTorch is built for the CPU",
            "a CUDA build of torch beside the package, or of source LIBTORCH_ROOT=DIR "
            "scripts/build cuda"};
  }
  return {"device", "ok", "cuda (NVIDIA driver " + driver_version(driver) + ")", ""};
}

/// What becomes of plugins that a process of its own opens, and LibTorch with them; "" if all is
/// well. What ends that process does not end this one.
std::string problem_of_opening(const std::vector<const PluginDescription*>& plugins) {
  std::vector<std::string> words = {"/proc/self/exe", "open-plugin"};
  for (const PluginDescription* plugin : plugins) words.push_back(plugin->library.string());
  const auto said = run_program(words);
  if (!said) return "this program cannot start itself";
  if (said->exit_code == 0) return "";
  if (said->exit_code > 128) {
    return "the process that did was killed by signal " + std::to_string(said->exit_code - 128);
  }
  const std::string first = said->err.substr(0, said->err.find('\n'));
  constexpr std::string_view kError = "error: ";
  return first.starts_with(kError) ? first.substr(kError.size()) : first;
}

Check check_libtorch(const PluginCatalog& catalog) {
  std::set<std::string> runtimes;
  const PluginDescription* one = nullptr;
  for (const auto& [name, plugin] : catalog.all()) {
    if (plugin.runtime == "none") continue;
    runtimes.insert(plugin.runtime);
    one = &plugin;
  }
  if (runtimes.empty()) {
    return {"LibTorch", "warn", "no stage uses it", "scripts/build builds the stages"};
  }
  std::string text;
  for (const std::string& runtime : runtimes) text += (text.empty() ? "" : ", ") + runtime;
  if (runtimes.size() == 1) {
    const std::string problem = problem_of_opening({one});
    if (problem.empty()) {
      if (const auto folder = find_libtorch()) text += " in " + folder->string();
      return {"LibTorch", "ok", text, ""};
    }
    return {"LibTorch", "fail", text + " cannot be used: " + problem,
            "ldd " + one->library.string() + "; scripts/setup fetches it, scripts/build links it"};
  }
  return {"LibTorch", "fail", "plugins are built for different ones: " + text,
          "scripts/build builds all with one"};
}

/// By which kernels a GPU would compute, and which NVRTC makes them: asked of the engine, in a
/// process of its own.
Check check_kernels(const PluginCatalog& catalog) {
  const auto& all = catalog.all();
  const auto one = std::find_if(all.begin(), all.end(),
                                [](const auto& entry) { return entry.second.runtime != "none"; });
  if (one == all.end()) return {"kernels", "ok", "of the CPU", ""};
  const auto said =
      run_program({"/proc/self/exe", "open-plugin", "--kernels", one->second.library.string()});
  // What is wrong where nothing is said, the check of LibTorch says.
  const std::string line =
      said && said->exit_code == 0 ? said->out.substr(0, said->out.find('\n')) : "";
  const std::size_t end = line.find(' ');
  const std::string who = line.substr(0, end);
  const std::string words = end == std::string::npos ? "" : line.substr(end + 1);
  const char* wanted = std::getenv("KDGAT_KERNELS");
  const bool is_asked = wanted != nullptr && std::string_view(wanted) == "plain";
  if (who == "plain" && !is_asked) {
    return {"kernels", "warn", words,
            "pip install nvidia-cuda-nvrtc-cu12 (cards older than sm_75 need it), or "
            "KDGAT_NVRTC=PATH of a libnvrtc.so"};
  }
  if (who == "card" || who == "plain") return {"kernels", "ok", words, ""};
  return {"kernels", "ok", "of the CPU" + (words.empty() ? "" : "; for a GPU: " + words), ""};
}

Check check_instructions() {
#if defined(__x86_64__)
  const bool has_avx2 = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  const bool has_avx512 = has_avx2 && __builtin_cpu_supports("avx512f") != 0 &&
                          __builtin_cpu_supports("avx512bw") != 0 &&
                          __builtin_cpu_supports("avx512dq") != 0 &&
                          __builtin_cpu_supports("avx512vl") != 0;
#else
  const bool has_avx2 = false, has_avx512 = false;
#endif
  std::string text = has_avx512 ? "avx512, avx2, portable"
                     : has_avx2 ? "avx2, portable"
                                : "portable";
  const char* forced = std::getenv("KDGAT_ISA");
  if (forced == nullptr || *forced == '\0') return {"instructions", "ok", text, ""};
  const std::string wanted = forced;
  if (wanted != "portable" && !(wanted == "avx2" && has_avx2) &&
      !(wanted == "avx512" && has_avx512)) {
    return {"instructions", "fail", "KDGAT_ISA=" + wanted + ", this processor has " + text,
            "unset KDGAT_ISA"};
  }
  return {"instructions", "ok", text + "; KDGAT_ISA=" + wanted, ""};
}

Check check_plugins(const PluginCatalog& catalog) {
  std::vector<const PluginDescription*> plugins;
  std::string names;
  for (const auto& [name, plugin] : catalog.all()) {
    plugins.push_back(&plugin);
    names += (names.empty() ? "" : ", ") + name;
  }
  if (!catalog.problems().empty()) {
    const Diagnostic& first = catalog.problems().begin()->second;
    return {"plugins", "fail", first.where + ": " + first.message, first.hint};
  }
  if (plugins.empty()) {
    return {"plugins", "fail", "none found", "scripts/build, or kdgat --plugin-dir DIR"};
  }
  try {
    check_compatible(plugins);
  } catch (const Error& e) {
    return {"plugins", "fail", e.diagnostics().front().message, e.diagnostics().front().hint};
  }
  for (const PluginDescription* plugin : plugins) {
    std::error_code ignored;
    if (!std::filesystem::exists(plugin->library, ignored)) {
      return {"plugins", "fail", plugin->library.string() + " is missing", "scripts/build"};
    }
  }
  // All at once, which takes a moment; which one it is only where something is wrong.
  if (problem_of_opening(plugins).empty()) return {"plugins", "ok", names, ""};
  for (const PluginDescription* plugin : plugins) {
    const std::string problem = problem_of_opening({plugin});
    if (problem.empty()) continue;
    return {"plugins", "fail", plugin->name + " cannot be opened: " + problem,
            "ldd " + plugin->library.string() + "; scripts/build builds it again"};
  }
  return {"plugins", "fail", "each can be opened alone, but not all in one process",
          "scripts/build builds all with one LibTorch"};
}

Check check_cores(const Machine& machine) {
  const auto quota = machine.cpu_quota();
  std::string text = std::to_string(machine.cores()) + " for this process";
  if (quota) text += ", cgroup quota " + nlohmann::json(*quota).dump();
  if (machine.threads() < machine.cores()) {
    text += ", OMP_NUM_THREADS allows " + std::to_string(machine.threads());
  }
  return {"cores", "ok", text, ""};
}

Check check_memory(const Machine& machine) {
  const uint64_t free = machine.memory_for_runs();
  std::string text = format_bytes(free) + " free of " + format_bytes(machine.memory_total());
  for (const MemoryBound& one : machine.memory_limits()) {
    text += ", " + one.name + " " + format_bytes(one.room()) + " of " + format_bytes(one.limit);
  }
  if (free >= kGiB) return {"memory", "ok", text, ""};
  return {"memory", "warn", text, "close programs, or ask the scheduler for more (--mem)"};
}

Check check_mappings(const Machine& machine) {
  constexpr int64_t kEnough = 65530;
  const int64_t maximum = std::atoll(machine.read("proc/sys/vm/max_map_count").c_str());
  const std::string text = "vm.max_map_count " + std::to_string(maximum);
  if (maximum >= kEnough) return {"mappings", "ok", text, ""};
  return {"mappings", "warn", text, "sysctl -w vm.max_map_count=65530"};
}

/// Without it records go to files alone.
Check check_curl() {
  constexpr double kSeconds = 5;
  const CurlProgram curl = find_curl(deadline_in(kSeconds));
  if (!curl.problem.empty()) return {"curl", "warn", curl.problem, kCurlHint};
  return {"curl", "ok", curl.version + " in " + curl.path, ""};
}

Check check_disk() {
  const char* named = std::getenv("KDGAT_ROOT");
  std::filesystem::path folder =
      std::filesystem::absolute(named == nullptr ? "runs" : expand_home_path(named));
  const std::string shown = folder.string();
  std::error_code ignored;
  while (!std::filesystem::exists(folder, ignored) && folder.has_relative_path()) {
    folder = folder.parent_path();
  }
  struct statvfs disk {};
  if (::statvfs(folder.c_str(), &disk) != 0) {
    return {"disk", "fail", "cannot look at " + shown, "kdgat run --root DIR"};
  }
  const uint64_t free = static_cast<uint64_t>(disk.f_bavail) * disk.f_frsize;
  const std::string text = format_bytes(free) + " free for " + shown;
  if (free >= kGiB) return {"disk", "ok", text, ""};
  return {"disk", "warn", text, "kdgat run --root DIR on a larger disk"};
}

}  // namespace

std::vector<MachineCheck> check_machine(const PluginCatalog& catalog) {
  const Machine machine;
  return {check_device(machine, catalog), check_libtorch(catalog),
          check_kernels(catalog),         check_instructions(),
          check_plugins(catalog),         check_curl(),
          check_cores(machine),           check_memory(machine),
          check_mappings(machine),        check_disk()};
}

}  // namespace kdgat
