/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One worker's thread. It runs to completion: receive, decode, track, encode, hand over to the
 * output. Nothing in it may wait but the sleep of an idle loop, for the queue overflows meanwhile.
 *
 * Where cards can spread flows each worker has queue i of every port. Else the first one receives
 * and decodes all, and hands the packets of other workers' flows to them.
 */
#ifndef CKP_RECEIVER_H
#define CKP_RECEIVER_H

#include "filter_watch.h"
#include "handoff.h"
#include "merge.h"
#include "output.h"
#include "shedder.h"
#include "source_dpdk.h"

/** What all workers have in common. */
struct ckp_reception {
    const volatile sig_atomic_t *stop;
    _Atomic bool has_failed;  /* an output takes nothing more, or a port is gone: all end */
    _Atomic size_t gone_port; /* whose interface is gone, counted from 1; 0: none */
    struct ckp_ports *ports;
    struct ckp_filter_watch *filter;
    struct ckp_output *output;
    int64_t idle_sleep_ns;
    uint32_t worker_count;
    uint64_t spread_seed; /* of the hash that says whose a flow is */
    bool may_shed;
    _Atomic uint32_t
        shed_level[CKP_WORKERS_MAX]; /* that each asks for: the highest holds for all */
    _Atomic uint64_t frames_received[CKP_WORKERS_MAX];
};

struct ckp_receiver {
    struct ckp_reception *reception;
    struct ckp_worker *worker;
    const struct ckp_filter *filter; /* of this turn of the loop; or NULL */
    uint32_t index;
    bool is_handed_packets;      /* by the first receiver, instead of receiving frames */
    struct ckp_handoff handoff;  /* if so */
    struct ckp_receiver *others; /* of the first receiver, if it hands on packets: all, itself as
                                    well; else NULL */
    struct ckp_merge merge;      /* of two or more ports */
    struct ckp_shedder shedder;
    int64_t ports_read_ns;
    int64_t tended_ns;
};

/** @param receivers as many as there are workers; `index` of them is initialised
 * @return false if there is no memory; then nothing is to be freed */
bool ckp_receiver_init(struct ckp_receiver *receivers, uint32_t index,
                       struct ckp_reception *reception, struct ckp_worker *worker);
void ckp_receiver_free(struct ckp_receiver *receiver);

/** Once round the loop: takes a burst, and does what is due. @return how many frames or packets */
size_t ckp_receiver_turn(struct ckp_receiver *receiver);

/** Runs until the probe is told to end or an output fails, then takes for a bounded time what still
 * lies in the queues, and ends all flows. @param receiver a struct ckp_receiver @return 0 */
int ckp_receiver_run(void *receiver);

#endif
