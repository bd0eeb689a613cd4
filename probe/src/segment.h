/* SPDX-License-Identifier: Apache-2.0 */
/* PURE. What the analysis needs to know of one TCP segment; all fields in host byte order. */
#ifndef CKP_SEGMENT_H
#define CKP_SEGMENT_H

#include <stdbool.h>
#include <stdint.h>

#define CKP_NANOS_PER_SECOND INT64_C(1000000000)
#define CKP_NANOS_PER_MILLI  INT64_C(1000000)

/* RFC 9293 §3.1, RFC 3168 §23. */
#define CKP_TCP_FIN 0x01u
#define CKP_TCP_SYN 0x02u
#define CKP_TCP_RST 0x04u
#define CKP_TCP_ACK 0x10u

/* Bits of `options_present`, part of the wire contract in schemas/README.md. */
#define CKP_OPTION_TIMESTAMPS     0x01u
#define CKP_OPTION_MSS            0x02u
#define CKP_OPTION_WINDOW_SCALE   0x04u
#define CKP_OPTION_SACK_PERMITTED 0x08u
#define CKP_OPTION_SACK_BLOCKS    0x10u
#define CKP_OPTION_MALFORMED      0x20u

/* TCP options hold 40 bytes, a SACK option 2 + 8 a block: RFC 2018 §3. */
#define CKP_SACK_BLOCKS_MAX 4

struct ckp_sack_block {
    uint32_t left_edge;
    uint32_t right_edge;
};

/** Kept for every packet of an open run: 48 bytes, see run_pool.h. */
struct ckp_segment {
    int64_t time_ns; /* UTC, since the epoch */
    uint32_t sequence_number;
    uint32_t acknowledgment_number; /* as on the wire, also without ACK */
    uint32_t payload_bytes;         /* from the IP length: no snap length shortens it */
    uint32_t timestamp_value;
    uint32_t timestamp_echo;
    uint16_t window_field; /* as on the wire, unscaled */
    uint16_t header_bytes; /* IP bytes without the payload */
    uint16_t ip_id;        /* 0 for IPv6 */
    uint16_t maximum_segment_size;
    uint8_t tcp_flags;
    uint8_t time_to_live;
    uint8_t traffic_class;
    uint8_t options_present;
    uint8_t window_scale;
    uint8_t direction;   /* 0 if the lower endpoint sent it, else 1 */
    uint8_t sack_blocks; /* how many */
};

#endif
