/*
 * ---- The features of a window's graph. A row is a frame and the id of the frame behind it; nodes
 * are the ids that rows name, edges the pairs (id, next id).
 */
#pragma once

#include "engine/portable/window_graph_types.h"

#ifndef KDGAT_SQRT
#define KDGAT_SQRT(x) __builtin_sqrt(x) /* an exported model has its own */
#endif

/* Columns of a node, behind its id. */
enum {
  KDGAT_NODE_BYTE = 0,         /* 8: means of the payload's bytes as a source, of 255 */
  KDGAT_NODE_SOURCE_COUNT = 8, /* rows that it is the source of, between the fewest and the most */
  KDGAT_NODE_LAST_POSITION,    /* of the last of them */
  KDGAT_NODE_COLUMNS
};

/* Columns of an edge. Positions and spans are shares of the window. */
enum {
  KDGAT_EDGE_ROWS,
  KDGAT_EDGE_SHARE, /* of the window's rows */
  KDGAT_EDGE_GAP_MEAN,
  KDGAT_EDGE_GAP_STD, /* of the gaps between its rows */
  KDGAT_EDGE_REGULARITY,
  KDGAT_EDGE_FIRST_POSITION,
  KDGAT_EDGE_LAST_POSITION,
  KDGAT_EDGE_SPAN,
  KDGAT_EDGE_REVERSE, /* 1: there is an edge the other way */
  KDGAT_EDGE_DEGREE_PRODUCT,
  KDGAT_EDGE_DEGREE_RATIO,
  KDGAT_EDGE_COLUMNS
};

/* As a source of row number `row`. */
static inline void kdgat_sums_add(kdgat_sums* sums, const uint8_t* payload, uint32_t row) {
  int b;
  for (b = 0; b < 8; ++b) sums->bytes[b] += payload[b];
  ++sums->as_source;
  sums->last = row;
}

/* least, most: of as_source over the nodes of the window. */
static inline void kdgat_node_features(const kdgat_sums* sums, uint32_t rows, uint32_t least,
                                       uint32_t most, float* to) {
  int b;
  if (sums->as_source > 0) {
    const double scale = 1.0 / (255.0 * (double)sums->as_source);
    for (b = 0; b < 8; ++b) to[KDGAT_NODE_BYTE + b] = (float)((double)sums->bytes[b] * scale);
    to[KDGAT_NODE_LAST_POSITION] =
        rows > 1 ? (float)((double)sums->last / (double)(rows - 1)) : 0.0f;
  } else {
    for (b = 0; b < 8; ++b) to[KDGAT_NODE_BYTE + b] = 0.0f;
    to[KDGAT_NODE_LAST_POSITION] = 0.0f;
  }
  to[KDGAT_NODE_SOURCE_COUNT] =
      most > least ? (float)((double)(sums->as_source - least) / (double)(most - least))
                   : (float)sums->as_source;
}

/* The rows of an edge, in their order. */
typedef struct kdgat_edge {
  double count, first, last; /* rows, and the numbers of the first and the last one */
  double gap_mean;
  double squares; /* sum of the squares of the gaps less their mean */
} kdgat_edge;

static inline kdgat_edge kdgat_edge_of(uint32_t count, uint32_t first, uint32_t last) {
  kdgat_edge edge;
  edge.count = (double)count;
  edge.first = (double)first;
  edge.last = (double)last;
  edge.gap_mean = count > 1 ? (edge.last - edge.first) / (edge.count - 1) : 0.0;
  edge.squares = 0.0;
  return edge;
}

/* Of each row but the first. */
static inline void kdgat_edge_add(kdgat_edge* edge, uint32_t row, uint32_t before) {
  const double off = (double)row - (double)before - edge->gap_mean;
  edge->squares += off * off;
}

static inline void kdgat_edge_features(const kdgat_edge* edge, uint32_t rows,
                                       const kdgat_sums* source, const kdgat_sums* target,
                                       int has_reverse, float* to) {
  const double window = (double)rows;
  const double source_degree = (double)(source->as_source + source->as_target);
  const double target_degree = (double)(target->as_source + target->as_target);
  const double deviation = edge->count > 1 ? KDGAT_SQRT(edge->squares / (edge->count - 1)) : 0.0;
  to[KDGAT_EDGE_ROWS] = (float)edge->count;
  to[KDGAT_EDGE_SHARE] = (float)(edge->count / window);
  to[KDGAT_EDGE_GAP_MEAN] = (float)edge->gap_mean;
  to[KDGAT_EDGE_GAP_STD] = (float)deviation;
  to[KDGAT_EDGE_REGULARITY] = edge->count == 1   ? 0.0f
                              : deviation == 0.0 ? 1.0f
                                                 : (float)(1.0 / (1.0 + deviation));
  to[KDGAT_EDGE_FIRST_POSITION] = (float)(edge->first / window);
  to[KDGAT_EDGE_LAST_POSITION] = (float)(edge->last / window);
  to[KDGAT_EDGE_SPAN] = (float)((edge->last - edge->first) / window);
  to[KDGAT_EDGE_REVERSE] = has_reverse ? 1.0f : 0.0f;
  to[KDGAT_EDGE_DEGREE_PRODUCT] = (float)(source_degree * target_degree);
  to[KDGAT_EDGE_DEGREE_RATIO] = (float)(source_degree / target_degree);
}
