/*
 * ---- Laws of payloads. A counter grows by one from frame to frame. A checksum makes sums of bits
 * over GF(2) that are the same in all benign frames: a parity, XOR and CRC do, and the lowest bit
 * of a sum.
 */
#pragma once

#include "engine/portable/vehicle.h"
#include "engine/portable/window_types.h"

#define KDGAT_LAW_BYTES 8u   /* of a payload; longer ones have no laws */
#define KDGAT_LAWS_TRIED 32u /* frames of a drive that keep the laws before a break counts */
#define KDGAT_LAWS_OFF 255u  /* in kdgat_law_state.kept: the drive began with a break */

/* A payload of at most KDGAT_LAW_BYTES as a word: the first byte is the lowest. */
static inline uint64_t kdgat_law_word(const uint8_t* bytes, unsigned length) {
  uint64_t out = 0;
  while (length > 0) out = out << 8 | bytes[--length];
  return out;
}

/* Whether one of these sums is odd. */
static inline int kdgat_is_odd(const uint64_t* sums, uint32_t count, uint64_t bits) {
  uint32_t i;
  for (i = 0; i < count; ++i) {
    uint64_t left = bits & sums[i];
    unsigned shift;
    for (shift = 32; shift > 0; shift /= 2) left ^= left >> shift;
    if (left & 1u) return 1;
  }
  return 0;
}

/* Whether the counters of a payload grew by one since the payload before it. */
static inline int kdgat_counts(const kdgat_lawful* of, uint64_t now, uint64_t before) {
  const uint64_t rest = of->counters & ~of->counter_tops;
  const uint64_t next = ((before & rest) + of->counter_ends) ^ (before & of->counter_tops);
  return ((now ^ next) & of->counters) == 0;
}

/* Whether a payload breaks a checksum. Where slow bits have values that training never combined
 * nobody knows what the sums are; only that they stay what they are while the slow bits do. */
static inline int kdgat_breaks_check(const uint64_t* sums, const kdgat_lawful* of, uint64_t now,
                                     uint64_t before) {
  const uint64_t apart = now ^ of->payload;
  const uint64_t* checks = sums + of->first_check;
  const uint32_t count = of->end - of->first_check;
  if ((apart & of->still) == 0 &&
      !kdgat_is_odd(sums + of->first, of->first_check - of->first, apart)) {
    return kdgat_is_odd(checks, count, apart);
  }
  return ((now ^ before) & of->slow) == 0 && kdgat_is_odd(checks, count, now ^ before);
}

/* Of the next frame of an id that has laws, ahead of its being kept. One break says little: a
 * frame may be lost. Two within four frames count, in the rows of both. `payloads`: those of the
 * frames that are kept. */
static inline void kdgat_check_laws(const kdgat_vehicle* v, kdgat_windows* s, uint32_t place,
                                    const kdgat_sender* sender, kdgat_row* row,
                                    const uint8_t* payloads, unsigned length, const uint8_t* data) {
  const kdgat_lawful* of = &v->lawful[place];
  kdgat_law_state* state = &s->laws[place];
  const unsigned last = (sender->at + 3u) % 4u;
  const uint8_t before = sender->seen == 0 ? 0 : (uint8_t)(state->broken & ~(1u << sender->at));
  uint64_t now, then;
  unsigned j;
  state->broken = before;
  if (sender->seen == 0 || length != of->bytes || sender->length[last] != length) return;
  now = kdgat_law_word(data, length);
  then = kdgat_law_word(payloads + (size_t)last * of->bytes, length);
  if (kdgat_counts(of, now, then) && !kdgat_breaks_check(v->sums, of, now, then)) {
    if (state->kept < KDGAT_LAWS_TRIED) ++state->kept;
    return;
  }
  state->broken = (uint8_t)(before | 1u << sender->at);
  if (before == 0) return;
  if (state->kept < KDGAT_LAWS_TRIED) state->kept = KDGAT_LAWS_OFF;
  if (state->kept == KDGAT_LAWS_OFF) return;
  row->flags |= KDGAT_ROW_BROKEN;
  for (j = 0; j < 4; ++j) {
    if ((before >> j & 1u) && (uint32_t)((uint32_t)s->full - sender->window[j]) <= 1u) {
      s->rows[sender->row[j]].flags |= KDGAT_ROW_BROKEN;
    }
  }
}
