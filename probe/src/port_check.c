/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"
#include "source_dpdk.h"

#include <fcntl.h>
#include <rte_ethdev.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void look_at_spread(struct ckp_spread_fact *spread, uint16_t id,
                           const struct rte_eth_dev_info *info)
{
    struct rte_eth_rss_conf conf = {.rss_key = spread->key, .rss_key_len = UINT8_MAX};

    if (info->hash_key_size > 0)
        conf.rss_key_len = info->hash_key_size;
    spread->queues = info->nb_rx_queues;
    spread->queues_max = info->max_rx_queues;
    if (rte_eth_dev_rss_hash_conf_get(id, &conf) == 0 && conf.rss_hf != 0)
        spread->key_bytes = conf.rss_key_len;
}

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
    look_at_spread(&port->spread, id, &info);
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
    size_t count;
    const char *const *specs = ckp_option_list(options, CKP_OPTION_PORT, &count);
    int output = silence(STDOUT_FILENO), errors = silence(STDERR_FILENO);
    struct ckp_ports *ports = ckp_ports_open(specs, count, ckp_option_text(options, CKP_OPTION_EAL),
                                             facts->why_not_open, sizeof facts->why_not_open);

    give_back(STDERR_FILENO, errors);
    give_back(STDOUT_FILENO, output);
    return ports;
}

void ckp_check_ports(struct ckp_facts *facts, const struct ckp_options *options)
{
    struct ckp_ports *ports = open_ports(facts, options);

    facts->are_ports_open = ports != NULL;
    if (!ports)
        return;
    facts->are_ports_stamped = ckp_ports_timestamp_source(ports) == CKP_TIMESTAMP_KERNEL;
    for (size_t i = 0; i < facts->port_count; i++)
        look_at_port(&facts->ports[i]);
    ckp_ports_close(ports);
}
