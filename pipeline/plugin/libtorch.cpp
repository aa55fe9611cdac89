#include "pipeline/plugin/libtorch.h"

#include <dlfcn.h>

#include <cstdlib>
#include <string_view>
#include <vector>

#include "kdgat/error.h"
#include "pipeline/system/machine.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLibrary = "libtorch_cpu.so";
constexpr const char* kCudaLibrary = "libtorch_cuda.so";
constexpr std::string_view kRuntime = "libtorch ";

void* open_one(const fs::path& library) {
  void* handle = ::dlopen(library.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (handle != nullptr) return handle;
  const char* why = ::dlerror();
  throw Error(ExitCode::kPlugin,
              "cannot load LibTorch: " + std::string(why == nullptr ? library.string() : why),
              "see kdgat doctor");
}

/// The version that a loaded library says it is of: at::show_config() has TORCH_VERSION=2.13.0.
/// Its name holds the C++ ABI, so one that was built otherwise does not have it.
std::string version_of(void* library, const fs::path& folder) {
  using ShowConfig = std::string (*)();
  const auto show = reinterpret_cast<ShowConfig>(::dlsym(library, "_ZN2at11show_configB5cxx11Ev"));
  if (show == nullptr) {
    throw Error(ExitCode::kPlugin,
                "the LibTorch in " + folder.string() + " is built with another C++ ABI",
                "LibTorch 2.11 and later, or builds named cxx11-abi, can be used");
  }
  constexpr std::string_view kKey = "TORCH_VERSION=";
  const std::string text = show();
  const std::size_t at = text.find(kKey);
  if (at == std::string::npos) return "unknown";
  const std::size_t begin = at + kKey.size();
  return text.substr(begin, text.find_first_of(", \n", begin) - begin);
}

/// "2.13.0" of "2.13.0+cpu": what follows names the devices of a build.
std::string release(const std::string& version) { return version.substr(0, version.find('+')); }

bool has_nvidia_driver() {
  std::error_code ignored;
  return !Machine().read("proc/driver/nvidia/version").empty() ||
         fs::exists("/dev/nvidiactl", ignored) || fs::exists("/dev/dxg", ignored);
}

/// Opens it all; what version it is.
std::string open_from(const fs::path& folder) {
  // These first, from this folder: what libtorch_cpu.so asks for by name alone, LD_LIBRARY_PATH
  // would answer before the folder that it lies in.
  std::error_code ignored;
  for (const char* name : {"libgomp.so.1", "libc10.so"}) {
    if (fs::exists(folder / name, ignored)) open_one(folder / name);
  }
  void* library = open_one(folder / kLibrary);
  // Before the version is asked for: show_config() looks for CUDA, and a process that looked once
  // and found none has none for good.
  if (has_cuda(folder) && has_nvidia_driver()) open_one(folder / kCudaLibrary);
  return version_of(library, folder);
}

/// "" where no LibTorch is found.
const std::string& loaded_version() {
  static const std::string version = [] {
    const std::optional<fs::path> folder = find_libtorch();
    return folder ? open_from(*folder) : "";
  }();
  return version;
}

}  // namespace

std::optional<fs::path> find_libtorch() {
  std::error_code ignored;
  const fs::path here = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  std::vector<fs::path> folders = {here / "lib/torch", here / "../../torch/lib"};
  const char* root = std::getenv("LIBTORCH_ROOT");
  if (root != nullptr && *root != '\0') folders.push_back(fs::path(root) / "lib");
  for (const fs::path& folder : folders) {
    const fs::path library = fs::canonical(folder / kLibrary, ignored);
    if (!ignored) return library.parent_path();
  }
  return std::nullopt;
}

bool has_cuda(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(folder / kCudaLibrary, ignored);
}

void load_libtorch() { loaded_version(); }

void check_libtorch(const std::string& runtime) {
  if (!runtime.starts_with(kRuntime)) return;
  const std::string& version = loaded_version();
  const std::string wanted =
      runtime.substr(kRuntime.size(), runtime.find(' ', kRuntime.size()) - kRuntime.size());
  if (version.empty() || release(version) == release(wanted)) return;
  throw Error(ExitCode::kPlugin,
              "the LibTorch in " + find_libtorch()->string() + " is version " + version +
                  ", the stages are built for " + wanted,
              "install the wheel for " + release(version) + ", kdgat-" KDGAT_VERSION "+torch" +
                  release(version) + "-*.whl (scripts/package/wheel --torch " + release(version) +
                  " makes it), or the other LibTorch: pip install torch==" + release(wanted));
}

std::string kernels_in_words() {
  void* engine = ::dlopen("libkdgat_engine.so", RTLD_NOLOAD | RTLD_LAZY);
  using InWords = const char* (*)();
  const auto words = engine == nullptr
                         ? nullptr
                         : reinterpret_cast<InWords>(::dlsym(engine, "kdgat_kernels_in_words"));
  return words == nullptr ? "" : words();
}

}  // namespace kdgat
