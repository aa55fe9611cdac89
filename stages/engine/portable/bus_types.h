#pragma once

#include <stdint.h>

/* The latest time of a capture. */
typedef struct kdgat_clock {
  double now;      /* seconds; NaN before the first frame */
  uint32_t behind; /* frames in a row that lie well behind it */
} kdgat_clock;

/* How busy a bus is. */
typedef struct kdgat_bus {
  double begin;       /* of the stretch that is counted; NaN: none */
  double awake;       /* seconds of the stretch before it, where that was not quiet */
  double asleep;      /* seconds in which the bus was quiet, so far */
  int64_t frames;     /* so far */
  int64_t in_stretch; /* frames */
  int64_t was_quiet;  /* the stretch before */
} kdgat_bus;
