/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CPU of the receive threads for each packet: the probe's own receivers on a net_ring device whose
 * rings are filled while the clock stands still, beside taking the same frames and letting them go.
 * Every worker has a queue, flows and a core of its own. Each packet is of any flow with the same
 * chance, which is the worst that can happen to a cache; two of three carry 1448 bytes, the third
 * acknowledges, at times with a SACK block; all have timestamps. Time is made, too: 5 million
 * packets a second for each worker, however busy the machine is.
 *
 * usage: receive FLOWS WORKERS PACKETS [PROBE_OPTION]...
 */
#include "clock.h"
#include "eal.h"
#include "receiver.h"

#include <errno.h>
#include <inttypes.h>
#include <rte_mbuf.h>
#include <rte_ring.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BURST_FRAMES 1008u /* a ring of net_ring holds 1023 */
#define BUFFER_BYTES (RTE_PKTMBUF_HEADROOM + 128u)
#define MSS          1448u
#define GAP_NS       200
#define WARM_ROUNDS  13 /* of two packets of each flow: then none is short, or may be of a flood */
#define OPTIONS_MAX  64

struct flow {
    uint32_t next;
    uint32_t acked;
};

struct feeder {
    struct ckp_receiver *receiver;
    struct rte_ring *ring;
    struct rte_mempool *buffers;
    struct flow *flows;
    uint32_t index;
    uint32_t flow_count;
    uint64_t packets;
    uint64_t random;
    int64_t source_ns;  /* CPU of taking frames and letting them go */
    int64_t probe_ns;   /* CPU of the receiver */
    uint64_t cut_short; /* runs, meanwhile */
};

static volatile sig_atomic_t stop;
static _Thread_local int64_t utc_ns = INT64_C(1700000000000000000);

/* In place of the C library's: packets are stamped by this. */
int clock_gettime(clockid_t clock, struct timespec *now)
{
    if (clock != CLOCK_REALTIME)
        return (int)syscall(SYS_clock_gettime, clock, now);
    now->tv_sec = utc_ns / CKP_NANOS_PER_SECOND;
    now->tv_nsec = utc_ns % CKP_NANOS_PER_SECOND;
    return 0;
}

static void fail(const char *what)
{
    fprintf(stderr, "receive: %s\n", what);
    exit(1);
}

static uint32_t random_below(struct feeder *feeder, uint32_t limit)
{
    feeder->random ^= feeder->random << 13;
    feeder->random ^= feeder->random >> 7;
    feeder->random ^= feeder->random << 17;
    return (uint32_t)(((feeder->random >> 32) * limit) >> 32);
}

static void put16(uint8_t *at, uint32_t value)
{
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
}

static void put32(uint8_t *at, uint32_t value)
{
    put16(at, value >> 16);
    put16(at + 2, value);
}

/* Ethernet, IPv4, TCP with timestamps; the client sends data, the server acknowledges. */
static void write_frame(struct rte_mbuf *buffer, struct feeder *feeder, uint32_t which)
{
    static const uint8_t start[] = "\2\0\0\0\0\2\2\0\0\0\0\1\10";
    struct flow *flow = &feeder->flows[which];
    bool is_data = flow->next - flow->acked < 2 * MSS;
    bool has_sack = !is_data && which % 16 == 0;
    uint32_t options = has_sack ? 24 : 12, payload = is_data ? MSS : 0;
    uint8_t *frame = rte_pktmbuf_mtod(buffer, uint8_t *), *ip = frame + 14, *tcp = ip + 20;
    uint32_t client = UINT32_C(0x0a000000) + which, server = UINT32_C(0xac100000) + feeder->index;

    memcpy(frame, start, sizeof start);
    memset(ip, 0, 20 + 20 + options);
    put16(ip, 0x4500);
    put16(ip + 2, 40 + options + payload);
    put16(ip + 8, 0x4006);
    put32(ip + 12, is_data ? client : server);
    put32(ip + 16, is_data ? server : client);
    put16(tcp, is_data ? 40000 : 443);
    put16(tcp + 2, is_data ? 443 : 40000);
    put32(tcp + 4, is_data ? flow->next : 1);
    put32(tcp + 8, is_data ? 1 : flow->next);
    put16(tcp + 12, (5 + options / 4) << 12 | 0x10);
    put16(tcp + 14, 0xffff);
    memcpy(tcp + 20, "\1\1\10\n", 4);
    put32(tcp + 24, flow->next);
    put32(tcp + 28, flow->acked);
    if (has_sack) {
        memcpy(tcp + 32, "\1\1\5\n", 4);
        put32(tcp + 36, flow->next + MSS);
        put32(tcp + 40, flow->next + 2 * MSS);
    }
    if (is_data)
        flow->next += MSS;
    else
        flow->acked = flow->next;
    rte_pktmbuf_data_len(buffer) = (uint16_t)(14 + 40 + options);
    rte_pktmbuf_pkt_len(buffer) = 14 + 40 + options + payload;
}

/* Fills the ring with packets of any flows, or with two of each from `first` on. */
static void fill(struct feeder *feeder, uint32_t first, uint32_t count, bool is_random)
{
    struct rte_mbuf *buffers[BURST_FRAMES];

    if (rte_pktmbuf_alloc_bulk(feeder->buffers, buffers, count) != 0)
        fail("no buffers left");
    for (uint32_t i = 0; i < count; i++)
        write_frame(buffers[i], feeder,
                    is_random ? random_below(feeder, feeder->flow_count) : first + i / 2);
    utc_ns += count * GAP_NS;
    if (rte_ring_enqueue_bulk(feeder->ring, (void **)buffers, count, NULL) != count)
        fail("the ring is full");
}

static int64_t cpu_ns(void)
{
    return ckp_clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
}

static size_t take_and_let_go(const struct feeder *feeder)
{
    struct ckp_frame frames[CKP_BURST_MAX];

    return ckp_ports_receive(feeder->receiver->reception->ports, 0, feeder->index, frames);
}

static void feed_each(struct feeder *feeder)
{
    for (uint32_t first = 0; first < feeder->flow_count; first += BURST_FRAMES / 2) {
        uint32_t left = 2 * (feeder->flow_count - first);
        fill(feeder, first, left < BURST_FRAMES ? left : BURST_FRAMES, false);
        while (ckp_receiver_turn(feeder->receiver) > 0)
            continue;
    }
}

static uint64_t runs_cut_short(const struct feeder *feeder)
{
    return feeder->receiver->worker->counters->value[CKP_COUNT_RUNS_CUT_SHORT];
}

/* The thread of one worker. */
static int feed(void *self)
{
    struct feeder *feeder = self;
    uint64_t bursts = feeder->packets / BURST_FRAMES;

    for (uint64_t i = 0; i < bursts; i++) {
        fill(feeder, 0, BURST_FRAMES, true);
        int64_t start_ns = cpu_ns();
        while (take_and_let_go(feeder) > 0)
            continue;
        feeder->source_ns += cpu_ns() - start_ns;
    }
    for (int i = 0; i < WARM_ROUNDS; i++)
        feed_each(feeder);
    uint64_t cut_short = runs_cut_short(feeder);
    for (uint64_t i = 0; i < bursts; i++) {
        fill(feeder, 0, BURST_FRAMES, true);
        int64_t start_ns = cpu_ns();
        while (ckp_receiver_turn(feeder->receiver) > 0)
            continue;
        feeder->probe_ns += cpu_ns() - start_ns;
    }
    feeder->cut_short = runs_cut_short(feeder) - cut_short;
    ckp_worker_finish(feeder->receiver->worker);
    return 0;
}

static void init_feeder(struct feeder *feeder, struct ckp_receiver *receiver, uint32_t index,
                        uint32_t flows, uint64_t packets)
{
    char name[64];

    snprintf(name, sizeof name, "ETH_RXTX%" PRIu32 "_net_ring0", index);
    *feeder = (struct feeder){
        .receiver = receiver,
        .ring = rte_ring_lookup(name),
        .index = index,
        .flow_count = flows,
        .packets = packets,
        .random = index + 1,
        .flows = calloc(flows, sizeof *feeder->flows),
    };
    snprintf(name, sizeof name, "frames%" PRIu32, index);
    feeder->buffers = rte_pktmbuf_pool_create(name, 4095, 256, 0, BUFFER_BYTES, SOCKET_ID_ANY);
    if (!feeder->ring || !feeder->buffers || !feeder->flows)
        fail("no ring, buffers or memory");
}

static void print_figures(const struct feeder *feeders, uint32_t flows, uint32_t workers)
{
    int64_t source_ns = 0, probe_ns = 0;
    double packets = 0;
    uint64_t cut_short = 0;
    struct rusage usage;

    for (uint32_t i = 0; i < workers; i++) {
        source_ns += feeders[i].source_ns;
        probe_ns += feeders[i].probe_ns;
        packets += (double)(feeders[i].packets / BURST_FRAMES * BURST_FRAMES);
        cut_short += feeders[i].cut_short;
    }
    getrusage(RUSAGE_SELF, &usage);
    printf("{\"flows\":%" PRIu32 ",\"workers\":%" PRIu32 ",\"packets\":%.0f,\"source_ns\":%.1f,"
           "\"probe_ns\":%.1f,\"beyond_source_ns\":%.1f,\"runs_cut_short\":%" PRIu64
           ",\"rss_mib\":%.0f}\n",
           flows, workers, packets, (double)source_ns / packets, (double)probe_ns / packets,
           (double)(probe_ns - source_ns) / packets, cut_short, (double)usage.ru_maxrss / 1024);
}

int main(int argc, char **argv)
{
    static struct ckp_options options;
    static struct ckp_output output;
    char *words[OPTIONS_MAX] = {"receive",  "--port",       "net_ring0", "--tap",     "bench",
                                "--output", "/dev/null",    "--ledger",  "/dev/null", "--user",
                                "root",     "--no-seccomp", "--workers"};
    int count = 13;

    if (argc < 4)
        fail("usage: receive FLOWS WORKERS PACKETS [PROBE_OPTION]...");
    uint32_t flows = (uint32_t)strtoul(argv[1], NULL, 10);
    uint32_t workers = (uint32_t)strtoul(argv[2], NULL, 10);
    uint64_t packets = strtoull(argv[3], NULL, 10);
    words[count++] = argv[2];
    for (int i = 4; i < argc && count < OPTIONS_MAX; i++)
        words[count++] = argv[i];
    if (!ckp_options_parse(&options, count, words))
        fail(options.error);

    char why[1024];
    struct ckp_ports_wish wish = {
        .eal_arguments = ckp_option_text(&options, CKP_OPTION_EAL),
        .workers = workers,
        .queues = CKP_QUEUES_TRUSTED,
    };
    wish.specs = ckp_option_list(&options, CKP_OPTION_PORT, &wish.count);
    struct ckp_reception reception = {
        .stop = &stop,
        .output = &output,
        .worker_count = workers,
        .ports = ckp_ports_open(&wish, why, sizeof why),
    };
    if (!reception.ports)
        fail(why);
    struct ckp_worker *probe_workers = calloc(workers, sizeof *probe_workers);
    struct ckp_receiver *receivers =
        aligned_alloc(_Alignof(struct ckp_receiver), workers * sizeof *receivers);
    struct feeder *feeders = calloc(workers, sizeof *feeders);
    struct ckp_source source = {
        .timestamp_source = CKP_TIMESTAMP_BURST,
        .timestamp_resolution_ns = 1000,
        .stop = &stop,
    };
    if (ckp_output_open(&output, &options, &source, probe_workers, workers) != 0)
        fail("the output cannot be opened");
    for (uint32_t i = 0; i < workers; i++) {
        if (!ckp_receiver_init(receivers, i, &reception, &probe_workers[i]))
            fail("there is no memory");
        init_feeder(&feeders[i], &receivers[i], i, flows / workers, packets / workers);
    }
    for (uint32_t i = 1; i < workers; i++)
        ckp_eal_launch(i, feed, &feeders[i]);
    feed(&feeders[0]);
    ckp_eal_join();
    print_figures(feeders, flows, workers);
    return ckp_output_close(&output) ? 0 : 1;
}
