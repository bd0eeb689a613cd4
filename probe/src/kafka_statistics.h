/* SPDX-License-Identifier: Apache-2.0 */
/* What librdkafka tells of itself as JSON, summed over brokers. */
#ifndef CKP_KAFKA_STATISTICS_H
#define CKP_KAFKA_STATISTICS_H

#include <stdbool.h>
#include <stdint.h>

struct ckp_kafka_statistics {
    bool is_known; /* else librdkafka has told nothing yet */
    uint64_t queued_records;
    uint64_t queued_bytes;
    uint64_t unanswered_requests; /* sent, no answer yet */
    uint64_t transmit_errors;
    uint64_t retries;
    uint64_t timeouts;
    uint64_t brokers;
    uint64_t brokers_up;     /* connected */
    double rtt_mean_seconds; /* of the slowest broker, as the next */
    double rtt_p99_seconds;
};

/** Replaces all; text that cannot be understood leaves all as it is. */
void ckp_kafka_statistics_parse(struct ckp_kafka_statistics *statistics, const char *text);

#endif
