/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The probe's own receivers on two net_ring devices, which are two feeds of one tap. Time passes
 * only where a test says so, and who has nothing to do says so instead of sleeping.
 */
#include "clock.h"
#include "eal.h"
#include "frame_text.h"
#include "receiver.h"

#include <rte_mbuf.h>
#include <rte_ring.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cmocka.h>

#define FRAME_BYTES   54u
#define CLIENT_AT     27u /* a byte of its address */
#define FLOWS         64u
#define OPTIONS_MAX   16
#define IDLE_SLEEP_NS (100 * INT64_C(1000))

static volatile sig_atomic_t stop;
static _Atomic int64_t utc_ns = INT64_C(1700000000000000000);
static _Atomic unsigned naps;
static _Atomic bool has_ended;

static struct ckp_ports *ports; /* DPDK starts once in a process */
static struct ckp_options options;
static struct ckp_output output;
static struct ckp_reception reception;
static struct ckp_worker workers[2];
static struct ckp_receiver receivers[2];

/* In place of the C library's: packets are stamped by this. */
int clock_gettime(clockid_t clock, struct timespec *now)
{
    if (clock != CLOCK_REALTIME)
        return (int)syscall(SYS_clock_gettime, clock, now);
    now->tv_sec = utc_ns / CKP_NANOS_PER_SECOND;
    now->tv_nsec = utc_ns % CKP_NANOS_PER_SECOND;
    return 0;
}

/* The same: whoever sleeps has looked and found nothing. */
int usleep(useconds_t microseconds)
{
    (void)microseconds;
    atomic_fetch_add(&naps, 1);
    return sched_yield();
}

/* Each flow has a client of its own. */
static void write_frame(uint8_t *bytes, uint32_t flow)
{
    size_t count;
    uint8_t *frame = parse_hex(ETHERNET_IPV4 IPV4("LLLL") TCP_PLAIN, &count);

    assert_int_equal(count, FRAME_BYTES);
    memcpy(bytes, frame, FRAME_BYTES);
    bytes[CLIENT_AT] = (uint8_t)flow;
    free(frame);
}

/* A frame of each of so many flows comes to a feed. */
static void send_to(size_t feed, uint32_t flows)
{
    char name[64];
    struct rte_mbuf *buffers[FLOWS];

    snprintf(name, sizeof name, "ETH_RXTX0_net_ring%zu", feed);
    struct rte_ring *ring = rte_ring_lookup(name);
    assert_non_null(ring);
    snprintf(name, sizeof name, "buffers%zu", feed);
    struct rte_mempool *pool = rte_mempool_lookup(name);
    assert_non_null(pool);
    assert_int_equal(rte_pktmbuf_alloc_bulk(pool, buffers, flows), 0);
    for (uint32_t i = 0; i < flows; i++) {
        write_frame(rte_pktmbuf_mtod(buffers[i], uint8_t *), i);
        rte_pktmbuf_data_len(buffers[i]) = FRAME_BYTES;
        rte_pktmbuf_pkt_len(buffers[i]) = FRAME_BYTES;
    }
    assert_int_equal(rte_ring_enqueue_bulk(ring, (void **)buffers, flows, NULL), flows);
}

static void open_ports(void)
{
    static const char *const specs[] = {"net_ring0", "net_ring1"};
    const struct ckp_ports_wish wish = {
        .specs = specs,
        .count = 2,
        .eal_arguments = "--no-huge -m 256 --no-shconf --no-telemetry",
        .workers = 2,
        .queues = CKP_QUEUES_ONE,
    };
    char why[1024];

    ports = ckp_ports_open(&wish, why, sizeof why);
    if (!ports)
        print_message("%s\n", why);
}

static int open_once(void **state)
{
    char *words[OPTIONS_MAX] = {"receiver",  "--port",   "net_ring0", "--port",
                                "net_ring1", "--tap",    "test",      "--output",
                                "/dev/null", "--ledger", "/dev/null", "--no-seccomp"};
    int count = 12;

    (void)state;
    if (geteuid() == 0) {
        words[count++] = "--user";
        words[count++] = "root";
    }
    if (!ckp_options_parse(&options, count, words))
        fail_msg("%s", options.error);
    open_ports();
    return ports || geteuid() != 0 ? 0 : -1;
}

static int close_once(void **state)
{
    (void)state;
    ckp_ports_close(ports);
    return 0;
}

/* A probe of so many workers, of which the first receives for all. */
static void begin(uint32_t count)
{
    const struct ckp_source source = {
        .timestamp_source = CKP_TIMESTAMP_BURST,
        .timestamp_resolution_ns = IDLE_SLEEP_NS,
        .stop = &stop,
        .receiving_workers = 1,
    };

    if (!ports)
        skip(); /* not everyone may start DPDK */
    stop = 0;
    atomic_store(&naps, 0);
    atomic_store(&has_ended, false);
    memset(&reception, 0, sizeof reception);
    reception.stop = &stop;
    reception.ports = ports;
    reception.output = &output;
    reception.spread_seed = UINT64_C(0x9e3779b97f4a7c15);
    reception.idle_sleep_ns = IDLE_SLEEP_NS;
    reception.worker_count = count;
    assert_int_equal(ckp_output_open(&output, &options, &source, workers, count), 0);
    for (uint32_t i = 0; i < count; i++)
        assert_true(ckp_receiver_init(receivers, i, &reception, &workers[i]));
}

static void end_balanced(void)
{
    assert_true(ckp_output_close(&output));
    for (uint32_t i = 0; i < reception.worker_count; i++)
        ckp_receiver_free(&receivers[i]);
}

static uint64_t count_of(uint32_t worker, enum ckp_counter counter)
{
    return workers[worker].counters->value[counter];
}

static void test_what_waits_for_the_other_feed_at_the_end_is_encoded(void **state)
{
    (void)state;
    begin(1);
    send_to(0, 3);
    assert_int_equal(ckp_receiver_turn(&receivers[0]), 3);
    assert_int_equal(count_of(0, CKP_COUNT_FRAMES_RECEIVED), 0); /* feed 1 may be earlier */
    send_to(0, 4);
    stop = 1;
    ckp_receiver_run(&receivers[0]);
    assert_int_equal(count_of(0, CKP_COUNT_FRAMES_RECEIVED), 7);
    assert_int_equal(count_of(0, CKP_COUNT_PACKETS_ENCODED), 7);
    end_balanced();
    assert_int_equal(count_of(0, CKP_COUNT_PACKETS_DELIVERED), 7);
}

static int run_second(void *unused)
{
    (void)unused;
    ckp_receiver_run(&receivers[1]);
    atomic_store(&has_ended, true);
    return 0;
}

static void test_who_is_handed_packets_takes_them_until_the_giver_has_closed(void **state)
{
    uint64_t of_first, of_second;

    (void)state;
    begin(2);
    send_to(0, FLOWS);
    ckp_receiver_turn(&receivers[0]);
    utc_ns += CKP_MERGE_WAIT_NS;
    ckp_receiver_turn(&receivers[0]); /* some now lie in the handoff */
    stop = 1;
    ckp_eal_launch(1, run_second, NULL);
    while (atomic_load(&naps) == 0 && !atomic_load(&has_ended))
        sched_yield(); /* until all were taken and none is there */
    send_to(0, FLOWS);
    send_to(1, FLOWS);
    ckp_receiver_run(&receivers[0]);
    ckp_eal_join();
    assert_true(atomic_load(&has_ended));

    of_first = count_of(0, CKP_COUNT_PACKETS_ENCODED);
    of_second = count_of(1, CKP_COUNT_PACKETS_ENCODED);
    assert_int_equal(of_first + of_second, 3 * FLOWS);
    assert_int_not_equal(of_first, 0);
    assert_int_not_equal(of_second, 0);
    assert_int_equal(of_first % 3, 0); /* each flow is of one worker */
    end_balanced();
    assert_int_equal(count_of(0, CKP_COUNT_FRAMES_MISSED_WORKER), 0);
}

static double nearly_full(const void *self)
{
    (void)self;
    return 0.99;
}

static double rather_full(const void *self)
{
    (void)self;
    return 0.8;
}

static uint32_t shed_level(uint32_t worker)
{
    return workers[worker].tracker.shed_level;
}

static void test_all_workers_leave_out_what_the_most_pressed_asks_for(void **state)
{
    (void)state;
    for (uint32_t pressed = 0; pressed < 2; pressed++) {
        begin(2);
        reception.may_shed = true;
        output.outlets[pressed].sink.fill = nearly_full;
        output.outlets[!pressed].sink.fill = rather_full;
        ckp_receiver_turn(&receivers[pressed]);
        uint32_t level = shed_level(pressed);
        assert_int_not_equal(level, 0);
        ckp_receiver_turn(&receivers[!pressed]);
        assert_true(atomic_load(&reception.shed_level[!pressed]) < level); /* its own wish */
        assert_int_equal(shed_level(!pressed), level);
        stop = 1;
        ckp_receiver_run(&receivers[0]);
        ckp_receiver_run(&receivers[1]);
        assert_int_equal(shed_level(!pressed), level);
        end_balanced();
    }
}

static struct ckp_filter *compile(const char *expression)
{
    char why[256];
    struct ckp_filter *filter = ckp_filter_new_ethernet(expression, why, sizeof why);

    assert_non_null(filter);
    return filter;
}

static void test_a_probe_that_ends_before_its_first_turn_filters_too(void **state)
{
    (void)state;
    begin(1);
    reception.filter = ckp_filter_watch_new(NULL, compile("tcp port 80"), 1);
    send_to(1, 5);
    stop = 1;
    ckp_receiver_run(&receivers[0]);
    assert_int_equal(count_of(0, CKP_COUNT_FRAMES_RECEIVED), 5);
    assert_int_equal(count_of(0, CKP_COUNT_FRAMES_FILTERED), 5);
    ckp_filter_watch_free(reception.filter);
    end_balanced();
}

static void write_filter(const char *path, const char *expression)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fputs(expression, file);
    fclose(file);
}

static void test_a_filter_lives_until_the_last_receiver_holds_the_next(void **state)
{
    uint8_t bytes[FRAME_BYTES];
    const struct ckp_frame frame = {
        .bytes = bytes,
        .captured_bytes = FRAME_BYTES,
        .original_bytes = FRAME_BYTES,
    };
    char path[] = "/tmp/test_receiver_XXXXXX";
    struct ckp_tap_vitals vitals = {0};
    int descriptor = mkstemp(path);

    (void)state;
    assert_true(descriptor >= 0);
    close(descriptor);
    write_frame(bytes, 0);
    write_filter(path, "tcp port 80");
    struct ckp_filter_watch *watch = ckp_filter_watch_new(path, compile("tcp port 443"), 2);
    assert_true(ckp_filter_watch_start(watch, &vitals));
    const struct ckp_filter *old = ckp_filter_watch_hold(watch, 0);
    assert_ptr_equal(ckp_filter_watch_hold(watch, 1), old);

    kill(getpid(), SIGHUP);
    while (ckp_filter_watch_hold(watch, 0) == old)
        sched_yield();
    assert_false(ckp_filter_passes(ckp_filter_watch_hold(watch, 0), &frame));
    atomic_store(&naps, 0);
    while (atomic_load(&naps) < 2 && atomic_load(&vitals.filters) == 1)
        sched_yield(); /* between two naps it was looked who holds what */
    assert_int_equal(atomic_load(&vitals.filters), 1);
    assert_true(ckp_filter_passes(old, &frame)); /* by receiver 1, whose turn has not ended */

    ckp_filter_watch_hold(watch, 1);
    while (atomic_load(&vitals.filters) == 1)
        sched_yield();
    ckp_filter_watch_free(watch);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_waits_for_the_other_feed_at_the_end_is_encoded),
        cmocka_unit_test(test_who_is_handed_packets_takes_them_until_the_giver_has_closed),
        cmocka_unit_test(test_all_workers_leave_out_what_the_most_pressed_asks_for),
        cmocka_unit_test(test_a_probe_that_ends_before_its_first_turn_filters_too),
        cmocka_unit_test(test_a_filter_lives_until_the_last_receiver_holds_the_next),
    };

    ckp_filter_watch_block_signal();
    return cmocka_run_group_tests(tests, open_once, close_once);
}
