#include "pipeline/data/data.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <system_error>

#include "engine/data/core/import.h"
#include "engine/data/core/import_options.h"
#include "engine/data/core/piped_input.h"
#include "engine/data/core/synth.h"
#include "engine/graph/section_facts.h"
#include "kdgat/exact_json.h"
#include "kdgat/result.h"
#include "pipeline/data/data_store.h"
#include "pipeline/data/domains.h"
#include "pipeline/system/hash.h"
#include "pipeline/system/machine.h"
#include "pipeline/system/program.h"
#include "pipeline/system/temporary.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;
using graph::GraphStore;
using nlohmann::json;

/// Names of the temporary folders below, for who clears what is left of them.
constexpr const char* kLinkPrefix = "link.";
constexpr const char* kInputPrefix = "logs.";
constexpr const char* kSynthPrefix = ".synth.";
constexpr const char* kInspectPrefix = "kdgat-inspect.";

std::string folder_name(const std::string& text) { return hash_text(text).substr(0, 16); }

/// Makes a folder; takes it away again, if it is new and still empty, unless keep() is called.
class OutputFolder {
 public:
  explicit OutputFolder(const fs::path& path) : path_(path) {
    std::error_code failure;
    created_ = fs::create_directories(path, failure);
    if (failure) {
      throw Error(ExitCode::kData, "cannot create " + path.string() + ": " + failure.message());
    }
  }
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;
  ~OutputFolder() {
    std::error_code ignored;
    if (created_ && !kept_) fs::remove(path_, ignored);
  }
  void keep() { kept_ = true; }

 private:
  fs::path path_;
  bool created_ = false;
  bool kept_ = false;
};

const data::Domain& domain_of(const json& facts) {
  return *data::domain_of_facts(data::all_domains(), facts);
}

bool is_set(const Settings& settings, const std::string& key) {
  const auto origin = settings.origin.find(key);
  return settings.values.contains(key) && origin != settings.origin.end() &&
         origin->second != "default";
}

bool sets_split(const DataSpec& data) {
  return std::any_of(data::kSplitOptionNames.begin(), data::kSplitOptionNames.end(),
                     [&](const char* key) { return is_set(data.import, key); });
}

/// What the profile asks of the import must be how a given store was made, with `options`; of its
/// split only if that stands in the store. `source`: what it is made of.
void check_store_options(const DataSpec& data, const fs::path& store, const json& options,
                         bool in_store, const std::string& source) {
  std::vector<Diagnostic> problems;
  for (const auto& [key, wanted] : data.import.values.items()) {
    const auto& names = data::kSplitOptionNames;
    const bool of_split = std::find(names.begin(), names.end(), key) != names.end();
    if ((of_split && !in_store) || !is_set(data.import, key) || !options.contains(key)) continue;
    const json& made = options.at(key);
    if (made == wanted || key == "format") continue;
    std::string what = key;
    what.append(": ").append(wanted.dump()).append(" is asked for, but ");
    what.append(store.string()).append(" was made with ").append(made.dump());
    std::string hint = "name the ";
    hint.append(source).append(" instead of the store, or leave ").append(key).append(" out");
    problems.push_back({data.import.origin.at(key), std::move(what), std::move(hint)});
  }
  if (!problems.empty()) throw Error(ExitCode::kUsage, std::move(problems));
}

/// Puts a given store into `folder` without copying it.
void link_store(const fs::path& given, const fs::path& folder) {
  const TemporaryFolder staging(folder, kLinkPrefix);
  const fs::path target = fs::canonical(given);
  std::error_code failure;
  fs::create_hard_link(target, staging.path() / kStore, failure);
  if (failure) fs::create_symlink(target, staging.path() / kStore);
  fs::rename(staging.path() / kStore, folder / kStore);
}

graph::Check check_of(bool verify) { return verify ? graph::Check::kAlways : graph::Check::kOnce; }

/// Whether what a path names can be read only once, and is not known before.
bool is_stream(const fs::path& path) { return path == "-" || data::is_pipe(path); }

/// Puts a given store into `folder`, and a split beside it unless the parts stand inside.
void adopt_store(const DataSpec& data, const fs::path& given, const fs::path& folder, bool verify) {
  const data::Domain& domain = data::domain_of_store(data::all_domains(), given);
  const bool in_store = domain.has_parts_inside();
  check_store_options(data, given, domain.open(given, check_of(verify)).options, in_store,
                      domain.source_word());
  if (in_store) return link_store(given, folder);
  const GraphStore store = GraphStore::open(given);
  const fs::path own_split = given.parent_path() / kSplit;
  const graph::Split split = sets_split(data) || !fs::exists(own_split)
                                 ? graph::make_split(store, data::split_options(data.import.values))
                                 : graph::load_split(own_split, store);
  link_store(given, folder);
  graph::write_split(folder / kSplit, split);
}

/// Writes made-up input beside the import, reads it and removes it.
data::ImportReport import_synthetic(const DataSpec& data, const fs::path& folder,
                                    const DataProgress& progress,
                                    const std::function<bool()>& cancelled) {
  const TemporaryFolder files(folder, kInputPrefix);
  data::write_synthetic(data::all_domains(), files.path(), data.synth.values, data.import.values,
                        cancelled);
  // The store names its input by sizes and times: fixed ones, so that it too is the same each time.
  const auto epoch = std::chrono::file_clock::from_sys(std::chrono::sys_seconds());
  for (const auto& entry : fs::recursive_directory_iterator(files.path())) {
    if (entry.is_regular_file()) fs::last_write_time(entry.path(), epoch);
  }
  return data::import_source(data::all_domains(), files.path(), folder, data.import.values,
                             progress, cancelled);
}

std::string summary_of(const DataSpec& data, const PreparedData& prepared) {
  return data.synthetic
             ? data::synth_headline(data::all_domains(), data.synth.values, prepared.facts)
             : prepared.summary;
}

/// Throws Error(kData) if store or split is missing or unsound.
PreparedData open_prepared(const fs::path& folder, bool verify = false) {
  data::DataFolder made = data::open_folder(data::all_domains(), folder, check_of(verify));
  const std::size_t files = made.store.sources.size();
  PreparedData out;
  out.folder = folder;
  out.fingerprint = std::move(made.fingerprint);
  out.facts = std::move(made.store.facts);
  out.summary = std::to_string(files) + (files == 1 ? " file, " : " files, ") +
                made.domain->wording().headline(out.facts);
  out.domain = made.domain->name();
  out.classes = graph::classes_of(out.facts);
  out.warnings = data::in_short(data::notes_of_import(folder, made.store));
  return out;
}

/// What a given store and its parts are known by.
std::string identity_of_given(const DataSpec& data, const fs::path& path) {
  const data::Domain& domain = data::domain_of_store(data::all_domains(), path);
  std::string what = domain.open(path, graph::Check::kOnce).content_hash;
  if (domain.has_parts_inside()) return what;
  const fs::path own_split = path.parent_path() / kSplit;
  if (!sets_split(data) && fs::exists(own_split)) {
    return what + file::SafetensorsFile::open(own_split).header_hash();
  }
  const graph::SplitOptions split = data::split_options(data.import.values);
  json identity = {split.kind, split.val_fraction, split.test_fraction, split.seed};
  if (split.folds > 0) identity.push_back({split.folds, split.fold});
  return what + exact_dump(identity);
}

}  // namespace

SectionSchemas data_schemas() {
  static const SectionSchemas schemas{
      data::import_schema(data::all_domains()),
      data::synth_schema(data::all_domains()),
      {},
      [](json& values) { data::settle_import_options(data::all_domains(), values); }};
  return schemas;
}

fs::path data_folder(const DataSpec& data, const fs::path& dataset_root) {
  const fs::path folder = dataset_root / "data";
  if (data.synthetic) {
    const data::Domains domains = data::all_domains();
    const data::Domain& domain = data::domain_of_synth(domains, data.synth.values);
    data::check_import_options(domains, data.import.values);
    const json what = {data::kSynthVersion, data::synth_identity(domains, data.synth.values),
                       domain.import_identity(data.import.values)};
    return folder / folder_name("synth " + exact_dump(what));
  }
  if (data.path.empty()) {
    throw Error(ExitCode::kUsage, "no input data is named",
                "--data PATH names logs or a graph store; --preset smoke brings its own",
                data.where);
  }
  if (is_stream(data.path)) {
    // What a stream gives is known only once it is read: never the same twice.
    static const std::string once =
        std::to_string(::getpid()) + " " +
        std::to_string(std::chrono::system_clock::now().time_since_epoch().count());
    return folder / folder_name("stdin " + once);
  }
  require_input(data.path);
  if (const fs::path store = store_of(data.path); !store.empty()) {
    return folder / folder_name("store " + identity_of_given(data, store));
  }
  return folder /
         data::import_fingerprint(data::all_domains(), data.path, data.import.values).substr(0, 16);
}

std::string data_domain(const DataSpec& data) {
  const data::Domains domains = data::all_domains();
  if (data.synthetic) return data::domain_of_synth(domains, data.synth.values).name();
  if (data.path.empty() || is_stream(data.path)) return "";
  require_input(data.path);
  const fs::path store = store_of(data.path);
  return (store.empty() ? data::domain_of_source(domains, data.path, data.import.values)
                        : data::domain_of_store(domains, store))
      .name();
}

namespace {

/// find_prepared(), and in `damage` why what stands there cannot be used.
std::optional<PreparedData> find_sound(const fs::path& folder, bool verify,
                                       std::vector<Diagnostic>& damage) {
  std::error_code ignored;
  if (!fs::exists(folder / kStore, ignored)) return std::nullopt;
  try {
    PreparedData found = open_prepared(folder, verify);
    found.reused = true;
    return found;
  } catch (const Error& error) {
    damage = error.diagnostics();  // damaged, or of another version: made again
    return std::nullopt;
  }
}

}  // namespace

std::optional<PreparedData> find_prepared(const fs::path& folder, bool verify) {
  std::vector<Diagnostic> ignored;
  return find_sound(folder, verify, ignored);
}

void check_data(const DataSpec& data) {
  const data::Domains domains = data::all_domains();
  const json& options = data.import.values;
  if (data.synthetic) {
    const data::Domain& domain = data::domain_of_synth(domains, data.synth.values);
    return data::check_mistaken_options(domains, domain, options);
  }
  if (data.path.empty() || is_stream(data.path)) return;
  require_input(data.path);
  const fs::path store = store_of(data.path);
  if (store.empty()) {
    const data::Domain& domain = data::domain_of_source(domains, data.path, options);
    return data::check_mistaken_options(domains, domain, options);
  }
  const data::Domain& domain = data::domain_of_store(domains, store);
  const bool in_store = domain.has_parts_inside();
  check_store_options(data, store, domain.open(store, graph::Check::kOnce).options, in_store,
                      domain.source_word());
}

void clear_data_leftovers(const fs::path& dataset_root) {
  std::error_code ignored;
  for (fs::directory_iterator at(dataset_root / "data", ignored); at != fs::directory_iterator();
       at.increment(ignored)) {
    clear_leftovers(at->path(), {kInputPrefix, kLinkPrefix});
  }
  clear_leftovers(temporary_folder(), {kInspectPrefix});
}

PreparedData prepare_data(const DataSpec& data, const fs::path& folder,
                          const DataProgress& progress, const std::function<bool()>& cancelled,
                          bool verify) {
  std::vector<Diagnostic> damage;
  if (std::optional<PreparedData> found = find_sound(folder, verify, damage)) {
    found->summary = summary_of(data, *found);
    return *std::move(found);
  }
  if (!data.synthetic) require_input(data.path);
  OutputFolder output(folder);
  const fs::path store = data.synthetic ? fs::path() : store_of(data.path);
  if (!store.empty()) {
    adopt_store(data, store, folder, verify);
  } else {
    data.synthetic ? import_synthetic(data, folder, progress, cancelled)
                   : data::import_source(data::all_domains(), data.path, folder, data.import.values,
                                         progress, cancelled);
  }
  PreparedData out = open_prepared(folder);
  out.summary = summary_of(data, out);
  for (Diagnostic& fault : damage) {
    fault.hint = "the import that stood there was made again";
    out.warnings.push_back(std::move(fault));
  }
  output.keep();
  return out;
}

json import_data(const fs::path& source, const fs::path& folder, const json& options,
                 const DataProgress& progress, const std::function<bool()>& cancelled) {
  require_input(source);
  if (std::error_code ignored; fs::equivalent(source, folder, ignored)) {
    throw Error(
        ExitCode::kUsage, folder.string() + " is both the input and the folder of the store",
        "name another folder: kdgat data import " + shell_line({source.string()}) + " -o DIR");
  }
  if (!store_of(source).empty()) {
    throw Error(ExitCode::kUsage, source.string() + " is a graph store already",
                "kdgat data inspect " + shell_line({source.string()}));
  }
  data::check_import_options(data::all_domains(), options);
  OutputFolder output(folder);
  clear_leftovers(folder, {kSynthPrefix, kInputPrefix});
  clear_leftovers(temporary_folder(), {kInspectPrefix});
  const data::ImportReport report =
      data::import_source(data::all_domains(), source, folder, options, progress, cancelled);
  output.keep();
  const json facts = open_prepared(folder).facts;
  const auto common = record::read<StoreFacts>(facts);
  json out = {{"folder", folder.string()},
              {"reused", report.reused},
              {"rows", report.rows},
              {"graphs", report.graphs},
              {"unlabelled", common.unlabelled},
              {"sources", report.sources},
              {"parts", record::write<json>(common.parts)},
              {"warnings", report.warnings},
              {"unused", data::unused_in(report.warnings)}};
  for (const char* key : {"attack", "num_ids", domain_of(facts).facts_key()}) {
    if (facts.contains(key)) out[key] = facts.at(key);
  }
  if (!report.build.is_null()) out["build"] = report.build;
  return out;
}

json inspect_data(const fs::path& path, const json& options, const DataProgress& progress,
                  const std::function<bool()>& cancelled) {
  const data::Domains domains = data::all_domains();
  require_input(path);
  if (const fs::path store = store_of(path); !store.empty()) {
    return data::domain_of_store(domains, store).inspect(store);
  }
  clear_leftovers(temporary_folder(), {kInspectPrefix});
  const TemporaryFolder imported(temporary_folder(), kInspectPrefix);
  const fs::path folder = imported.path() / "data";  // which the import locks
  const data::ImportReport report =
      data::import_source(domains, path, folder, options, progress, cancelled);
  const fs::path store = folder / kStore;
  json out = data::domain_of_store(domains, store).inspect(store);
  out["path"] = path.string();
  out["warnings"] = report.warnings;
  out["unused"] = data::unused_in(report.warnings);
  return out;
}

namespace {

struct Warned {
  data::Notes warnings;
  static auto keys() { return std::tuple{key("warnings", &Warned::warnings)}; }
};

}  // namespace

std::vector<Diagnostic> warnings_of(const json& result, bool all) {
  const data::Notes notes = record::read<Warned>(result).warnings;
  return all ? data::as_diagnostics(notes) : data::in_short(notes);
}

std::vector<Diagnostic> verify_data(const fs::path& path) {
  require_input(path);
  const fs::path store = store_of(path);
  if (store.empty()) {
    throw Error(ExitCode::kData, path.string() + " is not a graph store",
                "kdgat data import " + shell_line({path.string()}) + " -o DIR makes one");
  }
  try {
    return data::domain_of_store(data::all_domains(), store).verify(store);
  } catch (const Error& e) {
    return e.diagnostics();
  }
}

std::string data_headline(const json& facts) { return domain_of(facts).wording().headline(facts); }

namespace {

/// Moves what `write` puts below the folder it is given to `folder`, as a whole; the names of the
/// files, relative to `folder`.
std::vector<std::string> write_below(const fs::path& folder,
                                     const std::function<void(const fs::path& staging)>& write) {
  OutputFolder output(folder);
  clear_leftovers(folder, {kSynthPrefix});
  const TemporaryFolder staging(folder, kSynthPrefix);  // inside: surely the same file system
  write(staging.path());
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(staging.path())) {
    if (!entry.is_regular_file()) continue;
    files.push_back(fs::relative(entry.path(), staging.path()).string());
  }
  std::sort(files.begin(), files.end());
  try {
    for (const std::string& file : files) {
      fs::create_directories((folder / file).parent_path());
      fs::rename(staging.path() / file, folder / file);
    }
  } catch (const fs::filesystem_error& e) {
    throw Error(ExitCode::kData, "cannot write to " + folder.string() + ": " + e.code().message());
  }
  output.keep();
  return files;
}

/// The first domain that has a schema there. Throws Error(kUsage), `problem`, if there is none.
const data::Domain& domain_where(json (data::Domain::*schema)() const, const char* problem) {
  const data::Domains domains = data::all_domains();
  const auto found = std::find_if(domains.begin(), domains.end(), [&](const data::Domain* domain) {
    return !(domain->*schema)().is_null();
  });
  if (found == domains.end()) throw Error(ExitCode::kUsage, problem);
  return **found;
}
/// The domain whose data can be attacked. Throws Error(kUsage) if there is none.
const data::Domain& domain_with_attacks() {
  return domain_where(&data::Domain::inject_schema, "no kind of data has attacks");
}
const data::Domain& domain_with_forms() {
  return domain_where(&data::Domain::convert_schema, "no kind of data has other forms");
}

}  // namespace

std::vector<std::string> synthesize_data(const fs::path& folder, const json& options,
                                         const std::function<bool()>& cancelled) {
  return write_below(folder, [&](const fs::path& staging) {
    data::write_synthetic(data::all_domains(), staging, options, nullptr, cancelled);
  });
}

void stream_synthetic_data(std::ostream& out, const json& options,
                           const std::function<bool()>& cancelled) {
  const auto is_closed = [&out] { return !out.good(); };
  try {
    data::stream_synthetic(
        data::all_domains(), options, [&out](std::string_view text) { out << text << std::flush; },
        [&] { return is_closed() || cancelled(); });
  } catch (const Error& error) {
    if (error.code() != ExitCode::kInterrupted || !is_closed()) throw;
  }
}

json inject_schema() { return domain_with_attacks().inject_schema(); }

json inject_data(const std::vector<fs::path>& sources, const fs::path& folder, const json& options,
                 const DataProgress& progress, const std::function<bool()>& cancelled) {
  for (const fs::path& source : sources) require_input(source);
  data::InjectReport report;
  write_below(folder, [&](const fs::path& staging) {
    report = domain_with_attacks().inject({sources, options, staging, folder, progress, cancelled});
  });
  return {{"folder", folder.string()},
          {"files", std::move(report.files)},
          {"warnings", report.warnings}};
}

json convert_schema() { return domain_with_forms().convert_schema(); }

json convert_data(const fs::path& source, const fs::path& to, const json& options,
                  const DataProgress& progress, const std::function<bool()>& cancelled) {
  require_input(source);
  const data::ConvertReport report =
      domain_with_forms().convert({source, options, to, progress, cancelled});
  return {{"file", report.file},         {"format", report.format},
          {"rows", report.rows},         {"malformed", report.malformed},
          {"warnings", report.warnings}, {"unused", data::unused_in(report.warnings)}};
}

}  // namespace kdgat
