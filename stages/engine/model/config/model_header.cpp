#include "engine/model/config/model_header.h"

#include <cmath>
#include <cstdlib>

#include "engine/file/metadata_json.h"
#include "kdgat/error.h"
#include "kdgat/text.h"

namespace kdgat::model {

void require_room(const file::SafetensorsFile& file, double numbers, double tensors) {
  double held = 0;
  for (const auto& [name, view] : file.tensors()) held += static_cast<double>(view.elements());
  const auto count = static_cast<double>(file.tensors().size());
  // A model that is not much larger is built, and what differs is said tensor by tensor.
  constexpr double kTimes = 4, kNumbers = 1 << 20, kTensors = 100;
  if (numbers <= kTimes * held + kNumbers && tensors <= kTimes * count + kTensors) return;
  const auto words = [](double of_numbers, double of_tensors) {
    return format_number("%.15g", of_numbers) + " numbers in " +
           format_number("%.15g", of_tensors) + " tensors";
  };
  throw Error(ExitCode::kData,
              file.path().string() + ": its configuration is of a model of at least " +
                  words(numbers, tensors) + ", the file holds " + words(held, count));
}

ModelHeader load_header(const file::SafetensorsFile& file) {
  const auto entry = [&file](const char* key) {
    const auto found = file.metadata().find(key);
    if (found == file.metadata().end()) {
      throw Error(ExitCode::kData,
                  file.path().string() + ": not a model: no metadata '" + std::string(key) + "'");
    }
    return found->second;
  };
  const auto object = [&](const char* key) {
    nlohmann::json value = file::metadata_json(file, key);
    if (value.is_object()) return value;
    throw Error(ExitCode::kData,
                file.path().string() + ": metadata '" + key + "' is not a JSON object");
  };
  const auto optional_object = [&](const char* key) {
    return file.metadata().contains(key) ? object(key) : nlohmann::json::object();
  };
  ModelHeader out{entry("model"), object("config"), optional_object("data"),
                  optional_object("decision")};
  if (out.decision.contains("threshold")) {
    const nlohmann::json& threshold = out.decision.at("threshold");
    const bool is_sound = threshold.is_number() && std::isfinite(threshold.get<double>()) &&
                          out.decision.value("from", nlohmann::json("val")).is_string();
    if (!is_sound) {
      throw Error(
          ExitCode::kData,
          file.path().string() + ": metadata 'decision' has a threshold that is not a number");
    }
  }
  return out;
}

std::optional<Decision> decision_of(const ModelHeader& header) {
  if (header.decision.contains("threshold")) {
    return Decision{header.decision.at("threshold"), header.decision.value("from", "val")};
  }
  if (header.name == "gat") return Decision{0.5, "fixed"};
  return std::nullopt;
}

int64_t parameters_of(const file::SafetensorsFile& file) {
  const auto found = file.metadata().find("parameters");
  if (found != file.metadata().end()) return std::atoll(found->second.c_str());
  int64_t count = 0;  // a converted file: buffers are few
  for (const auto& [name, tensor] : file.tensors()) {
    int64_t size = 1;
    for (const int64_t extent : tensor.shape) size *= extent;
    count += size;
  }
  return count;
}

std::string layout_difference(const nlohmann::json& of_model, const nlohmann::json& here) {
  const auto differs = [&](const char* key) {
    return of_model.value(key, nlohmann::json()) != here.value(key, nlohmann::json());
  };
  const auto size = [](const nlohmann::json& of, const char* key) {
    return std::to_string(of.value(key, nlohmann::json::array()).size());
  };
  if (of_model.empty()) return "it does not say which graphs it was made for";
  if (differs("node_features") || differs("edge_features")) {
    return "other feature layout: " + of_model.value("node_features", nlohmann::json()).dump() +
           ", here " + here.value("node_features", nlohmann::json()).dump();
  }
  if (differs("vocabulary")) {
    return "other vocabulary: " + size(of_model, "vocabulary") + " ids, here " +
           size(here, "vocabulary") +
           (size(of_model, "vocabulary") == size(here, "vocabulary") ? ", not the same" : "");
  }
  if (differs("classes")) {
    return "other classes: " + of_model.value("classes", nlohmann::json()).dump() + ", here " +
           here.value("classes", nlohmann::json()).dump();
  }
  return "";
}

}  // namespace kdgat::model
