/* ---- What the model reads of a node: a vector for its id, beside its features. */
/* The place of an id among ascending ones, or where it would stand. */
static int kdgat_place(const uint32_t* ids, int count, uint32_t id) {
  int low = 0, high = count;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (ids[middle] < id) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

static void kdgat_embed(uint32_t id, float* to) {
  int c, row = kdgat_place(kdgat_ids, KDGAT_IDS, id);
  if (row < KDGAT_IDS && kdgat_ids[row] != id) row = KDGAT_IDS; /* the last one: all unknown ids */
  for (c = 0; c < KDGAT_EMBEDDING; ++c) {
#if KDGAT_INT8
    to[c] = (float)kdgat_embedding[row * KDGAT_EMBEDDING + c] * kdgat_embedding_scale[row];
#else
    to[c] = kdgat_embedding[row * KDGAT_EMBEDDING + c];
#endif
  }
}
