/* SPDX-License-Identifier: Apache-2.0 */
/* The table against a plain list: whatever is added is found, whatever is removed is not, and who
 * is scheduled is visited in time, once. */
#include "flow_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define FLOWS  3000
#define ROUNDS 200000

static struct ckp_flow_table table;

static struct ckp_flow_key key_of(uint32_t number)
{
    return (struct ckp_flow_key){.low_address = {{0, number}}, .high_port = 443};
}

/* Few distinct values, so that probe sequences collide and wrap around. */
static uint64_t hash_of(uint32_t number)
{
    return (uint64_t)(number % 7) << 32 | (number % 5 == 0 ? UINT32_MAX - number % 3 : number * 16);
}

static uint32_t random_below(uint32_t limit)
{
    static uint64_t state = 7;

    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % limit;
}

static void test_it_finds_what_is_there(void **state)
{
    static uint32_t handle[FLOWS];

    (void)state;
    assert_true(ckp_flow_table_init(&table, false));
    memset(handle, 0xff, sizeof handle);
    for (int round = 0; round < ROUNDS; round++) {
        uint32_t number = random_below(FLOWS);
        struct ckp_flow_key key = key_of(number);
        assert_int_equal(ckp_flow_table_find(&table, &key, hash_of(number)), handle[number]);
        if (handle[number] == CKP_FLOW_NONE) {
            handle[number] = ckp_flow_table_add(&table, &key, hash_of(number));
            ckp_flow_table_schedule(&table, handle[number], random_below(1000000000));
        } else if (random_below(2)) {
            ckp_flow_table_remove(&table, handle[number]);
            handle[number] = CKP_FLOW_NONE;
        }
    }
    ckp_flow_table_free(&table);
}

/* Each flow is due at a random time; the clock goes on in random steps, some of them leaps. */
static void test_whoever_is_due_is_visited(void **state)
{
    static int64_t due_ns[FLOWS];
    int64_t now_ns = 0, tick_ns = INT64_C(1) << CKP_WHEEL_TICK_SHIFT;
    uint32_t handle;

    (void)state;
    assert_true(ckp_flow_table_init(&table, false));
    for (uint32_t i = 0; i < FLOWS; i++) {
        struct ckp_flow_key key = key_of(i);
        handle = ckp_flow_table_add(&table, &key, hash_of(i));
        assert_int_equal(handle, i);
        due_ns[i] = (int64_t)random_below(600) * 1000000000 + random_below(1000000000);
        ckp_flow_table_schedule(&table, handle, due_ns[i]);
        if (i % 3 == 0) { /* sooner */
            due_ns[i] /= 2;
            ckp_flow_table_schedule(&table, handle, due_ns[i]);
        }
    }
    uint32_t waiting = FLOWS;
    while (waiting > 0) {
        now_ns +=
            random_below(10) ? random_below(200000000) : random_below(4) * INT64_C(100000000000);
        while ((handle = ckp_flow_table_next_due(&table, now_ns)) != CKP_FLOW_NONE) {
            assert_true(due_ns[handle] != INT64_MAX);
            if (due_ns[handle] > now_ns) { /* beyond the wheel's horizon */
                ckp_flow_table_schedule(&table, handle, due_ns[handle]);
            } else {
                due_ns[handle] = INT64_MAX;
                waiting--;
            }
        }
        for (uint32_t i = 0; i < FLOWS; i++)
            assert_true(due_ns[i] > now_ns - 2 * tick_ns);
    }
    ckp_flow_table_free(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_finds_what_is_there),
        cmocka_unit_test(test_whoever_is_due_is_visited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
