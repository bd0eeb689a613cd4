/* SPDX-License-Identifier: Apache-2.0 */
#include "handoff.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define MANY 300000u

static struct ckp_handoff handoff;

static int set_up(void **state)
{
    (void)state;
    return ckp_handoff_init(&handoff) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    ckp_handoff_free(&handoff);
    return 0;
}

static bool put(uint32_t number)
{
    struct ckp_packet packet = {.segment.sequence_number = number, .tunnel_id = number};

    return ckp_handoff_put(&handoff, &packet);
}

/* Takes all that can be seen and expects the numbers from `first` on. @return how many */
static uint32_t take(uint32_t first)
{
    const struct ckp_packet *packets;
    uint32_t count, taken = 0;

    while ((count = ckp_handoff_take(&handoff, &packets)) > 0) {
        for (uint32_t i = 0; i < count; i++, taken++) {
            assert_int_equal(packets[i].segment.sequence_number, first + taken);
            assert_int_equal(packets[i].tunnel_id, first + taken);
        }
        ckp_handoff_release(&handoff, count);
    }
    return taken;
}

static void test_nothing_is_seen_before_it_is_published(void **state)
{
    (void)state;
    assert_int_equal(take(0), 0);
    assert_true(put(0));
    assert_int_equal(take(0), 0);
    ckp_handoff_publish(&handoff);
    assert_int_equal(take(0), 1);
    assert_int_equal(take(0), 0);
}

static void test_a_full_one_takes_no_more_until_some_are_released(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < CKP_HANDOFF_PACKETS; i++)
        assert_true(put(i));
    assert_false(put(CKP_HANDOFF_PACKETS));
    assert_float_equal(ckp_handoff_fill(&handoff), 1, 0);
    ckp_handoff_publish(&handoff);
    assert_false(put(CKP_HANDOFF_PACKETS));
    assert_int_equal(take(0), CKP_HANDOFF_PACKETS);
    assert_float_equal(ckp_handoff_fill(&handoff), 0, 0);
    assert_true(put(CKP_HANDOFF_PACKETS)); /* around the end */
    ckp_handoff_publish(&handoff);
    assert_int_equal(take(CKP_HANDOFF_PACKETS), 1);
}

static void test_it_is_done_once_all_is_taken_of_a_closed_one(void **state)
{
    (void)state;
    assert_false(ckp_handoff_is_done(&handoff));
    assert_true(put(0));
    ckp_handoff_close(&handoff);
    assert_false(ckp_handoff_is_done(&handoff));
    assert_int_equal(take(0), 1);
    assert_true(ckp_handoff_is_done(&handoff));
}

static void *give_many(void *unused)
{
    for (uint32_t i = 0; i < MANY;) {
        if (put(i))
            i++;
        else
            sched_yield();
        if (i % 32 == 0)
            ckp_handoff_publish(&handoff);
    }
    ckp_handoff_close(&handoff);
    return unused;
}

static void test_two_threads_see_all_in_order(void **state)
{
    pthread_t giver;
    uint32_t taken = 0;

    (void)state;
    assert_int_equal(pthread_create(&giver, NULL, give_many, NULL), 0);
    while (!ckp_handoff_is_done(&handoff)) {
        uint32_t count = take(taken);
        taken += count;
        if (count == 0)
            sched_yield();
    }
    pthread_join(giver, NULL);
    assert_int_equal(taken, MANY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_nothing_is_seen_before_it_is_published, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_a_full_one_takes_no_more_until_some_are_released,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_it_is_done_once_all_is_taken_of_a_closed_one, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_two_threads_see_all_in_order, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
