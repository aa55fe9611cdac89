// Which kernels make the geometry of paths and sums along them.
#pragma once

#include "engine/kernels/cuda/launch/launcher.h"
#include "engine/kernels/cuda/source/path_args.h"

namespace kdgat::kernels::cuda {

template <class T>
void path_geometry(Launcher& on, const GeometryArgs<T>& args) {
  launch(on, "path_arcs", a_thread_each(args.arcs), args);
  launch(on, "path_triplets", a_thread_each(args.triplets), args);
  launch(on, "path_ends", a_thread_each(args.paths), args);
}
template <class T>
void smear(Launcher& on, const SmearArgs<T>& args) {
  launch(on, "smear", a_thread_each(args.count * args.centres), args);
}
template <class T>
void run_adds(Launcher& on, const RunArgs<T>& args) {
  launch(on, "run_adds", a_thread_each(args.runs * args.columns), args);
}
/// Sets `sums`; x is masked and the table grows.
template <class T>
void run_sums(Launcher& on, const RunArgs<T>& args) {
  launch(on, "run_sums", a_thread_each(args.runs * args.columns), args);
  launch(on, "run_node_sums", a_thread_each(args.nodes * args.columns), args);
}
template <class T>
void start_sums(Launcher& on, const StartArgs<T>& args) {
  launch(on, "start_sums", a_thread_each(args.nodes * args.columns), args);
}
template <class T>
void start_grads(Launcher& on, const StartArgs<T>& args) {
  launch(on, "start_grads", a_thread_each(args.runs * args.columns), args);
}

}  // namespace kdgat::kernels::cuda
