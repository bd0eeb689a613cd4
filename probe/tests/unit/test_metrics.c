/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define SECOND INT64_C(1000000000)

static void assert_why(const char *why, const char *expected)
{
    if (expected)
        assert_string_equal(why, expected);
    else
        assert_null(why);
}

static void test_who_lives_and_who_is_ready(void **state)
{
    static const struct {
        enum ckp_stage stage;
        int64_t turned_ns;
        int64_t silent_ns;
        bool is_told; /* by librdkafka */
        uint64_t brokers_up;
        const char *why_not_alive;
        const char *why_not_ready;
    } rows[] = {
        {CKP_STAGE_OPENING, 0, 0, false, 0, NULL, "not all is open yet"},
        {CKP_STAGE_RECEIVING, 99 * SECOND, 0, false, 0, NULL, NULL},
        {CKP_STAGE_RECEIVING, 90 * SECOND, 5 * SECOND, true, 1, NULL, NULL},
        {CKP_STAGE_RECEIVING, 99 * SECOND, 6 * SECOND, true, 1, NULL,
         "Kafka has owed an answer for 5 s"},
        {CKP_STAGE_RECEIVING, 99 * SECOND, 0, true, 0, NULL, "no broker of Kafka is connected"},
        {CKP_STAGE_RECEIVING, 89 * SECOND, 0, true, 1, "a receive loop has not turned for 10 s",
         "a receive loop has not turned for 10 s"},
        {CKP_STAGE_DRAINING, 99 * SECOND, 0, true, 1, NULL, "the probe is ending"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ckp_metrics metrics = {
            .identity.has_kafka = true,
            .stage = rows[i].stage,
            .now_ns = 100 * SECOND,
            .worker_count = 2,
        };
        /* One that is well beside it hides nothing. */
        metrics.workers[i % 2] = (struct ckp_metrics_worker){
            .reading = {.turned_ns = rows[i].turned_ns, .silent_ns = rows[i].silent_ns},
            .kafka = {.is_known = rows[i].is_told, .brokers_up = rows[i].brokers_up},
        };
        metrics.workers[(i + 1) % 2].reading.turned_ns = 100 * SECOND;
        assert_why(ckp_metrics_why_not_alive(&metrics), rows[i].why_not_alive);
        assert_why(ckp_metrics_why_not_ready(&metrics), rows[i].why_not_ready);
    }
}

static void test_brokers_are_summed_and_the_slowest_counts(void **state)
{
    struct ckp_kafka_statistics statistics = {0};

    (void)state;
    ckp_kafka_statistics_parse(
        &statistics,
        "{\"msg_cnt\":7,\"msg_size\":700,\"brokers\":{"
        "\"a\":{\"source\":\"learned\",\"state\":\"UP\",\"waitresp_cnt\":2,\"txerrs\":1,"
        "\"txretries\":3,\"req_timeouts\":4,\"rtt\":{\"avg\":1500,\"p99\":9000}},"
        "\"b\":{\"source\":\"configured\",\"state\":\"DOWN\",\"waitresp_cnt\":1,\"txerrs\":10,"
        "\"txretries\":0,\"req_timeouts\":0,\"rtt\":{\"avg\":2500,\"p99\":8000}},"
        "\"c\":{\"source\":\"logical\",\"state\":\"UP\",\"txerrs\":100}}}");
    assert_true(statistics.is_known);
    assert_int_equal(statistics.queued_records, 7);
    assert_int_equal(statistics.queued_bytes, 700);
    assert_int_equal(statistics.brokers, 2);
    assert_int_equal(statistics.brokers_up, 1);
    assert_int_equal(statistics.unanswered_requests, 3);
    assert_int_equal(statistics.transmit_errors, 11);
    assert_int_equal(statistics.retries, 3);
    assert_int_equal(statistics.timeouts, 4);
    assert_float_equal(statistics.rtt_mean_seconds, 0.0025, 1e-12);
    assert_float_equal(statistics.rtt_p99_seconds, 0.009, 1e-12);

    ckp_kafka_statistics_parse(&statistics, "{\"msg_cnt\":8,");
    assert_int_equal(statistics.queued_records, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_who_lives_and_who_is_ready),
        cmocka_unit_test(test_brokers_are_summed_and_the_slowest_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
