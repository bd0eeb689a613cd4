/* SPDX-License-Identifier: Apache-2.0 */
#include "rss.h"

#include <stdio.h>
#include <string.h>

#define KEY_BYTES_MAX 64u
#define TABLE_MAX     512u

/* TCP, and what is left of IP. */
#define FUNCTIONS                                                                                  \
    (RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_IPV6 | RTE_ETH_RSS_FRAG_IPV4 | RTE_ETH_RSS_FRAG_IPV6 |         \
     RTE_ETH_RSS_NONFRAG_IPV4_TCP | RTE_ETH_RSS_NONFRAG_IPV6_TCP |                                 \
     RTE_ETH_RSS_NONFRAG_IPV4_OTHER | RTE_ETH_RSS_NONFRAG_IPV6_OTHER)
#define NEEDED (RTE_ETH_RSS_NONFRAG_IPV4_TCP | RTE_ETH_RSS_NONFRAG_IPV6_TCP)

static uint8_t *symmetric_key(void)
{
    static uint8_t key[KEY_BYTES_MAX];

    for (size_t i = 0; i < sizeof key; i += 2) {
        key[i] = 0x6d;
        key[i + 1] = 0x5a;
    }
    return key;
}

static uint8_t key_bytes(const struct rte_eth_dev_info *info)
{
    return info->hash_key_size ? info->hash_key_size : 40;
}

static struct rte_eth_rss_conf hash_of(const struct rte_eth_dev_info *info)
{
    return (struct rte_eth_rss_conf){
        .rss_key = symmetric_key(),
        .rss_key_len = key_bytes(info),
        .rss_hf = FUNCTIONS & info->flow_type_rss_offloads,
    };
}

bool ckp_rss_request(struct rte_eth_conf *conf, const struct rte_eth_dev_info *info,
                     uint32_t queues, char *why, size_t why_size)
{
    if (info->max_rx_queues < queues) {
        snprintf(why, why_size, "%s has %u", info->driver_name, info->max_rx_queues);
        return false;
    }
    if ((info->flow_type_rss_offloads & NEEDED) != NEEDED || key_bytes(info) > KEY_BYTES_MAX) {
        snprintf(why, why_size, "%s offers no hash of TCP flows", info->driver_name);
        return false;
    }
    conf->rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
    conf->rx_adv_conf.rss_conf = hash_of(info);
    return true;
}

static uint16_t *entry(struct rte_eth_rss_reta_entry64 *table, uint16_t i)
{
    return &table[i / RTE_ETH_RETA_GROUP_SIZE].reta[i % RTE_ETH_RETA_GROUP_SIZE];
}

static bool lay_table(uint16_t port, uint16_t entries, uint32_t queues)
{
    struct rte_eth_rss_reta_entry64 table[TABLE_MAX / RTE_ETH_RETA_GROUP_SIZE] = {0};

    if (entries == 0 || entries > TABLE_MAX)
        return false;
    for (size_t group = 0; group < sizeof table / sizeof table[0]; group++)
        table[group].mask = UINT64_MAX;
    for (uint16_t i = 0; i < entries; i++)
        *entry(table, i) = (uint16_t)(i % queues);
    if (rte_eth_dev_rss_reta_update(port, table, entries) != 0)
        return false;
    for (uint16_t i = 0; i < entries; i++)
        *entry(table, i) = UINT16_MAX;
    if (rte_eth_dev_rss_reta_query(port, table, entries) != 0)
        return false;
    for (uint16_t i = 0; i < entries; i++)
        if (*entry(table, i) != i % queues)
            return false;
    return true;
}

/* Once more, for drivers that take nothing of it when they are configured; what came of it is read
 * back. */
static void lay_hash(uint16_t port, const struct rte_eth_dev_info *info)
{
    struct rte_eth_rss_conf conf = hash_of(info);

    (void)rte_eth_dev_rss_hash_update(port, &conf);
}

bool ckp_rss_verify(uint16_t port, const struct rte_eth_dev_info *info, uint32_t queues, char *why,
                    size_t why_size)
{
    uint8_t key[KEY_BYTES_MAX] = {0};
    struct rte_eth_rss_conf conf = {.rss_key = key, .rss_key_len = key_bytes(info)};
    const char *what = NULL;

    lay_hash(port, info);
    if (rte_eth_dev_rss_hash_conf_get(port, &conf) != 0)
        what = "does not tell what it hashes by";
    else if (memcmp(key, symmetric_key(), key_bytes(info)) != 0)
        what = "has not taken the symmetric key";
    else if ((conf.rss_hf & NEEDED) != NEEDED)
        what = "does not hash TCP flows";
    else if (!lay_table(port, info->reta_size, queues))
        what = "has not taken the table of queues";
    if (what)
        snprintf(why, why_size, "%s %s", info->driver_name, what);
    return what == NULL;
}
