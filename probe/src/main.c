/* SPDX-License-Identifier: Apache-2.0 */
#include "inputs.h"
#include "ledger.h"
#include "log.h"
#include "options.h"
#include "schema_text.h"
#include "stream_sink.h"
#include "worker.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_ALL_READ = 0, EXIT_NOT_ALL_READ = 1, EXIT_WRONG_OPTIONS = 2 };

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
}

/* Reads one capture to its end. @return false if that was not possible */
static bool read_capture(struct ckp_worker *worker, struct ckp_capture *capture,
                         const struct ckp_stream_sink *sink)
{
    struct ckp_counters *counters = &worker->counters;
    struct ckp_frame frame;

    while (!stop && sink->error == 0) {
        switch (ckp_capture_next(capture, &frame)) {
        case CKP_CAPTURE_FRAME:
            ckp_count(counters, CKP_COUNT_FRAMES_RECEIVED, 1);
            ckp_worker_observe(worker, ckp_capture_link(capture), &frame);
            break;
        case CKP_CAPTURE_FILTERED:
            ckp_count(counters, CKP_COUNT_FRAMES_RECEIVED, 1);
            ckp_count(counters, CKP_COUNT_FRAMES_FILTERED, 1);
            break;
        case CKP_CAPTURE_END:
            return true;
        case CKP_CAPTURE_CUT_OFF:
            ckp_count(counters, CKP_COUNT_CAPTURES_CUT_OFF, 1);
            ckp_log("%s is cut off at its end, all whole frames were read",
                    ckp_capture_name(capture));
            return true;
        case CKP_CAPTURE_FAILED:
            if (!stop)
                ckp_log("%s", ckp_capture_error(capture));
            return stop;
        }
    }
    return true;
}

static bool write_ledger(const struct ckp_ledger *ledger, const char *path)
{
    if (!path) {
        ckp_ledger_print(ledger, stderr);
        return true;
    }
    FILE *file = fopen(path, "w");
    if (file)
        ckp_ledger_print_json(ledger, file);
    if (file && !ferror(file) && fclose(file) == 0)
        return true;
    ckp_log("ledger %s cannot be written: %s", path, strerror(errno));
    return false;
}

/* Name of the tap if none was given: that of the first file without folder and endings. */
static void name_tap(char *tap, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    size_t bytes = strcspn(name, ".");

    if (strcmp(path, "-") == 0 || bytes == 0 || bytes > CKP_NAME_BYTES_MAX)
        strcpy(tap, "tap");
    else
        snprintf(tap, CKP_NAME_BYTES_MAX + 1, "%.*s", (int)bytes, name);
}

static void configure(struct ckp_batch_config *batches, struct ckp_flow_limits *limits,
                      const struct ckp_options *options, const struct ckp_inputs *inputs)
{
    *batches = (struct ckp_batch_config){
        .probe = ckp_option_text(options, CKP_OPTION_PROBE),
        .tap = ckp_option_text(options, CKP_OPTION_TAP),
        .session = options->value[CKP_OPTION_SESSION].is_given
                       ? ckp_option_number(options, CKP_OPTION_SESSION)
                       : inputs->session,
        .partition_count = (uint32_t)ckp_option_number(options, CKP_OPTION_PARTITIONS),
        .hash_seed = ckp_option_number(options, CKP_OPTION_HASH_SEED),
        .schema_fingerprint = CKP_SCHEMA_FINGERPRINT,
        .flush_bytes = ckp_option_number(options, CKP_OPTION_BATCH_BYTES),
        .flush_delay_ns = (int64_t)ckp_option_number(options, CKP_OPTION_BATCH_DELAY),
        .timestamp_source = CKP_TIMESTAMP_FILE,
        .timestamp_resolution_ns = inputs->resolution_ns,
    };
    *limits = (struct ckp_flow_limits){
        .idle_ns = (int64_t)ckp_option_number(options, CKP_OPTION_IDLE_TIMEOUT),
        .flows_max = (uint32_t)ckp_option_number(options, CKP_OPTION_MAX_FLOWS),
        .run_memory_bytes = ckp_option_number(options, CKP_OPTION_RUN_MEMORY),
    };
}

/* Plays all captures through the worker into the sink. @return whether all was read and written */
static bool play(struct ckp_worker *worker, struct ckp_inputs *inputs, struct ckp_stream_sink *sink)
{
    bool is_complete = inputs->unreadable == 0;

    for (size_t i = 0; i < inputs->count; i++)
        is_complete &= read_capture(worker, inputs->captures[i], sink);
    ckp_worker_finish(worker);
    ckp_stream_sink_close(sink);
    if (sink->error == EPIPE)
        ckp_log("%s: the reader has ended before the capture", sink->name);
    else if (sink->error)
        ckp_log("%s cannot be written: %s", sink->name, strerror(sink->error));
    return is_complete && sink->error == 0;
}

static int run(const struct ckp_options *options, struct ckp_inputs *inputs)
{
    struct ckp_stream_sink sink;
    struct ckp_batch_config batches;
    struct ckp_flow_limits limits;
    struct ckp_worker *worker = malloc(sizeof *worker);
    const char *output = ckp_option_text(options, CKP_OPTION_OUTPUT);

    configure(&batches, &limits, options, inputs);
    if (!worker || !ckp_worker_init(worker, (uint32_t)ckp_option_number(options, CKP_OPTION_DOMAIN),
                                    &batches, &limits, ckp_stream_sink_deliver, &sink)) {
        ckp_log("there is no memory: try a smaller --run-memory");
        free(worker);
        return EXIT_NOT_ALL_READ;
    }

    bool is_complete = false;
    if (ckp_stream_sink_open(&sink, output, &worker->counters)) {
        is_complete = play(worker, inputs, &sink);
        struct ckp_ledger ledger = {batches.probe, batches.tap, batches.session,
                                    &worker->counters};
        is_complete &= write_ledger(&ledger, ckp_option_text(options, CKP_OPTION_LEDGER));
        is_complete &= ckp_ledger_is_balanced(&worker->counters, stderr);
    } else {
        ckp_log("output %s cannot be written: %s", output, strerror(errno));
    }
    ckp_worker_free(worker);
    free(worker);
    return is_complete ? EXIT_ALL_READ : EXIT_NOT_ALL_READ;
}

static bool check_options(struct ckp_options *options, char *tap)
{
    const char *filter = ckp_option_text(options, CKP_OPTION_FILTER);

    if (options->file_count == 0) {
        snprintf(options->error, sizeof options->error,
                 "no FILE is given, expected at least one capture, or - for standard input");
        return false;
    }
    if (filter && !ckp_filter_check(filter, options->error, sizeof options->error))
        return false;
    if (strcmp(ckp_option_text(options, CKP_OPTION_OUTPUT), "-") == 0 && isatty(STDOUT_FILENO)) {
        snprintf(options->error, sizeof options->error,
                 "option --output: '-' is a terminal here, expected a file or a pipe");
        return false;
    }
    if (!ckp_option_text(options, CKP_OPTION_TAP)) {
        name_tap(tap, options->files[0]);
        options->value[CKP_OPTION_TAP].text = tap;
    }
    return true;
}

int main(int argc, char **argv)
{
    static char tap[CKP_NAME_BYTES_MAX + 1];
    struct ckp_options options;
    struct ckp_inputs inputs;

    bool is_valid = ckp_options_parse(&options, argc, argv);
    if (is_valid && ckp_option_text(&options, CKP_OPTION_HELP)) {
        ckp_options_print_help(stdout);
        return EXIT_ALL_READ;
    }
    if (is_valid && ckp_option_text(&options, CKP_OPTION_VERSION)) {
        puts("chokepoint-probe " CKP_VERSION);
        return EXIT_ALL_READ;
    }
    if (!is_valid || !check_options(&options, tap)) {
        ckp_log("%s", options.error);
        return EXIT_WRONG_OPTIONS;
    }
    install_signals();
    if (!ckp_inputs_open(&inputs, options.files, options.file_count,
                         ckp_option_text(&options, CKP_OPTION_FILTER))) {
        ckp_log("there is no memory");
        return EXIT_NOT_ALL_READ;
    }
    int code = run(&options, &inputs);
    ckp_inputs_close(&inputs);
    return code;
}
