/* SPDX-License-Identifier: Apache-2.0 */
/* PURE. A whole short flow as Avro record `Summary`: what its rows need, in place of its packets.
 */
#ifndef CKP_SUMMARY_H
#define CKP_SUMMARY_H

#include "run.h"

/* Bits of `flags` of a direction, part of the wire contract in segment_batch.avsc. */
#define CKP_SUMMARY_NO_TIMESTAMPS      1u
#define CKP_SUMMARY_ACKNOWLEDGED       2u
#define CKP_SUMMARY_WINDOW_SCALE_KNOWN 4u

/** What one end sent, and what the other one acknowledged of it. */
struct ckp_summary_direction {
    uint32_t packets;
    uint32_t data_packets;
    uint32_t data_bytes;
    uint32_t header_bytes; /* of data packets */
    uint32_t acknowledged_bytes;
    uint32_t largest_data_bytes;
    uint32_t full_packets;         /* of the largest size, without PSH */
    uint16_t maximum_segment_size; /* announced by the other end; 0: none */
    uint8_t flags;
};

struct ckp_summary {
    const struct ckp_flow_key *key;
    uint16_t vlan_id;
    int64_t tunnel_id;
    int64_t flow_start_ns;
    int64_t quiet_ns;
    enum ckp_end_reason end_reason;

    /* Set by ckp_summarise(). */
    int64_t duration_ns;
    bool is_client_known;
    uint8_t client; /* direction */
    uint32_t client_sequence_number;
    uint32_t syns;
    bool is_handshake_timed;
    int64_t server_delay_ns;
    int64_t client_delay_ns;
    struct ckp_summary_direction sent_by[2];
};

/**
 * Sums up all packets of a flow.
 *
 * @return false if the packets show what a summary cannot tell: data sent again, out of order or
 * missing, a frame that came twice, SACK blocks, congestion marks, a closed window, data in a SYN,
 * super-segments, malformed options, or a clock that was set back
 */
bool ckp_summarise(struct ckp_summary *summary, const struct ckp_packets *packets);

/** Swaps the endpoints. */
void ckp_summary_reverse(struct ckp_summary *summary);

#define CKP_SUMMARY_ENCODED_MAX 300u

/** Writes the record, at most CKP_SUMMARY_ENCODED_MAX bytes, and returns the byte after. */
uint8_t *ckp_summary_write(uint8_t *out, const struct ckp_summary *summary);

#endif
