/* SPDX-License-Identifier: Apache-2.0 */
/* Network ports through DPDK: real cards, and interfaces of the kernel by way of net_pcap or
 * net_af_packet. */
#ifndef CKP_SOURCE_DPDK_H
#define CKP_SOURCE_DPDK_H

#include "batch.h"
#include "decode.h"
#include "vitals.h"

#define CKP_BURST_MAX 64u

struct ckp_ports;

/** Whether each worker may have a queue of its own, which needs a card that gives both directions
 * of a flow the same one. */
enum ckp_queues {
    CKP_QUEUES_VERIFIED, /* if the driver says that it does as it was told */
    CKP_QUEUES_TRUSTED,  /* whatever it says */
    CKP_QUEUES_ONE,      /* never */
};

struct ckp_ports_wish {
    const char *const *specs; /* device names with arguments, as "net_pcap0,rx_iface_in=eth0", or
                                 PCI addresses */
    size_t count;
    const char *eal_arguments; /* of DPDK itself, split at spaces */
    uint32_t workers;
    enum ckp_queues queues;
};

/** Starts DPDK and the ports. @return NULL with one sentence in `why` */
struct ckp_ports *ckp_ports_open(const struct ckp_ports_wish *wish, char *why, size_t why_size);
void ckp_ports_close(struct ckp_ports *ports);

/** Of each port: one for each worker, or one in all. */
uint32_t ckp_ports_queues(const struct ckp_ports *ports);

/** If there is but one though more were wanted: port and cause. */
const char *ckp_ports_why_one_queue(const struct ckp_ports *ports);

size_t ckp_ports_count(const struct ckp_ports *ports);

/** Who stamps the frames of all ports: the least of them. */
enum ckp_timestamp_source ckp_ports_timestamp_source(const struct ckp_ports *ports);

/**
 * Takes the frames that have come to a port's queue, up to CKP_BURST_MAX; never waits. Each queue
 * has one thread that does.
 *
 * @return how many; their bytes are valid until the next call for this queue
 */
size_t ckp_ports_receive(struct ckp_ports *ports, size_t port, uint32_t queue,
                         struct ckp_frame *frames);

/** What all ports have counted since they were opened; ports that there are not count nothing. Of
 * one thread, and not for every burst: it asks drivers and the kernel. */
void ckp_ports_read(const struct ckp_ports *ports, struct ckp_tap_reading *reading);

/** Names of what a port's driver counts beside. @return how many */
size_t ckp_ports_extended(const struct ckp_ports *ports, size_t port, const char *const **names);

#endif
