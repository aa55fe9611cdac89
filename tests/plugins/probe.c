/* A stage plugin that misbehaves as its option "mode" says, and, by definitions given to the
 * compiler, plugins that must not be loaded. Written in C: the contract is one of C. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kdgat/stage_abi.h"

#ifndef NAME
#define NAME "probe"
#endif
#ifndef MAJOR
#define MAJOR KDGAT_ABI_MAJOR
#endif
#ifndef MINOR
#define MINOR KDGAT_ABI_MINOR
#endif
#ifndef RUNTIME
#define RUNTIME "none"
#endif

static int is_mode(const char* request, const char* mode) {
  char wanted[64];
  snprintf(wanted, sizeof wanted, "\"mode\":\"%s\"", mode);
  return strstr(request, wanted) != NULL;
}

static kdgat_status validate(const kdgat_host* host, const char* request) {
  if (!is_mode(request, "invalid")) return 0;
  host->fail(host->context,
             "{\"diagnostics\":[{\"message\":\"mode is invalid\",\"hint\":\"choose another\"}]}");
  return 2;
}

/* The number after `"key":` of a request; 0 if there is none. */
static long long number_of(const char* request, const char* key) {
  char wanted[64];
  snprintf(wanted, sizeof wanted, "\"%s\":", key);
  const char* at = strstr(request, wanted);
  return at == NULL ? 0 : atoll(at + strlen(wanted));
}

/* A plan of memory for the device of the request, as a stage that trains answers it. */
static void plan_memory(const kdgat_host* host, const char* request) {
  char answer[1024];
  snprintf(answer, sizeof answer,
           "{\"count\":1,\"memory\":{\"line\":\"MemoryBudget(total=%lldMB)\",\"mode\":\"%s\","
           "\"device\":{\"name\":\"card\",\"total\":%lld,\"share\":0.65},"
           "\"table\":{\"context\":%lld,\"parameters\":409600,\"step\":1048576,\"input\":0},"
           "\"available\":%lld,\"batch\":{\"graphs\":1200,\"nodes\":34000,\"edges\":60000},"
           "\"binds\":\"memory\",\"steps\":8,\"predicted\":2097152,\"margin\":0.03,"
           "\"cache_policy\":[\"every:5\",\"epoch\"],\"teacher\":\"none\",\"epochs\":30}}",
           number_of(request, "total") >> 20,
           strstr(request, "\"measure\":true") != NULL ? "measured" : "static",
           number_of(request, "total"), number_of(request, "context"), number_of(request, "limit"));
  host->result(host->context, answer);
}

/* oom-report.md in the step's folder, as a stage that ran out of memory leaves it. */
static void write_oom_report(const char* request) {
  const char* folder = strstr(request, "\"run_dir\":\"");
  char path[4096];
  if (folder == NULL || sscanf(folder, "\"run_dir\":\"%4000[^\"]", path) != 1) return;
  strcat(path, "/oom-report.md");
  FILE* file = fopen(path, "w");
  if (file == NULL) return;
  fputs("# Out of memory\n", file);
  fclose(file);
}

static kdgat_status plan(const kdgat_host* host, const char* request) {
  if (is_mode(request, "planned")) {
    plan_memory(host, request);
    return 0;
  }
  if (is_mode(request, "too_large")) {
    host->fail(host->context,
               "{\"diagnostics\":[{\"message\":\"one graph does not fit\",\"hint\":\"the smallest "
               "memory that works is 3MiB\"}]}");
    return 5;
  }
  host->result(host->context, "{\"count\":1}");
  return 0;
}

/* Whether the test has let this work go on: a file named by the seed in the folder of the environment's
 * PROBE_GATE. */
static int is_open(const char* request) {
  const char* folder = getenv("PROBE_GATE");
  char path[4096];
  if (folder == NULL) return 1;
  snprintf(path, sizeof path, "%s/%lld", folder, number_of(request, "seed"));
  return access(path, F_OK) == 0;
}

static kdgat_status run(const kdgat_host* host, const char* request) {
  const char* fake_events = getenv("PROBE_OOM_FILE");
  if (is_mode(request, "abort")) {
    fprintf(stderr, "probe: about to abort\n");
    abort();
  }
  if (is_mode(request, "kill")) {
    if (fake_events != NULL) {
      FILE* file = fopen(fake_events, "w");
      if (file != NULL) {
        fputs("oom_kill 1\n", file);
        fclose(file);
      }
    }
    raise(SIGKILL);
  }
  if (is_mode(request, "exit")) _exit(0);
  if (is_mode(request, "exit_82")) _exit(82);
  if (is_mode(request, "bad_alloc")) {
    fputs("terminate called after throwing an instance of 'std::bad_alloc'\n", stderr);
    abort();
  }
  if (is_mode(request, "status")) return 77;
  if (is_mode(request, "planned")) {
    host->emit(host->context,
               "{\"event\":\"metrics\",\"what\":\"memory\",\"index\":0,\"values\":{\"event\":"
               "\"release\",\"bytes\":4096}}");
    host->emit(host->context,
               "{\"event\":\"metrics\",\"what\":\"epoch\",\"index\":1,\"values\":{\"memory\":{"
               "\"peak_allocated\":2000000,\"peak_reserved\":3000000}}}");
    host->result(host->context,
                 "{\"facts\":{\"count\":1},\"memory\":{\"planned\":{\"predicted\":2097152},"
                 "\"actual\":{\"peak_tensor_bytes\":2000000,\"releases\":1,\"released_bytes\":4096,"
                 "\"splits\":0}}}");
    return 0;
  }
  if (is_mode(request, "allocator")) {
    const char* first = getenv("PYTORCH_CUDA_ALLOC_CONF");
    const char* second = getenv("PYTORCH_ALLOC_CONF");
    char answer[512];
    snprintf(answer, sizeof answer, "{\"facts\":{\"allocator\":[\"%s\",\"%s\"]}}",
             first == NULL ? "" : first, second == NULL ? "" : second);
    host->result(host->context, answer);
    return 0;
  }
  if (is_mode(request, "oom")) {
    host->emit(host->context,
               "{\"event\":\"metrics\",\"what\":\"memory\",\"index\":0,\"values\":{\"event\":"
               "\"plan\",\"plan\":{\"predicted\":7}}}");
    write_oom_report(request);
    host->fail(host->context, "{\"diagnostics\":[{\"message\":\"out of host memory\"}]}");
    return 82;
  }
  if (is_mode(request, "memory")) {
    host->fail(host->context, "{\"diagnostics\":[{\"message\":\"out of host memory\"}]}");
    return 82;
  }
  if (is_mode(request, "fail")) {
    host->fail(host->context,
               "{\"diagnostics\":[{\"where\":\"a.csv:3\",\"message\":\"bad row\"}]}");
    return 3;
  }
  if (is_mode(request, "hang")) {
    host->emit(host->context, "{\"event\":\"log\",\"level\":\"warning\",\"message\":\"hangs\"}");
    for (int i = 0; i < 3600; ++i) sleep(1); /* no test takes as long, and nothing stays for ever */
    return 1;
  }
  if (is_mode(request, "babble")) {
    host->emit(host->context, "not json");
    host->emit(host->context, "[1]");
    host->emit(host->context, NULL);
    host->emit(host->context, "{\"event\":7}");
    host->emit(host->context, "{\"event\":\"progress\",\"done\":\"many\"}");
    host->emit(host->context, "{\"event\":\"log\",\"level\":3}");
    for (int i = 0; i < 5000; ++i) {
      host->emit(host->context,
                 "{\"event\":\"progress\",\"unit\":\"step\",\"done\":1,\"total\":2}");
    }
  }
  if (is_mode(request, "gate")) {
    host->emit(host->context, "{\"event\":\"log\",\"level\":\"warning\",\"message\":\"waits\"}");
    for (; !is_open(request); usleep(10000)) {
      const kdgat_status code = host->cancelled(host->context);
      if (code == 0) continue;
      host->fail(host->context, "{\"diagnostics\":[{\"message\":\"stopped at the gate\"}]}");
      return code;
    }
  }
  if (is_mode(request, "cancel")) {
    while (host->cancelled(host->context) == 0) usleep(10000);
    host->fail(host->context, "{\"diagnostics\":[{\"message\":\"checkpoint at step 4\"}]}");
    return host->cancelled(host->context);
  }
  host->result(host->context,
               "{\"facts\":{\"count\":1},\"metrics\":{\"count\":1},\"summary\":\"probed\","
               "\"table\":{\"columns\":[\"\",\"F1\"],\"rows\":[[\"probe\",0.5]]}}");
  return 0;
}

static const char kDescription[] =
    "{\"name\":\"" NAME
    "\",\"version\":1,\"summary\":\"Misbehaves on demand.\",\"runtime\":\"" RUNTIME
    "\",\"inputs\":[{\"name\":\"before\",\"kind\":\"count\",\"required\":false,\"many\":true}],"
    "\"outputs\":[{\"name\":\"count\",\"kind\":\"count\",\"required\":true,\"many\":false}],"
    "\"options\":{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{\"mode\":{"
    "\"type\":"
    "\"string\",\"default\":\"good\",\"description\":\"What to do.\"}}},\"refused\":[]}";

static const kdgat_stage kStage = {MAJOR, MINOR, sizeof(kdgat_stage), NAME, kDescription, validate,
                                   plan,  run};

#ifdef NO_SYMBOL
const kdgat_stage* another_entry(void);
__attribute__((visibility("default"))) const kdgat_stage* another_entry(void) { return &kStage; }
#else
__attribute__((visibility("default"))) const kdgat_stage* kdgat_stage_entry(void) {
  return &kStage;
}
#endif
