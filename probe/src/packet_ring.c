/* SPDX-License-Identifier: Apache-2.0 */
#include "packet_ring.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/*
 * Slots of equal size, frame n in slot n modulo their count. A slot is words that are written and
 * read atomically, each by itself; whether they belong together is told by two counts, as in a
 * sequence lock: `begun` grows before a slot is written and `written` after. What a reader has
 * copied of frame n is whole if frame n + slots had not begun afterwards.
 */
#define WORD          sizeof(uint64_t)
#define HEAD_WORDS    3u /* time; hash; captured bytes, link, original bytes */
#define CACHE_LINE    64u
#define CAPTURED_BITS 16
#define LINK_BITS     16
#define DISORDER_NS   CKP_NANOS_PER_SECOND

_Static_assert(CKP_RING_SNAP_MAX < 1 << CAPTURED_BITS, "a length fits");

struct ckp_packet_ring {
    struct ckp_ring_config config;
    _Atomic uint64_t *words;
    uint64_t slots;
    size_t slot_words;
    uint64_t next;  /* number of the next frame, */
    size_t next_at; /* and the first word of its slot: the writer's own */
    _Alignas(CACHE_LINE) _Atomic uint64_t begun;
    _Atomic uint64_t written;
};

struct ckp_packet_ring *ckp_packet_ring_new(const struct ckp_ring_config *config)
{
    size_t slot_words = HEAD_WORDS + (config->snap_bytes + WORD - 1) / WORD;
    uint64_t slots = config->memory_bytes / (slot_words * WORD);
    struct ckp_packet_ring *ring = aligned_alloc(CACHE_LINE, sizeof *ring);

    if (!ring)
        return NULL;
    *ring = (struct ckp_packet_ring){.config = *config, .slots = slots, .slot_words = slot_words};
    ring->words = slots > 0 ? malloc(slots * slot_words * WORD) : NULL;
    if (!ring->words) {
        free(ring);
        return NULL;
    }
    /* Now, not by page faults of the thread that receives. */
    for (size_t i = 0; i < slots * slot_words; i++)
        atomic_store_explicit(&ring->words[i], 0, memory_order_relaxed);
    return ring;
}

void ckp_packet_ring_free(struct ckp_packet_ring *ring)
{
    if (ring)
        free(ring->words);
    free(ring);
}

uint64_t ckp_packet_ring_capacity(const struct ckp_packet_ring *ring)
{
    return ring->slots;
}

static void store_word(_Atomic uint64_t *word, uint64_t value)
{
    atomic_store_explicit(word, value, memory_order_relaxed);
}

static uint64_t load_word(const _Atomic uint64_t *word)
{
    return atomic_load_explicit(word, memory_order_relaxed);
}

static void store_bytes(_Atomic uint64_t *words, const uint8_t *bytes, size_t count)
{
    uint64_t value;

    for (; count >= WORD; bytes += WORD, count -= WORD) {
        memcpy(&value, bytes, WORD);
        store_word(words++, value);
    }
    if (count == 0)
        return;
    value = 0;
    memcpy(&value, bytes, count);
    store_word(words, value);
}

static size_t bytes_kept(const struct ckp_packet_ring *ring, const struct ckp_frame *frame,
                         const struct ckp_packet *packet)
{
    size_t bytes = frame->captured_bytes;

    if (!ring->config.keeps_payload && bytes > packet->payload_at)
        bytes = packet->payload_at;
    return bytes < ring->config.snap_bytes ? bytes : ring->config.snap_bytes;
}

static void step(struct ckp_packet_ring *ring)
{
    ring->next++;
    ring->next_at += ring->slot_words;
    if (ring->next_at == ring->slots * ring->slot_words)
        ring->next_at = 0;
    const char *slot = (const char *)&ring->words[ring->next_at];
    __builtin_prefetch(slot, 1);
    __builtin_prefetch(slot + CACHE_LINE, 1);
}

void ckp_packet_ring_put(struct ckp_packet_ring *ring, enum ckp_link link,
                         const struct ckp_frame *frame, const struct ckp_packet *packet)
{
    _Atomic uint64_t *slot = &ring->words[ring->next_at];
    size_t captured_bytes = bytes_kept(ring, frame, packet);

    atomic_store_explicit(&ring->begun, ring->next + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    store_word(&slot[0], (uint64_t)frame->time_ns);
    store_word(&slot[1], ckp_flow_key_table_hash(&packet->key, ring->config.hash_seed));
    store_word(&slot[2], captured_bytes | (uint64_t)link << CAPTURED_BITS |
                             (uint64_t)frame->original_bytes << (CAPTURED_BITS + LINK_BITS));
    store_bytes(slot + HEAD_WORDS, frame->bytes, captured_bytes);
    atomic_store_explicit(&ring->written, ring->next + 1, memory_order_release);
    step(ring);
}

/* After reading: whether the writer had not come back to that frame's slot. */
static bool is_whole(const struct ckp_packet_ring *ring, uint64_t number)
{
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(&ring->begun, memory_order_relaxed) - number <= ring->slots;
}

static const _Atomic uint64_t *slot_of(const struct ckp_packet_ring *ring, uint64_t number)
{
    return &ring->words[number % ring->slots * ring->slot_words];
}

int64_t ckp_packet_ring_newest_ns(const struct ckp_packet_ring *ring)
{
    uint64_t written = atomic_load_explicit(&ring->written, memory_order_acquire);

    return written == 0 ? INT64_MIN : (int64_t)load_word(slot_of(ring, written - 1));
}

void ckp_ring_walk_start(struct ckp_ring_walk *walk, const struct ckp_packet_ring *ring,
                         const struct ckp_flow_key *key, int64_t since_ns)
{
    uint64_t written = atomic_load_explicit(&ring->written, memory_order_acquire);

    *walk = (struct ckp_ring_walk){
        .ring = ring,
        .hash = ckp_flow_key_table_hash(key, ring->config.hash_seed),
        .end = written,
        .start = written > ring->slots ? written - ring->slots : 0,
        .since_ns = since_ns,
        .oldest_ns = INT64_MAX,
    };
}

static void load_frame(struct ckp_ring_frame *frame, const _Atomic uint64_t *slot)
{
    uint64_t lengths = load_word(&slot[2]);

    frame->time_ns = (int64_t)load_word(&slot[0]);
    frame->captured_bytes = (uint32_t)(lengths & ((1u << CAPTURED_BITS) - 1));
    frame->link = (enum ckp_link)(lengths >> CAPTURED_BITS & ((1u << LINK_BITS) - 1));
    frame->original_bytes = (uint32_t)(lengths >> (CAPTURED_BITS + LINK_BITS));
    for (size_t i = 0; i * WORD < frame->captured_bytes; i++)
        frame->words[i] = load_word(&slot[HEAD_WORDS + i]);
}

/* What is not of the flow is not checked to be whole, for that takes a cache line from the writer:
 * its time is that of one frame in any case, if not of the one that was meant then of a newer. */
bool ckp_ring_walk_next(struct ckp_ring_walk *walk, struct ckp_ring_frame *frame)
{
    const struct ckp_packet_ring *ring = walk->ring;

    while (walk->end > walk->start) {
        uint64_t number = --walk->end;
        const _Atomic uint64_t *slot = slot_of(ring, number);
        int64_t time_ns = (int64_t)load_word(&slot[0]);
        if (time_ns < walk->oldest_ns)
            walk->oldest_ns = time_ns;
        if (time_ns < walk->since_ns - DISORDER_NS)
            break;
        if (load_word(&slot[1]) != walk->hash)
            continue;
        load_frame(frame, slot);
        if (!is_whole(ring, number))
            break;
        if (frame->time_ns >= walk->since_ns)
            return true;
    }
    walk->end = walk->start;
    return false;
}
