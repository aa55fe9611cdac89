// A library that stands for NVIDIA's: NVRTC, whose code is the source, and a driver with one card
// of compute capability $FAKE_CUDA_CARD, which runs the kernels as loops. Built as a module that
// tests open; what is asked of it is answered by $FAKE_CUDA_SAYS:
//   no card   cuInit fails
//   no code   the compiler finds an error
//   refuses   the driver takes no code
//   faults    kernels do not start
//   full      the card has no memory for code, nor for a kernel to start
//   needs builtins   the compiler fails unless libnvrtc-builtins.so.99 is open
// A copy of it whose file is called *sm90* is a compiler for sm_90 and newer alone.
#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <string_view>

#include "support/cards/cuda_shim.h"

namespace {

bool says(const char* what) {
  const char* said = std::getenv("FAKE_CUDA_SAYS");
  return said != nullptr && std::strcmp(said, what) == 0;
}

struct Made {
  std::string source, code;
};
Made& of(void* program) { return *static_cast<Made*>(program); }
const std::string& log_of() {
  static const std::string log =
      "ptxas info    : Compiling entry function 'one_float' for 'sm_80'\n"
      "ptxas info    : Function properties for one_float\n"
      "ptxas         .     16 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads\n"
      "ptxas info    : Used 40 registers, used 1 barriers, 2048 bytes smem, 364 bytes cmem[0]\n";
  static const std::string error = "kdgat.cu(1): error: made up";
  return says("no code") ? error : log;
}
bool is_newer() {
  Dl_info found{};
  return ::dladdr(reinterpret_cast<const void*>(&is_newer), &found) != 0 &&
         std::strstr(found.dli_fname, "sm90") != nullptr;
}
/// As NVRTC 13.0 looks for them: by name alone.
bool has_builtins() { return ::dlopen("libnvrtc-builtins.so.99", RTLD_LAZY) != nullptr; }
int current = 0;  // the context of the one thread that asks

}  // namespace

extern "C" {

#define SEEN __attribute__((visibility("default")))

SEEN const char* nvrtcGetErrorString(int) { return "NVRTC_ERROR_COMPILATION"; }
SEEN int nvrtcVersion(int* major, int* minor) {
  *major = is_newer() ? 13 : 12;
  *minor = is_newer() ? 5 : 3;
  return 0;
}
SEEN int nvrtcGetNumSupportedArchs(int* count) {
  *count = 2;
  return 0;
}
SEEN int nvrtcGetSupportedArchs(int* list) {
  list[0] = is_newer() ? 100 : 80;
  list[1] = is_newer() ? 90 : 75;
  return 0;
}
SEEN int nvrtcCreateProgram(void** program, const char* source, const char*, int,
                            const char* const*, const char* const*) {
  *program = new Made{source, {}};
  return 0;
}
SEEN int nvrtcDestroyProgram(void** program) {
  delete static_cast<Made*>(*program);
  *program = nullptr;
  return 0;
}
SEEN int nvrtcCompileProgram(void* program, int count, const char* const* options) {
  if (says("no code") || (says("needs builtins") && !has_builtins())) return 6;
  for (int i = 0; i < count; ++i) of(program).code += std::string(options[i]) + "\n";
  of(program).code += of(program).source;
  return 0;
}
SEEN int nvrtcGetProgramLogSize(void*, size_t* size) {
  *size = log_of().size() + 1;
  return 0;
}
SEEN int nvrtcGetProgramLog(void*, char* log) {
  std::memcpy(log, log_of().c_str(), log_of().size() + 1);
  return 0;
}
SEEN int nvrtcGetCUBINSize(void* program, size_t* size) {
  *size = of(program).code.size();
  return 0;
}
SEEN int nvrtcGetCUBIN(void* program, char* code) {
  std::memcpy(code, of(program).code.data(), of(program).code.size());
  return 0;
}
SEEN int nvrtcGetPTXSize(void* program, size_t* size) { return nvrtcGetCUBINSize(program, size); }
SEEN int nvrtcGetPTX(void* program, char* code) { return nvrtcGetCUBIN(program, code); }

SEEN int cuInit(unsigned) { return says("no card") ? 100 : 0; }
SEEN int cuGetErrorString(int status, const char** words) {
  *words = status == 100 ? "no CUDA-capable device is detected"
           : status == 2 ? "out of memory"
                         : "made up";
  return 0;
}
SEEN int cuDeviceGet(int* handle, int ordinal) {
  *handle = ordinal + 7;
  return ordinal == 0 ? 0 : 101;
}
SEEN int cuDeviceGetAttribute(int* value, int attribute, int) {
  const char* card = std::getenv("FAKE_CUDA_CARD");
  const int architecture = card == nullptr ? 80 : std::atoi(card);
  *value = attribute == 75 ? architecture / 10 : attribute == 76 ? architecture % 10 : -1;
  return 0;
}
SEEN int cuDeviceTotalMem_v2(size_t* bytes, int) {
  *bytes = size_t{24} << 30;
  return 0;
}
SEEN int cuDevicePrimaryCtxRetain(void** context, int handle) {
  *context = &current;
  return handle == 7 ? 0 : 101;
}
SEEN int cuCtxGetCurrent(void** context) {
  *context = current == 0 ? nullptr : &current;
  return 0;
}
SEEN int cuCtxSetCurrent(void* context) {
  current = context == &current ? 1 : 0;
  return 0;
}
SEEN int cuModuleLoadData(void** module, const void* image) {
  static std::string loaded;
  loaded = static_cast<const char*>(image);
  *module = &loaded;
  if (says("full")) return 2;
  return current == 0 || says("refuses") ? 200 : 0;
}
SEEN int cuModuleGetFunction(void** function, void*, const char* name) {
  static std::set<std::string> functions;
  *function = const_cast<std::string*>(&*functions.insert(name).first);
  const std::string_view all(name);
  const std::string kernel(all.substr(0, all.rfind('_')));
  return kdgat::kernels::cuda::shim::kernels().contains(kernel) ? 0 : 500;
}
SEEN int cuLaunchKernel(void* function, unsigned x, unsigned y, unsigned z, unsigned threads_x,
                        unsigned threads_y, unsigned threads_z, unsigned, void* stream,
                        void** parameters, void** more) {
  using namespace kdgat::kernels::cuda;
  const bool is_right = current != 0 && z == 1 && threads_x == kThreads && threads_y == 1 &&
                        threads_z == 1 && more == nullptr && stream == nullptr;
  if (!is_right || says("faults")) return 700;
  if (says("full")) return 2;
  const std::string& name = *static_cast<const std::string*>(function);
  const std::size_t end = name.rfind('_');
  ShimLauncher().launch(name.substr(0, end).c_str(), name.substr(end) == "_double", {x, y},
                        parameters[0]);
  return 0;
}
}
