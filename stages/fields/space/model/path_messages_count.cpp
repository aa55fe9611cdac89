// What path_messages() holds.
#include <utility>
#include <vector>

#include "fields/space/model/path_features.h"
#include "fields/space/model/path_messages.h"

namespace kdgat::space {
namespace {

using model::kFloat, model::kInt, model::kLong, model::kOnce;

constexpr double kRowsOfBlock = 256;  // of sums of columns: each block has its own
constexpr double kSorting = 24;       // bytes a row, while rows are put in the order of nodes
constexpr double kEdgeColumns = kDistances, kTripletColumns = kDistances + kThetas,
                 kTorsionColumns = kDistances + kThetas + kPhis;

class MessageCount {
 public:
  MessageCount(SpatialCount& step, double hidden) : step_(step), h_(hidden) {}

  /// MessageSum, and what folds its weights, of so many elements each.
  Value run(const Value& in, const Held& pos, const std::vector<double>& direct_weights,
            const std::vector<double>& folded_weights) const {
    std::vector<Held> folded = {step_.matrix(16 * h_, h_)};
    for (int term = 0; term < 3; ++term) folded.push_back(step_.matrix(4 * h_, h_));
    Value out = step_.tape.value(kNodes, 2 * h_);
    {
      const std::vector<Held> ready = transposed();
      const std::vector<Held> rows = chunk();
      const Held second = step_.rows(step_.chunk.paths, 2 * h_);
      if (step_.is_plain()) {
        const Held start = step_.tape.hold(step_.chunk.paths * (kInt + kLong));
        step_.rows(step_.chunk.paths, 2 * h_);
      } else {
        sort(step_.chunk.arcs);
      }
    }
    step_.tape.then(out, [count = *this, in, pos, folded = std::move(folded),
                          direct = step_.gradients(direct_weights),
                          of_folding = step_.gradients(folded_weights)](const Held&) {
      count.backward_of_messages(in, direct);
      // Of the folding: gradients of columns of the combination, side by side.
      const Held columns = count.step_.matrix(12 * count.h_, count.h_);
      of_folding();
    });
    return out;
  }

  /// `direct` makes gradients of weights that are not folded.
  template <class Direct>
  void backward_of_messages(const Value& in, const Direct& direct) const {
    const std::vector<Held> ready = transposed();
    Held grad_in = step_.rows(kNodes, h_);
    std::vector<Held> of_folded = {step_.matrix(16 * h_, h_)};
    for (int term = 0; term < 3; ++term) of_folded.push_back(step_.matrix(4 * h_, h_));
    direct();
    const Held grad_tables = step_.rows(kNodes, 16 * h_);
    {
      const std::vector<Held> rows = chunk();
      Held grad = step_.rows(step_.chunk.paths, 2 * h_);
      if (step_.is_plain()) {
        const Held start = step_.tape.hold(step_.chunk.paths * (kInt + kLong));
        const Held shifted = step_.rows(step_.chunk.paths, 2 * h_);
        const Held mask = step_.tape.hold(step_.chunk.paths * (2 * h_));
        const Held of_sums = step_.rows(step_.chunk.paths, 2 * h_);
        grad = step_.rows(step_.chunk.paths, 2 * h_);
      } else {
        step_.rows(step_.chunk.paths * (1 / kRowsOfBlock) + kOnce, 2 * h_);
      }
      Held grad_z = step_.rows(step_.chunk.paths, 4 * h_);
      grad = nullptr;
      const Held grad_u = sums_of_runs(step_.chunk.paths, step_.chunk.triplets, /*masked=*/true);
      step_.rows(step_.chunk.paths, h_);
      grad_z = nullptr;
      const Held grad_v = sums_of_runs(step_.chunk.triplets, step_.chunk.arcs, /*masked=*/false);
      step_.rows(step_.chunk.triplets, h_);
      step_.rows(step_.chunk.arcs, h_);
    }
    grad_in = step_.rows(kNodes, h_);
    step_.tape.pass(in, grad_in);
  }

  // ---- one chunk of paths

  /// Indices, geometry, basis and the rows of the perceptrons, the last of them z.
  std::vector<Held> chunk() const {
    std::vector<Held> out;
    const auto keep = [&out](Held held) { out.push_back(std::move(held)); };
    const auto& [paths, triplets, arcs] = step_.chunk;
    for (const Cost& rows : {arcs, arcs, arcs, triplets, triplets, paths, arcs}) {
      keep(step_.tape.hold(rows * kInt));
    }
    for (const Cost& rows : {arcs, triplets, triplets, paths, paths, paths})
      keep(step_.rows(rows, 1));
    if (step_
            .is_plain()) {  // indices as whole numbers of 8 bytes, points and differences of points
      const Held geometry =
          step_.tape.hold(arcs * (3 * kLong + 9 * kFloat) + triplets * (3 * kLong + 15 * kFloat) +
                          paths * (2 * kLong + 18 * kFloat));
    } else {
      step_.tape.hold((arcs * 3 + triplets * 2 + paths) * kInt);
    }
    keep(step_.rows(arcs, kEdgeColumns));
    keep(step_.rows(triplets, kTripletColumns));
    keep(step_.rows(paths, kTorsionColumns));
    if (step_.is_plain()) step_.rows(paths, 4 * kPhis);
    rounded(paths, kTorsionColumns);
    keep(step_.rows(arcs, h_));
    keep(step_.rows(triplets, h_));
    keep(step_.rows(paths, h_));
    const Held v = step_.rows(arcs, 4 * h_);
    step_.rows(arcs, 4 * h_);
    const Held u = step_.rows(triplets, 4 * h_);
    if (step_.is_plain()) gathered(triplets);
    rounded(paths, 3 * h_);
    keep(step_.rows(paths, 4 * h_));
    if (step_.is_plain()) gathered(paths);
    return out;
  }

  /// Rows of runs or of nodes, one for each that they are added to.
  void gathered(const Cost& rows) const {
    const Held run = step_.tape.hold(rows * kLong);
    step_.rows(rows, 4 * h_);
  }

  /// PathKernels::sum_runs.
  Held sums_of_runs(const Cost& rows, const Cost& runs, bool masked) const {
    if (!step_.is_plain()) {
      Held out = step_.rows(runs, 4 * h_);
      sort(rows);
      return out;
    }
    if (masked) step_.tape.hold(rows * (4 * h_));
    const Held zeros = step_.rows(runs, 4 * h_), run = step_.tape.hold(rows * kLong);
    return step_.rows(runs, 4 * h_);
  }

  void sort(const Cost& rows) const {
    step_.tape.hold(rows * kSorting);
    step_.tape.hold(kNodes * (2 * kInt));
  }

  /// In mixed precision: operands and results of a product in 16 bits.
  void rounded(const Cost& rows, double columns) const {
    if (step_.step.is_short) step_.rows(rows, columns);
  }

  /// What a pass makes of its tensors of two dimensions, and its tables by node.
  std::vector<Held> transposed() const {
    std::vector<Held> out = {step_.rows(kNodes, h_), step_.matrix(16 * h_, h_)};
    for (const double basis : {kEdgeColumns, kTripletColumns, kTorsionColumns}) {
      out.push_back(step_.matrix(h_, basis));
      out.push_back(step_.matrix(4 * h_, h_));
    }
    out.push_back(step_.matrix(8 * h_, h_));
    out.push_back(step_.rows(kNodes, 16 * h_));
    return out;
  }

  SpatialCount& step_;
  double h_;
};

}  // namespace

Value count_path_messages(SpatialCount& step, const Value& in, const Held& pos,
                          const std::vector<double>& direct, const std::vector<double>& folded) {
  return MessageCount(step, in.width).run(in, pos, direct, folded);
}

}  // namespace kdgat::space
