#include "engine/data/can/synthetic/inject_logs.h"

#include <algorithm>
#include <bitset>
#include <map>
#include <string>
#include <utility>

#include "engine/data/can/logs/can_log.h"
#include "engine/data/can/logs/format_log.h"
#include "engine/data/can/logs/label_intervals.h"
#include "engine/data/can/synthetic/inject.h"
#include "engine/data/core/dataset_files.h"
#include "kdgat/atomic_file.h"
#include "kdgat/error.h"
#include "kdgat/text.h"

namespace kdgat::data {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// A log that is read, and the name that its outputs begin with.
struct InputLog {
  fs::path path;
  std::string name;  ///< as it was given, for messages
  fs::path stem;     ///< relative to the output, without endings
};

fs::path stem_of(const fs::path& name) {
  if (name == "-") return "stdin";
  fs::path stem = name;
  if (stem.filename() != unpacked_name(stem)) stem.replace_extension();
  if (is_log(stem)) stem.replace_extension();
  return stem;
}

std::vector<InputLog> find_inputs(const std::vector<fs::path>& sources, Notes& warnings) {
  std::vector<InputLog> out;
  for (const fs::path& source : sources) {
    for (const LogFile& file : find_log_files(source, {}, true, warnings)) {
      const bool piped = source == "-";
      out.push_back({file.path, piped ? "standard input" : file.path.string(),
                     stem_of(piped ? source : fs::path(file.name))});
    }
  }
  return out;
}

fs::path output_of(const InputLog& log, const std::string& attack,
                   const CanInjectOptions& options) {
  fs::path name = log.stem;
  name += "-" + attack + log_extension(options.format);
  return name;
}

/// Throws Error(kUsage) before anything is read or written.
void check_outputs(const std::vector<InputLog>& inputs, const CanInjectOptions& options,
                   const fs::path& output) {
  std::map<fs::path, const InputLog*> made;
  for (const InputLog& log : inputs) {
    for (const std::string& attack : options.attacks) {
      const fs::path name = output_of(log, attack, options);
      const auto [twin, is_new] = made.emplace(name, &log);
      if (!is_new && twin->second == &log) {
        throw Error(ExitCode::kUsage, "attacks: " + attack + " is named twice");
      }
      if (!is_new) {
        throw Error(ExitCode::kUsage,
                    twin->second->name + " and " + log.name + " would both become " + name.string(),
                    "name them in two calls, with two folders");
      }
      for (const InputLog& other : inputs) {
        if (std::error_code ignored; fs::equivalent(output / name, other.path, ignored)) {
          throw Error(ExitCode::kUsage,
                      (output / name).string() + " would replace the input " + other.name,
                      "name another folder: -o DIR");
        }
      }
    }
  }
}

/// Reads logs, and says how far it is.
class LogReader {
 public:
  LogReader(const std::vector<InputLog>& inputs, const CanInjectOptions& options,
            const InjectCall& call, Notes& warnings)
      : options_(options), call_(call), warnings_(warnings) {
    std::error_code ignored;
    for (const InputLog& log : inputs) {
      if (fs::is_regular_file(log.path, ignored)) {
        total_ += static_cast<int64_t>(fs::file_size(log.path, ignored));
      }
    }
  }

  std::vector<CanFrame> read(const InputLog& input) {
    CanLog log(file::ByteReader(input.path, call_.cancelled), options_.input_format,
               options_.strict, kAllChannels, options_);
    LabelTables tables;
    LabelIntervals* const labels = tables.of(input.path);
    std::vector<CanFrame> frames;
    int64_t attack_rows = 0, first_attack = 0, remote = 0;
    std::bitset<kMostChannels> buses;
    CanFrame frame;
    while (log.next(frame)) {
      add_label(labels, frame);
      frames.push_back(frame);
      check_payload(frame, log.rows(), input);
      if (frame.label == 1 && ++attack_rows == 1) first_attack = log.rows();
      remote += frame.remote ? 1 : 0;
      buses.set(frame.channel);
      if ((log.rows() & 0x3fff) == 0) tell(log.bytes_read());
    }
    if (log.rows() == 0) throw Error(ExitCode::kData, as_diagnostics(log.problems()));
    done_ += log.bytes_read();
    tell(0);
    if (attack_rows > 0 && !options_.keep_attacks) {
      throw Error(ExitCode::kData,
                  grouped(attack_rows) + " of its " + grouped(log.rows()) +
                      " rows are labelled as attacks, the first is row " + grouped(first_attack),
                  "name logs without attacks, or leave these rows in: keep_attacks=true",
                  input.name);
    }
    for (Note& problem : log.problems()) warnings_.push_back(std::move(problem));
    for (Note& problem : tables.notes()) warnings_.push_back(std::move(problem));
    if (buses.count() > 1 && options_.format != "candump") {
      warnings_.push_back(
          {input.name,
           std::to_string(buses.count()) + " buses become one: the form does not tell them apart",
           "format=candump does"});
    }
    if (remote > 0 && options_.format != "candump") {
      warnings_.push_back({input.name,
                           grouped(remote) +
                               " remote frames are written as frames without payload: the form "
                               "has no other",
                           ""});
    }
    return frames;
  }

 private:
  /// The form `hcrl` holds classic frames.
  void check_payload(const CanFrame& frame, int64_t row, const InputLog& input) const {
    if (frame.length <= 8 || options_.format != "hcrl") return;
    throw Error(ExitCode::kData,
                "row " + grouped(row) + " has " + std::to_string(frame.length) +
                    " bytes of payload, and hcrl holds 8 at most",
                "the other forms hold CAN FD: format=can-train-and-test", input.name);
  }

  void tell(int64_t of_this_log) const {
    if (call_.progress) call_.progress(std::min(done_ + of_this_log, total_), total_);
  }

  const CanInjectOptions& options_;
  const InjectCall& call_;
  Notes& warnings_;
  int64_t total_ = 0, done_ = 0;
};

/// By seed, attack and name, so that a log becomes the same whatever is done beside it.
arrays::Random random_of(const CanInjectOptions& options, const std::string& attack,
                         const fs::path& stem) {
  uint64_t seed = arrays::Random(static_cast<uint64_t>(options.seed), 4).next();
  for (const char c : attack + "/" + stem.filename().string()) {
    seed = arrays::Random(seed, static_cast<unsigned char>(c)).next();
  }
  return arrays::Random(seed);
}

/// inject(), with the log named in what it throws.
Injection inject_into(const InputLog& input, const std::vector<CanFrame>& frames,
                      const std::string& attack, const CanInjectOptions& options) {
  arrays::Random random = random_of(options, attack, input.stem);
  try {
    return inject(frames, attack, options, random);
  } catch (const Error& error) {
    std::vector<Diagnostic> problems = error.diagnostics();
    for (Diagnostic& problem : problems) {
      if (problem.where.empty()) problem.where = input.name;
    }
    throw Error(error.code(), std::move(problems));
  }
}

json described(const Injection& made, const std::string& name, const InputLog& input,
               const std::string& attack) {
  const auto attack_rows = std::count_if(made.frames.begin(), made.frames.end(),
                                         [](const CanFrame& frame) { return frame.label == 1; });
  return {{"file", name},
          {"source", input.name},
          {"attack", attack},
          {"attacks", made.attacks.size()},
          {"rows", made.frames.size()},
          {"attack_rows", attack_rows},
          {"added", made.added},
          {"changed", made.changed},
          {"removed", made.removed},
          {"no_room", made.no_room}};
}

}  // namespace

InjectReport inject_logs(const CanInjectOptions& options, const InjectCall& call) {
  InjectReport report;
  const std::vector<InputLog> inputs = find_inputs(call.sources, report.warnings);
  check_outputs(inputs, options, call.output);
  if (options.format == "candump") {
    report.warnings.push_back({"",
                               "candump carries no labels: nothing in these files tells the "
                               "attacks",
                               "format=can-train-and-test or format=hcrl writes them"});
  }
  LogReader reader(inputs, options, call, report.warnings);
  for (const InputLog& input : inputs) {
    const std::vector<CanFrame> frames = reader.read(input);
    for (const std::string& attack : options.attacks) {
      if (call.cancelled && call.cancelled()) throw Error(ExitCode::kInterrupted, "interrupted");
      const Injection made = inject_into(input, frames, attack, options);
      const fs::path name = output_of(input, attack, options);
      fs::create_directories((call.to / name).parent_path());
      write_file(call.to / name, format_log(made.frames, options.format));
      report.files.push_back(described(made, name.generic_string(), input, attack));
    }
  }
  return report;
}

}  // namespace kdgat::data
