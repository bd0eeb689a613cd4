/* SPDX-License-Identifier: Apache-2.0 */
/* A decoder for the tests: batch bytes -> plain values, by the table in schemas/README.md. Shares
 * no code with the encoder. */
#ifndef CKP_TESTS_BATCH_READER_H
#define CKP_TESTS_BATCH_READER_H

#include "summary.h"

#include <stdio.h>

struct batch_reader {
    const uint8_t *at;
    const uint8_t *end;
};

struct read_packets {
    uint32_t count;
    struct ckp_segment segments[CKP_RUN_PACKETS_MAX];
    struct ckp_sack_block sack_blocks[CKP_RUN_PACKETS_MAX * CKP_SACK_BLOCKS_MAX];
    uint32_t sack_count;
};

struct read_run {
    uint32_t domain;
    uint8_t low_address[16], high_address[16];
    size_t address_bytes;
    uint16_t low_port, high_port;
    int64_t vlan_id, tunnel_id; /* -1: null */
    int64_t flow_start_ns, packets_before, observed_until_ns;
    enum ckp_end_reason end_reason;
    struct read_packets packets;
};

struct read_batch {
    char probe[256], tap[256];
    int64_t session, worker, partition, partition_count, hash_seed, sequence, packets_before;
    int64_t packets, timestamp_source, timestamp_resolution_ns;
    int64_t counters, runs; /* how many; the runs follow, to be read one by one */
    int64_t summarised_packets_before, summarised_packets;
    int64_t summaries; /* how many; they follow, to be read one by one */
};

struct read_summary {
    struct read_run place; /* domain to flow_start_ns, and the end */
    int64_t duration_ns, quiet_ns;
    int64_t client, client_sequence_number, server_delay_ns, client_delay_ns; /* -1: null */
    int64_t syns;
    struct ckp_summary_direction sent_by[2];
};

/* All of these abort with a sentence on standard error if the bytes are not what they should be. */
void read_batch_header(struct batch_reader *reader, struct read_batch *batch);
void read_run(struct batch_reader *reader, struct read_run *run);
void read_columns(struct batch_reader *reader, struct read_packets *packets, uint32_t count,
                  bool is_ipv6);
void read_runs_end(struct batch_reader *reader, struct read_batch *batch);
void read_summary(struct batch_reader *reader, struct read_summary *summary);
void read_batch_end(struct batch_reader *reader, const struct read_batch *batch);

#endif
