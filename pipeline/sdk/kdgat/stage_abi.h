/* The contract between the host and a stage plugin. C only; numbers and UTF-8 text cross,
 * exceptions and C++ types never do.
 *
 * A plugin is a shared library kdgat_<name>.so that exports one symbol, kdgat_stage_entry. The host
 * loads it if the major version is equal and the minor version is no newer than its own. Structs
 * only grow at the end; `size` says how much of one its maker knew. The host never unloads a
 * plugin. */
#ifndef KDGAT_STAGE_ABI_H_
#define KDGAT_STAGE_ABI_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KDGAT_ABI_MAJOR 1u
#define KDGAT_ABI_MINOR 0u

/* 0 or one of the program's documented exit codes (kdgat/error.h, ExitCode). */
typedef int32_t kdgat_status;

/* What a stage may ask of the host. Owned by the host, valid during the call; every function may be
 * called from any thread. */
typedef struct kdgat_host {
  uint32_t abi_major, abi_minor; /* first for ever: read before anything else */
  uint32_t size;
  void* context; /* first argument of every function below */
  /* One event as a JSON object: progress, metrics, log, window (event.h has their forms). */
  void (*emit)(void* context, const char* event_json);
  /* 0 = go on; else the exit code to leave with after a checkpoint: 85, 130 or 143. */
  int32_t (*cancelled)(void* context);
  /* The answer, a JSON object; at most once, before returning 0. Of plan: facts of the outputs, and
   * "memory" with the plan of it. Of run (result.h has the form):
   *   {"metrics":{...},"figures":[...],"table":{"columns","rows"},"tables":[...],"summary":"...",
   *    "facts":{...},"memory":{"planned","actual"}}, each where there is one. */
  void (*result)(void* context, const char* result_json);
  /* Why the call fails: {"diagnostics":[{"where","message","hint"}]}; before returning non-zero. */
  void (*fail)(void* context, const char* error_json);
} kdgat_host;

/* One stage. Owned by the plugin, valid for ever. Kinds of inputs are those of kinds.h, or the
 * plugin's own. Requests are JSON objects:
 *   {"step","options":{...},"device":"cpu"|"cuda","threads":2,"seed":42,"run_dir":"...",
 *    "memory":{"limit","available","device","total","context","measure","own",
 *              "packs":null|{"graphs","nodes","edges","min_packs"}},
 *    "ranks":{"rank","world","store"},
 *    "inputs":{"graphs":[{"name","kind","path"|null,"facts":{...}}]}}
 * Strings may hold any bytes, as names of files do: one that is no UTF-8 is written as \u0000 and two
 * hexadecimal digits (exact_json.h). */
typedef struct kdgat_stage {
  uint32_t abi_major, abi_minor; /* first for ever: read before anything else */
  uint32_t size;
  const char* name;          /* "distill", as in kdgat_distill.so */
  const char* describe_json; /* {"name","version","summary","runtime","inputs","outputs","options",
                                "refused","trains_in_ranks"}; where they say something also
                                "speaks","published_names","published" (stage.h: StageInfo) */
  kdgat_status (*validate)(const kdgat_host*, const char* request_json); /* rules across options */
  kdgat_status (*plan)(const kdgat_host*,
                       const char* request_json); /* facts of outputs; no training */
  kdgat_status (*run)(const kdgat_host*, const char* request_json);
} kdgat_stage;

/* The one exported symbol; no side effects. */
const kdgat_stage* kdgat_stage_entry(void);

#ifdef __cplusplus
}
#endif
#endif /* KDGAT_STAGE_ABI_H_ */
