// LibTorch as it lies on this machine: found, opened before any plugin that needs it, and compared
// with what the plugin is built for. Links nothing of it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace kdgat {

/// The folder of the libtorch_cpu.so that this program uses, without links in its path: lib/torch
/// beside the executable, torch/lib of the Python package beside a wheel's, else lib of the
/// environment's LIBTORCH_ROOT; nullopt if there is none.
std::optional<std::filesystem::path> find_libtorch();

/// Whether that LibTorch can use NVIDIA devices.
bool has_cuda(const std::filesystem::path& folder);

/// Opens it, once for the life of the process; with an NVIDIA driver libtorch_cuda.so too, where it
/// stands beside. Does nothing where no LibTorch is found: a plugin may bring one. Throws
/// Error(kPlugin) if it cannot be opened or was built otherwise than plugins are.
void load_libtorch();

/// Loads it if plugins of a runtime need it ("libtorch 2.13.0", "libtorch 2.13.0 cuda"), and throws
/// Error(kPlugin) if it is of another version.
void check_libtorch(const std::string& runtime);

/// What the library beside it that stages compute with says of kernels for cards
/// (stages/engine/kernels/kernels_for.h); "" where no plugin has opened that.
std::string kernels_in_words();

}  // namespace kdgat
