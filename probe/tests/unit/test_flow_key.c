/* SPDX-License-Identifier: Apache-2.0 */
/* The vectors that hold C and Java to one hash. */
#include "flow_key.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

struct vector {
    uint32_t domain;
    char address[2][64];
    uint16_t port[2];
    uint64_t seed, hash;
    uint32_t partition_of_32, partition_of_3;
};

static struct ckp_address parse_address(const char *text, bool *is_ipv6)
{
    uint8_t bytes[16];

    *is_ipv6 = strchr(text, ':') != NULL;
    assert_int_equal(inet_pton(*is_ipv6 ? AF_INET6 : AF_INET, text, bytes), 1);
    return *is_ipv6 ? ckp_address_from_ipv6(bytes) : ckp_address_from_ipv4(bytes);
}

static uint8_t order(struct ckp_flow_key *key, const struct vector *vector, int from)
{
    struct ckp_address source = parse_address(vector->address[from], &key->is_ipv6);
    struct ckp_address destination = parse_address(vector->address[!from], &key->is_ipv6);

    key->domain = vector->domain;
    return ckp_flow_key_order(key, &source, vector->port[from], &destination, vector->port[!from]);
}

static void check_vector(const struct vector *vector)
{
    struct ckp_flow_key there, back;
    uint8_t direction_there = order(&there, vector, 0);
    uint8_t direction_back = order(&back, vector, 1);
    bool is_to_itself =
        strcmp(vector->address[0], vector->address[1]) == 0 && vector->port[0] == vector->port[1];
    uint64_t hash = ckp_flow_key_hash(&there, vector->seed);

    assert_true(ckp_flow_key_equal(&there, &back));
    assert_int_equal(direction_there != direction_back, !is_to_itself);
    assert_int_equal(hash, vector->hash);
    assert_int_equal(ckp_flow_partition(hash, 32), vector->partition_of_32);
    assert_int_equal(ckp_flow_partition(hash, 3), vector->partition_of_3);
}

static void test_flow_hash_has_the_golden_values(void **state)
{
    char path[1024], line[512];
    int vectors = 0;

    (void)state;
    snprintf(path, sizeof path, "%s/flow_hash.tsv", getenv("CKP_GOLDEN"));
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        struct vector vector;
        if (sscanf(line,
                   "%" SCNu32 "\t%63s\t%" SCNu16 "\t%63s\t%" SCNu16 "\t%" SCNx64 "\t%" SCNx64
                   "\t%" SCNu32 "\t%" SCNu32,
                   &vector.domain, vector.address[0], &vector.port[0], vector.address[1],
                   &vector.port[1], &vector.seed, &vector.hash, &vector.partition_of_32,
                   &vector.partition_of_3) != 9)
            continue;
        check_vector(&vector);
        vectors++;
    }
    fclose(file);
    assert_true(vectors >= 24);
}

static void test_addresses_are_written_as_they_were_read(void **state)
{
    const uint8_t ipv6[16] = {0x20, 1, 0xd, 0xb8, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 255};
    const uint8_t ipv4[4] = {192, 0, 2, 255};
    uint8_t out[16];

    (void)state;
    struct ckp_address address = ckp_address_from_ipv6(ipv6);
    assert_int_equal(ckp_address_write(out, &address, true), 16);
    assert_memory_equal(out, ipv6, 16);
    address = ckp_address_from_ipv4(ipv4);
    assert_int_equal(ckp_address_write(out, &address, false), 4);
    assert_memory_equal(out, ipv4, 4);
}

static void test_a_mapped_ipv6_address_is_another_flow_with_the_same_hash(void **state)
{
    const uint8_t ipv4[4] = {192, 0, 2, 1};
    const uint8_t mapped[16] = {[10] = 255, [11] = 255, [12] = 192, [13] = 0, [14] = 2, [15] = 1};
    struct ckp_address a = ckp_address_from_ipv4(ipv4), b = ckp_address_from_ipv6(mapped);
    struct ckp_flow_key key_a = {.is_ipv6 = false}, key_b = {.is_ipv6 = true};

    (void)state;
    ckp_flow_key_order(&key_a, &a, 1, &a, 2);
    ckp_flow_key_order(&key_b, &b, 1, &b, 2);
    assert_int_equal(ckp_flow_key_hash(&key_a, 0), ckp_flow_key_hash(&key_b, 0));
    assert_false(ckp_flow_key_equal(&key_a, &key_b));
}

/* Each part of the key makes another flow, and another hash of the table. */
static void test_every_part_of_the_key_tells_flows_apart(void **state)
{
    const uint8_t address[16] = {0x20, 1, 0xd, 0xb8, [15] = 1};
    struct ckp_address a = ckp_address_from_ipv6(address);
    struct ckp_flow_key key = {.is_ipv6 = true}, others[7];

    (void)state;
    ckp_flow_key_order(&key, &a, 1, &a, 2);
    for (size_t i = 0; i < 7; i++)
        others[i] = key;
    others[0].domain++;
    others[1].low_port++;
    others[2].high_port++;
    others[3].low_address.word[0]++;
    others[4].low_address.word[1]++;
    others[5].high_address.word[0]++;
    others[6].high_address.word[1]++;
    for (size_t i = 0; i < 7; i++) {
        assert_false(ckp_flow_key_equal(&key, &others[i]));
        assert_int_not_equal(ckp_flow_key_hash(&key, 5), ckp_flow_key_hash(&others[i], 5));
        assert_int_not_equal(ckp_flow_key_table_hash(&key, 5),
                             ckp_flow_key_table_hash(&others[i], 5));
    }
    assert_int_not_equal(ckp_flow_key_table_hash(&key, 5), ckp_flow_key_table_hash(&key, 6));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flow_hash_has_the_golden_values),
        cmocka_unit_test(test_addresses_are_written_as_they_were_read),
        cmocka_unit_test(test_every_part_of_the_key_tells_flows_apart),
        cmocka_unit_test(test_a_mapped_ipv6_address_is_another_flow_with_the_same_hash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
