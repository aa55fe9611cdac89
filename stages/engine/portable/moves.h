/* ---- How far the bytes of a payload move. */
#pragma once

#include "engine/portable/numbers.h"
#include "engine/portable/vehicle.h"

#define KDGAT_RARE_BITS \
  3.0f /* a byte whose moves surprise more moves in less than one frame of eight */

/* A byte whose moves surprise more rests: it moves in less than one frame of 16. */
#define KDGAT_STILL_BITS 4.0f

/* How far a byte moves: the bit width of the shorter way round 256 values. 0 to 8. */
static inline unsigned kdgat_move_bin(uint8_t from, uint8_t to) {
  static const uint8_t widths[9] = {0, 1, 2, 2, 3, 3, 3, 3, 4};
  const unsigned up = (unsigned)(uint8_t)(to - from);
  const unsigned move = up <= 128u ? up : 256u - up;
  return move > 8u ? widths[move >> 4] + 4u : widths[move];
}

/* What the bytes of one move add up to. Bytes that rest begin to move together, as where a car that
 * stood drives off: of them the most surprising one counts. */
typedef struct kdgat_move_bits {
  float moving, still;
} kdgat_move_bits;

/* first: of the byte's smallest move. */
static inline void kdgat_add_bits(kdgat_move_bits* sum, float bits, float first) {
  if (first > KDGAT_STILL_BITS) {
    sum->still = kdgat_max(sum->still, bits);
  } else {
    sum->moving += bits;
  }
}

/* Whether a byte that rarely moves did so, and is now what it was before. */
static inline int kdgat_moved_back(const kdgat_vehicle* v, const kdgat_usual* usual,
                                   const uint8_t* before, const uint8_t* last, const uint8_t* now,
                                   unsigned length) {
  unsigned i;
  if (length > usual->bytes) length = usual->bytes;
  for (i = 0; i < length; ++i) {
    if (now[i] == before[i] && now[i] != last[i] &&
        v->bits[v->moves[usual->moves + i] >> 3] > KDGAT_RARE_BITS) {
      return 1;
    }
  }
  return 0;
}

/* Bits of surprise of the move from one payload to the next. rare: whether a byte moved that
 * rarely does. */
static inline float kdgat_surprise(const kdgat_vehicle* v, const kdgat_usual* usual,
                                   const uint8_t* from, const uint8_t* to, unsigned length,
                                   int* rare) {
  kdgat_move_bits sum = {0.0f, 0.0f};
  unsigned i;
  if (length > usual->bytes) length = usual->bytes;
  *rare = 0;
  for (i = 0; i < length; ++i) {
    if (from[i] != to[i]) {
      const unsigned bin = kdgat_move_bin(from[i], to[i]);
      const uint32_t of_byte = v->moves[usual->moves + i];
      const float* values = &v->bits[of_byte >> 3];
      const unsigned bins = (unsigned)(of_byte & 7u) + 1u;
      const float last = values[(bin < bins ? bin : bins) - 1u];
      kdgat_add_bits(&sum, bin <= bins ? last : kdgat_min(14.0f, last + (float)(int)(bin - bins)),
                     values[0]);
      if (values[0] > KDGAT_RARE_BITS) *rare = 1;
    }
  }
  return sum.moving + sum.still;
}
