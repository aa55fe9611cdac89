#include "fields/space/data/spatial_import.h"

#include <algorithm>

#include "engine/data/core/folder_files.h"
#include "engine/file/csv.h"
#include "engine/file/line_reader.h"
#include "engine/file/safetensors.h"

namespace kdgat::space {

namespace fs = std::filesystem;

namespace {

bool is_neuron(const fs::path& path) { return is_swc_name(path.filename().string()); }

bool is_table_of_points(const fs::path& path) {
  const fs::path name = path.extension() == ".gz" ? path.stem() : path.filename();
  if (name.extension() != ".csv" || !fs::is_regular_file(path)) return false;
  file::LineReader lines(path);
  std::string_view line;
  if (!lines.next(line)) return false;
  const std::vector<std::string> columns = file::csv_fields(line);
  return std::all_of(std::begin(kPointColumns), std::end(kPointColumns), [&](const char* name) {
    return std::find(columns.begin(), columns.end(), name) != columns.end();
  });
}

/// Throws Error(kData) for a .safetensors file that is damaged.
bool is_file_of_graphs(const fs::path& path) {
  return path.extension() == ".safetensors" && fs::is_regular_file(path) &&
         is_spatial_graphs(file::SafetensorsFile::open(path));
}

std::vector<data::LogFile> neurons_in(const fs::path& folder) {
  std::vector<data::LogFile> files = data::files_where(folder, is_neuron);
  return files.empty() ? data::files_where(folder, data::is_archive) : files;
}

std::vector<data::LogFile> points_in(const fs::path& folder) {
  return data::files_where(folder, [&](const fs::path& path) {
    return path.parent_path() == folder && path.filename().string().starts_with("centroids.csv") &&
           is_table_of_points(path);
  });
}

/// The format of a folder, or "" where it seems to hold logs.
std::string recognise(const fs::path& source) {
  if (source == "-") return "";
  if (!fs::is_directory(source)) {
    if (is_neuron(source) || data::is_archive(source)) return "swc";
    if (is_file_of_graphs(source)) return "spatial-graphs";
    return is_table_of_points(source) ? "superpixel" : "";
  }
  if (!data::files_where(source, is_neuron).empty()) return "swc";
  if (!points_in(source).empty()) return "superpixel";
  const auto is_other_log = [](const fs::path& path) {
    return data::is_table(path) && path.filename() != "labels.csv";
  };
  const bool has_archive = !data::files_where(source, data::is_archive).empty();
  return has_archive && data::files_where(source, is_other_log).empty() ? "swc" : "";
}

}  // namespace

const std::vector<std::string>& spatial_formats() {
  static const std::vector<std::string> formats = {"swc", "superpixel", "spatial-graphs"};
  return formats;
}

bool is_swc_name(const std::string& name) {
  return !name.starts_with(".") &&
         (name.ends_with(".swc") || name.ends_with(".SWC") || name.ends_with(".swc.gz"));
}

bool is_spatial_graphs(const file::SafetensorsFile& file) {
  return file.has("pos") && file.has("edge_index") && !file.metadata().contains("format");
}

std::optional<SpatialSource> find_spatial_source(const fs::path& source, const std::string& format,
                                                 const SpatialOptions& options) {
  const auto& formats = spatial_formats();
  const bool is_named = std::find(formats.begin(), formats.end(), format) != formats.end();
  if (!is_named && format != "auto") return std::nullopt;
  std::error_code failure;
  if (source != "-" && !fs::exists(source, failure)) return std::nullopt;  // said by who reads it
  SpatialSource out;
  out.format = is_named ? format : recognise(source);
  if (out.format.empty()) return std::nullopt;
  const bool is_folder = fs::is_directory(source, failure);
  if (!is_folder) {
    out.files = {
        data::as_file(source, source == "-" ? "standard input" : source.filename().string())};
  } else if (out.format == "swc") {
    out.files = neurons_in(source);
  } else if (out.format == "superpixel") {
    out.files = points_in(source);
  } else {
    out.files = data::files_where(source, is_file_of_graphs);
  }
  if (out.files.empty()) {
    throw Error(ExitCode::kData, source.string() + ": no " + out.format + " file in this folder");
  }
  const bool are_archives = out.format == "swc" && data::is_archive(out.files.front().path);
  out.is_sure =
      is_named || !are_archives || data::archive_holds(out.files.front().path, is_swc_name);
  out.labels = options.labels;
  if (!out.labels.empty()) {
    if (!fs::is_regular_file(out.labels, failure)) {
      throw Error(ExitCode::kData, "labels: " + out.labels.string() + ": no such file");
    }
  } else if (source != "-") {
    const fs::path beside = (is_folder ? source : source.parent_path()) / "labels.csv";
    if (fs::is_regular_file(beside, failure)) out.labels = beside;
  }
  return out;
}

Labels SpatialImport::labels(const std::string& key) const {
  if (input.labels.empty()) return {};
  return Labels(file::LineReader(input.labels, cancelled), key, options, warnings);
}

graph::GraphStoreData import_spatial(const SpatialImport& import) {
  if (import.input.format == "swc") return import_neurons(import);
  if (import.input.format == "superpixel") return import_points(import);
  return import_spatial_graphs(import);
}

}  // namespace kdgat::space
