struct kdgat_state {
  kdgat_alarms alarms;
  kdgat_windows windows;
  double last;                 /* time of the last frame that had one */
  double first_time[3];        /* of the last three windows: of the first frame as it came */
  double end_time[3];          /* and the clock behind the last one */
  double classifier[KDGAT_OF]; /* scores of the last windows, which the alarm rule looks at */
  double tails[KDGAT_OF];
#if KDGAT_NETWORK
  double seconds[3]; /* that were listened to in the last three windows */
#endif
  int64_t given;      /* windows that were judged */
  float silence[3];   /* of the last three windows: the longest */
  float score;        /* of the window that was judged last */
  uint32_t filter_at; /* the oldest of `classifier` and `tails` */
#if KDGAT_NETWORK
  float silences[3 * KDGAT_IDS]; /* of each id of the vehicle, at the end of these windows */
  float node[KDGAT_WIDEST];
  float hidden[KDGAT_WIDEST];
  float pooled[KDGAT_POOLED]; /* over the nodes of a window */
  float head[KDGAT_POOLED];
  int16_t senders[KDGAT_ROWS]; /* of their frames: the place of the id; below 0: none */
#endif
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
