#include "export/onnx_check.h"

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "engine/data/can/windows/relative_windows.h"
#include "engine/export/c/runtime_texts.h"
#include "engine/file/safetensors.h"
#include "export/made_up_frames.h"
#include "export/run_program.h"
#include "kdgat/atomic_file.h"
#include "kdgat/error.h"

namespace kdgat::exporting {
namespace {

/// Windows as the file takes them: one graph after another.
struct Vectors {
  std::vector<float> x, edge_attr, score;
  std::vector<int64_t> source, target, batch;
  int64_t graphs = 0, node_features = 0, edge_features = 0;

  void add(const graph::GraphBatch& from, std::span<const float> scores) {
    const auto nodes = static_cast<int64_t>(batch.size());
    node_features = from.node_features;
    edge_features = from.edge_attr.size() > 0 ? from.edge_features : 0;
    x.insert(x.end(), from.x.data(), from.x.data() + from.x.size());
    if (edge_features > 0) {
      edge_attr.insert(edge_attr.end(), from.edge_attr.data(),
                       from.edge_attr.data() + from.edge_attr.size());
    }
    for (int64_t g = 0; g < from.graphs; ++g) {
      for (int32_t n = from.node_ptr.data()[g]; n < from.node_ptr.data()[g + 1]; ++n) {
        batch.push_back(graphs + g);
        for (int32_t e = from.in_ptr.data()[n]; e < from.in_ptr.data()[n + 1]; ++e) {
          source.push_back(nodes + from.in_source.data()[e]);
          target.push_back(nodes + n);
        }
      }
    }
    graphs += from.graphs;
    score.insert(score.end(), scores.begin(), scores.end());
  }
};

void write_script(const std::filesystem::path& folder) {
  AtomicFile script(folder / kCheckScript);
  script.write(runtime_text(kCheckScript));
  script.commit();
}

}  // namespace

void write_vectors(const std::filesystem::path& folder, native::GraphNetwork& network,
                   const CheckWindows& windows) {
  Vectors vectors;
  std::vector<float> scores;
  windows.each([&](const graph::GraphBatch& batch) {
    if (vectors.graphs + batch.graphs > kMostVectors && vectors.graphs > 0) return;
    scores.resize(static_cast<std::size_t>(batch.graphs));
    network.raw_scores(batch, scores);
    for (float& score : scores) score = static_cast<float>(network.score_of(score));
    vectors.add(batch, scores);
  });
  std::vector<int64_t> edges = vectors.source;
  edges.insert(edges.end(), vectors.target.begin(), vectors.target.end());
  const auto count = [](const auto& values) { return static_cast<int64_t>(values.size()); };
  file::SafetensorsWriter file;
  file.without_padding();
  file.add("edge_index", {2, count(vectors.source)}, std::span<const int64_t>(edges));
  file.add("batch", {count(vectors.batch)}, std::span<const int64_t>(vectors.batch));
  file.add("x", {count(vectors.batch), vectors.node_features}, std::span<const float>(vectors.x));
  if (vectors.edge_features > 0) {
    file.add("edge_attr", {count(vectors.source), vectors.edge_features},
             std::span<const float>(vectors.edge_attr));
  }
  file.add("score", {vectors.graphs}, std::span<const float>(vectors.score));
  file.write(folder / kVectorsFile);
  write_script(folder);
}

void write_detector_vectors(const std::filesystem::path& folder,
                            const decision::DetectorModel& model, const data::Vehicle& vehicle) {
  constexpr int64_t kFrames = 50'000;
  std::vector<int64_t> keys;
  for (const uint32_t id : vehicle.ids()) keys.push_back(id);
  const decision::Decision& decision = model.decision(vehicle.own);
  data::RelativeWindows windows(vehicle.profile, model.window);
  std::vector<float> x, scores;
  const auto take = [&] {
    data::RelativeWindow window = windows.window();
    window.broken = 0;  // laws of payloads are no part of the form
    x.insert(x.end(), window.x.begin(), window.x.end());
    scores.push_back(static_cast<float>(model.score(window, decision)));
  };
  for (const data::CanFrame& frame : made_up_frames(keys, kFrames)) {
    if (windows.add(frame)) take();
  }
  while (windows.finish()) take();
  const auto count = static_cast<int64_t>(scores.size());
  file::SafetensorsWriter file;
  file.without_padding();
  file.add("x", {count, static_cast<int64_t>(data::kRelativeColumns)}, std::span<const float>(x));
  file.add("score", {count}, std::span<const float>(scores));
  file.write(folder / kVectorsFile);
  write_script(folder);
}

std::optional<Check> check_by_runtime(const std::filesystem::path& folder, const std::string& file,
                                      double threshold, std::string& why) {
  // -I: no module of the current folder, of PYTHONPATH or of the user's own folder.
  const Ran found = run_program({"python3", "-I", "-c", "import numpy, onnxruntime"});
  if (found.code != 0) {
    why = found.code == 127 ? "this machine has no python3"
                            : "python3 -I (without the packages of a user) finds no numpy and "
                              "onnxruntime; install them in a virtual environment";
    return std::nullopt;
  }
  const std::filesystem::path from = std::filesystem::absolute(folder);
  const std::filesystem::path answer = from / "check.json";
  const Ran ran = run_program({"python3", "-I", (from / kCheckScript).string(),
                               (from / file).string(), "--json", answer.string()});
  Check check;
  check.what = file + " by ONNX Runtime against the native engine";
  check.where = "the windows of " + std::string(kVectorsFile);
  try {
    const file::SafetensorsFile vectors = file::SafetensorsFile::open(folder / kVectorsFile);
    const std::span<const float> reference = vectors.require<float>("score", {-1});
    std::ifstream stream(answer);
    const auto scores = nlohmann::json::parse(stream).at("score").get<std::vector<double>>();
    if (scores.size() != reference.size()) throw Error(ExitCode::kData, "other windows");
    for (std::size_t i = 0; i < scores.size(); ++i) check.add(scores[i], reference[i], threshold);
  } catch (const std::exception&) {
    throw Error(ExitCode::kData, "ONNX Runtime cannot run the file: " +
                                     (ran.output.empty() ? "no answer" : ran.output));
  }
  std::filesystem::remove(answer);
  check.finish();
  return check;
}

}  // namespace kdgat::exporting
