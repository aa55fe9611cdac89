/*
 * ---- Windows: frames into rows, rows into the graph of a window.
 *
 * A row is a frame and the id of the frame behind it. Nodes of a window are the ids it names,
 * ascending; edges the pairs (id, next id). The same numbers as an import of the log gives, to the
 * last bit.
 */
static void kdgat_copy8(uint8_t* to, const uint8_t* from, int count) {
  int i;
  for (i = 0; i < 8; ++i) to[i] = i < count ? from[i] : 0;
}

static int kdgat_note_id(uint32_t* ids, int nodes, uint32_t id) {
  const int at = kdgat_place(ids, nodes, id);
  int i;
  if (at < nodes && ids[at] == id) return nodes;
  for (i = nodes; i > at; --i) ids[i] = ids[i - 1];
  ids[at] = id;
  return nodes + 1;
}

/* Distinct ids, and the sums over the rows that name each. */
static void kdgat_sum_rows(kdgat_state* s) {
  kdgat_graph* g = &s->u.graph;
  int r, nodes = 0;
  for (r = 0; r < s->row_count; ++r) {
    nodes = kdgat_note_id(g->ids, nodes, s->rows[r].source);
    if (r + 1 == s->row_count || s->rows[r].target != s->rows[r + 1].source) {
      nodes = kdgat_note_id(g->ids, nodes, s->rows[r].target);
    }
  }
  s->nodes = nodes;
  for (r = 0; r < nodes; ++r) {
    static const kdgat_sums none = {{0, 0, 0, 0, 0, 0, 0, 0}, 0, 0, 0};
    g->sums[r] = none;
  }
  for (r = 0; r < s->row_count; ++r) {
    const int source = kdgat_place(g->ids, nodes, s->rows[r].source);
    const int target = kdgat_place(g->ids, nodes, s->rows[r].target);
    kdgat_sums_add(&g->sums[source], s->rows[r].payload, (uint32_t)r);
    ++g->sums[target].as_target;
    g->source[r] = (uint16_t)source;
    g->target[r] = (uint16_t)target;
  }
}

/* Rows by (target, source, row): two passes that keep the order of equal ones. */
static void kdgat_order_rows(kdgat_state* s) {
  kdgat_graph* g = &s->u.graph;
  int pass, i;
  for (i = 0; i < s->row_count; ++i) g->order[i] = (uint16_t)i;
  for (pass = 0; pass < 2; ++pass) {
    const uint16_t* key = pass == 0 ? g->source : g->target;
    for (i = 0; i <= s->nodes; ++i) g->begin[i] = 0;
    for (i = 0; i < s->row_count; ++i) ++g->begin[key[i] + 1];
    for (i = 0; i < s->nodes; ++i) g->begin[i + 1] = (uint16_t)(g->begin[i + 1] + g->begin[i]);
    for (i = 0; i < s->row_count; ++i) g->sorted[g->begin[key[g->order[i]]]++] = g->order[i];
    for (i = 0; i < s->row_count; ++i) g->order[i] = g->sorted[i];
  }
}

#if KDGAT_EDGE_FEATURES
/* The features of the edge that the rows order[from .. to) are; whether there is a reverse one
 * is not known yet. */
static void kdgat_add_edge(const kdgat_state* s, int from, int to, float* out) {
  const kdgat_graph* g = &s->u.graph;
  kdgat_edge edge = kdgat_edge_of((uint32_t)(to - from), g->order[from], g->order[to - 1]);
  int k;
  for (k = from + 1; k < to; ++k) kdgat_edge_add(&edge, g->order[k], g->order[k - 1]);
  kdgat_edge_features(&edge, (uint32_t)s->row_count, &g->sums[g->source[g->order[from]]],
                      &g->sums[g->target[g->order[from]]], 0, out);
}

static int kdgat_has_edge(const kdgat_state* s, int source, int target) {
  int e;
  for (e = s->in_begin[target]; e < s->in_begin[target + 1]; ++e) {
    if (s->in_source[e] == source) return 1;
  }
  return 0;
}
#endif

/* Edges by target: in_begin, in_source and, where the model reads them, their features. */
static void kdgat_build_edges(kdgat_state* s) {
  kdgat_graph* g = &s->u.graph;
  int from, to, edges = 0, n = 0;
  kdgat_order_rows(s);
  for (from = 0; from < s->row_count; from = to) {
    const uint16_t source = g->source[g->order[from]], target = g->target[g->order[from]];
    to = from + 1;
    while (to < s->row_count && g->source[g->order[to]] == source &&
           g->target[g->order[to]] == target) {
      ++to;
    }
    for (; n <= target; ++n) s->in_begin[n] = (uint16_t)edges;
#if KDGAT_EDGE_FEATURES
    kdgat_add_edge(s, from, to, s->edges[edges]);
#endif
    s->in_source[edges++] = source;
  }
  for (; n <= s->nodes; ++n) s->in_begin[n] = (uint16_t)edges;
#if KDGAT_EDGE_FEATURES
  for (n = 0; n < s->nodes; ++n) {
    for (from = s->in_begin[n]; from < s->in_begin[n + 1]; ++from) {
      int d = 0;
      float* features = s->edges[from];
      features[KDGAT_EDGE_REVERSE] = kdgat_has_edge(s, n, s->in_source[from]) ? 1.0f : 0.0f;
#if KDGAT_STANDARDISE
      for (d = 0; d < KDGAT_EDGE_FEATURES; ++d) {
        features[d] = kdgat_z_score(features[d], kdgat_edge_mean[d], kdgat_edge_scale[d]);
      }
#else
      (void)d;
#endif
    }
  }
#endif
}

/* The graph of the rows, and the nodes as the model reads them: a vector for the id, then
 * features. */
static void kdgat_build_graph(kdgat_state* s, float* x) {
  uint32_t least = 0xFFFFFFFFu, most = 0;
  int n, c = 0;
  kdgat_sum_rows(s);
  for (n = 0; n < s->nodes; ++n) {
    const uint32_t count = s->u.graph.sums[n].as_source;
    if (count < least) least = count;
    if (count > most) most = count;
  }
  for (n = 0; n < s->nodes; ++n, x += KDGAT_EMBEDDING + KDGAT_NODE_FEATURES) {
    float* features = x + KDGAT_EMBEDDING;
    kdgat_embed(s->u.graph.ids[n], x);
    kdgat_node_features(&s->u.graph.sums[n], (uint32_t)s->row_count, least, most, features);
#if KDGAT_RECONSTRUCTS
    for (c = 0; c < KDGAT_NODE_FEATURES; ++c) s->wanted[n][c] = features[c];
#endif
#if KDGAT_STANDARDISE
    for (c = 0; c < KDGAT_NODE_FEATURES; ++c) {
      features[c] = kdgat_z_score(features[c], kdgat_node_mean[c], kdgat_node_scale[c]);
    }
#endif
  }
  (void)c;
  kdgat_build_edges(s);
}

/* What the network says of the rows that are there: below, behind the layers. */
static float kdgat_network(kdgat_state* s);

/* The rows that are there are a window. */
static int kdgat_judge(kdgat_state* s) {
  const float raw = kdgat_network(s);
#if KDGAT_PROBABILITY
  s->score = (float)kdgat_probability((double)raw);
#else
  s->score = raw;
#endif
  return kdgat_alarms_add(&s->alarms, KDGAT_THRESHOLD, KDGAT_ON_RAW ? raw : s->score,
                          s->row_time[0], s->row_time[s->row_count - 1]);
}

/* A recording ends: its last frame has no successor. Rows that fill no window are left out,
 * unless there was no window at all: then they make one short window. */
static int kdgat_end_recording(kdgat_state* s) {
  const int said = !s->has_window && s->row_count > 0 ? kdgat_judge(s) : 0;
  s->row_count = s->skip = 0;
  s->has_last = s->has_window = 0;
  return said;
}

/* The frame before gets its target: a row. */
static int kdgat_add_row(kdgat_state* s, uint32_t target) {
  int said;
  if (s->skip > 0) {
    --s->skip;
    return 0;
  }
  s->rows[s->row_count] = s->last;
  s->rows[s->row_count].target = target;
  s->row_time[s->row_count] = s->last_time;
  if (++s->row_count < KDGAT_ROWS) return 0;
  said = kdgat_judge(s);
  s->has_window = 1;
#if KDGAT_STRIDE < KDGAT_ROWS
  {
    int r;
    s->row_count = KDGAT_ROWS - KDGAT_STRIDE;
    for (r = 0; r < s->row_count; ++r) {
      s->rows[r] = s->rows[r + KDGAT_STRIDE];
      s->row_time[r] = s->row_time[r + KDGAT_STRIDE];
    }
  }
#else
  s->row_count = 0;
  s->skip = KDGAT_STRIDE - KDGAT_ROWS;
#endif
  return said;
}

void kdgat_init(kdgat_state* s) {
  kdgat_alarms_init(&s->alarms);
  s->row_count = s->skip = s->in_chunk = 0;
  s->has_last = s->has_window = s->has_clock = 0;
  s->last_time = s->clock = 0;
  s->score = 0;
  s->nodes = 0;
}

int kdgat_push(kdgat_state* s, double time, uint32_t id, uint8_t length, const uint8_t* data) {
  int said = 0, chunk_ends = 0;
  if (time == time) { /* a number */
    if (s->has_clock && s->clock - time >= 1.0) said = kdgat_end_recording(s);
    s->clock = time;
    s->has_clock = 1;
  }
  id &= 0x1FFFFFFFu;
#if KDGAT_CHUNK_ROWS
  chunk_ends = s->in_chunk == 0;
  s->in_chunk = s->in_chunk + 1 == KDGAT_CHUNK_ROWS ? 0 : s->in_chunk + 1;
#endif
  if (s->has_last && !chunk_ends) said |= kdgat_add_row(s, id);
  s->last.source = id;
  s->last.target = 0;
  kdgat_copy8(s->last.payload, data, length);
  s->last_time = time;
  s->has_last = 1;
  return said;
}

int kdgat_finish(kdgat_state* s) {
  const int said = kdgat_end_recording(s);
  return said != 0 ? said : kdgat_alarms_finish(&s->alarms);
}

float kdgat_score(const kdgat_state* s) { return s->score; }

kdgat_alarm kdgat_last_alarm(const kdgat_state* s) { return s->alarms.alarm; }
