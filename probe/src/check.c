/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include "anonymise.h"
#include "doctor.h"
#include "exit_code.h"
#include "health.h"
#include "kafka_check.h"
#include "log.h"
#include "machine.h"

#include <stdlib.h>
#include <string.h>

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
    look_at_kafka(facts, options, stop);
    bool is_well = ckp_doctor_print(facts, stdout);
    free(facts);
    return is_well ? CKP_EXIT_ALL_DONE : CKP_EXIT_NOT_ALL_DONE;
}
