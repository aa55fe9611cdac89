#include "engine/export/c/network_c.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <utility>

#include "engine/decision/stream/window_network.h"
#include "engine/export/c/c_struct.h"
#include "engine/export/c/network_code.h"
#include "engine/export/c/network_vectors.h"
#include "engine/export/c/rounded_model.h"
#include "engine/export/c/runtime_texts.h"
#include "engine/model/config/config.h"
#include "engine/native/networks.h"
#include "kdgat/error.h"

namespace kdgat::exporting {

namespace {

using decision::WindowNetwork;

constexpr int64_t kLot = 16;         // edges whose weights are computed at once
constexpr int64_t kCallBytes = 800;  // of the calls' frames but their arrays

std::string number(int64_t value) { return std::to_string(value); }

/// About what the code takes at -O2 on x86-64, as measured; a Cortex-M4 takes two thirds of it.
int64_t code_bytes(const NetworkCode& code) {
  constexpr int64_t kAll = 8000, kGraphNorm = 1000, kLstm = 2500, kSecondAttention = 2000;
  return kAll + kGraphNorm * code.macros.at("KDGAT_GRAPH_NORM") +
         kLstm * code.macros.at("KDGAT_JUMPING_LSTM") +
         kSecondAttention * (code.macros.at("KDGAT_ATTENTION") - 1);
}

void check(const NetworkCOptions& options) {
  if (const std::string problem = c_name_problem(options.name); !problem.empty()) {
    throw Error(ExitCode::kUsage, "'" + options.name + "' " + problem, "letters, digits and _");
  }
  if (std::isnan(options.threshold)) throw Error(ExitCode::kUsage, "the threshold is no number");
}

/// "" where the code can be written; else why not.
std::string why_not_in_c(const model::ModelHeader& header) {
  if (std::string why = native::why_not_native(header); !why.empty() || header.name != "gat") {
    return why;
  }
  const auto config = header.config.get<model::GatConfig>();
  if (config.is_gin()) return "conv " + config.conv;
  if (config.norm == "batch") return "norm batch of a classifier";
  if (config.pooling != "mean") return "pooling " + config.pooling;
  return config.has_ids ? "" : "nodes without identifiers";
}

/// With its scorer, so that all of the file was looked at.
WindowNetwork windows_of(const file::SafetensorsFile& file, const model::ModelHeader& header) {
  const std::string path = file.path().string();
  if (const std::string why = why_not_in_c(header); !why.empty()) {
    throw Error(ExitCode::kData, path + ": cannot be exported to C: " + why,
                header.name == "fusion" ? "export the networks that it joins, each by itself"
                                        : "export a classifier or an autoencoder of windows");
  }
  const model::TrainedModel made{file, header};
  WindowNetwork out = decision::window_network(made);
  decision::check_ids(made, out);
  if (out.shape.window > kMostRows) {
    throw Error(ExitCode::kData,
                path + ": windows of " + number(out.shape.window) +
                    " frames: a state in C holds windows of up to " + number(kMostRows),
                "train the model on data imported with window=" + number(kMostRows) + " or less");
  }
  return out;
}

/// Nodes of a window, at most: one more than its rows for each run of frames that follow one
/// another.
GraphBounds bounds_of(const data::WindowShape& shape) {
  const int64_t rows = shape.window, in_chunk = shape.chunk_rows - 1;
  const int64_t runs = in_chunk > 0 ? 1 + (rows - 1 + in_chunk - 1) / in_chunk : 1;
  return {.rows = rows, .nodes = rows + std::min(rows, runs)};
}

/// The struct that holds all that is kept, with those that are its parts.
struct StateText {
  std::string text;
  int64_t bytes = 0;
};

StateText state_of(const GraphBounds& most, const NetworkCode& code) {
  const auto list = [](int64_t count) { return "[" + number(count) + "]"; };
  const int64_t rows = most.rows, nodes = most.nodes;
  CStruct graph;
  graph.add("uint32_t", "ids", list(nodes), 4, nodes, "ascending");
  graph.add("kdgat_sums", "sums", list(nodes), sizeof(kdgat_sums), nodes, "of the nodes");
  graph.add("uint16_t", "source", list(rows), 2, rows, "of each row");
  graph.add("uint16_t", "target", list(rows), 2, rows, "of each row");
  graph.add("uint16_t", "order", list(rows), 2, rows, "rows by target");
  graph.add("uint16_t", "sorted", list(rows), 2, rows, "the same while it is made");
  graph.add("uint16_t", "begin", list(nodes + 1), 2, nodes + 1, "of the rows of each node");
  const int64_t graph_bytes = (graph.bytes() + 3) / 4 * 4;
  std::string lstm, in_union;
  if (code.macros.at("KDGAT_JUMPING_LSTM") != 0) {
    const int64_t units = code.macros.at("KDGAT_UNITS"), tile = code.macros.at("KDGAT_NODE_TILE");
    lstm =
        "/* Where the LSTM works, some nodes at a time. */\ntypedef struct kdgat_lstm {\n  float "
        "gates" +
        list(4 * units * tile) + ", more" + list(4 * units * tile) + ";\n  float state" +
        list(units * tile) + ", cell" + list(units * tile) + ";\n  float said" +
        list(code.macros.at("KDGAT_LAYERS")) + list(2 * units * tile) + ";\n  float joined" +
        list(code.macros.at("KDGAT_WIDTH")) + ";\n} kdgat_lstm;\n\n";
    in_union = "    kdgat_lstm lstm;\n";
  }
  const int64_t union_bytes = std::max(graph_bytes, 4 * code.shared);
  CStruct s;
  s.add("kdgat_alarms", "alarms", "", sizeof(kdgat_alarms), 1, "while windows come");
  s.add("double", "row_time", list(rows), 8, rows, "of each row's frame");
  s.add("double", "last_time", "", 8, 1, "of the last frame");
  s.add("double", "clock", "", 8, 1, "the last time that was a number");
  s.add("kdgat_row", "rows", list(rows), 16, rows, "of the window that fills");
  s.add("kdgat_row", "last", "", 16, 1, "the last frame, whose target is not known yet");
  s.add("int32_t", "row_count", "", 4, 1, "of the window that fills");
  s.add("int32_t", "skip", "", 4, 1, "rows to leave out before the next window");
  s.add("int32_t", "in_chunk", "", 4, 1, "the next frame's place in its chunk");
  s.add("int32_t", "has_last", "", 4, 1, "a frame before");
  s.add("int32_t", "has_window", "", 4, 1, "in this recording");
  s.add("int32_t", "has_clock", "", 4, 1, "a time before");
  s.add("int32_t", "nodes", "", 4, 1, "of the graph");
  s.add("float", "score", "", 4, 1, "of the window judged last");
  for (const CArray& array : code.arrays) {
    s.add("float", array.name, array.dims, 4, array.count, array.comment);
  }
  s.add("union {\n    kdgat_graph graph;\n" + in_union + "    float values" + list(code.shared) +
            ";\n  }",
        "u", "", union_bytes, 1, "while the graph is made; then states of nodes");
  s.add("uint16_t", "in_begin", list(nodes + 1), 2, nodes + 1, "of the edges into each node");
  s.add("uint16_t", "in_source", list(rows), 2, rows, "of each edge, by target");
  s.finish();
  return {
      "/* A frame and the id of the frame behind it. */\n"
      "typedef struct kdgat_row {\n  uint32_t source, target;\n  uint8_t payload[8];\n} "
      "kdgat_row;\n\n" +
          portable_text("window_graph_types.h") +
          "/* While a graph is made. */\ntypedef struct kdgat_graph {\n" + graph.text() +
          "} kdgat_graph;\n\n" + lstm + "struct kdgat_state {\n" + s.text() + "};\n",
      s.bytes()};
}

std::string define(const std::string& name, const std::string& value) {
  return "#define " + name + " " + value + "\n";
}

std::string macros_of(const WindowNetwork& windows, const NetworkCode& code,
                      const NetworkCOptions& options) {
  std::string out;
  out += define("KDGAT_ROWS", number(windows.shape.window));
  out += define("KDGAT_STRIDE", number(windows.shape.stride));
  out += define("KDGAT_CHUNK_ROWS", number(windows.shape.chunk_rows));
  out += define("KDGAT_THRESHOLD", "(" + c_double(options.threshold) + ")");
  out += define("KDGAT_ON_RAW", options.on_raw ? "1" : "0");
  out += define("KDGAT_PROBABILITY", code.is_probability ? "1" : "0");
  out += define("KDGAT_LOT", number(kLot));
  for (const auto& [name, value] : code.macros) out += define(name, number(value));
  return out;
}

/// What both files begin with.
std::string title(const std::string& what, const model::ModelHeader& header,
                  const WindowNetwork& windows, const NetworkCOptions& options,
                  const SizeReport& size) {
  const std::string kind = header.name == "gat" ? "a classifier" : "an autoencoder";
  return "/*\n * " + what + ": judges the traffic of a CAN bus by " + kind +
         " of kdgat. Written by `kdgat export`; change the model, not this.\n *\n" +
         " *   model        " + (options.hash.empty() ? "-" : options.hash) + "\n" +
         " *   windows      " + number(windows.shape.window) + " frames, every " +
         number(windows.shape.stride) + "; " + number(std::ssize(windows.vocabulary)) +
         " ids are known\n" + " *   weights      " + (options.int8 ? "int8" : "float") + "\n" +
         " *   state        " + number(size.state_bytes) + " bytes: all that is written to\n" +
         " *   flash        about " + number(size.flash_bytes) +
         " bytes: tables, and code at -O2\n" + " *   stack        at most " +
         number(size.stack_bytes) + " bytes\n" + " *   a window     at most " +
         number(size.multiply_adds) + " multiply-adds\n" +
         " *\n * C99 alone: no heap, no libm. Fused multiply-add, where a target has it, is to be "
         "off "
         "(-ffp-contract=off) for the\n * same bits everywhere; check.c shows whether they are.\n "
         "*/\n";
}

std::string header_text(const std::string& title, const StateText& state,
                        const NetworkCOptions& options) {
  std::string guard = "KDGAT_EXPORTED_" + options.name + "_H";
  std::transform(guard.begin(), guard.end(), guard.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return title + "#ifndef " + guard + "\n#define " + guard + "\n\n" +
         portable_text("alarm_types.h") + portable_text("api.h") +
         "\n/* The hash of the model's file. */\n" +
         define("KDGAT_MODEL", "\"" + options.hash + "\"") +
         "\n/* ---- What the state is made of; no business of the caller. */\n" + state.text +
         "\n/* Does not compile where the size is another. */\n"
         "typedef char kdgat_state_has_its_size[sizeof(kdgat_state) == " +
         number(state.bytes) + " ? 1 : -1];\n\n#endif\n";
}

std::string source_text(const std::string& title, const std::string& macros,
                        const NetworkCode& code, const NetworkCOptions& options) {
  std::string out =
      title + "#include <float.h>\n#include <stdint.h>\n\n#include \"" + options.name + ".h\"\n\n" +
      std::string(runtime_text("four.c")) + "\n" + macros + "\n" +
      texts_of({"compiler.c", "roots.c", "math.h", "layers.h", "alarms.h", "window_graph.h"}) +
      "\n/* ---- The model. Products: weights [inputs, outputs], of int8 with a scale "
      "for each output. */\n"
      "typedef " +
      (options.int8 ? "int8_t" : "float") +
      " kdgat_weight;\n\ntypedef struct kdgat_layer {\n  const kdgat_weight* weight;\n"
      "  const float *scale, *bias; /* may be null */\n  int32_t inputs, outputs;\n"
      "} kdgat_layer;\n\n" +
      code.tables;
  for (const char* file : {"input.c", "windows.c", "network.c"}) {
    out += "\n" + std::string(runtime_text(file));
  }
  return out + code.function;
}

/// The network that sources with int8 compute.
std::unique_ptr<native::GraphNetwork> rounded_network(const file::SafetensorsFile& file,
                                                      const model::ModelHeader& header,
                                                      const NetworkCode& code) {
  std::string pattern = (std::filesystem::temp_directory_path() / "kdgat_rounded.XXXXXX").string();
  const int descriptor = ::mkstemp(pattern.data());
  if (descriptor < 0) throw Error(ExitCode::kData, pattern + ": cannot be made");
  ::close(descriptor);
  const std::filesystem::path path = pattern;
  const auto remove = [&path](const void*) { std::filesystem::remove(path); };
  const std::unique_ptr<const void, decltype(remove)> removed(&path, remove);
  write_rounded(file, header, code, path);
  const auto rounded = file::SafetensorsFile::open(path);
  return native::load_network(rounded, model::load_header(rounded));
}

}  // namespace

CSource network_c(const file::SafetensorsFile& file, const model::ModelHeader& header,
                  const NetworkCOptions& options) {
  check(options);
  const WindowNetwork windows = windows_of(file, header);
  native::load_network(file, header);  // all that is wrong with the file is said here
  const GraphBounds most = bounds_of(windows.shape);
  const NetworkCode code = network_code(file, header, windows.vocabulary, most, options.int8);
  const StateText state = state_of(most, code);
  const int64_t heads = code.macros.at("KDGAT_HEADS");
  const SizeReport size{.state_bytes = state.bytes,
                        .flash_bytes = code.table_bytes + code_bytes(code),
                        .stack_bytes = kCallBytes + 4 * (kLot * heads + 3 + 2 * heads) + 2 * kLot,
                        .multiply_adds = code.multiply_adds};
  const std::map<std::string, std::string> names = {{"NAME", options.name}};
  const auto begin = [&](const std::string& ending) {
    return title(options.name + ending, header, windows, options, size);
  };
  CSource out;
  out.size = size;
  out.files[options.name + ".h"] = header_text(begin(".h"), state, options);
  out.files[options.name + ".c"] =
      source_text(begin(".c"), macros_of(windows, code, options), code, options);
  for (const char* text : {"main.c", "check.c", "CMakeLists.txt"}) {
    out.files[text] = runtime_text(text, names);
  }
  out.files["vectors.h"] = network_vectors(
      windows, options,
      options.int8 ? rounded_network(file, header, code) : native::load_network(file, header));
  return out;
}

void write_rounded(const file::SafetensorsFile& file, const model::ModelHeader& header,
                   const std::filesystem::path& path) {
  const WindowNetwork windows = windows_of(file, header);
  native::load_network(file, header);
  write_rounded(file, header,
                network_code(file, header, windows.vocabulary, bounds_of(windows.shape), true),
                path);
}

}  // namespace kdgat::exporting
