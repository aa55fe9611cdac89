/*
 * ---- Evidence: a window is flagged only where one of its columns is large by itself.
 */
#pragma once

#include <stdint.h>

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

/* What the tails say of a window in which so many frames break laws of their payloads: evidence by
 * itself, a thousand times rarer than what is flagged. */
static inline double kdgat_tails_of_broken(double tails, double threshold, uint32_t broken) {
  const double sure = threshold + 3.0;
  return broken > 0 && tails < sure ? sure : tails;
}
