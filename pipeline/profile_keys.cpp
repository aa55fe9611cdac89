#include "pipeline/profile_keys.h"

#include <map>

namespace kdgat {

using nlohmann::json;

const json& host_schema() {
  static const json schema = {
      {"type", "object"},
      {"properties",
       {{"dataset",
         {{"type", "string"},
          {"default", "default"},
          {"description", "Name of the data set: the folder of its runs below root."}}},
        {"device",
         {{"type", "string"},
          {"default", "auto"},
          {"description", "auto, cpu, cuda or cuda:N."},
          {"x-runtime", true}}},
        {"threads",
         {{"type", "integer"},
          {"minimum", 0},
          {"maximum", 4096},
          {"default", 0},
          {"description", "Threads of a stage; 0 = as many as this process may use."},
          {"x-runtime", true}}},
        {"seed",
         {{"type", "integer"},
          {"minimum", 0},
          {"default", 42},
          {"description", "Seed of every stage (the split has its own: data.seed)."}}},
        {"root",
         {{"type", "string"},
          {"default", "runs"},
          {"description", "Folder that holds all runs."},
          {"x-aliases", {"experiment_root"}},
          {"x-runtime", true}}}}}};
  return schema;
}

const PublishedKey* published_key(const std::string& name) {
  static const std::vector<PublishedKey> keys = {
      {"num_workers", {}, "no effect: batches are gathered from the mapping, there are no workers"},
      {"mp_start_method", {}, "no effect: there are no data-loader processes"},
      {"model_size", {}, "only a label: the presets teacher and student set the sizes"},
      {"modality", {"automotive"}, "only CAN traffic of cars (automotive) can be read"},
      {"run_test", {true}, "tests belong to the step evaluate: leave that step out instead"},
      {"log_teacher_student_comparison", {}, ""},
      {"training_step_interval", {}, "no effect: gpu_training_steps are the steps of an episode"},
  };
  for (const PublishedKey& key : keys) {
    if (key.name == name) return &key;
  }
  return nullptr;
}

std::string published_stage(const std::string& name) {
  static const std::map<std::string, std::string> stages = {{"normal", "classifier"},
                                                            {"evaluation", "evaluate"}};
  const auto found = stages.find(name);
  return found == stages.end() ? "" : found->second;
}

}  // namespace kdgat
