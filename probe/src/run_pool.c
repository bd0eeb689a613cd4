/* SPDX-License-Identifier: Apache-2.0 */
#include "run_pool.h"

#include <stdlib.h>
#include <string.h>

/* Chunks fetched ahead of the one that is copied: memory takes as long as some chunks' work. */
#define CHUNKS_AHEAD 8

_Static_assert(sizeof(struct ckp_segment) == 48, "a slot should hold a segment without waste");
_Static_assert(sizeof(union ckp_slot) == 48, "SACK blocks should fit into a segment's slot");

bool ckp_run_pool_init(struct ckp_run_pool *pool, size_t bytes)
{
    size_t count = bytes / (sizeof(struct ckp_chunk) + sizeof pool->next[0]);

    if (count >= CKP_CHUNK_NONE)
        count = CKP_CHUNK_NONE - 1;
    *pool = (struct ckp_run_pool){
        .chunks = aligned_alloc(_Alignof(struct ckp_chunk), count * sizeof(struct ckp_chunk)),
        .next = malloc(count * sizeof pool->next[0]),
        .chunk_count = (uint32_t)count,
        .free = CKP_CHUNK_NONE,
    };
    if (pool->chunks && pool->next)
        return true;
    ckp_run_pool_free(pool);
    return false;
}

void ckp_run_pool_free(struct ckp_run_pool *pool)
{
    free(pool->chunks);
    free(pool->next);
    pool->chunks = NULL;
    pool->next = NULL;
}

static uint32_t take_chunk(struct ckp_run_pool *pool)
{
    uint32_t chunk = pool->free;

    if (chunk != CKP_CHUNK_NONE)
        pool->free = pool->next[chunk];
    else if (pool->touched < pool->chunk_count)
        chunk = pool->touched++;
    return chunk;
}

void ckp_open_run_reset(struct ckp_open_run *run)
{
    *run = (struct ckp_open_run){
        .first_chunk = CKP_CHUNK_NONE,
        .last_chunk = CKP_CHUNK_NONE,
        .slots_in_last = CKP_CHUNK_SLOTS,
    };
}

/* Makes room for `slots` more, which is at most one chunk more. */
static bool reserve(struct ckp_run_pool *pool, struct ckp_open_run *run, uint32_t slots)
{
    if (run->slots_in_last + slots <= CKP_CHUNK_SLOTS)
        return true;

    uint32_t chunk = take_chunk(pool);
    if (chunk == CKP_CHUNK_NONE)
        return false;
    pool->next[chunk] = CKP_CHUNK_NONE;
    if (run->last_chunk == CKP_CHUNK_NONE)
        run->first_chunk = chunk;
    else
        pool->next[run->last_chunk] = chunk;
    if (run->slots_in_last < CKP_CHUNK_SLOTS) /* SACK blocks go with their segment: mark the gap */
        pool->chunks[run->last_chunk].slot[run->slots_in_last].segment.time_ns = -1;
    run->last_chunk = chunk;
    run->slots_in_last = 0;
    return true;
}

bool ckp_open_run_append(struct ckp_run_pool *pool, struct ckp_open_run *run,
                         const struct ckp_segment *segment, const struct ckp_sack_block *sack)
{
    if (!reserve(pool, run, segment->sack_blocks ? 2 : 1))
        return false;

    union ckp_slot *slot = &pool->chunks[run->last_chunk].slot[run->slots_in_last];
    slot[0].segment = *segment;
    run->slots_in_last++;
    if (segment->sack_blocks) {
        memcpy(slot[1].sack, sack, sizeof slot[1].sack);
        run->slots_in_last++;
    }
    run->packets++;
    return true;
}

/* Fetches a chunk and returns the one after. */
static uint32_t prefetch_chunk(const struct ckp_run_pool *pool, uint32_t chunk)
{
    if (chunk == CKP_CHUNK_NONE)
        return chunk;
    for (size_t line = 0; line < sizeof(struct ckp_chunk); line += 64)
        __builtin_prefetch((const char *)&pool->chunks[chunk] + line);
    return pool->next[chunk];
}

/* Copies one chunk's packets, of which there may be more than `left`: the rest was never set. */
static uint32_t copy_chunk(struct ckp_run_copy *copy, uint32_t at, uint32_t *sack_at,
                           const struct ckp_chunk *chunk, uint32_t packets)
{
    for (uint32_t i = 0; i < CKP_CHUNK_SLOTS && at < packets; i++) {
        const struct ckp_segment *segment = &chunk->slot[i].segment;
        if (segment->time_ns < 0)
            break;
        copy->segments[at++] = *segment;
        if (segment->sack_blocks) {
            i++;
            memcpy(copy->sack_blocks + *sack_at, chunk->slot[i].sack,
                   segment->sack_blocks * sizeof chunk->slot[i].sack[0]);
            *sack_at += segment->sack_blocks;
        }
    }
    return at;
}

struct ckp_packets ckp_open_run_take(struct ckp_run_pool *pool, struct ckp_open_run *run,
                                     struct ckp_run_copy *copy)
{
    uint32_t at = 0, sack_at = 0, ahead = run->first_chunk;

    for (int i = 0; i < CHUNKS_AHEAD; i++)
        ahead = prefetch_chunk(pool, ahead);
    for (uint32_t chunk = run->first_chunk; chunk != CKP_CHUNK_NONE; chunk = pool->next[chunk]) {
        ahead = prefetch_chunk(pool, ahead);
        at = copy_chunk(copy, at, &sack_at, &pool->chunks[chunk], run->packets);
    }
    if (run->last_chunk != CKP_CHUNK_NONE) {
        pool->next[run->last_chunk] = pool->free;
        pool->free = run->first_chunk;
    }
    ckp_open_run_reset(run);
    return (struct ckp_packets){
        .segments = copy->segments, .sack_blocks = copy->sack_blocks, .count = at};
}
