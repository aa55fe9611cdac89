/* ---- What the tables of a model and of a vehicle's profile are made of. */

enum { KDGAT_REGULAR = 1, KDGAT_KEEPS_TIMES = 2 };

/* What is usual for an id. */
typedef struct kdgat_usual {
  double period;    /* seconds */
  double longest;   /* seconds: the longest usual silence */
  double pause;     /* seconds: of longer gaps a sleeping bus may be the reason */
  float early;      /* share of the period: gaps that are shorter come early */
  float late;       /* periods: gaps that are usually the longest */
  float tolerance;  /* share of the period, about a due time */
  float trust;      /* in its times, 0 to 1 */
  float change;     /* bits of surprise that one frame in a thousand exceeds */
  uint32_t moves;   /* the first of its payload's bytes in kdgat_moves */
  uint16_t lengths; /* which of kdgat_lengths it has */
  uint8_t bytes;    /* of its payload, as far as they are known */
  uint8_t flags;
} kdgat_usual;

/* The payload lengths that were seen, a bit each. */
typedef uint8_t kdgat_length_set[9];

/* A bus of the vehicle. */
typedef struct kdgat_usual_bus {
  double rate;                         /* frames a second */
  int32_t network;                     /* which J1939 bus it is; -1: none */
  uint32_t first_message, message_end; /* of kdgat_messages, where it is one */
  uint32_t first_home, home_end;       /* of kdgat_homes, likewise */
} kdgat_usual_bus;

/* Of a J1939 bus: a message under any priority and receiver, and the id that sends it. */
typedef struct kdgat_message {
  uint32_t message;
  uint32_t sender;
} kdgat_message;

/* Of a J1939 bus: the address that a control unit has in the profile, by its NAME. */
typedef struct kdgat_home {
  uint64_t name;
  uint32_t address;
} kdgat_home;

/* A split of a tree: the place of its threshold among those of its column, ascending; and its children: another split
 * of the tree, or KDGAT_LEAF and one of its leaves. */
typedef struct kdgat_split {
  KDGAT_PLACE threshold;
  KDGAT_CHILD left, right;
  uint8_t column;
} kdgat_split;

/* The benign values of a column from the median on, in kdgat_tail_values and kdgat_tail_rare. */
typedef struct kdgat_tail {
  double excess; /* mean of what lies above the last value */
  uint32_t column, first, end;
} kdgat_tail;
