#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a call says, as bits; 0: no window is complete yet. */
enum {
  KDGAT_WINDOW = 1,  /* a window was judged: kdgat_score() */
  KDGAT_FLAGGED = 2, /* its score is above the threshold */
  KDGAT_OPENED = 4,  /* it begins an alarm: kdgat_last_alarm() */
  KDGAT_CLOSED = 8   /* the alarm has ended: kdgat_last_alarm() */
};

/* Flagged windows near one another. Windows have numbers from 0. */
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
  int64_t lively;    /* the last window that kept the alarm open */
  int64_t alarms;    /* opened so far */
} kdgat_alarms;

/* All that is kept between two calls. Its members are no business of the caller. */
typedef struct kdgat_state kdgat_state;

/* Before all else, and again where another log begins. */
void kdgat_init(kdgat_state* s);

/*
 * The next frame of the bus. time: seconds, NaN where there is none; a clock that falls by a second or more begins
 * another recording, and no window crosses into it. id: 11 or 29 bits, bit 31 set for one in the 29-bit form. data:
 * `length` bytes, 0 to 64; may be null where that is 0. Returns bits KDGAT_*. Takes frames of any content, in bounded
 * time, from one thread or interrupt at a time.
 */
int kdgat_push(kdgat_state* s, double time, uint32_t id, uint8_t length, const uint8_t* data);

/* The log has ended. Call until it returns 0: each call judges a window that was left, or closes the alarm. */
int kdgat_finish(kdgat_state* s);

/* The score of the window that was judged last; above the threshold it is flagged. */
float kdgat_score(const kdgat_state* s);

/* The open alarm, or the one that was closed last. */
kdgat_alarm kdgat_last_alarm(const kdgat_state* s);

#ifdef __cplusplus
}
#endif
