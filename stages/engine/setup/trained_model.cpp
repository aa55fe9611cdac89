#include "engine/setup/trained_model.h"

#include "engine/train/memory_limit.h"
#include "engine/train/resources.h"

namespace kdgat::setup {

c10::Device prepare_scoring(const Request& request, const Host& host) {
  const c10::Device device = train::prepare(train::TrainOptions(), request);
  train::limit_memory(device, request);
  train::log_kernels(device, host);
  return device;
}

}  // namespace kdgat::setup
