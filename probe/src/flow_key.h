/* SPDX-License-Identifier: Apache-2.0 */
/* PURE. The symmetric key of a flow: both directions, at every tap, have one key and one hash. */
#ifndef CKP_FLOW_KEY_H
#define CKP_FLOW_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** 16 bytes in network order read as two big-endian words; IPv4 as ::ffff:a.b.c.d. */
struct ckp_address {
    uint64_t word[2];
};

/** Endpoints are ordered by (address, port): `low` is never above `high`. */
struct ckp_flow_key {
    struct ckp_address low_address;
    struct ckp_address high_address;
    uint16_t low_port;
    uint16_t high_port;
    uint32_t domain; /* address space, from the configuration */
    bool is_ipv6;    /* not hashed: says how many bytes of the addresses are real */
};

struct ckp_address ckp_address_from_ipv4(const uint8_t *four_bytes);
struct ckp_address ckp_address_from_ipv6(const uint8_t *sixteen_bytes);

/** Orders the endpoints into the key and returns the direction: 0 if the lower one sent. */
uint8_t ckp_flow_key_order(struct ckp_flow_key *key, const struct ckp_address *source,
                           uint16_t source_port, const struct ckp_address *destination,
                           uint16_t destination_port);

bool ckp_flow_key_equal(const struct ckp_flow_key *a, const struct ckp_flow_key *b);

/** SplitMix64's finalizer over the key's words; vectors in schemas/golden/flow_hash.tsv. */
uint64_t ckp_flow_key_hash(const struct ckp_flow_key *key, uint64_t seed);

/** A seed for where there is no random one: 0 would leave addresses of IPv4 out. */
#define CKP_TABLE_SEED_KNOWN UINT64_C(0x9e3779b97f4a7c15)

/** For tables: a few cycles, and nobody can tell collisions without knowing the seed. */
uint64_t ckp_flow_key_table_hash(const struct ckp_flow_key *key, uint64_t seed);

static inline uint32_t ckp_flow_partition(uint64_t hash, uint32_t partition_count)
{
    return (uint32_t)((hash >> 1) % partition_count);
}

/** Writes the 4 or 16 bytes of an address in network order and returns how many. */
size_t ckp_address_write(uint8_t *out, const struct ckp_address *address, bool is_ipv6);

#endif
