/* SPDX-License-Identifier: Apache-2.0 */
/* PURE. One run: consecutive packets of one flow at one tap, as Avro record `Run`. */
#ifndef CKP_RUN_H
#define CKP_RUN_H

#include "columns.h"
#include "flow_key.h"

/** The symbols of the schema's enum EndReason, in its order. */
enum ckp_end_reason {
    CKP_END_NONE,
    CKP_END_FIN,
    CKP_END_RST,
    CKP_END_IDLE,
    CKP_END_EVICTED,
    CKP_END_REPLACED,
    CKP_END_CAPTURE_END,
    CKP_END_SHED,
};

#define CKP_VLAN_NONE   UINT16_MAX
#define CKP_TUNNEL_NONE INT64_C(-1)

struct ckp_run {
    const struct ckp_flow_key *key;
    uint16_t vlan_id;  /* CKP_VLAN_NONE if untagged */
    int64_t tunnel_id; /* CKP_TUNNEL_NONE outside tunnels */
    int64_t flow_start_ns;
    uint64_t packets_before;
    int64_t observed_until_ns;
    enum ckp_end_reason end_reason;
    struct ckp_packets packets;
};

/** Writes the fields that say whose packets they are and where they passed, at most 80 bytes; runs
 * and summaries begin with them. */
uint8_t *ckp_place_write(uint8_t *out, const struct ckp_flow_key *key, uint16_t vlan_id,
                         int64_t tunnel_id);

#define CKP_RUN_ENCODED_MAX (CKP_COLUMNS_ENCODED_MAX + 128u)

/** Writes the record, at most CKP_RUN_ENCODED_MAX bytes, and returns the byte after. */
uint8_t *ckp_run_write(uint8_t *out, const struct ckp_run *run);

#endif
