// Tape: a training step on sizes instead of numbers. Operations say what they allocate and what
// backward does for them; the tape follows every byte from allocation to release, as automatic
// differentiation does with tensors. Computes nothing, knows no LibTorch.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/memory/device_blocks.h"
#include "engine/memory/memory_plan.h"

namespace kdgat::memory {

/// Memory that lives as long as somebody holds it; not beyond its tape.
using Held = std::shared_ptr<const Cost>;

/// A tensor [rows, width] of a step.
struct Value {
  Cost rows;  ///< how many there are: a graph, node and edge of a batch stand for so many each
  double width = 0;
  double element = 4;          ///< bytes
  Held data;                   ///< null: its memory is not held by this copy
  std::shared_ptr<Held> grad;  ///< what backward has brought so far; null: needs no gradient

  Cost bytes() const { return rows * (width * element); }
  /// The same for who needs the gradient alone.
  Value without_data() const {
    Value out = *this;
    out.data = nullptr;
    return out;
  }
};

/// What an elementwise operation keeps for backward.
enum class Keeps { kNothing, kInput, kResult };

class Tape {
 public:
  using Backward = std::function<void(const Held& grad)>;

  /// `accumulating`: gradients of parameters are added to those of before and leave no more.
  explicit Tape(bool accumulating = false) : accumulating_(accumulating) {}
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  /// From now on what is held and released is kept in order, see rounding().
  void follow_blocks() { follows_ = true; }

  /// Names the operations to come: their phases are "forward of NAME" and "backward of NAME".
  void enter(const std::string& name) { operation_ = name; }

  Held hold(const Cost& bytes);
  Value value(const Cost& rows, double width, double element = 4);

  /// A result of the size of `x`, number by number.
  Value elementwise(const Value& x, Keeps keeps);

  /// The sum of two values of one size.
  Value sum(const Value& a, const Value& b);
  /// Columns or rows of several, next to each other.
  Value joined(const std::vector<Value>& parts, const Cost& rows, double width, double element = 4);

  /// What backward does for the operation that made `result`; holds what it captures until then.
  void then(const Value& result, Backward backward);
  /// A new gradient of `x`, added to what it has; nothing if it needs none.
  void give(const Value& x) {
    if (x.grad) pass(x, hold(x.bytes()));
  }
  /// A gradient that exists is also one of `x`.
  void pass(const Value& x, const Held& grad);
  /// Gradients of parameters, of so many elements each; they stay.
  void parameters(const std::vector<double>& elements);
  double parameter_elements() const { return elements_; }
  int64_t parameter_tensors() const { return tensors_; }

  /// Runs `body` without gradients, and again, with them, for backward.
  Value checkpoint(const Value& x, const std::function<Value(const Value&)>& body);
  /// What was recorded after the first `mark` operations, last first.
  void backward(std::size_t mark = 0);

  /// What LibTorch's allocator of a device holds beyond the bytes of tensors, for a step of some
  /// size: of the tape's step and of weights, gradients where they accumulate, moments and the best
  /// weights. A function of its own, which may outlive the tape. Ask when the step has ended.
  Rounding rounding() const;

  /// Every part of the step that is the largest for batches of some size.
  std::vector<Phase> phases() const;

 private:
  struct Record {
    std::string operation;
    std::shared_ptr<Held> grad;
    Backward backward;
  };

  void note();

  std::vector<BlockEvent> events_;  // before all that holds something, which ends in it
  Cost live_;
  bool accumulating_, recording_ = true, backwards_ = false, follows_ = false;
  std::string operation_;
  std::vector<Record> records_;
  std::vector<Held> gradients_;
  double elements_ = 0;
  int64_t tensors_ = 0, blocks_ = 0;
  std::vector<int64_t> parameters_;  // bytes of each
  std::vector<Phase> peaks_;         // none of which is below another
};

}  // namespace kdgat::memory
