/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include "anonymise.h"
#include "clock.h"
#include "doctor.h"
#include "dump_gate.h"
#include "exit_code.h"
#include "filter.h"
#include "health.h"
#include "kafka_check.h"
#include "log.h"
#include "machine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PORT_MIB 64 /* buffers of a port, and what DPDK itself takes */

static void look_at_options(struct ckp_facts *facts, const struct ckp_options *options)
{
    const char *eal = ckp_option_text(options, CKP_OPTION_EAL);
    size_t count;
    const char *const *specs = ckp_option_list(options, CKP_OPTION_PORT, &count);
    uint64_t given_mib = ckp_machine_argument_number(eal, "-m");

    for (size_t i = 0; i < count && i < CKP_FACTS_PORTS_MAX; i++)
        facts->ports[facts->port_count++].spec = specs[i];
    facts->workers = (uint32_t)ckp_option_number(options, CKP_OPTION_WORKERS);
    facts->needs_huge_pages = !ckp_machine_has_argument(eal, "--no-huge");
    facts->needs_hugetlbfs = !ckp_machine_has_argument(eal, "--in-memory");
    facts->memory_needed_mib = given_mib > 0 ? given_mib : PORT_MIB * facts->port_count;
    facts->idle_sleep_ns = (int64_t)ckp_option_number(options, CKP_OPTION_IDLE_SLEEP);
}

static void look_at_kafka(struct ckp_facts *facts, const struct ckp_options *options,
                          const volatile sig_atomic_t *stop)
{
    struct ckp_kafka_config config = {
        .brokers = ckp_option_text(options, CKP_OPTION_KAFKA),
        .topic = ckp_option_text(options, CKP_OPTION_TOPIC),
        .schema_topic = ckp_option_text(options, CKP_OPTION_SCHEMA_TOPIC),
        .settings_file = ckp_option_text(options, CKP_OPTION_KAFKA_OPTIONS),
        .timeout_ns = (int64_t)ckp_option_number(options, CKP_OPTION_KAFKA_TIMEOUT),
        .queue_kilobytes = 1024, /* nothing is queued */
        .stop = stop,
    };

    config.settings = ckp_option_list(options, CKP_OPTION_KAFKA_OPTION, &config.setting_count);
    if (options->value[CKP_OPTION_PARTITIONS].is_given)
        facts->kafka.partitions_wanted = ckp_option_number(options, CKP_OPTION_PARTITIONS);
    if (config.brokers)
        ckp_kafka_check(&facts->kafka, &config);
}

static void look_at_key(struct ckp_facts *facts, const struct ckp_options *options)
{
    facts->anonymise_key = ckp_option_text(options, CKP_OPTION_ANONYMISE);
    if (facts->anonymise_key)
        ckp_anonymiser_free(
            ckp_anonymiser_open(facts->anonymise_key, facts->why_no_key, sizeof facts->why_no_key));
}

/* Listens there for a moment. */
static void look_at_metrics(struct ckp_facts *facts, const struct ckp_options *options)
{
    static struct ckp_vitals vitals;
    static const struct ckp_tap_vitals tap;
    const struct ckp_metrics_identity identity = {
        .probe = "", .tap = "", .version = "", .timestamp_source = ""};

    facts->metrics = ckp_option_text(options, CKP_OPTION_METRICS);
    if (facts->metrics)
        ckp_health_close(ckp_health_open(facts->metrics, &identity, &vitals, 1, &tap, NULL,
                                         facts->why_no_metrics, sizeof facts->why_no_metrics));
}

static void look_at_ring_key(struct ckp_file_fact *key, const char *path, const char *tap)
{
    key->path = path;
    if (path)
        ckp_dump_gate_free(
            ckp_dump_gate_open(path, tap, ckp_clock_utc_ns(), key->why_not, sizeof key->why_not));
}

static void look_at_filter(struct ckp_file_fact *filter, const char *path)
{
    filter->path = path;
    if (!path)
        return;
    char *expression = ckp_filter_file_read(path, filter->why_not, sizeof filter->why_not);
    if (expression)
        ckp_filter_free(
            ckp_filter_new_ethernet(expression, filter->why_not, sizeof filter->why_not));
    free(expression);
}

/* @return 0, or errno of open() with O_CREAT, which is not called: it would make the file. */
static int find_write_error(const char *path)
{
    struct stat status;

    if (stat(path, &status) == 0) {
        if (S_ISDIR(status.st_mode))
            return EISDIR;
        return faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0 ? 0 : errno;
    }
    if (errno != ENOENT)
        return errno;
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    if (!folder)
        return ENOMEM;
    int error = faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) == 0 ? 0 : errno;
    free(folder);
    return error;
}

static void look_at_written(struct ckp_file_fact *file, const char *path)
{
    int error = path ? find_write_error(path) : 0;

    file->path = path;
    if (error != 0)
        snprintf(file->why_not, sizeof file->why_not, "%s", strerror(error));
}

static void look_at_files(struct ckp_facts *facts, const struct ckp_options *options)
{
    const char *output = ckp_option_text(options, CKP_OPTION_OUTPUT);
    bool is_standard = strcmp(output, "-") == 0;

    look_at_filter(&facts->filter, ckp_option_text(options, CKP_OPTION_FILTER_FILE));
    look_at_ring_key(&facts->ring_key, ckp_option_text(options, CKP_OPTION_RING_KEY),
                     ckp_option_text(options, CKP_OPTION_TAP));
    look_at_written(&facts->ring_audit, ckp_option_text(options, CKP_OPTION_RING_AUDIT));
    look_at_written(&facts->ledger, ckp_option_text(options, CKP_OPTION_LEDGER));
    look_at_written(&facts->output, is_standard ? NULL : output);
}

int ckp_check(const struct ckp_options *options, const volatile sig_atomic_t *stop)
{
    struct ckp_facts *facts = calloc(1, sizeof *facts);

    if (!facts) {
        ckp_log("there is no memory");
        return CKP_EXIT_NOT_ALL_DONE;
    }
    look_at_options(facts, options);
    ckp_machine_look(facts, ckp_option_text(options, CKP_OPTION_EAL));
    for (size_t i = 0; i < facts->port_count; i++)
        ckp_machine_look_at_port(&facts->ports[i]);
    if (facts->port_count > 0)
        ckp_check_ports(facts, options);
    look_at_key(facts, options);
    look_at_metrics(facts, options);
    look_at_files(facts, options);
    look_at_kafka(facts, options, stop);
    bool is_well = ckp_doctor_print(facts, stdout);
    free(facts);
    return is_well ? CKP_EXIT_ALL_DONE : CKP_EXIT_NOT_ALL_DONE;
}
