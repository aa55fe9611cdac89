/*
 * Frames that no bus has, to an exported detector: any id, any length, clocks that stand still, run back, are infinite
 * or no numbers. Each payload is a block of its own, so that a sanitizer sees a byte too far. Prints a sum over all
 * that was said, which is the same with every compiler.
 *
 *   export_fuzz FRAMES
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "detector.h"

static uint64_t draws = 88172645463325252u, digest = 14695981039346656037u;
static kdgat_state state;

static uint32_t below(uint32_t n) {
  draws ^= draws << 13;
  draws ^= draws >> 7;
  draws ^= draws << 17;
  return (uint32_t)((draws >> 32) % n);
}

static void note(int said) {
  const float score = kdgat_score(&state);
  const kdgat_alarm alarm = kdgat_last_alarm(&state);
  uint32_t bits;
  memcpy(&bits, &score, sizeof(bits));
  digest = (digest ^ (uint32_t)said) * 1099511628211u;
  digest = (digest ^ bits) * 1099511628211u;
  digest = (digest ^ (uint64_t)(alarm.number + alarm.windows + alarm.last_window)) * 1099511628211u;
}

int main(int argc, char** argv) {
  const long frames = argc > 1 ? atol(argv[1]) : 1000;
  const double huge = 1e308;
  double time = 0;
  long i;
  int said;
  uint32_t ids[64];
  for (i = 0; i < 64; ++i) ids[i] = below(2) ? 0x40 + 37 * below(60) : (uint32_t)draws;
  kdgat_init(&state);
  for (i = 0; i < frames; ++i) {
    const uint32_t kind = below(1000);
    const uint8_t length = (uint8_t)(below(4) ? 8 : below(65));
    uint8_t* data = length > 0 ? malloc(length) : NULL;
    uint8_t b;
    uint32_t id = ids[below(1 + below(64))];
    double at;
    if (kind < 100) id = (uint32_t)(draws >> 3);
    if (kind == 100) ids[below(64)] = id; /* the bus changes */
    time += kind < 300 ? 0.0 : 0.0001 * (double)below(30);
    if (kind == 101) time -= (double)below(5);
    if (kind == 102) time = (double)below(100000) * 1e6;
    at = time;
    if (kind == 103) at = huge * 10 - huge * 10; /* no number */
    if (kind == 104) at = huge * (below(2) ? 10 : -10);
    for (b = 0; b < length; ++b) data[b] = (uint8_t)below(256);
    said = kdgat_push(&state, at, id, length, data);
    free(data);
    if (said != 0) note(said);
    if (kind == 105 && below(20) == 0) { /* the log ends, and another one begins */
      while ((said = kdgat_finish(&state)) != 0) note(said);
      if (below(2)) kdgat_init(&state);
    }
  }
  while ((said = kdgat_finish(&state)) != 0) note(said);
  printf("%016llx\n", (unsigned long long)digest);
  return 0;
}
