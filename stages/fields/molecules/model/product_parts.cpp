#include "fields/molecules/model/product_parts.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace kdgat::molecules {

template <class T>
RowList<T>::RowList(std::vector<Entry> entries, bool adds) : adds_(adds) {
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return a.to < b.to; });
  for (const Entry& entry : entries) {
    const auto place = static_cast<int32_t>(terms_.size());
    const auto to = static_cast<int32_t>(entry.to), size = static_cast<int32_t>(entry.size);
    if (sums_.empty() || sums_.back().to != to) sums_.push_back({to, size, place, place});
    terms_.push_back({static_cast<int32_t>(entry.from), entry.factor, static_cast<T>(entry.value)});
    ++sums_.back().end;
  }
}

template <class T>
TurnedWeights<T>::TurnedWeights(const ProductPlan& plan, const RadialWeights& weights,
                                bool backward) {
  const int64_t width = weights.w3.size(1);
  const auto& transpose = kernels::loops<T>().product.transpose;
  w3 = at::empty_like(weights.w3);
  b3 = at::empty_like(weights.b3);
  const T* from = weights.w3.const_data_ptr<T>();
  const T* from_bias = weights.b3.const_data_ptr<T>();
  T *to = w3.data_ptr<T>(), *to_bias = b3.data_ptr<T>();
  const auto turn_bias = [&](const TensorPath& path) {
    transpose(from_bias + path.first, path.out, to_bias + path.first, path.in, path.in, path.out);
  };
  for (const TargetPath& one : plan.targets) {
    const TensorPath& path = one.path;
    if (backward) {
      turn_bias(path);
      continue;
    }
    for (int64_t u = 0; u < path.in; ++u) {
      const int64_t at = (path.first + u * path.out) * width;
      transpose(from + at, width, to + at, path.out, path.out, width);
    }
  }
  for (const SourcePath& one : plan.sources) {
    if (!backward) continue;
    const TensorPath& path = one.path;
    turn_bias(path);
    transpose(from + path.first * width, path.out * width, to + path.first * width, path.in,
              path.in, path.out * width);
  }
}

template <class T>
ProductArrays<T>::ProductArrays(const ProductPlan& plan, const ProductEdges& over,
                                const RadialWeights& weights, const TurnedWeights<T>& turned,
                                const at::Tensor& x, const at::Tensor& hidden)
    : plan(plan),
      edges(over.edges),
      x(x.const_data_ptr<T>()),
      harmonics(over.harmonics.const_data_ptr<T>()),
      hidden(hidden.const_data_ptr<T>()),
      width(hidden.size(1)),
      w3(weights.w3.const_data_ptr<T>()),
      b3(weights.b3.const_data_ptr<T>()),
      turned(turned.w3.template const_data_ptr<T>()),
      turned3(turned.b3.template const_data_ptr<T>()) {
  using Entries = std::vector<typename RowList<T>::Entry>;
  for (const TargetPath& one : plan.targets) {
    Entries forth, back;
    for (const CouplingTerm& term : one.terms) {
      const int64_t of_x = plan.irreps.offset(one.path.l1) + term.a * one.path.in;
      const int64_t of_z = term.c * one.path.in;
      forth.push_back({of_x, of_z, one.path.in, term.b, term.value});
      back.push_back({of_z, of_x, one.path.in, term.b, term.value});
    }
    target.emplace_back(std::move(forth), false);
    target_back.emplace_back(std::move(back), true);
  }
  Entries forth, back;
  for (const SourcePath& one : plan.sources) {
    for (const CouplingTerm& term : one.terms) {
      const int64_t of_p = one.column + term.a * one.path.out;
      const int64_t of_out = plan.gated.offset(one.path.l3) + term.c * one.path.out;
      forth.push_back({of_p, of_out, one.path.out, term.b, term.value});
      back.push_back({of_out, of_p, one.path.out, term.b, term.value});
    }
  }
  source = RowList<T>(std::move(forth), true);
  source_back = RowList<T>(std::move(back), false);
}

template class RowList<float>;
template class RowList<double>;
template struct TurnedWeights<float>;
template struct TurnedWeights<double>;
template struct ProductArrays<float>;
template struct ProductArrays<double>;

}  // namespace kdgat::molecules
