/*
 * ---- The graph of a window relative to the profile of a vehicle: numbers that mean the same on
 * every car. The first node is all frames of ids that the profile does not have; each other one is
 * an id of the profile that sends in the window, or is missing at its end. An edge goes from an id
 * to the one that sends next on the same bus.
 */
#pragma once

#include "engine/portable/windows.h"

/* Columns of a node: first those of a window (windows.h), of the frames of this id alone. All grow
 * with oddness but the last one, which never changes. */
enum {
  KDGAT_OF_NODE_MORE = KDGAT_COLUMNS, /* frames than are due: see kdgat_beyond() */
  KDGAT_OF_NODE_FEWER,                /* likewise */
  KDGAT_OF_NODE_CROWD,                /* means of these three over its frames */
  KDGAT_OF_NODE_OFF,
  KDGAT_OF_NODE_NEW,
  KDGAT_OF_NODE_CHANGED, /* share of its frames in which a byte moves that rarely does */
  KDGAT_OF_NODE_OUTSIDE, /* 1 of the first node, 0 of all others */
  KDGAT_OF_NODE_COLUMNS
};

/* Columns of an edge. */
enum {
  KDGAT_OF_STEP_SHARE,  /* of the steps from its id, those that go this way */
  KDGAT_OF_STEP_RARITY, /* bits of surprise, by how often it came while the profile was learned */
  KDGAT_OF_STEP_LEAST,  /* the shortest gap beyond the usual one: see kdgat_beyond() */
  KDGAT_OF_STEP_MEAN,   /* the mean gap likewise */
  KDGAT_OF_STEP_COLUMNS
};

/* What is usual of the steps from an id of the vehicle. */
typedef struct kdgat_usual_step {
  uint32_t to; /* place of the id that sends next */
  float rare;  /* bits of surprise */
  float gap;   /* seconds, the mean; 0: not known */
} kdgat_usual_step;

typedef struct kdgat_steps {
  const uint32_t* first;         /* [ids + 1] by the place of an id: its first step, and the end */
  const kdgat_usual_step* steps; /* of each id ascending by `to` */
  const float* never;            /* [ids] bits of surprise of a step that is none of these */
} kdgat_steps;

/* How far one number is beyond another, from -1 (nothing of it) over 0 (the same) to nearly 1. */
static inline float kdgat_beyond(float value, float usual) {
  const float sum = value + usual;
  return sum > 0.0f ? (value - usual) / sum : 0.0f;
}

/* What may be many times the usual, in steps that a network can weigh: 1 is .8, 20 is 3.3. */
static inline float kdgat_eased(float value) { return 4.0f * value / (4.0f + value); }

typedef struct kdgat_node {
  kdgat_columns columns;
  float crowd, off, fresh; /* sums */
  uint32_t frames, changed;
} kdgat_node;

static inline void kdgat_node_init(kdgat_node* node) {
  kdgat_columns_init(&node->columns);
  node->crowd = node->off = node->fresh = 0.0f;
  node->frames = node->changed = 0;
}

/* A frame of the window, which has so many. */
static inline void kdgat_node_add(kdgat_node* node, const kdgat_compared* of, uint32_t frames) {
  kdgat_columns_add(&node->columns, of, frames);
  ++node->frames;
  if (!(of->flags & KDGAT_ROW_KNOWN)) return;
  node->crowd += of->crowd;
  node->off += of->off;
  node->fresh += of->fresh;
  if (of->flags & KDGAT_ROW_CHANGED) ++node->changed;
}

/* All frames were added. silence: see kdgat_columns_end(); due: frames of the id that are due in
 * the time of the window, NaN where nobody knows; is_outside: it is the first node. */
static inline void kdgat_node_end(const kdgat_vehicle* v, kdgat_node* node, float silence,
                                  float due, int is_outside, float* to) {
  const float one = node->frames > 0 ? 1.0f / (float)node->frames : 0.0f;
  const float beyond = due == due ? kdgat_beyond((float)node->frames, due) : 0.0f;
  unsigned i;
  kdgat_columns_end(v, &node->columns, silence);
  for (i = 0; i < KDGAT_COLUMNS; ++i) to[i] = node->columns.x[i];
  to[KDGAT_COL_UNKNOWN] = kdgat_eased(to[KDGAT_COL_UNKNOWN]);
  to[KDGAT_COL_NEW] = kdgat_eased(to[KDGAT_COL_NEW]);
  to[KDGAT_COL_BACK] = kdgat_eased(to[KDGAT_COL_BACK]);
  to[KDGAT_COL_SILENCE] = kdgat_eased(to[KDGAT_COL_SILENCE]);
  to[KDGAT_COL_TIGHT] = kdgat_eased(to[KDGAT_COL_TIGHT]);
  to[KDGAT_OF_NODE_MORE] = kdgat_max(0.0f, beyond);
  to[KDGAT_OF_NODE_FEWER] = kdgat_max(0.0f, -beyond);
  to[KDGAT_OF_NODE_CROWD] = node->crowd * one;
  to[KDGAT_OF_NODE_OFF] = node->off * one;
  to[KDGAT_OF_NODE_NEW] = kdgat_eased(node->fresh * one);
  to[KDGAT_OF_NODE_CHANGED] = (float)node->changed * one;
  to[KDGAT_OF_NODE_OUTSIDE] = is_outside ? 1.0f : 0.0f;
}

typedef struct kdgat_step {
  float least, sum; /* seconds */
  uint32_t count, timed;
} kdgat_step;

static inline void kdgat_step_init(kdgat_step* step) {
  step->least = step->sum = 0.0f;
  step->count = step->timed = 0;
}

/* gap: seconds; NaN without times. */
static inline void kdgat_step_add(kdgat_step* step, float gap) {
  ++step->count;
  if (!(gap >= 0.0f)) return;
  step->least = step->timed == 0 || gap < step->least ? gap : step->least;
  step->sum += gap;
  ++step->timed;
}

/* all: steps of the window from its id. from, to: places of both, KDGAT_UNKNOWN of the first
 * node. */
static inline void kdgat_step_end(const kdgat_steps* usual, const kdgat_step* step, uint32_t all,
                                  int32_t from, int32_t to, float* out) {
  const kdgat_usual_step* found = 0;
  if (from >= 0 && to >= 0) {
    uint32_t low = usual->first[from], high = usual->first[from + 1];
    const uint32_t end = high;
    while (low < high) {
      const uint32_t middle = low + (high - low) / 2;
      if (usual->steps[middle].to < (uint32_t)to) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    if (low < end && usual->steps[low].to == (uint32_t)to) found = &usual->steps[low];
  }
  out[KDGAT_OF_STEP_SHARE] = (float)step->count / (float)all;
  out[KDGAT_OF_STEP_RARITY] = found                  ? found->rare
                              : from >= 0 && to >= 0 ? usual->never[from]
                                                     : KDGAT_MOST;
  out[KDGAT_OF_STEP_LEAST] = out[KDGAT_OF_STEP_MEAN] = 0.0f;
  if (found && found->gap > 0.0f && step->timed > 0) {
    out[KDGAT_OF_STEP_LEAST] = kdgat_beyond(step->least, found->gap);
    out[KDGAT_OF_STEP_MEAN] = kdgat_beyond(step->sum / (float)step->timed, found->gap);
  }
}
