/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What fails would keep the probe from watching or delivering; what is advised against lets it run,
 * and makes its stamps, its frames or its losses worse than they need to be.
 */
#include "doctor.h"

#include "hash_key.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#define KIB_PER_MIB         1024u
#define RING_FRAMES_MIN     4096
#define DESCRIPTORS_MIN     1024
#define LOCKED_MIN_KIB      (64 * (int64_t)KIB_PER_MIB)
#define CLOCK_ERROR_MAX     1.0
#define RETENTION_MIN_MS    (3600 * INT64_C(1000))
#define MILLIS_PER_HOUR     3.6e6
#define NANOS_PER_MICRO     1e3
#define MICROS_PER_SECOND   1e6
#define SYMMETRIC_KEY_BYTES 40 /* the least that cards take */

enum verdict { OK, WARN, FAIL, SKIPPED };

static const char *const verdict_text[] = {"ok", "warn", "FAIL", "-"};

struct report {
    const struct ckp_facts *facts;
    FILE *out;
    bool is_well;
};

__attribute__((format(printf, 4, 5))) static void say(struct report *report, enum verdict verdict,
                                                      const char *name, const char *format, ...)
{
    va_list arguments;

    report->is_well &= verdict != FAIL;
    fprintf(report->out, "%-5s %-10s ", verdict_text[verdict], name);
    va_start(arguments, format);
    vfprintf(report->out, format, arguments);
    va_end(arguments);
    fputc('\n', report->out);
}

/* The remedy of what was just said. */
__attribute__((format(printf, 2, 3))) static void mend(struct report *report, const char *format,
                                                       ...)
{
    va_list arguments;

    fprintf(report->out, "%17s", "");
    va_start(arguments, format);
    vfprintf(report->out, format, arguments);
    va_end(arguments);
    fputc('\n', report->out);
}

static bool has_card(const struct ckp_facts *facts)
{
    for (size_t i = 0; i < facts->port_count; i++)
        if (facts->ports[i].kind == CKP_PORT_CARD)
            return true;
    return false;
}

static bool has_interface(const struct ckp_facts *facts)
{
    for (size_t i = 0; i < facts->port_count; i++)
        if (facts->ports[i].kind == CKP_PORT_PCAP || facts->ports[i].kind == CKP_PORT_AF_PACKET)
            return true;
    return false;
}

/* Whether a node is that of a port; without any known one each is. */
static bool is_node_of_port(const struct ckp_facts *facts, int node)
{
    bool is_any_known = false;

    for (size_t i = 0; i < facts->port_count; i++) {
        if (facts->ports[i].node == node)
            return true;
        is_any_known |= facts->ports[i].node >= 0;
    }
    return !is_any_known;
}

static uint64_t free_kib(const struct ckp_huge_pages_fact *pages)
{
    return pages->free_pages * pages->page_kib;
}

/* Of a node the size of which most is free, or the smallest: the one to ask for more of. */
static const struct ckp_huge_pages_fact *best_pages(const struct ckp_facts *facts, int node)
{
    const struct ckp_huge_pages_fact *best = NULL;

    for (size_t i = 0; i < facts->huge_pages_count; i++) {
        const struct ckp_huge_pages_fact *pages = &facts->huge_pages[i];
        if (pages->node == node &&
            (!best || free_kib(pages) > free_kib(best) ||
             (free_kib(pages) == free_kib(best) && pages->page_kib < best->page_kib)))
            best = pages;
    }
    return best;
}

static bool has_enough(const struct ckp_facts *facts, const struct ckp_huge_pages_fact *pages)
{
    return free_kib(pages) >= facts->memory_needed_mib * KIB_PER_MIB;
}

static bool has_enough_anywhere(const struct ckp_facts *facts)
{
    for (size_t i = 0; i < facts->huge_pages_count; i++)
        if (has_enough(facts, &facts->huge_pages[i]))
            return true;
    return false;
}

/* Pages are wanted on the node of each port; it starts without, but every frame crosses then. */
static void tell_pages(struct report *report, const struct ckp_huge_pages_fact *pages)
{
    const struct ckp_facts *facts = report->facts;
    bool is_needed = is_node_of_port(facts, pages->node);
    enum verdict verdict = has_enough(facts, pages)     ? OK
                           : !is_needed                 ? SKIPPED
                           : has_enough_anywhere(facts) ? WARN
                                                        : FAIL;

    say(report, verdict, "hugepages",
        "node %d: %" PRIu64 " of %" PRIu64 " pages of %" PRIu64 " KiB free, %" PRIu64 " MiB needed",
        pages->node, pages->free_pages, pages->pages, pages->page_kib, facts->memory_needed_mib);
    if (verdict == OK || verdict == SKIPPED)
        return;
    uint64_t needed_kib = facts->memory_needed_mib * KIB_PER_MIB;
    mend(report,
         "echo %" PRIu64 " >/sys/devices/system/node/node%d/hugepages/hugepages-%" PRIu64
         "kB/nr_hugepages",
         pages->pages - pages->free_pages + (needed_kib + pages->page_kib - 1) / pages->page_kib,
         pages->node, pages->page_kib);
}

static void tell_huge_pages(struct report *report)
{
    const struct ckp_facts *facts = report->facts;

    if (facts->port_count == 0) {
        say(report, SKIPPED, "hugepages", "needs --port");
        return;
    }
    if (!facts->needs_huge_pages) {
        say(report, OK, "hugepages", "not needed: --eal has --no-huge");
        if (has_card(facts))
            mend(report, "a card is faster with them: --eal \"--in-memory -l CORE\"");
        return;
    }
    if (facts->huge_pages_count == 0) {
        say(report, FAIL, "hugepages", "this kernel has none");
        mend(report, "go without: --eal \"--no-huge -m 256 --no-shconf --no-telemetry\"");
    }
    for (size_t i = 0; i < facts->huge_pages_count; i++) /* one line a node */
        if (&facts->huge_pages[i] == best_pages(facts, facts->huge_pages[i].node))
            tell_pages(report, &facts->huge_pages[i]);
    if (facts->needs_hugetlbfs && !facts->has_hugetlbfs) {
        say(report, FAIL, "hugetlbfs", "is not mounted");
        mend(report, "mount -t hugetlbfs none /dev/hugepages, or give --in-memory in --eal");
    }
}

/* VFIO maps all memory of the process for the card, which takes locking it. */
static void tell_locked_memory(struct report *report)
{
    const struct ckp_facts *facts = report->facts;

    if (!has_card(facts))
        say(report, SKIPPED, "memlock", "needs a card in --port");
    else if (facts->is_root || facts->locked_memory_kib == INT64_MAX)
        say(report, OK, "memlock", "no limit");
    else if (facts->locked_memory_kib >= LOCKED_MIN_KIB)
        say(report, OK, "memlock", "%" PRId64 " MiB may be locked",
            facts->locked_memory_kib / KIB_PER_MIB);
    else {
        say(report, FAIL, "memlock", "%" PRId64 " KiB may be locked, too little for VFIO",
            facts->locked_memory_kib);
        mend(report,
             "ulimit -l unlimited, or LimitMEMLOCK=infinity in the unit, or start it as root");
    }
}

/* Of the ports whose node is known the first one on another node than the core's. */
static const struct ckp_port_fact *port_far_from(const struct ckp_facts *facts,
                                                 const struct ckp_core_fact *core)
{
    for (size_t i = 0; i < facts->port_count; i++)
        if (core->node >= 0 && facts->ports[i].node >= 0 && facts->ports[i].node != core->node)
            return &facts->ports[i];
    return NULL;
}

static void tell_core(struct report *report, const struct ckp_core_fact *core)
{
    const struct ckp_facts *facts = report->facts;
    const struct ckp_port_fact *far = port_far_from(facts, core);
    bool polls = facts->idle_sleep_ns == 0;

    if (!core->is_online) {
        say(report, FAIL, "cores", "core %u is not online, %s are", core->id, facts->cores_online);
        mend(report, "name one of these by -l in --eal");
    } else if (far) {
        say(report, WARN, "cores", "core %u is on node %d, %s on node %d", core->id, core->node,
            far->device, far->node);
        mend(report, "name one of %s by -l in --eal", far->cores_of_node);
    } else if (polls && !core->is_isolated) {
        say(report, WARN, "cores", "core %u polls all the time and is not isolated", core->id);
        mend(report, "boot with isolcpus=%u nohz_full=%u, or give --idle-sleep 50us", core->id,
             core->id);
    } else {
        say(report, OK, "cores", "core %u is online%s", core->id,
            core->is_isolated ? " and isolated" : "");
    }
}

/* A core that slows down when it is idle wakes up late, and stamps late. */
static void tell_governor(struct report *report)
{
    const struct ckp_core_fact *core = report->facts->cores;

    if (report->facts->core_count == 0 || !*core->governor)
        say(report, SKIPPED, "governor", "the frequency of cores is not ours to set");
    else if (strcmp(core->governor, "performance") == 0)
        say(report, OK, "governor", "core %u runs by performance", core->id);
    else {
        say(report, WARN, "governor", "core %u runs by %s", core->id, core->governor);
        mend(report, "cpupower --cpu %u frequency-set --governor performance", core->id);
    }
}

static void tell_cores(struct report *report)
{
    const struct ckp_facts *facts = report->facts;

    if (!facts->has_chosen_cores)
        say(report, SKIPPED, "cores", "needs -l in --eal; %s are online", facts->cores_online);
    for (size_t i = 0; facts->has_chosen_cores && i < facts->core_count; i++)
        tell_core(report, &facts->cores[i]);
    tell_governor(report);
}

/* Between driver and port; cards that DPDK drives have no such queue. */
static void tell_backlog(struct report *report)
{
    const struct ckp_facts *facts = report->facts;

    if (!has_interface(facts))
        say(report, SKIPPED, "backlog", "needs an interface in --port");
    else if (facts->backlog_dropped < 0)
        say(report, SKIPPED, "backlog", "the kernel does not tell");
    else if (facts->backlog_dropped == 0)
        say(report, OK, "backlog", "the kernel has dropped none before the ports");
    else {
        say(report, WARN, "backlog",
            "the kernel has dropped %" PRId64 " frames before the ports since it started",
            facts->backlog_dropped);
        mend(report, "sysctl -w net.core.netdev_max_backlog=%" PRId64,
             facts->backlog_packets > 1000 ? 4 * facts->backlog_packets : 10000);
    }
}

static void tell_clock(struct report *report)
{
    const struct ckp_clock_status *clock = &report->facts->clock;
    bool is_wide = clock->error_seconds > CLOCK_ERROR_MAX;

    if (clock->is_synchronised && !is_wide) {
        say(report, OK, "clock", "synchronised, %.3g us to go, wrong by at most %.3g us",
            clock->offset_seconds * MICROS_PER_SECOND, clock->error_seconds * MICROS_PER_SECOND);
        return;
    }
    say(report, WARN, "clock", "%s, may be wrong by %.3g s",
        clock->is_synchronised ? "synchronised" : "not known to be synchronised",
        clock->error_seconds);
    mend(report, is_wide ? "apt-get install chrony, and see chronyc tracking"
                         : "see chronyc tracking; with rtcsync in chrony.conf the kernel knows");
}

/* ---- a port ---- */

static bool is_symmetric(const struct ckp_spread_fact *spread)
{
    return spread->is_symmetric_function ||
           ckp_hash_key_is_symmetric(spread->key, spread->key_bytes);
}

/* Directions in different queues meet in another order than on the wire. */
static void tell_spread(struct report *report, const char *device, bool is_kernel,
                        const struct ckp_spread_fact *spread)
{
    const char *of = spread->queues == 1 ? "queue" : "queues";

    if (spread->queues <= 0)
        say(report, SKIPPED, "rss", "%s: the driver does not tell its queues", device);
    else if (spread->queues == 1)
        say(report, OK, "rss", "%s: 1 queue, so both directions meet", device);
    else if (is_symmetric(spread))
        say(report, OK, "rss", "%s: %d %s, both directions of a flow in the same", device,
            spread->queues, of);
    else {
        say(report, WARN, "rss", "%s: %d %s, %s", device, spread->queues, of,
            spread->key_bytes > 0
                ? "directions of a flow in different ones: the key is not symmetric"
                : "the driver does not tell by which key");
        if (is_kernel && spread->key_bytes >= SYMMETRIC_KEY_BYTES) {
            fprintf(report->out, "%17sethtool -X %s hkey ", "", device);
            for (size_t i = 0; i < spread->key_bytes; i++)
                fprintf(report->out, "%s%s", i % 2 ? "5a" : "6d",
                        i + 1 < spread->key_bytes ? ":" : "\n");
        } else if (is_kernel) {
            mend(report, "ethtool -L %s %s 1", device, spread->are_combined ? "combined" : "rx");
        } else {
            mend(report, "take one queue, or a card whose key can be set");
        }
    }
}

static void tell_merging(struct report *report, const struct ckp_port_fact *port)
{
    const struct ckp_interface_fact *interface = &port->interface;

    if (interface->gro < 0 && interface->lro < 0)
        say(report, SKIPPED, "offloads", "%s: the driver does not tell", port->device);
    else if (interface->gro <= 0 && interface->lro <= 0)
        say(report, OK, "offloads", "%s: frames come as they were on the wire", port->device);
    else {
        say(report, WARN, "offloads", "%s: %s merged frames that no wire carries", port->device,
            interface->lro <= 0   ? "GRO makes"
            : interface->gro <= 0 ? "LRO makes"
                                  : "GRO and LRO make");
        mend(report, "ethtool -K %s%s%s", port->device, interface->gro > 0 ? " gro off" : "",
             interface->lro > 0 ? " lro off" : "");
    }
}

static void tell_ring(struct report *report, const struct ckp_port_fact *port)
{
    const struct ckp_interface_fact *interface = &port->interface;

    if (interface->ring_max <= 0)
        say(report, SKIPPED, "ring", "%s: the driver tells none", port->device);
    else if (interface->ring >= interface->ring_max || interface->ring >= RING_FRAMES_MIN)
        say(report, OK, "ring", "%s: %" PRId64 " of %" PRId64 " frames", port->device,
            interface->ring, interface->ring_max);
    else {
        say(report, WARN, "ring", "%s: %" PRId64 " of %" PRId64 " frames", port->device,
            interface->ring, interface->ring_max);
        mend(report, "ethtool -G %s rx %" PRId64, port->device, interface->ring_max);
    }
}

/* Of af_packet, which the port makes by itself. */
static void tell_queue(struct report *report, const struct ckp_port_fact *port)
{
    if (port->kind != CKP_PORT_AF_PACKET)
        return;
    if (port->ring_frames >= RING_FRAMES_MIN)
        say(report, OK, "queue", "%s: %" PRId64 " frames", port->device, port->ring_frames);
    else {
        say(report, WARN, "queue", "%s: %" PRId64 " frames, little for a burst", port->device,
            port->ring_frames);
        mend(report, "--port net_af_packet0,iface=%s,blocksz=65536,framesz=2048,framecnt=16384",
             port->device);
    }
}

static void tell_interface(struct report *report, const struct ckp_port_fact *port)
{
    const struct ckp_interface_fact *interface = &port->interface;

    if (!interface->is_there) {
        say(report, FAIL, "interface", "%s is not there", port->device);
        mend(report, "name one that ip link lists, in the network namespace of the probe");
        return;
    }
    if (!interface->is_up) {
        say(report, FAIL, "interface", "%s is down", port->device);
        mend(report, "ip link set %s up", port->device);
    } else if (!interface->has_carrier) {
        say(report, WARN, "interface", "%s is up and has no carrier", port->device);
        mend(report, "plug it in, or see why the other end is down: ethtool %s", port->device);
    } else {
        say(report, OK, "interface", "%s is up", port->device);
    }
    tell_merging(report, port);
    tell_ring(report, port);
    tell_queue(report, port);
    tell_spread(report, port->device, true, &interface->spread);
}

/* Those of Mellanox are shared with the kernel's driver and are not bound to VFIO. */
static bool is_driver_for_dpdk(const char *driver)
{
    static const char *const names[] = {"vfio-pci", "igb_uio", "uio_pci_generic", "mlx4_core",
                                        "mlx5_core"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(driver, names[i]) == 0)
            return true;
    return false;
}

static void tell_iommu(struct report *report, const struct ckp_port_fact *port)
{
    if (port->card.has_iommu_group)
        say(report, OK, "iommu", "%s has a group, of %u", port->device,
            report->facts->iommu_groups);
    else if (strncmp(port->card.driver, "mlx", 3) == 0)
        say(report, SKIPPED, "iommu", "%s: not needed by %s", port->device, port->card.driver);
    else {
        say(report, FAIL, "iommu", "%s has no group, the machine has %u", port->device,
            report->facts->iommu_groups);
        mend(report, "boot with intel_iommu=on iommu=pt, or for want of one: "
                     "modprobe vfio enable_unsafe_noiommu_mode=1");
    }
}

static void tell_card(struct report *report, const struct ckp_port_fact *port)
{
    const char *driver = port->card.driver;

    if (!port->card.is_there) {
        say(report, FAIL, "card", "%s is not there", port->device);
        mend(report, "name one that dpdk-devbind.py --status lists");
        return;
    }
    tell_iommu(report, port);
    if (is_driver_for_dpdk(driver)) {
        say(report, OK, "driver", "%s is bound to %s", port->device, driver);
        return;
    }
    say(report, FAIL, "driver", "%s is bound to %s", port->device, *driver ? driver : "no driver");
    mend(report, "%sdpdk-devbind.py --bind=vfio-pci %s",
         report->facts->has_vfio ? "" : "modprobe vfio-pci && ", port->device);
}

/* What the driver says once the port is open. */
static void tell_open(struct report *report, const struct ckp_port_fact *port)
{
    const char *name = *port->device ? port->device : port->spec;

    bool is_short = port->descriptors > 0 && port->descriptors < DESCRIPTORS_MIN;

    if (port->descriptors <= 0)
        say(report, OK, "port", "%s opens: %s", name, port->driver);
    else
        say(report, is_short ? WARN : OK, "port",
            "%s opens: %s, its queue holds %" PRId64 " frames", name, port->driver,
            port->descriptors);
    if (is_short)
        mend(report, "a card with a longer queue loses less: see frames_missed_port");
    if (port->kind == CKP_PORT_CARD)
        tell_spread(report, name, false, &port->spread);
}

static void tell_stamps(struct report *report)
{
    const struct ckp_facts *facts = report->facts;

    if (facts->are_ports_stamped)
        say(report, OK, "stamps", "by the kernel, in steps of 1 us");
    else if (facts->idle_sleep_ns == 0)
        say(report, OK, "stamps", "when a burst is taken, all the time");
    else {
        say(report, WARN, "stamps", "when a burst is taken, every %g us or later",
            (double)facts->idle_sleep_ns / NANOS_PER_MICRO);
        mend(report, "%s",
             has_card(facts) ? "--idle-sleep 0us, with a core of its own"
                             : "--port net_pcap0,rx_iface_in=INTERFACE, or --idle-sleep 0us");
    }
}

static void tell_ports(struct report *report)
{
    const struct ckp_facts *facts = report->facts;

    if (facts->port_count == 0)
        say(report, SKIPPED, "port", "needs --port");
    for (size_t i = 0; i < facts->port_count; i++) {
        if (facts->ports[i].kind == CKP_PORT_CARD)
            tell_card(report, &facts->ports[i]);
        else if (*facts->ports[i].device)
            tell_interface(report, &facts->ports[i]);
    }
    for (size_t i = 0; facts->are_ports_open && i < facts->port_count; i++)
        tell_open(report, &facts->ports[i]);
    if (facts->are_ports_open)
        tell_stamps(report);
    else if (facts->port_count > 0 && !facts->is_root)
        say(report, SKIPPED, "port", "needs root: %s", facts->why_not_open);
    else if (facts->port_count > 0) {
        say(report, FAIL, "port", "%s", facts->why_not_open);
        mend(report, "see what fails above, and the arguments in --eal");
    }
}

/* ---- what it writes to ---- */

static void tell_anonymiser(struct report *report)
{
    const struct ckp_facts *facts = report->facts;

    if (!facts->anonymise_key)
        return;
    if (!*facts->why_no_key) {
        say(report, OK, "anonymise", "%s holds a key", facts->anonymise_key);
        return;
    }
    say(report, FAIL, "anonymise", "%s", facts->why_no_key);
    mend(report, "(umask 077; openssl rand -hex 32 >%s), the same for all probes",
         facts->anonymise_key);
}

static void tell_metrics(struct report *report)
{
    const struct ckp_facts *facts = report->facts;

    if (!facts->metrics)
        return;
    if (!*facts->why_no_metrics) {
        say(report, OK, "metrics", "%s is free", facts->metrics);
        return;
    }
    say(report, FAIL, "metrics", "%s", facts->why_no_metrics);
    mend(report, "end who listens there (ss -ltnp), or take another port");
}

/* @return whether the topic can be written to */
static bool tell_topic(struct report *report, const char *name, const struct ckp_topic_fact *topic)
{
    if (!topic->is_there) {
        say(report, FAIL, name, "%s: %s", topic->name, topic->why_not);
        mend(report, "chokepoint migrate --only topics");
        return false;
    }
    if (topic->without_leader > 0) {
        say(report, FAIL, name, "%s: %u of %u partitions have no leader", topic->name,
            topic->without_leader, topic->partitions);
        mend(report, "start the brokers that lead them: "
                     "kafka-topics.sh --describe --unavailable-partitions");
        return false;
    }
    say(report, OK, name, "%s: %u partition%s, %u replica%s", topic->name, topic->partitions,
        topic->partitions == 1 ? "" : "s", topic->replicas, topic->replicas == 1 ? "" : "s");
    return true;
}

static void tell_partitions(struct report *report)
{
    const struct ckp_kafka_fact *kafka = &report->facts->kafka;

    if (kafka->partitions_wanted == 0 || kafka->partitions_wanted == kafka->batches.partitions)
        return;
    say(report, FAIL, "partitions", "--partitions %" PRIu64 " is not the %u of %s",
        kafka->partitions_wanted, kafka->batches.partitions, kafka->batches.name);
    mend(report, "leave --partitions away");
}

/* Whether the job may be away for a while, and whether readers of another version find the schema.
 */
static void tell_retention(struct report *report, const struct ckp_topic_fact *topic, bool is_kept)
{
    if (!topic->has_settings)
        say(report, SKIPPED, "retention", "%s: needs the right to describe its settings",
            topic->name);
    else if (topic->is_compacted || topic->retention_ms < 0)
        say(report, OK, "retention", "%s: kept for good", topic->name);
    else if (!is_kept && topic->retention_ms >= RETENTION_MIN_MS)
        say(report, OK, "retention", "%s: %.3g h", topic->name,
            (double)topic->retention_ms / MILLIS_PER_HOUR);
    else {
        say(report, WARN, "retention", "%s: %.3g h, then %s", topic->name,
            (double)topic->retention_ms / MILLIS_PER_HOUR,
            is_kept ? "readers miss the schema" : "what the job has not read is lost");
        mend(report, "kafka-configs.sh --alter --topic %s --add-config %s", topic->name,
             is_kept ? "cleanup.policy=compact" : "retention.ms=172800000");
    }
}

static void tell_kafka(struct report *report)
{
    const struct ckp_kafka_fact *kafka = &report->facts->kafka;

    if (!kafka->brokers) {
        say(report, SKIPPED, "kafka", "needs --kafka");
        return;
    }
    if (!kafka->is_reachable) {
        say(report, FAIL, "kafka", "%s", kafka->why_not);
        mend(report,
             "start it, or name a broker that answers by --kafka HOST:PORT; for TLS and SASL "
             "see --kafka-options");
        say(report, SKIPPED, "topic", "needs kafka");
        return;
    }
    say(report, OK, "kafka", "%s answers, %u broker%s", kafka->brokers, kafka->broker_count,
        kafka->broker_count == 1 ? "" : "s");
    if (tell_topic(report, "topic", &kafka->batches)) {
        tell_partitions(report);
        tell_retention(report, &kafka->batches, false);
    }
    if (tell_topic(report, "schemas", &kafka->schemas))
        tell_retention(report, &kafka->schemas, true);
}

bool ckp_doctor_print(const struct ckp_facts *facts, FILE *out)
{
    struct report report = {facts, out, true};

    tell_huge_pages(&report);
    tell_locked_memory(&report);
    tell_cores(&report);
    tell_backlog(&report);
    tell_clock(&report);
    tell_ports(&report);
    tell_anonymiser(&report);
    tell_metrics(&report);
    tell_kafka(&report);
    return report.is_well;
}
