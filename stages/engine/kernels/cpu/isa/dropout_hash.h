// The hash of dropout everywhere; included by the sources of kernels alone, inside the namespace of
// their instruction set.

/// A 31-bit hash of the element's number (after C. Wellons' lowbias32, with a second key).
inline int32_t hash(uint32_t element, uint32_t low, uint32_t high) {
  uint32_t x = element * 0x9E3779B9u + low;
  x ^= x >> 16;
  x *= 0x7FEB352Du;
  x ^= high;
  x ^= x >> 15;
  x *= 0x846CA68Bu;
  x ^= x >> 16;
  return static_cast<int32_t>(x >> 1);
}
