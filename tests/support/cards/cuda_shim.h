// What stands for the card when its kernels are compiled by the C++ compiler: blocks and threads
// are loops, in an order that is chosen. It finds what the card would do in silence: a shared
// number that is read before it was written, or in the phase in which another thread writes it.
// What the kernels read and write in global memory is left to the sanitizers, and to running in
// several orders.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/kernels/cuda/launch/launcher.h"

namespace kdgat::kernels::cuda {

namespace shim {

enum class Order { kForward, kBackward, kMixed };

/// The block that runs. A test has one thread.
struct Block {
  Int x = 0, y = 0;
  int thread = -1;  ///< -1: between phases
  int phase = 0;
  std::vector<int> order;
  std::vector<std::string> problems;
  const char* kernel = "";

  void say(const std::string& what) {
    if (problems.size() < 8) problems.push_back(std::string(kernel) + ": " + what);
  }
};
inline Block& block() {
  static Block instance;
  return instance;
}

/// The threads of a phase.
class Phase {
 public:
  class Iterator {
   public:
    explicit Iterator(std::size_t at) : at_(at) {}
    int operator*() const { return block().thread = block().order[at_]; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return at_ != other.at_; }

   private:
    std::size_t at_;
  };
  Phase() {
    if (block().thread != -1) block().say("a phase inside a phase");
  }
  Phase(const Phase&) = delete;
  ~Phase() {
    block().thread = -1;
    ++block().phase;
  }
  Iterator begin() const { return Iterator(0); }
  Iterator end() const { return Iterator(block().order.size()); }
};

template <class T, int kSize>
class Shared {
 public:
  class Number {
   public:
    Number(Shared& of, Int at) : of_(&of), at_(at) {}
    operator T() const { return of_->read(at_); }
    Number& operator=(T value) {
      of_->write(at_, value);
      return *this;
    }
    Number& operator=(const Number& other) { return *this = static_cast<T>(other); }
    Number& operator+=(T value) { return *this = static_cast<T>(*this) + value; }

   private:
    Shared* of_;
    Int at_;
  };
  Number operator[](Int at) { return {*this, at}; }

 private:
  static constexpr int kNobody = -2, kSeveral = -3;
  struct Trace {
    int written_in = -1, writer = kNobody, read_in = -1, reader = kNobody;
  };

  bool is_inside(Int at) const {
    if (at >= 0 && at < kSize) return true;
    block().say("shared memory at " + std::to_string(at) + " of " + std::to_string(kSize));
    return false;
  }
  T read(Int at) {
    if (!is_inside(at)) return T();
    Trace& trace = traces_[static_cast<std::size_t>(at)];
    const Block& now = block();
    if (trace.writer == kNobody) block().say("shared memory is read before it is written");
    if (trace.written_in == now.phase && trace.writer != now.thread) {
      block().say("a thread reads what another one writes in the same phase");
    }
    trace.reader = trace.read_in == now.phase && trace.reader != now.thread ? kSeveral : now.thread;
    trace.read_in = now.phase;
    return values_[static_cast<std::size_t>(at)];
  }
  void write(Int at, T value) {
    if (!is_inside(at)) return;
    Trace& trace = traces_[static_cast<std::size_t>(at)];
    const Block& now = block();
    if (trace.read_in == now.phase && trace.reader != now.thread) {
      block().say("a thread writes what another one reads in the same phase");
    }
    if (trace.written_in == now.phase && trace.writer != now.thread) {
      block().say("two threads write the same number in one phase");
    }
    trace.written_in = now.phase;
    trace.writer = now.thread;
    values_[static_cast<std::size_t>(at)] = value;
  }

  std::array<T, kSize> values_{};
  std::array<Trace, kSize> traces_{};
};

using Kernel = void (*)(const void* args);
/// Of each kernel, those for float and for double.
inline std::map<std::string, std::pair<Kernel, Kernel>>& kernels() {
  static std::map<std::string, std::pair<Kernel, Kernel>> table;
  return table;
}

}  // namespace shim

template <class T>
class PerThread {
 public:
  T& operator[](int t) { return values_[static_cast<std::size_t>(t)]; }

 private:
  std::array<T, kThreads> values_{};
};
inline Int block_x() { return shim::block().x; }
inline Int block_y() { return shim::block().y; }
inline float times(float a, float b) { return a * b; }  // compiled with -ffp-contract=off
inline double times(double a, double b) { return a * b; }

/// Runs kernels at once, on memory of the CPU.
class ShimLauncher : public Launcher {
 public:
  explicit ShimLauncher(shim::Order order = shim::Order::kForward) : order_(order) {}
  void launch(const char* kernel, bool is_double, const Grid& grid, const void* args) override;
  /// What kernels did that they must not, since the last call.
  static std::vector<std::string> problems() { return std::exchange(shim::block().problems, {}); }
  const std::map<std::string, int>& launched() const { return launched_; }

 private:
  shim::Order order_;
  std::map<std::string, int> launched_;
};

}  // namespace kdgat::kernels::cuda

// The words of source/card.cuh.
#define CARD inline
#define SHARED(T, name, n) shim::Shared<T, n> name
#define THREADS(t) for (const int t : shim::Phase())
#define KERNEL(name, Args)                                                                        \
  const bool name##_is_known =                                                                    \
      shim::kernels()                                                                             \
          .emplace(#name, std::pair<shim::Kernel, shim::Kernel>(                                  \
                              [](const void* a) { name(*static_cast<const Args<float>*>(a)); },   \
                              [](const void* a) { name(*static_cast<const Args<double>*>(a)); })) \
          .second;
