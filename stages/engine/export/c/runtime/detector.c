/*
 * ---- The detector: windows of a bus relative to the profile of one vehicle, judged by boosted
 * trees, or a network, and by the tails of benign windows.
 */
#if KDGAT_NETWORK
/* The log-odds of the window in a slot. A node is an id that sends in it or is missing at its end;
 * the first one is all frames of other ids. */
static float kdgat_network_score(kdgat_state* s, uint32_t slot) {
  const kdgat_row* rows = &s->windows.rows[slot * KDGAT_FRAMES];
  const int16_t* senders = &s->senders[slot * KDGAT_FRAMES];
  int32_t place;
  unsigned i;
  for (i = 0; i < KDGAT_POOLED; ++i) s->pooled[i] = 0.0f;
  for (place = -1; place < (int32_t)KDGAT_IDS; ++place) {
    const float silence = place < 0 ? 0.0f : s->silences[slot * KDGAT_IDS + (uint32_t)place];
    float due = (float)kdgat_no_time();
    int is_there = place < 0 || silence > 1.0f;
    kdgat_node node;
    kdgat_node_init(&node);
    for (i = 0; i < KDGAT_FRAMES; ++i) {
      kdgat_compared of;
      if ((senders[i] < 0 ? -1 : senders[i]) != place) continue;
      of = kdgat_compare(&kdgat_this_vehicle, &s->windows, &rows[i]);
      kdgat_node_add(&node, &of, KDGAT_FRAMES);
      is_there = 1;
    }
    if (!is_there) continue;
    if (place >= 0 && (kdgat_usuals[place].flags & KDGAT_KEEPS_TIMES) && s->seconds[slot] > 0.0) {
      due = (float)(s->seconds[slot] / kdgat_usuals[place].period);
    }
    kdgat_node_end(&kdgat_this_vehicle, &node, silence, due, place < 0, s->node);
    kdgat_node_states(s);
  }
  return kdgat_head(s);
}
#endif

/* Returns the number of frames that break laws of their payloads. */
static uint32_t kdgat_judge_columns(const kdgat_state* s, uint32_t slot, float* x) {
  const kdgat_row* rows = &s->windows.rows[slot * KDGAT_FRAMES];
  kdgat_columns columns;
  unsigned i;
  kdgat_columns_init(&columns);
  for (i = 0; i < KDGAT_FRAMES; ++i) {
    const kdgat_compared of = kdgat_compare(&kdgat_this_vehicle, &s->windows, &rows[i]);
    kdgat_columns_add(&columns, &of, KDGAT_FRAMES);
  }
  kdgat_columns_end(&kdgat_this_vehicle, &columns, s->silence[slot]);
  for (i = 0; i < KDGAT_COLUMNS; ++i) x[i] = columns.x[i];
  return columns.broken;
}

/* Judges the window in a slot. */
static int kdgat_judge(kdgat_state* s, uint32_t slot) {
  float x[KDGAT_COLUMNS];
  double classifier, tails;
  const uint32_t broken = kdgat_judge_columns(s, slot, x);
#if KDGAT_NETWORK
  classifier = (double)kdgat_network_score(s, slot);
#else
  uint32_t ranks[2 * KDGAT_COLUMNS];
  classifier = kdgat_trees_score(&kdgat_these_trees, x, ranks);
#endif
  tails = kdgat_tails_score(&kdgat_these_tails, x);
  if (!kdgat_has_evidence(kdgat_floors, KDGAT_FLOORS, x)) {
    if (classifier > KDGAT_CLASSIFIER_THRESHOLD) classifier = KDGAT_CLASSIFIER_THRESHOLD;
    if (tails > KDGAT_TAILS_THRESHOLD) tails = KDGAT_TAILS_THRESHOLD;
  }
  tails = kdgat_tails_of_sure(tails, KDGAT_TAILS_THRESHOLD, x, broken);
  s->classifier[s->filter_at] = classifier;
  s->tails[s->filter_at] = tails;
  s->filter_at = (s->filter_at + 1u) % KDGAT_OF;
  s->score = (float)kdgat_score_of(kdgat_kth(s->classifier, KDGAT_K, KDGAT_OF),
                                   kdgat_kth(s->tails, KDGAT_K, KDGAT_OF),
                                   KDGAT_CLASSIFIER_THRESHOLD, KDGAT_TAILS_THRESHOLD);
  ++s->given;
  return kdgat_alarms_add(&s->alarms, KDGAT_THRESHOLD, s->score, s->first_time[slot],
                          s->end_time[slot]);
}

/* Of the ids of the vehicle, at the end of the window in a slot. */
static float kdgat_longest_silence(kdgat_state* s, uint32_t slot) {
  float most = 0.0f, seconds;
  unsigned i;
  for (i = 0; i < KDGAT_IDS; ++i) {
    const float silence = kdgat_silence_of(&kdgat_this_vehicle, &s->windows, i, &seconds);
    most = kdgat_max(most, silence);
#if KDGAT_NETWORK
    s->silences[slot * KDGAT_IDS + i] = silence;
#endif
  }
  (void)slot;
  return most;
}

/* The next frame of the window in a slot; see kdgat_add_frame(). */
static int kdgat_see(kdgat_state* s, uint32_t slot, uint32_t bus, double time, uint32_t id,
                     unsigned length, const uint8_t* data) {
  kdgat_windows* windows = &s->windows;
  kdgat_seen seen;
#if KDGAT_NETWORK
  const uint32_t at = windows->filled;
  const double before = windows->clock.now;
  const int is_full =
      kdgat_add_frame(&kdgat_this_vehicle, windows, bus, time, id, length, data, &seen);
  const double gap = windows->clock.now - before;
  s->senders[slot * KDGAT_FRAMES + at] = (int16_t)(seen.sender < 0 ? -1 : seen.sender);
  if (at == 0) {
    s->seconds[slot] = 0.0;
  } else if (gap > 0.0) {
    s->seconds[slot] += gap < KDGAT_LONGEST_PAUSE ? gap : KDGAT_LONGEST_PAUSE;
  }
  return is_full;
#else
  (void)slot;
  return kdgat_add_frame(&kdgat_this_vehicle, windows, bus, time, id, length, data, &seen);
#endif
}

/* Fails to compile where the state is larger than the header says. */
typedef char kdgat_state_is_as_stated[sizeof(kdgat_state) <= KDGAT_STATE_BYTES ? 1 : -1];

/* ---- What the header has. */

void kdgat_init(kdgat_state* s) {
  unsigned i;
  memset(s, 0, sizeof *s);
  kdgat_alarms_init(&s->alarms);
  s->last = kdgat_no_time();
  for (i = 0; i < KDGAT_OF; ++i) {
    s->classifier[i] = KDGAT_USUAL_CLASSIFIER;
    s->tails[i] = KDGAT_USUAL_TAILS;
  }
  kdgat_windows_init(&kdgat_this_vehicle, &s->windows);
}

int kdgat_push_on(kdgat_state* s, uint8_t bus, double time, uint32_t id, uint8_t length,
                  const uint8_t* data) {
  kdgat_windows* windows = &s->windows;
  const uint32_t slot = windows->slot;
  if (!kdgat_is_time(time)) time = kdgat_no_time();
  if (time == time) {
    if (s->last - time >= 1.0) kdgat_restart(&kdgat_this_vehicle, windows); /* another recording */
    s->last = time;
  }
  if (windows->filled == 0) s->first_time[slot] = time;
  if (!kdgat_see(s, slot, bus & 7u, time, id & 0x1FFFFFFFu, length > 64u ? 64u : length, data)) {
    return 0;
  }
  s->end_time[slot] = windows->clock.now;
  s->silence[slot] = kdgat_longest_silence(s, slot);
  return windows->full < 2 ? 0 : kdgat_judge(s, (slot + 2u) % 3u);
}

int kdgat_push(kdgat_state* s, double time, uint32_t id, uint8_t length, const uint8_t* data) {
  return kdgat_push_on(s, KDGAT_FIRST_BUS, time, id, length, data);
}

int kdgat_finish(kdgat_state* s) {
  if (s->given < s->windows.full) return kdgat_judge(s, (s->windows.slot + 2u) % 3u);
  return kdgat_alarms_finish(&s->alarms);
}

float kdgat_score(const kdgat_state* s) { return s->score; }

kdgat_alarm kdgat_last_alarm(const kdgat_state* s) { return s->alarms.alarm; }
