#include "engine/memory/tape.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace kdgat::memory {
namespace {

bool is_below(const Cost& a, const Cost& b) {
  return a.fixed <= b.fixed && a.graph <= b.graph && a.node <= b.node && a.edge <= b.edge;
}

}  // namespace

Held Tape::hold(const Cost& bytes) {
  live_ += bytes;
  note();
  const int64_t block = blocks_++;
  if (follows_) events_.push_back({bytes, block, false});
  return Held(new Cost(bytes), [this, block](const Cost* cost) {
    live_ += *cost * -1;
    if (follows_) events_.push_back({*cost, block, true});
    delete cost;
  });
}

Value Tape::value(const Cost& rows, double width, double element) {
  Value out{rows, width, element, nullptr, std::make_shared<Held>()};
  out.data = hold(out.bytes());
  return out;
}

Value Tape::elementwise(const Value& x, Keeps keeps) {
  Value y = value(x.rows, x.width, x.element);
  Held kept;
  if (keeps == Keeps::kInput) kept = x.data;
  if (keeps == Keeps::kResult) kept = y.data;
  then(y, [this, x = x.without_data(), kept](const Held&) { give(x); });
  return y;
}

Value Tape::sum(const Value& a, const Value& b) {
  Value y = value(a.rows, a.width, std::max(a.element, b.element));
  then(y,
       [this, a = a.without_data(), b = b.without_data(), element = y.element](const Held& grad) {
         for (const Value& x : {a, b}) {
           if (x.element == element) {
             pass(x, grad);
           } else {
             give(x);
           }
         }
       });
  return y;
}

Value Tape::joined(const std::vector<Value>& parts, const Cost& rows, double width,
                   double element) {
  Value out = value(rows, width, element);
  std::vector<Value> from;
  from.reserve(parts.size());
  for (const Value& part : parts) from.push_back(part.without_data());
  then(out, [this, from](const Held& grad) {
    for (const Value& part : from) pass(part, grad);
  });
  return out;
}

void Tape::then(const Value& result, Backward backward) {
  if (recording_) records_.push_back({operation_, result.grad, std::move(backward)});
}

void Tape::pass(const Value& x, const Held& grad) {
  if (!x.grad) return;
  if (*x.grad == nullptr) {
    *x.grad = grad;
  } else if (x.grad->use_count() > 1 || **x.grad != x.bytes()) {
    // Also another's, or columns of it: the sum is made elsewhere.
    *x.grad = hold(x.bytes());
  }  // else added in place
}

void Tape::parameters(const std::vector<double>& elements) {
  std::vector<Held> made;
  for (const double count : elements) {
    made.push_back(hold({.fixed = 4 * count}));
    elements_ += count;
    parameters_.push_back(static_cast<int64_t>(4 * count));
    ++tensors_;
  }
  if (!accumulating_) gradients_.insert(gradients_.end(), made.begin(), made.end());
}

Value Tape::checkpoint(const Value& x, const std::function<Value(const Value&)>& body) {
  const bool was_recording = std::exchange(recording_, false);
  Value y = body(x);
  recording_ = was_recording;
  then(y, [this, x, body](const Held& grad) {
    Value again = x;
    if (x.grad) again.grad = std::make_shared<Held>();
    const std::size_t mark = records_.size();
    const Value out = body(again);
    *out.grad = grad;
    backward(mark);
    if (x.grad) pass(x, *again.grad);
  });
  return y;
}

void Tape::backward(std::size_t mark) {
  const bool was_backwards = std::exchange(backwards_, true);
  while (records_.size() > mark) {
    const Record record = std::move(records_.back());
    records_.pop_back();
    operation_ = record.operation;
    const Held grad = std::move(*record.grad);
    if (grad) record.backward(grad);
  }
  backwards_ = was_backwards;
}

void Tape::note() {
  for (const Phase& peak : peaks_) {
    if (is_below(live_, peak.cost)) return;
  }
  std::erase_if(peaks_, [this](const Phase& peak) { return is_below(peak.cost, live_); });
  peaks_.push_back({(backwards_ ? "backward of " : "forward of ") + operation_, live_});
}

Rounding Tape::rounding() const {
  std::vector<int64_t> kept;
  const int copies = accumulating_ ? 5 : 4;  // weights, two moments, the best weights; gradients
  kept.reserve(parameters_.size() * static_cast<std::size_t>(copies));
  for (int copy = 0; copy < copies; ++copy) {
    kept.insert(kept.end(), parameters_.begin(), parameters_.end());
  }
  return [kept = std::move(kept), step = events_](const Size& size, const OtherBlocks& others) {
    std::vector<int64_t> all = kept;
    all.insert(all.end(), {others.teacher, others.workspaces / 2, others.workspaces / 2});
    return rounding_of(all, step, size, others.margin, segments_in_use());
  };
}

std::vector<Phase> Tape::phases() const {
  std::set<std::size_t> largest;
  for (int power = 0; power <= 20; ++power) {
    const double graphs = std::exp2(power);
    for (const double nodes : {1, 2, 4, 8, 16, 32, 64, 128, 1024}) {
      for (const double edges : {0.0, 0.5, 1.0, 1.5, 2.0, 4.0, 8.0, 16.0}) {
        const Size size{static_cast<int64_t>(graphs), static_cast<int64_t>(graphs * nodes),
                        static_cast<int64_t>(graphs * nodes * edges)};
        const auto most = std::max_element(
            peaks_.begin(), peaks_.end(),
            [&size](const Phase& a, const Phase& b) { return a.cost.of(size) < b.cost.of(size); });
        largest.insert(static_cast<std::size_t>(most - peaks_.begin()));
      }
    }
  }
  std::vector<Phase> out;
  out.reserve(largest.size());
  for (const std::size_t i : largest) out.push_back(peaks_[i]);
  return out;
}

}  // namespace kdgat::memory
