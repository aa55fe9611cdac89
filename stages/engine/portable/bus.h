/*
 * ---- Clock and buses. A bus is quiet while it carries less than half of its usual frames.
 */
#pragma once

#include "engine/portable/bus_types.h"
#include "engine/portable/numbers.h"

#define KDGAT_LONGEST_PAUSE 1.0 /* seconds: of a longer pause no more counts as listened to */

static inline void kdgat_clock_init(kdgat_clock* clock) {
  clock->now = kdgat_no_time();
  clock->behind = 0;
}

/* The clock stops for single frames that step back: the work of a recorder or of a merge.
 * Returns 1 where it was put back: several in a row lie well behind it. */
static inline int kdgat_read_clock(kdgat_clock* clock, double time) {
  const double well_behind = 0.1; /* merged logs step back by some milliseconds here and there */
  if (!(time < clock->now)) {
    clock->now = time;
    clock->behind = 0;
    return 0;
  }
  clock->behind = clock->now - time > well_behind ? clock->behind + 1 : 0;
  if (clock->behind < 5) return 0;
  clock->now = time;
  clock->behind = 0;
  return 1;
}

/* No stretch reaches from one capture into the next. */
static inline void kdgat_bus_anew(kdgat_bus* bus) {
  bus->begin = kdgat_no_time();
  bus->in_stretch = 0;
  bus->awake = 0.0;
  bus->was_quiet = 0;
}

/* Counts a frame of a bus, and the seconds in which it was quiet. rate: its usual frames a
 * second. */
static inline void kdgat_listen(kdgat_bus* bus, double rate, double time) {
  double seconds, usual;
  ++bus->frames;
  if (bus->begin != bus->begin) bus->begin = time;
  seconds = time - bus->begin;
  usual = rate * seconds;
  if (usual >= 30.0 && seconds >= 0.05) {
    /* Senders stop and start in the middle of stretches: those next to a quiet one count as
     * quiet. */
    const int is_quiet = (double)bus->in_stretch < 0.5 * usual;
    if (is_quiet) bus->asleep += bus->awake;
    if (is_quiet || bus->was_quiet) bus->asleep += seconds;
    bus->awake = is_quiet || bus->was_quiet ? 0.0 : seconds;
    bus->was_quiet = is_quiet;
    bus->begin = time;
    bus->in_stretch = 0;
  }
  ++bus->in_stretch;
}

/* Whether a bus was quiet in these last seconds, at the begin of which it had carried `before`
 * frames. False where too few are usual. */
static inline int kdgat_is_quiet(const kdgat_bus* bus, double rate, int64_t before,
                                 double seconds) {
  const double usual = rate * seconds;
  return usual >= 10.0 && (double)(bus->frames - before) < 0.5 * usual;
}

/* Whether so much sleep lies between two frames of a sender that the second one is a beginning:
 * shorter pauses are jitter of buses that send in bursts. */
static inline int kdgat_was_asleep(double seconds) { return seconds >= 0.5; }
