/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What fails would keep the probe from watching or delivering; what is advised against lets it run,
 * and makes its stamps, its frames or its losses worse than they need to be.
 */
#include "doctor.h"

#include "doctor_report.h"

#include <inttypes.h>
#include <string.h>

#define KIB_PER_MIB       1024u
#define LOCKED_MIN_KIB    (64 * (int64_t)KIB_PER_MIB)
#define CLOCK_ERROR_MAX   1.0
#define RETENTION_MIN_MS  (3600 * INT64_C(1000))
#define MILLIS_PER_HOUR   3.6e6
#define MICROS_PER_SECOND 1e6

bool ckp_doctor_has_card(const struct ckp_facts *facts)
{
    for (size_t i = 0; i < facts->port_count; i++)
        if (facts->ports[i].kind == CKP_PORT_CARD)
            return true;
    return false;
}

static bool has_interface(const struct ckp_facts *facts)
{
    for (size_t i = 0; i < facts->port_count; i++)
        switch (facts->ports[i].kind) {
        case CKP_PORT_PCAP:
        case CKP_PORT_AF_PACKET:
        case CKP_PORT_AF_XDP:
            return true;
        case CKP_PORT_CARD:
        case CKP_PORT_OTHER:
            break;
        }
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
        if (ckp_doctor_has_card(facts))
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

    if (!ckp_doctor_has_card(facts))
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

static void tell_ring_key(struct report *report)
{
    const struct ckp_file_fact *key = &report->facts->ring_key;

    if (!key->path)
        return;
    if (!*key->why_not) {
        say(report, OK, "ring-key", "%s holds a key", key->path);
        return;
    }
    say(report, FAIL, "ring-key", "%s", key->why_not);
    mend(report, "(umask 077; openssl rand -hex 32 >%s), or chmod 600 if it is there already",
         key->path);
}

static void tell_filter(struct report *report)
{
    const struct ckp_file_fact *filter = &report->facts->filter;

    if (!filter->path)
        return;
    if (!*filter->why_not) {
        say(report, OK, "filter", "%s holds a filter", filter->path);
        return;
    }
    say(report, FAIL, "filter", "%s", filter->why_not);
    mend(report, "write an expression as of pcap-filter(7) to it, or leave --filter-file away");
}

static void tell_written(struct report *report, const char *name, const struct ckp_file_fact *file)
{
    if (!file->path)
        return;
    if (!*file->why_not) {
        say(report, OK, name, "%s can be written", file->path);
        return;
    }
    say(report, FAIL, name, "%s cannot be written: %s", file->path, file->why_not);
    mend(report, "name a file by --%s in a folder that is there and that %s may write to", name,
         report->facts->is_root ? "root" : "you");
}

/* @return whether the topic can be written to */
static bool tell_topic(struct report *report, const char *brokers, const char *name,
                       const struct ckp_topic_fact *topic)
{
    if (!topic->is_there) {
        say(report, FAIL, name, "%s: %s", topic->name, topic->why_not);
        mend(report, "./chokepoint migrate --kafka %s --only topics", brokers);
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
    if (tell_topic(report, kafka->brokers, "topic", &kafka->batches)) {
        tell_partitions(report);
        tell_retention(report, &kafka->batches, false);
    }
    if (tell_topic(report, kafka->brokers, "schemas", &kafka->schemas))
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
    ckp_doctor_tell_ports(&report);
    tell_filter(&report);
    tell_anonymiser(&report);
    tell_metrics(&report);
    tell_ring_key(&report);
    tell_written(&report, "ring-audit", &facts->ring_audit);
    tell_written(&report, "ledger", &facts->ledger);
    tell_written(&report, "output", &facts->output);
    tell_kafka(&report);
    return report.is_well;
}
