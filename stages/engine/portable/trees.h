/*
 * ---- Boosted trees. Values are ranked among the thresholds of their columns once, then trees
 * compare ranks.
 *
 * A missing value (NaN) has two ranks, one on either side of all thresholds: a split names the one
 * that it reads.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifndef KDGAT_PLACE /* an exported model takes the smallest types that hold its numbers */
#define KDGAT_PLACE uint32_t
#define KDGAT_CHILD uint16_t
#define KDGAT_RANK uint32_t
#define KDGAT_COLUMN_BEGIN uint32_t
#define KDGAT_TREE_BEGIN uint32_t
#define KDGAT_LEAF 0x8000u
#define KDGAT_LEAF_VALUE float
#define KDGAT_LEAF_OF(leaf, unit) (double)(leaf)
#endif

/* The place of its threshold among those of its column, ascending; its children: another split
 * of the tree, or KDGAT_LEAF and one of its leaves; and the rank that it compares: 2 * column,
 * one more where a missing value goes right. */
typedef struct kdgat_split {
  KDGAT_PLACE threshold;
  KDGAT_CHILD left, right;
  KDGAT_RANK rank;
} kdgat_split;

typedef struct kdgat_trees {
  const float* thresholds;                /* of all columns, each ascending */
  const KDGAT_COLUMN_BEGIN* column_begin; /* [columns + 1] in thresholds */
  const kdgat_split* splits;              /* tree by tree */
  const KDGAT_TREE_BEGIN* tree_begin;     /* [trees + 1] in splits */
  const KDGAT_LEAF_VALUE* leaves;         /* tree by tree: each has one more than splits */
  const float* units;                     /* of each tree, where leaves are multiples of it */
  double base;
  uint32_t columns, trees;
} kdgat_trees;

/* The sum of base and one leaf of each tree. x: [columns]; ranks: room for [2 * columns]. */
static inline double kdgat_trees_score(const kdgat_trees* trees, const float* x, uint32_t* ranks) {
  double sum = trees->base;
  size_t i;
  uint32_t t;
  for (i = 0; i < trees->columns; ++i) {
    uint32_t low = trees->column_begin[i], high = trees->column_begin[i + 1];
    while (low < high) {
      const uint32_t middle = low + (high - low) / 2;
      if (x[i] > trees->thresholds[middle]) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    ranks[2 * i] = low - trees->column_begin[i];
    ranks[2 * i + 1] = x[i] == x[i] ? ranks[2 * i] : 0xFFFFFFFFu;
  }
  for (t = 0; t < trees->trees; ++t) {
    const uint32_t first = trees->tree_begin[t];
    const kdgat_split* splits = &trees->splits[first];
    uint32_t child = trees->tree_begin[t + 1] == first ? KDGAT_LEAF : 0;
    while (child < KDGAT_LEAF) {
      const kdgat_split* split = &splits[child];
      child = ranks[split->rank] > split->threshold ? split->right : split->left;
    }
    sum += KDGAT_LEAF_OF(trees->leaves[first + t + (child - KDGAT_LEAF)], trees->units[t]);
  }
  return sum;
}
