#include "engine/kernels/cuda/card/driver.h"

#include <utility>

#include "kdgat/error.h"

namespace kdgat::kernels::cuda {

namespace {
// Of cuda.h.
constexpr int kMajor = 75, kMinor = 76;
constexpr int kOutOfMemory = 2;
}  // namespace

Driver::Driver(const std::vector<std::string>& names) : library_(names) {
  int (*init)(unsigned) = nullptr;
  library_.find(init, "cuInit");
  library_.find(error_, "cuGetErrorString");
  library_.find(device_, "cuDeviceGet");
  library_.find(attribute_, "cuDeviceGetAttribute");
  library_.find(total_, "cuDeviceTotalMem_v2");
  library_.find(retain_, "cuDevicePrimaryCtxRetain");
  library_.find(context_, "cuCtxGetCurrent");
  library_.find(set_context_, "cuCtxSetCurrent");
  library_.find(load_, "cuModuleLoadData");
  library_.find(function_, "cuModuleGetFunction");
  library_.find(launch_, "cuLaunchKernel");
  check(init(0), "the driver cannot be used");
}

void Driver::check(int status, const std::string& what) const {
  if (status == 0) return;
  const char* words = nullptr;
  error_(status, &words);
  const std::string all =
      what + ": " + (words == nullptr ? "error " + std::to_string(status) : words);
  if (status == kOutOfMemory) throw OutOfCardMemory(all);
  throw Error(ExitCode::kPlugin, all);
}

int Driver::architecture(int device) const {
  int handle = 0, major = 0, minor = 0;
  check(device_(&handle, device), "device " + std::to_string(device));
  check(attribute_(&major, kMajor, handle), "compute capability");
  check(attribute_(&minor, kMinor, handle), "compute capability");
  return 10 * major + minor;
}

int64_t Driver::memory(int device) const {
  int handle = 0;
  size_t bytes = 0;
  check(device_(&handle, device), "device " + std::to_string(device));
  check(total_(&bytes, handle), "memory");
  return static_cast<int64_t>(bytes);
}

CardLauncher::CardLauncher(const Driver& driver, int device, const std::string& image,
                           std::function<void*()> stream)
    : driver_(driver), stream_(std::move(stream)) {
  int handle = 0;
  driver_.check(driver_.device_(&handle, device), "device " + std::to_string(device));
  driver_.check(driver_.retain_(&context_, handle), "the device's context");
  enter();
  driver_.check(driver_.load_(&module_, image.c_str()), "the compiled kernels are not taken");
}

void CardLauncher::enter() const {
  void* now = nullptr;
  driver_.check(driver_.context_(&now), "the thread's context");
  if (now != context_) driver_.check(driver_.set_context_(context_), "the thread's context");
}

void* CardLauncher::function_of(const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto known = functions_.find(name);
  if (known != functions_.end()) return known->second;
  void* function = nullptr;
  driver_.check(driver_.function_(&function, module_, name.c_str()), "kernel " + name);
  functions_.emplace(name, function);
  return function;
}

void CardLauncher::launch(const char* kernel, bool is_double, const Grid& grid, const void* args) {
  const std::string name = std::string(kernel) + (is_double ? "_double" : "_float");
  try {
    enter();
    void* parameters[] = {const_cast<void*>(args)};
    driver_.check(driver_.launch_(function_of(name), static_cast<unsigned>(grid.x),
                                  static_cast<unsigned>(grid.y), 1, kThreads, 1, 1, 0, stream_(),
                                  parameters, nullptr),
                  "kernel " + name);
  } catch (const Error& error) {
    throw Error(ExitCode::kStageFailed, error.what());
  }
}

}  // namespace kdgat::kernels::cuda
