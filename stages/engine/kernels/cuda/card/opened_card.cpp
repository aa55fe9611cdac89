#include "engine/kernels/cuda/card/opened_card.h"

#include "engine/kernels/cuda/card/kernel_image.h"
#include "engine/kernels/cuda/card/library.h"
#include "kdgat/error.h"

namespace kdgat::kernels::cuda {

namespace {

void append(std::string& list, const char* between, const std::string& word) {
  if (!list.empty()) list += between;
  list += word;
}

/// What is said of names of which none can be used.
std::string reasons(std::string wrong, const std::string& absent) {
  if (!absent.empty()) append(wrong, "; ", "cannot open any of " + absent);
  return wrong;
}

/// use(name) of the first compiler that is there and for which it does not throw an Error. Throws
/// Error(kPlugin) with all reasons where there is none.
template <class Use>
auto first_usable(const std::vector<std::string>& names, const Use& use) {
  std::string wrong, absent;
  for (const std::string& name : names) {
    if (!Library::is_there(name)) {
      append(absent, ", ", name);
      continue;
    }
    try {
      return use(name);
    } catch (const Error& error) {
      append(wrong, "; ", error.what());
    }
  }
  throw Error(ExitCode::kPlugin, reasons(std::move(wrong), absent));
}

}  // namespace

OpenedCard open_card(const Driver& driver, int device, const std::vector<std::string>& names,
                     std::string_view source, const std::function<void*()>& stream) {
  const int architecture = driver.architecture(device);
  return first_usable(names, [&](const std::string& name) {
    const Nvrtc nvrtc({name});
    const std::string image = kernel_image(nvrtc, source, architecture);
    return OpenedCard{std::make_unique<CardLauncher>(driver, device, image, stream),
                      "NVRTC " + nvrtc.version() + " for sm_" + std::to_string(architecture)};
  });
}

FoundCompiler find_compiler(const std::vector<std::string>& names) {
  try {
    return first_usable(names, [](const std::string& name) {
      // One that opens may still lack what it compiles with.
      constexpr std::string_view kProbe =
          "extern \"C\" __global__ void probe(float* x) { *x = 1; }";
      const Nvrtc nvrtc({name});
      const std::vector<int>& known = nvrtc.architectures();
      if (known.empty()) throw Error(ExitCode::kPlugin, name + ": knows no card");
      const int oldest = known.front(), newest = known.back();
      for (const int architecture : {oldest, newest}) nvrtc.compile(kProbe, architecture);
      return FoundCompiler{true, "NVRTC " + nvrtc.version() + " compiles for sm_" +
                                     std::to_string(oldest) + " to sm_" + std::to_string(newest) +
                                     " (" + name + ")"};
    });
  } catch (const Error& error) {
    return {false, error.what()};
  }
}

}  // namespace kdgat::kernels::cuda
