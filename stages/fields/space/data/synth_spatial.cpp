#include "fields/space/data/synth_spatial.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "engine/arrays/random.h"
#include "engine/data/core/folder_files.h"
#include "kdgat/atomic_file.h"
#include "kdgat/error.h"

namespace kdgat::space {
namespace {

using Vector = std::array<double, 3>;

constexpr uint64_t kTreeStream = 11, kPointStream = 12;

/// A number between -1 and 1, more often near 0. Of uniform numbers and sums alone: library
/// functions may differ in the last bit, and few such bits reach the digits written.
double bell(arrays::Random& random) {
  double total = random.uniform();
  total += random.uniform();
  total += random.uniform();
  return total / 1.5 - 1;
}

double share_of(const data::SynthSize& options, int64_t graph) {
  if (options.classes < 2) return 0;
  return static_cast<double>(graph % options.classes) / static_cast<double>(options.classes - 1);
}

std::string printed(const char* format, double a, double b, double c) {
  char text[96];
  std::snprintf(text, sizeof text, format, a, b, c);
  return text;
}

Vector cross(const Vector& a, const Vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

Vector scaled(const Vector& a, double s) { return {a[0] * s, a[1] * s, a[2] * s}; }
Vector sum(const Vector& a, const Vector& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }

/// A way through space: where it goes, and the normal of its last turn.
struct Frame {
  Vector direction{1, 0, 0}, normal{0, 0, 1};
};

/// Turns by `angle` in the plane across the normal, which itself was turned about the way by
/// `torsion`.
Frame turned(const Frame& from, double angle, double torsion) {
  const Vector side = cross(from.normal, from.direction);
  const Vector normal =
      sum(scaled(from.normal, std::cos(torsion)), scaled(side, std::sin(torsion)));
  const Vector across = cross(normal, from.direction);
  return {sum(scaled(from.direction, std::cos(angle)), scaled(across, std::sin(angle))), normal};
}

/// What a class is made of; `share` of it in [0,1].
struct Shape {
  explicit Shape(double share)
      : length(3 + 3 * share),
        turn(0.55 - 0.35 * share),
        torsion(0.2 + 1.0 * share),
        branching(0.08 + 0.14 * share) {}
  double length, turn, torsion, branching;
};

void check(const std::function<bool()>& cancelled) {
  if (cancelled && cancelled()) throw Error(ExitCode::kInterrupted, "interrupted");
}

}  // namespace

std::string synthetic_tree(const data::SynthSize& options, int64_t graph) {
  arrays::Random random(arrays::Random(static_cast<uint64_t>(options.seed), kTreeStream).next(),
                        static_cast<uint64_t>(graph));
  const Shape shape(share_of(options, graph));
  struct Tip {
    int64_t node;
    Vector place;
    Frame frame;
    double radius;
  };
  std::string text = "# a made-up tree\n1 1 0.000 0.000 0.000 4.000 -1\n";
  std::vector<Tip> tips;
  for (int64_t stem = 0; stem < 3; ++stem) {
    tips.push_back({1, {0, 0, 0}, turned({}, 2.1 * static_cast<double>(stem), 0.5), 2});
  }
  // Each step a random tip grows, as all do at once in nature; the size of all trees is the same
  // but for some.
  const int64_t nodes =
      std::max<int64_t>(4, options.nodes * (80 + static_cast<int64_t>(random.below(41))) / 100);
  for (int64_t node = 2; node <= nodes; ++node) {
    const std::size_t at = random.below(tips.size());
    Tip& tip = tips[at];
    const double length = shape.length * (1 + 0.4 * bell(random));
    const double turn = shape.turn * (1 + 0.5 * bell(random));
    const double torsion = shape.torsion * (1 + 0.5 * bell(random));
    tip.frame = turned(tip.frame, turn, torsion);
    tip.place = sum(tip.place, scaled(tip.frame.direction, length));
    tip.radius = std::max(0.2, tip.radius * 0.97);
    text += std::to_string(node) + " 3 " +
            printed("%.3f %.3f %.3f ", tip.place[0], tip.place[1], tip.place[2]) +
            printed("%.3f ", tip.radius, 0, 0) + std::to_string(tip.node) + "\n";
    tip.node = node;
    if (random.uniform() < shape.branching) {
      Tip twin = tip;
      const double fork = 0.9 + 0.3 * bell(random);
      twin.frame = turned(twin.frame, fork, 3.14159 * random.uniform());
      tips.push_back(twin);
    }
  }
  return text;
}

void write_synthetic_trees(const std::filesystem::path& folder, const data::SynthSize& options,
                           const std::function<bool()>& cancelled) {
  data::make_folder(folder);
  std::string labels = "file,class,branching\n";
  for (int64_t graph = 0; graph < options.graphs; ++graph) {
    check(cancelled);
    char name[32];
    std::snprintf(name, sizeof name, "tree_%04lld.swc", static_cast<long long>(graph));
    write_file(folder / name, synthetic_tree(options, graph));
    const double branching = Shape(share_of(options, graph)).branching;
    labels += std::string(name) + ",shape_" + std::to_string(graph % options.classes) +
              printed(",%.4f\n", branching, 0, 0);
  }
  write_file(folder / "labels.csv", labels);
}

void write_synthetic_points(const std::filesystem::path& folder, const data::SynthSize& options,
                            const std::function<bool()>& cancelled) {
  data::make_folder(folder);
  const auto side = std::max<int64_t>(
      2, static_cast<int64_t>(std::sqrt(static_cast<double>(options.nodes) + 0.5)));
  std::string points = "graph,x,y,red,green,blue,area,eccentricity\n", labels = "graph,class\n";
  for (int64_t graph = 0; graph < options.graphs; ++graph) {
    check(cancelled);
    arrays::Random random(arrays::Random(static_cast<uint64_t>(options.seed), kPointStream).next(),
                          static_cast<uint64_t>(graph));
    const std::string name = "image_" + std::to_string(graph);
    const double frequency = 6 + 18 * share_of(options, graph);
    const double phase = 6.28318 * random.uniform();
    const double tilt = 6.28318 * random.uniform();
    for (int64_t at = 0; at < side * side; ++at) {
      const auto place = [&](int64_t i) {
        return (static_cast<double>(i) + 0.5 + 0.24 * bell(random)) / static_cast<double>(side);
      };
      const double x = place(at % side), y = place(at / side);
      const double wave = std::sin(frequency * (x * std::cos(tilt) + y * std::sin(tilt)) + phase);
      const double red = 0.5 + 0.3 * wave + 0.1 * bell(random);
      const double green = 0.5 + 0.2 * wave + 0.1 * bell(random);
      const double blue = 0.5 + 0.1 * bell(random);
      const double area = (1 + 0.3 * bell(random)) / static_cast<double>(side * side);
      const double eccentricity = 0.5 + 0.4 * bell(random);
      points += name + printed(",%.5f,%.5f,%.4f", x, y, red) +
                printed(",%.4f,%.4f,%.5f", green, blue, area) +
                printed(",%.4f\n", eccentricity, 0, 0);
    }
    labels += name + ",texture_" + std::to_string(graph % options.classes) + "\n";
  }
  write_file(folder / "centroids.csv", points);
  write_file(folder / "labels.csv", labels);
}

}  // namespace kdgat::space
