/*
 * detect: reads frames as `candump -L` writes them from standard input, prints one line of JSON for each change of an
 * alarm; with --windows also one for each window.
 *
 *   candump -L can0 | detect [--windows]
 *
 * Lines that are no frames are counted and skipped. Exits 0; 2 where nothing could be read.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "@NAME@.h"

enum { LINE = 512 };

typedef struct frame {
  double time;
  uint32_t id;
  uint8_t length;
  uint8_t data[64];
} frame;

static int hex_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

static int is_blank(char c) { return c == ' ' || c == '\t'; }

static const char* skip_blanks(const char* at) {
  while (is_blank(*at)) ++at;
  return at;
}

static const char* skip_word(const char* at) {
  while (*at != '\0' && !is_blank(*at)) ++at;
  return at;
}

/* "123#DEADBEEF", "123#R8", "12345678##1DEADBEEF"; 1 where it is a frame. */
static int read_frame(const char* at, const char* end, frame* f) {
  uint32_t id = 0;
  int digits = 0, is_fd = 0, most = 8;
  for (; at < end && *at != '#'; ++at, ++digits) {
    const int digit = hex_of(*at);
    if (digit < 0 || id >> 28 != 0) return 0;
    id = id << 4 | (uint32_t)digit;
  }
  if (at == end || digits == 0 || id >> 29 != 0) return 0;
  f->id = digits > 3 ? id | 0x80000000u : id;
  f->length = 0;
  ++at;
  if (at < end && *at == '#') {
    if (end - at < 2 || hex_of(at[1]) < 0) return 0;
    at += 2;
    is_fd = 1;
    most = 64;
  } else if (at < end && (*at == 'R' || *at == 'r')) {
    return end - at == 1 || (end - at == 2 && at[1] >= '0' && at[1] <= '8');
  }
  for (; at < end && (is_fd || *at != '_'); at += 2) {
    const int high = hex_of(*at), low = end - at > 1 ? hex_of(at[1]) : -1;
    if (high < 0 || low < 0 || f->length == most) return 0;
    f->data[f->length++] = (uint8_t)(high << 4 | low);
  }
  return 1;
}

/* "(1436509052.249713) can0 123#DEADBEEF", and a T or R behind it; 1 where it is a frame. */
static int read_line(const char* line, frame* f) {
  const char *at = skip_blanks(line), *end;
  char* behind;
  if (*at != '(') return 0;
  ++at;
  if (hex_of(*at) < 0 && *at != '-' && *at != '.') return 0; /* strtod knows more than numbers */
  f->time = strtod(at, &behind);
  if (*behind != ')' || !(f->time - f->time == 0.0)) return 0;
  at = skip_blanks(behind + 1);
  end = skip_word(at); /* the name of the interface */
  if (end == at) return 0;
  at = skip_blanks(end);
  end = skip_word(at);
  if (!read_frame(at, end, f)) return 0;
  at = skip_blanks(end);
  end = skip_word(at);
  if (end != at && (end - at != 1 || (*at != 'T' && *at != 'R'))) return 0;
  return *skip_blanks(end) == '\0';
}

static void print_time(const char* name, double time) {
  if (time == time) {
    printf("\"%s\":%.17g,", name, time);
  } else {
    printf("\"%s\":null,", name);
  }
}

/* What a call of the detector says. `window`: windows before it. */
static void tell(const kdgat_state* s, int said, int with_windows, long* window) {
  if ((said & KDGAT_WINDOW) != 0) {
    if (with_windows) {
      printf("{\"event\":\"window\",\"window\":%ld,\"score\":%.9g,\"decision\":\"%s\"}\n", *window,
             (double)kdgat_score(s), (said & KDGAT_FLAGGED) != 0 ? "attack" : "benign");
    }
    ++*window;
  }
  if ((said & (KDGAT_OPENED | KDGAT_CLOSED)) != 0) {
    const kdgat_alarm alarm = kdgat_last_alarm(s);
    printf("{\"event\":\"alarm\",\"alarm\":%ld,\"open\":%s,", (long)alarm.number,
           alarm.is_open ? "true" : "false");
    print_time("begin", alarm.begin_time);
    print_time("end", alarm.end_time);
    printf("\"first_window\":%ld,\"last_window\":%ld,\"windows\":%ld,\"peak_window\":%ld,",
           (long)alarm.first_window, (long)alarm.last_window, (long)alarm.windows,
           (long)alarm.peak_window);
    printf("\"peak\":%.9g,\"model\":\"%s\"}\n", (double)alarm.peak, KDGAT_MODEL);
    fflush(stdout);
  }
}

int main(int argc, char** argv) {
  static kdgat_state state; /* not on the stack, which may be small */
  char line[LINE];
  long window = 0, frames = 0, malformed = 0;
  int with_windows = 0, is_rest = 0, said, i;
  for (i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "--windows") != 0) {
      fprintf(stderr, "usage: %s [--windows] < candump.log\n", argv[0]);
      return 2;
    }
    with_windows = 1;
  }
  kdgat_init(&state);
  while (fgets(line, LINE, stdin) != NULL) {
    const size_t size = strlen(line);
    const int is_whole = size > 0 && line[size - 1] == '\n';
    frame f;
    if (is_rest) { /* of a line that was too long to be a frame */
      is_rest = !is_whole;
      continue;
    }
    is_rest = !is_whole && !feof(stdin);
    line[strcspn(line, "\r\n")] = '\0';
    if (*skip_blanks(line) == '\0') continue;
    if (is_rest || !read_line(line, &f)) {
      ++malformed;
      continue;
    }
    ++frames;
    tell(&state, kdgat_push(&state, f.time, f.id, f.length, f.data), with_windows, &window);
  }
  while ((said = kdgat_finish(&state)) != 0) tell(&state, said, with_windows, &window);
  if (malformed > 0) fprintf(stderr, "%ld lines are no frames\n", malformed);
  if (frames == 0) fprintf(stderr, "no frame on standard input; `candump -L` writes them\n");
  if (fflush(stdout) != 0 || ferror(stdin)) {
    fprintf(stderr, "%s\n", strerror(errno));
    return 2;
  }
  return frames > 0 ? 0 : 2;
}
