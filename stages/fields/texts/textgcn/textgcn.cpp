#include "fields/texts/textgcn/textgcn.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "engine/file/tensor_hash.h"
#include "engine/memory/meter.h"
#include "engine/memory/out_of_memory.h"
#include "engine/setup/finish.h"
#include "engine/train/memory_limit.h"
#include "engine/train/metrics/class_metrics.h"
#include "engine/train/resources.h"
#include "fields/texts/model/text_gcn.h"
#include "fields/texts/textgcn/published_profile.h"
#include "fields/texts/textgcn/text_memory.h"
#include "fields/texts/textgcn/text_splits.h"
#include "fields/texts/textgcn/text_trainer.h"
#include "kdgat/figures.h"
#include "kdgat/text.h"

namespace kdgat::textgcn {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr double kMB = 1e6;

void require_texts(const json& facts) {
  if (facts.contains("text")) return;
  throw Error(ExitCode::kData, "the data is not a graph of texts",
              "this stage needs texts with labels, or kdgat data synth --kind text");
}

/// The kernels of this stage are those of the CPU, whatever device the others use.
Request on_cpu(Request request) {
  request.device = "cpu";
  return request;
}

memory::MemoryPlan memory_plan(const TextGcnOptions& options, const TextSizes& sizes,
                               bool has_validation, const Request& request) {
  train::TrainOptions one;  // of one graph, which is always the whole batch
  one.batch_size = 1;
  one.min_steps_per_epoch = 1;
  one.memory_estimation = "static";
  const json graph = {{"graphs", 1},
                      {"nodes", {{"sum", sizes.nodes}, {"max", sizes.nodes}}},
                      {"edges", {{"sum", sizes.nonzeros}, {"max", sizes.nonzeros}}}};
  return train::plan_memory(one, footprint(options, sizes, has_validation), graph, on_cpu(request));
}

json facts_of(const TextGcnOptions& options, const TextSizes& sizes, bool has_validation) {
  const texts::TextGcnConfig config = config_of(options, sizes);
  json out = {{"model", config.model},
              {"size", "custom"},
              {"parameters", count_parameters(config)},
              {"nodes", sizes.nodes},
              {"bytes", bytes_by_category(options, sizes, has_validation)}};
  if (config.model == "text_gcn") out["widths"] = {{"hidden", config.hidden_dims}};
  return out;
}

std::string megabytes(const json& bytes) {
  return format_number("%.1f MB", bytes.get<double>() / kMB);
}

/// The lines of a memory test: one graph, whatever parts there are; and what is not there.
void log_memory(const TextSplits& splits, const json& bytes, const Host& host) {
  int64_t parts = 0;
  for (const TextSplit* split : {&splits.train, &splits.val, &splits.test}) {
    parts += split->is_empty() ? 0 : 1;
  }
  const int64_t graph = splits.train.store.mapped_bytes();
  host.log("info", "graph in memory once, " + megabytes(graph) + ", for " + std::to_string(parts) +
                       " parts: saves " + megabytes((parts - 1) * graph));
  host.log("info", "planned " + megabytes(bytes.at("total")) +
                       "; a naive program's identity features alone would take " +
                       megabytes(bytes.at("identity, naive")) + " and are never allocated");
}

/// Metrics of a part from logits [N, C].
json judge(const at::Tensor& logits, const TextSplit& split) {
  const at::Tensor own = logits.index_select(0, split.documents);
  const at::Tensor probabilities = own.softmax(1).contiguous();
  const std::span<const float> p(probabilities.const_data_ptr<float>(),
                                 static_cast<std::size_t>(probabilities.numel()));
  const std::span<const int64_t> y(split.labels.const_data_ptr<int64_t>(),
                                   static_cast<std::size_t>(split.labels.numel()));
  json out = train::class_metrics(p, y, own.size(1));
  out["loss"] = at::cross_entropy_loss(own, split.labels).item<double>();
  out["averages"] = train::averaged_scores(out.at("confusion"));
  return out;
}

/// Every part evaluated by the weights that are kept, and a table of them.
void report(const TextSplits& splits, texts::TextGcn& model, json& result) {
  const at::NoGradGuard no_grad;
  model->eval();
  const texts::TextGcnConfig& config = model->config();
  texts::NodeMask documents(static_cast<std::size_t>(splits.train.store.nodes()), false);
  for (const TextSplit* split : {&splits.train, &splits.val, &splits.test}) {
    const texts::NodeMask own = split->mask();
    for (std::size_t i = 0; i < own.size(); ++i) documents[i] = documents[i] || own[i];
  }
  const texts::ProductChain chain =
      texts::make_chain(splits.matrix, documents, config.layers(), config.use_bn);
  const at::Tensor logits = model->finish(model->begin(*chain.front()), chain, {});
  json rows = json::array();
  const std::pair<const char*, const TextSplit*> parts[] = {
      {"train", &splits.train}, {"val", &splits.val}, {"test", &splits.test}};
  for (const auto& [name, split] : parts) {
    if (split->is_empty()) continue;
    const json judged = judge(logits, *split);
    const json& averages = judged.at("averages");
    rows.push_back({name, split->documents.numel(), judged.at("accuracy"),
                    averages.at("f1").at("macro"), averages.at("f1").at("weighted"),
                    averages.at("precision").at("macro"), averages.at("recall").at("macro")});
    result["metrics"]["parts"][name] = judged;
  }
  result["table"] = {{"columns",
                      {"part", "documents", "accuracy", "macro F1", "weighted F1",
                       "macro precision", "macro recall"}},
                     {"rows", std::move(rows)}};
}

std::string summary(const TextGcnOptions& options, const TextOutcome& outcome, const json& parts) {
  std::string out = options.model + "  epoch " + std::to_string(outcome.epochs) + "/" +
                    std::to_string(options.max_epochs);
  if (outcome.best_epoch != outcome.epochs) {
    out += " (best " + std::to_string(outcome.best_epoch) + ")";
  }
  const bool has_loss = outcome.kept.contains("val_loss");
  out += std::string(has_loss ? "  val loss " : "  loss ") +
         format_number("%.4f", outcome.kept.at(has_loss ? "val_loss" : "train_loss"));
  for (const char* part : {"val", "test"}) {
    if (!parts.contains(part)) continue;
    out += "  " + std::string(part) + " accuracy " +
           format_number("%.4f", parts.at(part).at("accuracy"));
  }
  if (outcome.epoch_seconds > 0) {
    out += "  " + format_number("%.3f", outcome.epoch_seconds) + " s an epoch";
  }
  return out;
}

/// What a model must know of the graph it was made for.
json layout_of(const texts::TextStore& store) {
  return {{"classes", store.class_names()},
          {"words", store.words()},
          {"graph", store.content_hash()},
          {"import", store.options()}};
}

}  // namespace

StageInfo TextGcn::info() {
  StageInfo out;
  out.name = "textgcn";
  out.summary = "Classify the documents of one graph of words and documents, on the CPU.";
  out.inputs = {graphs_of("texts")};
  out.outputs = {{"model", "text_model"}};
  out.published = published_profile(out.name);
  return out;
}

json TextGcn::plan(const Options& options, const Request& request) {
  const json& facts = request.input("graphs").facts;
  if (!facts.contains("graphs")) return json::object();
  require_texts(facts);
  const TextSizes sizes = sizes_of(facts.at("text"));
  texts::require_sparse_sizes(sizes.nodes, sizes.nonzeros,
                              config_of(options, sizes).first_columns());
  const bool has_validation = facts.at("parts").value("val", int64_t{0}) > 0;
  json out = facts_of(options, sizes, has_validation);
  json plan = memory_plan(options, sizes, has_validation, request).json();
  plan["epochs"] = options.max_epochs;
  plan["line"] = plan.at("line").get<std::string>() +
                 "; identity features, naive: " + megabytes(out.at("bytes").at("identity, naive")) +
                 ", never allocated";
  out["memory"] = std::move(plan);
  return out;
}

json TextGcn::run(const Options& options, const Request& given, Host& host) {
  const Resident start = resident_memory();
  const Request request = on_cpu(given);
  if (given.device != "cpu")
    host.log("info", "textgcn computes on the CPU, not on " + given.device);
  at::set_num_threads(std::max(1, request.threads));
  const fs::path folder = request.input("graphs").path;
  if (!texts::TextStore::is_store(file::SafetensorsFile::open(folder / "graphs.safetensors")))
    require_texts({});
  const TextSplits splits = open_splits(folder, options.use_edge_weights);
  const texts::TextStore& store = splits.train.store;
  const TextSizes sizes{store.nodes(), store.nonzeros(), store.classes()};
  const texts::TextGcnConfig config = config_of(options, sizes);
  texts::require_sparse_sizes(sizes.nodes, sizes.nonzeros, config.first_columns());
  const bool has_validation = !splits.val.is_empty();
  json planned = memory_plan(options, sizes, has_validation, request).json();
  memory::set_reported_plan(planned);
  host.metrics("memory", 0, {{"event", "plan"}, {"plan", planned}});
  train::limit_memory(at::kCPU, request);
  json facts = facts_of(options, sizes, has_validation);
  log_memory(splits, facts.at("bytes"), host);
  if (!has_validation && options.stop != "never") {
    host.log("info", "no validation documents: all " + std::to_string(options.max_epochs) +
                         " epochs are trained");
  }

  const memory::Label label("weights");
  texts::TextGcn model(config, static_cast<uint64_t>(request.seed));
  const std::string what = train::result_options(options).dump() + store.content_hash();
  const auto seed = static_cast<uint64_t>(request.seed);
  train::Progress progress(train::checkpoint_file(request),
                           file::hash_bytes(what.data(), what.size()), seed);
  TextOutcome outcome;
  {
    TextTrainer trainer(options, splits, model, seed, std::move(progress), host);
    outcome = trainer.run();
  }
  json result = {{"metrics", outcome.kept}};
  report(splits, model, result);
  json& metrics = result["metrics"];
  metrics["epochs"] = outcome.epochs;
  metrics["best_epoch"] = outcome.best_epoch;
  metrics["stopped_by"] = outcome.stopped_by;
  metrics["train_documents"] = splits.train.documents.numel();
  metrics["epoch_seconds"] = outcome.epoch_seconds;
  if (outcome.checkpoints > 0) {
    metrics["checkpoints"] = {{"count", outcome.checkpoints},
                              {"seconds", outcome.checkpoint_seconds}};
  }
  const memory::Counters counters = memory::meter(at::kCPU).counters();
  const Resident end = resident_memory();
  metrics["memory"] = {{"start_resident_bytes", start.now},
                       {"peak_resident_bytes", end.peak},
                       {"peak_over_start_bytes", std::max<int64_t>(0, end.peak - start.now)},
                       {"peak_tensor_bytes", counters.peak_allocated},
                       {"planned", facts.at("bytes")}};
  setup::finish(request, *model, {"text_gcn", config, layout_of(store), {}});
  result["figures"] = step_figures(metrics);
  result["summary"] = summary(options, outcome, metrics.at("parts"));
  result["memory"] = {{"planned", std::move(planned)},
                      {"actual",
                       {{"peak_tensor_bytes", counters.peak_allocated},
                        {"peak_reserved_bytes", counters.peak_reserved},
                        {"context_bytes", memory::anonymous_memory() - counters.reserved}}}};
  result["facts"] = std::move(facts);
  return result;
}

}  // namespace kdgat::textgcn
