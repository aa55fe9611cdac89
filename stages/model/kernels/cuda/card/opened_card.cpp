#include "model/kernels/cuda/card/opened_card.h"

#include "kdgat/error.h"
#include "model/kernels/cuda/card/kernel_image.h"
#include "model/kernels/cuda/card/library.h"

namespace kdgat::model::cuda {

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

}  // namespace

OpenedCard open_card(const Driver& driver, int device, const std::vector<std::string>& names,
                     std::string_view source, const std::function<void*()>& stream) {
  const int architecture = driver.architecture(device);
  std::string wrong, absent;
  for (const std::string& name : names) {
    if (!Library::is_there(name)) {
      append(absent, ", ", name);
      continue;
    }
    try {
      const Nvrtc nvrtc({name});
      const std::string image = kernel_image(nvrtc, source, architecture);
      return {std::make_unique<CardLauncher>(driver, device, image, stream),
              "NVRTC " + nvrtc.version() + " for sm_" + std::to_string(architecture)};
    } catch (const Error& error) {
      append(wrong, "; ", error.what());
    }
  }
  throw Error(ExitCode::kPlugin, reasons(std::move(wrong), absent));
}

FoundCompiler find_compiler(const std::vector<std::string>& names) {
  std::string wrong, absent;
  for (const std::string& name : names) {
    if (!Library::is_there(name)) {
      append(absent, ", ", name);
      continue;
    }
    try {
      return {true, "NVRTC " + Nvrtc({name}).version() + " (" + name + ")"};
    } catch (const Error& error) {
      append(wrong, "; ", error.what());
    }
  }
  return {false, reasons(std::move(wrong), absent)};
}

}  // namespace kdgat::model::cuda
