/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a topic for the tests: make_topic BROKERS NAME PARTITIONS [SETTING VALUE]... */
#include <librdkafka/rdkafka.h>
#include <stdio.h>
#include <stdlib.h>

#define TIMEOUT_MS 30000

static int report(rd_kafka_event_t *event)
{
    size_t count = 0;

    if (!event || rd_kafka_event_error(event)) {
        fprintf(stderr, "make_topic: %s\n",
                event ? rd_kafka_event_error_string(event) : "no answer");
        return 1;
    }
    const rd_kafka_CreateTopics_result_t *result = rd_kafka_event_CreateTopics_result(event);
    const rd_kafka_topic_result_t **topics = rd_kafka_CreateTopics_result_topics(result, &count);
    if (count == 1 && !rd_kafka_topic_result_error(topics[0]))
        return 0;
    fprintf(stderr, "make_topic: %s\n", rd_kafka_topic_result_error_string(topics[0]));
    return 1;
}

int main(int argc, char **argv)
{
    char error[256];

    if (argc < 4)
        return 2;
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_set(conf, "bootstrap.servers", argv[1], error, sizeof error);
    rd_kafka_t *client = rd_kafka_new(RD_KAFKA_PRODUCER, conf, error, sizeof error);
    rd_kafka_NewTopic_t *topic =
        rd_kafka_NewTopic_new(argv[2], atoi(argv[3]), 1, error, sizeof error);
    for (int i = 4; i + 1 < argc; i += 2)
        rd_kafka_NewTopic_set_config(topic, argv[i], argv[i + 1]);

    rd_kafka_queue_t *queue = rd_kafka_queue_new(client);
    rd_kafka_CreateTopics(client, &topic, 1, NULL, queue);
    rd_kafka_event_t *event = rd_kafka_queue_poll(queue, TIMEOUT_MS);
    int code = report(event);

    if (event)
        rd_kafka_event_destroy(event);
    rd_kafka_NewTopic_destroy(topic);
    rd_kafka_queue_destroy(queue);
    rd_kafka_destroy(client);
    return code;
}
