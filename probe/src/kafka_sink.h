/* SPDX-License-Identifier: Apache-2.0 */
/* Batches as records of a Kafka topic, at least once asked and at most once written: idempotent,
 * all replicas, partition by flow. */
#ifndef CKP_KAFKA_SINK_H
#define CKP_KAFKA_SINK_H

#include "sink.h"
#include "vitals.h"

struct ckp_kafka_config {
    const char *brokers; /* host:port, with commas between */
    const char *topic;
    const char *schema_topic;
    const char *schema_text; /* NULL: another sink has published it */
    uint64_t schema_fingerprint;
    const char *settings_file;   /* of librdkafka, over our own, or NULL */
    const char *const *settings; /* NAME=VALUE of librdkafka, over those */
    size_t setting_count;
    uint32_t queue_kilobytes; /* of records not yet acknowledged */
    int64_t timeout_ns;       /* without an answer, after which Kafka counts as dead */
    bool is_lossless; /* captures wait for Kafka; ports drop the newest batch and count it */
    const volatile sig_atomic_t *stop; /* set once the probe has been told to end */
    struct ckp_vitals *vitals;         /* takes librdkafka's statistics, or NULL */
};

enum ckp_kafka_status {
    CKP_KAFKA_OK,
    CKP_KAFKA_UNREACHABLE,
    CKP_KAFKA_WRONG_SETTING,
};

/**
 * Connects, publishes the schema by its fingerprint, and tells how many partitions the topic has.
 *
 * The counters are written by whoever calls deliver() and close(), in that thread.
 *
 * @return if not OK, one sentence in `why`
 */
enum ckp_kafka_status ckp_kafka_sink_open(struct ckp_sink *sink, uint32_t *partition_count,
                                          const struct ckp_kafka_config *config,
                                          struct ckp_counters *counters, char *why,
                                          size_t why_size);

struct rd_kafka_s;
struct rd_kafka_conf_s;

/**
 * A producer of librdkafka with the settings of `config`, over those of `conf`, which it takes.
 *
 * @return NULL with one sentence in `why`
 */
struct rd_kafka_s *ckp_kafka_new(struct rd_kafka_conf_s *conf,
                                 const struct ckp_kafka_config *config, char *why, size_t why_size);

#endif
