/* SPDX-License-Identifier: Apache-2.0 */
#include "flow_key.h"

#include "octets.h"

#define IP_PROTOCOL_TCP       6u
#define IPV4_MAPPED_PREFIX    (UINT64_C(0xffff) << 32)
#define GOLDEN_RATIO_FRACTION UINT64_C(0x9e3779b97f4a7c15)

struct ckp_address ckp_address_from_ipv4(const uint8_t *four_bytes)
{
    return (struct ckp_address){.word = {0, IPV4_MAPPED_PREFIX | ckp_load_be32(four_bytes)}};
}

struct ckp_address ckp_address_from_ipv6(const uint8_t *sixteen_bytes)
{
    return (struct ckp_address){
        .word = {ckp_load_be64(sixteen_bytes), ckp_load_be64(sixteen_bytes + 8)}};
}

static bool comes_first(const struct ckp_address *a, uint16_t a_port, const struct ckp_address *b,
                        uint16_t b_port)
{
    if (a->word[0] != b->word[0])
        return a->word[0] < b->word[0];
    if (a->word[1] != b->word[1])
        return a->word[1] < b->word[1];
    return a_port <= b_port;
}

uint8_t ckp_flow_key_order(struct ckp_flow_key *key, const struct ckp_address *source,
                           uint16_t source_port, const struct ckp_address *destination,
                           uint16_t destination_port)
{
    bool source_is_low = comes_first(source, source_port, destination, destination_port);

    key->low_address = source_is_low ? *source : *destination;
    key->high_address = source_is_low ? *destination : *source;
    key->low_port = source_is_low ? source_port : destination_port;
    key->high_port = source_is_low ? destination_port : source_port;
    return source_is_low ? 0 : 1;
}

bool ckp_flow_key_equal(const struct ckp_flow_key *a, const struct ckp_flow_key *b)
{
    return a->low_address.word[1] == b->low_address.word[1] &&
           a->high_address.word[1] == b->high_address.word[1] && a->low_port == b->low_port &&
           a->high_port == b->high_port && a->low_address.word[0] == b->low_address.word[0] &&
           a->high_address.word[0] == b->high_address.word[0] && a->domain == b->domain &&
           a->is_ipv6 == b->is_ipv6;
}

static uint64_t mix(uint64_t x)
{
    x ^= x >> 30;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    x ^= x >> 27;
    x *= UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static uint64_t absorb(uint64_t hash, uint64_t word)
{
    return mix((hash + GOLDEN_RATIO_FRACTION) ^ word);
}

uint64_t ckp_flow_key_hash(const struct ckp_flow_key *key, uint64_t seed)
{
    uint64_t hash = absorb(seed, (uint64_t)key->domain << 8 | IP_PROTOCOL_TCP);

    hash = absorb(hash, key->low_address.word[0]);
    hash = absorb(hash, key->low_address.word[1]);
    hash = absorb(hash, key->high_address.word[0]);
    hash = absorb(hash, key->high_address.word[1]);
    return absorb(hash, (uint64_t)key->low_port << 16 | key->high_port);
}

/* Both halves of a product, folded: every bit of the input reaches every bit of the output. */
static uint64_t fold_product(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;

    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint64_t ckp_flow_key_table_hash(const struct ckp_flow_key *key, uint64_t seed)
{
    uint64_t ports = (uint64_t)key->domain << 32 | (uint64_t)key->low_port << 16 | key->high_port;
    uint64_t low = fold_product(key->low_address.word[0] ^ seed,
                                key->low_address.word[1] ^ UINT64_C(0x94d049bb133111eb));
    uint64_t high = fold_product(key->high_address.word[0] ^ seed ^ UINT64_C(0xbf58476d1ce4e5b9),
                                 key->high_address.word[1] ^ GOLDEN_RATIO_FRACTION);

    return fold_product(low ^ ports ^ seed, high ^ UINT64_C(0xd6e8feb86659fd93));
}

size_t ckp_address_write(uint8_t *out, const struct ckp_address *address, bool is_ipv6)
{
    size_t bytes = is_ipv6 ? 16 : 4;

    for (size_t i = 0; i < bytes; i++) {
        size_t at = 16 - bytes + i;
        out[i] = (uint8_t)(address->word[at / 8] >> (56 - 8 * (at % 8)));
    }
    return bytes;
}
