/*
 * exported: the time of each window of an exported detector, from the first of its frames to what it says of them.
 *
 *   exported FRAMES [PASSES [MOST]]
 *
 * FRAMES has rows of 80 bytes: time (double, seconds), id (uint32), 0, length (uint8 each), 2 of nothing, 64 bytes of
 * payload. Of PASSES (1) passes over them the fastest time of each window counts; MOST (all) = frames that are read.
 * Prints JSON, times in microseconds.
 */
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "detector.h"

typedef struct {
  double time;
  uint32_t id;
  uint8_t bus, length, fill[2];
  uint8_t data[64];
} frame;

static kdgat_state state;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return x < y ? -1 : x > y;
}

int main(int argc, char** argv) {
  const long passes = argc > 2 ? atol(argv[2]) : 1;
  FILE* in = argc > 1 ? fopen(argv[1], "rb") : NULL;
  long frames, most, windows = 0, pass, i;
  double* took;
  frame* all;
  if (in == NULL || fseek(in, 0, SEEK_END) != 0) return 2;
  most = ftell(in) / (long)sizeof(frame);
  if (argc > 3 && atol(argv[3]) < most) most = atol(argv[3]);
  rewind(in);
  all = malloc((size_t)(most + 1) * sizeof(frame));
  took = malloc((size_t)(most + 1) * sizeof(double));
  if (all == NULL || took == NULL) return 2;
  frames = (long)fread(all, sizeof(frame), (size_t)most, in);
  for (pass = 0; pass < passes; ++pass) {
    double begin = now();
    windows = 0;
    kdgat_init(&state);
    for (i = 0; i < frames; ++i) {
      if ((kdgat_push(&state, all[i].time, all[i].id, all[i].length, all[i].data) & KDGAT_WINDOW) ==
          0)
        continue;
      {
        const double end = now();
        if (pass == 0 || end - begin < took[windows]) took[windows] = end - begin;
        ++windows;
        begin = end;
      }
    }
  }
  qsort(took, (size_t)windows, sizeof(double), ascending);
  if (windows == 0) return 1;
  printf("{\"frames\": %ld, \"windows\": %ld, \"median\": %.3f, \"p99\": %.3f, \"worst\": %.3f}\n",
         frames, windows, took[windows / 2], took[windows * 99 / 100], took[windows - 1]);
  free(all);
  free(took);
  return fclose(in);
}
