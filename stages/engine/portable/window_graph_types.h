#pragma once

#include <stdint.h>

/* Sums over the rows that name a node. */
typedef struct kdgat_sums {
  uint32_t bytes[8], as_source, as_target;
  uint32_t last; /* row that it is the source of */
} kdgat_sums;
