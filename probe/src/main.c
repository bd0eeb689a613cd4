/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"
#include "domain.h"
#include "exit_code.h"
#include "file_play.h"
#include "filter.h"
#include "health.h"
#include "live_play.h"
#include "log.h"
#include "merge.h"
#include "privileges.h"
#include "worker.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t stop;

static void on_stop_signal(int signal_number)
{
    (void)signal_number;
    stop = 1;
}

/* The first signal drains, a second one ends the process at once. */
static void install_signals(void)
{
    struct sigaction action = {.sa_handler = on_stop_signal, .sa_flags = (int)SA_RESETHAND};

    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGHUP, SIG_IGN); /* with --filter-file a port's probe waits for it */
}

/* Name of the tap if none was given: that of the first file without folder and endings. */
static const char *name_tap(const char *path)
{
    static char tap[CKP_NAME_BYTES_MAX + 1];
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    size_t bytes = strcspn(name, ".");

    if (strcmp(path, "-") == 0 || bytes == 0 || bytes > CKP_NAME_BYTES_MAX)
        return "tap";
    memcpy(tap, name, bytes);
    return tap;
}

/* Options that nobody would read. */
static bool check_kafka_options(struct ckp_options *options, enum ckp_option option,
                                const char *name)
{
    if (!options->value[option].is_given || ckp_option_text(options, CKP_OPTION_KAFKA))
        return true;
    snprintf(options->error, sizeof options->error,
             "option --%s is too much without --kafka, expected both or neither", name);
    return false;
}

static bool check_port_option(struct ckp_options *options, enum ckp_option option, const char *name)
{
    if (!options->value[option].is_given || options->value[CKP_OPTION_PORT].is_given)
        return true;
    snprintf(options->error, sizeof options->error,
             "option --%s is too much without --port, expected both or neither", name);
    return false;
}

/* A broker as HOST, HOST:PORT or [ADDRESS]:PORT; librdkafka would take a port modulo 65536. */
static bool is_broker(const char *text, size_t bytes)
{
    const char *end = text + bytes, *colon = memrchr(text, ':', bytes);

    if (!colon || memchr(colon, ']', (size_t)(end - colon)))
        return bytes > 0;
    unsigned long port = 0;
    for (const char *digit = colon + 1; digit < end; digit++) {
        if (*digit < '0' || *digit > '9' || port > UINT16_MAX)
            return false;
        port = 10 * port + (unsigned long)(*digit - '0');
    }
    return colon > text && port >= 1 && port <= UINT16_MAX;
}

static bool check_brokers(struct ckp_options *options)
{
    const char *text = ckp_option_text(options, CKP_OPTION_KAFKA);

    for (const char *broker = text; broker; broker = strchr(broker, ',')) {
        broker += broker != text;
        if (is_broker(broker, strcspn(broker, ",")))
            continue;
        snprintf(
            options->error, sizeof options->error,
            "option --kafka: '%.*s' is no broker, expected HOST:PORT with a port of 1 to 65535",
            (int)strcspn(broker, ","), broker);
        return false;
    }
    return true;
}

/* DPDK would say of any other word that it cannot be parsed. */
static bool check_ports(struct ckp_options *options)
{
    size_t count;
    const char *const *specs = ckp_option_list(options, CKP_OPTION_PORT, &count);

    for (size_t i = 0; i < count; i++) {
        size_t bytes = strcspn(specs[i], ",");
        bool is_address =
            bytes >= strlen("3:0.0") && strspn(specs[i], "0123456789abcdefABCDEF:.") == bytes;
        if (strncmp(specs[i], "net_", 4) == 0 || is_address)
            continue;
        snprintf(options->error, sizeof options->error,
                 "option --port: '%.200s' is no device of DPDK, expected one such as "
                 "net_pcap0,rx_iface_in=eth0 or a PCI address such as 0000:03:00.0",
                 specs[i]);
        return false;
    }
    return true;
}

static bool check_output(struct ckp_options *options)
{
    bool is_standard = strcmp(ckp_option_text(options, CKP_OPTION_OUTPUT), "-") == 0;
    bool is_check = ckp_option_text(options, CKP_OPTION_CHECK) != NULL; /* writes no batch */

    if (ckp_option_text(options, CKP_OPTION_KAFKA)) {
        if (!options->value[CKP_OPTION_OUTPUT].is_given)
            return true;
        snprintf(options->error, sizeof options->error,
                 "option --output: '%.200s' is too much, expected either --output or --kafka",
                 ckp_option_text(options, CKP_OPTION_OUTPUT));
        return false;
    }
    if (is_check || !is_standard || !isatty(STDOUT_FILENO))
        return true;
    snprintf(options->error, sizeof options->error,
             "option --output: '-' is a terminal here, expected a file or a pipe");
    return false;
}

static bool check_metrics(struct ckp_options *options)
{
    const char *address = ckp_option_text(options, CKP_OPTION_METRICS);

    if (!address || ckp_health_is_address(address))
        return true;
    snprintf(
        options->error, sizeof options->error,
        "option --metrics: '%s' is no address with a port, expected one such as 127.0.0.1:9465 "
        "or [::1]:9465",
        address);
    return false;
}

static char *filter_text; /* of --filter-file, for as long as there are options */

/* Leaves the expression where --filter would: from then on it is the same. */
static bool read_filter_file(struct ckp_options *options)
{
    const char *path = ckp_option_text(options, CKP_OPTION_FILTER_FILE);

    if (!path)
        return true;
    if (options->value[CKP_OPTION_FILTER].is_given) {
        snprintf(options->error, sizeof options->error,
                 "option --filter-file: '%.200s' is too much, expected either --filter or "
                 "--filter-file",
                 path);
        return false;
    }
    char complaint[256];
    filter_text = ckp_filter_file_read(path, complaint, sizeof complaint);
    if (!filter_text)
        snprintf(options->error, sizeof options->error, "option --filter-file: %s", complaint);
    options->value[CKP_OPTION_FILTER].text = filter_text;
    return filter_text != NULL;
}

static bool check_filter(struct ckp_options *options)
{
    const char *path = ckp_option_text(options, CKP_OPTION_FILTER_FILE);
    char complaint[256];

    if (!read_filter_file(options))
        return false;
    const char *expression = ckp_option_text(options, CKP_OPTION_FILTER);
    if (!expression)
        return true;
    struct ckp_filter *filter = ckp_filter_new_ethernet(expression, complaint, sizeof complaint);
    if (!filter)
        snprintf(options->error, sizeof options->error,
                 "option --filter%s: '%.200s' is not a libpcap filter: %s", path ? "-file" : "",
                 path ? path : expression, complaint);
    ckp_filter_free(filter);
    return filter != NULL;
}

static bool check_domain_rules(struct ckp_options *options)
{
    struct ckp_domain_rules rules = {0};
    size_t count, right = 0;
    const char *const *texts = ckp_option_list(options, CKP_OPTION_DOMAIN_OF, &count);

    while (right < count && ckp_domain_rules_add(&rules, texts[right]))
        right++;
    ckp_domain_rules_free(&rules);
    if (right < count)
        snprintf(
            options->error, sizeof options->error,
            "option --domain-of: '%.200s' is not PLACE=N,... such as vlan:100=7,tunnel:5000=8, "
            "with one domain for each place",
            texts[right]);
    return right == count;
}

/* Others read it: it is a label of the metrics, and text of Avro. */
static bool set_tap(struct ckp_options *options)
{
    struct ckp_option_value *tap = &options->value[CKP_OPTION_TAP];

    if (tap->text)
        return true;
    tap->text = options->file_count == 0 ? "port" : name_tap(options->files[0]);
    if (ckp_is_name(tap->text))
        return true;
    snprintf(options->error, sizeof options->error,
             "option --tap: the name of the first file, '%.200s', is not text in UTF-8 without "
             "control characters, expected another name",
             tap->text);
    return false;
}

/* What the table of options cannot say. */
static bool check_options(struct ckp_options *options)
{
    bool has_port = options->value[CKP_OPTION_PORT].is_given;
    bool is_check = ckp_option_text(options, CKP_OPTION_CHECK) != NULL;

    if (options->file_count == 0 && !has_port && !is_check) {
        snprintf(options->error, sizeof options->error,
                 "no FILE is given, expected at least one capture, or - for standard input");
        return false;
    }
    if (options->file_count > 0 && is_check) {
        snprintf(options->error, sizeof options->error,
                 "option --check: '%.200s' is too much, expected no FILE", options->files[0]);
        return false;
    }
    if (options->file_count > 0 && has_port) {
        snprintf(options->error, sizeof options->error,
                 "option --port: '%.200s' is too much, expected either --port or FILE",
                 ckp_option_text(options, CKP_OPTION_PORT));
        return false;
    }
    if (options->value[CKP_OPTION_PORT].list_count > CKP_FEEDS_MAX) {
        snprintf(options->error, sizeof options->error,
                 "option --port: '%.200s' is one too many, expected at most %u",
                 ckp_option_text(options, CKP_OPTION_PORT), CKP_FEEDS_MAX);
        return false;
    }
    bool has_good_filter = /* --check tells of it among the rest */
        options->value[CKP_OPTION_CHECK].is_given || check_filter(options);
    if (!has_good_filter || !check_metrics(options) || !ckp_dump_check(options) ||
        !check_domain_rules(options) || !ckp_privileges_check(options) || !set_tap(options))
        return false;
    return check_port_option(options, CKP_OPTION_WORKERS, "workers") &&
           check_port_option(options, CKP_OPTION_QUEUES, "queues") &&
           check_port_option(options, CKP_OPTION_NO_SHED, "no-shed") &&
           check_port_option(options, CKP_OPTION_IDLE_SLEEP, "idle-sleep") &&
           check_port_option(options, CKP_OPTION_EAL, "eal") &&
           check_port_option(options, CKP_OPTION_STATE_FILE, "state-file") &&
           check_ports(options) && check_brokers(options) &&
           check_kafka_options(options, CKP_OPTION_KAFKA_OPTION, "kafka-option") &&
           check_kafka_options(options, CKP_OPTION_KAFKA_OPTIONS, "kafka-options") &&
           check_output(options);
}

static int run(struct ckp_options *options, int argc, char **argv)
{
    bool is_valid = ckp_options_parse(options, argc, argv);

    if (is_valid && ckp_option_text(options, CKP_OPTION_HELP)) {
        ckp_options_print_help(stdout);
        return CKP_EXIT_ALL_DONE;
    }
    if (is_valid && ckp_option_text(options, CKP_OPTION_VERSION)) {
        puts("chokepoint-probe " CKP_VERSION);
        return CKP_EXIT_ALL_DONE;
    }
    if (!is_valid || !check_options(options)) {
        ckp_log("%s", options->error);
        return CKP_EXIT_WRONG_OPTIONS;
    }
    install_signals();
    if (ckp_option_text(options, CKP_OPTION_CHECK))
        return ckp_check(options, &stop);
    return options->value[CKP_OPTION_PORT].is_given ? ckp_play_ports(options, &stop)
                                                    : ckp_play_files(options, &stop);
}

int main(int argc, char **argv)
{
    struct ckp_options options;
    int code = run(&options, argc, argv);

    ckp_options_free(&options);
    return code;
}
