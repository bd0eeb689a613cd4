/* SPDX-License-Identifier: Apache-2.0 */
/* PURE. Which address space a packet belongs to, by where it was met: equal addresses in different
 * ones are different hosts. */
#ifndef CKP_DOMAIN_H
#define CKP_DOMAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ckp_domain_rule {
    uint64_t place;
    uint32_t domain;
};

/** Rules sorted by place; {0} has none. */
struct ckp_domain_rules {
    struct ckp_domain_rule *rule;
    size_t count;
};

/**
 * Adds rules such as "vlan:100=7,tunnel:5000=8": VLANs are 0 to 4094, tunnel ids 0 to 2^32 - 1,
 * domains 0 to 2^31 - 1.
 *
 * @return false if the text is something else, gives a place a second domain, or there is no memory
 */
bool ckp_domain_rules_add(struct ckp_domain_rules *rules, const char *text);
void ckp_domain_rules_free(struct ckp_domain_rules *rules);

/** The domain by the rule of the packet's tunnel, else of its VLAN, else `otherwise`; the arguments
 * are those of struct ckp_packet. */
uint32_t ckp_domain_of(const struct ckp_domain_rules *rules, int64_t tunnel_id, uint16_t vlan_id,
                       uint32_t otherwise);

#endif
