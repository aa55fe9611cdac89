// Sizes of the detectors: the one place for those of the published teachers and students, which
// model configurations and the options of the stages share. profiles/teacher.yaml and
// profiles/student.yaml state them too; a test holds them equal.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kdgat::model {

/// Of an autoencoder.
struct VgaeSizes {
  /// Widths of the encoder; a last one equal to latent_dim stands for the latent layer itself.
  std::vector<int64_t> hidden_dims = {480, 240, 48};
  int64_t latent_dim = 48;
  int64_t heads = 4;  ///< of the first encoder layer
  int64_t embedding_dim = 32;
  double dropout = 0.15;

  bool operator==(const VgaeSizes&) const = default;
};

inline VgaeSizes vgae_teacher() { return {}; }
inline VgaeSizes vgae_student() {
  return {.hidden_dims = {80, 40, 16},
          .latent_dim = 16,
          .heads = 1,
          .embedding_dim = 4,
          .dropout = 0.1};
}

/// Of a classifier.
struct GatSizes {
  int64_t hidden = 48;  ///< channels of each head
  int64_t layers = 3;
  int64_t heads = 8;
  int64_t embedding_dim = 16;
  int64_t fc_layers = 3;
  double dropout = 0.2;

  bool operator==(const GatSizes&) const = default;
};

/// The published runs have two fully connected layers, the published defaults three.
inline GatSizes gat_teacher() {
  GatSizes out;
  out.fc_layers = 2;
  return out;
}
inline GatSizes gat_student() {
  return {
      .hidden = 24, .layers = 2, .heads = 4, .embedding_dim = 8, .fc_layers = 3, .dropout = 0.1};
}

/// "student", "teacher" or "custom", by what makes its parameters: any dropout; the published
/// teacher of a classifier has two or three fully connected layers, by where it is told.
std::string size_name(VgaeSizes sizes);
std::string size_name(GatSizes sizes);

}  // namespace kdgat::model
