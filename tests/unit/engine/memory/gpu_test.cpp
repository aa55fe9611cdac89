// What only a device shows; skipped, saying so, without one. Run by scripts/bench gpu.
#include <torch/types.h>

#include "autoencoder/autoencoder.h"
#include "engine/memory/meter.h"
#include "support/cards/needs_card.h"
#include "support/catch_torch.h"
#include "support/runs/stage_fixture.h"

using namespace kdgat;

TEST_CASE("the meter of a device sees its tensors and gives back what is unused", "[gpu][memory]") {
  if (!test::has_card()) return;
  memory::MemoryMeter& meter = memory::meter(torch::Device("cuda"));
  const int64_t before = meter.counters().allocated;
  {
    const memory::PeakScope scope(meter);
    const torch::Tensor held = torch::empty({1 << 20}, torch::device(torch::kCUDA));
    CHECK(meter.counters().allocated - before == 4 << 20);
    { const torch::Tensor more = torch::empty({2 << 20}, torch::device(torch::kCUDA)); }
    CHECK(scope.peak() - scope.start() == 12 << 20);
  }
  CHECK(meter.trim() >= 12 << 20);
  CHECK(meter.counters().allocated == before);
  CHECK(meter.free() > 0);
  CHECK(meter.total() >= meter.free());
}

TEST_CASE("training on a device stays within its plan's margin", "[gpu][memory]") {
  if (!test::has_card()) return;
  test::StageFixture f;
  Request request = f.request("autoencoder");
  request.device = "cuda";
  const auto result =
      autoencoder::Autoencoder::run(test::small_autoencoder(), request, f.fake.host);
  const auto& planned = result.at("memory").at("planned");
  const auto seen = result.at("memory").at("actual").at("peak_tensor_bytes").get<double>();
  CHECK(planned.at("mode") == "measured");
  CHECK(seen <= planned.at("predicted").get<double>() * (1.1 + planned.at("margin").get<double>()));
}
