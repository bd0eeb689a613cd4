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
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "options.h"
#include "path.h"

#define MAX_LATENESS_NS (5 * NANOS_PER_MILLI)
#define SPIN_NS (20 * NANOS_PER_MICRO) /* shorter waits are not worth a sleep */
#define MAX_DRAIN_NS (2 * NANOS_PER_SECOND)

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

/* ---- interfaces ------------------------------------------------------------------------- */

static void enter_namespace(const char *name)
{
    char file_name[256];

    snprintf(file_name, sizeof(file_name), "/run/netns/%s", name);
    int fd = open(file_name, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || setns(fd, CLONE_NEWNET) < 0)
        ckp_fail(EXIT_FAILURE, "cannot enter namespace %s: %s", name, strerror(errno));
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
        ckp_fail(EXIT_FAILURE, "cannot make interface %s in namespace %s: %s", interface, namespace,
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
        received |=
            receive_from_host(path, hosts[direction].fd, (enum ckp_direction)direction, now_ns);
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

static void write_file(const struct ckp_path *path, const char *file_name,
                       void (*write_truth)(const struct ckp_ground_truth *, int64_t, FILE *))
{
    FILE *file = fopen(file_name, "w");

    if (file)
        write_truth(&path->truth, path->epoch_ns, file);
    if (!file || fclose(file) != 0)
        ckp_fail(EXIT_FAILURE, "cannot write %s: %s", file_name, strerror(errno));
}

static void write_results(const struct ckp_path *path, const struct ckp_options *options)
{
    for (int tap = 0; tap < CKP_NUM_TAPS; tap++)
        if (options->captures[tap] &&
            !ckp_capture_write(&path->captures[tap], options->captures[tap]))
            ckp_fail(EXIT_FAILURE, "cannot write %s: %s", options->captures[tap], strerror(errno));

    write_file(path, options->truth, ckp_truth_write_json);
    write_file(path, options->queue_samples, ckp_truth_write_queue);
    write_file(path, options->link_samples, ckp_truth_write_link);
    write_file(path, options->drops, ckp_truth_write_drops);
}

int main(int argc, char **argv)
{
    static struct ckp_path path;
    struct ckp_options options;
    struct sigaction action = {.sa_handler = on_signal};
    struct pollfd hosts[CKP_NUM_DIRECTIONS];

    ckp_options_parse(&options, &path, argc, argv);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);

    for (int tap = 0; tap < CKP_NUM_TAPS; tap++)
        if (options.captures[tap])
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
