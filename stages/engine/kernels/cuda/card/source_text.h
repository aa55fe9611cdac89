// All kernels as one source; written by card/embed.cmake from cuda/source/.
#pragma once

#include <string_view>

namespace kdgat::kernels::cuda {

std::string_view source_text();

}  // namespace kdgat::kernels::cuda
