/*
 * ---- The network of a detector. No edge reaches it, so it sees one node after another, and keeps
 * of each layer the largest states alone.
 *
 * The order of operations is that of the native engine's portable level, so its bits are the same:
 * a product starts at its bias and adds one input after another.
 */
typedef struct kdgat_layer {
  const float* weight; /* [inputs, outputs] */
  const float* scale;  /* not read */
  const float* bias;
  int32_t inputs, outputs;
} kdgat_layer;

static void kdgat_product(const kdgat_layer* layer, const float* x, float* out) {
  const float* w = layer->weight;
  int32_t i, o;
  for (o = 0; o < layer->outputs; ++o) out[o] = layer->bias[o];
  for (i = 0; i < layer->inputs; ++i, w += layer->outputs) {
    for (o = 0; o < layer->outputs; ++o) out[o] += w[o] * x[i];
  }
}

static void kdgat_keep_largest(float* to, const float* x, int32_t count) {
  int32_t i;
  for (i = 0; i < count; ++i) to[i] = to[i] < x[i] ? x[i] : to[i];
}
