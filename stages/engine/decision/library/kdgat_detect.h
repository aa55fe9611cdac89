/* libkdgat_detect: judges frames of a CAN bus with a trained model, in any program. C, and no LibTorch.
 *
 *   char why[256];
 *   kdgat_detect* detect = kdgat_detect_open("detector.json", NULL, why, sizeof why);
 *   ...
 *   kdgat_detect_push(detect, &frame);              each frame, as it comes
 *   while (kdgat_detect_poll(detect, &alarm)) puts(alarm.json);
 *   ...
 *   kdgat_detect_close(detect);
 *
 * A NULL handle, frame or place for an alarm is an error (-1, or no text), never a crash. A detector.json
 * whose content does not match the hash in it is refused; one of an earlier version has none and is read.
 * A handle serves one thread at a time; different handles are independent. Nothing is printed, no
 * signal is touched and no thread is started. Memory is that of the model, of the frames that a profile
 * is learned from, and of at most KDGAT_DETECT_ALARMS events that nobody has polled. */
#ifndef KDGAT_DETECT_H_
#define KDGAT_DETECT_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KDGAT_DETECT_ALARMS 1024 /* events that wait to be polled; the oldest are dropped beyond */

/* Bits of kdgat_frame.flags. */
#define KDGAT_FRAME_EXTENDED 1u /* 29-bit id */
#define KDGAT_FRAME_REMOTE 2u   /* remote frame, without payload */
#define KDGAT_FRAME_FD 4u       /* CAN FD */

typedef struct kdgat_frame {
  double time;         /* seconds, of any clock that does not jump; NaN where there is none */
  uint32_t id;         /* 11 or 29 bits */
  uint8_t length;      /* bytes of payload, 0 to 64 */
  uint8_t channel;     /* which bus, 0 to 7 */
  uint16_t flags;      /* KDGAT_FRAME_* */
  const uint8_t* data; /* `length` bytes, read during the call; may be NULL where length is 0 */
} kdgat_frame;

/* One event of an alarm: it comes twice, when the alarm opens and when it is over. */
typedef struct kdgat_detect_alarm {
  int64_t number;    /* of the alarm, from 0 */
  int32_t open;      /* 1 it opened, 0 it is over */
  double begin, end; /* times of its first frame and of its last so far; NaN: none */
  int64_t first_window, last_window; /* flagged, from 0 */
  int64_t windows;                   /* flagged so far */
  float score;                       /* the highest so far */
  const char* json; /* all of it and the reasons, as `kdgat score --json` writes it, in UTF-8; valid
                       until the next call with this handle */
} kdgat_detect_alarm;

typedef struct kdgat_detect kdgat_detect;

/* `model`: a detector.json, or the model file of a classifier or autoencoder. `options`: those of
 * `kdgat score` as a JSON object, {"calibrate": 300, "vehicle": "..", "threshold": [2.5]}, or NULL. All
 * but an object with known options in their ranges is refused.
 * NULL where it cannot be: `why` (of `size` bytes, may be NULL) then says so. */
kdgat_detect* kdgat_detect_open(const char* model, const char* options, char* why, size_t size);

/* The next frame. Returns the number of events to poll, or -1 where the frame, or the traffic, cannot
 * be judged: kdgat_detect_error() says why. A frame that is refused for itself (id, length, channel)
 * changes nothing. */
int32_t kdgat_detect_push(kdgat_detect* detect, const kdgat_frame* frame);

/* The traffic has ended: judges what is left, and closes an alarm that is open. Returns as push; no
 * frame may follow. */
int32_t kdgat_detect_finish(kdgat_detect* detect);

/* Takes the oldest event that waits. 1: `alarm` is filled; 0: none waits; -1: a NULL argument. */
int32_t kdgat_detect_poll(kdgat_detect* detect, kdgat_detect_alarm* alarm);

typedef struct kdgat_detect_counts {
  int64_t frames, windows, flagged, alarms; /* windows: judged, and learned from */
  int64_t dropped;                          /* events that nobody polled in time */
  int32_t learning;                         /* 1: it still learns what is usual on this bus */
  float score;                              /* of the last window */
} kdgat_detect_counts;
/* All zero for a NULL handle. */
void kdgat_detect_count(const kdgat_detect* detect, kdgat_detect_counts* counts);

/* Of the last call that failed; "" before. Valid until the next call. Of a NULL handle a text, too. */
const char* kdgat_detect_error(const kdgat_detect* detect);
/* xxh3-128 of the model's file, 32 hexadecimal digits; "" for a NULL handle. */
const char* kdgat_detect_model(const kdgat_detect* detect);
/* NULL is allowed. */
void kdgat_detect_close(kdgat_detect* detect);
/* "0.1.0" */
const char* kdgat_detect_version(void);

#ifdef __cplusplus
}
#endif
#endif /* KDGAT_DETECT_H_ */
