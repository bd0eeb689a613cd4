/* SPDX-License-Identifier: Apache-2.0 */
/* PURE. Memory of all open runs: one block cut into chunks, so that no packet costs an allocation
 * and the sum is bounded whatever the traffic. */
#ifndef CKP_RUN_POOL_H
#define CKP_RUN_POOL_H

#include "columns.h"

#define CKP_CHUNK_NONE  UINT32_MAX
#define CKP_CHUNK_SLOTS 5u

/** A slot holds a segment, or the SACK blocks of the segment in the slot before. */
union ckp_slot {
    struct ckp_segment segment;
    struct ckp_sack_block sack[CKP_SACK_BLOCKS_MAX];
};

/** Four cache lines. */
struct ckp_chunk {
    _Alignas(64) union ckp_slot slot[CKP_CHUNK_SLOTS];
};

struct ckp_run_pool {
    struct ckp_chunk *chunks;
    uint32_t *next; /* of each chunk, in its run or in the free list; apart, so that a walk can look
                       ahead */
    uint32_t chunk_count;
    uint32_t touched; /* chunks from here on were never used: their pages cost nothing yet */
    uint32_t free;
};

/** The open run of one flow: a list of chunks. */
struct ckp_open_run {
    uint32_t first_chunk;
    uint32_t last_chunk;
    uint16_t slots_in_last;
    uint16_t packets;
};

/** Packets of a run in one piece, ready to be encoded. */
struct ckp_run_copy {
    struct ckp_segment segments[CKP_RUN_PACKETS_MAX];
    struct ckp_sack_block sack_blocks[CKP_RUN_PACKETS_MAX * CKP_SACK_BLOCKS_MAX];
};

/** @return false if there is no memory; `bytes` is rounded down to whole chunks */
bool ckp_run_pool_init(struct ckp_run_pool *pool, size_t bytes);
void ckp_run_pool_free(struct ckp_run_pool *pool);

/** Fetches the memory that the next append will write. */
static inline void ckp_open_run_prefetch(const struct ckp_run_pool *pool,
                                         const struct ckp_open_run *run)
{
    if (run->slots_in_last < CKP_CHUNK_SLOTS)
        __builtin_prefetch(&pool->chunks[run->last_chunk].slot[run->slots_in_last], 1);
}

/** Fetches the start of a run that is soon to be taken. */
static inline void ckp_open_run_prefetch_start(const struct ckp_run_pool *pool,
                                               const struct ckp_open_run *run)
{
    if (run->first_chunk == CKP_CHUNK_NONE)
        return;
    const char *lines = (const char *)&pool->chunks[run->first_chunk];
    __builtin_prefetch(&pool->next[run->first_chunk]);
    __builtin_prefetch(lines);
    __builtin_prefetch(lines + 64);
}

void ckp_open_run_reset(struct ckp_open_run *run);

/** Appends a packet. @return false if the pool is exhausted; then nothing has changed */
bool ckp_open_run_append(struct ckp_run_pool *pool, struct ckp_open_run *run,
                         const struct ckp_segment *segment, const struct ckp_sack_block *sack);

/** Copies the packets out, gives the chunks back and resets the run. */
struct ckp_packets ckp_open_run_take(struct ckp_run_pool *pool, struct ckp_open_run *run,
                                     struct ckp_run_copy *copy);

#endif
