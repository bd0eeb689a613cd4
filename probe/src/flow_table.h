/* SPDX-License-Identifier: Apache-2.0 */
/* PURE. All living flows: found by key, visited when something of theirs is due. */
#ifndef CKP_FLOW_TABLE_H
#define CKP_FLOW_TABLE_H

#include "flow_key.h"
#include "run.h"
#include "run_pool.h"

#define CKP_FLOW_NONE UINT32_MAX

/**
 * What the probe knows of one flow. Times without a prefix are stamps of its own packets. The first
 * two cache lines are all that a packet touches.
 */
struct ckp_flow {
    _Alignas(64) struct ckp_flow_key key;
    struct ckp_open_run run;
    bool has_initial_sequence_number[2];
    bool has_fin[2];
    int64_t last_ns;       /* its last packet */
    int64_t run_end_ns;    /* end of the second that its open run lies in; while it is held, up to
                              when all that was due has been done */
    int64_t clock_last_ns; /* capture clock at its last packet */
    uint32_t initial_sequence_number[2];
    bool is_bare_syn;    /* nothing but SYNs so far */
    bool is_living;      /* false once the handle is in the free list */
    uint8_t quiet_marks; /* since the last packet */
    uint8_t closing;     /* enum ckp_end_reason: why it will end after the linger, or NONE */
    uint16_t vlan_id;
    bool is_reversed;     /* the lower endpoint of its key is the higher one of the written key */
    uint8_t proofs;       /* that it is no SYN of a flood: see flow_tracker.c */
    bool is_held;         /* may stay a mouse: all its packets wait in the open run */
    uint8_t data_packets; /* while it is held */
    bool has_sent[2];     /* who has, by direction */
    uint32_t fingerprint; /* of its last packet, see tap_quality.c; or 0 */

    uint64_t hash; /* of the table */
    int64_t start_ns;
    int64_t tunnel_id;
    uint64_t packets_before; /* in earlier runs */
    uint32_t partition;
    uint32_t older_run; /* list of flows with an open run, in order of opening */
    uint32_t newer_run;
    uint32_t previous_due; /* list of the wheel's slot */
    uint32_t next_due;
    uint32_t older_unproven; /* list of unproven flows, in order of their start */
    uint32_t newer_unproven;
    uint64_t due_tick;
    struct ckp_flow_key *written_key; /* as others may know it: its own, or one beside it */
};

/* 4096 ticks of 67 ms: 275 s, beyond which a visit finds nothing due and comes again. */
#define CKP_WHEEL_SLOTS      4096u
#define CKP_WHEEL_TICK_SHIFT 26

struct ckp_flow_bucket {
    uint32_t tag;  /* lower half of the hash: where it belongs, and whose it is */
    uint32_t flow; /* CKP_FLOW_NONE if empty */
};

struct ckp_flow_table {
    struct ckp_flow_bucket *buckets; /* open addressing, linear probing, at most half full */
    size_t bucket_mask;
    struct ckp_flow **blocks; /* flows do not move: handles stay valid until removal */
    uint32_t block_count;
    uint32_t used; /* flows ever touched: the first `used` handles */
    uint32_t free; /* list through next_due */
    uint32_t living;
    uint32_t wheel[CKP_WHEEL_SLOTS];
    uint64_t wheel_tick;   /* being visited; nothing is scheduled for it or before */
    bool has_written_keys; /* beside the flows: behind each block of them */
};

/** @param has_written_keys whether flows are written under other keys than they are found by
 * @return false if there is no memory */
bool ckp_flow_table_init(struct ckp_flow_table *table, bool has_written_keys);
void ckp_flow_table_free(struct ckp_flow_table *table);

static inline uint32_t ckp_flow_bucket_tag(uint64_t hash)
{
    return (uint32_t)hash;
}

/* 3 MiB: whole huge pages fit in. */
#define CKP_FLOW_BLOCK 16384u

static inline struct ckp_flow *ckp_flow_at(const struct ckp_flow_table *table, uint32_t flow)
{
    return &table->blocks[flow / CKP_FLOW_BLOCK][flow % CKP_FLOW_BLOCK];
}

/** Fetches all of a flow that is soon to be visited. */
static inline void ckp_flow_table_prefetch(const struct ckp_flow_table *table, uint32_t flow)
{
    const char *lines = (const char *)ckp_flow_at(table, flow);

    __builtin_prefetch(lines);
    __builtin_prefetch(lines + 64);
    __builtin_prefetch(lines + 128);
}

/** Two steps ahead of ckp_flow_table_find(): fetches where it will look first ... */
static inline void ckp_flow_table_prefetch_bucket(const struct ckp_flow_table *table, uint64_t hash)
{
    __builtin_prefetch(&table->buckets[ckp_flow_bucket_tag(hash) & table->bucket_mask]);
}

/** ... then the flow it will probably find; returned, or CKP_FLOW_NONE. */
static inline uint32_t ckp_flow_table_prefetch_flow(const struct ckp_flow_table *table,
                                                    uint64_t hash)
{
    uint32_t tag = ckp_flow_bucket_tag(hash);
    const struct ckp_flow_bucket *bucket = &table->buckets[tag & table->bucket_mask];

    if (bucket->flow == CKP_FLOW_NONE || bucket->tag != tag)
        return CKP_FLOW_NONE;
    const char *flow = (const char *)ckp_flow_at(table, bucket->flow);
    __builtin_prefetch(flow);
    __builtin_prefetch(flow + 64);
    return bucket->flow;
}

/** @return the flow, or CKP_FLOW_NONE */
uint32_t ckp_flow_table_find(const struct ckp_flow_table *table, const struct ckp_flow_key *key,
                             uint64_t hash);

/** Adds a flow that is not there, all zero but keys, hash and lists. The table grows as needed.
 * @return CKP_FLOW_NONE if there is no memory */
uint32_t ckp_flow_table_add(struct ckp_flow_table *table, const struct ckp_flow_key *key,
                            uint64_t hash);

/** Forgets the flow, also in the wheel. */
void ckp_flow_table_remove(struct ckp_flow_table *table, uint32_t flow);

/** Sees to it that the flow is visited soon after capture clock `due_ns`, or before. */
void ckp_flow_table_schedule(struct ckp_flow_table *table, uint32_t flow, int64_t due_ns);

/**
 * Takes the next flow out of the wheel whose visit is due. Its `next_due` still tells who will
 * probably be the next.
 *
 * @return CKP_FLOW_NONE if none is. Whoever gets a flow schedules it anew or removes it.
 */
uint32_t ckp_flow_table_next_due(struct ckp_flow_table *table, int64_t now_ns);

#endif
