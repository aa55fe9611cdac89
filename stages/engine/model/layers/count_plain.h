// What kernels in plain tensor operations (kernels/plain) hold, on sizes, for the layers that call
// them. Every operation of LibTorch has a result of its own, and rows of edges are held where
// kernels of cpu/ and cuda/ hold none.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "engine/memory/tape.h"

namespace kdgat::model {

/// Attention of [N, W] rows `h` over edges and loops, with or without features of edges. `sums`:
/// how many rows of W columns an edge keeps for its score, in addition to those that are weighed.
/// `others` gives what backward makes in addition to the gradient of h.
inline memory::Value plain_attention(memory::Tape& tape, const memory::Value& h, double heads,
                                     double sums, double features, std::function<void()> others) {
  using memory::Cost;
  using memory::Held;
  constexpr double kFloat = 4, kLong = 8;
  constexpr Cost kLoops{.node = 1, .edge = 1};
  const Cost row = kLoops * (kFloat * h.width);
  // Both ends, the score before and after each step of the softmax, the rows, and these weighed:
  // what is added up by index is kept for its shape.
  const Held kept =
      tape.hold(kLoops * (2 * kLong + kFloat * (4 * heads + features)) + row * (1 + sums));
  Held message = tape.hold(row);
  memory::Value out;
  {
    tape.hold(row * (sums > 0 ? 1 : 0));
    const Held zeros = tape.hold(h.bytes() * 2);
    out = tape.value(h.rows, h.width);
  }
  tape.then(out,
            [&tape, h, kept, message, row, sums, others = std::move(others)](const Held&) mutable {
              Held of_message = tape.hold(row);
              message = nullptr;
              {
                const Held of_rows = tape.hold(row);
                tape.hold(row);
                of_message = nullptr;
                if (sums > 0) tape.hold(row * 2);
              }
              const Held grad = tape.hold(h.bytes());
              tape.hold(h.bytes() * 2);
              tape.pass(h, grad);
              others();
            });
  return out;
}

/// ReLU and dropout: the mask is kept as numbers; hashes are whole numbers of 8 bytes.
inline memory::Value plain_relu_dropout(memory::Tape& tape, const memory::Value& x) {
  const memory::Held relu = tape.hold(x.bytes());
  tape.hold(x.bytes() * 6);
  const memory::Held mask = tape.hold(x.bytes());
  tape.hold(x.bytes());
  memory::Value out = tape.value(x.rows, x.width);
  tape.then(out, [&tape, x = x.without_data(), relu, mask](const memory::Held&) {
    tape.hold(x.bytes());
    tape.give(x);
  });
  return out;
}

/// The norm before it: one operation over all rows, or some by graph.
inline memory::Value plain_norm(memory::Tape& tape, const memory::Value& x, bool of_graph,
                                const std::vector<double>& parameters) {
  memory::Value out = tape.value(x.rows, x.width);
  // Means of graphs by node, differences, and both again of their squares.
  const memory::Held kept = tape.hold(x.bytes() * (of_graph ? 4 : 0));
  tape.hold(x.bytes() * (of_graph ? 1 : 0));
  tape.then(out, [&tape, x, kept, of_graph, parameters](const memory::Held&) {
    tape.hold(x.bytes() * (of_graph ? 3 : 0));
    tape.give(x);
    tape.parameters(parameters);
  });
  return out;
}

}  // namespace kdgat::model
