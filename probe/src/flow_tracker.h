/* SPDX-License-Identifier: Apache-2.0 */
/* PURE. The life of flows: packets -> runs, cut and ended by rules that depend on nothing but the
 * flow's own packets. */
#ifndef CKP_FLOW_TRACKER_H
#define CKP_FLOW_TRACKER_H

#include "batch.h"
#include "capture_clock.h"
#include "decode.h"
#include "flow_table.h"
#include "shedder.h"

/** Replaces the addresses of both ends of a flow, in any order, by those that others may know.
 * Equal addresses stay equal, different ones different. */
typedef void ckp_anonymise_fn(void *anonymiser, struct ckp_address addresses[2], bool is_ipv6);

struct ckp_flow_tracker {
    struct ckp_batcher *batcher;
    struct ckp_counters *counters;
    int64_t idle_ns;        /* silence that ends a flow */
    uint32_t flows_max;     /* beyond which a long silent flow is evicted */
    uint32_t mouse_packets; /* data packets from which a flow is written as runs from the start */
    uint64_t table_seed;
    uint64_t shed_seed;
    uint32_t shed_level; /* see shedder.h */
    struct ckp_flow_table table;
    struct ckp_run_pool pool;
    struct ckp_capture_clock clock;
    uint32_t stray_flows[CKP_CLOCK_STRAYS]; /* those whose packets the clock does not believe yet */
    uint32_t oldest_run;                    /* flows with an open run, in order of opening */
    uint32_t newest_run;
    uint32_t oldest_unproven; /* flows that may be of a flood, in order of their start */
    uint32_t newest_unproven;
    uint32_t unproven;
    uint32_t waiting_runs; /* those among them that are not held */
    uint32_t eviction_hand;
    ckp_anonymise_fn *anonymise;
    void *anonymiser;
    struct ckp_run_copy copy;
    struct ckp_run_copy held; /* of a flow that is held no more */
};

struct ckp_flow_limits {
    int64_t idle_ns;
    uint32_t flows_max;
    uint32_t mouse_packets; /* at most 50; 0: no flow is held */
    size_t run_memory_bytes;
    uint64_t table_seed;         /* random; nothing that is written depends on it */
    uint64_t shed_seed;          /* of the flows' real addresses; the same for all taps */
    ckp_anonymise_fn *anonymise; /* once a flow; NULL: addresses are written as they are */
    void *anonymiser;
};

/** @return false if there is no memory; then nothing is to be freed */
bool ckp_flow_tracker_init(struct ckp_flow_tracker *tracker, const struct ckp_flow_limits *limits,
                           struct ckp_batcher *batcher, struct ckp_counters *counters);
void ckp_flow_tracker_free(struct ckp_flow_tracker *tracker);

/** A packet on its way to its flow. */
struct ckp_tracked {
    struct ckp_packet packet;
    uint64_t hash; /* set by ckp_flow_tracker_expect() */
    uint32_t flow; /* a guess */
};

/**
 * Four calls for each packet, in this order, so that the memory of a burst is fetched while others
 * are worked on. Only the last one has an effect: it adds the packet to its flow, after all that is
 * due at the tap.
 */
void ckp_flow_tracker_expect(const struct ckp_flow_tracker *tracker, struct ckp_tracked *tracked);
void ckp_flow_tracker_approach(const struct ckp_flow_tracker *tracker, struct ckp_tracked *tracked);
void ckp_flow_tracker_reach(const struct ckp_flow_tracker *tracker,
                            const struct ckp_tracked *tracked);
void ckp_flow_tracker_observe(struct ckp_flow_tracker *tracker, const struct ckp_tracked *tracked);

/** Whether the flow is left out at present. */
static inline bool ckp_flow_tracker_sheds(const struct ckp_flow_tracker *tracker,
                                          const struct ckp_flow_key *key)
{
    return tracker->shed_level != 0 &&
           ckp_shed_bucket(key, tracker->shed_seed) < tracker->shed_level;
}

/** In place of ckp_flow_tracker_observe(), for a packet of a flow that is left out: a flow that was
 * watched ends with the packets it had, so that none is missing within it. When it is watched again
 * it is a new one. */
void ckp_flow_tracker_leave_out(struct ckp_flow_tracker *tracker,
                                const struct ckp_tracked *tracked);

/** Does all that is due at the tap at `time_ns`, without a packet. */
void ckp_flow_tracker_pass_time(struct ckp_flow_tracker *tracker, int64_t time_ns);

/** Whether any packet waits in an open run, but those of mice, or any run in an open batch. */
bool ckp_flow_tracker_has_open(const struct ckp_flow_tracker *tracker);

/** Closes all open runs but those of mice, and delivers all open batches; the flows go on. */
void ckp_flow_tracker_release(struct ckp_flow_tracker *tracker);

/** Ends all flows: the capture is over. */
void ckp_flow_tracker_finish(struct ckp_flow_tracker *tracker);

#endif
