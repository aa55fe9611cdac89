// Line charts as SVG: axes with ticks at round numbers, a legend, marks, and words where the
// pointer rests. Colours are classes (see chart_style()), so that a page may be dark or printed.
// Knows nothing of runs.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kdgat {

/// A colour of the palette, 0 .. kColours - 1 and from the start again; told apart by the
/// colour-blind, too.
inline constexpr int kColours = 8;
inline constexpr int kGrey = -1;

struct Axis {
  std::string title{};
  std::optional<double> from{}, to{};  ///< else from what is drawn
  enum class Scale { kLinear, kLog, kByValues } scale = Scale::kLinear;
  enum class Ticks { kPlain, kWhole, kBytes } ticks = Ticks::kPlain;
};

/// `kByValues` is logarithmic where all values are positive and span more than this.
inline constexpr double kWideSpan = 50;

struct ChartLine {
  std::string name;  ///< "" = without words, and not in the legend
  std::vector<std::pair<double, double>> points;
  int colour = 0;
  bool is_dashed = false;
  bool is_in_legend = true;
  bool has_words = true;  ///< where the pointer rests on it
};

/// What lies between two values at each place: a band around a line. In its colour, not in the
/// legend.
struct ChartArea {
  struct Place {
    double x = 0, low = 0, high = 0;
  };
  std::vector<Place> places;
  int colour = 0;
};

/// A dot with words; a ring where lines have markers.
struct ChartMark {
  double x = 0, y = 0;
  int colour = 0;
  std::string words;
};

/// An upright line: over the whole height with its name above, or a short one at the base, whose
/// kind stands in the legend once.
struct ChartRule {
  double x = 0;
  std::string name;
  int colour = kGrey;
  bool is_short = false;
};

/// A stretch of the x axis: a tint over the whole height, or a bar along the upper edge. Each kind
/// stands in the legend once.
struct ChartSpan {
  double from = 0, to = 0;
  std::string name, words;
  int colour = kGrey;
  bool is_tint = false;
};

/// A part of the x axis on another ground, named above where there is room.
struct ChartBand {
  double from = 0, to = 0;
  std::string name, words;
};

struct Chart {
  std::string title;  ///< said to those who do not see the picture; drawn if it stands alone
  Axis x, y;
  std::vector<ChartLine> lines{};
  std::vector<ChartArea> areas{};
  std::vector<ChartMark> marks{};
  std::vector<ChartRule> rules{};
  std::vector<ChartBand> bands{};
  std::vector<ChartSpan> spans{};
  /// Lines have dashes and markers by their colour, for who cannot tell colours apart or prints.
  bool has_markers = false;
  double width = 420, height = 270;
  bool stands_alone = false;  ///< a file of its own, with colours and title
};

/// "" where there is nothing finite to draw. Of a line with more points than can be told apart
/// those stand that shape it, and only some answer the pointer.
std::string chart_svg(const Chart& chart);

/// About how wide a text of a chart is, in pixels.
double chart_text_width(const std::string& text);

/// As much of a text as has room in so many pixels, with "…" for the rest.
std::string chart_text_within(const std::string& text, double width);

/// The CSS of the classes that charts use, for light or dark ground.
std::string chart_style(bool is_dark = false);

/// The class of something that is not a line, filled with a colour of the palette: "f3".
std::string fill_class(int colour);

}  // namespace kdgat
