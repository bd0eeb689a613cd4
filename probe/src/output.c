/* SPDX-License-Identifier: Apache-2.0 */
#include "output.h"

#include "anonymise.h"
#include "clock.h"
#include "exit_code.h"
#include "kafka_sink.h"
#include "ledger.h"
#include "log.h"
#include "privileges.h"
#include "schema_text.h"
#include "stream_sink.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define WHY_BYTES_MAX      1024
#define PORT_FLOWS_MAX     1000000u
#define PORT_MOUSE_PACKETS 16u

/* Of records that Kafka has not acknowledged, for all workers. */
#define KAFKA_QUEUE_KILOBYTES 65536u

static const char *const timestamp_source_name[] = {
    [CKP_TIMESTAMP_FILE] = "file",
    [CKP_TIMESTAMP_KERNEL] = "kernel",
    [CKP_TIMESTAMP_BURST] = "burst",
};

/* Before Kafka is asked, for that may take a while. */
static bool open_health(struct ckp_output *output, const struct ckp_source *source, char *why)
{
    const char *address = ckp_option_text(output->options, CKP_OPTION_METRICS);
    struct ckp_metrics_identity identity = {
        .probe = ckp_option_text(output->options, CKP_OPTION_PROBE),
        .tap = ckp_option_text(output->options, CKP_OPTION_TAP),
        .version = CKP_VERSION,
        .timestamp_source = timestamp_source_name[source->timestamp_source],
        .has_kafka = ckp_option_text(output->options, CKP_OPTION_KAFKA) != NULL,
        .has_filter_file =
            source->ports && ckp_option_text(output->options, CKP_OPTION_FILTER_FILE),
        .ports = source->ports,
        .port_count = source->port_count,
    };

    if (!address)
        return true;
    memcpy(identity.extended, source->extended, sizeof identity.extended);
    memcpy(identity.extended_count, source->extended_count, sizeof identity.extended_count);
    output->health = ckp_health_open(address, &identity, output->vitals, output->worker_count,
                                     &output->tap, output->dump, why, WHY_BYTES_MAX);
    if (output->health && strcmp(strrchr(address, ':'), ":0") == 0)
        ckp_log("metrics are at port %u", ckp_health_port(output->health));
    return output->health != NULL;
}

/* Who meets frames writes a ring. */
static bool open_dump(struct ckp_output *output, const struct ckp_source *source, char *why)
{
    output->dump = ckp_dump_open(output->options, source->receiving_workers, why, WHY_BYTES_MAX);
    return why[0] == '\0';
}

/* At once, for later nothing may be opened for writing; but an older ledger stays until all is
 * open, for a start that fails is no reason to lose it. */
static bool open_ledger(struct ckp_output *output, char *why)
{
    const char *path = ckp_option_text(output->options, CKP_OPTION_LEDGER);

    if (!path)
        return true;
    int descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    output->ledger = descriptor < 0 ? NULL : fdopen(descriptor, "w");
    if (!output->ledger)
        snprintf(why, WHY_BYTES_MAX, "ledger %s cannot be written: %s", path, strerror(errno));
    return output->ledger != NULL;
}

/* What is no file, such as a pipe, has nothing to be cut. */
static bool empty_ledger(const struct ckp_output *output, char *why)
{
    if (!output->ledger || ftruncate(fileno(output->ledger), 0) == 0 || errno == EINVAL)
        return true;
    snprintf(why, WHY_BYTES_MAX, "ledger %s cannot be written: %s",
             ckp_option_text(output->options, CKP_OPTION_LEDGER), strerror(errno));
    return false;
}

/* Of a state file, or the worker's own. NULL: there is no memory. */
static struct ckp_counters *counters_of(const struct ckp_output *output, uint32_t worker)
{
    struct ckp_state_file *file = output->settlement.file;

    return file ? ckp_state_file_counters(file, worker, output->worker_count)
                : &output->workers[worker].own_counters;
}

static void close_beside_sinks(struct ckp_output *output, bool is_settled)
{
    ckp_settlement_close(&output->settlement, is_settled);
    ckp_domain_rules_free(&output->domain_rules);
    ckp_health_close(output->health);
    ckp_dump_close(output->dump);
    for (uint32_t i = 0; i < output->worker_count; i++) {
        ckp_anonymiser_free(output->outlets[i].anonymiser);
        free(ckp_vitals_take_statistics(&output->vitals[i]));
    }
    if (output->ledger)
        fclose(output->ledger);
}

static void close_sinks(struct ckp_output *output, uint32_t count)
{
    char unsaid[WHY_BYTES_MAX];

    for (uint32_t i = 0; i < count; i++)
        output->outlets[i].sink.close(output->outlets[i].sink.self, unsaid, sizeof unsaid);
}

/* Of each worker a producer of its own, so that they share nothing. */
static int open_kafka(struct ckp_output *output, const struct ckp_source *source, uint32_t worker,
                      uint32_t *partition_count, char *why)
{
    const struct ckp_options *options = output->options;
    struct ckp_kafka_config config = {
        .brokers = ckp_option_text(options, CKP_OPTION_KAFKA),
        .topic = ckp_option_text(options, CKP_OPTION_TOPIC),
        .schema_topic = ckp_option_text(options, CKP_OPTION_SCHEMA_TOPIC),
        .schema_text = worker == 0 ? CKP_SCHEMA_TEXT : NULL,
        .schema_fingerprint = CKP_SCHEMA_FINGERPRINT,
        .settings_file = ckp_option_text(options, CKP_OPTION_KAFKA_OPTIONS),
        .queue_kilobytes = KAFKA_QUEUE_KILOBYTES / output->worker_count,
        .timeout_ns = (int64_t)ckp_option_number(options, CKP_OPTION_KAFKA_TIMEOUT),
        .is_lossless = source->is_lossless,
        .stop = source->stop,
        .vitals = output->health ? &output->vitals[worker] : NULL,
    };
    config.settings = ckp_option_list(options, CKP_OPTION_KAFKA_OPTION, &config.setting_count);
    enum ckp_kafka_status status =
        ckp_kafka_sink_open(&output->outlets[worker].sink, partition_count, &config,
                            counters_of(output, worker), why, WHY_BYTES_MAX);
    if (status == CKP_KAFKA_OK)
        return CKP_EXIT_ALL_DONE;
    return status == CKP_KAFKA_WRONG_SETTING ? CKP_EXIT_WRONG_OPTIONS : CKP_EXIT_NOT_ALL_DONE;
}

static int check_partitions(const struct ckp_options *options, uint32_t partition_count, char *why)
{
    if (!options->value[CKP_OPTION_PARTITIONS].is_given ||
        ckp_option_number(options, CKP_OPTION_PARTITIONS) == partition_count)
        return CKP_EXIT_ALL_DONE;
    snprintf(why, WHY_BYTES_MAX, "option --partitions: '%s' is not the %u of topic %s",
             ckp_option_text(options, CKP_OPTION_PARTITIONS), partition_count,
             ckp_option_text(options, CKP_OPTION_TOPIC));
    return CKP_EXIT_WRONG_OPTIONS;
}

static uint32_t flows_max(const struct ckp_options *options, const struct ckp_source *source)
{
    if (options->value[CKP_OPTION_MAX_FLOWS].is_given)
        return (uint32_t)ckp_option_number(options, CKP_OPTION_MAX_FLOWS);
    return source->is_lossless ? UINT32_MAX : PORT_FLOWS_MAX;
}

/* Which flows are left out tells of a hash of their addresses: who anonymises keeps its seed to
 * himself. */
static uint64_t shed_seed(const struct ckp_output *output)
{
    struct ckp_anonymiser *anonymiser = output->outlets[0].anonymiser;
    uint64_t seed = ckp_option_number(output->options, CKP_OPTION_HASH_SEED);

    return anonymiser ? ckp_anonymise_number(anonymiser, seed) : seed;
}

static uint32_t mouse_packets(const struct ckp_options *options, const struct ckp_source *source)
{
    if (options->value[CKP_OPTION_MOUSE_PACKETS].is_given)
        return (uint32_t)ckp_option_number(options, CKP_OPTION_MOUSE_PACKETS);
    return source->is_lossless ? 0 : PORT_MOUSE_PACKETS;
}

static bool start_worker(const struct ckp_output *output, const struct ckp_source *source,
                         uint32_t worker, uint32_t partition_count)
{
    const struct ckp_options *options = output->options;
    const struct ckp_outlet *outlet = &output->outlets[worker];
    struct ckp_batch_config batches = {
        .probe = ckp_option_text(options, CKP_OPTION_PROBE),
        .tap = ckp_option_text(options, CKP_OPTION_TAP),
        .session = output->session,
        .worker = worker,
        .partition_count = partition_count,
        .hash_seed = ckp_option_number(options, CKP_OPTION_HASH_SEED),
        .schema_fingerprint = CKP_SCHEMA_FINGERPRINT,
        .flush_bytes = ckp_option_number(options, CKP_OPTION_BATCH_BYTES),
        .flush_delay_ns = (int64_t)ckp_option_number(options, CKP_OPTION_BATCH_DELAY),
        .timestamp_source = source->timestamp_source,
        .timestamp_resolution_ns = source->timestamp_resolution_ns,
        .totals =
            output->settlement.file ? ckp_state_file_totals(output->settlement.file, worker) : NULL,
    };
    struct ckp_flow_limits limits = {
        .idle_ns = (int64_t)ckp_option_number(options, CKP_OPTION_IDLE_TIMEOUT),
        .flows_max = (flows_max(options, source) - 1) / output->worker_count + 1,
        .mouse_packets = mouse_packets(options, source),
        .run_memory_bytes =
            ckp_option_number(options, CKP_OPTION_RUN_MEMORY) / output->worker_count,
        .shed_seed = shed_seed(output),
        .anonymise = outlet->anonymiser ? ckp_anonymise : NULL,
        .anonymiser = outlet->anonymiser,
    };
    struct ckp_frame_reading reading = {
        .domain = (uint32_t)ckp_option_number(options, CKP_OPTION_DOMAIN),
        .domain_rules = output->domain_rules,
        .tunnels = (enum ckp_tunnels)ckp_option_number(options, CKP_OPTION_TUNNELS),
        .erspan_time = (enum ckp_erspan_time)ckp_option_number(options, CKP_OPTION_ERSPAN_TIME),
        .ring = ckp_dump_ring(output->dump, worker),
    };
    /* Without a random seed only the protection against forged collisions is lost. */
    if (getrandom(&limits.table_seed, sizeof limits.table_seed, GRND_NONBLOCK) < 0)
        limits.table_seed = CKP_TABLE_SEED_KNOWN;
    return ckp_worker_init(&output->workers[worker], &reading, &batches, &limits,
                           counters_of(output, worker), outlet->sink.deliver, outlet->sink.self);
}

static bool start_workers(const struct ckp_output *output, const struct ckp_source *source,
                          uint32_t partition_count)
{
    for (uint32_t i = 0; i < output->worker_count; i++) {
        if (start_worker(output, source, i, partition_count))
            continue;
        while (i > 0)
            ckp_worker_free(&output->workers[--i]);
        return false;
    }
    return true;
}

static int open_sink(struct ckp_output *output, const struct ckp_source *source, uint32_t worker,
                     uint32_t *partition_count, char *why)
{
    const struct ckp_options *options = output->options;
    struct ckp_outlet *outlet = &output->outlets[worker];
    struct ckp_counters *counters = counters_of(output, worker);

    if (ckp_option_text(options, CKP_OPTION_KAFKA))
        return open_kafka(output, source, worker, partition_count, why);
    *partition_count = (uint32_t)ckp_option_number(options, CKP_OPTION_PARTITIONS);
    snprintf(why, WHY_BYTES_MAX, "there is no memory");
    bool is_open =
        worker == 0
            ? ckp_stream_sink_open(&outlet->sink, ckp_option_text(options, CKP_OPTION_OUTPUT),
                                   source->stop, counters, why, WHY_BYTES_MAX)
            : ckp_stream_sink_share(&outlet->sink, &output->outlets[0].sink, counters);
    return is_open ? CKP_EXIT_ALL_DONE : CKP_EXIT_NOT_ALL_DONE;
}

static int open_sinks(struct ckp_output *output, const struct ckp_source *source,
                      uint32_t *partition_count, char *why)
{
    for (uint32_t i = 0; i < output->worker_count; i++) {
        int code = open_sink(output, source, i, partition_count, why);
        if (code != CKP_EXIT_ALL_DONE) {
            close_sinks(output, i);
            return code;
        }
    }
    int code = ckp_option_text(output->options, CKP_OPTION_KAFKA)
                   ? check_partitions(output->options, *partition_count, why)
                   : CKP_EXIT_ALL_DONE;
    if (code != CKP_EXIT_ALL_DONE)
        close_sinks(output, output->worker_count);
    return code;
}

/* A hash of the capture would tell whether a guess at its addresses is right. */
static uint64_t identify(const struct ckp_output *output, const struct ckp_source *source)
{
    if (output->options->value[CKP_OPTION_SESSION].is_given)
        return ckp_option_number(output->options, CKP_OPTION_SESSION);
    if (output->outlets[0].anonymiser && source->has_hash_as_session)
        return ckp_anonymise_number(output->outlets[0].anonymiser, source->session);
    return source->session;
}

/* Each worker's has the same key and a state of its own. */
static bool open_anonymisers(struct ckp_output *output, char *why)
{
    const char *key_file = ckp_option_text(output->options, CKP_OPTION_ANONYMISE);

    for (uint32_t i = 0; key_file && i < output->worker_count; i++) {
        output->outlets[i].anonymiser = ckp_anonymiser_open(key_file, why, WHY_BYTES_MAX);
        if (!output->outlets[i].anonymiser)
            return false;
    }
    return true;
}

/* They were checked when the options were read. */
static void read_domain_rules(struct ckp_output *output)
{
    size_t count;
    const char *const *rules = ckp_option_list(output->options, CKP_OPTION_DOMAIN_OF, &count);

    for (size_t i = 0; i < count; i++)
        ckp_domain_rules_add(&output->domain_rules, rules[i]);
}

static bool open_settlement(struct ckp_output *output, const struct ckp_source *source, char *why)
{
    bool is_live = !source->is_lossless;

    if (!ckp_settlement_open(&output->settlement, output->options, is_live, why, WHY_BYTES_MAX))
        return false;
    snprintf(why, WHY_BYTES_MAX, "there is no memory");
    return counters_of(output, 0) != NULL;
}

static int open_all(struct ckp_output *output, const struct ckp_source *source,
                    uint32_t *partition_count, char *why)
{
    if (!open_anonymisers(output, why))
        return CKP_EXIT_WRONG_OPTIONS;
    if (!open_dump(output, source, why))
        return CKP_EXIT_WRONG_OPTIONS;
    if (!open_ledger(output, why) || !open_health(output, source, why) ||
        !open_settlement(output, source, why))
        return CKP_EXIT_NOT_ALL_DONE;
    return open_sinks(output, source, partition_count, why);
}

/* While files may still be made. What a killed probe has left is told before its file is begun
 * anew. */
static bool settle(struct ckp_output *output, const struct ckp_source *source,
                   uint32_t partition_count, char *why)
{
    const struct ckp_options *options = output->options;
    struct ckp_session_facts facts = {
        .session = identify(output, source),
        .hash_seed = ckp_option_number(options, CKP_OPTION_HASH_SEED),
        .timestamp_resolution_ns = source->timestamp_resolution_ns,
        .timestamp_source = source->timestamp_source,
        .worker_count = output->worker_count,
        .partition_count = partition_count,
    };

    snprintf(facts.probe, sizeof facts.probe, "%s", ckp_option_text(options, CKP_OPTION_PROBE));
    snprintf(facts.tap, sizeof facts.tap, "%s", ckp_option_text(options, CKP_OPTION_TAP));
    if (ckp_option_text(options, CKP_OPTION_KAFKA))
        snprintf(facts.topic, sizeof facts.topic, "%s", ckp_option_text(options, CKP_OPTION_TOPIC));
    ckp_settlement_publish(&output->settlement, options, partition_count, &output->outlets[0].sink,
                           counters_of(output, 0), source->stop);
    return ckp_settlement_begin(&output->settlement, &facts, why, WHY_BYTES_MAX);
}

static void free_workers(const struct ckp_output *output)
{
    for (uint32_t i = 0; i < output->worker_count; i++)
        ckp_worker_free(&output->workers[i]);
}

/* What comes from strangers is read here for the first time. */
static bool start(struct ckp_output *output, const struct ckp_source *source,
                  uint32_t partition_count)
{
    struct ckp_source known = *source;

    if (known.learn)
        known.learn(known.self, &known);
    output->session = identify(output, &known);
    if (output->health)
        ckp_health_tell_source(output->health, output->session, known.timestamp_resolution_ns);
    return start_workers(output, &known, partition_count);
}

int ckp_output_open(struct ckp_output *output, const struct ckp_options *options,
                    const struct ckp_source *source, struct ckp_worker *workers,
                    uint32_t worker_count)
{
    char why[WHY_BYTES_MAX];
    uint32_t partition_count;

    *output = (struct ckp_output){
        .options = options,
        .workers = workers,
        .worker_count = worker_count,
    };
    read_domain_rules(output);
    int code = open_all(output, source, &partition_count, why);
    if (code != CKP_EXIT_ALL_DONE) {
        ckp_log("%s", why);
        close_beside_sinks(output, false);
        return code;
    }
    bool is_unprivileged = empty_ledger(output, why) &&
                           settle(output, source, partition_count, why) &&
                           ckp_privileges_drop(options, why, sizeof why);
    if (is_unprivileged && start(output, source, partition_count)) {
        ckp_vitals_set_stage(&output->vitals[0], CKP_STAGE_RECEIVING);
        return CKP_EXIT_ALL_DONE;
    }
    ckp_log("%s", is_unprivileged ? "there is no memory: try a smaller --run-memory" : why);
    close_sinks(output, worker_count);
    close_beside_sinks(output, true); /* it has received nothing */
    return CKP_EXIT_NOT_ALL_DONE;
}

void ckp_output_tend(struct ckp_output *output, uint32_t worker, int64_t now_ns)
{
    struct ckp_outlet *outlet = &output->outlets[worker];

    if (now_ns - outlet->tended_ns < CKP_VITALS_PERIOD_NS)
        return;
    outlet->tended_ns = now_ns;
    int64_t silent_ns = outlet->sink.tend(outlet->sink.self);
    ckp_vitals_note_shed(&output->vitals[worker], output->workers[worker].tracker.shed_level);
    ckp_vitals_note_stamps(&output->vitals[worker], output->workers[worker].stamp_step_ns);
    ckp_vitals_publish(&output->vitals[worker], output->workers[worker].counters, now_ns,
                       silent_ns);
}

void ckp_output_drain(struct ckp_output *output)
{
    ckp_vitals_set_stage(&output->vitals[0], CKP_STAGE_DRAINING);
}

double ckp_output_fill(const struct ckp_output *output, uint32_t worker)
{
    const struct ckp_sink *sink = &output->outlets[worker].sink;

    return sink->fill ? sink->fill(sink->self) : CKP_FILL_UNKNOWN;
}

bool ckp_output_has_failed(const struct ckp_output *output, uint32_t worker)
{
    const struct ckp_sink *sink = &output->outlets[worker].sink;

    return sink->has_failed(sink->self);
}

static bool write_ledger(const struct ckp_output *output, const struct ckp_ledger *ledger)
{
    if (!output->ledger) {
        ckp_ledger_print(ledger, stderr);
        return true;
    }
    ckp_ledger_print_json(ledger, output->ledger);
    if (fflush(output->ledger) == 0)
        return true;
    ckp_log("ledger %s cannot be written: %s", ckp_option_text(output->options, CKP_OPTION_LEDGER),
            strerror(errno));
    return false;
}

bool ckp_output_close(struct ckp_output *output)
{
    char why[WHY_BYTES_MAX];
    const struct ckp_counters *counters[CKP_WORKERS_MAX];
    struct ckp_ledger ledger = {
        .probe = ckp_option_text(output->options, CKP_OPTION_PROBE),
        .tap = ckp_option_text(output->options, CKP_OPTION_TAP),
        .session = output->session,
        .workers = counters,
        .worker_count = output->worker_count,
    };
    bool is_complete = true;

    for (uint32_t i = 0; i < output->worker_count; i++) {
        struct ckp_sink *sink = &output->outlets[i].sink;
        bool is_delivered = sink->close(sink->self, why, sizeof why);
        if (!is_delivered && is_complete) /* the others would say the same */
            ckp_log("%s", why);
        is_complete &= is_delivered;
        counters[i] = output->workers[i].counters;
    }
    bool is_settled = is_complete;
    is_complete &= write_ledger(output, &ledger);
    is_complete &= ckp_ledger_all_balanced(&ledger, stderr);
    close_beside_sinks(output, is_settled);
    free_workers(output);
    return is_complete;
}
