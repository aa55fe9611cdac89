#ifdef __cplusplus
extern "C" {
#endif

/* All that is kept between two calls. Its members are no business of the caller. */
typedef struct kdgat_state kdgat_state;

/* Before all else, and again where another log begins. */
void kdgat_init(kdgat_state* s);

/*
 * The next frame of the bus. time: seconds, NaN where there is none; a clock that falls by a second or more begins
 * another recording, and no window crosses into it. id: 11 or 29 bits, bit 31 set for one in the 29-bit form. data:
 * `length` bytes, 0 to 64; may be null where that is 0. Returns bits KDGAT_*. Takes frames of any content, in bounded
 * time, from one thread or interrupt at a time.
 */
int kdgat_push(kdgat_state* s, double time, uint32_t id, uint8_t length, const uint8_t* data);

/* The log has ended. Call until it returns 0: each call judges a window that was left, or closes the alarm. */
int kdgat_finish(kdgat_state* s);

/* The score of the window that was judged last; above the threshold it is flagged. */
float kdgat_score(const kdgat_state* s);

/* The open alarm, or the one that was closed last. */
kdgat_alarm kdgat_last_alarm(const kdgat_state* s);

#ifdef __cplusplus
}
#endif
