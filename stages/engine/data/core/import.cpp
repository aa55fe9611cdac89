#include "engine/data/core/import.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "engine/data/core/folder_files.h"
#include "engine/data/core/graph_domain.h"
#include "engine/data/core/import_options.h"
#include "engine/data/core/piped_input.h"
#include "kdgat/atomic_file.h"
#include "kdgat/exact_json.h"
#include "kdgat/small_file.h"
#include "kdgat/text.h"

namespace kdgat::data {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr int kImportVersion = 3;  // raised when the same files would give another store

/// Locks the folder itself, so that imports to one place take turns and nothing is left behind.
class FolderLock {
 public:
  explicit FolderLock(const fs::path& folder)
      : fd_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    // A file system without locks is no reason to refuse: files are still written whole.
    if (fd_ >= 0) ::flock(fd_, LOCK_EX);
  }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  ~FolderLock() {
    if (fd_ >= 0) ::close(fd_);
  }

 private:
  int fd_;
};

/// Options that decide what the store holds; the others decide the split alone.
json store_options(const Domain& domain, const json& values) {
  json all = domain.import_identity(values);
  if (domain.has_parts_inside()) return all;
  for (const char* key : kSplitOptionNames) all.erase(key);
  return all;
}

bool has_form(const Domain& domain, const std::string& format) {
  const std::vector<std::string> forms = domain.formats();
  return std::find(forms.begin(), forms.end(), format) != forms.end();
}

/// What matters here, whatever the domain.
struct FormatOption : SharedOptions {
  static auto table() { return std::tuple{format_row(), strict_row()}; }
};

struct Claim {
  const Domain* domain = nullptr;
  Found found;
};

/// Throws Error(kData) if some domains see in `source`, which none is sure of, nearly their own.
void refuse_near(Domains domains, const fs::path& source, const json& values) {
  std::vector<Diagnostic> near;
  for (const Domain* domain : domains) {
    if (auto one = domain->near(source, values)) near.push_back(*std::move(one));
  }
  if (!near.empty()) throw Error(ExitCode::kData, std::move(near));
}

/// Whose `source` is.
Claim claim_of(Domains domains, const fs::path& source, const json& values) {
  std::error_code failure;
  if (source != "-" && !fs::exists(source, failure)) {
    throw Error(ExitCode::kData, source.string() + ": no such file or folder");
  }
  const std::string format = own_options<FormatOption>(values).format;
  Claim best;
  const Domain* rival = nullptr;
  for (const Domain* domain : domains) {
    if (format != "auto" && !has_form(*domain, format)) continue;
    Found found = domain->find(source, values);
    if (found.sureness == Sureness::kNo) continue;
    if (best.domain != nullptr && found.sureness < best.found.sureness) continue;
    rival = best.domain != nullptr && found.sureness == best.found.sureness ? best.domain : nullptr;
    best = {domain, std::move(found)};
  }
  if (best.domain == nullptr) {
    throw Error(ExitCode::kData, source.string() + ": no data of a known form was found",
                "kdgat data import --help lists the forms");
  }
  if (best.found.sureness == Sureness::kIfNoOther && source != "-") {
    refuse_near(domains, source, values);
  }
  if (rival != nullptr) {
    throw Error(ExitCode::kData,
                source.string() + ": could be data of the domain " + rival->name() + " or " +
                    best.domain->name(),
                "name the form, e.g. data.format=" + best.domain->formats().front());
  }
  return best;
}

json input_identity(const std::vector<LogFile>& files) {
  json out = json::array();
  for (const LogFile& file : files) {
    if (file.path == "-") continue;
    const auto written = fs::last_write_time(file.path).time_since_epoch().count();
    out.push_back({escaped_name(file.name), fs::file_size(file.path), written});
  }
  return out;
}

int64_t bytes_of(const std::vector<LogFile>& files) {
  int64_t bytes = 0;
  for (const LogFile& file : files) {
    const bool is_aside = file.role == "labels";  // read as a whole, before the others
    if (file.path != "-" && !is_aside) bytes += static_cast<int64_t>(fs::file_size(file.path));
  }
  return bytes;
}

/// `values` are all options, `options` those of the domain; `strict` is one of every domain.
std::string fingerprint_of(const std::vector<LogFile>& files, json options, const json& values) {
  if (own_options<FormatOption>(values).strict) options["strict"] = true;
  const std::string text =
      json{kImportVersion, graph::kStoreFormatVersion, input_identity(files), options}.dump();
  return file::hash_bytes(text.data(), text.size());
}

/// Counts bytes up to their sum, for progress; throws once `cancelled`.
std::function<void(int64_t)> byte_counter(const std::vector<LogFile>& files,
                                          const ImportProgress& progress,
                                          const std::function<bool()>& cancelled) {
  return
      [&progress, &cancelled, total = bytes_of(files), done = int64_t{0}](int64_t bytes) mutable {
        if (cancelled && cancelled()) {
          throw Error(ExitCode::kInterrupted, "interrupted while importing");
        }
        done = std::min(done + bytes, total);
        if (progress) progress(done, total);
      };
}

constexpr const char* kAccountName = "import.json";  // next to the store

/// What an import reported: of its files when they were looked for, and of what it read.
struct Account {
  Notes found, read;
};

void write_account(const fs::path& folder, const std::string& fingerprint, const Account& account) {
  AtomicFile file(folder / kAccountName);
  file.write(
      exact_dump({{"input", fingerprint}, {"found", account.found}, {"warnings", account.read}}) +
      "\n");
  file.commit();
}

/// None where it is not there, is damaged, or is of another import.
std::optional<Account> account_of(const fs::path& folder, const std::string& fingerprint) {
  try {
    const json account = exact_parse(small_file(folder / kAccountName, kLargestJson));
    if (account.at("input") == fingerprint) {
      return Account{account.at("found").get<Notes>(), account.at("warnings").get<Notes>()};
    }
  } catch (const Error&) {            // NOLINT(bugprone-empty-catch): the import is made again
  } catch (const json::exception&) {  // NOLINT(bugprone-empty-catch)
  }
  return std::nullopt;
}

/// What was reported when the store that stands in `folder` was made from the same input; none if
/// it was not.
std::optional<Account> account_to_reuse(Domains domains, const fs::path& folder,
                                        const std::string& fingerprint) {
  const fs::path path = folder / kStoreName;
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return std::nullopt;
  try {
    const StoreView store = domain_of_store(domains, path).open(path, graph::Check::kOnce);
    if (store.options.value("input", "") == fingerprint) return account_of(folder, fingerprint);
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch): damaged or of another version
  }
  return std::nullopt;
}

/// Puts the split beside the store, or takes one away that is of other data.
void divide(const Domain& domain, const fs::path& folder, const json& values) {
  const fs::path split = folder / kSplitName;
  std::error_code ignored;
  if (domain.has_parts_inside()) {
    fs::remove(split, ignored);
    return;
  }
  graph::write_split(split, graph::make_split(graph::GraphStore::open(folder / kStoreName),
                                              split_options(values)));
}

}  // namespace

json import_schema(Domains domains) {
  json out = {{"type", "object"}, {"additionalProperties", false}, {"properties", json::object()}};
  std::vector<std::string> formats = {"auto"};
  for (const Domain* domain : domains) {
    const std::vector<std::string> own = domain->formats();
    formats.insert(formats.end(), own.begin(), own.end());
    const json schemas = domain->import_schema().at("properties");
    for (const auto& [name, schema] : schemas.items()) {
      out["properties"].emplace(name, schema);
    }
  }
  out["properties"]["format"]["enum"] = formats;
  return out;
}

void settle_import_options(Domains domains, json& values) {
  for (const Domain* domain : domains) domain->settle_import(values);
}

void check_import_options(Domains domains, const json& values) {
  std::vector<Diagnostic> problems;
  std::set<std::string> known;
  for (const Domain* domain : domains) {
    for (std::string& name : domain->import_options()) known.insert(std::move(name));
  }
  for (const auto& [key, value] : values.items()) {
    if (!known.contains(key)) problems.push_back({"", "unknown option " + key, ""});
  }
  for (const Domain* domain : domains) {
    for (Diagnostic& problem : domain->import_problems(values)) {
      const bool is_told = std::any_of(problems.begin(), problems.end(), [&](const Diagnostic& d) {
        return d.message == problem.message;
      });
      if (!is_told) problems.push_back(std::move(problem));
    }
  }
  if (!problems.empty()) throw Error(ExitCode::kUsage, std::move(problems));
}

void check_mistaken_options(Domains domains, const Domain& domain, const json& values) {
  for (const MistakenOption& option : domain.mistaken_options()) {
    const auto set = values.find(option.name);
    if (set == values.end()) continue;
    const json schema = import_schema(domains);
    if (*set == schema.at("properties").at(option.name).at("default")) continue;
    throw Error(ExitCode::kUsage, std::string(option.name) + ": " + option.why,
                "data." + std::string(option.instead) + "=" + set->dump());
  }
}

namespace {

/// Leaves no store where something of the input is not used.
void import_strictly(const DomainInput& input, const ImportCall& call) {
  fs::path checked = call.to;
  checked += ".tmp." + std::to_string(::getpid()) + ".0";  // as AtomicFile, for clear_leftovers()
  try {
    input.import({call.made_with, checked, call.cancelled, call.done, call.report});
    require_all_used(call.report.warnings);
    fs::rename(checked, call.to);
  } catch (...) {
    std::error_code ignored;
    fs::remove(checked, ignored);
    throw;
  }
}

/// Options that differ from their defaults and mean nothing for data of this kind.
Notes idle_options(Domains domains, const Domain& domain, const json& values) {
  const std::vector<std::string> own = domain.import_options();
  const json properties = import_schema(domains).at("properties"),
             of_all = options_schema<FormatOption>().at("properties");
  Notes out;
  for (const auto& [name, value] : values.items()) {
    if (std::find(own.begin(), own.end(), name) != own.end() || of_all.contains(name)) continue;
    if (value == properties.at(name).value("default", json())) continue;
    out.push_back(
        {"", name + " has no effect on data of the kind " + domain.name(), "", "option", 1});
  }
  return out;
}

/// import_source() of what `claim` is of.
ImportReport import_claimed(Domains domains, const Claim& claim, const fs::path& source,
                            const fs::path& out, const json& values, const ImportProgress& progress,
                            const std::function<bool()>& cancelled) {
  ImportReport report;
  const auto& [domain, found] = claim;
  const std::shared_ptr<const DomainInput> input = found.take(report.warnings);
  json made_with = store_options(*domain, values);
  make_folder(out);
  const FolderLock lock(out);

  const fs::path store = out / kStoreName;
  const std::string fingerprint = fingerprint_of(input->files(), made_with, values);
  std::optional<Account> account;
  const Notes found_notes = report.warnings;
  for (Note& note : idle_options(domains, *domain, values)) {
    report.warnings.push_back(std::move(note));
  }
  if (source != "-") account = account_to_reuse(domains, out, fingerprint);
  report.reused = account.has_value();
  if (report.reused) {
    for (Note& note : account->read) report.warnings.push_back(std::move(note));
  } else {
    check_mistaken_options(domains, *domain, values);
    made_with["input"] = fingerprint;
    const auto done = byte_counter(input->files(), progress, cancelled);
    const std::ptrdiff_t before = std::ssize(report.warnings);
    if (own_options<FormatOption>(values).strict) {
      import_strictly(*input, {made_with, store, cancelled, done, report});
    } else {
      input->import({made_with, store, cancelled, done, report});
    }
    const auto read = report.warnings.begin() + before;
    write_account(out, fingerprint, {found_notes, {read, report.warnings.end()}});
  }
  divide(*domain, out, values);
  StoreView made = domain->open(store, graph::Check::kOnce);
  report.sources = std::move(made.sources);
  report.graphs = made.graphs;
  report.rows = made.rows;
  return report;
}

/// import_source() of what is no pipe.
ImportReport import_files(Domains domains, const fs::path& source, const fs::path& out,
                          const json& values, const ImportProgress& progress,
                          const std::function<bool()>& cancelled) {
  const Claim claim = claim_of(domains, source, values);
  try {
    return import_claimed(domains, claim, source, out, values, progress, cancelled);
  } catch (const Error& error) {
    if (error.code() != ExitCode::kData || claim.found.sureness != Sureness::kIfNoOther) throw;
    std::vector<Diagnostic> problems = error.diagnostics();
    problems.push_back({"",
                        "taken for data of the kind " + std::string(claim.domain->name()) +
                            ", as no other kind was recognised",
                        "kdgat data import --help lists the kinds; format=NAME names one"});
    throw Error(ExitCode::kData, std::move(problems));
  }
}

}  // namespace

ImportReport import_source(Domains domains, const fs::path& source, const fs::path& out,
                           const json& values, const ImportProgress& progress,
                           const std::function<bool()>& cancelled) {
  check_import_options(domains, values);
  if (is_pipe(source)) make_folder(out);
  const PipedInput input(source, out, cancelled);
  try {
    return import_files(domains, input.path(), out, values, progress, cancelled);
  } catch (const Error& error) {
    throw input.renamed(error);
  }
}

std::string import_fingerprint(Domains domains, const fs::path& source, const json& values) {
  if (const fs::path store = store_of(domains, source); !store.empty()) {
    return domain_of_store(domains, store).open(store, graph::Check::kOnce).content_hash;
  }
  check_import_options(domains, values);
  const auto [domain, found] = claim_of(domains, source, values);
  Notes notes;
  return fingerprint_of(found.take(notes)->files(), domain->import_identity(values), values);
}

const Domain& domain_of_source(Domains domains, const fs::path& source, const json& values) {
  return *claim_of(domains, source, values).domain;
}

DataFolder open_folder(Domains domains, const fs::path& folder, graph::Check check) {
  const fs::path path = folder / kStoreName;
  DataFolder out;
  out.domain = &domain_of_store(domains, path);
  out.store = out.domain->open(path, check);
  out.fingerprint = out.store.content_hash;
  if (out.domain->has_parts_inside()) return out;
  const graph::Split split = graph::load_split(folder / kSplitName, graph::GraphStore::open(path));
  out.fingerprint += "-" + file::SafetensorsFile::open(folder / kSplitName).header_hash();
  json& parts = out.store.facts["parts"] = json::object();
  for (const auto& [name, ids] : split.parts) parts[name] = ids.size();
  return out;
}

Notes notes_of_import(const fs::path& folder, const StoreView& store) {
  Account account = account_of(folder, store.options.value("input", "")).value_or(Account());
  for (Note& note : account.read) account.found.push_back(std::move(note));
  return account.found;
}

fs::path store_of(Domains domains, const fs::path& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    return fs::exists(path / kStoreName, ignored) ? path / kStoreName : fs::path();
  }
  if (path.extension() != ".safetensors" || !fs::is_regular_file(path, ignored)) return {};
  const file::SafetensorsFile file = file::SafetensorsFile::open(path);
  const bool is_input = std::any_of(domains.begin(), domains.end(),
                                    [&](const Domain* domain) { return domain->is_input(file); });
  return is_input ? fs::path() : path;
}

const Domain& domain_of_store(Domains domains, const fs::path& store) {
  const file::SafetensorsFile file = file::SafetensorsFile::open(store);
  for (const Domain* domain : domains) {
    if (domain->is_store(file)) return *domain;
  }
  graph::GraphStore::open(store);  // says what it is not
  throw Error(ExitCode::kData,
              store.string() + ": a store of data that this program does not know");
}

const Domain* domain_of_facts(Domains domains, const json& facts) {
  const Domain* plain = nullptr;
  for (const Domain* domain : domains) {
    const std::string key = domain->facts_key();
    if (key.empty()) {
      plain = domain;
    } else if (facts.contains(key)) {
      return domain;
    }
  }
  return plain;
}

}  // namespace kdgat::data
