#include "engine/kernels/cuda/device.h"

#include <ATen/DeviceAccelerator.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <c10/util/Exception.h>
#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "engine/kernels/cuda/card/driver.h"
#include "engine/kernels/cuda/card/nvrtc.h"
#include "engine/kernels/cuda/card/opened_card.h"
#include "engine/kernels/cuda/card/source_text.h"
#include "engine/kernels/kernels_for.h"
#include "kdgat/error.h"

namespace kdgat::kernels {

namespace cuda {
namespace {

namespace fs = std::filesystem;

/// Where LibTorch lies, and NVIDIA's packages of Python beside it.
std::vector<fs::path> library_folders() {
  Dl_info found{};
  if (::dladdr(reinterpret_cast<const void*>(&at::getAccelerator), &found) == 0 ||
      found.dli_fname == nullptr) {
    return {};
  }
  std::error_code unknown;  // a build tree has a link to the folder
  const fs::path real = fs::canonical(found.dli_fname, unknown);
  const fs::path lib = (unknown ? fs::path(found.dli_fname) : real).parent_path();
  const fs::path packages = lib.parent_path().parent_path() / "nvidia";
  return {lib, packages / "cu13" / "lib", packages / "cuda_nvrtc" / "lib"};
}

void* current_stream(c10::Device device) {
  return c10::impl::VirtualGuardImpl(device.type()).getStream(device).native_handle();
}

/// Kernels of a device, or why it has none.
struct Entry {
  std::unique_ptr<CardLauncher> launcher;
  std::string words;
};

/// Such an error is no reason to compute otherwise: with more memory there are kernels. The stage
/// answers it as that of a tensor, and whoever asks again tries again.
bool is_out_of_memory(const std::exception& error) {
  return dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
         (dynamic_cast<const c10::Error*>(&error) != nullptr &&
          std::string_view(error.what()).find("out of memory") != std::string_view::npos);
}

bool is_plain_wanted() {
  const char* wanted = std::getenv("KDGAT_KERNELS");
  return wanted != nullptr && std::string_view(wanted) == "plain";
}

const Driver& driver() {
  static const Driver opened;
  return opened;
}

Entry open_device(c10::Device device) {
  if (is_plain_wanted()) {
    return {nullptr, "plain tensor operations on " + device.str() + ": KDGAT_KERNELS=plain"};
  }
  try {
    if (!c10::impl::hasDeviceGuardImpl(device.type())) {
      throw Error(ExitCode::kPlugin, "this LibTorch is built without CUDA");
    }
    if (!device.has_index()) throw Error(ExitCode::kPlugin, "there is no card");
    const c10::DeviceGuard guard(device);  // a context is entered below
    OpenedCard card = open_card(driver(), device.index(), nvrtc_names(library_folders()),
                                source_text(), [device] { return current_stream(device); });
    return {std::move(card.launcher), "kernels on " + device.str() + " by " + card.words};
  } catch (const std::exception& error) {  // of LibTorch or the file system, too
    if (is_out_of_memory(error)) throw;
    return {nullptr, "plain tensor operations on " + device.str() +
                         ", which are slower: no kernels, as " + error.what()};
  }
}

c10::Device with_index(c10::Device device) {
  if (device.has_index() || !c10::impl::hasDeviceGuardImpl(device.type())) return device;
  const c10::impl::VirtualGuardImpl guard(device.type());
  return guard.deviceCount() > 0 ? guard.getDevice() : device;
}

const Entry& entry_of(c10::Device any) {
  static std::mutex mutex;
  static std::map<int, Entry> entries;
  const c10::Device device = with_index(any);
  const std::lock_guard lock(mutex);
  const auto found = entries.find(device.index());
  if (found != entries.end()) return found->second;
  return entries.emplace(device.index(), open_device(device)).first->second;
}

std::atomic<Launcher*> of_cpu = nullptr;
std::atomic<KernelSet> set_of_cpu = KernelSet::kCpu;

Launcher* launcher_of(c10::Device device) {
  Launcher* out = device.is_cpu() ? of_cpu.load() : entry_of(device).launcher.get();
  if (out == nullptr) throw Error(ExitCode::kStageFailed, "no kernels on " + device.str());
  return out;
}

}  // namespace

OnDevice::OnDevice(const at::Tensor& tensor)
    : guard_(tensor.device()), launcher_(launcher_of(tensor.device())) {}

CpuIsCard::CpuIsCard(Launcher& launcher) { of_cpu = &launcher; }
CpuIsCard::~CpuIsCard() { of_cpu = nullptr; }

CpuComputesBy::CpuComputesBy(KernelSet set) { set_of_cpu = set; }
CpuComputesBy::~CpuComputesBy() { set_of_cpu = KernelSet::kCpu; }

EdgeTensors::EdgeTensors(const BatchTensors& batch) {
  const EdgesBySource& by_source = edges_by_source(batch);
  tensors = {batch.in_ptr_N1, batch.in_source_E, by_source.out_ptr_N1, by_source.out_edge_E,
             by_source.target_E};
}

Edges EdgeTensors::edges() const {
  const auto at = [&](std::size_t i) { return tensors[i].const_data_ptr<int32_t>(); };
  return {tensors[0].size(0) - 1, tensors[1].size(0), at(0), at(1), at(2), at(3), at(4)};
}

}  // namespace cuda

KernelSet kernel_set(at::Device device) {
  if (device.is_cpu()) return cuda::set_of_cpu;
  const bool has = device.is_cuda() && cuda::entry_of(device).launcher != nullptr;
  return has ? KernelSet::kCuda : KernelSet::kPlain;
}

KernelSet kernel_set_of_cards() {
  return cuda::is_plain_wanted() ? KernelSet::kPlain : KernelSet::kCuda;
}

int64_t card_memory(at::Device device) {
  return cuda::driver().memory(std::max<int>(0, device.index()));
}

std::string kernels_in_words(at::Device device) {
  return device.is_cuda() ? cuda::entry_of(device).words : std::string();
}

const char* kdgat_kernels_in_words() {
  static thread_local std::string said;
  try {
    const c10::Device card = cuda::with_index(c10::kCUDA);
    if (card.has_index()) {
      said = has_cuda_kernels(card) ? "card " : "plain ";
      said += kernels_in_words(card);
    } else {
      said = "cpu " + cuda::find_compiler(cuda::nvrtc_names(cuda::library_folders())).words;
    }
  } catch (const std::exception& error) {
    said = "plain " + std::string(error.what());
  }
  return said.c_str();
}

}  // namespace kdgat::kernels
