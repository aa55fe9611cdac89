/* ---- What the model reads of a node: a vector for its id, beside its features. */
static int kdgat_id_number(uint32_t id) {
  int low = 0, high = KDGAT_IDS;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (kdgat_ids[middle] < id) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < KDGAT_IDS && kdgat_ids[low] == id ? low
                                                 : KDGAT_IDS; /* the last row: all unknown ones */
}

static void kdgat_embed(uint32_t id, float* to) {
  const int row = kdgat_id_number(id);
  int c;
  for (c = 0; c < KDGAT_EMBEDDING; ++c) {
#if KDGAT_INT8
    to[c] = (float)kdgat_embedding[row * KDGAT_EMBEDDING + c] * kdgat_embedding_scale[row];
#else
    to[c] = kdgat_embedding[row * KDGAT_EMBEDDING + c];
#endif
  }
}

#if KDGAT_STANDARDISE
static float kdgat_z_score(float x, float mean, float scale) {
  const float z = (x - mean) * scale;
  return z < -10.0f ? -10.0f : z > 10.0f ? 10.0f : z;
}
#endif
