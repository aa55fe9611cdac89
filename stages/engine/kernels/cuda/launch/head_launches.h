// Which kernels make a head's losses.
#pragma once

#include "engine/kernels/cuda/launch/launcher.h"
#include "engine/kernels/cuda/source/head_args.h"

namespace kdgat::kernels::cuda {

template <class T>
void head_rows(Launcher& on, const HeadArgs<T>& args) {
  launch(on, "head_rows", {args.rows}, args);
}

}  // namespace kdgat::kernels::cuda
