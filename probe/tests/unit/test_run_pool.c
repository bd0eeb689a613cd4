/* SPDX-License-Identifier: Apache-2.0 */
/* Packets come out of the pool as they went in, many runs grow at once, and no chunk is lost. */
#include "run_pool.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define RUNS   40
#define CHUNKS 2000
#define ROUNDS 100000

struct expected_run {
    struct ckp_open_run run;
    struct ckp_segment segments[CKP_RUN_PACKETS_MAX];
    struct ckp_sack_block sack_blocks[CKP_RUN_PACKETS_MAX * CKP_SACK_BLOCKS_MAX];
    uint32_t count, sack_count;
};

static struct expected_run expected[RUNS];
static struct ckp_run_copy copy;
static struct ckp_run_pool pool;

static uint32_t random_below(uint32_t limit)
{
    static uint64_t state = 11;

    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % limit;
}

static bool append_random(struct expected_run *run)
{
    struct ckp_segment segment = {
        .time_ns = random_below(1000),
        .sequence_number = random_below(UINT32_MAX),
        .sack_blocks = (uint8_t)(random_below(3) ? 0 : 1 + random_below(CKP_SACK_BLOCKS_MAX)),
    };
    struct ckp_sack_block sack[CKP_SACK_BLOCKS_MAX];

    for (size_t i = 0; i < CKP_SACK_BLOCKS_MAX; i++)
        sack[i] = (struct ckp_sack_block){random_below(UINT32_MAX), random_below(UINT32_MAX)};
    if (!ckp_open_run_append(&pool, &run->run, &segment, sack))
        return false;
    run->segments[run->count++] = segment;
    memcpy(run->sack_blocks + run->sack_count, sack, segment.sack_blocks * sizeof sack[0]);
    run->sack_count += segment.sack_blocks;
    return true;
}

static void take_and_compare(struct expected_run *run)
{
    struct ckp_packets packets = ckp_open_run_take(&pool, &run->run, &copy);

    assert_int_equal(packets.count, run->count);
    assert_memory_equal(packets.segments, run->segments, run->count * sizeof run->segments[0]);
    assert_memory_equal(packets.sack_blocks, run->sack_blocks,
                        run->sack_count * sizeof run->sack_blocks[0]);
    run->count = run->sack_count = 0;
}

static void test_packets_come_out_as_they_went_in(void **state)
{
    (void)state;
    assert_true(ckp_run_pool_init(&pool, CHUNKS * (sizeof(struct ckp_chunk) + 4)));
    for (int i = 0; i < RUNS; i++)
        ckp_open_run_reset(&expected[i].run);
    for (int round = 0; round < ROUNDS; round++) {
        struct expected_run *run = &expected[random_below(RUNS)];
        if (run->count == CKP_RUN_PACKETS_MAX || random_below(100) == 0 || !append_random(run))
            take_and_compare(run);
    }
    for (int i = 0; i < RUNS; i++)
        take_and_compare(&expected[i]);
    ckp_run_pool_free(&pool);
}

static void test_no_chunk_is_lost(void **state)
{
    (void)state;
    assert_true(ckp_run_pool_init(&pool, 10 * (sizeof(struct ckp_chunk) + 4)));
    for (int round = 0; round < 100; round++) {
        uint32_t packets = 0;
        ckp_open_run_reset(&expected[0].run);
        while (append_random(&expected[0]))
            packets++;
        assert_in_range(packets, 20, 50); /* 10 chunks of 5 slots, up to two slots a packet */
        take_and_compare(&expected[0]);
    }
    ckp_run_pool_free(&pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_packets_come_out_as_they_went_in),
        cmocka_unit_test(test_no_chunk_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
