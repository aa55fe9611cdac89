/* ---- Four floats at once where the compiler has such vectors; each is computed as it would be alone. */
#if defined(__GNUC__) && !defined(__TINYC__) && (defined(__SSE2__) || defined(__aarch64__))
#define KDGAT_VECTORS 1
typedef float kdgat_v4 __attribute__((vector_size(16), aligned(4), may_alias));
typedef uint32_t kdgat_u4 __attribute__((vector_size(16)));
#define KDGAT_V4(p) (*(kdgat_v4*)(p))
#define KDGAT_CV4(p) (*(const kdgat_v4*)(p))
#else
#define KDGAT_VECTORS 0
#endif
