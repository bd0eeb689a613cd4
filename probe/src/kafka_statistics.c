/* SPDX-License-Identifier: Apache-2.0 */
#include "kafka_statistics.h"

#include <jansson.h>
#include <string.h>

#define MICROS_PER_SECOND 1e6

static uint64_t number(const json_t *object, const char *name)
{
    json_int_t value = json_integer_value(json_object_get(object, name));

    return value > 0 ? (uint64_t)value : 0;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static void add_broker(struct ckp_kafka_statistics *sum, const json_t *broker)
{
    const char *state = json_string_value(json_object_get(broker, "state"));
    const char *source = json_string_value(json_object_get(broker, "source"));
    const json_t *rtt_us = json_object_get(broker, "rtt");

    /* A logical broker is a second connection to one that is there already. */
    if (!state || !source || strcmp(source, "logical") == 0)
        return;
    sum->brokers++;
    sum->brokers_up += strcmp(state, "UP") == 0;
    sum->unanswered_requests += number(broker, "waitresp_cnt");
    sum->transmit_errors += number(broker, "txerrs");
    sum->retries += number(broker, "txretries");
    sum->timeouts += number(broker, "req_timeouts");
    sum->rtt_mean_seconds =
        larger(sum->rtt_mean_seconds, (double)number(rtt_us, "avg") / MICROS_PER_SECOND);
    sum->rtt_p99_seconds =
        larger(sum->rtt_p99_seconds, (double)number(rtt_us, "p99") / MICROS_PER_SECOND);
}

void ckp_kafka_statistics_parse(struct ckp_kafka_statistics *statistics, const char *text)
{
    json_error_t unsaid;
    json_t *all = json_loads(text, 0, &unsaid);
    json_t *broker;
    const char *name;

    if (!json_is_object(all)) {
        json_decref(all);
        return;
    }
    *statistics = (struct ckp_kafka_statistics){
        .is_known = true,
        .queued_records = number(all, "msg_cnt"),
        .queued_bytes = number(all, "msg_size"),
    };
    json_object_foreach(json_object_get(all, "brokers"), name, broker)
        add_broker(statistics, broker);
    json_decref(all);
}
