/*
 * ---- Windows of a bus relative to the profile of one vehicle.
 *
 * A frame is compared with up to four frames of its id before it and four after it, as far as the
 * end of the window that follows its own, so a window is judged when the one behind it is
 * complete. State is bounded whatever comes: ids that the vehicle does not have are counted only.
 */
#pragma once

#include <stddef.h>

#include "engine/portable/bus.h"
#include "engine/portable/ids.h"
#include "engine/portable/laws.h"
#include "engine/portable/moves.h"
#include "engine/portable/numbers.h"
#include "engine/portable/vehicle.h"
#include "engine/portable/window_types.h"

#define KDGAT_NEAR 4           /* frames of an id that are kept */
#define KDGAT_MOST 20.0f       /* no column is larger */
#define KDGAT_IN_HAND 4.0f     /* frames of an id that may come at once */
#define KDGAT_KNOWN_TIME 0x80u /* in kdgat_sender.run: `due` is known */

enum { KDGAT_UNKNOWN = -1, KDGAT_EXCUSED = -2 }; /* in the place of a sender */

/* Columns of a window. All grow with oddness. */
enum {
  KDGAT_COL_UNKNOWN,
  KDGAT_COL_LENGTH,
  KDGAT_COL_CROWD,
  KDGAT_COL_SURPLUS,
  KDGAT_COL_CROWD_OFF,
  KDGAT_COL_CROWD_OFF2,
  KDGAT_COL_OFF_SHARE,
  KDGAT_COL_CROWD_BACK,
  KDGAT_COL_CROWD_NEW,
  KDGAT_COL_OFF_NEW,
  KDGAT_COL_OFF_BACK,
  KDGAT_COL_NEW,
  KDGAT_COL_BACK,
  KDGAT_COL_SILENCE,
  KDGAT_COL_TIGHT,
  KDGAT_COLUMNS
};

static inline void kdgat_sender_anew(kdgat_sender* sender) {
  sender->in_hand = 0.0f;
  sender->seen = 0;
  sender->run = 0;
}

/* Nothing that follows is compared with what came. */
static inline void kdgat_begin_anew(const kdgat_vehicle* v, kdgat_windows* s) {
  uint32_t i;
  for (i = 0; i < v->bus_count; ++i) kdgat_bus_anew(&s->buses[i]);
  for (i = 0; i < v->ids; ++i) kdgat_sender_anew(&s->senders[i]);
}

/* Another capture begins. Windows go on. */
static inline void kdgat_restart(const kdgat_vehicle* v, kdgat_windows* s) {
  kdgat_clock_init(&s->clock);
  kdgat_begin_anew(v, s);
}

/* Of a state that is all zeros. */
static inline void kdgat_windows_init(const kdgat_vehicle* v, kdgat_windows* s) {
  uint32_t i;
  for (i = 0; i < 256u * v->networks; ++i) s->former[i] = -1; /* nobody claimed it */
  kdgat_restart(v, s);
}

/* -- Who sent a frame. */

static inline int32_t kdgat_find(const kdgat_vehicle* v, uint32_t key) {
  const uint32_t* at = v->keys;
  uint32_t left = v->ids;
  if (left == 0) return KDGAT_UNKNOWN;
  while (left > 1) { /* no branch depends on the key */
    const uint32_t half = left / 2;
    at += at[half - 1] < key ? half : 0;
    left -= half;
  }
  return *at == key ? (int32_t)(at - v->keys) : KDGAT_UNKNOWN;
}

static inline int32_t kdgat_sender_of_message(const kdgat_vehicle* v, const kdgat_usual_bus* bus,
                                              uint32_t message) {
  uint32_t low = bus->first_message, high = bus->message_end;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (v->messages[middle].message < message) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < bus->message_end && v->messages[low].message == message
             ? (int32_t)v->messages[low].sender
             : KDGAT_UNKNOWN;
}

/* Who claims an address under a NAME that the profile has is the unit that had another one
 * there: its former address (J1939-81). -2: a newcomer. Claiming takes a while, in which a unit
 * sends nothing else: it begins anew. */
static inline void kdgat_claim(const kdgat_vehicle* v, kdgat_windows* s, uint32_t number,
                               uint32_t id, unsigned length, const uint8_t* data) {
  const kdgat_usual_bus* bus = &v->buses[number];
  const uint32_t address = id & 0xFFu;
  const uint64_t name = kdgat_claim_name(length, data);
  int16_t former = -2;
  uint32_t i;
  for (i = bus->first_home; i < bus->home_end; ++i) {
    if (v->homes[i].name == name) former = (int16_t)v->homes[i].address;
  }
  s->former[256 * bus->network + (int32_t)address] = former;
  if (former < 0 || former == (int16_t)address) return;
  for (i = 0; i < v->ids; ++i) {
    if (v->bus_of[v->keys[i] >> 29] == (int)number && (v->keys[i] & 0xFFu) == (uint32_t)former) {
      kdgat_sender_anew(&s->senders[i]);
    }
  }
}

/* Of a J1939 message that is none of the vehicle's ids as it stands. */
static inline int32_t kdgat_j1939_sender(const kdgat_vehicle* v, const kdgat_windows* s,
                                         const kdgat_usual_bus* bus, uint32_t id) {
  const uint32_t message = kdgat_message_of(id);
  int32_t sender, former;
  if (kdgat_is_claim(id) || kdgat_is_claim_request(id)) return KDGAT_EXCUSED;
  sender = kdgat_sender_of_message(v, bus, message);
  if (sender >= 0) return sender; /* another priority, or another receiver */
  former = s->former[256 * bus->network + (int32_t)(id & 0xFFu)];
  if (former == -1) return KDGAT_UNKNOWN;
  if (former < 0) return KDGAT_EXCUSED;
  sender = kdgat_sender_of_message(v, bus, (message & 0xFFFFFF00u) | (uint32_t)former);
  return sender >= 0 ? sender : KDGAT_EXCUSED;
}

/* The place of the sender, KDGAT_UNKNOWN or KDGAT_EXCUSED. */
static inline int32_t kdgat_sender_of(const kdgat_vehicle* v, kdgat_windows* s, uint32_t channel,
                                      uint32_t id, unsigned length, const uint8_t* data) {
  const int number = v->bus_of[channel];
  int32_t sender;
  if (kdgat_is_diagnostic(id)) return KDGAT_EXCUSED;
  sender = kdgat_find(v, channel << 29 | id);
  if (v->networks > 0 && number >= 0 && id > KDGAT_SMALL_ID && v->buses[number].network >= 0) {
    if (kdgat_is_claim(id)) kdgat_claim(v, s, (uint32_t)number, id, length, data);
    if (sender < 0) return kdgat_j1939_sender(v, s, &v->buses[number], id);
  }
  return sender;
}

/* -- A frame next to those of its id. */

/* How far from its due time a frame comes: 0 when it is due, 1 half a period away or second to
 * the same due time. The due time follows the frames that come when they are due, so that
 * neither an injected frame nor an error of the period moves it, and starts anew where five in a
 * row agree on others. distance: to the nearest due time, in periods. */
static inline float kdgat_off(double* due, double* others, uint8_t* of_run, double period,
                              float tolerance, double time, float* distance) {
  double periods, nearest, rest;
  float off;
  unsigned run = *of_run & 0x7Fu;
  *distance = 0.0f;
  if (!(*of_run & KDGAT_KNOWN_TIME)) {
    *due = time;
    *of_run = KDGAT_KNOWN_TIME;
    return 0.0f;
  }
  periods = (time - *due) / period;
  nearest = kdgat_round(periods);
  rest = periods - nearest;
  *distance = (float)kdgat_abs(rest);
  if (*distance <= tolerance && nearest >= 1.0) {
    *due += (nearest + rest / 2.0) * period; /* slowly: jitter is not drift */
    *of_run = KDGAT_KNOWN_TIME;
    return 0.0f;
  }
  off = nearest < 1.0 && (periods < 0.0 || *distance <= tolerance) ? 1.0f : 2.0f * *distance;
  others[run % 5] = time;
  if (++run >= 5) {
    int agree = 1;
    unsigned i;
    for (i = 1; i < 5; ++i) {
      const double gap = others[(run - i) % 5] - others[(run - i - 1) % 5];
      agree = agree && kdgat_abs(gap / period - 1.0) <= (double)(2.0f * tolerance);
    }
    if (agree || run >= 12) {
      *due = time;
      run = 0;
    }
  }
  *of_run = (uint8_t)(KDGAT_KNOWN_TIME | run);
  return kdgat_min(1.0f, off);
}

/* What a frame was compared with, beyond its row: for those who ask why. */
typedef struct kdgat_seen {
  int32_t sender; /* its place, KDGAT_UNKNOWN or KDGAT_EXCUSED */
  float gap;      /* seconds since the last frame of its id; NaN: none */
  float distance; /* from when it is due, in periods */
} kdgat_seen;

/* Whether a frame is beyond twice as many as are usual: frames fill a bucket that leaks two of them
 * a period, and one that it has no room for is surplus. gap: in periods. */
static inline int kdgat_is_surplus(kdgat_sender* sender, float gap) {
  sender->in_hand = kdgat_max(0.0f, sender->in_hand - 2.0f * gap);
  if (sender->in_hand + 1.0f > KDGAT_IN_HAND) return 1;
  sender->in_hand += 1.0f;
  return 0;
}

static inline void kdgat_add_times(kdgat_sender* sender, const kdgat_usual* usual, kdgat_row* row,
                                   double time, kdgat_seen* seen) {
  float off, gap;
  if (!(usual->flags & KDGAT_KEEPS_TIMES) || time != time) return;
  off = kdgat_off(&sender->due, sender->others, &sender->run, usual->period, usual->tolerance, time,
                  &seen->distance);
  row->off = off >= 1.0f ? usual->trust : kdgat_part(off - 2.0f * usual->tolerance) * usual->trust;
  if (sender->seen == 0) return;
  seen->gap = (float)(time - sender->time);
  gap = (float)((time - sender->time) / usual->period);
  if (gap != gap) return;
  if (kdgat_is_surplus(sender, gap)) row->flags |= KDGAT_ROW_SURPLUS;
  /* Where a unit starts, its first frame may come at any time before the second. */
  if (sender->seen >= 2) row->early = kdgat_part(usual->early - gap);
  if (sender->seen >= 2 && usual->shortest > 0.0f) {
    row->tight = gap * KDGAT_MOST > usual->shortest ? usual->shortest / gap : KDGAT_MOST;
  }
  if (usual->flags & KDGAT_IS_MISSED) {
    row->silence = kdgat_clamp((float)((time - sender->time) / usual->longest), 0.0f, KDGAT_MOST);
  }
}

static inline void kdgat_add_payload(const kdgat_vehicle* v, kdgat_windows* s, uint32_t number,
                                     kdgat_row* row, unsigned length, const uint8_t* data) {
  static const uint8_t zeros[64] = {0}; /* of a remote frame */
  const kdgat_usual* usual = &v->usuals[number];
  kdgat_sender* sender = &s->senders[number];
  uint8_t* payloads = &s->payloads[(size_t)KDGAT_NEAR * usual->moves];
  const uint8_t* bytes = data ? data : zeros;
  const uint32_t window = (uint32_t)s->full;
  const uint16_t place = (uint16_t)(s->slot * v->frames + s->filled);
  const unsigned last = (sender->at + KDGAT_NEAR - 1u) % KDGAT_NEAR;
  float two_back = 0.0f;
  int changes = 0, is_recent = 0;
  unsigned j;
  for (j = 1; j <= sender->seen; ++j) {
    const unsigned at = (sender->at + KDGAT_NEAR - j) % KDGAT_NEAR;
    const unsigned common = length < sender->length[at] ? length : sender->length[at];
    int rare;
    const float bits =
        kdgat_surprise(v, usual, payloads + (size_t)at * usual->bytes, bytes, common, &rare);
    const float change = kdgat_min(KDGAT_MOST, bits / usual->change);
    if (j == 1) {
      if (rare) row->flags |= KDGAT_ROW_CHANGED;
      row->last_change = change;
    }
    if (j == 2) two_back = change;
    if (j >= 2 && (row->flags & KDGAT_ROW_CHANGED) &&
        kdgat_moved_back(v, usual, payloads + (size_t)at * usual->bytes,
                         payloads + (size_t)last * usual->bytes, bytes,
                         common < sender->length[last] ? common : sender->length[last])) {
      row->flags |= KDGAT_ROW_MOVED_BACK;
    }
    if (j < KDGAT_NEAR && (sender->changed >> at & 1)) {
      ++changes;
      if (j <= 2) is_recent = 1;
    }
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
    if ((uint32_t)(window - sender->window[last]) <= 1u) {
      kdgat_row* before = &s->rows[sender->row[last]];
      before->back = kdgat_clamp(kdgat_min(before->last_change, row->last_change) - two_back, 0.0f,
                                 KDGAT_MOST);
    }
  }
  /* Without is_recent four equal forged frames would be explained, and the true one behind them: it
   * moves back to a payload that is no longer kept. */
  if (row->flags & KDGAT_ROW_CHANGED) {
    if (changes <= 1) row->flags |= KDGAT_ROW_FEW_CHANGES;
  } else if (is_recent && changes <= 2 && (sender->changed & KDGAT_WAS_EARLY)) {
    row->flags |= KDGAT_ROW_FEW_CHANGES;
  }

  if (usual->lawful != KDGAT_LAWLESS) {
    kdgat_check_laws(v, s, usual->lawful, sender, row, payloads, length, bytes);
  }

  /* Now it is one of those that are kept, in the place of the oldest. */
  sender->window[sender->at] = window;
  sender->row[sender->at] = place;
  sender->length[sender->at] = (uint8_t)length;
  sender->changed = (uint8_t)((sender->changed & 0xFu & ~(1u << sender->at)) |
                              ((row->flags & KDGAT_ROW_CHANGED ? 1u : 0u) << sender->at) |
                              (row->early > 0.0f ? KDGAT_WAS_EARLY : 0u));
  for (j = 0; j < usual->bytes && j < length; ++j) {
    payloads[(size_t)sender->at * usual->bytes + j] = bytes[j];
  }
  sender->at = (uint8_t)((sender->at + 1u) % KDGAT_NEAR);
  if (sender->seen < KDGAT_NEAR) ++sender->seen;
}

/* The next frame. channel: 0 to 7; id: without flags; length: at most 64; data may be null where
 * it has no bytes. Returns 1 where it completes a window. */
static inline int kdgat_add_frame(const kdgat_vehicle* v, kdgat_windows* s, uint32_t channel,
                                  double time, uint32_t id, unsigned length, const uint8_t* data,
                                  kdgat_seen* seen) {
  static const kdgat_row empty = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  const int number = v->bus_of[channel];
  kdgat_row* row = &s->rows[s->slot * v->frames + s->filled];
  if (kdgat_read_clock(&s->clock, time)) kdgat_begin_anew(v, s);
  if (number >= 0) kdgat_listen(&s->buses[number], v->buses[number].rate, s->clock.now);

  *row = empty;
  row->next = (uint16_t)(3u * v->frames);
  seen->sender = kdgat_sender_of(v, s, channel, id, length, data);
  seen->gap = (float)kdgat_no_time();
  seen->distance = 0.0f;
  if (seen->sender == KDGAT_EXCUSED) row->flags = KDGAT_ROW_EXCUSED;
  if (seen->sender >= 0) {
    const kdgat_usual* usual = &v->usuals[seen->sender];
    kdgat_sender* sender = &s->senders[seen->sender];
    const kdgat_bus* of = &s->buses[number];
    row->flags = KDGAT_ROW_KNOWN;
    if (!(v->lengths[usual->lengths].bits[length >> 3] >> (length & 7u) & 1)) {
      row->flags |= KDGAT_ROW_WRONG_LENGTH;
    }
    if (sender->seen > 0 && kdgat_was_asleep(of->asleep - sender->asleep) &&
        s->clock.now - sender->time > usual->pause) {
      kdgat_sender_anew(sender);
    }
    kdgat_add_times(sender, usual, row, s->clock.now, seen);
    kdgat_add_payload(v, s, (uint32_t)seen->sender, row, length, data);
    sender->time = s->clock.now;
    sender->asleep = of->asleep;
    sender->bus_frames = of->frames;
  }
  if (++s->filled < v->frames) return 0;
  s->filled = 0;
  s->slot = (s->slot + 1u) % 3u;
  ++s->full;
  return 1;
}

/* -- A window. */

/* Whether another id of its bus is silent at the same time. */
static inline int kdgat_is_silent_with(const kdgat_vehicle* v, const kdgat_windows* s,
                                       uint32_t place) {
  uint32_t i;
  for (i = 0; i < v->ids; ++i) {
    const kdgat_usual* other = &v->usuals[i];
    if (i == place || s->senders[i].seen == 0 || v->keys[i] >> 29 != v->keys[place] >> 29) continue;
    if (!(other->flags & (KDGAT_IS_MISSED | KDGAT_IS_MISSED_ALONE))) continue;
    if (s->clock.now - s->senders[i].time > 1.5 * other->longest) return 1;
  }
  return 0;
}

/* The silence of an id at the end of a window, in the longest silences of the profile, and in
 * seconds; 0 where it says nothing. */
static inline float kdgat_silence_of(const kdgat_vehicle* v, const kdgat_windows* s, uint32_t place,
                                     float* seconds) {
  const kdgat_usual* usual = &v->usuals[place];
  const kdgat_sender* sender = &s->senders[place];
  const int number = v->bus_of[v->keys[place] >> 29];
  const kdgat_bus* bus = &s->buses[number];
  double since, awake;
  float silent;
  if (sender->seen == 0) return 0.0f;
  if (!(usual->flags & (KDGAT_IS_MISSED | KDGAT_IS_MISSED_ALONE))) return 0.0f;
  /* Where a bus wakes, each control unit starts in its own time. */
  if (kdgat_was_asleep(bus->asleep - sender->asleep)) return 0.0f;
  since = s->clock.now - sender->time;
  awake = since - (bus->asleep - sender->asleep);
  silent = (float)(awake / usual->longest);
  if (!(silent > 0.0f)) return 0.0f; /* nor without times */
  /* That the bus fell asleep is known some periods of its fastest ids later. */
  if (silent > 1.0f && kdgat_is_quiet(bus, v->buses[number].rate, sender->bus_frames, since)) {
    return 0.0f;
  }
  if ((usual->flags & KDGAT_IS_MISSED_ALONE) && silent > 1.0f &&
      kdgat_is_silent_with(v, s, place)) {
    return 0.0f;
  }
  *seconds = (float)awake;
  return silent;
}

/* What the columns are made of: a frame next to its neighbours. */
typedef struct kdgat_compared {
  float early; /* without the frame after it */
  float crowd, off, fresh, back, silence, tight;
  uint8_t flags; /* of its row */
} kdgat_compared;

/* Whether a change is why the frame comes early: an id may be sent at once when its value changes.
 * What is forged between two true frames changes as well, but a true one soon changes back. */
static inline int kdgat_is_explained(const kdgat_vehicle* v, const kdgat_windows* s,
                                     const kdgat_row* row) {
  unsigned j;
  if (!(row->flags & KDGAT_ROW_FEW_CHANGES)) return 0;
  for (j = 0; j < KDGAT_NEAR; ++j) {
    if (row->flags & KDGAT_ROW_MOVED_BACK) return 0;
    if (row->next == 3u * v->frames) break;
    row = &s->rows[row->next];
  }
  return 1;
}

static inline kdgat_compared kdgat_compare(const kdgat_vehicle* v, const kdgat_windows* s,
                                           const kdgat_row* row) {
  const int is_explained = kdgat_is_explained(v, s, row);
  kdgat_compared out;
  out.flags = row->flags;
  out.early = is_explained ? 0.0f : row->early;
  out.crowd = out.early;
  if (row->next != 3u * v->frames && !kdgat_is_explained(v, s, &s->rows[row->next])) {
    out.crowd = kdgat_max(out.crowd, s->rows[row->next].early);
  }
  out.off = row->off;
  out.fresh = row->compared >= 2 ? row->least_change : 0.0f;
  out.back = row->back;
  out.silence = row->silence;
  out.tight = is_explained ? 0.0f : row->tight;
  return out;
}

typedef struct kdgat_columns {
  float x[KDGAT_COLUMNS];
  uint32_t excused, unknown; /* frames */
  uint32_t broken;           /* frames that break laws of their payloads: no column */
} kdgat_columns;

static inline void kdgat_columns_init(kdgat_columns* c) {
  unsigned i;
  for (i = 0; i < KDGAT_COLUMNS; ++i) c->x[i] = 0.0f;
  c->excused = c->unknown = c->broken = 0;
}

static inline void kdgat_raise(float* column, float value) { *column = kdgat_max(*column, value); }

/* A frame of a window of so many. */
static inline void kdgat_columns_add(kdgat_columns* c, const kdgat_compared* of, uint32_t frames) {
  const float one = 1.0f / (float)frames;
  const float crowd_off = kdgat_min(of->crowd, of->off);
  float* x = c->x;
  if (!(of->flags & KDGAT_ROW_KNOWN)) {
    if (of->flags & KDGAT_ROW_EXCUSED) {
      ++c->excused;
    } else {
      ++c->unknown;
    }
    return;
  }
  if (of->flags & KDGAT_ROW_WRONG_LENGTH) x[KDGAT_COL_LENGTH] += one;
  if (of->flags & KDGAT_ROW_BROKEN) ++c->broken;
  kdgat_raise(&x[KDGAT_COL_CROWD], of->crowd);
  if (of->flags & KDGAT_ROW_SURPLUS) x[KDGAT_COL_SURPLUS] += one;
  if (of->off > 0.1f) x[KDGAT_COL_OFF_SHARE] += one;
  if (crowd_off > x[KDGAT_COL_CROWD_OFF]) {
    x[KDGAT_COL_CROWD_OFF2] = x[KDGAT_COL_CROWD_OFF];
    x[KDGAT_COL_CROWD_OFF] = crowd_off;
  } else {
    kdgat_raise(&x[KDGAT_COL_CROWD_OFF2], crowd_off);
  }
  kdgat_raise(&x[KDGAT_COL_CROWD_BACK], kdgat_min(of->crowd, of->back));
  kdgat_raise(&x[KDGAT_COL_CROWD_NEW], kdgat_min(of->crowd, of->fresh));
  kdgat_raise(&x[KDGAT_COL_OFF_NEW], kdgat_min(of->off, of->fresh));
  kdgat_raise(&x[KDGAT_COL_OFF_BACK], kdgat_min(of->off, of->back));
  kdgat_raise(&x[KDGAT_COL_NEW], of->fresh);
  kdgat_raise(&x[KDGAT_COL_BACK], of->back);
  kdgat_raise(&x[KDGAT_COL_SILENCE], of->silence);
  kdgat_raise(&x[KDGAT_COL_TIGHT], of->tight);
}

/* All frames were added. silence: the longest that lasts at the window's end. */
static inline void kdgat_columns_end(const kdgat_vehicle* v, kdgat_columns* c, float silence) {
  uint32_t unknown = c->unknown;
  if (c->excused > v->most_excused) unknown += c->excused;
  c->x[KDGAT_COL_UNKNOWN] = v->rare[unknown < v->rare_count ? unknown : v->rare_count - 1u];
  kdgat_raise(&c->x[KDGAT_COL_SILENCE], kdgat_min(silence, KDGAT_MOST));
}
