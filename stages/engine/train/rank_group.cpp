#include "engine/train/rank_group.h"

#include <ATen/ATen.h>
#ifdef USE_C10D_GLOO
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#endif
#ifdef KDGAT_NCCL
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#endif

#include <array>
#include <chrono>
#include <cstdlib>
#include <vector>

#include "engine/train/probe.h"

namespace kdgat::train {
namespace {

#ifdef USE_C10D_GLOO

/// One process may have to score all graphs while the others wait.
constexpr std::chrono::minutes kPatience{60};
constexpr std::chrono::minutes kMeeting{5};

c10::intrusive_ptr<c10d::Store> open_store(const Ranks& ranks) {
  constexpr const char* kFile = "file:";
  if (ranks.store.rfind(kFile, 0) == 0) {
    return c10::make_intrusive<c10d::FileStore>(ranks.store.substr(5), ranks.world);
  }
  const std::size_t colon = ranks.store.rfind(':');
  if (colon == std::string::npos) {
    throw Error(ExitCode::kUsage, "\"" + ranks.store + "\" is not HOST:PORT");
  }
  c10d::TCPStoreOptions options;
  options.port = static_cast<std::uint16_t>(std::stoi(ranks.store.substr(colon + 1)));
  options.isServer = ranks.rank == 0;
  options.numWorkers = static_cast<std::size_t>(ranks.world);
  options.timeout = kMeeting;
  return c10::make_intrusive<c10d::TCPStore>(ranks.store.substr(0, colon), options);
}

c10::intrusive_ptr<c10d::Backend> connect_gloo(const Ranks& ranks,
                                               const c10::intrusive_ptr<c10d::Store>& store) {
  using Gloo = c10d::ProcessGroupGloo;
  auto options = Gloo::Options::create(kPatience);
  // Processes that meet in a file are on one machine.
  const bool is_local = ranks.store.rfind("file:", 0) == 0;
  const char* interface = std::getenv("GLOO_SOCKET_IFNAME");
  options->devices = {interface != nullptr ? Gloo::createDeviceForInterface(interface)
                      : is_local           ? Gloo::createDeviceForHostname("127.0.0.1")
                                           : Gloo::createDefaultDevice()};
  options->threads = 1;
  return c10::make_intrusive<Gloo>(store, ranks.rank, ranks.world, options);
}

/// The message without LibTorch's backtrace.
std::string first_line(const std::string& what) { return what.substr(0, what.find('\n')); }

#endif

}  // namespace

#ifdef USE_C10D_GLOO

/// The connection. On CUDA with NCCL device tensors travel as they are; all else over Gloo.
class RankGroup::Wire {
 public:
  Wire(const Ranks& ranks, at::Device device) : ranks_(ranks) {
    try {
      const auto store = open_store(ranks);
      store->setTimeout(kMeeting);
      gloo_ = connect_gloo(ranks, store);
#ifdef KDGAT_NCCL
      if (device.is_cuda()) {
        nccl_ = c10::make_intrusive<c10d::ProcessGroupNCCL>(
            c10::make_intrusive<c10d::PrefixStore>("nccl", store), ranks.rank, ranks.world);
        nccl_->setBoundDeviceId(device);
      }
#else
      static_cast<void>(device);
#endif
    } catch (const Error&) {
      throw;
    } catch (const std::exception& error) {
      throw Error(ExitCode::kStageFailed, name() + " could not meet the others at " + ranks.store +
                                              ": " + first_line(error.what()));
    }
  }

  void sum(const at::Tensor& tensor) {
    exchange(tensor, [](c10d::Backend& backend, std::vector<at::Tensor>& one) {
      return backend.allreduce(one);
    });
  }
  void largest(const at::Tensor& tensor) {
    exchange(tensor, [](c10d::Backend& backend, std::vector<at::Tensor>& one) {
      c10d::AllreduceOptions options;
      options.reduceOp = c10d::ReduceOp::MAX;
      return backend.allreduce(one, options);
    });
  }
  void from_first(const at::Tensor& tensor) {
    exchange(tensor, [](c10d::Backend& backend, std::vector<at::Tensor>& one) {
      return backend.broadcast(one);
    });
  }

 private:
  std::string name() const {
    return "rank " + std::to_string(ranks_.rank) + " of " + std::to_string(ranks_.world);
  }

  template <class Call>
  void exchange(const at::Tensor& tensor, const Call& call) {
    if (tensor.numel() == 0) return;
    try {
      const bool is_staged = !tensor.is_cpu() && nccl_ == nullptr;
      std::vector<at::Tensor> one = {is_staged ? tensor.cpu() : tensor};
      call(tensor.is_cpu() || is_staged ? *gloo_ : *nccl_, one)->wait();
      if (is_staged) tensor.copy_(one.front());
    } catch (const std::exception& error) {
      throw Error(ExitCode::kStageFailed,
                  name() + " lost the other processes: " + first_line(error.what()),
                  "kdgat run continues from the last checkpoint");
    }
  }

  const Ranks ranks_;
  c10::intrusive_ptr<c10d::Backend> gloo_, nccl_;
};

#else

class RankGroup::Wire {
 public:
  Wire(const Ranks&, at::Device) {
    throw Error(ExitCode::kUsage, "kdgat was built without Gloo: it trains in one process only",
                "install libgloo-dev and build again");
  }
  void sum(const at::Tensor&) {}
  void largest(const at::Tensor&) {}
  void from_first(const at::Tensor&) {}
};

#endif

RankGroup::RankGroup(const Ranks& ranks, at::Device device)
    : ranks_(ranks), wire_(std::make_unique<Wire>(ranks, device)) {}

RankGroup::~RankGroup() = default;

/// What all processes say before values may travel: nobody waits for one that will not come.
struct RankGroup::Meeting {
  bool is_abandoned = false;
  int64_t values = 0;  ///< of those that have some; 0 = all have finished
};

RankGroup::Meeting RankGroup::meet(bool has_failed, int64_t values) {
  std::array<int64_t, 2> told{has_failed ? 1 : 0, values};
  wire_->largest(at::from_blob(told.data(), {2}, at::kLong));
  return {told[0] != 0, told[1]};
}

void RankGroup::sum(std::span<double> values) {
  if (meet(false, static_cast<int64_t>(values.size())).is_abandoned) throw StepAbandoned();
  wire_->sum(at::from_blob(values.data(), {static_cast<int64_t>(values.size())}, at::kDouble));
}

void RankGroup::finish_step() {
  for (;;) {
    const Meeting meeting = meet(false, 0);
    if (meeting.is_abandoned) throw StepAbandoned();
    if (meeting.values == 0) return;
    wire_->sum(at::zeros({meeting.values}, at::kDouble));
  }
}

void RankGroup::abandon_step() { meet(true, 0); }

void RankGroup::sum(const at::Tensor& tensor) { wire_->sum(tensor); }

void RankGroup::sum_gradients(const NamedTensors& parameters) {
  // After the gradients stands how many processes have each: one that no graph gives a gradient
  // must stay without.
  std::vector<at::Tensor> flat;
  std::vector<float> has;
  for (const auto& [name, parameter] : parameters) {
    const at::Tensor& grad = parameter.grad();
    has.push_back(grad.defined() ? 1 : 0);
    flat.push_back(grad.defined() ? grad.reshape(-1) : at::zeros_like(parameter).reshape(-1));
  }
  flat.push_back(at::tensor(has).to(flat.front().options()));
  const at::Tensor message = at::cat(flat);
  wire_->sum(message);
  const auto count = static_cast<int64_t>(has.size());
  const at::Tensor owners = message.narrow(0, message.numel() - count, count).cpu();
  int64_t at = 0;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const at::Tensor& parameter = parameters[i].second;
    const at::Tensor sum = message.narrow(0, at, parameter.numel()).view(parameter.sizes());
    at += parameter.numel();
    if (parameter.grad().defined()) {
      parameter.grad().copy_(sum);
    } else if (owners[static_cast<int64_t>(i)].item<double>() > 0) {
      at::Tensor(parameter).mutable_grad() = sum.clone();
    }
  }
}

int64_t RankGroup::largest(int64_t value) {
  wire_->largest(at::from_blob(&value, {1}, at::kLong));
  return value;
}

std::string RankGroup::from_first(const std::string& bytes) {
  auto size = static_cast<int64_t>(bytes.size());
  wire_->from_first(at::from_blob(&size, {1}, at::kLong));
  std::string out = is_first() ? bytes : std::string(static_cast<std::size_t>(size), '\0');
  wire_->from_first(at::from_blob(out.data(), {size}, at::kByte));
  return out;
}

void RankGroup::from_first(const NamedTensors& tensors) {
  for (const auto& [name, tensor] : tensors) wire_->from_first(tensor.detach());
}

std::span<const int64_t> piece_of(const graph::GraphSet& store, std::span<const int64_t> ids,
                                  int rank, int world) {
  std::vector<double> until = {0};  // work of the ids before each
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const graph::StepTotals size = size_of(store, ids.subspan(i, 1));
    until.push_back(until.back() + static_cast<double>(size.nodes + size.edges + size.paths));
  }
  // The first id of a rank's piece: the one whose middle lies beyond the ranks before it.
  const auto first_of = [&](int r) {
    const double before = until.back() * r / world;
    std::size_t i = 0;
    while (i < ids.size() && (until[i] + until[i + 1]) / 2 < before) ++i;
    return i;
  };
  const std::size_t first = first_of(rank),
                    end = rank + 1 == world ? ids.size() : first_of(rank + 1);
  return ids.subspan(first, end - first);
}

Share share_of(int64_t count, int rank, int world) {
  return {count * rank / world, count * (rank + 1) / world};
}

}  // namespace kdgat::train
