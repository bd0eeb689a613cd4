/* SPDX-License-Identifier: Apache-2.0 */
#include "source_dpdk.h"

#include "clock.h"

#include <errno.h>
#include <inttypes.h>
#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>
#include <rte_mempool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUFFERS           16383u /* 36 MB a port; a power of 2 less 1 wastes no memory */
#define BUFFER_CACHE      256u
#define RECEIVE_QUEUE     4096u
#define EAL_ARGUMENTS_MAX 64
#define EAL_TEXT_MAX      1024
#define NANOS_PER_MICRO   1000

/* What the kernel counts of an interface. */
struct interface_frames {
    uint64_t seen;
    uint64_t dropped;
};

struct port {
    uint16_t id;
    struct rte_mempool *buffers;
    struct rte_mbuf *burst[CKP_BURST_MAX];
    uint16_t burst_count;
    bool is_stamped;    /* by the kernel, in microseconds */
    bool counts_losses; /* else they are deduced from the interface's own counter */
    char interface[64]; /* of the kernel; empty if none is known */
    uint64_t received;
    struct interface_frames before; /* when it was opened */
};

struct ckp_ports {
    struct port ports[CKP_PORTS_MAX];
    size_t count;
    bool is_started;     /* DPDK itself */
    size_t stamp_offset; /* in a buffer */
    uint64_t stamp_flag; /* 0 if no driver stamps */
    FILE *interfaces;    /* counters of the kernel; NULL if there are none */
};

static bool is_device_name(const char *spec)
{
    return strncmp(spec, "net_", 4) == 0;
}

struct eal_arguments {
    char text[EAL_TEXT_MAX];
    size_t used;
    char *argv[EAL_ARGUMENTS_MAX + 1];
    int argc;
};

static bool add_argument(struct eal_arguments *arguments, const char *text, size_t bytes)
{
    if (arguments->argc == EAL_ARGUMENTS_MAX || arguments->used + bytes + 1 > EAL_TEXT_MAX)
        return false;
    char *copy = arguments->text + arguments->used;
    memcpy(copy, text, bytes);
    copy[bytes] = '\0';
    arguments->used += bytes + 1;
    arguments->argv[arguments->argc++] = copy;
    return true;
}

/* DPDK's command line: what the user gave, then the devices. The PCI bus is left alone unless a PCI
 * device is asked for. */
static bool make_arguments(struct eal_arguments *arguments, const char *const *specs, size_t count,
                           const char *given)
{
    bool is_complete = add_argument(arguments, "chokepoint-probe", strlen("chokepoint-probe"));
    bool needs_pci = false;

    while (*given) {
        size_t bytes = strcspn(given, " ");
        if (bytes > 0)
            is_complete &= add_argument(arguments, given, bytes);
        given += bytes + strspn(given + bytes, " ");
    }
    for (size_t i = 0; i < count; i++) {
        const char *flag = is_device_name(specs[i]) ? "--vdev" : "-a";
        needs_pci |= !is_device_name(specs[i]);
        is_complete &= add_argument(arguments, flag, strlen(flag));
        is_complete &= add_argument(arguments, specs[i], strlen(specs[i]));
    }
    if (!needs_pci)
        is_complete &= add_argument(arguments, "--no-pci", strlen("--no-pci"));
    return is_complete;
}

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

/* Zeros if the interface cannot be found. The file stays open, for later nothing may be opened. */
static struct interface_frames read_interface(FILE *interfaces, const char *interface)
{
    char line[512];
    struct interface_frames frames = {0};

    if (!interfaces || !*interface)
        return frames;
    rewind(interfaces);
    while (fgets(line, sizeof line, interfaces)) {
        char *name = line + strspn(line, " ");
        char *colon = strchr(name, ':');
        if (!colon || strlen(interface) != (size_t)(colon - name) ||
            strncmp(name, interface, strlen(interface)) != 0)
            continue;
        if (sscanf(colon + 1, "%*u %" SCNu64 " %*u %" SCNu64, &frames.seen, &frames.dropped) != 2)
            frames = (struct interface_frames){0};
    }
    return frames;
}

static int configure(struct port *port)
{
    struct rte_eth_conf conf = {0};
    struct rte_eth_dev_info info;
    uint16_t descriptors = RECEIVE_QUEUE, none = 0;
    int error = rte_eth_dev_info_get(port->id, &info);

    if (error == 0)
        error = rte_eth_dev_configure(port->id, 1, 0, &conf);
    if (error == 0)
        error = rte_eth_dev_adjust_nb_rx_tx_desc(port->id, &descriptors, &none);
    if (error == 0)
        error =
            rte_eth_rx_queue_setup(port->id, 0, descriptors,
                                   (unsigned)rte_eth_dev_socket_id(port->id), NULL, port->buffers);
    if (error == 0)
        error = rte_eth_dev_start(port->id);
    if (error == 0)
        rte_eth_promiscuous_enable(port->id); /* devices that cannot need not */
    port->is_stamped = error == 0 && strcmp(info.driver_name, "net_pcap") == 0;
    port->counts_losses = error == 0 && strcmp(info.driver_name, "net_af_packet") != 0 &&
                          strcmp(info.driver_name, "net_af_xdp") != 0;
    return error;
}

static bool open_port(struct port *port, FILE *interfaces, const char *spec, char *why,
                      size_t why_size)
{
    char name[RTE_ETH_NAME_MAX_LEN];

    copy_until_comma(name, sizeof name, spec);
    if (rte_eth_dev_get_port_by_name(name, &port->id) != 0) {
        snprintf(why, why_size, "port %s cannot be opened: no such device", spec);
        return false;
    }
    find_interface(port, spec);
    snprintf(name, sizeof name, "buffers%u", port->id);
    port->buffers = rte_pktmbuf_pool_create(name, BUFFERS, BUFFER_CACHE, 0,
                                            RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
    if (!port->buffers) {
        snprintf(why, why_size, "port %s cannot be started: no memory for its buffers, see --eal",
                 spec);
        return false;
    }
    int error = configure(port);
    port->before = read_interface(interfaces, port->interface);
    if (error)
        snprintf(why, why_size, "port %s cannot be started: %s", spec, strerror(-error));
    return error == 0;
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

static bool open_all(struct ckp_ports *ports, const char *const *specs, size_t count,
                     struct eal_arguments *arguments, char *why, size_t why_size)
{
    if (rte_eal_init(arguments->argc, arguments->argv) < 0) {
        snprintf(why, why_size, "port %s cannot be opened: %s", specs[0], rte_strerror(rte_errno));
        return false;
    }
    ports->is_started = true;
    ports->interfaces = fopen("/proc/self/net/dev", "re");
    for (; ports->count < count; ports->count++)
        if (!open_port(&ports->ports[ports->count], ports->interfaces, specs[ports->count], why,
                       why_size))
            return false;
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

struct ckp_ports *ckp_ports_open(const char *const *specs, size_t count, const char *eal_arguments,
                                 char *why, size_t why_size)
{
    struct eal_arguments arguments = {0};
    struct ckp_ports *ports = calloc(1, sizeof *ports);
    char *log = NULL;
    size_t log_bytes;

    if (!ports || !make_arguments(&arguments, specs, count, eal_arguments)) {
        snprintf(why, why_size, "option --eal: '%s' is too long", eal_arguments);
        free(ports);
        return NULL;
    }
    FILE *log_stream = open_memstream(&log, &log_bytes);
    rte_log_set_global_level(RTE_LOG_ERR);
    rte_openlog_stream(log_stream);
    bool is_open = open_all(ports, specs, count, &arguments, why, why_size);
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

static void free_burst(struct port *port)
{
    rte_pktmbuf_free_bulk(port->burst, port->burst_count);
    port->burst_count = 0;
}

void ckp_ports_close(struct ckp_ports *ports)
{
    if (!ports)
        return;
    for (size_t i = 0; i < ports->count; i++) {
        free_burst(&ports->ports[i]);
        rte_eth_dev_stop(ports->ports[i].id);
        rte_eth_dev_close(ports->ports[i].id);
    }
    if (ports->is_started)
        rte_eal_cleanup();
    if (ports->interfaces)
        fclose(ports->interfaces);
    free(ports);
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

size_t ckp_ports_receive(struct ckp_ports *ports, size_t port_index, struct ckp_frame *frames)
{
    struct port *port = &ports->ports[port_index];

    free_burst(port);
    port->burst_count = rte_eth_rx_burst(port->id, 0, port->burst, CKP_BURST_MAX);
    if (port->burst_count == 0)
        return 0;
    int64_t burst_ns = ckp_clock_utc_ns();
    for (uint16_t i = 0; i < port->burst_count; i++) {
        const struct rte_mbuf *buffer = port->burst[i];
        frames[i] = (struct ckp_frame){
            .bytes = rte_pktmbuf_mtod(buffer, const uint8_t *),
            .captured_bytes = rte_pktmbuf_data_len(buffer), /* the headers are in the first piece */
            .original_bytes = rte_pktmbuf_pkt_len(buffer),
            .time_ns = time_of(ports, port, buffer, burst_ns),
        };
    }
    port->received += port->burst_count;
    return port->burst_count;
}

/* What the kernel knows: a driver counts from its own queue on, or not at all. */
static void add_losses_of_kernel(struct ckp_port_losses *losses, const struct ckp_ports *ports,
                                 const struct port *port)
{
    struct interface_frames now = read_interface(ports->interfaces, port->interface);
    uint64_t seen = now.seen - port->before.seen;

    if (now.dropped > port->before.dropped)
        losses->kernel += now.dropped - port->before.dropped;
    if (!port->counts_losses && now.seen > port->before.seen && seen > port->received)
        losses->deduced += seen - port->received;
}

struct ckp_port_losses ckp_ports_losses(const struct ckp_ports *ports)
{
    struct ckp_port_losses losses = {0};
    struct rte_eth_stats stats;

    for (size_t i = 0; i < ports->count; i++) {
        if (rte_eth_stats_get(ports->ports[i].id, &stats) != 0)
            continue;
        losses.missed += stats.imissed;
        losses.no_buffer += stats.rx_nombuf;
        losses.errors += stats.ierrors;
        add_losses_of_kernel(&losses, ports, &ports->ports[i]);
    }
    return losses;
}
