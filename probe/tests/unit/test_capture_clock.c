/* SPDX-License-Identifier: Apache-2.0 */
#include "capture_clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define SECOND CKP_NANOS_PER_SECOND
#define START  (1700000000 * SECOND)
#define Y2106  (4294967295 * SECOND)

static void observe(struct ckp_capture_clock *clock, int64_t time_ns, unsigned times)
{
    for (unsigned i = 0; i < times; i++)
        ckp_capture_clock_observe(clock, time_ns);
}

static void test_it_starts_at_the_first_packet(void **state)
{
    struct ckp_capture_clock clock = {0};

    (void)state;
    observe(&clock, START, 1);
    assert_int_equal(clock.now_ns, 0);
    observe(&clock, START + 5, 1);
    assert_int_equal(clock.now_ns, 5);
}

static void test_it_does_not_go_back(void **state)
{
    struct ckp_capture_clock clock = {0};

    (void)state;
    observe(&clock, START, 1);
    observe(&clock, START + 10, 1);
    observe(&clock, START + 4, 1);
    assert_int_equal(clock.now_ns, 10);
    observe(&clock, START + 11, 1);
    assert_int_equal(clock.now_ns, 11);
}

static void test_a_few_stamps_of_2106_do_not_move_it(void **state)
{
    struct ckp_capture_clock clock = {0};

    (void)state;
    observe(&clock, START, 1);
    observe(&clock, Y2106, CKP_CLOCK_STRAYS - 1);
    assert_int_equal(clock.now_ns, 0);
    observe(&clock, START + 7, 1);
    observe(&clock, Y2106, CKP_CLOCK_STRAYS - 1); /* not in a row with those before */
    observe(&clock, START + 8, 1);
    assert_int_equal(clock.now_ns, 8);
}

static void test_a_leap_is_believed_when_it_lasts(void **state)
{
    struct ckp_capture_clock clock = {0};

    (void)state;
    observe(&clock, START, 1);
    observe(&clock, START + 100 * SECOND, CKP_CLOCK_STRAYS);
    assert_int_equal(clock.now_ns, 100 * SECOND);
    observe(&clock, START + 101 * SECOND, 1);
    assert_int_equal(clock.now_ns, 101 * SECOND);
}

static void test_a_leap_back_only_moves_what_is_believed(void **state)
{
    struct ckp_capture_clock clock = {0};

    (void)state;
    observe(&clock, START, 1);
    observe(&clock, START - 3600 * SECOND, CKP_CLOCK_STRAYS);
    assert_int_equal(clock.now_ns, 0);
    observe(&clock, START - 3599 * SECOND, 1);
    assert_int_equal(clock.now_ns, SECOND);
}

static void test_leaps_to_and_fro_never_overflow(void **state)
{
    struct ckp_capture_clock clock = {.now_ns = INT64_MAX / 2 - 1};
    int64_t last_ns = clock.now_ns;

    (void)state;
    for (int i = 0; i < 1000; i++) {
        observe(&clock, i % 2 ? 0 : Y2106, CKP_CLOCK_STRAYS);
        assert_true(clock.now_ns >= last_ns && clock.now_ns < INT64_MAX - CKP_CLOCK_CREDIT_NS);
        last_ns = clock.now_ns;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_starts_at_the_first_packet),
        cmocka_unit_test(test_it_does_not_go_back),
        cmocka_unit_test(test_a_few_stamps_of_2106_do_not_move_it),
        cmocka_unit_test(test_a_leap_is_believed_when_it_lasts),
        cmocka_unit_test(test_a_leap_back_only_moves_what_is_believed),
        cmocka_unit_test(test_leaps_to_and_fro_never_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
