// LibTorch's own generator, from which layers draw their first weights, belongs to all threads of
// the process. Whoever makes a module holds this lock, from its seed on: or else a model made
// beside it gets other weights.
#pragma once

#include <mutex>

namespace kdgat::model {

using GeneratorLock = std::unique_lock<std::recursive_mutex>;

inline GeneratorLock hold_generator() {
  static std::recursive_mutex mutex;
  return GeneratorLock(mutex);
}

}  // namespace kdgat::model
