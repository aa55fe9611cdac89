// Kernels as a card loads them, compiled once and kept in the cache folder (kdgat/kernels).
#pragma once

#include <string>
#include <string_view>

#include "engine/kernels/cuda/card/nvrtc.h"

namespace kdgat::kernels::cuda {

/// `source` for a card of `architecture`: as kept by an earlier process or, if that is none or
/// broken, compiled and kept. A file that others may write is not read. Best effort: without a
/// cache folder it is compiled each time. Throws as Nvrtc::compile(), which of its log says where
/// the whole is: in compile.log of the same folder.
std::string kernel_image(const Nvrtc& nvrtc, std::string_view source, int architecture);

}  // namespace kdgat::kernels::cuda
