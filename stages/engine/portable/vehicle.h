/* ---- What is usual on a vehicle: tables of its profile. */
#pragma once

#include <stdint.h>

#ifndef KDGAT_MOVE
#define KDGAT_MOVE uint32_t /* an exported model takes the smallest type that holds its numbers */
#endif

/* An id of few frames is missed where it falls silent alone: units pause as a whole. */
enum { KDGAT_IS_MISSED = 1, KDGAT_KEEPS_TIMES = 2, KDGAT_IS_MISSED_ALONE = 4 };

#define KDGAT_LAWLESS 0xFFFFu /* an id without laws of its payload */

/* What is usual for an id. */
typedef struct kdgat_usual {
  double period;    /* seconds */
  double longest;   /* seconds: the longest usual silence */
  double pause;     /* seconds: of longer gaps a sleeping bus may be the reason */
  float early;      /* share of the period: gaps that are shorter come early */
  float shortest;   /* share of the period: the shortest usual gap; 0: not known */
  float tolerance;  /* share of the period, about a due time */
  float trust;      /* in its times, 0 to 1 */
  float change;     /* bits of surprise that one frame in a thousand exceeds */
  uint32_t moves;   /* the first of its payload's bytes in kdgat_vehicle.moves */
  uint16_t lengths; /* which of kdgat_vehicle.lengths it has */
  uint8_t bytes;    /* of its payload, as far as they are known */
  uint8_t flags;
  uint16_t lawful; /* which of kdgat_vehicle.lawful it is, or KDGAT_LAWLESS */
} kdgat_usual;

/* An id whose payloads have laws, see laws.h. Payloads are words, the first byte the lowest. */
typedef struct kdgat_lawful {
  uint64_t payload; /* one that keeps them: the sums of all others are the same */
  uint64_t still;   /* bits that never moved */
  uint64_t slow;    /* bits that move in few frames, and those */
  uint64_t counters, counter_ends,
      counter_tops; /* their bits, the lowest and the highest of each */
  /* Of kdgat_vehicle.sums, masks of bits: from `first` on those of slow bits alone, from
   * first_check to `end` those of a checksum. */
  uint32_t first, first_check, end;
  uint32_t bytes; /* of a payload */
} kdgat_lawful;

/* The payload lengths that were seen, a bit each. */
typedef struct kdgat_length_set {
  uint8_t bits[9];
} kdgat_length_set;

/* A bus of the vehicle. */
typedef struct kdgat_usual_bus {
  double rate;                         /* frames a second */
  int32_t network;                     /* which J1939 bus it is; -1: none */
  uint32_t first_message, message_end; /* of kdgat_vehicle.messages, where it is one */
  uint32_t first_home, home_end;       /* of kdgat_vehicle.homes, likewise */
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

typedef struct kdgat_vehicle {
  const uint32_t* keys;            /* bus << 29 | id, ascending */
  const kdgat_usual* usuals;       /* of each */
  const kdgat_length_set* lengths; /* that occur */
  const KDGAT_MOVE* moves; /* of each byte: place of its first value in bits << 3 | values - 1 */
  const float* bits;       /* of surprise, by the bit width of a move, from 1 on */
  const float* rare; /* column KDGAT_COL_UNKNOWN of 0, 1, .. unknown frames; then as the last one */
  const kdgat_usual_bus* buses;
  const int16_t* bus_of;         /* [8] by channel: which of `buses`; -1: none */
  const kdgat_message* messages; /* of each bus ascending */
  const kdgat_home* homes;
  const kdgat_lawful* lawful;
  const uint64_t* sums;
  uint32_t ids, bus_count, rare_count;
  uint32_t networks;     /* J1939 buses */
  uint32_t frames;       /* of a window */
  uint32_t most_excused; /* more excused frames in a window are unknown */
} kdgat_vehicle;
