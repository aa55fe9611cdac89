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

static kdgat_status plan(const kdgat_host* host, const char* request) {
  (void)request;
  host->result(host->context, "{\"count\":1}");
  return 0;
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
    host->emit(host->context, "{\"event\":\"progress\",\"unit\":\"step\",\"done\":1,\"total\":9}");
    for (;;) sleep(1);
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
