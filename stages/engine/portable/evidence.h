/*
 * ---- Evidence: a window is flagged only where one of its columns is large by itself.
 */
#pragma once

#include <stdint.h>

#include "engine/portable/windows.h"

/* The least value of a column that is evidence. */
typedef struct kdgat_floor {
  uint32_t column;
  float least;
} kdgat_floor;

/* Whether a row reaches one of so many. */
static inline int kdgat_has_evidence(const kdgat_floor* floors, uint32_t count, const float* x) {
  uint32_t i;
  for (i = 0; i < count; ++i) {
    if (x[floors[i].column] >= floors[i].least) return 1;
  }
  return 0;
}

/* Usual longest silences: an id that is silent for so long is missing. */
#define KDGAT_MISSING 3.0f
/* Powers of ten by which evidence that flags by itself is rarer than what is flagged. */
#define KDGAT_SURE 3.0

/* What the tails say of a window in which an id is missing, or so many frames break laws of their
 * payloads: that is evidence by itself. */
static inline double kdgat_tails_of_sure(double tails, double threshold, const float* x,
                                         uint32_t broken) {
  const double sure = threshold + KDGAT_SURE;
  const int is_sure = broken > 0 || x[KDGAT_COL_SILENCE] >= KDGAT_MISSING;
  return is_sure && tails < sure ? sure : tails;
}
