/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor_report.h"
#include "hash_key.h"

#include <inttypes.h>
#include <string.h>

#define RING_FRAMES_MIN     4096
#define DESCRIPTORS_MIN     1024
#define NANOS_PER_MICRO     1e3
#define SYMMETRIC_KEY_BYTES 40 /* the least that cards take */

static bool is_symmetric(const struct ckp_spread_fact *spread)
{
    return spread->is_symmetric_function ||
           ckp_hash_key_is_symmetric(spread->key, spread->key_bytes);
}

/* Directions in different queues meet in another order than on the wire. */
static void tell_spread(struct report *report, const struct ckp_port_fact *port)
{
    const struct ckp_spread_fact *spread = &port->interface.spread;

    if (spread->queues <= 0)
        say(report, SKIPPED, "rss", "%s: the driver does not tell its queues", port->device);
    else if (spread->queues == 1)
        say(report, OK, "rss", "%s: 1 queue, so both directions meet", port->device);
    else if (is_symmetric(spread))
        say(report, OK, "rss", "%s: %d queues, both directions of a flow in the same", port->device,
            spread->queues);
    else if (spread->key_bytes < SYMMETRIC_KEY_BYTES) {
        say(report, WARN, "rss", "%s: %d queues, the driver does not tell by which key",
            port->device, spread->queues);
        mend(report, "ethtool -L %s %s 1", port->device, spread->are_combined ? "combined" : "rx");
    } else {
        say(report, WARN, "rss",
            "%s: %d queues, directions of a flow in different ones: the key is not symmetric",
            port->device, spread->queues);
        fprintf(report->out, "%17sethtool -X %s hkey ", "", port->device);
        for (size_t i = 0; i < spread->key_bytes; i++)
            fprintf(report->out, "%s%s", i % 2 ? "5a" : "6d",
                    i + 1 < spread->key_bytes ? ":" : "\n");
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
    tell_spread(report, port);
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
}

/* Of the ports, once they are open: source_dpdk.c has laid the hash and read it back. */
static void tell_workers(struct report *report)
{
    const struct ckp_facts *facts = report->facts;

    if (facts->workers <= 1)
        return;
    if (facts->queues > 1)
        say(report, OK, "workers", "%u with a queue of each port each, %s", facts->workers,
            facts->are_queues_trusted ? "trusted" : "verified to keep both directions together");
    else if (!*facts->why_one_queue)
        say(report, OK, "workers", "%u, the first hands on packets to the others", facts->workers);
    else {
        say(report, WARN, "workers", "%u, the first hands on packets to the others: %s",
            facts->workers, facts->why_one_queue);
        mend(report, "it is the limit then; --queues trusted if the card was set up otherwise");
    }
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
             ckp_doctor_has_card(facts)
                 ? "--idle-sleep 0us, with a core of its own"
                 : "--port net_pcap0,rx_iface_in=INTERFACE, or --idle-sleep 0us");
    }
}

void ckp_doctor_tell_ports(struct report *report)
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
    if (facts->are_ports_open) {
        tell_workers(report);
        tell_stamps(report);
    } else if (facts->port_count > 0 && !facts->is_root)
        say(report, SKIPPED, "port", "needs root: %s", facts->why_not_open);
    else if (facts->port_count > 0) {
        say(report, FAIL, "port", "%s", facts->why_not_open);
        mend(report, "see what fails above, and the arguments in --eal");
    }
}
