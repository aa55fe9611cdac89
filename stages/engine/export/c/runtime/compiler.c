/* ---- The same bits on every machine; and parts that this model does not need are no fault. */
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wunused-function"
#pragma STDC FP_CONTRACT OFF
#endif
#if defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ != 0 && __FLT_EVAL_METHOD__ != 16
#error "float is computed with more digits than it has (x87?): compile with -mfpmath=sse -msse2"
#endif
#if defined(__FAST_MATH__)
#error "compile without -ffast-math: it changes the order of operations"
#endif
