/* SPDX-License-Identifier: Apache-2.0 */
/* PURE. The packets of a run -> its columns, as schemas/README.md lays them down. */
#ifndef CKP_COLUMNS_H
#define CKP_COLUMNS_H

#include "segment.h"

#include <stddef.h>
#include <stdint.h>

#define CKP_RUN_PACKETS_MAX 256u

/* Worst case of a packet over all columns: 102 bytes of values and one bit, in turn
 * 10 + 5+5+5 + (3+1)+(2+1)+3+(3+1)+(2+1)+(2+1)+(2+1) + 5+5 + 3+2 + 1+4*10, rounded up. */
#define CKP_PACKET_ENCODED_MAX  112u
#define CKP_COLUMNS_ENCODED_MAX (CKP_RUN_PACKETS_MAX * CKP_PACKET_ENCODED_MAX + 256u)

/** Packets of one flow in the order in which they were seen. */
struct ckp_packets {
    const struct ckp_segment *segments;
    const struct ckp_sack_block *sack_blocks; /* of all segments, one after the other */
    uint32_t count;                           /* 0..CKP_RUN_PACKETS_MAX */
    bool is_ipv6;
};

/**
 * Writes the Avro array of columns, at most CKP_COLUMNS_ENCODED_MAX bytes. Column ids ascend and
 * empty columns are left out.
 *
 * @return the byte after
 */
uint8_t *ckp_columns_write(uint8_t *out, const struct ckp_packets *packets);

#endif
