/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics.h"

#include "shedder.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

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

static void print_counters(const struct ckp_metrics *metrics, FILE *out)
{
    char name[64];

    for (int i = 0; i < CKP_COUNTERS; i++) {
        snprintf(name, sizeof name, "%s_total", ckp_counter_info[i].name);
        print_head(name, "counter", ckp_counter_info[i].help, out);
        for (uint32_t worker = 0; worker < metrics->worker_count; worker++)
            fprintf(out, PREFIX "%s{worker=\"%" PRIu32 "\"} %" PRIu64 "\n", name, worker,
                    metrics->workers[worker].reading.counter[i]);
    }
}

/* What is told of each port. */
struct port_metric {
    const char *name;
    const char *type;
    size_t at;           /* in its reading */
    size_t condition_at; /* nothing is known where that is 0 */
    const char *help;
};

#define OF_PORT(member) offsetof(struct ckp_port_reading, member)

static const struct port_metric port_metrics[] = {
    {"port_frames_received_total", "counter", OF_PORT(received), SIZE_MAX,
     "frames that the probe took from the port"},
    {"port_bytes_received_total", "counter", OF_PORT(bytes), SIZE_MAX,
     "bytes of these, as the driver counts"},
    {"port_frames_missed_total", "counter", OF_PORT(missed), SIZE_MAX,
     "frames for which the port's queue had no room, counted by its driver"},
    {"port_frames_no_buffer_total", "counter", OF_PORT(no_buffer), SIZE_MAX,
     "frames for which the probe had no buffer"},
    {"port_frames_errors_total", "counter", OF_PORT(errors), SIZE_MAX,
     "frames that the port could not receive"},
    {"port_frames_deduced_total", "counter", OF_PORT(deduced), SIZE_MAX,
     "frames that the interface saw but the port, whose driver counts no losses, did not get"},
    {"port_interface_frames_received_total", "counter", OF_PORT(interface_received),
     OF_PORT(has_interface),
     "frames that the kernel's interface received since the port was opened"},
    {"port_interface_frames_dropped_total", "counter", OF_PORT(interface_dropped),
     OF_PORT(has_interface),
     "frames that the kernel's interface dropped since the port was opened"},
    {"port_link_up", "gauge", OF_PORT(is_link_up), OF_PORT(is_link_known),
     "whether the port has a link"},
    {"port_link_bits_per_second", "gauge", OF_PORT(link_bits_per_second),
     OF_PORT(link_bits_per_second), "speed of the link"},
};

static uint64_t of_port(const struct ckp_port_reading *reading, size_t at)
{
    uint64_t value;

    memcpy(&value, (const char *)reading + at, sizeof value);
    return value;
}

static void print_port_metric(const struct ckp_metrics *metrics, const struct port_metric *metric,
                              FILE *out)
{
    print_head(metric->name, metric->type, metric->help, out);
    for (size_t i = 0; i < metrics->identity.port_count; i++) {
        const struct ckp_port_reading *reading = &metrics->tap.port[i];
        if (metric->condition_at != SIZE_MAX && of_port(reading, metric->condition_at) == 0)
            continue;
        fprintf(out, PREFIX "%s{", metric->name);
        print_label("port", metrics->identity.ports[i], out);
        fprintf(out, "} %" PRIu64 "\n", of_port(reading, metric->at));
    }
}

static void print_extended(const struct ckp_metrics *metrics, FILE *out)
{
    print_head("port_driver_total", "counter", "what the port's driver counts beside, by its names",
               out);
    for (size_t i = 0; i < metrics->identity.port_count; i++)
        for (size_t j = 0; j < metrics->identity.extended_count[i]; j++) {
            fputs(PREFIX "port_driver_total{", out);
            print_label("port", metrics->identity.ports[i], out);
            print_label(",name", metrics->identity.extended[i][j], out);
            fprintf(out, "} %" PRIu64 "\n", metrics->tap.port[i].extended[j]);
        }
}

static void print_ports(const struct ckp_metrics *metrics, FILE *out)
{
    for (size_t i = 0; i < sizeof port_metrics / sizeof port_metrics[0]; i++)
        print_port_metric(metrics, &port_metrics[i], out);
    print_extended(metrics, out);
}

static void print_filter(const struct ckp_metrics *metrics, FILE *out)
{
    print_gauge("filter_generation", (double)metrics->filters,
                "filters taken from --filter-file, the first one included", out);
    print_head("filters_refused_total", "counter",
               "times that --filter-file was wrong when it was read anew", out);
    fprintf(out, PREFIX "filters_refused_total %" PRIu64 "\n", metrics->filters_refused);
}

typedef double value_fn(const struct ckp_metrics *metrics, const struct ckp_metrics_worker *worker);

/* What is told of each worker. */
struct worker_metric {
    const char *name;
    const char *type;
    value_fn *value; /* below 0: nothing is known */
    const char *help;
};

static double seconds_since(const struct ckp_metrics *metrics, int64_t time_ns)
{
    return time_ns ? (double)(metrics->now_ns - time_ns) / NANOS_PER_SECOND : -1;
}

#define VALUE(name, expression)                                                                    \
    static double name(const struct ckp_metrics *metrics, const struct ckp_metrics_worker *worker) \
    {                                                                                              \
        (void)metrics;                                                                             \
        return (double)(expression);                                                               \
    }

VALUE(loop_age, seconds_since(metrics, worker->reading.turned_ns))
VALUE(frame_age, seconds_since(metrics, worker->reading.frame_ns))
VALUE(shed_share, (double)worker->reading.shed_level / CKP_SHED_BUCKETS)
VALUE(stamp_step,
      worker->reading.stamp_step_ns ? (double)worker->reading.stamp_step_ns / NANOS_PER_SECOND : -1)
VALUE(kafka_silence, (double)worker->reading.silent_ns / NANOS_PER_SECOND)
VALUE(kafka_brokers, worker->kafka.brokers)
VALUE(kafka_brokers_up, worker->kafka.brokers_up)
VALUE(kafka_queued_records, worker->kafka.queued_records)
VALUE(kafka_queued_bytes, worker->kafka.queued_bytes)
VALUE(kafka_unanswered_requests, worker->kafka.unanswered_requests)
VALUE(kafka_transmit_errors, worker->kafka.transmit_errors)
VALUE(kafka_retries, worker->kafka.retries)
VALUE(kafka_timeouts, worker->kafka.timeouts)
VALUE(kafka_rtt_mean, worker->kafka.rtt_mean_seconds)
VALUE(kafka_rtt_p99, worker->kafka.rtt_p99_seconds)

static const struct worker_metric loop_metrics[] = {
    {"receive_loop_age_seconds", "gauge", loop_age, "time since the receive loop went round"},
    {"last_frame_age_seconds", "gauge", frame_age,
     "time since the last frame came, to within 0.1 s"},
    {"flows_shed_share", "gauge", shed_share,
     "share of flows left out at present because the probe cannot keep up"},
    {"timestamp_step_seconds", "gauge", stamp_step,
     "largest power of ten that divides all stamps looked at: their resolution, as observed"},
};

static const struct worker_metric kafka_metrics[] = {
    {"kafka_silent_seconds", "gauge", kafka_silence, "how long Kafka has owed an answer"},
    {"kafka_brokers", "gauge", kafka_brokers, "brokers known"},
    {"kafka_brokers_up", "gauge", kafka_brokers_up, "brokers connected"},
    {"kafka_queued_records", "gauge", kafka_queued_records, "records not yet acknowledged"},
    {"kafka_queued_bytes", "gauge", kafka_queued_bytes, "bytes of records not yet acknowledged"},
    {"kafka_unanswered_requests", "gauge", kafka_unanswered_requests,
     "requests sent that no broker has answered yet"},
    {"kafka_transmit_errors_total", "counter", kafka_transmit_errors,
     "requests that could not be sent"},
    {"kafka_retries_total", "counter", kafka_retries, "requests sent again"},
    {"kafka_timeouts_total", "counter", kafka_timeouts, "requests without an answer in time"},
    {"kafka_rtt_mean_seconds", "gauge", kafka_rtt_mean,
     "time from request to answer, of the slowest broker"},
    {"kafka_rtt_p99_seconds", "gauge", kafka_rtt_p99,
     "99th percentile of the time from request to answer, of the slowest broker"},
};

static void print_of_workers(const struct ckp_metrics *metrics, const struct worker_metric *metric,
                             size_t count, FILE *out)
{
    for (const struct worker_metric *end = metric + count; metric < end; metric++) {
        print_head(metric->name, metric->type, metric->help, out);
        for (uint32_t i = 0; i < metrics->worker_count; i++) {
            double value = metric->value(metrics, &metrics->workers[i]);
            if (value >= 0)
                fprintf(out, PREFIX "%s{worker=\"%" PRIu32 "\"} %.17g\n", metric->name, i, value);
        }
    }
}

/* Before librdkafka has told anything there is but its silence. */
static void print_kafka(const struct ckp_metrics *metrics, FILE *out)
{
    size_t count = sizeof kafka_metrics / sizeof kafka_metrics[0];

    for (uint32_t i = 0; i < metrics->worker_count; i++)
        if (!metrics->workers[i].kafka.is_known)
            count = 1;
    print_of_workers(metrics, kafka_metrics, count, out);
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
    print_info(&metrics->identity, out);
    print_gauge("ready", ckp_metrics_why_not_ready(metrics) == NULL,
                "whether frames are received and go on, as /readyz", out);
    print_of_workers(metrics, loop_metrics, sizeof loop_metrics / sizeof loop_metrics[0], out);
    print_clock(metrics, out);
    if (metrics->identity.has_kafka)
        print_kafka(metrics, out);
    if (metrics->identity.ports)
        print_ports(metrics, out);
    if (metrics->identity.has_filter_file)
        print_filter(metrics, out);
    print_counters(metrics, out);
}

static bool is_stuck(const struct ckp_metrics *metrics, const struct ckp_metrics_worker *worker)
{
    return worker->reading.turned_ns != 0 &&
           metrics->now_ns - worker->reading.turned_ns > CKP_STUCK_NS;
}

const char *ckp_metrics_why_not_alive(const struct ckp_metrics *metrics)
{
    for (uint32_t i = 0; i < metrics->worker_count; i++)
        if (is_stuck(metrics, &metrics->workers[i]))
            return "a receive loop has not turned for 10 s";
    return NULL;
}

static bool is_any_link_down(const struct ckp_metrics *metrics)
{
    for (size_t i = 0; i < metrics->identity.port_count; i++)
        if (metrics->tap.port[i].is_link_known && !metrics->tap.port[i].is_link_up)
            return true;
    return false;
}

static const char *why_kafka_is_not_ready(const struct ckp_metrics_worker *worker)
{
    if (worker->reading.silent_ns > CKP_SILENT_NS)
        return "Kafka has owed an answer for 5 s";
    if (worker->kafka.is_known && worker->kafka.brokers_up == 0)
        return "no broker of Kafka is connected";
    return NULL;
}

const char *ckp_metrics_why_not_ready(const struct ckp_metrics *metrics)
{
    const char *why_not = ckp_metrics_why_not_alive(metrics);

    if (!why_not && metrics->stage == CKP_STAGE_OPENING)
        why_not = "not all is open yet";
    if (!why_not && metrics->stage == CKP_STAGE_DRAINING)
        why_not = "the probe is ending";
    if (!why_not && is_any_link_down(metrics))
        why_not = "a port has no link";
    for (uint32_t i = 0; !why_not && metrics->identity.has_kafka && i < metrics->worker_count; i++)
        why_not = why_kafka_is_not_ready(&metrics->workers[i]);
    return why_not;
}
