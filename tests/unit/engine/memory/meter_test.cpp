#include "engine/memory/meter.h"

#include <torch/types.h>

#include <new>

#include "engine/arrays/buffer.h"
#include "support/catch_torch.h"

using namespace kdgat;

TEST_CASE("the meter sees every tensor and every batch buffer", "[memory]") {
  memory::MemoryMeter& meter = memory::meter(torch::kCPU);
  const int64_t before = meter.counters().allocated;
  {
    const memory::PeakScope scope(meter);
    const torch::Tensor a = torch::empty({1000, 300});          // 1,200,000
    const torch::Tensor b = torch::empty({5}, torch::kDouble);  // 40
    CHECK(meter.counters().allocated - before == 1200040);
    {
      const torch::Tensor view = a.slice(0, 0, 10);
      const memory::PeakScope inner(meter);
      { const torch::Tensor c = torch::empty({500000}, torch::kByte); }
      CHECK(inner.peak() - inner.start() == 500000);
      CHECK(meter.counters().allocated - before == 1200040);
    }
    CHECK(scope.peak() - scope.start() == 1700040);
    arrays::Buffer<int32_t> buffer;
    buffer.resize(400);  // and a quarter to grow
    CHECK(meter.counters().allocated - before == 1202040);
  }
  CHECK(meter.counters().allocated == before);
}

TEST_CASE("RssAnon grows by no more than the tensors' bytes", "[memory]") {
  memory::MemoryMeter& meter = memory::meter(torch::kCPU);
  torch::set_num_threads(1);
  torch::mm(torch::ones({64, 64}), torch::ones({64, 64}));  // loads what it needs
  meter.trim();
  const int64_t tensors = meter.counters().allocated, rss = memory::anonymous_memory();
  std::vector<torch::Tensor> held;
  for (int round = 0; round < 60; ++round) {
    held.push_back(torch::ones({(37 + 91 * round) % 997 + 200, 311}));
    if (round % 3 == 2) held.erase(held.begin() + round / 3);
    held.back().add_(torch::ones({311}) * 2);
  }
  const auto more = static_cast<double>(meter.counters().peak_allocated - tensors);
  CHECK(static_cast<double>(memory::anonymous_memory() - rss) < 1.1 * more + (32 << 20));
}

TEST_CASE("out of memory is recognised by what is thrown, whoever throws it", "[memory]") {
  memory::MemoryMeter& meter = memory::meter(torch::kCPU);
  meter.set_limit(meter.counters().reserved + (1 << 20));
  bool caught = false;
  try {
    torch::empty({100 << 20});
  } catch (const std::exception& error) {
    caught = memory::is_out_of_memory(error);
    CHECK(std::string(error.what()).find("no memory for 419430400 bytes") != std::string::npos);
  }
  meter.set_limit(0);
  CHECK(caught);
  CHECK(memory::is_out_of_memory(std::bad_alloc()));
  CHECK_FALSE(memory::is_out_of_memory(std::runtime_error("out of memory")));
  try {
    TORCH_CHECK(false, "DefaultCPUAllocator: can't allocate memory: you tried to allocate 5 bytes");
  } catch (const std::exception& error) {
    CHECK(memory::is_out_of_memory(error));
  }
  try {
    TORCH_CHECK(false, "shapes differ");
  } catch (const std::exception& error) {
    CHECK_FALSE(memory::is_out_of_memory(error));
  }
}
