#include "engine/setup/finish.h"

#include "engine/objective/teacher_cache.h"
#include "engine/train/checkpoint.h"

namespace kdgat::setup {

void finish(const Request& request, const torch::nn::Module& module,
            const model::ModelHeader& header) {
  model::save_model(request.run_dir / "model.safetensors", module, header);
  train::clear_checkpoint(request);
  objective::clear_teacher_cache(request.run_dir);
}

}  // namespace kdgat::setup
