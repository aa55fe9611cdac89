/*
 * ---- Alarms: windows whose score exceeds the threshold, those near one another as one event.
 *
 * One opens with the first window above the threshold and stays open while windows are flagged or
 * within the deadband below its highest score so far; after KDGAT_MERGE_WINDOWS that are neither
 * it is closed.
 */
#pragma once

#include "engine/portable/alarm_types.h"

#define KDGAT_MERGE_WINDOWS 100

/* In units of the scores. */
typedef struct kdgat_alarm_rule {
  double threshold, deadband;
} kdgat_alarm_rule;

static inline void kdgat_alarms_init(kdgat_alarms* a) {
  a->alarm.number = a->alarm.first_window = a->alarm.last_window = 0;
  a->alarm.peak_window = a->alarm.windows = 0;
  a->alarm.begin_time = a->alarm.end_time = 0;
  a->alarm.peak = 0;
  a->alarm.is_open = 0;
  a->windows = a->lively = a->alarms = 0;
}

/* No window will follow. */
static inline int kdgat_alarms_finish(kdgat_alarms* a) {
  if (!a->alarm.is_open) return 0;
  a->alarm.is_open = 0;
  return KDGAT_CLOSED;
}

/* The next window: its score, and the times of its first and its last frame. */
static inline int kdgat_alarms_add(kdgat_alarms* a, const kdgat_alarm_rule* rule, float score,
                                   double begin, double end) {
  kdgat_alarm* alarm = &a->alarm;
  const int64_t number = a->windows++;
  const int is_flagged = (double)score > rule->threshold;
  const int is_lively =
      is_flagged || (alarm->is_open && (double)score > (double)alarm->peak - rule->deadband);
  int said = KDGAT_WINDOW;
  if (!is_lively) {
    if (alarm->is_open && number - a->lively >= KDGAT_MERGE_WINDOWS) said |= kdgat_alarms_finish(a);
    return said;
  }
  a->lively = number;
  if (!alarm->is_open) {
    alarm->is_open = 1;
    alarm->number = a->alarms++;
    alarm->first_window = alarm->last_window = alarm->peak_window = number;
    alarm->windows = 0;
    alarm->begin_time = begin;
    alarm->peak = score;
    said |= KDGAT_OPENED;
  }
  if (!is_flagged) return said;
  alarm->last_window = number;
  alarm->end_time = end;
  ++alarm->windows;
  if (score > alarm->peak) {
    alarm->peak = score;
    alarm->peak_window = number;
  }
  return said | KDGAT_FLAGGED;
}
