#include "engine/objective/teacher.h"

#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <set>
#include <system_error>

#include "engine/kernels/full_precision.h"
#include "engine/model/model_file.h"
#include "engine/objective/autoencoder_objective.h"
#include "engine/objective/classifier_objective.h"
#include "engine/objective/load_scorer.h"
#include "engine/objective/teacher_cache.h"
#include "kdgat/kinds.h"
#include "kdgat/text.h"

namespace kdgat::objective {
namespace {

namespace fs = std::filesystem;

std::string content_of(const file::SafetensorsFile& file, const nlohmann::json& config) {
  std::string all = config.dump();
  for (const auto& [name, view] : file.tensors()) {
    all += name + nlohmann::json(view.shape).dump() + file::hash_bytes(view.data, view.bytes);
  }
  return file::hash_bytes(all.data(), all.size());
}

/// Graph g of a batch alone, looking into it; on the CPU.
kernels::BatchTensors one_of(const kernels::BatchTensors& all, const graph::GraphBatch& batch,
                             int64_t g) {
  const int64_t first = batch.node_ptr[g], end = batch.node_ptr[g + 1];
  const int64_t first_edge = batch.in_ptr[first], end_edge = batch.in_ptr[end];
  kernels::BatchTensors out = all;
  out.x_NF = all.x_NF.slice(0, first, end);
  out.id_N = all.id_N.slice(0, first, end);
  out.node_ptr_G1 = all.node_ptr_G1.slice(0, g, g + 2) - first;
  out.in_ptr_N1 = all.in_ptr_N1.slice(0, first, end + 1) - first_edge;
  out.in_source_E = all.in_source_E.slice(0, first_edge, end_edge) - first;
  if (all.edge_attr_ED.defined())
    out.edge_attr_ED = all.edge_attr_ED.slice(0, first_edge, end_edge);
  out.y_G = all.y_G.slice(0, g, g + 1);
  out.graph_id_G = all.graph_id_G.slice(0, g, g + 1);
  out.graphs = 1;
  out.nodes = end - first;
  out.edges = end_edge - first_edge;
  return out;
}

/// "autoencoder (vgae), classifier (gat)": what the models below a folder are.
std::string list_of(const std::vector<std::pair<fs::path, std::string>>& models) {
  std::string out;
  for (const auto& [file, name] : models) {
    out += (out.empty() ? "" : ", ") + file.parent_path().filename().string() + " (" + name + ")";
  }
  return out;
}

}  // namespace

fs::path find_teacher(const fs::path& path, const std::string& model) {
  std::error_code ignored;
  const std::string extension = path.extension().string();
  for (const char* foreign : {".pt", ".pth", ".ckpt", ".pkl", ".bin"}) {
    if (extension != foreign) continue;
    throw Error(
        ExitCode::kUsage, "teacher " + path.string() + ": PyTorch files are not read",
        "convert it once: scripts/convert_checkpoint " + path.string() + " -o teacher.safetensors");
  }
  if (!fs::exists(path, ignored)) {
    throw Error(ExitCode::kUsage, "teacher " + path.string() + ": there is no such file or folder",
                "teacher_path takes a run folder, a step folder or a model.safetensors");
  }
  if (!fs::is_directory(path, ignored)) return path;
  if (fs::exists(path / kModelFile, ignored)) return path / kModelFile;
  std::vector<std::pair<fs::path, std::string>> all, fitting;
  std::set<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(path)) folders.insert(entry.path());
  for (const fs::path& folder : folders) {
    const fs::path file = folder / kModelFile;
    if (!fs::exists(file, ignored)) continue;
    const std::string name = model::load_header(file::SafetensorsFile::open(file)).name;
    all.emplace_back(file, name);
    if (name == model) fitting.emplace_back(file, name);
  }
  if (fitting.size() == 1) return fitting.front().first;
  if (!fitting.empty()) {
    throw Error(ExitCode::kUsage,
                "teacher " + path.string() + ": several models could be it: " + list_of(fitting),
                "name one, teacher_path=" + fitting.front().first.parent_path().string());
  }
  throw Error(
      ExitCode::kUsage,
      "teacher " + path.string() + ": holds no " + model + " model" +
          (all.empty() ? "" : ", only " + list_of(all)),
      "train it first; of a step that was kept, name the folder of the run that trained it");
}

ModelTeacher::ModelTeacher(const fs::path& file, const std::string& model,
                           const nlohmann::json& data) {
  const file::SafetensorsFile opened = file::SafetensorsFile::open(file);
  const model::ModelHeader header = model::load_header(opened);
  const auto refuse = [&](const std::string& reason, const std::string& hint) {
    throw Error(ExitCode::kData, "teacher " + file.string() + ": " + reason, hint);
  };
  if (header.name != model) {
    refuse("is a " + header.name + " model, the student needs a " + model,
           "an autoencoder learns from a vgae, a classifier from a gat");
  }
  if (const std::string reason = model::layout_difference(header.data, data); !reason.empty()) {
    refuse(reason, "train the teacher on the same data set as the student");
  }
  scorer_ = load_scorer(file, torch::kCPU);
  if (auto* classifier = dynamic_cast<ClassifierObjective*>(scorer_.get())) {
    model::GraphClassifier net = classifier->model();
    module_ = net.ptr();
    forward_ = [net](const kernels::BatchTensors& batch) mutable -> std::vector<torch::Tensor> {
      return {net->forward(batch)};
    };
    tensors_ = {{"logits", false, net->config().classes}};
  } else if (auto* autoencoder = dynamic_cast<AutoencoderObjective*>(scorer_.get())) {
    model::GraphAutoencoder net = autoencoder->model();
    module_ = net.ptr();
    forward_ = [net](const kernels::BatchTensors& batch) mutable -> std::vector<torch::Tensor> {
      const model::VgaeOutput out = net->forward(batch);
      return {out.mean_NL, out.features_NX};
    };
    tensors_ = {{"latent", true, net->config().latent_dim},
                {"features", true, net->config().features()}};
  } else {
    refuse("a " + header.name + " model cannot teach", "");
  }
  for (torch::Tensor& weight : module_->parameters()) weight.requires_grad_(false);
  content_hash_ = content_of(opened, header.config);
  config_ = header.config;
}

std::vector<torch::Tensor> ModelTeacher::weights() const {
  std::vector<torch::Tensor> out = module_->parameters();
  for (const torch::Tensor& buffer : module_->buffers()) out.push_back(buffer);
  return out;
}

int64_t ModelTeacher::bytes() const {
  int64_t sum = 0;
  for (const torch::Tensor& weight : weights()) sum += static_cast<int64_t>(weight.nbytes());
  return sum;
}

void ModelTeacher::place(torch::Device device, bool offload) {
  device_ = device;
  if (!device.is_cpu() && !device.has_index()) {
    device_ = c10::impl::VirtualGuardImpl(device.type()).getDevice();
  }
  if (!offload || device.is_cpu()) {
    module_->to(device);
    return;
  }
  for (torch::Tensor& weight : weights()) {
    weight.set_data(weight.pin_memory());
    host_.push_back(weight.detach());
  }
}

void ModelTeacher::prepare() {
  if (host_.empty() || !copies_.empty()) return;
  const c10::impl::VirtualGuardImpl device(device_.type());
  const c10::Stream current = device.getStream(device_);
  const c10::Stream side = device.getStreamFromGlobalPool(device_);
  // Allocated for the current stream, whose earlier kernels may still read this memory.
  for (const torch::Tensor& weight : host_) copies_.push_back(at::empty_like(weight, device_));
  c10::Event free(device_.type());
  free.record(current);
  free.block(side);
  {
    const c10::StreamGuard guard(side);
    for (std::size_t i = 0; i < host_.size(); ++i) copies_[i].copy_(host_[i], true);
  }
  const auto copied = std::make_shared<c10::Event>(device_.type());
  copied->record(side);
  wait_ = [copied, current] { copied->block(current); };
}

std::vector<torch::Tensor> ModelTeacher::outputs(const graph::GraphBatch& batch) {
  const torch::NoGradGuard no_grad;
  const kernels::FullPrecision exact;  // as it was when its outputs were cached
  prepare();
  const std::vector<torch::Tensor> own = weights();
  if (!host_.empty()) {
    wait_();
    for (std::size_t i = 0; i < own.size(); ++i) own[i].set_data(copies_[i]);
  }
  const kernels::BatchTensors tensors = kernels::to_tensors(batch, device_);
  std::vector<torch::Tensor> out;
  if (device_.is_cpu()) {
    // One graph after another: how a matrix product rounds depends on how many rows it has.
    for (const TeacherTensor& t : tensors_) {
      out.push_back(torch::empty({t.per_node ? batch.nodes : batch.graphs, t.width}));
    }
    for (int64_t g = 0; g < batch.graphs; ++g) {
      const std::vector<torch::Tensor> one = forward_(one_of(tensors, batch, g));
      for (std::size_t i = 0; i < out.size(); ++i) {
        const int64_t row = tensors_[i].per_node ? batch.node_ptr[g] : g;
        out[i].narrow(0, row, one[i].size(0)).copy_(one[i]);
      }
    }
  } else {
    for (const torch::Tensor& value : forward_(tensors)) out.push_back(value.to(at::kFloat));
  }
  for (std::size_t i = 0; i < host_.size(); ++i) own[i].set_data(host_[i]);
  copies_.clear();  // the allocator hands this memory to what the current stream does next
  return out;
}

std::unique_ptr<ModelTeacher> load_teacher(const fs::path& path, const std::string& model,
                                           const nlohmann::json& data) {
  if (path.empty()) return nullptr;
  return std::make_unique<ModelTeacher>(find_teacher(path, model), model, data);
}

TeacherUse teacher_use(const KdOptions& options, const Request& request, const Host& host) {
  TeacherUse out{options.teacher,
                 options.use_teacher_cache,
                 options.offload_teacher_to_cpu,
                 request.run_dir,
                 torch::Device(request.device),
                 {},
                 {}};
  out.note = [&host](const std::string& text) { host.log("info", text); };
  out.progress = [&host](int64_t done, int64_t total) {
    host.progress("teacher", "graph", done, total);
    const ExitCode code = host.cancelled();
    if (code != ExitCode::kOk) throw Error(code, "stopped while the teacher was running");
  };
  return out;
}

std::unique_ptr<Teacher> keep_teacher(std::unique_ptr<ModelTeacher> teacher,
                                      const graph::GraphStore& store,
                                      const std::vector<int64_t>& graphs, const TeacherUse& use) {
  const int64_t bytes = teacher_cache_bytes(*teacher, store, graphs);
  const std::string size =
      mebibytes(bytes) + " of outputs for " + std::to_string(graphs.size()) + " graphs";
  std::string mode = use.mode, why;
  if (mode == "auto") {
    constexpr int64_t kLargest = int64_t{8} << 30;
    std::error_code no_disk;
    const fs::space_info disk = fs::space(use.folder, no_disk);
    const int64_t bound =
        no_disk ? 0 : std::min(kLargest, static_cast<int64_t>(disk.available / 4));
    if (use.may_cache && bytes <= bound) {
      mode = "cache";
    } else {
      mode = use.may_offload ? "offload" : "resident";
      why = use.may_cache ? "; " + size + " are more than " + mebibytes(bound) : "";
    }
  }
  if (mode == "cache" && use.folder.empty()) {
    throw Error(ExitCode::kUsage, "teacher=cache needs a run folder", "use teacher=resident");
  }
  const std::string weights = mebibytes(teacher->bytes()) + " of weights";
  if (mode != "cache") {
    const bool is_cpu = use.device.is_cpu();
    teacher->place(use.device, mode == "offload");
    use.note("teacher: " + mode + ", " + weights + why +
             (mode == "offload" && is_cpu ? "; on the CPU that is the same as resident" : ""));
    return teacher;
  }
  teacher->place(use.device, false);
  std::unique_ptr<Teacher> cached = cache_teacher(*teacher, store, graphs, use);
  teacher.reset();
  use.note("teacher: cache, " + size + " in " + teacher_cache_file(use.folder).string() + "; its " +
           weights + " left memory");
  return cached;
}

}  // namespace kdgat::objective
