/* SPDX-License-Identifier: Apache-2.0 */
/* Symmetric is what Toeplitz itself finds so: both directions of made-up flows, hashed by the key.
 */
#include "hash_key.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#define KEY_BYTES 40

/* The key that data sheets print for the verification of cards. */
static const uint8_t microsofts_key[KEY_BYTES] = {
    0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3,
    0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3,
    0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa};

static uint32_t toeplitz(const uint8_t *key, const uint8_t *input, size_t bytes)
{
    uint32_t hash = 0;

    for (size_t i = 0; i < 8 * bytes; i++)
        for (size_t j = 0; input[i / 8] >> (7 - i % 8) & 1 && j < 32; j++)
            hash ^= (uint32_t)(key[(i + j) / 8] >> (7 - (i + j) % 8) & 1) << (31 - j);
    return hash;
}

/* Of addresses of so many bytes. */
static bool meet(const uint8_t *key, size_t address_bytes)
{
    uint8_t there[36], back[36];
    size_t bytes = 2 * address_bytes + 4;
    uint32_t random = 1;

    for (int flow = 0; flow < 200; flow++) {
        for (size_t i = 0; i < bytes; i++)
            there[i] = (uint8_t)((random = random * 1664525u + 1013904223u) >> 24);
        memcpy(back, there + address_bytes, address_bytes);
        memcpy(back + address_bytes, there, address_bytes);
        memcpy(back + 2 * address_bytes, there + 2 * address_bytes + 2, 2);
        memcpy(back + 2 * address_bytes + 2, there + 2 * address_bytes, 2);
        if (toeplitz(key, there, bytes) != toeplitz(key, back, bytes))
            return false;
    }
    return true;
}

static void fill(uint8_t key[KEY_BYTES], uint8_t even, uint8_t odd)
{
    for (size_t i = 0; i < KEY_BYTES; i++)
        key[i] = i % 2 ? odd : even;
}

static void test_the_hash_of_the_data_sheet_is_ours(void **state)
{
    const uint8_t input[] = {66,  9,  149,       187,        161,       142,
                             100, 80, 2794 >> 8, 2794 & 255, 1766 >> 8, 1766 & 255};

    (void)state;
    assert_int_equal(toeplitz(microsofts_key, input, sizeof input), 0x51ccc178);
}

static void test_two_bytes_repeated_are_symmetric(void **state)
{
    uint8_t key[KEY_BYTES];

    (void)state;
    fill(key, 0x6d, 0x5a);
    assert_true(meet(key, 4) && meet(key, 16));
    assert_true(ckp_hash_key_is_symmetric(key, KEY_BYTES));
    assert_false(ckp_hash_key_is_symmetric(key, KEY_BYTES - 1));
}

static void test_the_usual_key_is_not(void **state)
{
    (void)state;
    assert_false(meet(microsofts_key, 4) || meet(microsofts_key, 16));
    assert_false(ckp_hash_key_is_symmetric(microsofts_key, KEY_BYTES));
}

/* The last bit meets none of the ports of IPv6: whoever looks too far sees it. */
static void test_each_bit_counts_that_toeplitz_reads(void **state)
{
    uint8_t key[KEY_BYTES];

    (void)state;
    for (size_t bit = 0; bit < 8 * KEY_BYTES; bit++) {
        fill(key, 0x6d, 0x5a);
        key[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
        assert_int_equal(ckp_hash_key_is_symmetric(key, KEY_BYTES), meet(key, 4) && meet(key, 16));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_hash_of_the_data_sheet_is_ours),
        cmocka_unit_test(test_two_bytes_repeated_are_symmetric),
        cmocka_unit_test(test_the_usual_key_is_not),
        cmocka_unit_test(test_each_bit_counts_that_toeplitz_reads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
