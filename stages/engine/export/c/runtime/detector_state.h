/* A frame of the last three windows, beside what is usual. */
typedef struct kdgat_row {
  float early, off, late;
  float last_change;  /* against the frame of its id before it */
  float back;         /* against the frames on both sides, less that between those */
  float least_change; /* against any neighbour */
  uint16_t next;      /* place of the next frame of its id; KDGAT_ROWS: none yet */
  uint8_t compared;   /* neighbours, at most 8 */
  uint8_t flags;
} kdgat_row;

/* What is kept of an id of the vehicle. */
typedef struct kdgat_sender {
  double due;         /* when its next frame is due */
  double others[5];   /* times of frames that were not due */
  double time;        /* of its last frame */
  double asleep;      /* seconds that its bus had slept until then */
  int64_t bus_frames; /* that its bus had carried until then */
  uint32_t window[4]; /* of each of its last frames: the window's number */
  uint16_t row[4];    /* and its place in rows */
  uint8_t length[4];  /* of its payload */
  uint8_t changed;    /* one bit each: a byte moved that rarely does */
  uint8_t at;         /* which of the four is the oldest */
  uint8_t seen;       /* how many there are; 0: none to compare with */
  uint8_t run;        /* frames in a row that were not due, and 0x80 where `due` is known */
} kdgat_sender;

/* How busy a bus of the vehicle is. */
typedef struct kdgat_bus {
  double begin;       /* of the stretch that is counted; NaN: none */
  double awake;       /* seconds of the stretch before it, where that was not quiet */
  double asleep;      /* seconds in which the bus was quiet, so far */
  int64_t frames;     /* so far */
  int64_t in_stretch; /* frames */
  int64_t was_quiet;  /* the stretch before */
} kdgat_bus;

struct kdgat_state {
  kdgat_alarms alarms;
  kdgat_sender senders[KDGAT_IDS];
  kdgat_bus buses[KDGAT_BUSES];
  double now;                  /* the latest time */
  double last;                 /* time of the last frame that had one */
  double first_time[3];        /* of the last three windows: of the first frame as it came */
  double end_time[3];          /* and the clock behind the last one */
  double classifier[KDGAT_OF]; /* scores of the last windows, which the alarm rule looks at */
  double tails[KDGAT_OF];
  int64_t full, given;                      /* windows that are complete, and those judged */
  float silence[3];                         /* of the last three windows: the longest */
  float score;                              /* of the window that was judged last */
  uint32_t behind;                          /* frames in a row that lie well behind the clock */
  uint32_t filled;                          /* frames of the window that is read */
  uint32_t slot;                            /* of that window: its number modulo 3 */
  uint32_t filter_at;                       /* the oldest of `classifier` and `tails` */
  kdgat_row rows[KDGAT_ROWS];               /* of the last three windows */
  int16_t former[KDGAT_CLAIMED];            /* by J1939 bus and address: see kdgat_claim() */
  uint8_t payloads[4 * KDGAT_PAYLOADS + 1]; /* four of each id, as far as its bytes are known */
};

#ifdef __cplusplus
extern "C" {
#endif

/*
 * kdgat_push() of a frame of any bus of the vehicle, by its number in the profile, 0 to 7. kdgat_push() takes those of
 * the first one that the profile has. Windows go on where another recording begins; frames are not compared across.
 */
int kdgat_push_on(kdgat_state* s, uint8_t bus, double time, uint32_t id, uint8_t length,
                  const uint8_t* data);

#ifdef __cplusplus
}
#endif
