/* SPDX-License-Identifier: Apache-2.0 */
#include "kafka_check.h"

#include "clock.h"

#include <librdkafka/rdkafka.h>
#include <stdlib.h>
#include <string.h>

#define PATIENCE_NS  (5 * CKP_NANOS_PER_SECOND)
#define NEW_TOPIC_NS (3 * CKP_NANOS_PER_SECOND)
#define ASK_MS       1000
#define POLL_MS      50

struct check {
    rd_kafka_t *producer;
    const struct ckp_kafka_config *config;
    char error[CKP_FACTS_WHY_BYTES]; /* what librdkafka complained of */
};

static void on_error(rd_kafka_t *producer, int code, const char *reason, void *self)
{
    struct check *check = self;

    (void)producer;
    if (code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN && *check->error)
        return; /* it says no more than the complaint before */
    /* Of the local half of SASL it may quote a setting: sasl.oauthbearer.config, for one. */
    if (check->config->settings_file && code == RD_KAFKA_RESP_ERR__AUTHENTICATION)
        reason = rd_kafka_err2str(RD_KAFKA_RESP_ERR__AUTHENTICATION);
    snprintf(check->error, sizeof check->error, "%s", reason);
}

/* All brokers, and a topic unless that is NULL; once, for at most a second. */
static rd_kafka_resp_err_t ask_once(struct check *check, rd_kafka_topic_t *topic,
                                    const struct rd_kafka_metadata **metadata)
{
    rd_kafka_resp_err_t error = rd_kafka_metadata(check->producer, 0, topic, metadata, ASK_MS);

    if (error || !topic)
        return error;
    error =
        (*metadata)->topic_cnt == 1 ? (*metadata)->topics[0].err : RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC;
    if (error)
        rd_kafka_metadata_destroy(*metadata);
    return error;
}

/* A topic that was made a moment ago may not be known to every broker. */
static rd_kafka_resp_err_t ask(struct check *check, rd_kafka_topic_t *topic,
                               const struct rd_kafka_metadata **metadata)
{
    int64_t start_ns = ckp_clock_monotonic_ns();

    for (;;) {
        rd_kafka_resp_err_t error = ask_once(check, topic, metadata);
        bool is_new = error == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART ||
                      error == RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE;
        bool may_change = is_new || error == RD_KAFKA_RESP_ERR__TRANSPORT ||
                          error == RD_KAFKA_RESP_ERR__TIMED_OUT;
        rd_kafka_poll(check->producer, may_change ? POLL_MS : 0);
        if (!may_change || *check->config->stop ||
            ckp_clock_monotonic_ns() - start_ns > (is_new ? NEW_TOPIC_NS : PATIENCE_NS))
            return error;
    }
}

static void look_at_partitions(struct ckp_topic_fact *fact,
                               const struct rd_kafka_metadata_topic *topic)
{
    fact->is_there = true;
    fact->partitions = (uint32_t)topic->partition_cnt;
    for (int i = 0; i < topic->partition_cnt; i++) {
        uint32_t replicas = (uint32_t)topic->partitions[i].replica_cnt;
        fact->without_leader += topic->partitions[i].leader < 0;
        if (i == 0 || replicas < fact->replicas)
            fact->replicas = replicas;
    }
}

static void look_at_setting(struct ckp_topic_fact *fact, const rd_kafka_ConfigEntry_t *entry)
{
    const char *name = rd_kafka_ConfigEntry_name(entry);
    const char *value = rd_kafka_ConfigEntry_value(entry);

    if (value && strcmp(name, "retention.ms") == 0)
        fact->retention_ms = strtoll(value, NULL, 10);
    if (value && strcmp(name, "cleanup.policy") == 0)
        fact->is_compacted = strcmp(value, "compact") == 0;
}

static void look_at_settings(struct ckp_topic_fact *fact, rd_kafka_event_t *event)
{
    size_t count = 0;
    const rd_kafka_DescribeConfigs_result_t *result = rd_kafka_event_DescribeConfigs_result(event);
    const rd_kafka_ConfigResource_t **resources =
        result ? rd_kafka_DescribeConfigs_result_resources(result, &count) : NULL;

    fact->has_settings = count == 1 && !rd_kafka_ConfigResource_error(resources[0]);
    if (!fact->has_settings)
        return;
    const rd_kafka_ConfigEntry_t **entries = rd_kafka_ConfigResource_configs(resources[0], &count);
    for (size_t i = 0; i < count; i++)
        look_at_setting(fact, entries[i]);
}

static void ask_settings(struct check *check, struct ckp_topic_fact *fact)
{
    rd_kafka_queue_t *answers = rd_kafka_queue_new(check->producer);
    rd_kafka_ConfigResource_t *topic =
        rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, fact->name);

    rd_kafka_DescribeConfigs(check->producer, &topic, 1, NULL, answers);
    rd_kafka_event_t *event =
        rd_kafka_queue_poll(answers, (int)(PATIENCE_NS / CKP_NANOS_PER_MILLI));
    if (event) {
        look_at_settings(fact, event);
        rd_kafka_event_destroy(event);
    }
    rd_kafka_ConfigResource_destroy(topic);
    rd_kafka_queue_destroy(answers);
}

static void look_at_topic(struct check *check, struct ckp_topic_fact *fact, const char *name)
{
    const struct rd_kafka_metadata *metadata;

    fact->name = name;
    rd_kafka_topic_t *topic = rd_kafka_topic_new(check->producer, name, NULL);
    rd_kafka_resp_err_t error = topic ? ask(check, topic, &metadata) : rd_kafka_last_error();
    if (topic)
        rd_kafka_topic_destroy(topic);
    if (error) {
        snprintf(fact->why_not, sizeof fact->why_not, "%s", rd_kafka_err2str(error));
        return;
    }
    look_at_partitions(fact, &metadata->topics[0]);
    rd_kafka_metadata_destroy(metadata);
    ask_settings(check, fact);
}

static void look_at_brokers(struct check *check, struct ckp_kafka_fact *fact)
{
    const struct rd_kafka_metadata *metadata;
    rd_kafka_resp_err_t error = ask(check, NULL, &metadata);

    fact->is_reachable = !error;
    if (!error) {
        fact->broker_count = (uint32_t)metadata->broker_cnt;
        rd_kafka_metadata_destroy(metadata);
        return;
    }
    snprintf(fact->why_not, sizeof fact->why_not, "%s does not answer: %s", fact->brokers,
             *check->error ? check->error : rd_kafka_err2str(error));
}

void ckp_kafka_check(struct ckp_kafka_fact *fact, const struct ckp_kafka_config *config)
{
    struct check check = {.config = config};
    char unsaid[CKP_FACTS_WHY_BYTES];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();

    fact->brokers = config->brokers;
    rd_kafka_conf_set_error_cb(conf, on_error);
    rd_kafka_conf_set_opaque(conf, &check);
    rd_kafka_conf_set(conf, "allow.auto.create.topics", "false", unsaid, sizeof unsaid);
    check.producer = ckp_kafka_new(conf, config, fact->why_not, sizeof fact->why_not);
    fact->why_not[strcspn(fact->why_not, "\n")] = '\0'; /* librdkafka ends some of its words so */
    if (!check.producer)
        return;
    look_at_brokers(&check, fact);
    if (fact->is_reachable) {
        look_at_topic(&check, &fact->batches, config->topic);
        look_at_topic(&check, &fact->schemas, config->schema_topic);
    }
    rd_kafka_destroy(check.producer);
}
