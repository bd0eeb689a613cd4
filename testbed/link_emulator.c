/* SPDX-License-Identifier: Apache-2.0 */
/* Joins two network namespaces by an emulated path (path.h) and captures at its two taps.
 *
 * Each namespace gets one TAP interface. The emulated clock never runs ahead of the real one, and
 * a frame that a host sends because one was just delivered to it is dated to that delivery: so a
 * process that is scheduled late (up to MAX_LATENESS_NS) leaves no trace in the captures. After a
 * longer stall the emulated clock is set back, so that no burst makes up for it; each such stall
 * is part of the ground truth.
 *
 * Prints "ready" when the interfaces exist; writes its files and ends on SIGTERM or SIGINT.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <linux/if_tun.h>
#include <math.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "path.h"

#define MAX_LATENESS_NS (5 * NANOS_PER_MILLI)
#define SPIN_NS (20 * NANOS_PER_MICRO) /* shorter waits are not worth a sleep */
#define MAX_DRAIN_NS (2 * NANOS_PER_SECOND)
#define EXIT_USAGE 2

struct options {
    const char *namespaces[CKP_NUM_DIRECTIONS]; /* of the host that sends in this direction */
    const char *interface;
    const char *captures[CKP_NUM_TAPS];
    const char *truth;
    const char *queue;
    uint32_t snap_bytes;
};

struct clock {
    int64_t origin_ns; /* CLOCK_MONOTONIC at emulated time 0 */
    int64_t frozen_ns; /* how far stalls have set the emulated clock back */
};

static volatile sig_atomic_t stop;

static void on_signal(int signal_number)
{
    (void)signal_number;
    stop = 1;
}

__attribute__((noreturn, format(printf, 2, 3))) static void fail(int status, const char *format,
                                                                 ...)
{
    va_list arguments;

    va_start(arguments, format);
    fprintf(stderr, "link_emulator: ");
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    exit(status);
}

static int64_t read_clock_ns(clockid_t id)
{
    struct timespec now;

    clock_gettime(id, &now);
    return now.tv_sec * NANOS_PER_SECOND + now.tv_nsec;
}

static int64_t emulated_now_ns(const struct clock *clock)
{
    return read_clock_ns(CLOCK_MONOTONIC) - clock->origin_ns - clock->frozen_ns;
}

/* ---- options ---------------------------------------------------------------------------- */

static const char usage[] =
    "usage: link_emulator --sender-namespace NS --receiver-namespace NS\n"
    "         --capture-before FILE --capture-after FILE --truth FILE --queue-samples FILE\n"
    "  --interface NAME               name of the TAP interface in both namespaces (eth0)\n"
    "  --rate BITS_PER_SECOND         of the bottleneck (10000000)\n"
    "  --queue BYTES                  drop-tail queue in front of it (50000)\n"
    "  --ack-rate BITS_PER_SECOND     of the way back (as --access-rate)\n"
    "  --ack-queue BYTES              (1000000)\n"
    "  --access-rate BITS_PER_SECOND  of both hosts (1000000000)\n"
    "  --delay-ms SENDER,MIDDLE,RECEIVER   one-way, of the three sections (4,6,10)\n"
    "  --loss DIRECTION:SECTION:PROBABILITY                      e.g. data:middle:0.01\n"
    "  --reorder DIRECTION:SECTION:PROBABILITY:OVERTAKERS[-MAX]  e.g. data:sender:0.02:1-2\n"
    "  --seed NUMBER                  of losses and reordering (1)\n"
    "  --snap-bytes NUMBER            captured bytes per frame (128)\n"
    "DIRECTION is data or ack, SECTION is sender, middle or receiver.\n";

static double parse_number(const char *option, const char *text, double min, double max)
{
    char *end;
    double value = strtod(text, &end);

    if (end == text || *end || !(value >= min && value <= max))
        fail(EXIT_USAGE, "--%s is \"%s\", expected a number from %g to %g", option, text, min, max);
    return value;
}

static void parse_delays(struct ckp_path *path, const char *text)
{
    double delays_ms[CKP_NUM_SECTIONS];
    char excess;

    if (sscanf(text, "%lf,%lf,%lf%c", &delays_ms[0], &delays_ms[1], &delays_ms[2], &excess) != 3)
        fail(EXIT_USAGE, "--delay-ms is \"%s\", expected three numbers, e.g. 4,6,10", text);
    for (int section = 0; section < CKP_NUM_SECTIONS; section++)
        for (int direction = 0; direction < CKP_NUM_DIRECTIONS; direction++)
            path->sections[direction][section].delay_ns =
                llround(delays_ms[section] * NANOS_PER_MILLI);
}

/** Finds the section that "DIRECTION:SECTION:..." names; *rest is what follows. */
static struct ckp_section *parse_section(struct ckp_path *path, const char *option,
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
    fail(EXIT_USAGE, "--%s is \"%s\", expected e.g. data:middle:0.01", option, text);
}

static void parse_loss(struct ckp_path *path, const char *text)
{
    const char *probability;
    struct ckp_section *section = parse_section(path, "loss", text, &probability);

    section->loss_probability = parse_number("loss", probability, 0, 1);
}

static void parse_reorder(struct ckp_path *path, const char *text)
{
    const char *rest;
    struct ckp_section *section = parse_section(path, "reorder", text, &rest);
    int fields = sscanf(rest, "%lf:%d-%d", &section->reorder_probability,
                        &section->min_overtakers, &section->max_overtakers);

    if (fields == 2)
        section->max_overtakers = section->min_overtakers;
    if (fields < 2 || section->min_overtakers < 1 ||
        section->max_overtakers < section->min_overtakers)
        fail(EXIT_USAGE, "--reorder is \"%s\", expected e.g. data:sender:0.02:1-2", text);
}

enum option_id {
    SENDER_NAMESPACE, RECEIVER_NAMESPACE, CAPTURE_BEFORE, CAPTURE_AFTER, TRUTH, QUEUE_SAMPLES,
    INTERFACE, RATE, QUEUE, ACK_RATE, ACK_QUEUE, ACCESS_RATE, DELAY_MS, LOSS, REORDER, SEED,
    SNAP_BYTES, HELP,
};

static const struct option long_options[] = {
    [SENDER_NAMESPACE] = {"sender-namespace", required_argument, NULL, 0},
    [RECEIVER_NAMESPACE] = {"receiver-namespace", required_argument, NULL, 0},
    [CAPTURE_BEFORE] = {"capture-before", required_argument, NULL, 0},
    [CAPTURE_AFTER] = {"capture-after", required_argument, NULL, 0},
    [TRUTH] = {"truth", required_argument, NULL, 0},
    [QUEUE_SAMPLES] = {"queue-samples", required_argument, NULL, 0},
    [INTERFACE] = {"interface", required_argument, NULL, 0},
    [RATE] = {"rate", required_argument, NULL, 0},
    [QUEUE] = {"queue", required_argument, NULL, 0},
    [ACK_RATE] = {"ack-rate", required_argument, NULL, 0},
    [ACK_QUEUE] = {"ack-queue", required_argument, NULL, 0},
    [ACCESS_RATE] = {"access-rate", required_argument, NULL, 0},
    [DELAY_MS] = {"delay-ms", required_argument, NULL, 0},
    [LOSS] = {"loss", required_argument, NULL, 0},
    [REORDER] = {"reorder", required_argument, NULL, 0},
    [SEED] = {"seed", required_argument, NULL, 0},
    [SNAP_BYTES] = {"snap-bytes", required_argument, NULL, 0},
    [HELP] = {"help", no_argument, NULL, 0},
    {NULL, 0, NULL, 0},
};

static void apply_option(struct options *options, struct ckp_path *path, enum option_id id)
{
    const double min_rate = 1e3, max_rate = 1e11, max_queue_bytes = 1e9;
    const char *name = long_options[id].name;

    switch (id) {
    case SENDER_NAMESPACE: options->namespaces[CKP_DATA] = optarg; break;
    case RECEIVER_NAMESPACE: options->namespaces[CKP_ACK] = optarg; break;
    case CAPTURE_BEFORE: options->captures[CKP_TAP_BEFORE] = optarg; break;
    case CAPTURE_AFTER: options->captures[CKP_TAP_AFTER] = optarg; break;
    case TRUTH: options->truth = optarg; break;
    case QUEUE_SAMPLES: options->queue = optarg; break;
    case INTERFACE: options->interface = optarg; break;
    case RATE:
        path->links[CKP_DATA].bits_per_second = parse_number(name, optarg, min_rate, max_rate);
        break;
    case QUEUE:
        path->links[CKP_DATA].queue_limit_bytes =
            llround(parse_number(name, optarg, CKP_FRAME_MAX_BYTES, max_queue_bytes));
        break;
    case ACK_RATE:
        path->links[CKP_ACK].bits_per_second = parse_number(name, optarg, min_rate, max_rate);
        break;
    case ACK_QUEUE:
        path->links[CKP_ACK].queue_limit_bytes =
            llround(parse_number(name, optarg, CKP_FRAME_MAX_BYTES, max_queue_bytes));
        break;
    case ACCESS_RATE:
        path->access[CKP_DATA].bits_per_second = parse_number(name, optarg, min_rate, max_rate);
        path->access[CKP_ACK].bits_per_second = path->access[CKP_DATA].bits_per_second;
        break;
    case DELAY_MS: parse_delays(path, optarg); break;
    case LOSS: parse_loss(path, optarg); break;
    case REORDER: parse_reorder(path, optarg); break;
    case SEED: path->random_state = (uint64_t)parse_number(name, optarg, 0, 1e15); break;
    case SNAP_BYTES: options->snap_bytes = (uint32_t)parse_number(name, optarg, 54, 65535); break;
    case HELP:
        fputs(usage, stdout);
        exit(EXIT_SUCCESS);
    }
}

static void parse_options(struct options *options, struct ckp_path *path, int argc, char **argv)
{
    int id, found;

    parse_delays(path, "4,6,10");
    while ((found = getopt_long(argc, argv, "", long_options, &id)) != -1) {
        if (found != 0)
            exit(EXIT_USAGE);
        apply_option(options, path, (enum option_id)id);
    }
    if (optind < argc)
        fail(EXIT_USAGE, "\"%s\" is not an option", argv[optind]);
    if (!options->namespaces[CKP_DATA] || !options->namespaces[CKP_ACK] ||
        !options->captures[CKP_TAP_BEFORE] || !options->captures[CKP_TAP_AFTER] ||
        !options->truth || !options->queue)
        fail(EXIT_USAGE, "the namespaces and the four output files are required, see --help");
    if (path->links[CKP_ACK].bits_per_second <= 0)
        path->links[CKP_ACK].bits_per_second = path->access[CKP_ACK].bits_per_second;
}

/* ---- interfaces ------------------------------------------------------------------------- */

static void enter_namespace(const char *name)
{
    char file_name[256];

    snprintf(file_name, sizeof(file_name), "/run/netns/%s", name);
    int fd = open(file_name, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || setns(fd, CLONE_NEWNET) < 0)
        fail(EXIT_FAILURE, "cannot enter namespace %s: %s", name, strerror(errno));
    close(fd);
}

/** The interface lives as long as the returned descriptor. */
static int open_tap(const char *namespace, const char *interface)
{
    struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI};

    enter_namespace(namespace);
    int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", interface);
    if (fd < 0 || ioctl(fd, TUNSETIFF, &request) < 0)
        fail(EXIT_FAILURE, "cannot make interface %s in namespace %s: %s", interface, namespace,
             strerror(errno));
    return fd;
}

/** Takes everything the host wants to send; returns whether there was anything. */
static bool receive_from_host(struct ckp_path *path, int fd, enum ckp_direction direction,
                              int64_t now_ns)
{
    bool received = false;

    for (;;) {
        struct ckp_frame *frame = ckp_path_take_frame(path);
        ssize_t bytes = read(fd, frame->data, sizeof(frame->data));

        if (bytes <= 0) {
            ckp_path_release(path, frame);
            return received;
        }
        frame->bytes = (size_t)bytes;
        ckp_path_send(path, direction, now_ns, frame);
        received = true;
    }
}

static bool receive_from_hosts(struct ckp_path *path, const struct pollfd *hosts, int64_t now_ns)
{
    bool received = false;

    for (int direction = 0; direction < CKP_NUM_DIRECTIONS; direction++)
        received |= receive_from_host(path, hosts[direction].fd, (enum ckp_direction)direction,
                                      now_ns);
    return received;
}

static void deliver(struct ckp_path *path, const struct pollfd *hosts, struct ckp_frame *frame)
{
    enum ckp_direction receiver = frame->direction == CKP_DATA ? CKP_ACK : CKP_DATA;

    if (write(hosts[receiver].fd, frame->data, frame->bytes) != (ssize_t)frame->bytes)
        path->truth.num_undelivered++;
    ckp_path_release(path, frame);
}

/* ---- the loop --------------------------------------------------------------------------- */

/** Books how late an event is; a stall sets the emulated clock back to the event's time. */
static void account_lateness(struct ckp_ground_truth *truth, struct clock *clock, int64_t due_ns,
                             int64_t lateness_ns)
{
    truth->num_events++;
    truth->sum_lateness_ns += lateness_ns;
    if (lateness_ns > truth->max_lateness_ns)
        truth->max_lateness_ns = lateness_ns;
    if (lateness_ns > MAX_LATENESS_NS) {
        clock->frozen_ns += lateness_ns;
        ckp_truth_stall(truth, due_ns, lateness_ns);
    }
}

static void wait_until(const struct clock *clock, int64_t due_ns, struct pollfd *hosts)
{
    int64_t wait_ns = due_ns == INT64_MAX ? NANOS_PER_SECOND : due_ns - emulated_now_ns(clock);

    if (wait_ns <= SPIN_NS)
        return;
    struct timespec timeout = {.tv_sec = wait_ns / NANOS_PER_SECOND,
                               .tv_nsec = wait_ns % NANOS_PER_SECOND};
    ppoll(hosts, CKP_NUM_DIRECTIONS, &timeout, NULL);
}

/** Runs until it is told to stop and the last frame has arrived. */
static void run(struct ckp_path *path, struct clock *clock, struct pollfd *hosts)
{
    for (;;) {
        int64_t due_ns = ckp_path_next_due_ns(path);
        int64_t now_ns = emulated_now_ns(clock);

        if (stop && (due_ns == INT64_MAX || due_ns > now_ns + MAX_DRAIN_NS))
            return;
        if (due_ns <= now_ns) {
            account_lateness(&path->truth, clock, due_ns, now_ns - due_ns);
            struct ckp_frame *arrived = ckp_path_step(path);
            if (arrived) {
                deliver(path, hosts, arrived);
                receive_from_hosts(path, hosts, due_ns);
            }
        } else if (!receive_from_hosts(path, hosts, now_ns)) {
            wait_until(clock, due_ns, hosts);
        }
    }
}

/** Asks for all the promptness the machine grants; works without it, only less promptly. */
static void request_real_time(void)
{
    struct sched_param priority = {.sched_priority = 50};

    if (mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) < 0)
        fprintf(stderr, "link_emulator: memory is not locked: %s\n", strerror(errno));
    if (sched_setscheduler(0, SCHED_FIFO, &priority) < 0)
        fprintf(stderr, "link_emulator: no real-time priority: %s\n", strerror(errno));
    prctl(PR_SET_TIMERSLACK, 1);
}

/* ---- results ---------------------------------------------------------------------------- */

static FILE *create(const char *file_name)
{
    FILE *file = fopen(file_name, "w");

    if (!file)
        fail(EXIT_FAILURE, "cannot write %s: %s", file_name, strerror(errno));
    return file;
}

static void write_results(const struct ckp_path *path, const struct options *options)
{
    for (int tap = 0; tap < CKP_NUM_TAPS; tap++)
        if (!ckp_capture_write(&path->captures[tap], options->captures[tap]))
            fail(EXIT_FAILURE, "cannot write %s: %s", options->captures[tap], strerror(errno));

    FILE *truth = create(options->truth);
    ckp_truth_write_json(&path->truth, truth);
    FILE *queue = create(options->queue);
    ckp_truth_write_queue(&path->truth, path->epoch_ns, queue);
    if (fclose(truth) != 0 || fclose(queue) != 0)
        fail(EXIT_FAILURE, "cannot write the ground truth: %s", strerror(errno));
}

int main(int argc, char **argv)
{
    static struct ckp_path path = {
        .access = {{.bits_per_second = 1e9}, {.bits_per_second = 1e9}},
        .links = {[CKP_DATA] = {.bits_per_second = 1e7, .queue_limit_bytes = 50000},
                  [CKP_ACK] = {.queue_limit_bytes = 1000000}},
        .random_state = 1,
    };
    struct options options = {.interface = "eth0", .snap_bytes = 128};
    struct sigaction action = {.sa_handler = on_signal};
    struct pollfd hosts[CKP_NUM_DIRECTIONS];

    parse_options(&options, &path, argc, argv);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);

    for (int tap = 0; tap < CKP_NUM_TAPS; tap++)
        ckp_capture_open(&path.captures[tap], options.snap_bytes);
    for (int direction = 0; direction < CKP_NUM_DIRECTIONS; direction++)
        hosts[direction] = (struct pollfd){
            .fd = open_tap(options.namespaces[direction], options.interface), .events = POLLIN};
    request_real_time();

    struct clock clock = {.origin_ns = read_clock_ns(CLOCK_MONOTONIC)};
    path.epoch_ns = read_clock_ns(CLOCK_REALTIME);
    printf("ready\n");
    fflush(stdout);

    run(&path, &clock, hosts);
    write_results(&path, &options);
    ckp_path_free(&path);
    return EXIT_SUCCESS;
}
