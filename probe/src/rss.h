/* SPDX-License-Identifier: Apache-2.0 */
/* Receive side scaling: a card spreads frames over queues by a hash, which must give both
 * directions of a flow, and both ports of a fibre tap, the same queue. */
#ifndef CKP_RSS_H
#define CKP_RSS_H

#include <rte_ethdev.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * Asks for `queues` of them and a hash with a symmetric key (Woo and Park, Scalable TCP Session
 * Monitoring with Symmetric Receive-side Scaling, 2012): all its 16-bit words are the same, so
 * swapping source and destination changes nothing. UDP is hashed by addresses alone: ports of
 * tunnels differ between the directions of what they carry. So are fragments, which have none.
 *
 * @return false with a clause in `why` if the device cannot
 */
bool ckp_rss_request(struct rte_eth_conf *conf, const struct rte_eth_dev_info *info,
                     uint32_t queues, char *why, size_t why_size);

/**
 * Of a started port: lays hash and table of queues, the same for all ports, and asks the driver
 * whether key, functions and table are what they should be.
 *
 * @return false with a clause in `why` if they are not, or the driver cannot tell
 */
bool ckp_rss_verify(uint16_t port, const struct rte_eth_dev_info *info, uint32_t queues, char *why,
                    size_t why_size);

#endif
