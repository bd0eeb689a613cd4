/* SPDX-License-Identifier: Apache-2.0 */
#include "vitals.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define PUBLICATIONS 200000

static struct ckp_vitals vitals;

static void *publish_many(void *unused)
{
    struct ckp_counters counters;

    for (int64_t n = 1; n <= PUBLICATIONS; n++) {
        for (int i = 0; i < CKP_COUNTERS; i++)
            counters.value[i] = (uint64_t)n;
        ckp_vitals_publish(&vitals, &counters, n, n);
    }
    return unused;
}

static void test_a_reader_gets_the_counters_of_one_moment(void **state)
{
    pthread_t writer;
    struct ckp_vitals_reading reading;
    uint64_t before = 0;

    (void)state;
    assert_int_equal(pthread_create(&writer, NULL, publish_many, NULL), 0);
    do {
        reading = ckp_vitals_read(&vitals);
        for (int i = 0; i < CKP_COUNTERS; i++)
            assert_int_equal(reading.counter[i], reading.turned_ns);
        assert_true(reading.counter[0] >= before);
        before = reading.counter[0];
    } while (before < PUBLICATIONS);
    pthread_join(writer, NULL);
}

static void test_the_age_is_that_of_the_last_frame(void **state)
{
    struct ckp_vitals fresh = {0};
    struct ckp_counters counters = {0};

    (void)state;
    ckp_vitals_publish(&fresh, &counters, 10, 0);
    assert_int_equal(ckp_vitals_read(&fresh).frame_ns, 0);
    ckp_count(&counters, CKP_COUNT_FRAMES_RECEIVED, 1);
    ckp_vitals_publish(&fresh, &counters, 20, 0);
    ckp_vitals_publish(&fresh, &counters, 30, 0);
    assert_int_equal(ckp_vitals_read(&fresh).frame_ns, 20);
    assert_int_equal(ckp_vitals_read(&fresh).turned_ns, 30);
}

static void test_only_the_newest_statistics_are_kept(void **state)
{
    struct ckp_vitals fresh = {0};

    (void)state;
    assert_null(ckp_vitals_take_statistics(&fresh));
    ckp_vitals_put_statistics(&fresh, strdup("old"));
    ckp_vitals_put_statistics(&fresh, strdup("new"));
    char *text = ckp_vitals_take_statistics(&fresh);
    assert_string_equal(text, "new");
    free(text);
    assert_null(ckp_vitals_take_statistics(&fresh));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_reader_gets_the_counters_of_one_moment),
        cmocka_unit_test(test_the_age_is_that_of_the_last_frame),
        cmocka_unit_test(test_only_the_newest_statistics_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
