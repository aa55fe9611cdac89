#pragma once

#include <stdint.h>

/* What a call returns, as bits; 0: no window is complete yet. */
enum {
  KDGAT_WINDOW = 1,  /* a window was judged: kdgat_score() */
  KDGAT_FLAGGED = 2, /* its score is above the threshold */
  KDGAT_OPENED = 4,  /* it begins an alarm: kdgat_last_alarm() */
  KDGAT_CLOSED = 8   /* the alarm has ended: kdgat_last_alarm() */
};

/* Flagged windows less than KDGAT_HELD apart. Windows have numbers from 0. */
typedef struct kdgat_alarm {
  int64_t number;              /* of the alarm, from 0 */
  int64_t first_window;        /* its first flagged window */
  int64_t last_window;         /* its last one so far */
  int64_t peak_window;         /* the one of the highest score */
  int64_t windows;             /* flagged ones */
  double begin_time, end_time; /* seconds: of its first frame, of its last one so far */
  float peak;                  /* the highest score */
  int32_t is_open;             /* 1: it may go on */
} kdgat_alarm;

/* Alarms while windows come; a part of kdgat_state. */
typedef struct kdgat_alarms {
  kdgat_alarm alarm; /* the open one, or the one that was closed last */
  int64_t windows;   /* judged so far */
  int64_t alarms;    /* opened so far */
} kdgat_alarms;
