/*
 * check: the frames of vectors.h, and whether this compiler and this machine find the same in them as the program that
 * wrote them, to the last bit. Exits 0 where they do.
 */
#include <stdio.h>
#include <string.h>

#include "@NAME@.h"
#include "vectors.h"

static kdgat_state state;
static long said, wrong;

/* What a call said behind `frame` frames, against the next line of the vectors. */
static void compare(long frame, int bits) {
  const float score = kdgat_score(&state);
  uint32_t score_bits;
  memcpy(&score_bits, &score, sizeof(score_bits));
  if (said < KDGAT_VECTOR_EVENTS) {
    const kdgat_vector_event* wanted = &kdgat_vector_events[said];
    if (wanted->frame != frame || wanted->bits != bits || wanted->score != score_bits) {
      if (++wrong <= 10) {
        printf(
            "behind frame %ld: bits %d, score %08lX; wanted behind frame %ld: bits %d, score "
            "%08lX\n",
            frame, bits, (unsigned long)score_bits, (long)wanted->frame, (int)wanted->bits,
            (unsigned long)wanted->score);
      }
    }
  } else {
    ++wrong;
  }
  ++said;
}

int main(void) {
  const uint8_t* data = kdgat_vector_bytes;
  volatile double zero = 0.0;
  long i;
  int bits;
  kdgat_init(&state);
  for (i = 0; i < KDGAT_VECTOR_FRAMES; ++i) {
    const kdgat_vector_frame* f = &kdgat_vector_frames[i];
    bits = kdgat_push(&state, f->has_time ? f->time : zero / zero, f->id, f->length, data);
    data += f->length;
    if (bits != 0) compare(i + 1, bits);
  }
  while ((bits = kdgat_finish(&state)) != 0) compare(i, bits);
  if (said != KDGAT_VECTOR_EVENTS) wrong += said < KDGAT_VECTOR_EVENTS;
  printf("%ld frames, %ld results, %ld wrong\n", i, said, wrong);
  return wrong == 0 && said == KDGAT_VECTOR_EVENTS ? 0 : 1;
}
