/*
 * stack: how many bytes of stack the exported functions take on this machine, on the frames of vectors.h. They run on a
 * stack that was painted before; what is still painted behind them was not used. POSIX.
 */
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

#include "@NAME@.h"
#include "vectors.h"

enum { STACK = 1 << 18, PAINT = 0xA5 };

static kdgat_state state;
static ucontext_t before, walk;
static unsigned char stack[STACK];
static const unsigned char* begin;

static void judge(void) {
  const uint8_t* data = kdgat_vector_bytes;
  const unsigned char here = 0;
  long i;
  begin = &here;
  kdgat_init(&state);
  for (i = 0; i < KDGAT_VECTOR_FRAMES; ++i) {
    const kdgat_vector_frame* f = &kdgat_vector_frames[i];
    (void)kdgat_push(&state, f->time, f->id, f->length, data);
    data += f->length;
  }
  while (kdgat_finish(&state) != 0) continue;
}

int main(void) {
  long lowest = 0;
  memset(stack, PAINT, sizeof(stack));
  if (getcontext(&walk) != 0) return 1;
  walk.uc_stack.ss_sp = stack;
  walk.uc_stack.ss_size = sizeof(stack);
  walk.uc_link = &before;
  makecontext(&walk, judge, 0);
  if (swapcontext(&before, &walk) != 0) return 1;
  while (lowest < STACK && stack[lowest] == PAINT) ++lowest;
  printf("%ld\n", (long)(begin - stack) - lowest);
  return 0;
}
