/* SPDX-License-Identifier: Apache-2.0 */
#include "source_dpdk.h"

#include "clock.h"
#include "eal.h"
#include "interfaces.h"
#include "rss.h"

#include <errno.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>
#include <rte_mempool.h>
#include <rte_prefetch.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUFFERS          16383u /* 36 MB a port; a power of 2 less 1 wastes no memory */
#define BUFFER_CACHE     256u
#define WHY_BYTES_MAX    512
#define RECEIVE_QUEUE    4096u
#define NANOS_PER_MICRO  1000
#define BITS_PER_MEGABIT UINT64_C(1000000)

/* What one worker receives by; no other touches its cache lines. */
struct queue {
    _Alignas(64) struct rte_mbuf *burst[CKP_BURST_MAX];
    uint16_t burst_count;
    _Atomic uint64_t received;
};

struct port {
    uint16_t id;
    struct queue *queues;
    struct rte_mempool *buffers;
    bool is_stamped; /* by the kernel, in microseconds */
    bool is_af_xdp;
    bool counts_losses;                 /* else they are deduced from the interface's own counter */
    char interface[64];                 /* of the kernel; empty if none is known */
    struct ckp_interface_frames before; /* when it was opened */
    struct rte_eth_xstat_name extended[CKP_PORT_EXTENDED_MAX];
    const char *extended_name[CKP_PORT_EXTENDED_MAX];
    uint64_t extended_id[CKP_PORT_EXTENDED_MAX];
    unsigned extended_count;
};

struct ckp_ports {
    struct port ports[CKP_PORTS_MAX];
    size_t count;
    uint32_t queues; /* of each port */
    char why_one_queue[WHY_BYTES_MAX];
    bool is_started;                   /* DPDK itself */
    size_t stamp_offset;               /* in a buffer */
    uint64_t stamp_flag;               /* 0 if no driver stamps */
    struct ckp_interfaces *interfaces; /* or NULL */
};

static void copy_until_comma(char *out, size_t size, const char *text)
{
    size_t bytes = strcspn(text, ",");

    if (bytes >= size)
        bytes = size - 1;
    memcpy(out, text, bytes);
    out[bytes] = '\0';
}

/* The interface of the kernel behind a device, from its arguments. */
static void find_interface(struct port *port, const char *spec)
{
    static const char *const names[] = {",rx_iface_in=", ",rx_iface=", ",iface="};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *at = strstr(spec, names[i]);
        if (!at)
            continue;
        copy_until_comma(port->interface, sizeof port->interface, at + strlen(names[i]));
        return;
    }
}

static int set_up_queues(struct port *port, uint32_t queues)
{
    uint16_t descriptors = RECEIVE_QUEUE, none = 0;
    int error = rte_eth_dev_adjust_nb_rx_tx_desc(port->id, &descriptors, &none);

    for (uint16_t queue = 0; error == 0 && queue < queues; queue++)
        error =
            rte_eth_rx_queue_setup(port->id, queue, descriptors,
                                   (unsigned)rte_eth_dev_socket_id(port->id), NULL, port->buffers);
    for (uint16_t queue = 0; error == 0 && port->is_af_xdp && queue < queues; queue++)
        error = rte_eth_tx_queue_setup(port->id, queue, descriptors,
                                       (unsigned)rte_eth_dev_socket_id(port->id), NULL);
    return error;
}

static int start(struct port *port, const struct rte_eth_conf *conf, uint32_t queues)
{
    /* Its driver wants a queue to send by for each to receive by. */
    int error = rte_eth_dev_configure(port->id, (uint16_t)queues,
                                      port->is_af_xdp ? (uint16_t)queues : 0, conf);

    if (error == 0)
        error = set_up_queues(port, queues);
    if (error == 0)
        error = rte_eth_dev_start(port->id);
    if (error == 0)
        rte_eth_promiscuous_enable(port->id); /* devices that cannot need not */
    return error;
}

/* These come with as many queues as their arguments say. What the kernel spreads over those of
 * net_af_packet it moves to another one as soon as one is full; the others are interfaces each. */
static bool must_be_read_by_one(const struct rte_eth_dev_info *info)
{
    static const char *const drivers[] = {"net_pcap", "net_af_packet", "net_af_xdp"};

    for (size_t i = 0; i < sizeof drivers / sizeof drivers[0]; i++)
        if (strcmp(info->driver_name, drivers[i]) == 0)
            return true;
    return false;
}

/* Finds device and buffers. */
static bool open_port(struct port *port, const char *spec, char *why, size_t why_size)
{
    char name[RTE_ETH_NAME_MAX_LEN];
    struct rte_eth_dev_info info;

    copy_until_comma(name, sizeof name, spec);
    if (rte_eth_dev_get_port_by_name(name, &port->id) != 0 ||
        rte_eth_dev_info_get(port->id, &info) != 0) {
        snprintf(why, why_size, "port %s cannot be opened: no such device", spec);
        return false;
    }
    if (must_be_read_by_one(&info) && info.max_rx_queues > 1) {
        snprintf(
            why, why_size,
            "port %s cannot be opened: it has %u queues, which keep no flow together, expected "
            "one",
            spec, info.max_rx_queues);
        return false;
    }
    find_interface(port, spec);
    port->is_stamped = strcmp(info.driver_name, "net_pcap") == 0;
    port->is_af_xdp = strcmp(info.driver_name, "net_af_xdp") == 0;
    port->counts_losses = strcmp(info.driver_name, "net_af_packet") != 0 && !port->is_af_xdp;
    snprintf(name, sizeof name, "buffers%u", port->id);
    port->buffers = rte_pktmbuf_pool_create(name, BUFFERS, BUFFER_CACHE, 0,
                                            RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
    if (!port->buffers)
        snprintf(why, why_size, "port %s cannot be started: no memory for its buffers, see --eal",
                 spec);
    return port->buffers != NULL;
}

/* @return 0 and a clause in `why` if the port does not hash as it should, a DPDK error, or 1 */
static int start_hashing(struct port *port, uint32_t queues, bool is_trusted, char *why,
                         size_t why_size)
{
    struct rte_eth_dev_info info;
    struct rte_eth_conf conf = {0};
    int error = rte_eth_dev_info_get(port->id, &info);

    if (error != 0)
        return error;
    if (!ckp_rss_request(&conf, &info, queues, why, why_size) && !is_trusted)
        return 0;
    error = start(port, &conf, queues);
    if (error != 0)
        return error;
    return is_trusted || ckp_rss_verify(port->id, &info, queues, why, why_size);
}

static bool start_port(struct port *port, const char *spec, uint32_t queues, char *why,
                       size_t why_size)
{
    const struct rte_eth_conf conf = {0};
    int error = start(port, &conf, queues);

    if (error)
        snprintf(why, why_size, "port %s cannot be started: %s", spec, strerror(-error));
    return error == 0;
}

/* Starts all ports with a queue for each worker. @return whether every one hashes as it should */
static bool start_with_queues(struct ckp_ports *ports, const struct ckp_ports_wish *wish)
{
    for (size_t i = 0; i < ports->count; i++) {
        char clause[128] = "";
        int result = start_hashing(&ports->ports[i], wish->workers,
                                   wish->queues == CKP_QUEUES_TRUSTED, clause, sizeof clause);
        if (result > 0)
            continue;
        snprintf(ports->why_one_queue, sizeof ports->why_one_queue, "%s: %s", wish->specs[i],
                 result < 0 ? strerror(-result) : clause);
        for (size_t started = 0; started <= i; started++)
            rte_eth_dev_stop(ports->ports[started].id);
        return false;
    }
    return true;
}

static bool start_all(struct ckp_ports *ports, const struct ckp_ports_wish *wish, char *why,
                      size_t why_size)
{
    ports->queues = wish->workers;
    if (wish->workers > 1 && wish->queues != CKP_QUEUES_ONE && start_with_queues(ports, wish))
        return true;
    ports->queues = 1;
    for (size_t i = 0; i < ports->count; i++)
        if (!start_port(&ports->ports[i], wish->specs[i], 1, why, why_size))
            return false;
    return true;
}

/* Of all that a driver counts, what tells of frames that did not come; not what it counts of single
 * queues. */
static bool is_loss(const char *name)
{
    static const char *const words[] = {"err",           "drop", "discard",
                                        "out_of_buffer", "miss", "no_buf"};

    if (strncmp(name, "rx_", 3) != 0 || strncmp(name, "rx_q", 4) == 0)
        return false;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strstr(name, words[i]))
            return true;
    return false;
}

static void find_extended(struct port *port)
{
    int count = rte_eth_xstats_get_names(port->id, NULL, 0);
    struct rte_eth_xstat_name *names = count > 0 ? calloc((size_t)count, sizeof *names) : NULL;

    if (names && rte_eth_xstats_get_names(port->id, names, (unsigned)count) == count)
        for (int i = 0; i < count && port->extended_count < CKP_PORT_EXTENDED_MAX; i++)
            if (is_loss(names[i].name)) {
                port->extended[port->extended_count] = names[i];
                port->extended_name[port->extended_count] =
                    port->extended[port->extended_count].name;
                port->extended_id[port->extended_count++] = (uint64_t)i;
            }
    free(names);
}

static bool make_queues(struct ckp_ports *ports)
{
    for (size_t i = 0; i < ports->count; i++) {
        struct port *port = &ports->ports[i];
        port->queues = aligned_alloc(_Alignof(struct queue), ports->queues * sizeof *port->queues);
        if (!port->queues)
            return false;
        memset(port->queues, 0, ports->queues * sizeof *port->queues);
        port->before = ckp_interfaces_frames(ports->interfaces, port->interface);
        find_extended(port);
    }
    return true;
}

static void find_stamps(struct ckp_ports *ports)
{
    int offset = rte_mbuf_dynfield_lookup(RTE_MBUF_DYNFIELD_TIMESTAMP_NAME, NULL);
    int bit = rte_mbuf_dynflag_lookup(RTE_MBUF_DYNFLAG_RX_TIMESTAMP_NAME, NULL);

    if (offset < 0 || bit < 0)
        return;
    ports->stamp_offset = (size_t)offset;
    ports->stamp_flag = UINT64_C(1) << bit;
}

static bool open_all(struct ckp_ports *ports, const struct ckp_ports_wish *wish, char *why,
                     size_t why_size)
{
    if (!ckp_eal_start(wish->specs, wish->count, wish->eal_arguments, wish->workers, why, why_size))
        return false;
    ports->is_started = true;
    ports->interfaces = ckp_interfaces_open();
    for (; ports->count < wish->count; ports->count++)
        if (!open_port(&ports->ports[ports->count], wish->specs[ports->count], why, why_size))
            return false;
    if (!start_all(ports, wish, why, why_size))
        return false;
    if (!make_queues(ports)) {
        snprintf(why, why_size, "there is no memory");
        return false;
    }
    find_stamps(ports);
    return true;
}

/* Adds the first line of what DPDK has logged to the sentence: it names the cause. */
static void add_cause(char *why, size_t why_size, const char *log)
{
    size_t used = strlen(why);

    if (log && *log && used < why_size)
        snprintf(why + used, why_size - used, " (%.*s)", (int)strcspn(log, "\n"), log);
}

struct ckp_ports *ckp_ports_open(const struct ckp_ports_wish *wish, char *why, size_t why_size)
{
    struct ckp_ports *ports = calloc(1, sizeof *ports);
    char *log = NULL;
    size_t log_bytes;

    if (!ports) {
        snprintf(why, why_size, "there is no memory");
        return NULL;
    }
    FILE *log_stream = open_memstream(&log, &log_bytes);
    rte_log_set_global_level(RTE_LOG_ERR);
    rte_openlog_stream(log_stream);
    bool is_open = open_all(ports, wish, why, why_size);
    rte_openlog_stream(stderr);
    if (log_stream)
        fclose(log_stream);
    if (!is_open) {
        add_cause(why, why_size, log);
        ckp_ports_close(ports);
        ports = NULL;
    }
    free(log);
    return ports;
}

static void free_burst(struct queue *queue)
{
    rte_pktmbuf_free_bulk(queue->burst, queue->burst_count);
    queue->burst_count = 0;
}

void ckp_ports_close(struct ckp_ports *ports)
{
    if (!ports)
        return;
    for (size_t i = 0; i < ports->count; i++) {
        struct port *port = &ports->ports[i];
        for (uint32_t queue = 0; port->queues && queue < ports->queues; queue++)
            free_burst(&port->queues[queue]);
        rte_eth_dev_stop(port->id);
        rte_eth_dev_close(port->id);
        free(port->queues);
    }
    if (ports->is_started)
        ckp_eal_stop();
    ckp_interfaces_close(ports->interfaces);
    free(ports);
}

uint32_t ckp_ports_queues(const struct ckp_ports *ports)
{
    return ports->queues;
}

const char *ckp_ports_why_one_queue(const struct ckp_ports *ports)
{
    return ports->why_one_queue;
}

size_t ckp_ports_count(const struct ckp_ports *ports)
{
    return ports->count;
}

enum ckp_timestamp_source ckp_ports_timestamp_source(const struct ckp_ports *ports)
{
    for (size_t i = 0; i < ports->count; i++)
        if (!ports->ports[i].is_stamped)
            return CKP_TIMESTAMP_BURST;
    return CKP_TIMESTAMP_KERNEL;
}

/* The kernel's stamp, which net_pcap gives in microseconds; else the time of the burst. */
static int64_t time_of(const struct ckp_ports *ports, const struct port *port,
                       const struct rte_mbuf *buffer, int64_t burst_ns)
{
    if (!port->is_stamped || !(buffer->ol_flags & ports->stamp_flag))
        return burst_ns;
    return (int64_t)*RTE_MBUF_DYNFIELD(buffer, ports->stamp_offset, const rte_mbuf_timestamp_t *) *
           NANOS_PER_MICRO;
}

/* The headers of all frames are fetched before the first is looked at. */
static void prefetch(const struct queue *queue)
{
    for (uint16_t i = 0; i < queue->burst_count; i++)
        rte_prefetch0(rte_pktmbuf_mtod(queue->burst[i], const void *));
}

size_t ckp_ports_receive(struct ckp_ports *ports, size_t port_index, uint32_t queue_index,
                         struct ckp_frame *frames)
{
    const struct port *port = &ports->ports[port_index];
    struct queue *queue = &port->queues[queue_index];

    free_burst(queue);
    queue->burst_count =
        rte_eth_rx_burst(port->id, (uint16_t)queue_index, queue->burst, CKP_BURST_MAX);
    if (queue->burst_count == 0)
        return 0;
    prefetch(queue);
    int64_t burst_ns = ckp_clock_utc_ns();
    for (uint16_t i = 0; i < queue->burst_count; i++) {
        const struct rte_mbuf *buffer = queue->burst[i];
        frames[i] = (struct ckp_frame){
            .bytes = rte_pktmbuf_mtod(buffer, const uint8_t *),
            .captured_bytes = rte_pktmbuf_data_len(buffer), /* the headers are in the first piece */
            .original_bytes = rte_pktmbuf_pkt_len(buffer),
            .time_ns = time_of(ports, port, buffer, burst_ns),
            .is_chained = buffer->next != NULL,
        };
    }
    atomic_store_explicit(&queue->received,
                          atomic_load_explicit(&queue->received, memory_order_relaxed) +
                              queue->burst_count,
                          memory_order_relaxed);
    return queue->burst_count;
}

static uint64_t received(const struct ckp_ports *ports, const struct port *port)
{
    uint64_t frames = 0;

    for (uint32_t queue = 0; queue < ports->queues; queue++)
        frames += atomic_load_explicit(&port->queues[queue].received, memory_order_relaxed);
    return frames;
}

/* Two ports may look at one interface. */
static bool is_first_of_interface(const struct ckp_ports *ports, const struct port *port)
{
    const struct port *other = ports->ports;

    while (strcmp(other->interface, port->interface) != 0)
        other++;
    return other == port;
}

static uint64_t grown(uint64_t now, uint64_t before)
{
    return now > before ? now - before : 0; /* an interface may have been made anew */
}

/* A driver counts from its own queue on, or not at all. Of net_af_xdp some losses are counted by
 * the driver, by which cause depends on the kernel, and all of them by the interface again. */
static void read_interface(struct ckp_port_reading *reading, const struct ckp_ports *ports,
                           const struct port *port)
{
    struct ckp_interface_frames now = ckp_interfaces_frames(ports->interfaces, port->interface);
    struct ckp_interface_link link = ckp_interfaces_link(ports->interfaces, port->interface);

    reading->has_interface = true;
    reading->interface_received = grown(now.received, port->before.received);
    reading->interface_dropped = grown(now.dropped, port->before.dropped);
    if (!port->counts_losses)
        reading->deduced = grown(reading->interface_received, reading->received + reading->missed);
    if (is_first_of_interface(ports, port))
        reading->missed_kernel = grown(reading->interface_dropped,
                                       port->is_af_xdp ? reading->missed + reading->deduced : 0);
    reading->is_link_known = link.is_known;
    reading->is_link_up = link.is_up;
    reading->is_gone = link.is_gone;
    reading->link_bits_per_second = link.bits_per_second;
}

static void read_link(struct ckp_port_reading *reading, const struct port *port)
{
    struct rte_eth_link link;

    if (rte_eth_link_get_nowait(port->id, &link) != 0)
        return;
    reading->is_link_known = true;
    reading->is_link_up = link.link_status == RTE_ETH_LINK_UP;
    if (link.link_speed != RTE_ETH_SPEED_NUM_NONE && link.link_speed != RTE_ETH_SPEED_NUM_UNKNOWN)
        reading->link_bits_per_second = link.link_speed * BITS_PER_MEGABIT;
}

static void read_port(struct ckp_port_reading *reading, const struct ckp_ports *ports,
                      const struct port *port)
{
    struct rte_eth_stats stats;

    reading->received = received(ports, port);
    if (rte_eth_stats_get(port->id, &stats) == 0) {
        reading->bytes = stats.ibytes;
        reading->missed = stats.imissed;
        reading->no_buffer = stats.rx_nombuf;
        reading->errors =
            port->is_stamped ? 0 : stats.ierrors; /* net_pcap's are reads that failed */
    }
    if (port->extended_count > 0)
        rte_eth_xstats_get_by_id(port->id, port->extended_id, reading->extended,
                                 port->extended_count);
    if (*port->interface)
        read_interface(reading, ports, port);
    else
        read_link(reading, port);
}

void ckp_ports_read(const struct ckp_ports *ports, struct ckp_tap_reading *reading)
{
    *reading = (struct ckp_tap_reading){0};
    for (size_t i = 0; i < ports->count; i++)
        read_port(&reading->port[i], ports, &ports->ports[i]);
}

size_t ckp_ports_extended(const struct ckp_ports *ports, size_t port, const char *const **names)
{
    *names = ports->ports[port].extended_name;
    return ports->ports[port].extended_count;
}
