/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXIT_USAGE 2
#define MAX_OPTIONS 32

/** What the command line says, before it becomes a path. */
struct arguments {
    const char *sender_namespace, *receiver_namespace, *interface;
    const char *capture_before, *capture_after, *capture_sender, *capture_receiver, *truth,
        *queue_samples, *link_samples, *drops;
    const char *delay_ms;
    double rate, queue, ack_rate, ack_queue, access_rate, fair, seed, snap_bytes;
};

enum kind {
    TEXT,
    REQUIRED_TEXT,
    NUMBER,
    LOSS,
    BURST_LOSS,
    LOSE_FRAME,
    JITTER,
    REORDER,
    SHAPER,
    POLICER,
    CODEL,
    HIDE_PORT
};

struct row {
    const char *name;
    enum kind kind;
    size_t offset; /* of the field in struct arguments */
    double min, max;
    const char *value;
    const char *help;
};

#define FIELD(name) offsetof(struct arguments, name)
#define BITS_PER_SECOND 1e3, 1e11, "BITS_PER_SECOND"
#define BUCKET "BITS_PER_SECOND:BURST_BYTES"
#define QUEUE_BYTES 2048, 1e9, "BYTES"

static const struct row rows[] = {
    {"sender-namespace", REQUIRED_TEXT, FIELD(sender_namespace), 0, 0, "NAME", "left host"},
    {"receiver-namespace", REQUIRED_TEXT, FIELD(receiver_namespace), 0, 0, "NAME", "right host"},
    {"interface", TEXT, FIELD(interface), 0, 0, "NAME", "TAP interface in both (eth0)"},
    {"capture-before", REQUIRED_TEXT, FIELD(capture_before), 0, 0, "FILE", "left tap"},
    {"capture-after", REQUIRED_TEXT, FIELD(capture_after), 0, 0, "FILE", "right tap"},
    {"capture-sender", TEXT, FIELD(capture_sender), 0, 0, "FILE", "tap at the left host (none)"},
    {"capture-receiver", TEXT, FIELD(capture_receiver), 0, 0, "FILE",
     "tap at the right host (none)"},
    {"truth", REQUIRED_TEXT, FIELD(truth), 0, 0, "FILE", "ground truth, JSON"},
    {"queue-samples", REQUIRED_TEXT, FIELD(queue_samples), 0, 0, "FILE", "bottleneck, CSV"},
    {"link-samples", REQUIRED_TEXT, FIELD(link_samples), 0, 0, "FILE", "what each flow sent, CSV"},
    {"drops", REQUIRED_TEXT, FIELD(drops), 0, 0, "FILE", "lost frames, CSV"},
    {"rate", NUMBER, FIELD(rate), BITS_PER_SECOND, "of the bottleneck (1e7)"},
    {"queue", NUMBER, FIELD(queue), QUEUE_BYTES, "drop-tail, before it (50000)"},
    {"fair", NUMBER, FIELD(fair), 0, 1, "0|1", "a queue for each flow, DRR (0)"},
    {"codel", CODEL, 0, 0, 0, "TARGET_MS:INTERVAL_MS", "e.g. 5:100; marks ECT frames"},
    {"shaper", SHAPER, 0, 0, 0, BUCKET, "tokens before the link"},
    {"policer", POLICER, 0, 0, 0, BUCKET, "drops what has no tokens, before the queue"},
    {"ack-rate", NUMBER, FIELD(ack_rate), BITS_PER_SECOND, "of the way back (access rate)"},
    {"ack-queue", NUMBER, FIELD(ack_queue), QUEUE_BYTES, "(1000000)"},
    {"access-rate", NUMBER, FIELD(access_rate), BITS_PER_SECOND, "of both hosts (1e9)"},
    {"delay-ms", TEXT, FIELD(delay_ms), 0, 0, "S,M,R", "of the sections, one-way (4,6,10)"},
    {"loss", LOSS, 0, 0, 0, "D:S:PROBABILITY", "e.g. data:middle:0.01"},
    {"burst-loss", BURST_LOSS, 0, 0, 0, "D:S:P:R", "to and from a state that loses all"},
    {"lose-frame", LOSE_FRAME, 0, 0, 0, "D:S:NUMBER", "this one is lost, counted from 1"},
    {"jitter", JITTER, 0, 0, 0, "D:S:MS", "at most so much more delay, in order"},
    {"reorder", REORDER, 0, 0, 0, "D:S:PROBABILITY:MIN-MAX", "e.g. data:sender:0.02:1-2"},
    {"hide-port", HIDE_PORT, 0, 0, 0, "PORT", "no tap sees its flows; may be repeated"},
    {"seed", NUMBER, FIELD(seed), 0, 1e15, "NUMBER", "of losses and reordering (1)"},
    {"snap-bytes", NUMBER, FIELD(snap_bytes), 54, 65535, "NUMBER", "captured of a frame (128)"},
};

#define NUM_ROWS (sizeof(rows) / sizeof(rows[0]))
_Static_assert(NUM_ROWS + 2 <= MAX_OPTIONS, "help and the end need room, too");

void ckp_fail(int status, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    fprintf(stderr, "link_emulator: ");
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    exit(status);
}

static const char **text_field(struct arguments *arguments, const struct row *row)
{
    return (const char **)(void *)((char *)arguments + row->offset);
}

static double *number_field(struct arguments *arguments, const struct row *row)
{
    return (double *)(void *)((char *)arguments + row->offset);
}

static double parse_number(const struct row *row, const char *text)
{
    char *end;
    double value = strtod(text, &end);

    if (end == text || *end || !(value >= row->min && value <= row->max))
        ckp_fail(EXIT_USAGE, "--%s is \"%s\", expected a number from %g to %g", row->name, text,
                 row->min, row->max);
    return value;
}

/** Finds the section that "DIRECTION:SECTION:..." names; *rest is what follows. */
static struct ckp_section *parse_section(struct ckp_path *path, const struct row *row,
                                         const char *text, const char **rest)
{
    static const char *const directions[] = {[CKP_DATA] = "data", [CKP_ACK] = "ack"};
    static const char *const sections[] = {
        [CKP_SENDER] = "sender", [CKP_MIDDLE] = "middle", [CKP_RECEIVER] = "receiver"};

    for (int direction = 0; direction < CKP_NUM_DIRECTIONS; direction++)
        for (int section = 0; section < CKP_NUM_SECTIONS; section++) {
            char prefix[32];
            int length = snprintf(prefix, sizeof(prefix), "%s:%s:", directions[direction],
                                  sections[section]);

            if (strncmp(text, prefix, (size_t)length) == 0) {
                *rest = text + length;
                return &path->sections[direction][section];
            }
        }
    ckp_fail(EXIT_USAGE, "--%s is \"%s\", expected %s", row->name, text, row->help);
}

static bool is_probability(double value)
{
    return value >= 0 && value <= 1;
}

static void parse_loss(struct ckp_path *path, const struct row *row, const char *text)
{
    const char *rest;
    struct ckp_section *section = parse_section(path, row, text, &rest);
    char excess;

    if (sscanf(rest, "%lf%c", &section->loss_probability, &excess) != 1 ||
        !is_probability(section->loss_probability))
        ckp_fail(EXIT_USAGE, "--loss is \"%s\", expected %s", text, row->help);
}

static void parse_reorder(struct ckp_path *path, const struct row *row, const char *text)
{
    const char *rest;
    struct ckp_section *section = parse_section(path, row, text, &rest);
    char excess;

    if (sscanf(rest, "%lf:%d-%d%c", &section->reorder_probability, &section->min_overtakers,
               &section->max_overtakers, &excess) != 3 ||
        !is_probability(section->reorder_probability) || section->min_overtakers < 1 ||
        section->max_overtakers < section->min_overtakers)
        ckp_fail(EXIT_USAGE, "--reorder is \"%s\", expected %s", text, row->help);
}

static void parse_burst_loss(struct ckp_path *path, const struct row *row, const char *text)
{
    const char *rest;
    struct ckp_section *section = parse_section(path, row, text, &rest);
    char excess;

    if (sscanf(rest, "%lf:%lf%c", &section->to_bad_probability, &section->to_good_probability,
               &excess) != 2 ||
        !is_probability(section->to_bad_probability) ||
        !is_probability(section->to_good_probability))
        ckp_fail(EXIT_USAGE, "--%s is \"%s\", expected %s", row->name, text, row->value);
}

static void parse_lose_frame(struct ckp_path *path, const struct row *row, const char *text)
{
    const char *rest;
    struct ckp_section *section = parse_section(path, row, text, &rest);
    char excess;

    if (sscanf(rest, "%" SCNu64 "%c", &section->lost_frame_number, &excess) != 1)
        ckp_fail(EXIT_USAGE, "--%s is \"%s\", expected %s", row->name, text, row->value);
}

static void parse_jitter(struct ckp_path *path, const struct row *row, const char *text)
{
    const char *rest;
    struct ckp_section *section = parse_section(path, row, text, &rest);
    double jitter_ms;
    char excess;

    if (sscanf(rest, "%lf%c", &jitter_ms, &excess) != 1 || !(jitter_ms >= 0 && jitter_ms < 1e4))
        ckp_fail(EXIT_USAGE, "--%s is \"%s\", expected %s", row->name, text, row->value);
    section->jitter_ns = llround(jitter_ms * NANOS_PER_MILLI);
}

static void parse_bucket(struct ckp_bucket *bucket, const struct row *row, const char *text)
{
    char excess;

    if (sscanf(text, "%lf:%" SCNd64 "%c", &bucket->bits_per_second, &bucket->burst_bytes,
               &excess) != 2 ||
        !(bucket->bits_per_second >= 1e3 && bucket->bits_per_second <= 1e11) ||
        bucket->burst_bytes < CKP_FRAME_MIN_BYTES)
        ckp_fail(EXIT_USAGE, "--%s is \"%s\", expected %s", row->name, text, row->value);
}

static void parse_codel(struct ckp_link *link, const struct row *row, const char *text)
{
    double target_ms, interval_ms;
    char excess;

    if (sscanf(text, "%lf:%lf%c", &target_ms, &interval_ms, &excess) != 2 ||
        !(target_ms > 0 && target_ms <= interval_ms && interval_ms < 1e4))
        ckp_fail(EXIT_USAGE, "--%s is \"%s\", expected %s", row->name, text, row->value);
    link->codel_target_ns = llround(target_ms * NANOS_PER_MILLI);
    link->codel_interval_ns = llround(interval_ms * NANOS_PER_MILLI);
}

static void parse_hidden_port(struct ckp_path *path, const struct row *row, const char *text)
{
    unsigned port;
    char excess;

    if (sscanf(text, "%u%c", &port, &excess) != 1 || port < 1 || port > UINT16_MAX ||
        path->num_hidden_ports == CKP_MAX_HIDDEN_PORTS)
        ckp_fail(EXIT_USAGE, "--%s is \"%s\", expected at most %d ports", row->name, text,
                 CKP_MAX_HIDDEN_PORTS);
    path->hidden_ports[path->num_hidden_ports++] = (uint16_t)port;
}

static void parse_delays(struct ckp_path *path, const char *text)
{
    double delays_ms[CKP_NUM_SECTIONS];
    char excess;

    if (sscanf(text, "%lf,%lf,%lf%c", &delays_ms[0], &delays_ms[1], &delays_ms[2], &excess) != 3)
        ckp_fail(EXIT_USAGE, "--delay-ms is \"%s\", expected three numbers, e.g. 4,6,10", text);
    for (int section = 0; section < CKP_NUM_SECTIONS; section++)
        for (int direction = 0; direction < CKP_NUM_DIRECTIONS; direction++)
            path->sections[direction][section].delay_ns =
                llround(delays_ms[section] * NANOS_PER_MILLI);
}

static void print_help(void)
{
    printf("usage: link_emulator OPTION...\n\n");
    for (size_t i = 0; i < NUM_ROWS; i++)
        printf("  --%-20s %-24s %s%s\n", rows[i].name, rows[i].value, rows[i].help,
               rows[i].kind == REQUIRED_TEXT ? " (required)" : "");
    printf("\nD is data or ack; S is a section: sender, middle or receiver.\n");
}

static void apply(struct arguments *arguments, struct ckp_path *path, const struct row *row)
{
    switch (row->kind) {
    case TEXT:
    case REQUIRED_TEXT:
        *text_field(arguments, row) = optarg;
        return;
    case NUMBER:
        *number_field(arguments, row) = parse_number(row, optarg);
        return;
    case LOSS:
        parse_loss(path, row, optarg);
        return;
    case BURST_LOSS:
        parse_burst_loss(path, row, optarg);
        return;
    case LOSE_FRAME:
        parse_lose_frame(path, row, optarg);
        return;
    case JITTER:
        parse_jitter(path, row, optarg);
        return;
    case REORDER:
        parse_reorder(path, row, optarg);
        return;
    case SHAPER:
        parse_bucket(&path->links[CKP_DATA].shaper, row, optarg);
        return;
    case POLICER:
        parse_bucket(&path->links[CKP_DATA].policer, row, optarg);
        return;
    case CODEL:
        parse_codel(&path->links[CKP_DATA], row, optarg);
        return;
    case HIDE_PORT:
        parse_hidden_port(path, row, optarg);
        return;
    }
}

static void read_command_line(struct arguments *arguments, struct ckp_path *path, int argc,
                              char **argv)
{
    struct option long_options[MAX_OPTIONS] = {0};
    int index, found;

    for (size_t i = 0; i < NUM_ROWS; i++)
        long_options[i] = (struct option){.name = rows[i].name, .has_arg = required_argument};
    long_options[NUM_ROWS] = (struct option){.name = "help", .has_arg = no_argument};

    while ((found = getopt_long(argc, argv, "", long_options, &index)) != -1) {
        if (found != 0)
            exit(EXIT_USAGE);
        if (index == (int)NUM_ROWS) {
            print_help();
            exit(EXIT_SUCCESS);
        }
        apply(arguments, path, &rows[index]);
    }
    if (optind < argc)
        ckp_fail(EXIT_USAGE, "\"%s\" is not an option", argv[optind]);
    for (size_t i = 0; i < NUM_ROWS; i++)
        if (rows[i].kind == REQUIRED_TEXT && !*text_field(arguments, &rows[i]))
            ckp_fail(EXIT_USAGE, "--%s %s is missing", rows[i].name, rows[i].value);
}

void ckp_options_parse(struct ckp_options *options, struct ckp_path *path, int argc, char **argv)
{
    struct arguments given = {
        .interface = "eth0",
        .delay_ms = "4,6,10",
        .rate = 1e7,
        .queue = 50000,
        .ack_queue = 1e6,
        .access_rate = 1e9,
        .seed = 1,
        .snap_bytes = 128,
    };

    read_command_line(&given, path, argc, argv);
    parse_delays(path, given.delay_ms);
    path->links[CKP_DATA].bits_per_second = given.rate;
    path->links[CKP_DATA].queue_limit_bytes = llround(given.queue);
    path->links[CKP_DATA].fair = given.fair > 0;
    path->links[CKP_ACK].bits_per_second = given.ack_rate > 0 ? given.ack_rate : given.access_rate;
    path->links[CKP_ACK].queue_limit_bytes = llround(given.ack_queue);
    for (int direction = 0; direction < CKP_NUM_DIRECTIONS; direction++)
        path->access[direction].bits_per_second = given.access_rate;
    path->random_state = (uint64_t)given.seed;
    *options = (struct ckp_options){
        .namespaces = {[CKP_DATA] = given.sender_namespace, [CKP_ACK] = given.receiver_namespace},
        .interface = given.interface,
        .captures = {[CKP_TAP_BEFORE] = given.capture_before,
                     [CKP_TAP_AFTER] = given.capture_after,
                     [CKP_TAP_SENDER] = given.capture_sender,
                     [CKP_TAP_RECEIVER] = given.capture_receiver},
        .truth = given.truth,
        .queue_samples = given.queue_samples,
        .link_samples = given.link_samples,
        .drops = given.drops,
        .snap_bytes = (uint32_t)given.snap_bytes,
    };
}
