/* SPDX-License-Identifier: Apache-2.0 */
#include "flow_table.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_BUCKETS    1024u
#define CACHE_LINE_BYTES 64u

_Static_assert(sizeof(struct ckp_flow) == 192, "a flow should fill three cache lines");
_Static_assert(CKP_FLOW_BLOCK * sizeof(struct ckp_flow_key) % CACHE_LINE_BYTES == 0,
               "aligned_alloc() wants whole cache lines");

static struct ckp_flow_bucket *new_buckets(size_t count)
{
    struct ckp_flow_bucket *buckets = malloc(count * sizeof *buckets);

    for (size_t i = 0; buckets && i < count; i++)
        buckets[i].flow = CKP_FLOW_NONE;
    return buckets;
}

uint32_t ckp_flow_table_find(const struct ckp_flow_table *table, const struct ckp_flow_key *key,
                             uint64_t hash)
{
    uint32_t tag = ckp_flow_bucket_tag(hash);

    for (size_t at = tag & table->bucket_mask;; at = (at + 1) & table->bucket_mask) {
        const struct ckp_flow_bucket *bucket = &table->buckets[at];
        if (bucket->flow == CKP_FLOW_NONE)
            return CKP_FLOW_NONE;
        if (bucket->tag == tag && ckp_flow_key_equal(&ckp_flow_at(table, bucket->flow)->key, key))
            return bucket->flow;
    }
}

static void put(struct ckp_flow_bucket *buckets, size_t mask, struct ckp_flow_bucket bucket)
{
    size_t at = bucket.tag & mask;

    while (buckets[at].flow != CKP_FLOW_NONE)
        at = (at + 1) & mask;
    buckets[at] = bucket;
}

static bool grow_buckets(struct ckp_flow_table *table)
{
    size_t count = 2 * (table->bucket_mask + 1);
    struct ckp_flow_bucket *buckets = new_buckets(count);

    if (!buckets)
        return false;
    for (size_t i = 0; i <= table->bucket_mask; i++) {
        if (table->buckets[i].flow != CKP_FLOW_NONE)
            put(buckets, count - 1, table->buckets[i]);
    }
    free(table->buckets);
    table->buckets = buckets;
    table->bucket_mask = count - 1;
    return true;
}

static bool grow_blocks(struct ckp_flow_table *table)
{
    size_t flow_bytes =
        sizeof(struct ckp_flow) + (table->has_written_keys ? sizeof(struct ckp_flow_key) : 0);
    struct ckp_flow **blocks =
        realloc(table->blocks, (table->block_count + 1) * sizeof table->blocks[0]);

    if (!blocks)
        return false;
    table->blocks = blocks;
    blocks[table->block_count] = aligned_alloc(CACHE_LINE_BYTES, CKP_FLOW_BLOCK * flow_bytes);
    if (!blocks[table->block_count])
        return false;
    table->block_count++;
    return true;
}

void ckp_flow_table_free(struct ckp_flow_table *table)
{
    for (uint32_t i = 0; i < table->block_count; i++)
        free(table->blocks[i]);
    free(table->blocks);
    free(table->buckets);
    table->blocks = NULL;
    table->buckets = NULL;
    table->block_count = 0;
}

bool ckp_flow_table_init(struct ckp_flow_table *table, bool has_written_keys)
{
    *table = (struct ckp_flow_table){
        .buckets = new_buckets(FIRST_BUCKETS),
        .bucket_mask = FIRST_BUCKETS - 1,
        .free = CKP_FLOW_NONE,
        .has_written_keys = has_written_keys,
    };
    for (size_t i = 0; i < CKP_WHEEL_SLOTS; i++)
        table->wheel[i] = CKP_FLOW_NONE;
    if (table->buckets && grow_blocks(table))
        return true;
    ckp_flow_table_free(table);
    return false;
}

static uint32_t take_handle(struct ckp_flow_table *table)
{
    uint32_t flow = table->free;

    if (flow != CKP_FLOW_NONE) {
        table->free = ckp_flow_at(table, flow)->next_due;
        return flow;
    }
    if (table->used == table->block_count * CKP_FLOW_BLOCK && !grow_blocks(table))
        return CKP_FLOW_NONE;
    return table->used++;
}

static struct ckp_flow_key *place_of_written_key(const struct ckp_flow_table *table, uint32_t flow)
{
    if (!table->has_written_keys)
        return &ckp_flow_at(table, flow)->key;
    struct ckp_flow *block_end = table->blocks[flow / CKP_FLOW_BLOCK] + CKP_FLOW_BLOCK;
    return (struct ckp_flow_key *)block_end + flow % CKP_FLOW_BLOCK;
}

uint32_t ckp_flow_table_add(struct ckp_flow_table *table, const struct ckp_flow_key *key,
                            uint64_t hash)
{
    if (2 * (table->living + (size_t)1) > table->bucket_mask && !grow_buckets(table))
        return CKP_FLOW_NONE;

    uint32_t flow = take_handle(table);
    if (flow == CKP_FLOW_NONE)
        return CKP_FLOW_NONE;
    struct ckp_flow *added = ckp_flow_at(table, flow);
    *added = (struct ckp_flow){
        .key = *key,
        .hash = hash,
        .is_living = true,
        .older_run = CKP_FLOW_NONE,
        .newer_run = CKP_FLOW_NONE,
        .previous_due = CKP_FLOW_NONE,
        .next_due = CKP_FLOW_NONE,
        .written_key = place_of_written_key(table, flow),
    };
    *added->written_key = *key;
    ckp_open_run_reset(&added->run);
    put(table->buckets, table->bucket_mask,
        (struct ckp_flow_bucket){ckp_flow_bucket_tag(hash), flow});
    table->living++;
    return flow;
}

/* Closes the gap, so that no probe sequence breaks and no tombstones gather. */
static void remove_bucket(struct ckp_flow_table *table, size_t hole)
{
    size_t mask = table->bucket_mask;

    for (size_t at = (hole + 1) & mask; table->buckets[at].flow != CKP_FLOW_NONE;
         at = (at + 1) & mask) {
        size_t home = table->buckets[at].tag & mask;
        if (((at - home) & mask) < ((at - hole) & mask))
            continue; /* it would land before its home */
        table->buckets[hole] = table->buckets[at];
        hole = at;
    }
    table->buckets[hole].flow = CKP_FLOW_NONE;
}

static uint32_t *slot_of(struct ckp_flow_table *table, uint64_t tick)
{
    return &table->wheel[tick % CKP_WHEEL_SLOTS];
}

/* A tick of 0 means: in no slot. */
static void unschedule(struct ckp_flow_table *table, struct ckp_flow *flow)
{
    if (flow->due_tick == 0)
        return;
    if (flow->previous_due == CKP_FLOW_NONE)
        *slot_of(table, flow->due_tick) = flow->next_due;
    else
        ckp_flow_at(table, flow->previous_due)->next_due = flow->next_due;
    if (flow->next_due != CKP_FLOW_NONE)
        ckp_flow_at(table, flow->next_due)->previous_due = flow->previous_due;
    flow->due_tick = 0;
}

void ckp_flow_table_remove(struct ckp_flow_table *table, uint32_t flow)
{
    struct ckp_flow *removed = ckp_flow_at(table, flow);
    size_t at = ckp_flow_bucket_tag(removed->hash) & table->bucket_mask;

    while (table->buckets[at].flow != flow)
        at = (at + 1) & table->bucket_mask;
    remove_bucket(table, at);
    unschedule(table, removed);
    removed->is_living = false;
    removed->next_due = table->free;
    table->free = flow;
    table->living--;
}

void ckp_flow_table_schedule(struct ckp_flow_table *table, uint32_t flow, int64_t due_ns)
{
    struct ckp_flow *scheduled = ckp_flow_at(table, flow);
    uint64_t tick = ((uint64_t)due_ns >> CKP_WHEEL_TICK_SHIFT) + 1;

    if (tick <= table->wheel_tick)
        tick = table->wheel_tick + 1;
    if (tick >= table->wheel_tick + CKP_WHEEL_SLOTS)
        tick = table->wheel_tick + CKP_WHEEL_SLOTS - 1;
    if (scheduled->due_tick != 0 && scheduled->due_tick <= tick)
        return;

    unschedule(table, scheduled);
    uint32_t *slot = slot_of(table, tick);
    scheduled->due_tick = tick;
    scheduled->previous_due = CKP_FLOW_NONE;
    scheduled->next_due = *slot;
    if (*slot != CKP_FLOW_NONE)
        ckp_flow_at(table, *slot)->previous_due = flow;
    *slot = flow;
}

uint32_t ckp_flow_table_next_due(struct ckp_flow_table *table, int64_t now_ns)
{
    uint64_t now_tick = (uint64_t)now_ns >> CKP_WHEEL_TICK_SHIFT;

    if (table->wheel_tick + CKP_WHEEL_SLOTS < now_tick) /* once around is enough */
        table->wheel_tick = now_tick - CKP_WHEEL_SLOTS;
    for (;;) {
        uint32_t flow = *slot_of(table, table->wheel_tick);
        if (flow != CKP_FLOW_NONE) {
            unschedule(table, ckp_flow_at(table, flow));
            return flow;
        }
        if (table->wheel_tick >= now_tick)
            return CKP_FLOW_NONE;
        table->wheel_tick++;
    }
}
