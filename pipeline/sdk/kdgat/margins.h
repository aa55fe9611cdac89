// Every margin that plans of memory, limits, trials and jobs are kept by, and what shows that it is
// enough. All of them are of processes of this program: who changes one runs what is named next to
// it.
//
//   scripts/bench memory random   planned over measured peak of tensors, 300 training steps
//   scripts/bench limit           the process under a user's limit, what it used of it
//   scripts/soak limits           runs in control groups of 100 to 800 MB: none is killed
//   scripts/bench gpu             the same on a card
#pragma once

#include <cstddef>
#include <cstdint>

namespace kdgat::margins {

inline constexpr int64_t kMiB = int64_t{1} << 20;

// ---- Of a plan.

/// Counts that are as near to what was measured are taken as they are: a correction of noise would
/// grow with the batch. As much is added to a count where there was no memory to measure. bench
/// memory random: 148 counts were at most 3.7 % off.
inline constexpr double kTrusted = 0.05;
/// Of a prediction that was measured, whatever the fit says. bench memory random: 0.3 % is usual.
inline constexpr double kLeastMeasured = 0.02;
/// Packs of many graphs differ in edges per node by so much, seldom by more.
inline constexpr double kEdgeSpread = 1.02;
/// A pack that measures takes at most this share of what there is: the graphs of a larger one may
/// need more each. soak limits.
inline constexpr double kShareOfLimit = 0.4;
/// Of what a device has where nobody set a limit: as the published pipeline plans, which adds the
/// first to its safety factor and takes at most the second.
inline constexpr double kSafetyAdded = 0.15, kMostOfDevice = 0.85;

// ---- Of what a process holds next to tensors.

/// By so much the context of one process differs from that of another. soak limits: the size that
/// a refused run names is enough.
inline constexpr double kContextDrift = 4 * kMiB;
/// By so much it grows in the first whole step, of code and of what LibTorch keeps for backward.
/// soak limits, likewise.
inline constexpr double kFirstStep = 4 * kMiB;
/// Of a user's limit: what the process holds next to tensors may grow by so much, and with its
/// batches by that share. bench limit: 95.7 to 98.0 % of a limit are used, none is exceeded.
inline constexpr int64_t kSpareBytes = 6 * kMiB;
inline constexpr double kSpareShare = 0.015;
/// Of a limit of the machine, which kills who goes beyond: page tables and other processes that
/// share it grow, too. soak limits.
inline constexpr double kHardSpareShare = 0.03;
/// Without any limit so much of what is free just now is left to others.
inline constexpr double kLeftToOthers = 0.05;

// ---- Of the arena of the CPU.

/// Warm pages may take so much beyond the largest need there was; the rest is given back before the
/// arena grows. bench train: peak memory and time of an epoch.
inline constexpr std::size_t kSlackBytes = 16 * kMiB;
inline constexpr double kSlackShare = 0.04;

// ---- Of a card.

/// What LibTorch and its kernels hold next to tensors: before a kernel has run, and at most. 750
/// MiB were seen on an H100. bench gpu.
inline constexpr int64_t kCardContext = 500 * kMiB, kMostCardContext = 800 * kMiB;
/// The most that cuBLAS takes for two threads: 32.5 MiB each, as on sm_90 and sm_100.
inline constexpr int64_t kCardWorkspaces = 65 * kMiB;

// ---- Of trials that share a device (pipeline/tune).

/// Reserved beyond what was measured: the published safety of a tenth, and small change, as
/// requests are rounded up to pages and each has a head. bench gpu: concurrent trials.
inline constexpr double kTrialSafety = 1.1;
inline constexpr int64_t kTrialSpareBytes = kMiB;

// ---- Of a job of a cluster (pipeline/slurm), whose control group kills who goes beyond.

/// Libraries that a stage's process maps, and the host's own process. soak limits.
inline constexpr int64_t kMappedBytes = 512 * kMiB;
/// A step that plans no memory.
inline constexpr int64_t kUnplannedBytes = 2048 * kMiB;
/// A process that drives a card: CUDA's libraries and pinned buffers. bench gpu.
inline constexpr int64_t kCardHostBytes = 12288 * kMiB;
/// What is asked for is a multiple of it.
inline constexpr int64_t kJobStep = 64 * kMiB;

}  // namespace kdgat::margins
