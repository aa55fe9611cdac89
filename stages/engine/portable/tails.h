/*
 * ---- Tails: how far a window lies beyond benign ones in some columns; and what the alarm rule
 * makes of its scores.
 */
#pragma once

#include "engine/portable/numbers.h"

#define KDGAT_MOST_RARE 30.0 /* powers of ten: no window is rarer */

/* The benign values of a column from the median on, and how rare each is. */
typedef struct kdgat_tail {
  double excess; /* mean of what lies above the last value */
  uint32_t column, first, end;
} kdgat_tail;

typedef struct kdgat_tails {
  const kdgat_tail* tails;
  const float* values; /* of each column ascending */
  const double* rare;  /* of each value: -log10 of the probability of one as large */
  double log_count;    /* log10 of `count`: so many columns have so many chances */
  uint32_t count;
} kdgat_tails;

/* Powers of ten by which the value of a column is rare in benign windows. */
static inline double kdgat_rarity(const kdgat_tails* of, const kdgat_tail* tail, float value) {
  const float* values = of->values;
  const uint32_t last = tail->end - 1u;
  uint32_t low, high;
  if (tail->end == tail->first || value <= values[tail->first]) return 0.0;
  if (value >= values[last]) {
    const double beyond = (double)(value - values[last]) / tail->excess / KDGAT_LOG_10;
    const double rare = of->rare[last] + beyond;
    return rare < KDGAT_MOST_RARE ? rare : KDGAT_MOST_RARE;
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
  return of->rare[low - 1u];
}

/* Of the rarest value of a row, at least 0. */
static inline double kdgat_tails_score(const kdgat_tails* of, const float* x) {
  double most = 0.0;
  uint32_t i;
  for (i = 0; i < of->count; ++i) {
    const double rare = kdgat_rarity(of, &of->tails[i], x[of->tails[i].column]);
    if (most < rare) most = rare;
  }
  most -= of->log_count;
  return 0.0 < most ? most : 0.0;
}

/* The k-th largest of n scores: above any threshold exactly where k of them are. */
static inline double kdgat_kth(const double* scores, uint32_t k, uint32_t n) {
  uint32_t i, j;
  for (i = 0; i < n; ++i) {
    uint32_t above = 0, same = 0;
    for (j = 0; j < n; ++j) {
      above += scores[j] > scores[i];
      same += scores[j] == scores[i];
    }
    if (above < k && above + same >= k) return scores[i];
  }
  return scores[0];
}

/* How far one of both scores lies above its threshold, the farther one, in log-odds. */
static inline double kdgat_score_of(double classifier, double tails, double classifier_threshold,
                                    double tails_threshold) {
  const double known = classifier - classifier_threshold;
  const double rare = (tails - tails_threshold) * KDGAT_LOG_10;
  return known < rare ? rare : known;
}
