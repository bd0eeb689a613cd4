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
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define WHY_BYTES_MAX  1024
#define PORT_FLOWS_MAX 1000000u

static const char *const timestamp_source_name[] = {
    [CKP_TIMESTAMP_FILE] = "file",
    [CKP_TIMESTAMP_KERNEL] = "kernel",
    [CKP_TIMESTAMP_BURST] = "burst",
};

/* Before Kafka is asked, for that may take a while. */
static bool open_health(struct ckp_output *output, const struct ckp_source *source, char *why)
{
    const char *address = ckp_option_text(output->options, CKP_OPTION_METRICS);
    const struct ckp_metrics_identity identity = {
        .probe = ckp_option_text(output->options, CKP_OPTION_PROBE),
        .tap = ckp_option_text(output->options, CKP_OPTION_TAP),
        .version = CKP_VERSION,
        .timestamp_source = timestamp_source_name[source->timestamp_source],
        .timestamp_resolution_ns = source->timestamp_resolution_ns,
        .session = output->session,
        .has_kafka = ckp_option_text(output->options, CKP_OPTION_KAFKA) != NULL,
    };

    if (!address)
        return true;
    output->health = ckp_health_open(address, &identity, &output->vitals, why, WHY_BYTES_MAX);
    if (output->health && strcmp(strrchr(address, ':'), ":0") == 0)
        ckp_log("metrics are at port %u", ckp_health_port(output->health));
    return output->health != NULL;
}

/* At once, for later nothing may be opened for writing. */
static bool open_ledger(struct ckp_output *output, char *why)
{
    const char *path = ckp_option_text(output->options, CKP_OPTION_LEDGER);

    if (!path)
        return true;
    output->ledger = fopen(path, "we");
    if (!output->ledger)
        snprintf(why, WHY_BYTES_MAX, "ledger %s cannot be written: %s", path, strerror(errno));
    return output->ledger != NULL;
}

static void close_beside_sink(struct ckp_output *output)
{
    ckp_anonymiser_free(output->anonymiser);
    ckp_health_close(output->health);
    free(ckp_vitals_take_statistics(&output->vitals));
    if (output->ledger)
        fclose(output->ledger);
}

static int open_kafka(struct ckp_output *output, const struct ckp_source *source,
                      uint32_t *partition_count, struct ckp_counters *counters, char *why)
{
    const struct ckp_options *options = output->options;
    struct ckp_kafka_config config = {
        .brokers = ckp_option_text(options, CKP_OPTION_KAFKA),
        .topic = ckp_option_text(options, CKP_OPTION_TOPIC),
        .schema_topic = ckp_option_text(options, CKP_OPTION_SCHEMA_TOPIC),
        .schema_text = CKP_SCHEMA_TEXT,
        .schema_fingerprint = CKP_SCHEMA_FINGERPRINT,
        .settings_file = ckp_option_text(options, CKP_OPTION_KAFKA_OPTIONS),
        .timeout_ns = (int64_t)ckp_option_number(options, CKP_OPTION_KAFKA_TIMEOUT),
        .is_lossless = source->is_lossless,
        .stop = source->stop,
        .vitals = output->health ? &output->vitals : NULL,
    };
    config.settings = ckp_option_list(options, CKP_OPTION_KAFKA_OPTION, &config.setting_count);
    enum ckp_kafka_status status =
        ckp_kafka_sink_open(&output->sink, partition_count, &config, counters, why, WHY_BYTES_MAX);
    if (status != CKP_KAFKA_OK)
        return status == CKP_KAFKA_WRONG_SETTING ? CKP_EXIT_WRONG_OPTIONS : CKP_EXIT_NOT_ALL_DONE;

    uint64_t wanted = ckp_option_number(options, CKP_OPTION_PARTITIONS);
    if (!options->value[CKP_OPTION_PARTITIONS].is_given || wanted == *partition_count)
        return CKP_EXIT_ALL_DONE;
    output->sink.close(output->sink.self, why, WHY_BYTES_MAX);
    snprintf(why, WHY_BYTES_MAX, "option --partitions: '%s' is not the %u of topic %s",
             ckp_option_text(options, CKP_OPTION_PARTITIONS), *partition_count, config.topic);
    return CKP_EXIT_WRONG_OPTIONS;
}

static uint32_t flows_max(const struct ckp_options *options, const struct ckp_source *source)
{
    if (options->value[CKP_OPTION_MAX_FLOWS].is_given)
        return (uint32_t)ckp_option_number(options, CKP_OPTION_MAX_FLOWS);
    return source->is_lossless ? UINT32_MAX : PORT_FLOWS_MAX;
}

static bool start_worker(struct ckp_worker *worker, const struct ckp_output *output,
                         const struct ckp_source *source, uint32_t partition_count)
{
    const struct ckp_options *options = output->options;
    struct ckp_batch_config batches = {
        .probe = ckp_option_text(options, CKP_OPTION_PROBE),
        .tap = ckp_option_text(options, CKP_OPTION_TAP),
        .session = output->session,
        .partition_count = partition_count,
        .hash_seed = ckp_option_number(options, CKP_OPTION_HASH_SEED),
        .schema_fingerprint = CKP_SCHEMA_FINGERPRINT,
        .flush_bytes = ckp_option_number(options, CKP_OPTION_BATCH_BYTES),
        .flush_delay_ns = (int64_t)ckp_option_number(options, CKP_OPTION_BATCH_DELAY),
        .timestamp_source = source->timestamp_source,
        .timestamp_resolution_ns = source->timestamp_resolution_ns,
    };
    struct ckp_flow_limits limits = {
        .idle_ns = (int64_t)ckp_option_number(options, CKP_OPTION_IDLE_TIMEOUT),
        .flows_max = flows_max(options, source),
        .run_memory_bytes = ckp_option_number(options, CKP_OPTION_RUN_MEMORY),
        .anonymise = output->anonymiser ? ckp_anonymise : NULL,
        .anonymiser = output->anonymiser,
    };
    struct ckp_frame_reading reading = {
        .domain = (uint32_t)ckp_option_number(options, CKP_OPTION_DOMAIN),
        .tunnels = (enum ckp_tunnels)ckp_option_number(options, CKP_OPTION_TUNNELS),
    };
    /* Without a random seed only the protection against forged collisions is lost. */
    if (getrandom(&limits.table_seed, sizeof limits.table_seed, GRND_NONBLOCK) < 0)
        limits.table_seed = 0;
    return ckp_worker_init(worker, &reading, &batches, &limits, output->sink.deliver,
                           output->sink.self);
}

static int open_sink(struct ckp_output *output, const struct ckp_source *source,
                     uint32_t *partition_count, struct ckp_counters *counters, char *why)
{
    const struct ckp_options *options = output->options;

    if (ckp_option_text(options, CKP_OPTION_KAFKA))
        return open_kafka(output, source, partition_count, counters, why);
    *partition_count = (uint32_t)ckp_option_number(options, CKP_OPTION_PARTITIONS);
    return ckp_stream_sink_open(&output->sink, ckp_option_text(options, CKP_OPTION_OUTPUT),
                                source->stop, counters, why, WHY_BYTES_MAX)
               ? CKP_EXIT_ALL_DONE
               : CKP_EXIT_NOT_ALL_DONE;
}

/* A hash of the capture would tell whether a guess at its addresses is right. */
static uint64_t identify(const struct ckp_output *output, const struct ckp_source *source)
{
    if (output->options->value[CKP_OPTION_SESSION].is_given)
        return ckp_option_number(output->options, CKP_OPTION_SESSION);
    if (output->anonymiser && source->has_hash_as_session)
        return ckp_anonymise_number(output->anonymiser, source->session);
    return source->session;
}

static bool open_anonymiser(struct ckp_output *output, char *why)
{
    const char *key_file = ckp_option_text(output->options, CKP_OPTION_ANONYMISE);

    output->anonymiser = key_file ? ckp_anonymiser_open(key_file, why, WHY_BYTES_MAX) : NULL;
    return !key_file || output->anonymiser;
}

static int open_all(struct ckp_output *output, const struct ckp_source *source,
                    uint32_t *partition_count, struct ckp_counters *counters, char *why)
{
    if (!open_ledger(output, why) || !open_health(output, source, why))
        return CKP_EXIT_NOT_ALL_DONE;
    return open_sink(output, source, partition_count, counters, why);
}

int ckp_output_open(struct ckp_output *output, const struct ckp_options *options,
                    const struct ckp_source *source, struct ckp_worker *worker)
{
    char why[WHY_BYTES_MAX];
    uint32_t partition_count;

    output->options = options;
    if (!open_anonymiser(output, why)) {
        ckp_log("%s", why);
        return CKP_EXIT_WRONG_OPTIONS;
    }
    output->session = identify(output, source);
    output->tended_ns = 0;
    int code = open_all(output, source, &partition_count, &worker->counters, why);
    if (code != CKP_EXIT_ALL_DONE) {
        ckp_log("%s", why);
        close_beside_sink(output);
        return code;
    }
    bool is_started = start_worker(worker, output, source, partition_count);
    if (is_started && ckp_privileges_drop(options, why, sizeof why)) {
        ckp_vitals_set_stage(&output->vitals, CKP_STAGE_RECEIVING);
        return CKP_EXIT_ALL_DONE;
    }
    ckp_log("%s", is_started ? why : "there is no memory: try a smaller --run-memory");
    if (is_started)
        ckp_worker_free(worker);
    output->sink.close(output->sink.self, why, sizeof why);
    close_beside_sink(output);
    return CKP_EXIT_NOT_ALL_DONE;
}

void ckp_output_tend(struct ckp_output *output, const struct ckp_worker *worker, int64_t now_ns)
{
    if (now_ns - output->tended_ns < CKP_VITALS_PERIOD_NS)
        return;
    output->tended_ns = now_ns;
    int64_t silent_ns = output->sink.tend(output->sink.self);
    if (output->health)
        ckp_vitals_publish(&output->vitals, &worker->counters, now_ns, silent_ns);
}

void ckp_output_drain(struct ckp_output *output)
{
    ckp_vitals_set_stage(&output->vitals, CKP_STAGE_DRAINING);
}

bool ckp_output_has_failed(const struct ckp_output *output)
{
    return output->sink.has_failed(output->sink.self);
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

bool ckp_output_close(struct ckp_output *output, const struct ckp_worker *worker)
{
    char why[WHY_BYTES_MAX];
    struct ckp_ledger ledger = {
        .probe = ckp_option_text(output->options, CKP_OPTION_PROBE),
        .tap = ckp_option_text(output->options, CKP_OPTION_TAP),
        .session = output->session,
        .counters = &worker->counters,
    };
    bool is_complete = output->sink.close(output->sink.self, why, sizeof why);

    if (!is_complete)
        ckp_log("%s", why);
    is_complete &= write_ledger(output, &ledger);
    close_beside_sink(output);
    return ckp_ledger_is_balanced(&worker->counters, stderr) && is_complete;
}
