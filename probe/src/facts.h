/* SPDX-License-Identifier: Apache-2.0 */
/* What --check has found out, for doctor.c to judge. Negative numbers that can not be: not known.
 */
#ifndef CKP_FACTS_H
#define CKP_FACTS_H

#include "metrics.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CKP_FACTS_WHY_BYTES 512
#define CKP_NAME_TEXT_BYTES 64
#define CKP_LIST_TEXT_BYTES 256

/** Huge pages of one size on one NUMA node. */
struct ckp_huge_pages_fact {
    int node;
    uint64_t page_kib;
    uint64_t pages;
    uint64_t free_pages;
};

/** A core that DPDK is to use. */
struct ckp_core_fact {
    unsigned id;
    int node;
    bool is_online;
    bool is_isolated;
    char governor[CKP_NAME_TEXT_BYTES]; /* of its frequency; empty: not known */
};

/** How frames are spread over queues. */
struct ckp_spread_fact {
    int queues;
    int queues_max;
    bool are_combined;          /* each with one to send; the kernel tells the two apart */
    bool is_symmetric_function; /* with any key */
    uint8_t key[256];           /* of Toeplitz */
    size_t key_bytes;           /* 0: not known */
};

/** An interface of the kernel. */
struct ckp_interface_fact {
    bool is_there;
    bool is_up;
    bool has_carrier;
    int gro; /* 0, 1 */
    int lro;
    int64_t ring;
    int64_t ring_max;
    struct ckp_spread_fact spread;
};

/** A card by its PCI address. */
struct ckp_card_fact {
    bool is_there;
    bool has_iommu_group;
    char driver[CKP_NAME_TEXT_BYTES]; /* it is bound to; empty: none */
};

enum ckp_port_kind {
    CKP_PORT_OTHER, /* net_null and the like */
    CKP_PORT_PCAP,
    CKP_PORT_AF_PACKET,
    CKP_PORT_AF_XDP,
    CKP_PORT_CARD,
};

struct ckp_port_fact {
    const char *spec;
    enum ckp_port_kind kind;
    char device[CKP_NAME_TEXT_BYTES]; /* interface or PCI address; empty: none */
    int node;
    char cores_of_node[CKP_LIST_TEXT_BYTES]; /* as 0-7,16-23 */
    int64_t ring_frames;                     /* of af_packet */
    struct ckp_interface_fact interface;
    struct ckp_card_fact card;
    /* of its driver, once it is open */
    char driver[CKP_NAME_TEXT_BYTES];
    int64_t descriptors;
};

#define CKP_FACTS_PORTS_MAX 8
#define CKP_FACTS_PAGES_MAX 32
#define CKP_FACTS_CORES_MAX 64

struct ckp_topic_fact {
    const char *name;
    bool is_there;
    char why_not[CKP_FACTS_WHY_BYTES];
    uint32_t partitions;
    uint32_t without_leader;
    uint32_t replicas;    /* the fewest of a partition */
    bool has_settings;    /* else it may not be asked for them */
    int64_t retention_ms; /* -1: for ever */
    bool is_compacted;
};

struct ckp_kafka_fact {
    const char *brokers; /* NULL: not asked for */
    bool is_reachable;
    char why_not[CKP_FACTS_WHY_BYTES];
    uint32_t broker_count;
    uint64_t partitions_wanted; /* 0: as many as there are */
    struct ckp_topic_fact batches;
    struct ckp_topic_fact schemas;
};

/** A file that the probe opens at its start. */
struct ckp_file_fact {
    const char *path;                  /* NULL: not asked for */
    char why_not[CKP_FACTS_WHY_BYTES]; /* empty: it can be used, or made */
};

struct ckp_facts {
    bool is_root;
    /* of the options */
    bool needs_huge_pages;
    bool needs_hugetlbfs;
    uint64_t memory_needed_mib;
    int64_t idle_sleep_ns;
    /* of the machine */
    struct ckp_huge_pages_fact huge_pages[CKP_FACTS_PAGES_MAX];
    size_t huge_pages_count;
    bool has_hugetlbfs;
    struct ckp_core_fact cores[CKP_FACTS_CORES_MAX]; /* of -l in --eal, else the first */
    size_t core_count;
    bool has_chosen_cores;
    char cores_online[CKP_LIST_TEXT_BYTES];
    unsigned iommu_groups;
    bool has_vfio;
    int64_t locked_memory_kib; /* how much may be; INT64_MAX: no limit */
    int64_t backlog_packets;   /* of a core, between the card's driver and the port */
    int64_t backlog_dropped;   /* since the start of the machine */
    struct ckp_clock_status clock;
    /* of the ports */
    struct ckp_port_fact ports[CKP_FACTS_PORTS_MAX];
    size_t port_count;
    bool are_ports_open;
    bool are_ports_stamped; /* by the kernel, all of them */
    char why_not_open[CKP_FACTS_WHY_BYTES];
    uint32_t workers;
    uint32_t queues; /* of each port, once open */
    bool are_queues_trusted;
    char why_one_queue[CKP_FACTS_WHY_BYTES]; /* though each worker wants one */
    struct ckp_file_fact filter;
    /* of what the probe writes to; NULL: not asked for */
    const char *anonymise_key;
    char why_no_key[CKP_FACTS_WHY_BYTES];
    const char *metrics;
    char why_no_metrics[CKP_FACTS_WHY_BYTES];
    struct ckp_file_fact ring_key;
    struct ckp_file_fact ring_audit;
    struct ckp_file_fact ledger;
    struct ckp_file_fact output;
    struct ckp_kafka_fact kafka;
};

#endif
