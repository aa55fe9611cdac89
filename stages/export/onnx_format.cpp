#include "export/onnx_format.h"

#include <array>

#include "engine/export/onnx/onnx_detector.h"
#include "engine/export/onnx/onnx_network.h"
#include "export/making.h"
#include "export/onnx_check.h"

namespace kdgat::exporting {
namespace {

constexpr std::array kOpsets = {kOldestOpset, kNewestOpset};

std::string onnx_name(const Making& making, int opset) {
  return making.options.name + "-opset" + std::to_string(opset) + ".onnx";
}

void check_onnx(Making& making, int least_opset, double threshold) {
  making.about.again = "    python3 " + std::string(kCheckScript) + "\n\nreads `" + kVectorsFile +
                       "`, windows with their scores, and needs the Python packages `numpy` and "
                       "`onnxruntime`. It shows how the files are fed, too.\n";
  for (const int opset : kOpsets) {
    if (opset < least_opset) continue;
    making.stop_if_cancelled();
    std::string why;
    const auto check =
        check_by_runtime(making.folder.staging(), onnx_name(making, opset), threshold, why);
    if (!check) {
      making.checks.not_done.push_back("the ONNX files by ONNX Runtime, as " + why + ".");
      return;
    }
    making.checks.done.push_back(*check);
  }
}

}  // namespace

void export_detector_onnx(Making& making, const decision::DetectorModel& model,
                          const data::Vehicle& vehicle) {
  for (const int opset : kOpsets) {
    making.folder.write(onnx_name(making, opset),
                        onnx_detector(model, vehicle, making.about.hash, opset));
  }
  write_detector_vectors(making.folder.staging(), model, vehicle);
  check_onnx(making, kOldestOpset, 0);
}

void export_network_onnx(Making& making, const MadeNetwork& made) {
  const int least = least_opset(made.model.header);
  for (const int opset : kOpsets) {
    if (opset < least) continue;
    making.folder.write(onnx_name(making, opset),
                        onnx_network(made.model.file, made.model.header, opset));
  }
  write_vectors(making.folder.staging(), made.network, made.windows);
  check_onnx(making, least, made.threshold);
}

}  // namespace kdgat::exporting
