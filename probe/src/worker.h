/* SPDX-License-Identifier: Apache-2.0 */
/* PURE. The way of one frame through the probe, whatever it came from. */
#ifndef CKP_WORKER_H
#define CKP_WORKER_H

#include "domain.h"
#include "erspan_clock.h"
#include "flow_tracker.h"
#include "packet_ring.h"

/* 2262-01-01T00:00:00Z: later times would leave no room for sums in 64 bits of nanoseconds. */
#define CKP_TIME_END_SECONDS INT64_C(9214646400)

/** Time of a frame whose stamp lies outside of 1970..2261. */
#define CKP_TIME_OUT_OF_RANGE INT64_C(-1)

#define CKP_WORKER_BURST_MAX 32u

/** A frame that waits for its fate: a counter, or CKP_COUNTERS for a packet to be tracked. */
struct ckp_pending_frame {
    enum ckp_counter fate;
    struct ckp_tracked tracked;
};

/** What the configuration says of all frames. */
struct ckp_frame_reading {
    uint32_t domain;                      /* where no rule says otherwise */
    struct ckp_domain_rules domain_rules; /* borrowed */
    enum ckp_tunnels tunnels;
    enum ckp_erspan_time erspan_time;
    struct ckp_packet_ring *ring; /* remembers the packets of this worker; or NULL */
};

struct ckp_worker {
    struct ckp_frame_reading reading;
    uint32_t pending_count;
    struct ckp_pending_frame pending[CKP_WORKER_BURST_MAX];
    int64_t last_ns;          /* stamp of the last packet */
    int64_t stamp_step_ns;    /* largest power of ten that divides the stamps so far; 0: none yet */
    int64_t release_ns;       /* when open runs and batches go out; 0: not decided */
    int64_t release_clock_ns; /* capture clock when that was decided */
    struct ckp_counters *counters;
    struct ckp_counters own_counters;
    struct ckp_erspan_clocks erspan_clocks;
    struct ckp_batcher batcher;
    struct ckp_flow_tracker tracker;
};

/** @param counters borrowed, and counted on from what they are; NULL: the worker's own
 * @return false if there is no memory; then nothing is to be freed */
bool ckp_worker_init(struct ckp_worker *worker, const struct ckp_frame_reading *reading,
                     const struct ckp_batch_config *batches, const struct ckp_flow_limits *limits,
                     struct ckp_counters *counters, ckp_deliver_fn *deliver, void *sink);
void ckp_worker_free(struct ckp_worker *worker);

/**
 * Takes a frame. It is counted, and its packet tracked, by the time of ckp_worker_flush(), in the
 * order in which frames came: what is written does not depend on when that is.
 */
void ckp_worker_observe(struct ckp_worker *worker, enum ckp_link link,
                        const struct ckp_frame *frame);

/** Takes a frame that the filter leaves out. */
void ckp_worker_leave_out(struct ckp_worker *worker);

/** Tracks all frames taken so far. */
void ckp_worker_flush(struct ckp_worker *worker);

/**
 * For a source that may fall silent, before it waits for frames: tracks all frames taken so far.
 * Once no packet has moved the capture clock for as long as a batch may wait, open runs are closed
 * and open batches delivered: their packets should not wait for a next one, which may never come.
 *
 * @param now_ns of a clock that goes on in silence, not 0
 * @return how many ns later it wants to be called again without frames; INT64_MAX: never
 */
int64_t ckp_worker_before_wait(struct ckp_worker *worker, int64_t now_ns);

/** ckp_worker_observe() in two halves, for those who put packets in order in between: decodes a
 * frame; if that gives no packet it is taken with its fate and the result is false ... */
bool ckp_worker_decode(struct ckp_worker *worker, struct ckp_packet *packet, enum ckp_link link,
                       const struct ckp_frame *frame);
/** ... else the packet has to be handed in here. */
void ckp_worker_take(struct ckp_worker *worker, const struct ckp_packet *packet);

/** For a port: leaves out the flows of the first `level` buckets, see shedder.h. None at first. */
void ckp_worker_shed(struct ckp_worker *worker, uint32_t level);

/** Lets the time go on without a packet; a port's worker needs that. */
void ckp_worker_pass_time(struct ckp_worker *worker, int64_t time_ns);

/** Ends all flows and delivers all batches. */
void ckp_worker_finish(struct ckp_worker *worker);

/** @return CKP_TIME_OUT_OF_RANGE if it is; `nanoseconds` may exceed a second, not be negative */
int64_t ckp_time_ns(int64_t seconds, int64_t nanoseconds);

#endif
