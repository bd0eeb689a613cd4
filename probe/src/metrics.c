/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics.h"

#include <inttypes.h>

#define PREFIX           "chokepoint_probe_"
#define NANOS_PER_SECOND 1e9

static void print_label(const char *name, const char *value, FILE *out)
{
    fprintf(out, "%s=\"", name);
    for (; *value; value++) {
        if (*value == '\n')
            fputs("\\n", out);
        else if (*value == '"' || *value == '\\')
            fprintf(out, "\\%c", *value);
        else
            fputc(*value, out);
    }
    fputc('"', out);
}

static void print_head(const char *name, const char *type, const char *help, FILE *out)
{
    fprintf(out, "# HELP " PREFIX "%s %s\n# TYPE " PREFIX "%s %s\n", name, help, name, type);
}

static void print_gauge(const char *name, double value, const char *help, FILE *out)
{
    print_head(name, "gauge", help, out);
    fprintf(out, PREFIX "%s %.9g\n", name, value);
}

static void print_counter(const char *name, uint64_t value, const char *help, FILE *out)
{
    print_head(name, "counter", help, out);
    fprintf(out, PREFIX "%s %" PRIu64 "\n", name, value);
}

static void print_info(const struct ckp_metrics_identity *identity, FILE *out)
{
    char session[17];

    snprintf(session, sizeof session, "%016" PRIx64, identity->session);
    print_head("info", "gauge", "what runs here; always 1", out);
    fputs(PREFIX "info{", out);
    print_label("probe", identity->probe, out);
    print_label(",tap", identity->tap, out);
    print_label(",version", identity->version, out);
    print_label(",session", session, out);
    print_label(",timestamp_source", identity->timestamp_source, out);
    fputs("} 1\n", out);
}

static void print_counters(const struct ckp_vitals_reading *reading, FILE *out)
{
    char name[64];

    for (int i = 0; i < CKP_COUNTERS; i++) {
        snprintf(name, sizeof name, "%s_total", ckp_counter_info[i].name);
        print_counter(name, reading->counter[i], ckp_counter_info[i].help, out);
    }
}

static void print_kafka(const struct ckp_metrics *metrics, FILE *out)
{
    const struct ckp_kafka_statistics *kafka = &metrics->kafka;

    print_gauge("kafka_silent_seconds", (double)metrics->reading.silent_ns / NANOS_PER_SECOND,
                "how long Kafka has owed an answer", out);
    if (!kafka->is_known)
        return;
    print_gauge("kafka_brokers", (double)kafka->brokers, "brokers known", out);
    print_gauge("kafka_brokers_up", (double)kafka->brokers_up, "brokers connected", out);
    print_gauge("kafka_queued_records", (double)kafka->queued_records,
                "records not yet acknowledged", out);
    print_gauge("kafka_queued_bytes", (double)kafka->queued_bytes,
                "bytes of records not yet acknowledged", out);
    print_gauge("kafka_unanswered_requests", (double)kafka->unanswered_requests,
                "requests sent that no broker has answered yet", out);
    print_counter("kafka_transmit_errors_total", kafka->transmit_errors,
                  "requests that could not be sent", out);
    print_counter("kafka_retries_total", kafka->retries, "requests sent again", out);
    print_counter("kafka_timeouts_total", kafka->timeouts, "requests without an answer in time",
                  out);
    print_gauge("kafka_rtt_mean_seconds", kafka->rtt_mean_seconds,
                "time from request to answer, of the slowest broker", out);
    print_gauge("kafka_rtt_p99_seconds", kafka->rtt_p99_seconds,
                "99th percentile of the time from request to answer, of the slowest broker", out);
}

static void print_clock(const struct ckp_metrics *metrics, FILE *out)
{
    print_gauge("timestamp_resolution_seconds",
                (double)metrics->identity.timestamp_resolution_ns / NANOS_PER_SECOND,
                "resolution of the frames' stamps", out);
    print_gauge("clock_synchronised", metrics->clock.is_synchronised,
                "whether the kernel's clock follows a reference", out);
    print_gauge("clock_offset_seconds", metrics->clock.offset_seconds,
                "offset that the kernel's clock still has to work off", out);
    print_gauge("clock_error_seconds", metrics->clock.error_seconds,
                "largest error of the kernel's clock", out);
}

void ckp_metrics_print(const struct ckp_metrics *metrics, FILE *out)
{
    const struct ckp_vitals_reading *reading = &metrics->reading;

    print_info(&metrics->identity, out);
    print_gauge("ready", ckp_metrics_why_not_ready(metrics) == NULL,
                "whether frames are received and go on, as /readyz", out);
    if (reading->turned_ns != 0)
        print_gauge("receive_loop_age_seconds",
                    (double)(metrics->now_ns - reading->turned_ns) / NANOS_PER_SECOND,
                    "time since the receive loop went round", out);
    if (reading->frame_ns != 0)
        print_gauge("last_frame_age_seconds",
                    (double)(metrics->now_ns - reading->frame_ns) / NANOS_PER_SECOND,
                    "time since the last frame came, to within 0.1 s", out);
    print_clock(metrics, out);
    if (metrics->identity.has_kafka)
        print_kafka(metrics, out);
    print_counters(reading, out);
}

const char *ckp_metrics_why_not_alive(const struct ckp_metrics *metrics)
{
    bool is_stuck = metrics->reading.turned_ns != 0 &&
                    metrics->now_ns - metrics->reading.turned_ns > CKP_STUCK_NS;

    return is_stuck ? "the receive loop has not turned for 10 s" : NULL;
}

const char *ckp_metrics_why_not_ready(const struct ckp_metrics *metrics)
{
    const char *why_not_alive = ckp_metrics_why_not_alive(metrics);

    if (why_not_alive)
        return why_not_alive;
    if (metrics->stage == CKP_STAGE_OPENING)
        return "not all is open yet";
    if (metrics->stage == CKP_STAGE_DRAINING)
        return "the probe is ending";
    if (metrics->identity.has_kafka && metrics->reading.silent_ns > CKP_SILENT_NS)
        return "Kafka has owed an answer for 5 s";
    if (metrics->identity.has_kafka && metrics->kafka.is_known && metrics->kafka.brokers_up == 0)
        return "no broker of Kafka is connected";
    return NULL;
}
