/* SPDX-License-Identifier: Apache-2.0 */
/* Timelines: frames pass a switch, wait in a queue and arrive. */
#include "erspan_clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define MICRO  INT64_C(1000)
#define MILLI  CKP_NANOS_PER_MILLI
#define SECOND CKP_NANOS_PER_SECOND
#define START  (1700000000 * SECOND)

#define PROOF (CKP_ERSPAN_PROOF_NS + MILLI)

/* A switch with a clock of its own, as a probe sees it. */
struct tap {
    struct ckp_erspan_clocks clocks;
    struct ckp_counters counters;
    struct ckp_erspan_stamp stamp;
    int64_t clock_start_ns; /* what the switch's clock shows at START */
    int64_t drift_ppm;
    uint64_t random;
};

static struct tap new_tap(void)
{
    return (struct tap){
        .stamp = {.source = {{0, 0xffff0a000001}}, .session_id = 5, .unit = CKP_ERSPAN_100_NS},
        .clock_start_ns = 123 * SECOND,
        .random = 1};
}

/* 0 to below - 1. */
static int64_t any(struct tap *tap, int64_t below)
{
    tap->random = tap->random * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (int64_t)((tap->random >> 33) % (uint64_t)below);
}

/* A frame that passes the switch `at_ns` after START and arrives `wait_ns` later. @return its time,
 * after START */
static int64_t see(struct tap *tap, int64_t at_ns, int64_t wait_ns)
{
    int64_t arrival_ns = START + at_ns + wait_ns;
    int64_t clock_ns = tap->clock_start_ns + at_ns + at_ns / 1000000 * tap->drift_ppm;

    tap->stamp.ticks = (uint32_t)(clock_ns / 100);
    int64_t time_ns = ckp_erspan_time_ns(&tap->clocks, &tap->counters, &tap->stamp, arrival_ns);
    assert_in_range(arrival_ns - time_ns, 0, CKP_ERSPAN_WAIT_MAX_NS);
    return time_ns - START;
}

static uint64_t count(const struct tap *tap, enum ckp_counter counter)
{
    return tap->counters.value[counter];
}

static void assert_about(int64_t time_ns, int64_t expected_ns, int64_t early_ns, int64_t late_ns)
{
    if (time_ns < expected_ns - early_ns || time_ns > expected_ns + late_ns)
        fail_msg("%lld ns instead of %lld", (long long)time_ns, (long long)expected_ns);
}

/* A frame that has not waited, and one later, when the clock is believed. @return when */
static int64_t prove(struct tap *tap, int64_t at_ns)
{
    assert_int_equal(see(tap, at_ns, 0), at_ns);
    assert_int_equal(see(tap, at_ns + PROOF, 0), at_ns + PROOF);
    return at_ns + PROOF;
}

static void test_what_a_queue_adds_is_taken_away(void **state)
{
    struct tap tap = new_tap();
    int64_t at_ns = prove(&tap, 0);

    (void)state;
    assert_int_equal(see(&tap, at_ns + 100 * MICRO, 3 * MILLI), at_ns + 100 * MICRO);
    assert_int_equal(see(&tap, at_ns + 200 * MICRO, 4 * MILLI), at_ns + 200 * MICRO);
    assert_int_equal(see(&tap, at_ns + 300 * MICRO, 50 * MILLI), at_ns + 300 * MICRO);
    assert_int_equal(count(&tap, CKP_COUNT_ERSPAN_STAMPS_USED), 4);
}

static void test_a_time_is_as_fine_as_its_stamp(void **state)
{
    struct tap tap = new_tap();
    int64_t at_ns = prove(&tap, 0);

    (void)state;
    assert_int_equal(see(&tap, at_ns + 199, 5), at_ns + 100);
}

static void test_a_clock_that_was_met_in_a_queue_is_corrected_by_who_waits_less(void **state)
{
    struct tap tap = new_tap();

    (void)state;
    see(&tap, 0, 9 * MILLI);
    assert_int_equal(see(&tap, PROOF, 2 * MILLI), PROOF + 2 * MILLI);
    assert_int_equal(see(&tap, PROOF + MILLI, 8 * MILLI), PROOF + 3 * MILLI);
    assert_int_equal(see(&tap, PROOF + 10 * MILLI, 0), PROOF + 10 * MILLI);
    assert_int_equal(see(&tap, PROOF + 11 * MILLI, 8 * MILLI), PROOF + 11 * MILLI);
}

static void test_a_clock_is_not_believed_in_its_first_second(void **state)
{
    struct tap tap = new_tap();

    (void)state;
    see(&tap, 0, 0);
    assert_int_equal(see(&tap, MILLI, 3 * MILLI), 4 * MILLI);
    assert_int_equal(see(&tap, SECOND - 2, 1), SECOND - 1);
    assert_int_equal(count(&tap, CKP_COUNT_ERSPAN_STAMPS_UNPROVEN), 3);
    assert_int_equal(see(&tap, SECOND, MILLI), SECOND);
    assert_int_equal(count(&tap, CKP_COUNT_ERSPAN_STAMPS_USED), 1);
}

static void test_stamps_wrap_after_429_s(void **state)
{
    struct tap tap = new_tap();

    (void)state;
    tap.clock_start_ns = (INT64_C(100) << 32) - PROOF - MILLI;
    int64_t at_ns = prove(&tap, 0);
    assert_int_equal(see(&tap, at_ns + 900 * MICRO, 5 * MILLI), at_ns + 900 * MICRO);
    assert_int_equal(see(&tap, at_ns + 1100 * MICRO, 6 * MILLI), at_ns + 1100 * MICRO);
    for (int64_t i = 2; i < 3 * 430; i++)
        assert_int_equal(see(&tap, at_ns + i * SECOND, i % 2 * MILLI), at_ns + i * SECOND);
    assert_int_equal(count(&tap, CKP_COUNT_ERSPAN_STAMPS_REFUSED), 0);
}

/* One frame in three has not waited, the others up to 3 ms. */
static void follow_for_an_hour(int64_t drift_ppm)
{
    struct tap tap = new_tap();

    tap.drift_ppm = drift_ppm;
    see(&tap, 0, 0);
    int64_t last_ns = see(&tap, PROOF, 0);
    for (int64_t at_ns = PROOF + 10 * MILLI; at_ns < 3600 * SECOND; at_ns += 10 * MILLI) {
        int64_t wait_ns = any(&tap, 3) ? any(&tap, 3 * MILLI) : 0;
        int64_t time_ns = see(&tap, at_ns, wait_ns);
        assert_about(time_ns, at_ns, 250 * MICRO, 50 * MICRO);
        assert_about(time_ns - last_ns, 10 * MILLI, 60 * MICRO, 60 * MICRO);
        last_ns = time_ns;
    }
    assert_int_equal(count(&tap, CKP_COUNT_ERSPAN_STAMPS_REFUSED), 0);
    assert_int_equal(count(&tap, CKP_COUNT_ERSPAN_CLOCKS_SET), 0);
}

static void test_clocks_drift_apart(void **state)
{
    (void)state;
    follow_for_an_hour(100);
    follow_for_an_hour(-100);
    follow_for_an_hour(0);
}

static void test_times_of_frames_that_arrive_in_order_are_in_order(void **state)
{
    struct tap tap = new_tap();
    int64_t at_ns = 0, arrival_ns = 0, last_ns = INT64_MIN;

    (void)state;
    tap.drift_ppm = -100;
    for (int i = 0; i < 200000; i++) {
        at_ns += any(&tap, 200 * MICRO);
        arrival_ns += any(&tap, 100 * MICRO); /* what the queue needs for a frame */
        if (arrival_ns < at_ns || arrival_ns > at_ns + 40 * MILLI)
            arrival_ns = at_ns;
        int64_t time_ns = see(&tap, at_ns, arrival_ns - at_ns);
        if (at_ns > PROOF + 10 * MILLI)
            assert_true(time_ns >= last_ns);
        last_ns = time_ns;
    }
    assert_true(count(&tap, CKP_COUNT_ERSPAN_STAMPS_USED) > 150000);
}

static void test_a_queue_that_stays_is_taken_for_the_way_only_slowly(void **state)
{
    struct tap tap = new_tap();
    int64_t at_ns = prove(&tap, 0);

    (void)state;
    for (int i = 1; i <= 1000; i++)
        assert_int_equal(see(&tap, at_ns + i * MILLI, 5 * MILLI), at_ns + i * MILLI);
    for (int i = 1001; i <= 10000; i++)
        assert_about(see(&tap, at_ns + i * MILLI, 5 * MILLI), at_ns + i * MILLI, 0,
                     i * MILLI / 5000);
}

static void test_a_clock_that_is_set_is_learned_anew(void **state)
{
    struct tap tap = new_tap();
    int64_t steps_ns[] = {-3600 * SECOND, 80 * MILLI, -51 * MILLI, 200 * SECOND};
    int64_t at_ns = prove(&tap, 0);

    (void)state;
    for (unsigned i = 0; i < sizeof steps_ns / sizeof steps_ns[0]; i++) {
        tap.clock_start_ns += 4000 * SECOND + steps_ns[i];
        for (unsigned stray = 0; stray < CKP_ERSPAN_STRAYS; stray++) {
            at_ns += MILLI;
            assert_int_equal(see(&tap, at_ns, 2 * MILLI), at_ns + 2 * MILLI);
        }
        assert_int_equal(count(&tap, CKP_COUNT_ERSPAN_CLOCKS_SET), i + 1);
        assert_int_equal(count(&tap, CKP_COUNT_ERSPAN_STAMPS_REFUSED), (i + 1) * CKP_ERSPAN_STRAYS);
        at_ns = prove(&tap, at_ns + 3 * MILLI);
        assert_int_equal(see(&tap, at_ns + MILLI, 4 * MILLI), at_ns + MILLI);
    }
}

static void test_a_few_wrong_stamps_set_no_clock(void **state)
{
    struct tap tap = new_tap();
    int64_t at_ns = prove(&tap, 0);

    (void)state;
    for (int round = 0; round < 100; round++) {
        tap.clock_start_ns += 10 * SECOND;
        for (unsigned stray = 0; stray < CKP_ERSPAN_STRAYS - 1; stray++) {
            at_ns += MILLI;
            assert_int_equal(see(&tap, at_ns, 2 * MILLI), at_ns + 2 * MILLI);
        }
        tap.clock_start_ns -= 10 * SECOND;
        at_ns += MILLI;
        assert_int_equal(see(&tap, at_ns, MILLI), at_ns);
    }
    assert_int_equal(count(&tap, CKP_COUNT_ERSPAN_CLOCKS_SET), 0);
}

static void test_stamps_at_random_set_no_clock(void **state)
{
    struct tap tap = new_tap();
    int64_t at_ns = prove(&tap, 0), clock_start_ns = tap.clock_start_ns;

    (void)state;
    for (int i = 0; i < 1000; i++) {
        at_ns += MILLI;
        tap.clock_start_ns = SECOND + any(&tap, 100 * SECOND);
        see(&tap, at_ns, 0);
    }
    assert_int_equal(count(&tap, CKP_COUNT_ERSPAN_CLOCKS_SET), 0);
    tap.clock_start_ns = clock_start_ns;
    assert_int_equal(see(&tap, at_ns + MILLI, 3 * MILLI), at_ns + MILLI);
}

static void test_stamps_that_stand_still_are_not_believed(void **state)
{
    struct tap tap = new_tap();

    (void)state;
    tap.drift_ppm = -1000000;
    for (int i = 0; i < 10000; i++)
        assert_int_equal(see(&tap, i * MILLI, 7), i * MILLI + 7);
    assert_int_equal(count(&tap, CKP_COUNT_ERSPAN_STAMPS_USED), 0);
}

/* see() holds each to its bound. */
static void test_no_stamp_leads_further_than_50_ms(void **state)
{
    struct tap tap = new_tap();
    int64_t at_ns = prove(&tap, 0);

    (void)state;
    for (int i = 0; i < 1000000; i++) {
        int64_t start_ns = tap.clock_start_ns;
        switch (any(&tap, 3)) {
        case 0: /* the edge of what is believed */
            tap.clock_start_ns +=
                (1 - 2 * any(&tap, 2)) * (CKP_ERSPAN_WAIT_MAX_NS - 300 + any(&tap, 600));
            break;
        case 1:
            tap.clock_start_ns += any(&tap, 500 * SECOND);
            break;
        }
        if (any(&tap, 1000) == 0) /* the clock that it has from now on */
            start_ns = tap.clock_start_ns += any(&tap, 120 * MILLI);
        at_ns += any(&tap, 100) ? any(&tap, 2 * MILLI) : any(&tap, 2 * SECOND);
        see(&tap, at_ns, any(&tap, 60 * MILLI));
        tap.clock_start_ns = start_ns;
    }
    assert_true(count(&tap, CKP_COUNT_ERSPAN_STAMPS_USED) > 10000);
    assert_true(count(&tap, CKP_COUNT_ERSPAN_STAMPS_REFUSED) > 10000);
}

static void test_each_source_has_its_clock(void **state)
{
    struct tap tap = new_tap();
    struct ckp_erspan_stamp stamps[] = {tap.stamp, tap.stamp, tap.stamp, tap.stamp};

    (void)state;
    stamps[1].source.word[1]++;
    stamps[2].session_id++;
    stamps[3].hardware_id++;
    for (int round = 0; round < 3000; round++) {
        tap.stamp = stamps[round % 4];
        tap.clock_start_ns = (round % 4 + 1) * 70 * SECOND;
        int64_t at_ns = round * MILLI, wait_ns = round % 16 < 4 ? 0 : any(&tap, 5 * MILLI);
        int64_t time_ns = see(&tap, at_ns, wait_ns);
        if (round > 1010)
            assert_int_equal(time_ns, at_ns);
    }
    assert_int_equal(count(&tap, CKP_COUNT_ERSPAN_STAMPS_REFUSED), 0);
}

static void test_who_was_silent_longest_makes_room(void **state)
{
    struct tap tap = new_tap();
    unsigned sources = CKP_ERSPAN_SETS * CKP_ERSPAN_WAYS * 4;
    struct ckp_erspan_stamp busy = tap.stamp;
    int64_t at_ns = prove(&tap, 0);

    (void)state;
    for (unsigned i = 0; i < sources; i++) {
        tap.stamp.source.word[1] = 0xffff0a010000 + i;
        at_ns += MILLI;
        see(&tap, at_ns, 0);
        tap.stamp = busy;
        assert_int_equal(see(&tap, at_ns, 3 * MILLI), at_ns);
    }
    uint64_t evicted = count(&tap, CKP_COUNT_ERSPAN_SOURCES_EVICTED);
    assert_in_range(evicted, sources + 1 - CKP_ERSPAN_SETS * CKP_ERSPAN_WAYS, sources);
}

static void test_after_a_minute_of_silence_a_clock_is_learned_anew(void **state)
{
    struct tap tap = new_tap();
    int64_t at_ns = prove(&tap, 0);

    (void)state;
    assert_int_equal(see(&tap, at_ns + 59 * SECOND, MILLI), at_ns + 59 * SECOND);
    at_ns += 120 * SECOND;
    assert_int_equal(see(&tap, at_ns, MILLI), at_ns + MILLI);
    assert_int_equal(count(&tap, CKP_COUNT_ERSPAN_STAMPS_UNPROVEN), 2);
}

static void test_other_units_say_nothing(void **state)
{
    enum ckp_erspan_unit units[] = {CKP_ERSPAN_100_US, CKP_ERSPAN_IEEE_1588, CKP_ERSPAN_OTHER};
    struct tap tap = new_tap();

    (void)state;
    for (unsigned i = 0; i < 3000; i++) {
        tap.stamp.unit = units[i % 3];
        assert_int_equal(see(&tap, i * MILLI, 3 * MILLI), (i + 3) * MILLI);
    }
    assert_int_equal(count(&tap, CKP_COUNT_ERSPAN_STAMPS_UNUSABLE), 3000);
    assert_int_equal(count(&tap, CKP_COUNT_ERSPAN_STAMPS_USED), 0);
}

static void test_a_stamp_is_read_from_its_header(void **state)
{
    static const uint8_t bytes[] = {
        0x45, 0,    0,    0,    0,    0,    0,    0,    0,    0, 0,    0,
        192,  0,    2,    1,    0,    0,    0,    0,                         /* IPv4 */
        0x20, 0x07, 0xff, 0xff, 0x12, 0x34, 0x56, 0x78, 0,    0, 0x02, 0x9b, /* ERSPAN III */
        0x60, 0,    0,    0,    0,    0,    0,    0,    0x20, 1, 0xd,  0xb8,
        0,    0,    0,    0,    0,    0,    0,    0,    0,    0, 0,    9,
    };
    struct ckp_frame frame = {.bytes = bytes, .captured_bytes = sizeof bytes};
    struct ckp_packet packet = {.erspan_ip_at = 0, .erspan_at = 20};
    struct ckp_erspan_stamp stamp = ckp_erspan_stamp_read(&frame, &packet);

    (void)state;
    assert_int_equal(stamp.source.word[1], 0xffffc0000201);
    assert_int_equal(stamp.session_id, 1023);
    assert_int_equal(stamp.ticks, 0x12345678);
    assert_int_equal(stamp.hardware_id, 41);
    assert_int_equal(stamp.unit, CKP_ERSPAN_100_NS);
    packet.erspan_ip_at = 32;
    stamp = ckp_erspan_stamp_read(&frame, &packet);
    assert_int_equal(stamp.source.word[0], 0x20010db800000000);
    assert_int_equal(stamp.source.word[1], 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_a_queue_adds_is_taken_away),
        cmocka_unit_test(test_a_time_is_as_fine_as_its_stamp),
        cmocka_unit_test(test_a_clock_that_was_met_in_a_queue_is_corrected_by_who_waits_less),
        cmocka_unit_test(test_a_clock_is_not_believed_in_its_first_second),
        cmocka_unit_test(test_stamps_wrap_after_429_s),
        cmocka_unit_test(test_clocks_drift_apart),
        cmocka_unit_test(test_times_of_frames_that_arrive_in_order_are_in_order),
        cmocka_unit_test(test_a_queue_that_stays_is_taken_for_the_way_only_slowly),
        cmocka_unit_test(test_a_clock_that_is_set_is_learned_anew),
        cmocka_unit_test(test_a_few_wrong_stamps_set_no_clock),
        cmocka_unit_test(test_stamps_at_random_set_no_clock),
        cmocka_unit_test(test_stamps_that_stand_still_are_not_believed),
        cmocka_unit_test(test_no_stamp_leads_further_than_50_ms),
        cmocka_unit_test(test_each_source_has_its_clock),
        cmocka_unit_test(test_who_was_silent_longest_makes_room),
        cmocka_unit_test(test_after_a_minute_of_silence_a_clock_is_learned_anew),
        cmocka_unit_test(test_other_units_say_nothing),
        cmocka_unit_test(test_a_stamp_is_read_from_its_header),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
