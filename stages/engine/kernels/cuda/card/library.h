// A shared library that is opened when it is wanted and may not be there.
#pragma once

#include <string>
#include <vector>

namespace kdgat::kernels::cuda {

/// Stays open: what was started by it may run on when the program ends.
class Library {
 public:
  /// The first of `names` (of the loader's folders, or paths) that opens. Throws Error(kPlugin)
  /// with the names if none does.
  explicit Library(const std::vector<std::string>& names);

  /// Whether one of this name opens.
  static bool is_there(const std::string& name);

  const std::string& name() const { return name_; }
  /// Makes `function` that of the library with this name; throws Error(kPlugin) without.
  template <class Function>
  void find(Function*& function, const char* symbol) const {
    function = reinterpret_cast<Function*>(address_of(symbol));
  }

 private:
  void* address_of(const char* symbol) const;

  std::string name_;
  void* handle_ = nullptr;
};

}  // namespace kdgat::kernels::cuda
