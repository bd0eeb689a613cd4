/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"
#include "source_dpdk.h"

#include <fcntl.h>
#include <rte_ethdev.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void look_at_port(struct ckp_port_fact *port)
{
    char name[RTE_ETH_NAME_MAX_LEN];
    struct rte_eth_dev_info info;
    struct rte_eth_rxq_info queue;
    uint16_t id;

    snprintf(name, sizeof name, "%.*s", (int)strcspn(port->spec, ","), port->spec);
    if (rte_eth_dev_get_port_by_name(name, &id) != 0 || rte_eth_dev_info_get(id, &info) != 0)
        return;
    snprintf(port->driver, sizeof port->driver, "%s", info.driver_name);
    port->descriptors = rte_eth_rx_queue_info_get(id, 0, &queue) == 0 ? queue.nb_desc : -1;
}

/* DPDK prints its usage when its arguments are wrong. @return the descriptor as it was */
static int silence(int descriptor)
{
    int kept = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);

    fflush(NULL);
    dup2(nowhere, descriptor);
    close(nowhere);
    return kept;
}

static void give_back(int descriptor, int kept)
{
    fflush(NULL);
    dup2(kept, descriptor);
    close(kept);
}

static struct ckp_ports *open_ports(struct ckp_facts *facts, const struct ckp_options *options)
{
    struct ckp_ports_wish wish = {
        .eal_arguments = ckp_option_text(options, CKP_OPTION_EAL),
        .workers = facts->workers,
        .queues = (enum ckp_queues)ckp_option_number(options, CKP_OPTION_QUEUES),
    };
    int output = silence(STDOUT_FILENO), errors = silence(STDERR_FILENO);

    wish.specs = ckp_option_list(options, CKP_OPTION_PORT, &wish.count);
    struct ckp_ports *ports =
        ckp_ports_open(&wish, facts->why_not_open, sizeof facts->why_not_open);
    give_back(STDERR_FILENO, errors);
    give_back(STDOUT_FILENO, output);
    facts->are_queues_trusted = wish.queues == CKP_QUEUES_TRUSTED;
    return ports;
}

void ckp_check_ports(struct ckp_facts *facts, const struct ckp_options *options)
{
    struct ckp_ports *ports = open_ports(facts, options);

    facts->are_ports_open = ports != NULL;
    if (!ports)
        return;
    facts->are_ports_stamped = ckp_ports_timestamp_source(ports) == CKP_TIMESTAMP_KERNEL;
    facts->queues = ckp_ports_queues(ports);
    snprintf(facts->why_one_queue, sizeof facts->why_one_queue, "%s",
             ckp_ports_why_one_queue(ports));
    for (size_t i = 0; i < facts->port_count; i++)
        look_at_port(&facts->ports[i]);
    ckp_ports_close(ports);
}
