/*
 * ---- Alarms: windows whose score exceeds the threshold, those near one another as one event.
 *
 * One opens with the first window above the threshold and stays open for KDGAT_HELD behind the last
 * one. Where times do not go on it ends after KDGAT_MERGE_WINDOWS that are not flagged. Windows end
 * it: a bus that falls silent keeps it open.
 */
#pragma once

#include "engine/portable/alarm_types.h"

#define KDGAT_HELD 2.0 /* seconds */
#define KDGAT_MERGE_WINDOWS 100

static inline void kdgat_alarms_init(kdgat_alarms* a) {
  a->alarm.number = a->alarm.first_window = a->alarm.last_window = 0;
  a->alarm.peak_window = a->alarm.windows = 0;
  a->alarm.begin_time = a->alarm.end_time = 0;
  a->alarm.peak = 0;
  a->alarm.is_open = 0;
  a->windows = a->alarms = 0;
}

/* No window will follow. */
static inline int kdgat_alarms_finish(kdgat_alarms* a) {
  if (!a->alarm.is_open) return 0;
  a->alarm.is_open = 0;
  return KDGAT_CLOSED;
}

/* The next window: its score, and the times of its first and its last frame. */
static inline int kdgat_alarms_add(kdgat_alarms* a, double threshold, float score, double begin,
                                   double end) {
  kdgat_alarm* alarm = &a->alarm;
  const int64_t number = a->windows++;
  int said = KDGAT_WINDOW | KDGAT_FLAGGED;
  if (!((double)score > threshold)) {
    const int is_over = end > alarm->end_time ? end - alarm->end_time >= KDGAT_HELD
                                              : number - alarm->last_window >= KDGAT_MERGE_WINDOWS;
    return is_over ? KDGAT_WINDOW | kdgat_alarms_finish(a) : KDGAT_WINDOW;
  }
  if (!alarm->is_open) {
    alarm->is_open = 1;
    alarm->number = a->alarms++;
    alarm->first_window = alarm->peak_window = number;
    alarm->windows = 0;
    alarm->begin_time = begin;
    alarm->peak = score;
    said |= KDGAT_OPENED;
  }
  alarm->last_window = number;
  alarm->end_time = end;
  ++alarm->windows;
  if (score > alarm->peak) {
    alarm->peak = score;
    alarm->peak_window = number;
  }
  return said;
}
