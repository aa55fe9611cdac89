#include "engine/kernels/cuda/card/library.h"

#include <dlfcn.h>

#include "kdgat/error.h"

namespace kdgat::kernels::cuda {

Library::Library(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    handle_ = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ != nullptr) {
      name_ = name;
      return;
    }
  }
  std::string all;
  for (const std::string& name : names) {
    if (!all.empty()) all += ", ";
    all += name;
  }
  throw Error(ExitCode::kPlugin, "cannot open any of " + all);
}

bool Library::is_there(const std::string& name) {
  return ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr;
}

void* Library::address_of(const char* symbol) const {
  void* found = ::dlsym(handle_, symbol);
  if (found == nullptr) throw Error(ExitCode::kPlugin, name_ + " has no " + symbol);
  return found;
}

}  // namespace kdgat::kernels::cuda
