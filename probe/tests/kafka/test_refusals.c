/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sink against a broker that refuses one request and takes the next, as a partition does that
 * gets its leader between the two. No real broker does so when told to: this is librdkafka's own.
 */
#include "clock.h"
#include "kafka_sink.h"

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#define BATCHES        5
#define BATCH_PACKETS  10u
#define PRODUCE        0  /* ApiKey */
#define ROUND_TRIP_MS  50 /* so that the second request leaves before the first is answered */
#define WATERMARK_MS   5000
#define ERROR_TEXT_MAX 512

struct broker {
    rd_kafka_t *client;
    rd_kafka_mock_cluster_t *cluster;
};

static int set_up(void **state)
{
    static struct broker broker;
    char why[ERROR_TEXT_MAX];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();

    rd_kafka_conf_set(conf, "log_level", "0", why, sizeof why);
    broker.client = rd_kafka_new(RD_KAFKA_PRODUCER, conf, why, sizeof why);
    assert_non_null(broker.client);
    broker.cluster = rd_kafka_mock_cluster_new(broker.client, 1);
    assert_non_null(broker.cluster);
    rd_kafka_mock_topic_create(broker.cluster, "tcp-segments", 1, 1);
    rd_kafka_mock_broker_set_rtt(broker.cluster, 1, ROUND_TRIP_MS);
    *state = &broker;
    return 0;
}

static int tear_down(void **state)
{
    struct broker *broker = *state;

    rd_kafka_mock_cluster_destroy(broker->cluster);
    rd_kafka_destroy(broker->client);
    return 0;
}

static int64_t records_in_topic(struct broker *broker)
{
    char why[ERROR_TEXT_MAX];
    int64_t first = 0, end = 0;
    rd_kafka_conf_t *conf = rd_kafka_conf_new();

    rd_kafka_conf_set(conf, "bootstrap.servers", rd_kafka_mock_cluster_bootstraps(broker->cluster),
                      why, sizeof why);
    rd_kafka_t *reader = rd_kafka_new(RD_KAFKA_CONSUMER, conf, why, sizeof why);
    assert_int_equal(
        rd_kafka_query_watermark_offsets(reader, "tcp-segments", 0, &first, &end, WATERMARK_MS), 0);
    rd_kafka_destroy(reader);
    return end - first;
}

/* Delivers one batch a request, the first of which is refused; returns whether all were delivered.
 */
static bool deliver_after_refusal(struct broker *broker, struct ckp_counters *counters,
                                  const char *const *settings, size_t setting_count)
{
    static volatile sig_atomic_t stop;
    char why[ERROR_TEXT_MAX] = "";
    struct ckp_sink sink;
    uint32_t partitions = 0;
    const struct ckp_kafka_config config = {
        .brokers = rd_kafka_mock_cluster_bootstraps(broker->cluster),
        .topic = "tcp-segments",
        .settings = settings,
        .setting_count = setting_count,
        .queue_kilobytes = 1024,
        .timeout_ns = 20 * CKP_NANOS_PER_SECOND,
        .is_lossless = true,
        .stop = &stop,
    };

    assert_int_equal(ckp_kafka_sink_open(&sink, &partitions, &config, counters, why, sizeof why),
                     CKP_KAFKA_OK);
    assert_int_equal(partitions, 1);
    rd_kafka_mock_push_request_errors(broker->cluster, PRODUCE, 1,
                                      RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION);
    for (int i = 0; i < BATCHES; i++) {
        uint8_t bytes[] = {(uint8_t)i};
        const struct ckp_batch batch = {.bytes = bytes, .size_bytes = 1, .packets = BATCH_PACKETS};
        sink.deliver(sink.self, &batch);
    }
    return sink.close(sink.self, why, sizeof why);
}

static void test_what_is_refused_for_a_moment_is_delivered(void **state)
{
    const char *const settings[] = {"batch.num.messages=1"};
    struct ckp_counters counters = {0};

    assert_true(deliver_after_refusal(*state, &counters, settings, 1));
    assert_int_equal(counters.value[CKP_COUNT_BATCHES_DELIVERED], BATCHES);
    assert_int_equal(counters.value[CKP_COUNT_PACKETS_DELIVERED], BATCHES * BATCH_PACKETS);
    assert_int_equal(records_in_topic(*state), BATCHES);
}

/* Who asks for more requests at once is told of what no broker has confirmed. */
static void test_what_no_broker_has_confirmed_is_in_doubt(void **state)
{
    const char *const settings[] = {"batch.num.messages=1",
                                    "max.in.flight.requests.per.connection=5"};
    struct ckp_counters counters = {0};

    assert_false(deliver_after_refusal(*state, &counters, settings, 2));
    assert_int_equal(counters.value[CKP_COUNT_BATCHES_DELIVERED], records_in_topic(*state));
    assert_int_equal(counters.value[CKP_COUNT_BATCHES_DELIVERED], BATCHES - 1);
    assert_int_equal(counters.value[CKP_COUNT_PACKETS_UNDELIVERED_IN_DOUBT], BATCH_PACKETS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_what_is_refused_for_a_moment_is_delivered, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_what_no_broker_has_confirmed_is_in_doubt, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
