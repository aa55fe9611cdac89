/*
 * ---- The detector: windows of a bus relative to the profile of one vehicle, judged by boosted trees and by the tails
 * of benign windows.
 *
 * A frame is compared with up to four frames of its id before it and four after it, as far as the end of the window
 * that follows its own, so a window is judged when the one behind it is complete. The order of each operation is that
 * of the program that trained the model, so that scores agree with it to the last bit. State is bounded whatever comes:
 * ids that the vehicle does not have are counted only.
 */

#define KDGAT_NEAR 4     /* frames of an id that are kept */
#define KDGAT_MOST 20.0f /* no column is larger */
#define KDGAT_COLUMNS 15
#define KDGAT_SMALL_ID 0x7FFu  /* the largest of 11 bits */
#define KDGAT_KNOWN_TIME 0x80u /* in kdgat_sender.run: `due` is known */

enum { KDGAT_UNKNOWN = -1, KDGAT_EXCUSED = -2 }; /* in the place of a sender */

/* Flags of a row. */
enum {
  KDGAT_ROW_KNOWN = 1,
  KDGAT_ROW_EXCUSED = 2,
  KDGAT_ROW_WRONG_LENGTH = 4,
  KDGAT_ROW_CHANGED = 8,     /* a byte moved that rarely does */
  KDGAT_ROW_LONE_CHANGE = 16 /* one such change in the last four frames of the id */
};

/* Columns of a window. */
enum {
  KDGAT_COL_UNKNOWN,
  KDGAT_COL_LENGTH,
  KDGAT_COL_CROWD,
  KDGAT_COL_CROWD_SHARE,
  KDGAT_COL_CROWD_OFF,
  KDGAT_COL_CROWD_OFF2,
  KDGAT_COL_OFF_SHARE,
  KDGAT_COL_CROWD_BACK,
  KDGAT_COL_CROWD_NEW,
  KDGAT_COL_OFF_NEW,
  KDGAT_COL_OFF_BACK,
  KDGAT_COL_NEW,
  KDGAT_COL_BACK,
  KDGAT_COL_LATE,
  KDGAT_COL_SILENCE
};

/* These hand back the first argument where the two are equal, or one is no number. */
static float kdgat_min(float a, float b) { return b < a ? b : a; }
static float kdgat_max(float a, float b) { return a < b ? b : a; }
static float kdgat_clamp(float v, float low, float high) {
  return v < low ? low : high < v ? high : v;
}
static float kdgat_part(float v) { return kdgat_clamp(v, 0.0f, 1.0f); }
static double kdgat_abs(double v) { return v > 0.0 ? v : 0.0 - v; }

static double kdgat_no_time(void) {
  union {
    uint64_t bits;
    double value;
  } out;
  out.bits = 0x7FF8000000000000u; /* NaN */
  return out.value;
}
static int kdgat_is_time(double time) {
  return time - time == 0.0; /* not so of NaN and infinity */
}

/* To the nearest whole number, halves away from zero. Exact: from 2^52 on all doubles are whole. */
static double kdgat_round(double v) {
  double whole, rest;
  if (!(v > -4503599627370496.0 && v < 4503599627370496.0)) return v;
  whole = (double)(int64_t)v;
  rest = v - whole;
  if (rest >= 0.5) return whole + 1.0;
  if (rest <= -0.5) return whole - 1.0;
  return whole;
}

/* -- Clock and buses. */

/* The clock stands still for single frames that step back. Returns 1 where it was put back: several in a row lie well
 * behind it. */
static int kdgat_read_clock(kdgat_state* s, double time) {
  const double well_behind = 0.1;
  if (!(time < s->now)) {
    s->now = time;
    s->behind = 0;
    return 0;
  }
  s->behind = s->now - time > well_behind ? s->behind + 1 : 0;
  if (s->behind < 5) return 0;
  s->now = time;
  s->behind = 0;
  return 1;
}

/* Counts a frame of a bus, and the seconds in which it was quiet: less than half of its usual frames. */
static void kdgat_listen(kdgat_bus* bus, double rate, double time) {
  double seconds, usual;
  ++bus->frames;
  if (bus->begin != bus->begin) bus->begin = time;
  seconds = time - bus->begin;
  usual = rate * seconds;
  if (usual >= 30.0 && seconds >= 0.05) {
    /* Senders stop and start in the middle of stretches: those beside a quiet one count as quiet. */
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

/* Whether a bus was quiet in these last seconds, at the begin of which it had carried `before` frames. */
static int kdgat_is_quiet(const kdgat_bus* bus, double rate, int64_t before, double seconds) {
  const double usual = rate * seconds;
  return usual >= 10.0 && (double)(bus->frames - before) < 0.5 * usual;
}

static void kdgat_sender_anew(kdgat_sender* sender) {
  sender->seen = 0;
  sender->run = 0;
}

/* Nothing that follows is compared with what came. */
static void kdgat_begin_anew(kdgat_state* s) {
  unsigned i;
  for (i = 0; i < KDGAT_BUSES; ++i) {
    s->buses[i].begin = kdgat_no_time();
    s->buses[i].in_stretch = 0;
    s->buses[i].awake = 0.0;
    s->buses[i].was_quiet = 0;
  }
  for (i = 0; i < KDGAT_IDS; ++i) kdgat_sender_anew(&s->senders[i]);
}

/* -- Who sent a frame. */

/* Requests and answers of diagnostics, ISO 15765-4. */
static int kdgat_is_diagnostic(uint32_t id) {
  if (id <= KDGAT_SMALL_ID) return id == 0x7DFu || (id >= 0x7E0u && id <= 0x7EFu);
  return id == 0x18DB33F1u ||
         (id >> 16 == 0x18DAu && ((id & 0xFFu) == 0xF1u || (id >> 8 & 0xFFu) == 0xF1u));
}

static int32_t kdgat_find(uint32_t key) {
  uint32_t low = 0, high = KDGAT_IDS;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (kdgat_keys[middle] < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < KDGAT_IDS && kdgat_keys[low] == key ? (int32_t)low : KDGAT_UNKNOWN;
}

#if KDGAT_NETWORKS
/* An id of J1939 without its priority and, of a message to one receiver, without that: PGN and source. */
static uint32_t kdgat_message_of(uint32_t id) {
  const uint32_t message = id & 0x03FFFFFFu;
  return (id >> 16 & 0xFFu) < 240u ? message & 0xFFFF00FFu : message;
}

static int32_t kdgat_sender_of_message(const kdgat_usual_bus* bus, uint32_t message) {
  uint32_t low = bus->first_message, high = bus->message_end;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (kdgat_messages[middle].message < message) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < bus->message_end && kdgat_messages[low].message == message
             ? (int32_t)kdgat_messages[low].sender
             : KDGAT_UNKNOWN;
}

/* Who claims an address under a NAME that the profile has is the unit that had another one there: its former address.
 * -2: a newcomer. Claiming takes a while, in which a unit sends nothing else: it begins anew. */
static void kdgat_claim(kdgat_state* s, uint32_t number, uint32_t id, unsigned length,
                        const uint8_t* data) {
  const kdgat_usual_bus* bus = &kdgat_usual_buses[number];
  const uint32_t address = id & 0xFFu;
  uint64_t name = 0;
  int16_t former = -2;
  uint32_t i;
  if (length == 8 && data) {
    for (i = 8; i-- > 0;) name = name << 8 | data[i];
  }
  for (i = bus->first_home; i < bus->home_end; ++i) {
    if (kdgat_homes[i].name == name) former = (int16_t)kdgat_homes[i].address;
  }
  s->former[256 * bus->network + (int32_t)address] = former;
  if (former < 0 || former == (int16_t)address) return;
  for (i = 0; i < KDGAT_IDS; ++i) {
    if (kdgat_key_bus[kdgat_keys[i] >> 29] == (int)number &&
        (kdgat_keys[i] & 0xFFu) == (uint32_t)former) {
      kdgat_sender_anew(&s->senders[i]);
    }
  }
}

/* Of a J1939 message that is none of the vehicle's ids as it stands. */
static int32_t kdgat_j1939_sender(const kdgat_state* s, const kdgat_usual_bus* bus, uint32_t id) {
  const uint32_t message = kdgat_message_of(id);
  int32_t sender, former;
  if (message >> 8 == 0xEE00u) return KDGAT_EXCUSED;                         /* a claim */
  if (message >> 8 == 0xEA00u && (id & 0xFFu) == 254u) return KDGAT_EXCUSED; /* a request of one */
  sender = kdgat_sender_of_message(bus, message);
  if (sender >= 0) return sender; /* another priority, or another receiver */
  former = s->former[256 * bus->network + (int32_t)(id & 0xFFu)];
  if (former == -1) return KDGAT_UNKNOWN;
  if (former < 0) return KDGAT_EXCUSED;
  sender = kdgat_sender_of_message(bus, (message & 0xFFFFFF00u) | (uint32_t)former);
  return sender >= 0 ? sender : KDGAT_EXCUSED;
}
#endif

/* The place of the sender, KDGAT_UNKNOWN or KDGAT_EXCUSED. `bus`: one of the vehicle's, or -1. */
static int32_t kdgat_sender_of(kdgat_state* s, uint32_t channel, uint32_t id, unsigned length,
                               const uint8_t* data) {
  const uint32_t key = channel << 29 | id;
  int32_t sender;
  if (kdgat_is_diagnostic(id)) return KDGAT_EXCUSED;
  sender = kdgat_find(key);
#if KDGAT_NETWORKS
  if (key > KDGAT_SMALL_ID && kdgat_key_bus[channel] >= 0) {
    const uint32_t number = (uint32_t)kdgat_key_bus[channel];
    const kdgat_usual_bus* bus = &kdgat_usual_buses[number];
    if (bus->network >= 0) {
      if (id > KDGAT_SMALL_ID && kdgat_message_of(id) >> 8 == 0xEE00u) {
        kdgat_claim(s, number, id, length, data);
      }
      if (sender < 0 && id > KDGAT_SMALL_ID) return kdgat_j1939_sender(s, bus, id);
    }
  }
#else
  (void)s;
  (void)length;
  (void)data;
#endif
  return sender;
}

/* -- A frame beside those of its id. */

/* How far from its due time a frame comes: 0 when it is due, 1 half a period away or second to the same due time. The
 * due time follows the frames that come when they are due, and starts anew where five in a row agree on others. */
static float kdgat_off(kdgat_sender* sender, const kdgat_usual* usual, double time) {
  double periods, nearest, rest;
  float distance, off;
  unsigned run = sender->run & 0x7Fu;
  if (!(sender->run & KDGAT_KNOWN_TIME)) {
    sender->due = time;
    sender->run = KDGAT_KNOWN_TIME;
    return 0.0f;
  }
  periods = (time - sender->due) / usual->period;
  nearest = kdgat_round(periods);
  rest = periods - nearest;
  distance = (float)kdgat_abs(rest);
  if (distance <= usual->tolerance && nearest >= 1.0) {
    sender->due += (nearest + rest / 2.0) * usual->period; /* slowly: jitter is not drift */
    sender->run = KDGAT_KNOWN_TIME;
    return 0.0f;
  }
  off = nearest < 1.0 && (periods < 0.0 || distance <= usual->tolerance) ? 1.0f : 2.0f * distance;
  sender->others[run % 5] = time;
  if (++run >= 5) {
    int agree = 1;
    unsigned i;
    for (i = 1; i < 5; ++i) {
      const double gap = sender->others[(run - i) % 5] - sender->others[(run - i - 1) % 5];
      agree = agree && kdgat_abs(gap / usual->period - 1.0) <= (double)(2.0f * usual->tolerance);
    }
    if (agree || run >= 12) {
      sender->due = time;
      run = 0;
    }
  }
  sender->run = (uint8_t)(KDGAT_KNOWN_TIME | run);
  return kdgat_min(1.0f, off);
}

static void kdgat_add_times(kdgat_sender* sender, const kdgat_usual* usual, kdgat_row* row,
                            double time) {
  float off, gap;
  if (!(usual->flags & KDGAT_KEEPS_TIMES) || time != time) return;
  off = kdgat_off(sender, usual, time);
  row->off = off >= 1.0f ? usual->trust : kdgat_part(off - 2.0f * usual->tolerance) * usual->trust;
  if (sender->seen == 0) return;
  gap = (float)((time - sender->time) / usual->period);
  if (gap != gap) return;
  row->early = kdgat_part(usual->early - gap);
  row->late = kdgat_clamp(gap / usual->late, 0.0f, KDGAT_MOST);
}

/* Bits of surprise of the move from one payload to the next. `rare`: whether a byte moved that moves in less than one
 * frame of eight. */
static float kdgat_surprise(const kdgat_usual* usual, const uint8_t* from, const uint8_t* to,
                            unsigned length, int* rare) {
  static const uint8_t widths[9] = {0, 1, 2, 2, 3, 3, 3, 3, 4};
  float bits = 0.0f;
  unsigned i;
  if (length > usual->bytes) length = usual->bytes;
  *rare = 0;
  for (i = 0; i < length; ++i) {
    if (from[i] != to[i]) {
      /* The shorter way round 256 values, in bins of doubling size: its bit width. */
      const unsigned up = (unsigned)(uint8_t)(to[i] - from[i]);
      const unsigned move = up <= 128u ? up : 256u - up;
      const unsigned bin = move > 8u ? widths[move >> 4] + 4u : widths[move];
      const uint32_t of_byte = kdgat_moves[usual->moves + i];
      const float* values = &kdgat_bits[of_byte >> 3];
      const unsigned bins = (unsigned)(of_byte & 7u) + 1u;
      const float last = values[(bin < bins ? bin : bins) - 1u];
      bits += bin <= bins ? last : kdgat_min(14.0f, last + (float)(int)(bin - bins));
      if (values[0] > 3.0f) *rare = 1;
    }
  }
  return bits;
}

static void kdgat_add_payload(kdgat_state* s, uint32_t number, kdgat_row* row, unsigned length,
                              const uint8_t* data) {
  static const uint8_t zeros[64] = {0}; /* of a remote frame */
  const kdgat_usual* usual = &kdgat_usuals[number];
  kdgat_sender* sender = &s->senders[number];
  uint8_t* payloads = &s->payloads[KDGAT_NEAR * usual->moves];
  const uint8_t* bytes = data ? data : zeros;
  const uint32_t window = (uint32_t)s->full;
  const uint16_t place = (uint16_t)(s->slot * KDGAT_FRAMES + s->filled);
  float two_back = 0.0f;
  int changes = 0;
  unsigned j;
  for (j = 1; j <= sender->seen; ++j) {
    const unsigned at = (sender->at + KDGAT_NEAR - j) % KDGAT_NEAR;
    const unsigned common = length < sender->length[at] ? length : sender->length[at];
    int rare;
    const float bits = kdgat_surprise(usual, payloads + at * usual->bytes, bytes, common, &rare);
    const float change = kdgat_min(KDGAT_MOST, bits / usual->change);
    if (j == 1) {
      if (rare) row->flags |= KDGAT_ROW_CHANGED;
      row->last_change = change;
    }
    if (j == 2) two_back = change;
    if (j < KDGAT_NEAR && (sender->changed >> at & 1)) ++changes;
    row->least_change = row->compared == 0 ? change : kdgat_min(row->least_change, change);
    ++row->compared;
    /* The frames before are seen again from here, where their window still waits. */
    if ((uint32_t)(window - sender->window[at]) <= 1u) {
      kdgat_row* before = &s->rows[sender->row[at]];
      before->least_change =
          before->compared == 0 ? change : kdgat_min(before->least_change, change);
      ++before->compared;
      if (j == 1) before->next = place;
    }
  }
  if (sender->seen >= 2) {
    const unsigned at = (sender->at + KDGAT_NEAR - 1u) % KDGAT_NEAR;
    if ((uint32_t)(window - sender->window[at]) <= 1u) {
      kdgat_row* before = &s->rows[sender->row[at]];
      before->back = kdgat_clamp(kdgat_min(before->last_change, row->last_change) - two_back, 0.0f,
                                 KDGAT_MOST);
    }
  }
  if (changes + (row->flags & KDGAT_ROW_CHANGED ? 1 : 0) == 1) row->flags |= KDGAT_ROW_LONE_CHANGE;

  /* Now it is one of those that are kept, in the place of the oldest. */
  sender->window[sender->at] = window;
  sender->row[sender->at] = place;
  sender->length[sender->at] = (uint8_t)length;
  sender->changed = (uint8_t)((sender->changed & ~(1u << sender->at)) |
                              ((row->flags & KDGAT_ROW_CHANGED ? 1u : 0u) << sender->at));
  for (j = 0; j < usual->bytes && j < length; ++j) {
    payloads[(unsigned)sender->at * usual->bytes + j] = bytes[j];
  }
  sender->at = (uint8_t)((sender->at + 1u) % KDGAT_NEAR);
  if (sender->seen < KDGAT_NEAR) ++sender->seen;
}

/* The longest silence of an id at the end of a window, in the longest silences of the profile. */
static float kdgat_silence(const kdgat_state* s) {
  float most = 0.0f;
  unsigned i;
  for (i = 0; i < KDGAT_IDS; ++i) {
    const kdgat_usual* usual = &kdgat_usuals[i];
    const kdgat_sender* sender = &s->senders[i];
    const uint32_t number = (uint32_t)kdgat_key_bus[kdgat_keys[i] >> 29];
    const kdgat_bus* bus = &s->buses[number];
    double seconds, asleep;
    float silent;
    if (sender->seen == 0 || !(usual->flags & KDGAT_REGULAR)) continue;
    seconds = s->now - sender->time;
    asleep = bus->asleep - sender->asleep;
    /* Silent for so long it is switched off, as happens in any drive. */
    if (seconds - asleep > usual->longest + 3.0) continue;
    silent = (float)((seconds - asleep) / usual->longest);
    if (!(silent > 0.0f)) continue; /* nor without times */
    /* That the bus fell asleep is known some periods of its fastest ids later. */
    if (silent > 1.0f &&
        kdgat_is_quiet(bus, kdgat_usual_buses[number].rate, sender->bus_frames, seconds)) {
      continue;
    }
    most = kdgat_max(most, silent);
  }
  return most;
}

/* -- A window. */

/* Whether the sender tells by a change why the frame comes early. */
static int kdgat_is_explained(const kdgat_state* s, const kdgat_row* row) {
  return (row->flags & KDGAT_ROW_LONE_CHANGE) != 0 &&
         (row->next == KDGAT_ROWS || !(s->rows[row->next].flags & KDGAT_ROW_CHANGED));
}

/* Fails to compile where the state is larger than the header says. */
typedef char kdgat_state_is_as_stated[sizeof(kdgat_state) <= KDGAT_STATE_BYTES ? 1 : -1];

static void kdgat_raise(float* column, float value) { *column = kdgat_max(*column, value); }

/* Columns of the window in a slot, which all grow with oddness. */
static void kdgat_columns(const kdgat_state* s, uint32_t slot, float* x) {
  const float one = 1.0f / (float)KDGAT_FRAMES;
  uint32_t excused = 0, unknown = 0;
  unsigned i;
  for (i = 0; i < KDGAT_COLUMNS; ++i) x[i] = 0.0f;
  for (i = 0; i < KDGAT_FRAMES; ++i) {
    const kdgat_row* row = &s->rows[slot * KDGAT_FRAMES + i];
    float early, crowd, crowd_off, fresh;
    if (!(row->flags & KDGAT_ROW_KNOWN)) {
      if (row->flags & KDGAT_ROW_EXCUSED) {
        ++excused;
      } else {
        ++unknown;
      }
      continue;
    }
    early = kdgat_is_explained(s, row) ? 0.0f : row->early;
    crowd = early;
    if (row->next != KDGAT_ROWS && !kdgat_is_explained(s, &s->rows[row->next])) {
      crowd = kdgat_max(crowd, s->rows[row->next].early);
    }
    fresh = row->compared >= 2 ? row->least_change : 0.0f;
    crowd_off = kdgat_min(crowd, row->off);
    if (row->flags & KDGAT_ROW_WRONG_LENGTH) x[KDGAT_COL_LENGTH] += one;
    kdgat_raise(&x[KDGAT_COL_CROWD], crowd);
    if (early >= 0.4f) x[KDGAT_COL_CROWD_SHARE] += one;
    if (row->off > 0.1f) x[KDGAT_COL_OFF_SHARE] += one;
    if (crowd_off > x[KDGAT_COL_CROWD_OFF]) {
      x[KDGAT_COL_CROWD_OFF2] = x[KDGAT_COL_CROWD_OFF];
      x[KDGAT_COL_CROWD_OFF] = crowd_off;
    } else {
      kdgat_raise(&x[KDGAT_COL_CROWD_OFF2], crowd_off);
    }
    kdgat_raise(&x[KDGAT_COL_CROWD_BACK], kdgat_min(crowd, row->back));
    kdgat_raise(&x[KDGAT_COL_CROWD_NEW], kdgat_min(crowd, fresh));
    kdgat_raise(&x[KDGAT_COL_OFF_NEW], kdgat_min(row->off, fresh));
    kdgat_raise(&x[KDGAT_COL_OFF_BACK], kdgat_min(row->off, row->back));
    kdgat_raise(&x[KDGAT_COL_NEW], fresh);
    kdgat_raise(&x[KDGAT_COL_BACK], row->back);
    kdgat_raise(&x[KDGAT_COL_LATE], row->late);
  }
  if (excused > KDGAT_MOST_EXCUSED) unknown += excused;
  x[KDGAT_COL_UNKNOWN] = kdgat_rare[unknown < KDGAT_RARE ? unknown : KDGAT_RARE - 1u];
  kdgat_raise(&x[KDGAT_COL_SILENCE], s->silence[slot]);
  x[KDGAT_COL_SILENCE] = kdgat_min(x[KDGAT_COL_SILENCE], KDGAT_MOST);
}

/* Log-odds of an attack. Values are ranked among the thresholds of their columns once, then trees compare ranks. */
static double kdgat_classifier(const float* x) {
  uint32_t ranks[KDGAT_COLUMNS];
  double sum = KDGAT_BASE;
  uint32_t i, t;
  for (i = 0; i < KDGAT_COLUMNS; ++i) {
    uint32_t low = kdgat_column_begin[i], high = kdgat_column_begin[i + 1];
    while (low < high) {
      const uint32_t middle = low + (high - low) / 2;
      if (x[i] > kdgat_thresholds[middle]) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    ranks[i] = low - kdgat_column_begin[i];
  }
#if KDGAT_TREES
  for (t = 0; t < KDGAT_TREES; ++t) {
    const uint32_t first = kdgat_tree_begin[t];
    const kdgat_split* splits = &kdgat_splits[first];
    uint32_t child = kdgat_tree_begin[t + 1] == first ? KDGAT_LEAF : 0;
    while (child < KDGAT_LEAF) {
      const kdgat_split* split = &splits[child];
      child = ranks[split->column] > split->threshold ? split->right : split->left;
    }
    /* A tree has one leaf more than splits. */
    sum += KDGAT_LEAF_OF(kdgat_leaves[first + t + (child - KDGAT_LEAF)], t);
  }
#else
  (void)ranks;
  (void)t;
#endif
  return sum;
}

#if KDGAT_TAILS
/* Powers of ten by which the value of a column is rare in benign windows. */
static double kdgat_rarity(const kdgat_tail* tail, float value) {
  const float* values = kdgat_tail_values;
  const uint32_t last = tail->end - 1u;
  uint32_t low, high;
  if (tail->end == tail->first || value <= values[tail->first]) return 0.0;
  if (value >= values[last]) {
    const double beyond = (double)(value - values[last]) / tail->excess / KDGAT_LOG_10;
    const double rare = kdgat_tail_rare[last] + beyond;
    return rare < 30.0 ? rare : 30.0;
  }
  low = tail->first;
  high = tail->end;
  while (low < high) { /* the first value above */
    const uint32_t middle = low + (high - low) / 2;
    if (value < values[middle]) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return kdgat_tail_rare[low - 1u];
}
#endif

static double kdgat_tail_score(const float* x) {
  double most = 0.0;
#if KDGAT_TAILS
  unsigned i;
  for (i = 0; i < KDGAT_TAILS; ++i) {
    const double rare = kdgat_rarity(&kdgat_tails[i], x[kdgat_tails[i].column]);
    if (most < rare) most = rare;
  }
#else
  (void)x;
#endif
  most -= KDGAT_TAILS_LOG; /* so many columns have so many chances */
  return 0.0 < most ? most : 0.0;
}

#if KDGAT_OF > 1
/* The k-th largest: above any threshold exactly where k of them are. */
static double kdgat_kth(const double* scores) {
  unsigned i, j;
  for (i = 0; i < KDGAT_OF; ++i) {
    unsigned above = 0, same = 0;
    for (j = 0; j < KDGAT_OF; ++j) {
      above += scores[j] > scores[i];
      same += scores[j] == scores[i];
    }
    if (above < KDGAT_K && above + same >= KDGAT_K) return scores[i];
  }
  return scores[0];
}
#endif

/* Judges the window in a slot: how far one of both parts lies above its threshold, the farther one, in log-odds. */
static int kdgat_judge(kdgat_state* s, uint32_t slot) {
  float x[KDGAT_COLUMNS];
  double classifier, tails;
  kdgat_columns(s, slot, x);
  classifier = kdgat_classifier(x);
  tails = kdgat_tail_score(x);
#if KDGAT_OF > 1
  s->classifier[s->filter_at] = classifier;
  s->tails[s->filter_at] = tails;
  s->filter_at = (s->filter_at + 1u) % KDGAT_OF;
  classifier = kdgat_kth(s->classifier);
  tails = kdgat_kth(s->tails);
#endif
  classifier -= KDGAT_CLASSIFIER_THRESHOLD;
  tails = (tails - KDGAT_TAILS_THRESHOLD) * KDGAT_LOG_10;
  s->score = (float)(classifier < tails ? tails : classifier);
  ++s->given;
  return kdgat_alarms_add(&s->alarms, s->score, s->first_time[slot], s->end_time[slot]);
}

/* ---- What the header has. */

void kdgat_init(kdgat_state* s) {
  unsigned i;
  memset(s, 0, sizeof *s);
  kdgat_alarms_init(&s->alarms);
  s->now = s->last = kdgat_no_time();
  for (i = 0; i < KDGAT_OF; ++i) {
    s->classifier[i] = KDGAT_USUAL_CLASSIFIER;
    s->tails[i] = KDGAT_USUAL_TAILS;
  }
  for (i = 0; i < KDGAT_CLAIMED; ++i) s->former[i] = -1; /* nobody claimed it */
  kdgat_begin_anew(s);
}

int kdgat_push_on(kdgat_state* s, uint8_t bus, double time, uint32_t id, uint8_t length,
                  const uint8_t* data) {
  const uint32_t channel = bus & 7u;
  const unsigned bytes = length > 64u ? 64u : length;
  const int number = kdgat_key_bus[channel];
  kdgat_row* row = &s->rows[s->slot * KDGAT_FRAMES + s->filled];
  int32_t place;
  uint32_t slot;
  id &= 0x1FFFFFFFu;
  if (!kdgat_is_time(time)) time = kdgat_no_time();
  if (time == time) {
    const int restarts = s->last - time >= 1.0; /* another recording */
    s->last = time;
    if (restarts) {
      s->now = kdgat_no_time();
      s->behind = 0;
      kdgat_begin_anew(s);
    }
  }
  if (s->filled == 0) s->first_time[s->slot] = time;
  if (kdgat_read_clock(s, time)) kdgat_begin_anew(s);
  if (number >= 0) kdgat_listen(&s->buses[number], kdgat_usual_buses[number].rate, s->now);

  memset(row, 0, sizeof *row);
  row->next = KDGAT_ROWS;
  place = kdgat_sender_of(s, channel, id, bytes, data);
  if (place == KDGAT_EXCUSED) row->flags = KDGAT_ROW_EXCUSED;
  if (place >= 0) {
    const kdgat_usual* usual = &kdgat_usuals[place];
    kdgat_sender* sender = &s->senders[place];
    const kdgat_bus* of = &s->buses[number];
    row->flags = KDGAT_ROW_KNOWN;
    if (!(kdgat_lengths[usual->lengths][bytes >> 3] >> (bytes & 7u) & 1)) {
      row->flags |= KDGAT_ROW_WRONG_LENGTH;
    }
    /* So much sleep lies between the two that this frame is a beginning. */
    if (sender->seen > 0 && of->asleep - sender->asleep >= 0.5 &&
        s->now - sender->time > usual->pause) {
      kdgat_sender_anew(sender);
    }
    kdgat_add_times(sender, usual, row, s->now);
    kdgat_add_payload(s, (uint32_t)place, row, bytes, data);
    sender->time = s->now;
    sender->asleep = of->asleep;
    sender->bus_frames = of->frames;
  }
  if (++s->filled < KDGAT_FRAMES) return 0;
  slot = s->slot;
  s->end_time[slot] = s->now;
  s->silence[slot] = kdgat_silence(s);
  s->filled = 0;
  s->slot = (slot + 1u) % 3u;
  ++s->full;
  return s->full < 2 ? 0 : kdgat_judge(s, (slot + 2u) % 3u);
}

int kdgat_push(kdgat_state* s, double time, uint32_t id, uint8_t length, const uint8_t* data) {
  return kdgat_push_on(s, KDGAT_FIRST_BUS, time, id, length, data);
}

int kdgat_finish(kdgat_state* s) {
  if (s->given < s->full) return kdgat_judge(s, (s->slot + 2u) % 3u);
  return kdgat_alarms_finish(&s->alarms);
}

float kdgat_score(const kdgat_state* s) { return s->score; }

kdgat_alarm kdgat_last_alarm(const kdgat_state* s) { return s->alarms.alarm; }
