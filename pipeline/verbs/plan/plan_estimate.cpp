#include "pipeline/verbs/plan/plan_estimate.h"

#include <algorithm>
#include <cmath>
#include <iostream>

#include "kdgat/kinds.h"
#include "kdgat/text.h"
#include "pipeline/execute/lone_step.h"
#include "pipeline/memory/legacy_table.h"
#include "pipeline/memory/memory_table.h"
#include "pipeline/plugin/schema.h"
#include "pipeline/show/text.h"
#include "pipeline/verbs/json/json_forms.h"

namespace kdgat {
namespace {

using nlohmann::json;

/// Puts a size into `to`; what is wrong with the text, or "".
std::string read_size(const std::string& name, const std::string& text, double least, double& to) {
  const json value = plain_scalar(text).value;
  if (!value.is_number() || value.get<double>() < least) {
    return name + ": " + text + " is not a number of at least " + value_text(least);
  }
  to = value.get<double>();
  return "";
}

/// Sizes of ratings: published keys, which are options of no stage, and flags.
struct RatingKey {
  const char* key;
  double RatingSizes::*size;
  double least;
};
constexpr RatingKey kRatingKeys[] = {{"num_users", &RatingSizes::users, 1},
                                     {"num_items", &RatingSizes::items, 1},
                                     {"num_ratings", &RatingSizes::ratings, 2}};

/// Takes key=value of these out of the options of the stage.
void take_keys(ProfileRequest& profile, RatingSizes& ratings) {
  std::erase_if(profile.overrides, [&](const ProfileRequest::Override& one) {
    const auto found = std::find_if(std::begin(kRatingKeys), std::end(kRatingKeys),
                                    [&](const RatingKey& row) { return row.key == one.key; });
    if (found == std::end(kRatingKeys)) return false;
    const std::string wrong =
        read_size(found->key, one.value, found->least, ratings.*(found->size));
    if (!wrong.empty()) profile.problems.push_back({one.origin, wrong, ""});
    return true;
  });
}

/// Asks for a whole number on standard input until it is given one; an empty line takes `usual`.
int64_t ask(Context& context, const std::string& what, int64_t usual) {
  while (true) {
    context.err << what << " [" << usual << "]: " << std::flush;
    std::string line;
    if (!std::getline(std::cin, line)) {
      throw Error(ExitCode::kUsage, "standard input ended before " + what + " was said");
    }
    if (line.find_first_not_of(" \t\r") == std::string::npos) return usual;
    const json value = plain_scalar(line).value;
    if (value.is_number_integer() && value.get<int64_t>() > 0) return value.get<int64_t>();
    context.err << line << " is not a whole number above 0\n";
  }
}

void set_form(ProfileRequest& profile, int64_t hidden_dim, int64_t num_layers) {
  profile.overrides.push_back({"hidden_dim", std::to_string(hidden_dim), kCommandLine});
  profile.overrides.push_back({"num_layers", std::to_string(num_layers), kCommandLine});
}

bool names_form(const ProfileRequest& profile) {
  return std::any_of(profile.overrides.begin(), profile.overrides.end(),
                     [](const ProfileRequest::Override& one) {
                       return one.key.find("hidden") != std::string::npos ||
                              one.key.find("layers") != std::string::npos;
                     });
}

struct NetWidths {
  int64_t hidden = 0, layers = 0;
  static auto keys() {
    return std::tuple{key("hidden", &NetWidths::hidden), key("layers", &NetWidths::layers)};
  }
};

/// Of the answer of plan().
struct EstimateAnswer {
  NetWidths widths;
  static auto keys() { return std::tuple{key("widths", &EstimateAnswer::widths)}; }
};

class Estimate {
 public:
  Estimate(Context& context, EstimateFlags& flags, const MemoryOptions& memory)
      : context_(context), flags_(flags), memory_(memory) {}

  int say(ProfileRequest profile) {
    choose_stage(profile);
    take_keys(profile, flags_.ratings);
    if (flags_.interactive) ask_sizes(profile);
    if (flags_.legacy && !names_form(profile)) return say_published(profile);
    const Planned planned = plan(profile);
    if (flags_.is_published()) return say_legacy(planned);
    if (context_.json) {
      print_json(context_, "kdgat.memory.estimate", planned.document());
      return 0;
    }
    if (context_.verbosity > 0) {
      context_.out << memory_table({{planned.step, planned.memory}}) << '\n';
    }
    context_.out << planned.plan.line << '\n';
    return 0;
  }

 private:
  struct Planned {
    std::string step;
    json facts, memory;
    MemoryPlan plan;
    NetWidths widths;

    json document() const { return {{"memory", memory}, {"graphs", facts}}; }
  };

  /// The published estimate is of one stage; any other is to be named.
  void choose_stage(ProfileRequest& profile) const {
    const PluginDescription* plugin = context_.catalog.find_making(kind::kRecommender);
    const std::string published = plugin == nullptr ? "" : plugin->name;
    if (profile.stage.empty() && flags_.is_published()) profile.stage = published;
    if (profile.stage.empty() && profile.problems.empty()) {
      throw Error(ExitCode::kUsage, "kdgat plan --estimate needs a stage",
                  "e.g. kdgat plan classifier --estimate; see kdgat plugins list");
    }
    if (flags_.is_published() && published.empty()) {
      throw Error(ExitCode::kUsage, "no stage here has a published estimate");
    }
    if (flags_.is_published() && profile.stage != published) {
      throw Error(ExitCode::kUsage, "only the stage " + published + " has a published estimate",
                  "kdgat plan " + published + " --legacy");
    }
  }

  Planned plan(const ProfileRequest& request) const {
    const Profile profile = resolve_profile(request, context_.catalog, profile_sections());
    const PlannedStep step = lone_step(profile, context_.catalog);
    const bool has_ratings = context_.catalog.find(step.spec.stage)->makes(kind::kRecommender);
    MemoryRequest memory;
    memory_.apply(memory);
    Planned out;
    out.step = step.spec.name;
    out.facts = has_ratings ? flags_.ratings.facts() : flags_.graphs.facts();
    const json answer = plan_alone(step, profile, context_.catalog, out.facts, memory);
    out.memory = answer.get<StageResult>().memory;
    if (out.memory.is_null()) throw Error(ExitCode::kUsage, out.step + ": plans no memory");
    out.plan = record::read<MemoryPlan>(out.memory);
    out.widths = record::read<EstimateAnswer>(answer).widths;
    return out;
  }

  int say_legacy(const Planned& planned) const {
    const LegacyComparison legacy = legacy_comparison(planned.plan, planned.widths.hidden,
                                                      planned.widths.layers, flags_.ratings);
    if (context_.json) {
      json out = planned.document();
      out["legacy"] = record::write<json>(legacy);
      print_json(context_, "kdgat.memory.estimate", out);
    } else {
      context_.out << legacy_comparison_text(legacy);
    }
    return 0;
  }

  /// The common configurations of the published guide.
  int say_published(const ProfileRequest& profile) const {
    std::vector<PublishedComparison> rows;
    for (const PublishedEstimate& row : published_estimates()) {
      ProfileRequest of_row = profile;
      set_form(of_row, row.hidden_dim, row.num_layers);
      rows.push_back(
          {legacy_comparison(plan(of_row).plan, row.hidden_dim, row.num_layers, flags_.ratings),
           row.table, row.name, row.gb, row.original_mib});
    }
    if (context_.json) {
      print_json(context_, "kdgat.memory.published", {{"published", record::write<json>(rows)}});
    } else {
      context_.out << published_comparisons_text(rows);
    }
    return 0;
  }

  /// Asks what the published program asks: the form of the net, and the sizes of the graph.
  void ask_sizes(ProfileRequest& profile) {
    const int64_t hidden_dim = ask(context_, "hidden_dim", 64);
    set_form(profile, hidden_dim, ask(context_, "num_layers", 2));
    const auto ask_count = [&](const char* what, double& count) {
      count = static_cast<double>(ask(context_, what, std::llround(count)));
    };
    ask_count("num_users", flags_.ratings.users);
    ask_count("num_items", flags_.ratings.items);
  }

  Context& context_;
  EstimateFlags& flags_;
  const MemoryOptions& memory_;
};

}  // namespace

void EstimateFlags::declare(CommandLine& line) {
  const auto size = [&](const std::string& flag, double& to, double least) {
    line.value(flag, [this, &line, flag, &to, least](const std::string& text) {
      estimate = true;
      if (const std::string wrong = read_size(flag, text, least, to); !wrong.empty()) {
        line.problem(wrong);
      }
    });
  };
  line.flag("--estimate", estimate);
  size("--graphs", graphs.graphs, 1);
  size("--nodes", graphs.nodes, 1);
  size("--edges", graphs.edges, 0);
  size("--num-ids", graphs.num_ids, 2);
  for (const RatingKey& row : kRatingKeys) size(flag_of(row.key), ratings.*(row.size), row.least);
  line.flag("--legacy", legacy);
  line.flag("--interactive", interactive);
}

int estimate_memory(Context& context, RunOptions options, EstimateFlags& flags,
                    const MemoryOptions& memory) {
  return Estimate(context, flags, memory).say(std::move(options.profile));
}

}  // namespace kdgat
