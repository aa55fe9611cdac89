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
