#pragma once

#include "engine/portable/bus_types.h"

/* An exported detector holds its arrays, whose sizes its header has; the program points at its
 * own. */
#ifdef KDGAT_STATE_BYTES
#define KDGAT_HOLDS(type, name, count) type name[count]
#else
#define KDGAT_HOLDS(type, name, count) type* name
#endif

/* A frame of the last three windows, next to what is usual. */
typedef struct kdgat_row {
  float early, off, silence;
  float tight;        /* shortest usual gap over its gap */
  float last_change;  /* against the frame of its id before it */
  float back;         /* against the frames on both sides, less that between those */
  float least_change; /* against any neighbour */
  uint16_t next;      /* place of the next frame of its id; 3 * frames: none yet */
  uint8_t compared;   /* neighbours, at most 8 */
  uint8_t flags;
} kdgat_row;

/* Flags of a row. */
enum {
  KDGAT_ROW_KNOWN = 1,
  KDGAT_ROW_EXCUSED = 2,
  KDGAT_ROW_WRONG_LENGTH = 4,
  KDGAT_ROW_CHANGED = 8, /* a byte moved that rarely does */
  /* At most two such changes in the last four frames of the id: one in this frame or, where the
   * frame before it came early itself, in one of the two before. A copy of a true frame has
   * neither. */
  KDGAT_ROW_FEW_CHANGES = 16,
  KDGAT_ROW_BROKEN = 32,     /* its payload breaks laws of its id, see laws.h */
  KDGAT_ROW_SURPLUS = 64,    /* see kdgat_is_surplus() */
  KDGAT_ROW_MOVED_BACK = 128 /* such a byte is what it was two to four frames before */
};

#define KDGAT_WAS_EARLY 0x10u /* its last frame */

/* What is kept of an id of the vehicle. */
typedef struct kdgat_sender {
  double due;         /* when its next frame is due */
  double others[5];   /* times of frames that were not due */
  double time;        /* of its last frame */
  double asleep;      /* seconds that its bus had slept until then */
  int64_t bus_frames; /* that its bus had carried until then */
  float in_hand;      /* frames, see kdgat_is_surplus() */
  uint32_t window[4]; /* of each of its last frames: the window's number */
  uint16_t row[4];    /* and its place in rows */
  uint8_t length[4];  /* of its payload */
  uint8_t changed;    /* one bit each: a byte moved that rarely does; and KDGAT_WAS_EARLY */
  uint8_t at;         /* which of the four is the oldest */
  uint8_t seen;       /* how many there are; 0: none to compare with */
  uint8_t run;        /* frames in a row that were not due, and 0x80 where `due` is known */
} kdgat_sender;

/* What the frames of an id of the drive made of the laws of its payload. */
typedef struct kdgat_law_state {
  uint8_t broken; /* one bit for each of its last frames */
  uint8_t kept;   /* frames, as far as they count, see laws.h */
} kdgat_law_state;

/* Windows of a bus while frames come. */
typedef struct kdgat_windows {
  KDGAT_HOLDS(kdgat_sender, senders, KDGAT_IDS);
  KDGAT_HOLDS(kdgat_bus, buses, KDGAT_BUSES);
  kdgat_clock clock;
  int64_t full;                                /* windows that are complete */
  uint32_t filled;                             /* frames of the window that is read */
  uint32_t slot;                               /* of that window: its number modulo 3 */
  KDGAT_HOLDS(kdgat_row, rows, KDGAT_ROWS);    /* of the last three windows */
  KDGAT_HOLDS(int16_t, former, KDGAT_CLAIMED); /* by J1939 bus and address: see kdgat_claim() */
  /* Four of each id, as far as its bytes are known. */
  KDGAT_HOLDS(uint8_t, payloads, 4 * KDGAT_PAYLOADS + 1);
  KDGAT_HOLDS(kdgat_law_state, laws, KDGAT_LAWFUL); /* as kdgat_vehicle.lawful */
} kdgat_windows;
