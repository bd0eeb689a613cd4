/* SPDX-License-Identifier: Apache-2.0 */
#include "kafka_sink.h"

#include "clock.h"
#include "settings_file.h"

#include <inttypes.h>
#include <librdkafka/rdkafka.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POLL_MS          50
#define NEW_TOPIC_NS     (3 * CKP_NANOS_PER_SECOND)
#define KEPT_OUT_NS      (3 * CKP_NANOS_PER_SECOND)
#define PURGE_POLL_MS    10
#define PURGE_NS         (300 * CKP_NANOS_PER_MILLI) /* with CKP_SINK_LINGER_NS less than 5 s */
#define ERROR_TEXT_MAX   512
#define SETTING_TEXT_MAX 128

/* Records of the schema topic carry no batch; a batch carries its packets, plus one. */
#define OPAQUE_SCHEMA NULL

struct kafka_sink {
    struct kafka_sink *older; /* that was left to the end of the process, too */
    rd_kafka_t *producer;
    struct ckp_counters *counters;
    struct ckp_vitals *vitals; /* or NULL */
    const char *settings_file; /* which may hold a secret, or NULL */
    char brokers[SETTING_TEXT_MAX];
    char topic[SETTING_TEXT_MAX];
    int64_t timeout_ns;
    const volatile sig_atomic_t *stop;
    int64_t answered_ns;   /* when Kafka last took or refused something, or had nothing to do */
    uint64_t owed_batches; /* handed to librdkafka and not reported yet */
    uint64_t owed_packets;
    uint64_t owed_bytes;
    uint64_t queue_bytes_max;
    bool is_lossless;
    bool is_kept_out; /* it last complained of TLS or SASL */
    bool has_failed;
    bool is_late;    /* it has failed because the probe had to end */
    bool is_silent;  /* it has failed because Kafka did not answer in time */
    bool has_schema; /* the schema topic has it */
    rd_kafka_resp_err_t schema_error;
    char error[ERROR_TEXT_MAX]; /* what librdkafka last complained of */
};

/* When any sink has seen that the probe is to end; 0: not yet. They are closed one after the other,
 * and the last has no more time than the first. */
static _Atomic int64_t stop_seen_ns;

static void on_error(rd_kafka_t *producer, int code, const char *reason, void *self)
{
    struct kafka_sink *sink = self;
    char fatal[ERROR_TEXT_MAX];

    if (code != RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN)
        sink->is_kept_out =
            code == RD_KAFKA_RESP_ERR__SSL || code == RD_KAFKA_RESP_ERR__AUTHENTICATION;
    /* Of the local half of SASL it may quote a setting: sasl.oauthbearer.config, for one. */
    if (sink->settings_file && code == RD_KAFKA_RESP_ERR__AUTHENTICATION)
        snprintf(sink->error, sizeof sink->error, "authentication by the settings of %s has failed",
                 sink->settings_file);
    else
        snprintf(sink->error, sizeof sink->error, "%s", reason);
    if (code == RD_KAFKA_RESP_ERR__FATAL) {
        rd_kafka_fatal_error(producer, fatal, sizeof fatal);
        snprintf(sink->error, sizeof sink->error, "%s", fatal);
        sink->has_failed = true;
    }
}

/* What librdkafka logs, it also tells on_error(); people get one sentence from us. */
static void on_log(const rd_kafka_t *producer, int level, const char *facility, const char *text)
{
    (void)producer;
    (void)level;
    (void)facility;
    (void)text;
}

/* Whoever serves the metrics reads it: this is the thread that receives frames. */
static int on_statistics(rd_kafka_t *producer, char *text, size_t bytes, void *self)
{
    struct kafka_sink *sink = self;

    (void)producer, (void)bytes;
    ckp_vitals_put_statistics(sink->vitals, text);
    return 1; /* the text is ours */
}

/* Without an offset no broker has confirmed it: librdkafka concluded it from a later record's. */
static enum ckp_counter fate_of(const rd_kafka_message_t *message)
{
    if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR)
        return message->offset == RD_KAFKA_OFFSET_INVALID ? CKP_COUNT_PACKETS_UNDELIVERED_IN_DOUBT
                                                          : CKP_COUNT_PACKETS_DELIVERED;
    if (rd_kafka_message_status(message) == RD_KAFKA_MSG_STATUS_POSSIBLY_PERSISTED)
        return CKP_COUNT_PACKETS_UNDELIVERED_IN_DOUBT;
    if (message->err == RD_KAFKA_RESP_ERR__MSG_TIMED_OUT ||
        message->err == RD_KAFKA_RESP_ERR__PURGE_QUEUE)
        return CKP_COUNT_PACKETS_UNDELIVERED_TIMED_OUT;
    return CKP_COUNT_PACKETS_UNDELIVERED_REFUSED;
}

static void on_delivery(rd_kafka_t *producer, const rd_kafka_message_t *message, void *self)
{
    struct kafka_sink *sink = self;
    enum ckp_counter fate = fate_of(message);
    bool is_delivered = fate == CKP_COUNT_PACKETS_DELIVERED;

    (void)producer;
    sink->answered_ns = ckp_clock_monotonic_ns();
    if (message->_private == OPAQUE_SCHEMA) {
        sink->has_schema = message->err == RD_KAFKA_RESP_ERR_NO_ERROR;
        sink->schema_error = message->err;
        return;
    }
    sink->owed_bytes -= message->len;
    uint64_t packets = (uintptr_t)message->_private - 1;
    sink->owed_batches--;
    sink->owed_packets -= packets;
    ckp_count(sink->counters, fate, packets);
    ckp_count(sink->counters,
              is_delivered ? CKP_COUNT_BATCHES_DELIVERED : CKP_COUNT_BATCHES_UNDELIVERED, 1);
    if (is_delivered)
        ckp_count(sink->counters, CKP_COUNT_BYTES_DELIVERED, message->len);
    else
        snprintf(sink->error, sizeof sink->error, "%s",
                 message->err ? rd_kafka_err2str(message->err)
                              : "it does not say where a record is");
    /* A record larger than the topic takes, or no right to write: no later one will fare better. */
    if (fate == CKP_COUNT_PACKETS_UNDELIVERED_REFUSED && sink->is_lossless)
        sink->has_failed = true;
}

/* Whether the probe has been told to end so long ago that nothing is waited for any more. */
static bool is_late(struct kafka_sink *sink, int64_t now_ns)
{
    int64_t not_seen = 0;

    if (!*sink->stop)
        return false;
    atomic_compare_exchange_strong(&stop_seen_ns, &not_seen, now_ns);
    return now_ns - stop_seen_ns > CKP_SINK_LINGER_NS;
}

static bool set(rd_kafka_conf_t *conf, const char *name, const char *value, char *why,
                size_t why_size)
{
    char error[ERROR_TEXT_MAX];

    if (rd_kafka_conf_set(conf, name, value, error, sizeof error) == RD_KAFKA_CONF_OK)
        return true;
    snprintf(why, why_size, "option --kafka-option: '%s=%s' is not a librdkafka setting: %s", name,
             value, error);
    return false;
}

static enum ckp_setting_fate take_setting(void *self, const char *name, const char *value)
{
    char unsaid[ERROR_TEXT_MAX]; /* it quotes the setting */

    switch (rd_kafka_conf_set(self, name, value, unsaid, sizeof unsaid)) {
    case RD_KAFKA_CONF_OK:
        return CKP_SETTING_TAKEN;
    case RD_KAFKA_CONF_UNKNOWN:
        return CKP_SETTING_NAME_UNKNOWN;
    case RD_KAFKA_CONF_INVALID:
        break;
    }
    return CKP_SETTING_VALUE_REFUSED;
}

static bool set_from_file(rd_kafka_conf_t *conf, const char *path, char *why, size_t why_size)
{
    const struct ckp_setting_taker taker = {conf, take_setting, NULL};
    char clause[ERROR_TEXT_MAX];

    if (!path || ckp_settings_file_read(path, &taker, clause, sizeof clause))
        return true;
    snprintf(why, why_size, "option --kafka-options: %s", clause);
    return false;
}

/*
 * One request at a time to each broker: if the first of two is refused for a moment by a partition
 * that has no leader yet, and knows nothing of this producer, the second is taken, and librdkafka
 * reports both as delivered (confluent-kafka-go, issue 921). What waits meanwhile goes as one.
 *
 * A request of librdkafka carries one partition. Its own linger of 5 ms makes nearly every batch a
 * request, which costs the broker more than its bytes do; by 50 ms several batches share one where
 * a partition is busy.
 */
static bool set_all(rd_kafka_conf_t *conf, const struct ckp_kafka_config *config, char *why,
                    size_t why_size)
{
    char timeout_ms[24], queue_kilobytes[24];

    /* Captures wait for ever as long as Kafka answers at all: see wait_for_answers(). */
    snprintf(timeout_ms, sizeof timeout_ms, "%" PRId64,
             config->is_lossless ? 0 : config->timeout_ns / CKP_NANOS_PER_MILLI);
    snprintf(queue_kilobytes, sizeof queue_kilobytes, "%" PRIu32, config->queue_kilobytes);
    const char *const settings[][2] = {
        {"bootstrap.servers", config->brokers},
        {"client.id", "chokepoint-probe"},
        {"enable.idempotence", "true"},
        {"acks", "all"},
        {"max.in.flight.requests.per.connection", "1"},
        {"linger.ms", "50"},
        {"compression.type", "lz4"},
        {"queue.buffering.max.kbytes", queue_kilobytes},
        {"queue.buffering.max.messages", "1000000"},
        {"message.timeout.ms", timeout_ms},
        {"statistics.interval.ms", config->vitals ? "1000" : "0"},
    };
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
        if (!set(conf, settings[i][0], settings[i][1], why, why_size))
            return false;
    if (!set_from_file(conf, config->settings_file, why, why_size))
        return false;
    for (size_t i = 0; i < config->setting_count; i++) {
        char name[SETTING_TEXT_MAX];
        const char *equals = strchr(config->settings[i], '=');
        size_t bytes = equals ? (size_t)(equals - config->settings[i]) : 0;
        snprintf(name, sizeof name, "%.*s", (int)bytes, config->settings[i]);
        if (!set(conf, name, equals ? equals + 1 : config->settings[i], why, why_size))
            return false;
    }
    return true;
}

struct rd_kafka_s *ckp_kafka_new(struct rd_kafka_conf_s *conf,
                                 const struct ckp_kafka_config *config, char *why, size_t why_size)
{
    char error[ERROR_TEXT_MAX];

    rd_kafka_conf_set_log_cb(conf, on_log);
    if (!set_all(conf, config, why, why_size)) {
        rd_kafka_conf_destroy(conf);
        return NULL;
    }
    rd_kafka_t *producer = rd_kafka_new(RD_KAFKA_PRODUCER, conf, error, sizeof error);
    if (producer)
        return producer;
    rd_kafka_conf_destroy(conf); /* rd_kafka_new() has taken it only if it succeeded */
    if (config->settings_file)   /* librdkafka's words may quote it */
        snprintf(why, why_size, "the settings of librdkafka and of %s do not go together",
                 config->settings_file);
    else
        snprintf(why, why_size, "the settings of librdkafka do not go together: %s", error);
    return NULL;
}

static uint64_t queue_bytes_max(rd_kafka_t *producer)
{
    char kbytes[SETTING_TEXT_MAX] = "";
    size_t size = sizeof kbytes;

    rd_kafka_conf_get(rd_kafka_conf(producer), "queue.buffering.max.kbytes", kbytes, &size);
    return 1024 * strtoull(kbytes, NULL, 10);
}

static bool make_producer(struct kafka_sink *sink, const struct ckp_kafka_config *config, char *why,
                          size_t why_size)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();

    rd_kafka_conf_set_dr_msg_cb(conf, on_delivery);
    rd_kafka_conf_set_error_cb(conf, on_error);
    if (sink->vitals)
        rd_kafka_conf_set_stats_cb(conf, on_statistics);
    rd_kafka_conf_set_opaque(conf, sink);
    sink->producer = ckp_kafka_new(conf, config, why, why_size);
    if (sink->producer)
        sink->queue_bytes_max = queue_bytes_max(sink->producer);
    return sink->producer != NULL;
}

static void say_unreachable(const struct kafka_sink *sink, char *why, size_t why_size)
{
    if (*sink->stop) {
        snprintf(why, why_size, "Kafka at %s had not answered when the probe was told to end%s%s",
                 sink->brokers, *sink->error ? ": " : "", sink->error);
        return;
    }
    if (sink->is_kept_out) {
        snprintf(why, why_size, "there is no way into Kafka at %s: %s", sink->brokers, sink->error);
        return;
    }
    snprintf(why, why_size, "Kafka at %s does not answer within %g s%s%s", sink->brokers,
             (double)sink->timeout_ns / (double)CKP_NANOS_PER_SECOND, *sink->error ? ": " : "",
             sink->error);
}

/* Asks once, for at most a second. */
static rd_kafka_resp_err_t ask_partitions(struct kafka_sink *sink, rd_kafka_topic_t *topic,
                                          int64_t left_ns, uint32_t *count)
{
    const struct rd_kafka_metadata *metadata;
    int left_ms = left_ns < CKP_NANOS_PER_SECOND ? (int)(left_ns / CKP_NANOS_PER_MILLI) + 1 : 1000;
    rd_kafka_resp_err_t error = rd_kafka_metadata(sink->producer, 0, topic, &metadata, left_ms);

    rd_kafka_poll(sink->producer, 0);
    if (error)
        return error;
    error = metadata->topic_cnt == 1 ? metadata->topics[0].err : RD_KAFKA_RESP_ERR_UNKNOWN;
    *count = (uint32_t)metadata->topics[0].partition_cnt;
    rd_kafka_metadata_destroy(metadata);
    return error;
}

/* Asks until there is an answer or the time is up, which it is earlier if it is kept out. A topic
 * that was made a moment ago may not be known to every broker. */
static rd_kafka_resp_err_t await_partitions(struct kafka_sink *sink, rd_kafka_topic_t *topic,
                                            uint32_t *count)
{
    int64_t start_ns = ckp_clock_monotonic_ns();

    for (;;) {
        int64_t waited_ns = ckp_clock_monotonic_ns() - start_ns;
        rd_kafka_resp_err_t error =
            ask_partitions(sink, topic, sink->timeout_ns - waited_ns, count);
        bool may_change =
            error == RD_KAFKA_RESP_ERR__TRANSPORT || error == RD_KAFKA_RESP_ERR__TIMED_OUT ||
            error == RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE ||
            (error == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART && waited_ns < NEW_TOPIC_NS);
        if (sink->is_kept_out && waited_ns > KEPT_OUT_NS)
            may_change = false;
        if (!may_change || *sink->stop || ckp_clock_monotonic_ns() - start_ns > sink->timeout_ns)
            return error;
        rd_kafka_poll(sink->producer, POLL_MS);
    }
}

static bool count_partitions(struct kafka_sink *sink, const char *name, uint32_t *count, char *why,
                             size_t why_size)
{
    rd_kafka_topic_t *topic = rd_kafka_topic_new(sink->producer, name, NULL);
    rd_kafka_resp_err_t error =
        topic ? await_partitions(sink, topic, count) : rd_kafka_last_error();

    if (topic)
        rd_kafka_topic_destroy(topic);
    if (!error)
        return true;
    if (error == RD_KAFKA_RESP_ERR__TRANSPORT || error == RD_KAFKA_RESP_ERR__TIMED_OUT)
        say_unreachable(sink, why, why_size);
    else
        snprintf(why, why_size, "topic %s at %s cannot be used: %s%s", name, sink->brokers,
                 rd_kafka_err2str(error),
                 error == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART
                     ? ", make it with chokepoint migrate"
                     : "");
    return false;
}

/* Writes the schema under its fingerprint, and waits: no reader may meet a batch before it. */
static bool publish_schema(struct kafka_sink *sink, const struct ckp_kafka_config *config,
                           char *why, size_t why_size)
{
    char key[17];
    uint32_t partitions;

    if (!count_partitions(sink, config->schema_topic, &partitions, why, why_size))
        return false;
    snprintf(key, sizeof key, "%016" PRIx64, config->schema_fingerprint);
    rd_kafka_resp_err_t error = rd_kafka_producev(
        sink->producer, RD_KAFKA_V_TOPIC(config->schema_topic), RD_KAFKA_V_KEY(key, 16),
        RD_KAFKA_V_VALUE((void *)(uintptr_t)config->schema_text, strlen(config->schema_text)),
        RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_OPAQUE(OPAQUE_SCHEMA), RD_KAFKA_V_END);
    int64_t deadline_ns = ckp_clock_monotonic_ns() + sink->timeout_ns;
    while (!error && !sink->has_schema && !sink->schema_error && !sink->has_failed &&
           !*sink->stop && ckp_clock_monotonic_ns() < deadline_ns)
        rd_kafka_poll(sink->producer, POLL_MS);
    if (sink->has_schema)
        return true;
    if (error || sink->schema_error)
        snprintf(why, why_size, "the schema cannot be published to topic %s at %s: %s",
                 config->schema_topic, sink->brokers,
                 rd_kafka_err2str(error ? error : sink->schema_error));
    else
        say_unreachable(sink, why, why_size);
    return false;
}

static void count_undelivered(struct kafka_sink *sink, enum ckp_counter fate, uint32_t packets)
{
    ckp_count(sink->counters, CKP_COUNT_BATCHES_UNDELIVERED, 1);
    ckp_count(sink->counters, fate, packets);
}

static int64_t silent_ns(const struct kafka_sink *sink, int64_t now_ns)
{
    return rd_kafka_outq_len(sink->producer) == 0 ? 0 : now_ns - sink->answered_ns;
}

/* Lets librdkafka report. Without any report for the whole timeout Kafka counts as dead. */
static void wait_for_answers(struct kafka_sink *sink)
{
    rd_kafka_poll(sink->producer, POLL_MS);
    int64_t now_ns = ckp_clock_monotonic_ns();
    if (now_ns - sink->answered_ns > sink->timeout_ns)
        sink->has_failed = sink->is_silent = true;
    if (is_late(sink, now_ns))
        sink->has_failed = sink->is_late = true;
    if (sink->vitals) /* who waits for Kafka is not stuck */
        ckp_vitals_publish(sink->vitals, sink->counters, now_ns, silent_ns(sink, now_ns));
}

static void owe(struct kafka_sink *sink, const struct ckp_batch *batch)
{
    sink->owed_batches++;
    sink->owed_packets += batch->packets;
    sink->owed_bytes += batch->size_bytes;
}

static void deliver(void *self, const struct ckp_batch *batch)
{
    struct kafka_sink *sink = self;
    rd_kafka_resp_err_t error = RD_KAFKA_RESP_ERR__QUEUE_FULL;

    if (rd_kafka_outq_len(sink->producer) == 0) /* it owes us no answer */
        sink->answered_ns = ckp_clock_monotonic_ns();
    while (!sink->has_failed && error == RD_KAFKA_RESP_ERR__QUEUE_FULL) {
        error = rd_kafka_producev(
            sink->producer, RD_KAFKA_V_TOPIC(sink->topic),
            RD_KAFKA_V_PARTITION((int32_t)batch->partition),
            RD_KAFKA_V_VALUE((void *)(uintptr_t)batch->bytes, batch->size_bytes),
            RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
            RD_KAFKA_V_OPAQUE((void *)((uintptr_t)batch->packets + 1)), RD_KAFKA_V_END);
        if (error != RD_KAFKA_RESP_ERR__QUEUE_FULL || !sink->is_lossless)
            break;
        wait_for_answers(sink);
    }
    if (sink->has_failed)
        count_undelivered(sink, CKP_COUNT_PACKETS_UNDELIVERED_TIMED_OUT, batch->packets);
    else if (error == RD_KAFKA_RESP_ERR__QUEUE_FULL)
        count_undelivered(sink, CKP_COUNT_PACKETS_UNDELIVERED_QUEUE_FULL, batch->packets);
    else if (error)
        count_undelivered(sink, CKP_COUNT_PACKETS_UNDELIVERED_REFUSED, batch->packets);
    else
        owe(sink, batch);
    rd_kafka_poll(sink->producer, 0);
}

static double fill(const void *self)
{
    const struct kafka_sink *sink = self;

    return (double)sink->owed_bytes / (double)sink->queue_bytes_max;
}

static bool has_failed(const void *self)
{
    return ((const struct kafka_sink *)self)->has_failed;
}

/* rd_kafka_outq_len() counts statistics and errors not polled yet too: poll first. */
static int64_t tend(void *self)
{
    struct kafka_sink *sink = self;

    rd_kafka_poll(sink->producer, 0);
    int64_t now_ns = ckp_clock_monotonic_ns();
    if (rd_kafka_outq_len(sink->producer) == 0)
        sink->answered_ns = now_ns;
    return silent_ns(sink, now_ns);
}

/* Gives up what is queued and in flight. Whether that is done is reported by threads which may wait
 * for a name server: what they have not reported in time is in doubt. */
static void purge(struct kafka_sink *sink)
{
    int64_t start_ns = ckp_clock_monotonic_ns();
    int64_t deadline_ns = (sink->is_late ? stop_seen_ns + CKP_SINK_LINGER_NS : start_ns) + PURGE_NS;

    rd_kafka_purge(sink->producer, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT |
                                       RD_KAFKA_PURGE_F_NON_BLOCKING);
    do
        rd_kafka_poll(sink->producer, PURGE_POLL_MS);
    while (sink->owed_batches > 0 && ckp_clock_monotonic_ns() < deadline_ns);
    ckp_count(sink->counters, CKP_COUNT_BATCHES_UNDELIVERED, sink->owed_batches);
    ckp_count(sink->counters, CKP_COUNT_PACKETS_UNDELIVERED_IN_DOUBT, sink->owed_packets);
}

/* Its threads end when what they resolve does: a probe that was told to end, or has met such a
 * thread, does not wait for that. */
static void destroy(struct kafka_sink *sink)
{
    static struct kafka_sink *left; /* where a leak checker finds it */

    if (*sink->stop || sink->owed_batches > 0) {
        sink->older = left;
        left = sink;
        return;
    }
    if (sink->producer)
        rd_kafka_destroy(sink->producer);
    free(sink);
}

static bool close_kafka(void *self, char *why, size_t why_size)
{
    struct kafka_sink *sink = self;

    sink->answered_ns = ckp_clock_monotonic_ns();
    while (rd_kafka_outq_len(sink->producer) > 0 && !sink->has_failed)
        wait_for_answers(sink);
    purge(sink);

    bool is_complete = sink->counters->value[CKP_COUNT_BATCHES_UNDELIVERED] == 0;
    if (!is_complete && sink->is_late)
        snprintf(why, why_size,
                 "Kafka at %s did not take all batches within %g s of the signal%s%s",
                 sink->brokers, (double)CKP_SINK_LINGER_NS / (double)CKP_NANOS_PER_SECOND,
                 *sink->error ? ": " : "", sink->error);
    else if (!is_complete && sink->is_silent)
        say_unreachable(sink, why, why_size);
    else if (!is_complete)
        snprintf(why, why_size, "Kafka at %s did not take all batches%s%s", sink->brokers,
                 *sink->error ? ": " : "", sink->error);
    destroy(sink);
    return is_complete;
}

enum ckp_kafka_status ckp_kafka_sink_open(struct ckp_sink *sink, uint32_t *partition_count,
                                          const struct ckp_kafka_config *config,
                                          struct ckp_counters *counters, char *why, size_t why_size)
{
    struct kafka_sink *self = calloc(1, sizeof *self);

    if (!self) {
        snprintf(why, why_size, "there is no memory");
        return CKP_KAFKA_UNREACHABLE;
    }
    self->counters = counters;
    self->vitals = config->vitals;
    self->stop = config->stop;
    self->timeout_ns = config->timeout_ns;
    self->is_lossless = config->is_lossless;
    self->settings_file = config->settings_file;
    snprintf(self->brokers, sizeof self->brokers, "%s", config->brokers);
    snprintf(self->topic, sizeof self->topic, "%s", config->topic);
    if (!make_producer(self, config, why, why_size)) {
        destroy(self);
        return CKP_KAFKA_WRONG_SETTING;
    }
    if (!count_partitions(self, config->topic, partition_count, why, why_size) ||
        (config->schema_text && !publish_schema(self, config, why, why_size))) {
        purge(self);
        destroy(self);
        return CKP_KAFKA_UNREACHABLE;
    }
    *sink = (struct ckp_sink){self, deliver, has_failed, tend, fill, close_kafka};
    return CKP_KAFKA_OK;
}
