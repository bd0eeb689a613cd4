/* SPDX-License-Identifier: Apache-2.0 */
/* What really happened on the path: how full the bottleneck was and the fate of every frame, by
 * flow. */
#ifndef CKP_TESTBED_GROUND_TRUTH_H
#define CKP_TESTBED_GROUND_TRUTH_H

#include <stdbool.h>
#include <stdio.h>

#include "frame.h"

#define CKP_QUEUE_BIN_NS (10 * NANOS_PER_MILLI)
#define CKP_MAX_STALLS 1024

/** The bottleneck during one bin. */
struct ckp_queue_bin {
    int32_t min_bytes;
    int32_t max_bytes;
    int32_t busy_ns; /* time the link was sending */
    int32_t num_drops;
};

/** What one flow sent over the bottleneck during one bin, and lost on the path. */
struct ckp_flow_bin {
    uint32_t num_frames;
    uint32_t bytes;
    uint32_t num_drops;
};

/** A lost frame of the data direction. */
struct ckp_drop {
    int64_t at_ns;
    uint32_t sequence_number;
    uint32_t payload_bytes;
    uint16_t flow;
    uint8_t fate;
};

struct ckp_flow_fates {
    uint8_t key[37]; /* IP version, then addresses and ports as on the wire */
    size_t key_bytes;
    uint64_t num_frames[CKP_NUM_FATES];
    uint64_t bytes[CKP_NUM_FATES];
    struct ckp_flow_bin *bins; /* of the data direction */
    size_t num_bins;
    size_t bins_capacity;
};

struct ckp_stall {
    int64_t emulated_ns;
    int64_t duration_ns;
};

struct ckp_ground_truth {
    struct ckp_queue_bin *bins;
    size_t num_bins; /* the last one is still open */
    size_t bins_capacity;
    int32_t queue_bytes;
    struct ckp_flow_fates flows[CKP_MAX_FLOWS]; /* in the direction of each frame */
    size_t num_flows;
    struct ckp_drop *drops;
    size_t num_drops;
    size_t drops_capacity;
    struct ckp_stall stalls[CKP_MAX_STALLS];
    uint64_t num_stalls; /* may exceed the array, then the later ones are only counted */
    int64_t stalled_ns;
    int64_t max_lateness_ns;
    int64_t sum_lateness_ns;
    uint64_t num_events;
    uint64_t num_undelivered; /* frames the receiving interface refused */
};

/** Sets how many bytes wait at the bottleneck from `now_ns` on. */
void ckp_truth_queue(struct ckp_ground_truth *truth, int64_t now_ns, int32_t queue_bytes);

/** Books the time from `start_ns` to `end_ns` as busy. */
void ckp_truth_busy(struct ckp_ground_truth *truth, int64_t start_ns, int64_t end_ns);

/** The row of the frame's flow; the last one collects what does not fit. */
uint16_t ckp_truth_flow(struct ckp_ground_truth *truth, const struct ckp_frame *frame);

/** Whether one end of the flow has this port. */
bool ckp_truth_has_port(const struct ckp_ground_truth *truth, uint16_t flow, uint16_t port);

void ckp_truth_fate(struct ckp_ground_truth *truth, const struct ckp_frame *frame,
                    enum ckp_fate fate);

/** Books a frame that the path loses as `fate`. */
void ckp_truth_drop(struct ckp_ground_truth *truth, int64_t now_ns, const struct ckp_frame *frame,
                    enum ckp_fate fate);

/** Books a frame that leaves the bottleneck. */
void ckp_truth_carried(struct ckp_ground_truth *truth, int64_t now_ns,
                       const struct ckp_frame *frame);

void ckp_truth_stall(struct ckp_ground_truth *truth, int64_t emulated_ns, int64_t duration_ns);

/** Writes one JSON object; `start_ns` is emulated time 0 in the Unix epoch, here and below. */
void ckp_truth_write_json(const struct ckp_ground_truth *truth, int64_t start_ns, FILE *file);

/** Writes one CSV row per bin. */
void ckp_truth_write_queue(const struct ckp_ground_truth *truth, int64_t start_ns, FILE *file);

/** Writes one CSV row per bin and flow that sent or lost something in it. */
void ckp_truth_write_link(const struct ckp_ground_truth *truth, int64_t start_ns, FILE *file);

/** Writes one CSV row per lost frame. */
void ckp_truth_write_drops(const struct ckp_ground_truth *truth, int64_t start_ns, FILE *file);

void ckp_truth_free(struct ckp_ground_truth *truth);

#endif
