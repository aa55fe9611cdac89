#include "pipeline/slurm/job_states.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <sstream>

#include "kdgat/error.h"
#include "pipeline/show/quantity.h"
#include "pipeline/show/text.h"

namespace kdgat {

const char* const kSacctFormat =
    "JobID,State,ExitCode,DerivedExitCode,Elapsed,MaxRSS,ReqMem,NodeList,Reason";
const char* const kSqueueFormat = "%i|%T|%M|%r|%N|%m";

namespace {

/// Of "a|b||c" with empty fields kept.
std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  std::size_t start = 0;
  for (std::size_t at; (at = line.find('|', start)) != std::string::npos; start = at + 1) {
    fields.push_back(line.substr(start, at - start));
  }
  fields.push_back(line.substr(start));
  return fields;
}

template <class Use>
void for_lines(const std::string& text, const Use& use) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty()) use(line);
  }
}

/// "CANCELLED by 1000" and "CANCELLED+" are CANCELLED.
std::string first_word(const std::string& state) {
  return state.substr(0, state.find_first_of(" +"));
}

/// "2G", "1500M", "1024K", "2Gn" (an older sacct: a node), "4Gc" (a core); 0 for "", "0", "?".
uint64_t memory_of(std::string text) {
  while (!text.empty() && (text.back() == 'n' || text.back() == 'c')) text.pop_back();
  if (text.empty()) return 0;
  try {
    return parse_bytes(text);
  } catch (const Error&) {
    return 0;
  }
}

std::string known(const std::string& text) {
  static const std::set<std::string> kNothing = {"None", "(null)", "None assigned", "Unknown",
                                                 "N/A"};
  return kNothing.contains(text) ? "" : text;
}

/// "137:0" or "0:9": code and signal.
void read_exit(const std::string& text, std::optional<int>& code, std::optional<int>* signal) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos || text.empty()) return;
  code = std::atoi(text.c_str());
  if (signal != nullptr) *signal = std::atoi(text.c_str() + colon + 1);
}

/// 1, 2, 3 of "1-2,3%2"; a list as squeue and scontrol write it.
std::vector<int64_t> tasks_in(const std::string& list) {
  std::vector<int64_t> tasks;
  std::istringstream parts(list.substr(0, list.find('%')));
  for (std::string part; std::getline(parts, part, ',');) {
    const std::size_t dash = part.find('-');
    const int64_t first = std::atoll(part.c_str());
    const int64_t last = dash == std::string::npos ? first : std::atoll(part.c_str() + dash + 1);
    for (int64_t task = first; task <= last; ++task) tasks.push_back(task);
  }
  return tasks;
}

/// Puts a report under its id; one that stands for several tasks ("123_[1-3]") under each.
void add(JobReports& reports, JobReport report) {
  const std::size_t open = report.id.find("_[");
  if (open == std::string::npos) {
    reports[report.id] = std::move(report);
    return;
  }
  const std::string array = report.id.substr(0, open);
  const std::string list = report.id.substr(open + 2, report.id.find(']') - open - 2);
  for (const int64_t task : tasks_in(list)) {
    report.id = array + "_" + std::to_string(task);
    reports[report.id] = report;
  }
}

/// Key=value words of a line of scontrol. Values hold blanks only where nothing here needs them.
std::map<std::string, std::string> pairs_of(const std::string& line) {
  std::map<std::string, std::string> pairs;
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    const std::size_t equal = word.find('=');
    if (equal != std::string::npos) pairs.emplace(word.substr(0, equal), word.substr(equal + 1));
  }
  return pairs;
}

}  // namespace

JobReports parse_sacct(const std::string& text) {
  constexpr std::size_t kFields = 9;
  JobReports reports;
  std::map<std::string, int64_t> seen;
  for_lines(text, [&](const std::string& line) {
    const std::vector<std::string> f = fields_of(line);
    if (f.size() < kFields) return;
    const std::string id = f[0].substr(0, f[0].find('.'));
    if (id != f[0]) {
      // "123.batch", "123.0": the memory of a step of the job above.
      if (const auto job = reports.find(id); job != reports.end()) {
        job->second.memory_used = std::max(job->second.memory_used, memory_of(f[5]));
        if (first_word(f[1]) == "OUT_OF_MEMORY") job->second.state = "OUT_OF_MEMORY";
      }
      return;
    }
    JobReport report;
    report.id = id;
    report.state = first_word(f[1]);
    read_exit(f[2], report.exit_code, &report.exit_signal);
    read_exit(f[3], report.derived_code, nullptr);
    report.elapsed = f[4];
    report.memory_used = memory_of(f[5]);
    report.memory_asked = memory_of(f[6]);
    report.nodes = known(f[7]);
    report.reason = known(f[8]);
    report.restarts = seen[id]++;  // each restart has a line of its own, the last one is now
    report.from = "sacct";
    add(reports, std::move(report));
  });
  return reports;
}

JobReports parse_scontrol(const std::string& text) {
  JobReports reports;
  for_lines(text, [&](const std::string& line) {
    std::map<std::string, std::string> pairs = pairs_of(line);
    if (!pairs.contains("JobId") || !pairs.contains("JobState")) return;
    JobReport report;
    report.id = pairs["JobId"];
    if (pairs.contains("ArrayJobId") && pairs.contains("ArrayTaskId")) {
      const std::string tasks = pairs["ArrayTaskId"];
      const bool is_one = tasks.find_first_not_of("0123456789") == std::string::npos;
      report.id = pairs["ArrayJobId"] + "_" + (is_one ? tasks : "[" + tasks + "]");
    }
    report.state = first_word(pairs["JobState"]);
    report.reason = known(pairs["Reason"]);
    read_exit(pairs["ExitCode"], report.exit_code, &report.exit_signal);
    read_exit(pairs["DerivedExitCode"], report.derived_code, nullptr);
    report.elapsed = pairs["RunTime"];
    if (pairs.contains("Restarts")) report.restarts = std::atoll(pairs["Restarts"].c_str());
    report.memory_asked = memory_of(pairs["MinMemoryNode"]);
    report.nodes = known(pairs["NodeList"]);
    report.from = "scontrol";
    add(reports, std::move(report));
  });
  return reports;
}

JobReports parse_squeue(const std::string& text) {
  constexpr std::size_t kFields = 6;
  JobReports reports;
  for_lines(text, [&](const std::string& line) {
    const std::vector<std::string> f = fields_of(line);
    if (f.size() < kFields) return;
    JobReport report;
    report.id = f[0];
    report.state = first_word(f[1]);
    report.elapsed = f[2];
    report.reason = known(f[3]);
    report.nodes = known(f[4]);
    report.memory_asked = memory_of(f[5]);
    report.from = "squeue";
    add(reports, std::move(report));
  });
  return reports;
}

JobReports ask_slurm(const std::vector<std::string>& jobs, const RunProgram& run) {
  JobReports reports;
  if (jobs.empty()) return reports;
  const std::string list = joined(jobs, ",");
  const auto ask = [&](const std::vector<std::string>& words) {
    const auto answer = run(words);
    return answer && answer->exit_code == 0 ? answer->out : std::string();
  };
  const auto is_known = [&](const std::string& job) {
    return std::any_of(reports.begin(), reports.end(), [&](const auto& entry) {
      return entry.first == job || entry.first.rfind(job + "_", 0) == 0;
    });
  };
  reports = parse_sacct(ask({"sacct", "--noheader", "--parsable2", "--duplicates",
                             std::string("--format=") + kSacctFormat, "--jobs=" + list}));
  for (const std::string& job : jobs) {
    if (is_known(job)) continue;
    reports.merge(parse_scontrol(ask({"scontrol", "--oneliner", "show", "job", job})));
  }
  if (!std::all_of(jobs.begin(), jobs.end(), is_known)) {
    reports.merge(parse_squeue(ask({"squeue", "--noheader", "--array", "--states=all",
                                    std::string("--format=") + kSqueueFormat, "--jobs=" + list})));
  }
  return reports;
}

}  // namespace kdgat
