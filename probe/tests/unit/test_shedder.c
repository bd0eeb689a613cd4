/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The control law against a tap that is simulated: frames come at a rate, a queue holds those that
 * the probe has not worked off yet, and what finds it full is lost. A frame that is left out costs
 * a third of one that is kept; buckets weigh what they like.
 */
#include "shedder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define SECOND   INT64_C(1000000000)
#define PERIODS  (SECOND / CKP_SHED_PERIOD_NS)
#define LEFT_OUT (1.0 / 3)

struct tap {
    struct ckp_shedder shedder;
    struct ckp_pressure pressure;
    double weight[CKP_SHED_BUCKETS]; /* shares of the traffic */
    double frames_per_second;
    double capacity; /* kept frames a second */
    double queue_frames;
    double queued; /* kept and left out alike, in frames */
    bool tells_fill;
    double lost;                       /* since take_lost() */
    int64_t shed_ns[CKP_SHED_BUCKETS]; /* when it was last left out */
    uint32_t sheds[CKP_SHED_BUCKETS];  /* how often */
    uint32_t rises;
};

static struct tap new_tap(double capacity)
{
    struct tap tap = {.capacity = capacity, .queue_frames = 4096};

    ckp_shedder_init(&tap.shedder);
    tap.pressure.receive_fill = tap.pressure.output_fill = CKP_FILL_UNKNOWN;
    for (uint32_t i = 0; i < CKP_SHED_BUCKETS; i++)
        tap.weight[i] = 1.0 / CKP_SHED_BUCKETS;
    return tap;
}

static double kept_share(const struct tap *tap)
{
    double kept = 0;

    for (uint32_t i = tap->shedder.level; i < CKP_SHED_BUCKETS; i++)
        kept += tap->weight[i];
    return kept;
}

static void note_level(struct tap *tap, uint32_t before)
{
    int64_t now_ns = tap->pressure.now_ns;

    assert_true(tap->shedder.level < CKP_SHED_BUCKETS);
    tap->rises += tap->shedder.level > before;
    for (uint32_t i = before; i < tap->shedder.level; i++) {
        if (tap->sheds[i]++ > 0)
            assert_true(now_ns - tap->shed_ns[i] >= CKP_SHED_CALM_NS);
        tap->shed_ns[i] = now_ns;
    }
}

static void play_period(struct tap *tap)
{
    double seconds = (double)CKP_SHED_PERIOD_NS / SECOND, kept = kept_share(tap);
    double cost = kept + (1 - kept) * LEFT_OUT; /* of a mean frame */
    double came = tap->frames_per_second * seconds;
    double worked = tap->capacity * seconds / cost;
    double lost = 0;

    if (worked > tap->queued + came)
        worked = tap->queued + came;
    tap->queued += came - worked;
    if (tap->queued > tap->queue_frames) {
        lost = tap->queued - tap->queue_frames;
        tap->queued = tap->queue_frames;
    }
    tap->lost += lost;
    tap->pressure.now_ns += CKP_SHED_PERIOD_NS;
    tap->pressure.frames_received += (uint64_t)worked;
    tap->pressure.frames_missed += (uint64_t)lost;
    if (tap->tells_fill)
        tap->pressure.receive_fill = tap->queued / tap->queue_frames;

    uint32_t before = tap->shedder.level;
    uint32_t level = ckp_shedder_decide(&tap->shedder, &tap->pressure);
    assert_int_equal(level, tap->shedder.level);
    note_level(tap, before);
}

static void play(struct tap *tap, double frames_per_second, int seconds)
{
    tap->frames_per_second = frames_per_second;
    for (int64_t i = 0; i < seconds * PERIODS; i++)
        play_period(tap);
}

static double take_lost(struct tap *tap)
{
    double lost = tap->lost;

    tap->lost = 0;
    return lost;
}

static void test_a_probe_that_keeps_up_leaves_nothing_out(void **state)
{
    struct tap tap = new_tap(1e6);

    (void)state;
    play(&tap, 0.99e6, 3600);
    assert_int_equal(tap.shedder.level, 0);
    assert_int_equal(tap.rises, 0);
}

static void test_an_overload_costs_frames_for_two_seconds_only(void **state)
{
    static const double overloads[] = {1.02, 1.1, 1.5, 2, 2.8};

    (void)state;
    for (size_t i = 0; i < sizeof overloads / sizeof overloads[0]; i++) {
        struct tap tap = new_tap(1e6);
        play(&tap, 0.5e6, 10);
        play(&tap, overloads[i] * 1e6, 2);
        take_lost(&tap);
        uint32_t level = tap.shedder.level;
        play(&tap, overloads[i] * 1e6, 8);
        assert_true(take_lost(&tap) == 0);
        assert_int_equal(tap.shedder.level, level);
    }
}

/* 3 t frames cost as much as 1 t kept ones: beyond that even leaving out is too much. */
static void test_what_cannot_be_worked_off_leaves_one_bucket_watched(void **state)
{
    struct tap tap = new_tap(1e6);

    (void)state;
    play(&tap, 10e6, 60);
    assert_int_equal(tap.shedder.level, CKP_SHED_BUCKETS - 1);
}

static void test_no_more_is_left_out_than_must_be(void **state)
{
    struct tap tap = new_tap(1e6);

    (void)state;
    play(&tap, 1.5e6, 60);
    /* kept + (1 - kept) / 3 = 1 / 1.5 for half the flows */
    assert_in_range(tap.shedder.level, CKP_SHED_BUCKETS / 2, CKP_SHED_BUCKETS / 2 + 3);
}

static void test_a_queue_that_tells_its_fill_overflows_less(void **state)
{
    struct tap blind = new_tap(1e6), seeing = new_tap(1e6);

    (void)state;
    blind.queue_frames = seeing.queue_frames = 300e3;
    seeing.tells_fill = true;
    play(&blind, 1.5e6, 20);
    play(&seeing, 1.5e6, 20);
    assert_true(take_lost(&seeing) < take_lost(&blind));
    assert_true(seeing.queued < 0.75 * seeing.queue_frames);
}

static void test_a_queue_that_shrinks_asks_for_nothing_more(void **state)
{
    struct ckp_shedder shedder;
    struct ckp_pressure pressure = {.receive_fill = CKP_FILL_UNKNOWN, .output_fill = 0.5};

    (void)state;
    ckp_shedder_init(&shedder);
    ckp_shedder_decide(&shedder, &pressure);
    pressure.output_fill = 0.95;
    pressure.now_ns += CKP_SHED_PERIOD_NS;
    uint32_t level = ckp_shedder_decide(&shedder, &pressure);
    assert_true(level > 0);
    for (pressure.output_fill = 0.949; pressure.output_fill > 0.5; pressure.output_fill -= 0.001) {
        pressure.now_ns += CKP_SHED_PERIOD_NS;
        assert_int_equal(ckp_shedder_decide(&shedder, &pressure), level);
    }
}

static void test_after_the_overload_all_come_back_one_a_second(void **state)
{
    struct tap tap = new_tap(1e6);

    (void)state;
    play(&tap, 1.5e6, 2);
    uint32_t level = tap.shedder.level;
    take_lost(&tap);
    play(&tap, 0.5e6, 8);
    assert_int_equal(tap.shedder.level, level);
    play(&tap, 0.5e6, 4);
    assert_in_range(tap.shedder.level, level - 4, level - 1);
    play(&tap, 0.5e6, (int)level);
    assert_int_equal(tap.shedder.level, 0);
    assert_true(take_lost(&tap) == 0);
}

/* Twice as long each time: after 10, 20, 40 ... 320 s. */
static void test_an_overload_that_lasts_is_tried_ever_more_seldom(void **state)
{
    struct tap tap = new_tap(1e6);

    (void)state;
    play(&tap, 1.5e6, 700);
    uint32_t rises_at_first = tap.rises;
    take_lost(&tap);
    play(&tap, 1.5e6, 3600);
    assert_in_range(tap.rises, rises_at_first + 5, rises_at_first + 24);
    assert_true(take_lost(&tap) < 0.0005 * 3600 * 1.5e6);
    assert_int_equal(tap.sheds[0], 1); /* the first ones never came back */
}

static void test_the_next_overload_is_met_as_the_first_was(void **state)
{
    struct tap tap = new_tap(1e6);

    (void)state;
    play(&tap, 1.5e6, 1000);
    assert_int_equal(tap.shedder.calm_ns, CKP_SHED_CALM_MAX_NS);
    play(&tap, 0.5e6, 1000);
    assert_int_equal(tap.shedder.level, 0);
    assert_int_equal(tap.shedder.calm_ns, CKP_SHED_CALM_NS);
}

/* Another process has the core for some periods. */
static void play_hiccup(struct tap *tap, int periods)
{
    tap->capacity = 0;
    for (int i = 0; i < periods; i++)
        play_period(tap);
    tap->capacity = 1e6;
}

static void test_a_hiccup_leaves_nothing_out(void **state)
{
    struct tap tap = new_tap(1e6);

    (void)state;
    play(&tap, 0.5e6, 10);
    for (int i = 0; i < 100; i++) {
        play_hiccup(&tap, 1);
        play(&tap, 0.5e6, 5);
        assert_int_equal(tap.shedder.level, 0);
    }
    assert_true(tap.pressure.frames_missed > 0);
}

static void test_a_longer_one_leaves_out_a_quarter_at_most(void **state)
{
    struct tap tap = new_tap(1e6);

    (void)state;
    play(&tap, 0.5e6, 10);
    play_hiccup(&tap, 2);
    play(&tap, 0.5e6, 2);
    assert_in_range(tap.shedder.level, 1, CKP_SHED_BUCKETS / 4 + 1);
    play(&tap, 0.5e6, 40);
    assert_int_equal(tap.shedder.level, 0);
}

static void test_a_few_lost_frames_are_no_overload(void **state)
{
    struct tap tap = new_tap(1e6);

    (void)state;
    for (int i = 0; i < 100; i++) {
        tap.pressure.frames_missed += 100; /* of 90,000 in that period */
        play(&tap, 0.9e6, 1);
    }
    assert_int_equal(tap.shedder.level, 0);
    play(&tap, 10, 1);
    tap.pressure.frames_missed += 3; /* a third of all, but of few */
    play(&tap, 10, 1);
    assert_int_equal(tap.shedder.level, 0);
}

static void test_frames_in_flight_are_not_lost(void **state)
{
    struct tap tap = new_tap(1e6);

    (void)state;
    for (int i = 0; i < 100; i++) {
        tap.pressure.frames_deduced = (uint64_t)(i % 2) * 4000;
        play(&tap, 50e3, 1);
    }
    assert_int_equal(tap.shedder.level, 0);
    for (int i = 0; i < 2; i++) {
        tap.pressure.frames_deduced += 8500;
        play_period(&tap);
    }
    assert_true(tap.shedder.level > 0);
}

/* The heaviest flow is half of the traffic, in the last bucket to be left out or in the first. */
static void test_an_elephant_changes_how_many_others_go(void **state)
{
    struct tap first = new_tap(1e6), last = new_tap(1e6);

    (void)state;
    for (uint32_t i = 0; i < CKP_SHED_BUCKETS; i++)
        first.weight[i] = last.weight[i] = 0.5 / (CKP_SHED_BUCKETS - 1);
    first.weight[0] = last.weight[CKP_SHED_BUCKETS - 1] = 0.5;
    play(&first, 1.3e6, 4);
    play(&last, 1.3e6, 4);
    assert_in_range(first.shedder.level, 1, 16);
    assert_in_range(last.shedder.level, 40, CKP_SHED_BUCKETS - 1);
    take_lost(&first);
    take_lost(&last);
    play(&first, 1.3e6, 4);
    play(&last, 1.3e6, 4);
    assert_true(take_lost(&first) + take_lost(&last) == 0);
}

static uint64_t random_state;

static double random_share(void) /* 0..1, the same at each run */
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(random_state >> 11) / (double)(UINT64_C(1) << 53);
}

/* Whatever the load does, no bucket is left out twice within the calm (note_level() holds to it),
 * and most of what comes is received. */
static void test_any_load(void **state)
{
    (void)state;
    for (int round = 0; round < 200; round++) {
        struct tap tap = new_tap(1e6);
        double sum = 0, came = 0;
        random_state = (uint64_t)round;
        tap.tells_fill = round % 2;
        tap.queue_frames = 1000 + 500e3 * random_share() * random_share();
        for (uint32_t i = 0; i < CKP_SHED_BUCKETS; i++)
            sum += tap.weight[i] = 0.01 / (0.01 + random_share());
        for (uint32_t i = 0; i < CKP_SHED_BUCKETS; i++)
            tap.weight[i] /= sum;
        for (int phase = 0; phase < 30; phase++) {
            double rate = 2e6 * random_share();
            int seconds = 1 + (int)(120 * random_share() * random_share());
            play(&tap, rate, seconds);
            came += rate * seconds;
        }
        assert_true(take_lost(&tap) < 0.1 * came);
        play(&tap, 0.3e6, 500);
        assert_int_equal(tap.shedder.level, 0);
    }
}

static void test_buckets_are_even_and_have_nothing_to_do_with_partitions(void **state)
{
    static uint32_t flows[CKP_SHED_BUCKETS][32];
    struct ckp_flow_key key = {.low_port = 443};

    (void)state;
    for (uint32_t i = 0; i < CKP_SHED_BUCKETS * 32 * 100; i++) {
        key.high_address.word[1] = i;
        flows[ckp_shed_bucket(&key, 7)][ckp_flow_partition(ckp_flow_key_hash(&key, 7), 32)]++;
    }
    for (uint32_t bucket = 0; bucket < CKP_SHED_BUCKETS; bucket++)
        for (uint32_t partition = 0; partition < 32; partition++)
            assert_in_range(flows[bucket][partition], 50, 150);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_probe_that_keeps_up_leaves_nothing_out),
        cmocka_unit_test(test_an_overload_costs_frames_for_two_seconds_only),
        cmocka_unit_test(test_what_cannot_be_worked_off_leaves_one_bucket_watched),
        cmocka_unit_test(test_no_more_is_left_out_than_must_be),
        cmocka_unit_test(test_a_queue_that_tells_its_fill_overflows_less),
        cmocka_unit_test(test_a_queue_that_shrinks_asks_for_nothing_more),
        cmocka_unit_test(test_after_the_overload_all_come_back_one_a_second),
        cmocka_unit_test(test_an_overload_that_lasts_is_tried_ever_more_seldom),
        cmocka_unit_test(test_the_next_overload_is_met_as_the_first_was),
        cmocka_unit_test(test_a_hiccup_leaves_nothing_out),
        cmocka_unit_test(test_a_longer_one_leaves_out_a_quarter_at_most),
        cmocka_unit_test(test_a_few_lost_frames_are_no_overload),
        cmocka_unit_test(test_frames_in_flight_are_not_lost),
        cmocka_unit_test(test_an_elephant_changes_how_many_others_go),
        cmocka_unit_test(test_any_load),
        cmocka_unit_test(test_buckets_are_even_and_have_nothing_to_do_with_partitions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
