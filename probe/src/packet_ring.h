/* SPDX-License-Identifier: Apache-2.0 */
/* PURE. The first bytes of the newest packets, of all flows, in memory of a fixed size; the idea of
 * FlowScope (Emmerich et al., 2017). One thread writes, any may read meanwhile: the writer never
 * waits, and a reader notices what was overwritten under its hands.
 */
#ifndef CKP_PACKET_RING_H
#define CKP_PACKET_RING_H

#include "decode.h"

#define CKP_RING_SNAP_MAX 2048u

struct ckp_packet_ring;

struct ckp_ring_config {
    uint64_t memory_bytes;
    uint32_t snap_bytes; /* of a frame, at most CKP_RING_SNAP_MAX */
    bool keeps_payload;  /* false: frames end with their TCP header */
    uint64_t hash_seed;  /* unknown to those who write the packets */
};

/** A frame as it is remembered. */
struct ckp_ring_frame {
    int64_t time_ns;
    uint32_t captured_bytes;
    uint32_t original_bytes;
    enum ckp_link link;
    union {
        uint8_t bytes[CKP_RING_SNAP_MAX];
        uint64_t words[CKP_RING_SNAP_MAX / sizeof(uint64_t)];
    };
};

/** All memory is taken, and touched, at once. @return NULL if there is none, or not for one frame
 */
struct ckp_packet_ring *ckp_packet_ring_new(const struct ckp_ring_config *config);
void ckp_packet_ring_free(struct ckp_packet_ring *ring);

/** The writer's: remembers a packet as it was decoded, and the frame it came in, in place of the
 * oldest. */
void ckp_packet_ring_put(struct ckp_packet_ring *ring, enum ckp_link link,
                         const struct ckp_frame *frame, const struct ckp_packet *packet);

/** How many frames it can hold. */
uint64_t ckp_packet_ring_capacity(const struct ckp_packet_ring *ring);

/** @return the time of the newest frame, INT64_MIN if there is none yet */
int64_t ckp_packet_ring_newest_ns(const struct ckp_packet_ring *ring);

/** A reader's walk through the frames of one flow. */
struct ckp_ring_walk {
    const struct ckp_packet_ring *ring;
    uint64_t hash;
    uint64_t end; /* the next to be looked at is the one before */
    uint64_t start;
    int64_t since_ns;
    int64_t oldest_ns; /* time of the oldest frame looked at, whatever its flow */
};

void ckp_ring_walk_start(struct ckp_ring_walk *walk, const struct ckp_packet_ring *ring,
                         const struct ckp_flow_key *key, int64_t since_ns);

/**
 * The next frame of the flow not older than `since_ns`, from the newest to the oldest that has come
 * by the start of the walk. Frames are looked for until one is a second older than that: feeds are
 * out of order by less.
 *
 * @return false if there is no other, or the writer has come round
 */
bool ckp_ring_walk_next(struct ckp_ring_walk *walk, struct ckp_ring_frame *frame);

#endif
