/*
 * ---- Ids that standards give a meaning: diagnostics of cars (ISO 15765-4), and those of SAE
 * J1939.
 */
#pragma once

#include <stdint.h>

#define KDGAT_SMALL_ID 0x7FFu /* the largest of 11 bits */

/* Requests and answers of diagnostics: 7DF to all, 7E0 to 7E7 to one control unit, 7E8 to 7EF
 * from it; with 29 bits 18DB33F1, 18DA..F1 and 18DAF1.. */
static inline int kdgat_is_diagnostic(uint32_t id) {
  if (id <= KDGAT_SMALL_ID) return id == 0x7DFu || (id >= 0x7E0u && id <= 0x7EFu);
  return id == 0x18DB33F1u ||
         (id >> 16 == 0x18DAu && ((id & 0xFFu) == 0xF1u || (id >> 8 & 0xFFu) == 0xF1u));
}

/* An id of J1939-21 without its priority and, of a message to one receiver, without that: PGN
 * and source. */
static inline uint32_t kdgat_message_of(uint32_t id) {
  const uint32_t message = id & 0x03FFFFFFu;
  return (id >> 16 & 0xFFu) < 240u ? message & 0xFFFF00FFu : message;
}

/* A claim of an address (PGN 60928): from the address that is claimed, with a NAME of 8 bytes. */
static inline int kdgat_is_claim(uint32_t id) {
  return id > KDGAT_SMALL_ID && kdgat_message_of(id) >> 8 == 0xEE00u;
}

/* A request for claims, which is how a control unit asks before it has an address (254). */
static inline int kdgat_is_claim_request(uint32_t id) {
  return id > KDGAT_SMALL_ID && kdgat_message_of(id) >> 8 == 0xEA00u && (id & 0xFFu) == 254u;
}

/* The NAME of a claim; 0 where it has none. */
static inline uint64_t kdgat_claim_name(unsigned length, const uint8_t* data) {
  uint64_t name = 0;
  unsigned i;
  if (length == 8 && data) {
    for (i = 8; i-- > 0;) name = name << 8 | data[i];
  }
  return name;
}
