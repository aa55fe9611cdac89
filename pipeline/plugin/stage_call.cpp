#include "pipeline/plugin/stage_call.h"

#include <mutex>

#include "kdgat/event.h"
#include "kdgat/exact_json.h"
#include "kdgat/stage_abi.h"
#include "pipeline/plugin/plugin_host.h"
#include "pipeline/system/signals.h"

namespace kdgat {
namespace {

using nlohmann::json;

/// Of this process; stages may be called from several threads.
const kdgat_stage& open_stage(const PluginDescription& plugin) {
  static PluginHost plugins;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  return plugins.open(plugin);
}

/// What the functions of kdgat_host work on.
struct Session {
  const std::function<void(const json&)>& emit;
  const std::function<int()>& cancelled;
  StageAnswer answer;
  std::mutex mutex;

  void on_emit(const char* text) {
    const std::lock_guard lock(mutex);
    const json event = json::parse(text == nullptr ? "" : text, nullptr, false);
    if (is_event(event)) {
      emit(event);
    } else {
      emit(LogEvent{"warning",
                    "the stage sent an event that is not a JSON object with an \"event\""});
    }
  }

  void on_result(const char* text) {
    const std::lock_guard lock(mutex);
    json result = json::parse(text == nullptr ? "" : text, nullptr, false);
    if (result.is_object()) answer.result = std::move(result);
  }

  void on_fail(const char* text) {
    const std::lock_guard lock(mutex);
    const json error = json::parse(text == nullptr ? "" : text, nullptr, false);
    if (error.is_object()) {
      answer.diagnostics = read_diagnostics(error.value("diagnostics", json::array()));
    }
  }
};

Session& session(void* context) { return *static_cast<Session*>(context); }

bool is_documented(int code) {
  for (const int known : {0, 1, 2, 3, 4, 5, 81, 82}) {
    if (code == known) return true;
  }
  return is_stop_code(code);
}

}  // namespace

json StageCall::to_json() const {
  return {{"entry", entry},
          {"plugin",
           {{"name", plugin.name},
            {"library", plugin.library.string()},
            {"description", plugin.description.string()},
            {"library_hash", plugin.library_hash}}},
          {"request", request}};
}

StageCall StageCall::from_json(const json& json) {
  StageCall call;
  call.entry = json.at("entry");
  const auto& plugin = json.at("plugin");
  call.plugin.name = plugin.at("name");
  call.plugin.library = plugin.at("library").get<std::string>();
  call.plugin.description = plugin.at("description").get<std::string>();
  call.plugin.library_hash = plugin.at("library_hash");
  call.request = json.at("request");
  return call;
}

json StageAnswer::to_json() const {
  return {{"code", code}, {"result", result}, {"diagnostics", diagnostics}};
}

StageAnswer StageAnswer::from_json(const json& json) {
  StageAnswer answer;
  answer.code = json.at("code");
  answer.result = json.at("result");
  answer.diagnostics = read_diagnostics(json.at("diagnostics"));
  return answer;
}

std::string diagnostics_text(const std::vector<Diagnostic>& list) {
  std::string out;
  for (const Diagnostic& d : list) out += (out.empty() ? "" : "\n") + d.text();
  return out;
}

StageAnswer call_stage(const StageCall& call, const std::function<void(const json&)>& emit,
                       const std::function<int()>& cancelled) {
  Session state{emit, cancelled, {}, {}};
  try {
    const kdgat_stage& stage = open_stage(call.plugin);
    const kdgat_host host = {
        KDGAT_ABI_MAJOR,
        KDGAT_ABI_MINOR,
        sizeof(kdgat_host),
        &state,
        [](void* context, const char* text) { session(context).on_emit(text); },
        [](void* context) { return static_cast<int32_t>(session(context).cancelled()); },
        [](void* context, const char* text) { session(context).on_result(text); },
        [](void* context, const char* text) { session(context).on_fail(text); }};
    const std::string request = exact_dump(call.request);
    int code = stage.validate(&host, request.c_str());
    if (code == 0 && call.entry == "plan") code = stage.plan(&host, request.c_str());
    if (code == 0 && call.entry == "run") code = stage.run(&host, request.c_str());
    state.answer.code = is_documented(code) ? code : static_cast<int>(ExitCode::kStageFailed);
    if (state.answer.code != 0 && state.answer.diagnostics.empty()) {
      state.answer.diagnostics.push_back(
          {"", "the stage failed with status " + std::to_string(code) + " and did not say why",
           ""});
    }
  } catch (const Error& e) {
    state.answer.code = static_cast<int>(e.code());
    state.answer.diagnostics = e.diagnostics();
  }
  return std::move(state.answer);
}

}  // namespace kdgat
