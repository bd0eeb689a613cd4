/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Short flows become summaries, all others leave the probe as if nothing had been held back. Each
 * test is a small timeline between 10.0.0.1 ("low") and 10.0.0.2 port 443 ("high"); what is written
 * is compared as text, one line a run or summary. Times are seconds since START.
 */
#include "batch_reader.h"
#include "ledger.h"
#include "worker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define SECOND CKP_NANOS_PER_SECOND
#define MILLI  CKP_NANOS_PER_MILLI
#define START  (1700000000 * SECOND)

#define SYN CKP_TCP_SYN
#define ACK CKP_TCP_ACK
#define FIN CKP_TCP_FIN
#define RST CKP_TCP_RST
#define PSH 0x08u

#define TEXT_BYTES_MAX 65536
#define PORTS          64
#define FIRST_PORT     1000

/* What became of all flows on one port. */
struct port {
    uint64_t runs_hash; /* of all bytes of all runs, in their order */
    uint32_t runs, packets_in_runs;
    uint32_t summaries, packets_in_summaries, data_packets, data_bytes;
};

struct probe {
    struct ckp_worker worker;
    char text[TEXT_BYTES_MAX];
    size_t text_bytes;
    int64_t packets_before, summarised_packets_before;
    struct port port[PORTS];
};

static const char *const reasons[] = {"NONE",    "FIN",      "RST",         "IDLE",
                                      "EVICTED", "REPLACED", "CAPTURE_END", "SHED"};

static void print(struct probe *probe, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    if (probe->text_bytes < sizeof probe->text)
        probe->text_bytes +=
            (size_t)vsnprintf(probe->text + probe->text_bytes,
                              sizeof probe->text - probe->text_bytes, format, arguments);
    va_end(arguments);
}

static struct port *port_of(struct probe *probe, const struct read_run *place)
{
    return &probe->port[(place->low_port - FIRST_PORT) % PORTS];
}

static void hash_bytes(uint64_t *hash, const uint8_t *from, const uint8_t *to)
{
    for (; from < to; from++) /* FNV-1a */
        *hash = (*hash ^ *from) * UINT64_C(0x100000001b3);
}

static void on_run(struct probe *probe, struct batch_reader *reader)
{
    static struct read_run run;
    const uint8_t *start = reader->at;

    read_run(reader, &run);
    struct port *port = port_of(probe, &run);
    hash_bytes(&port->runs_hash, start, reader->at);
    port->runs++;
    port->packets_in_runs += run.packets.count;
    int64_t until_ns = run.observed_until_ns - START;
    print(probe, "run before %d packets %u until %d.%03d %s\n", (int)run.packets_before,
          run.packets.count, (int)(until_ns / SECOND), (int)(until_ns % SECOND / MILLI),
          reasons[run.end_reason]);
}

static void print_direction(struct probe *probe, const struct ckp_summary_direction *sent)
{
    print(probe, " | %u packets, %u x %u data +%u, acknowledged %u, full %u, mss %u, flags %u",
          sent->packets, sent->data_packets, sent->data_bytes, sent->header_bytes,
          sent->acknowledged_bytes, sent->full_packets, sent->maximum_segment_size, sent->flags);
}

static void on_summary(struct probe *probe, struct batch_reader *reader)
{
    struct read_summary summary;

    read_summary(reader, &summary);
    struct port *port = port_of(probe, &summary.place);
    port->summaries++;
    for (int i = 0; i < 2; i++) {
        port->packets_in_summaries += summary.sent_by[i].packets;
        port->data_packets += summary.sent_by[i].data_packets;
        port->data_bytes += summary.sent_by[i].data_bytes;
    }
    print(probe, "summary %d ms, quiet %d s, %s, client %d isn %d, syns %d, rtt %d + %d ms",
          (int)(summary.duration_ns / MILLI), (int)(summary.quiet_ns / SECOND),
          reasons[summary.place.end_reason], (int)summary.client,
          (int)summary.client_sequence_number, (int)summary.syns,
          summary.server_delay_ns < 0 ? -1 : (int)(summary.server_delay_ns / MILLI),
          summary.client_delay_ns < 0 ? -1 : (int)(summary.client_delay_ns / MILLI));
    print_direction(probe, &summary.sent_by[0]);
    print_direction(probe, &summary.sent_by[1]);
    print(probe, "\n");
}

static void keep(void *sink, const struct ckp_batch *batch)
{
    struct probe *probe = sink;
    struct batch_reader reader = {batch->bytes, batch->bytes + batch->size_bytes};
    struct read_batch header;

    read_batch_header(&reader, &header);
    for (int64_t i = 0; i < header.runs; i++)
        on_run(probe, &reader);
    read_runs_end(&reader, &header);
    for (int64_t i = 0; i < header.summaries; i++)
        on_summary(probe, &reader);
    read_batch_end(&reader, &header);
    assert_int_equal(header.packets_before, probe->packets_before);
    assert_int_equal(header.summarised_packets_before, probe->summarised_packets_before);
    assert_int_equal(batch->packets, header.packets + header.summarised_packets);
    probe->packets_before += header.packets;
    probe->summarised_packets_before += header.summarised_packets;
    ckp_count(probe->worker.counters, CKP_COUNT_BATCHES_DELIVERED, 1);
    ckp_count(probe->worker.counters, CKP_COUNT_PACKETS_DELIVERED, batch->packets);
}

static struct probe *new_probe(struct ckp_flow_limits limits)
{
    struct probe *probe = calloc(1, sizeof *probe);
    struct ckp_batch_config config = {
        .probe = "probe",
        .tap = "tap",
        .partition_count = 1,
        .flush_bytes = 1024,
        .flush_delay_ns = 250 * MILLI,
        .timestamp_source = CKP_TIMESTAMP_FILE,
        .timestamp_resolution_ns = 1,
    };
    struct ckp_frame_reading reading = {.tunnels = CKP_TUNNELS_INNER};
    limits.idle_ns = 20 * SECOND;
    limits.flows_max = UINT32_MAX;
    if (limits.run_memory_bytes == 0)
        limits.run_memory_bytes = 1 << 20;
    assert_non_null(probe);
    assert_true(ckp_worker_init(&probe->worker, &reading, &config, &limits, NULL, keep, probe));
    return probe;
}

static struct probe *probe_with(uint32_t mouse_packets)
{
    return new_probe((struct ckp_flow_limits){.mouse_packets = mouse_packets});
}

/* The next packet of a test; what a test does not set is as on a path without peculiarities. */
static struct ckp_packet packet_at(int64_t time_ns, unsigned direction, unsigned flags,
                                   uint32_t sequence_number, uint32_t acknowledgment_number,
                                   uint32_t payload_bytes)
{
    const uint8_t low[4] = {10, 0, 0, 1}, high[4] = {10, 0, 0, 2};
    struct ckp_packet packet = {
        .segment = {.time_ns = START + time_ns,
                    .direction = (uint8_t)direction,
                    .tcp_flags = (uint8_t)flags,
                    .sequence_number = sequence_number,
                    .acknowledgment_number = acknowledgment_number,
                    .payload_bytes = payload_bytes,
                    .window_field = 500,
                    .header_bytes = 40},
        .tunnel_id = CKP_TUNNEL_NONE,
        .vlan_id = CKP_VLAN_NONE,
    };
    struct ckp_address a = ckp_address_from_ipv4(low), b = ckp_address_from_ipv4(high);

    ckp_flow_key_order(&packet.key, &a, FIRST_PORT, &b, 443);
    if (flags & SYN) {
        packet.segment.options_present = CKP_OPTION_MSS | CKP_OPTION_WINDOW_SCALE;
        packet.segment.maximum_segment_size = direction ? 1400 : 1460;
    }
    return packet;
}

static void observe(struct probe *probe, const struct ckp_packet *packet)
{
    ckp_worker_take(&probe->worker, packet);
    ckp_worker_flush(&probe->worker);
}

static void send(struct probe *probe, int64_t time_ns, unsigned direction, unsigned flags,
                 uint32_t sequence_number, uint32_t acknowledgment_number, uint32_t payload_bytes)
{
    struct ckp_packet packet =
        packet_at(time_ns, direction, flags, sequence_number, acknowledgment_number, payload_bytes);

    observe(probe, &packet);
}

static void handshake(struct probe *probe)
{
    send(probe, 0, 0, SYN, 99, 0, 0);
    send(probe, 20 * MILLI, 1, SYN | ACK, 499, 100, 0);
    send(probe, 21 * MILLI, 0, ACK, 100, 500, 0);
}

/* Data of the low end, one packet a millisecond. */
static void data(struct probe *probe, int64_t time_ns, int packets)
{
    for (int i = 0; i < packets; i++)
        send(probe, time_ns + i * MILLI, 0, ACK, 100 + 10 * (uint32_t)i, 500, 10);
}

static void close_both(struct probe *probe, int64_t time_ns, uint32_t low_next, uint32_t high_next)
{
    send(probe, time_ns, 0, FIN | ACK, low_next, high_next, 0);
    send(probe, time_ns + MILLI, 1, FIN | ACK, high_next, low_next + 1, 0);
    send(probe, time_ns + 2 * MILLI, 0, ACK, low_next + 1, high_next + 1, 0);
}

/* In steps that the clock believes at once. */
static void let_time_pass(struct probe *probe, int64_t from_ns, int64_t end_ns)
{
    for (int64_t at = from_ns; at <= end_ns; at += SECOND / 4)
        ckp_worker_pass_time(&probe->worker, START + at);
}

static void finish(struct probe *probe)
{
    ckp_worker_finish(&probe->worker);
    assert_true(ckp_ledger_is_balanced(probe->worker.counters, stderr));
}

static void discard(struct probe *probe)
{
    ckp_worker_free(&probe->worker);
    free(probe);
}

static uint64_t count(const struct probe *probe, enum ckp_counter counter)
{
    return probe->worker.counters->value[counter];
}

static void expect(struct probe *probe, const char *text)
{
    finish(probe);
    assert_string_equal(probe->text, text);
    discard(probe);
}

static void test_a_short_flow_is_one_line(void **state)
{
    struct probe *probe = probe_with(4);

    (void)state;
    handshake(probe);
    send(probe, 22 * MILLI, 0, ACK | PSH, 100, 500, 300);
    send(probe, 45 * MILLI, 1, ACK, 500, 400, 1400);
    send(probe, 46 * MILLI, 1, ACK | PSH, 1900, 400, 100);
    send(probe, 47 * MILLI, 0, ACK, 400, 2000, 0);
    close_both(probe, 50 * MILLI, 400, 2000);
    expect(probe,
           "summary 52 ms, quiet 0 s, FIN, client 0 isn 99, syns 1, rtt 20 + 1 ms"
           " | 6 packets, 1 x 300 data +40, acknowledged 300, full 0, mss 1400, flags 7"
           " | 4 packets, 2 x 1500 data +80, acknowledged 1500, full 1, mss 1460, flags 7\n");
}

static void test_the_books_tell_summaries_apart(void **state)
{
    struct probe *probe = probe_with(4);

    (void)state;
    handshake(probe);
    finish(probe);
    assert_int_equal(count(probe, CKP_COUNT_PACKETS_ENCODED), 3);
    assert_int_equal(count(probe, CKP_COUNT_PACKETS_SUMMARISED), 3);
    assert_int_equal(count(probe, CKP_COUNT_PACKETS_DELIVERED), 3);
    assert_int_equal(count(probe, CKP_COUNT_FLOWS_SUMMARISED), 1);
    assert_int_equal(count(probe, CKP_COUNT_RUNS_ENCODED), 0);
    discard(probe);
}

static void test_at_its_nth_data_packet_a_flow_is_written_from_the_start(void **state)
{
    struct probe *probe = probe_with(4);

    (void)state;
    handshake(probe);
    data(probe, 3500 * MILLI, 3);
    assert_int_equal(count(probe, CKP_COUNT_PACKETS_ENCODED), 0);
    data(probe, 4700 * MILLI, 1);
    assert_int_equal(count(probe, CKP_COUNT_PACKETS_ENCODED), 6);
    expect(probe, "run before 0 packets 3 until 0.021 NONE\n"
                  "run before 3 packets 0 until 1.021 NONE\n"
                  "run before 3 packets 0 until 2.021 NONE\n"
                  "run before 3 packets 3 until 3.502 NONE\n"
                  "run before 6 packets 0 until 4.502 NONE\n"
                  "run before 6 packets 1 until 4.700 CAPTURE_END\n");
}

static void test_both_directions_count_together(void **state)
{
    struct probe *probe = probe_with(2);

    (void)state;
    send(probe, 0, 0, ACK, 100, 500, 10);
    send(probe, 0, 1, ACK, 500, 110, 10);
    expect(probe, "run before 0 packets 2 until 0.000 CAPTURE_END\n");
}

static void test_without_the_filter_no_flow_is_held(void **state)
{
    struct probe *probe = probe_with(0);

    (void)state;
    handshake(probe);
    expect(probe, "run before 0 packets 3 until 0.021 CAPTURE_END\n");
}

static void test_silence_is_told_by_the_summary(void **state)
{
    struct probe *probe = probe_with(4);

    (void)state;
    send(probe, 0, 1, SYN, 7, 0, 0);
    send(probe, SECOND, 1, SYN, 7, 0, 0);
    let_time_pass(probe, SECOND, 22 * SECOND);
    expect(probe, "summary 1000 ms, quiet 16 s, IDLE, client 1 isn 7, syns 2, rtt -1 + -1 ms"
                  " | 0 packets, 0 x 0 data +0, acknowledged 0, full 0, mss 1400, flags 0"
                  " | 2 packets, 0 x 0 data +0, acknowledged 0, full 0, mss 0, flags 0\n");
}

static void test_a_reset_flow_lingers_and_is_summarised(void **state)
{
    struct probe *probe = probe_with(4);

    (void)state;
    send(probe, 0, 0, SYN, 7, 0, 0);
    send(probe, MILLI, 1, RST | ACK, 0, 8, 0);
    ckp_worker_pass_time(&probe->worker, START + 1900 * MILLI);
    assert_int_equal(count(probe, CKP_COUNT_FLOWS_SUMMARISED), 0);
    ckp_worker_pass_time(&probe->worker, START + 2200 * MILLI);
    assert_int_equal(count(probe, CKP_COUNT_FLOWS_SUMMARISED), 1);
    expect(probe, "summary 1 ms, quiet 0 s, RST, client 0 isn 7, syns 1, rtt -1 + -1 ms"
                  " | 1 packets, 0 x 0 data +0, acknowledged 0, full 0, mss 0, flags 0"
                  " | 1 packets, 0 x 0 data +0, acknowledged 0, full 0, mss 1460, flags 0\n");
}

static void test_of_a_flow_seen_in_one_direction_the_acknowledgments_count(void **state)
{
    struct probe *probe = probe_with(4);

    (void)state;
    send(probe, 0, 1, ACK, 500, 1000, 0);
    send(probe, MILLI, 1, ACK, 500, 4000, 0);
    expect(probe, "summary 1 ms, quiet 0 s, CAPTURE_END, client -1 isn -1, syns 0, rtt -1 + -1 ms"
                  " | 0 packets, 0 x 0 data +0, acknowledged 3000, full 0, mss 0, flags 2"
                  " | 2 packets, 0 x 0 data +0, acknowledged 0, full 0, mss 0, flags 0\n");
}

static void test_keep_alives_are_held_up_to_a_run(void **state)
{
    struct probe *probe = probe_with(4);

    (void)state;
    for (int i = 0; i < 256; i++) {
        assert_int_equal(count(probe, CKP_COUNT_FLOWS_EXPORTED_EARLY), 0);
        send(probe, i * 10 * MILLI, i & 1, ACK, i & 1 ? 500 : 99, i & 1 ? 100 : 500, 0);
    }
    assert_int_equal(count(probe, CKP_COUNT_FLOWS_EXPORTED_EARLY), 1);
    expect(probe, "run before 0 packets 100 until 0.990 NONE\n"
                  "run before 100 packets 100 until 1.990 NONE\n"
                  "run before 200 packets 56 until 2.550 CAPTURE_END\n");
}

static void test_a_full_memory_lets_the_oldest_mouse_go(void **state)
{
    struct probe *probe =
        new_probe((struct ckp_flow_limits){.mouse_packets = 4, .run_memory_bytes = 4 * 260});

    (void)state;
    for (uint16_t port = 0; port < 5; port++) {
        struct ckp_packet packet = packet_at(port * MILLI, 0, SYN, 7, 0, 0);
        packet.key.low_port = (uint16_t)(FIRST_PORT + port);
        observe(probe, &packet);
    }
    assert_int_equal(count(probe, CKP_COUNT_FLOWS_EXPORTED_EARLY), 1);
    finish(probe);
    assert_int_equal(probe->port[0].packets_in_runs, 1);
    for (int port = 1; port < 5; port++)
        assert_int_equal(probe->port[port].packets_in_summaries, 1);
    discard(probe);
}

static void test_a_mouse_that_fills_the_memory_alone_lets_itself_go(void **state)
{
    struct probe *probe =
        new_probe((struct ckp_flow_limits){.mouse_packets = 4, .run_memory_bytes = 2 * 260});

    (void)state;
    handshake(probe);
    for (int i = 0; i < 7; i++)
        send(probe, (22 + i) * MILLI, i & 1, ACK, i & 1 ? 500 : 100, i & 1 ? 100 : 500, 0);
    close_both(probe, 30 * MILLI, 100, 500); /* the first FIN is the packet without room */
    let_time_pass(probe, 0, 3 * SECOND);
    assert_int_equal(count(probe, CKP_COUNT_FLOWS_ENDED_FIN), 1);
    expect(probe, "run before 0 packets 10 until 0.028 NONE\n"
                  "run before 10 packets 3 until 0.032 NONE\n"
                  "run before 13 packets 0 until 2.032 FIN\n");
}

static void test_a_silent_source_releases_no_mouse(void **state)
{
    struct probe *probe = probe_with(4);

    (void)state;
    handshake(probe);
    assert_int_equal(ckp_worker_before_wait(&probe->worker, 1), INT64_MAX);
    assert_false(ckp_flow_tracker_has_open(&probe->worker.tracker));
    ckp_flow_tracker_release(&probe->worker.tracker);
    data(probe, 30 * MILLI, 3);
    ckp_flow_tracker_release(&probe->worker.tracker);
    assert_int_equal(count(probe, CKP_COUNT_PACKETS_ENCODED), 0);
    finish(probe);
    assert_int_equal(count(probe, CKP_COUNT_FLOWS_SUMMARISED), 1);
    discard(probe);
}

/* --- what a summary cannot tell --- */

struct peculiarity {
    const char *name;
    struct ckp_packet packet; /* after the handshake and 100 bytes of data each way */
};

/* A conversation with one more packet, which is acknowledged if it ends a side; it is whole
 * without.
 * @return whether it was summarised */
static bool is_summarised_with(const struct ckp_packet *packet)
{
    struct probe *probe = probe_with(16), *all = probe_with(0);
    struct probe *const both[] = {probe, all};

    for (int i = 0; i < 2; i++) {
        handshake(both[i]);
        send(both[i], 22 * MILLI, 0, ACK, 100, 500, 100);
        send(both[i], 40 * MILLI, 1, ACK, 500, 200, 100);
        if (packet)
            observe(both[i], packet);
        if (packet && packet->segment.tcp_flags & FIN)
            send(both[i], 60 * MILLI, 1, ACK, 600, packet->segment.sequence_number + 1, 0);
        finish(both[i]);
    }
    bool is_summarised = probe->port[0].summaries == 1;
    assert_int_equal(count(probe, CKP_COUNT_FLOWS_NOT_SUMMARISED), !is_summarised);
    if (!is_summarised) /* then nothing may be missing from the runs */
        assert_memory_equal(&probe->port[0], &all->port[0], sizeof probe->port[0]);
    discard(probe);
    discard(all);
    return is_summarised;
}

static void test_what_a_summary_cannot_tell_is_written_in_full(void **state)
{
    struct peculiarity peculiarities[] = {
        {"sent again", packet_at(50 * MILLI, 0, ACK, 100, 600, 100)},
        {"a keep-alive with a byte", packet_at(50 * MILLI, 0, ACK, 199, 600, 1)},
        {"a gap", packet_at(50 * MILLI, 0, ACK, 210, 600, 100)},
        {"acknowledged, but not seen", packet_at(50 * MILLI, 0, ACK, 200, 601, 0)},
        {"a closed window", packet_at(50 * MILLI, 0, ACK, 200, 600, 0)},
        {"a SACK block", packet_at(50 * MILLI, 0, ACK, 200, 600, 0)},
        {"a congestion mark", packet_at(50 * MILLI, 0, ACK, 200, 600, 10)},
        {"malformed options", packet_at(50 * MILLI, 0, ACK, 200, 600, 0)},
        {"a super-segment", packet_at(50 * MILLI, 0, ACK, 200, 600, 1401)},
        {"a clock set back", packet_at(-1100 * MILLI, 0, ACK, 200, 600, 10)},
        {"a frame that came twice", packet_at(20 * MILLI + 900000, 1, SYN | ACK, 499, 100, 0)},
        {"a forged end far ahead", packet_at(50 * MILLI, 0, FIN | ACK, 0x7fffff00, 600, 0)},
        {"data in a SYN", packet_at(50 * MILLI, 0, SYN, 99, 0, 10)},
    };

    (void)state;
    peculiarities[4].packet.segment.window_field = 0;
    peculiarities[5].packet.segment.sack_blocks = 1;
    peculiarities[5].packet.segment.options_present = CKP_OPTION_SACK_BLOCKS;
    peculiarities[6].packet.segment.traffic_class = 3;
    peculiarities[7].packet.segment.options_present = CKP_OPTION_MALFORMED;
    assert_true(is_summarised_with(NULL));
    for (size_t i = 0; i < sizeof peculiarities / sizeof peculiarities[0]; i++)
        if (is_summarised_with(&peculiarities[i].packet))
            fail_msg("a summary was written in spite of: %s", peculiarities[i].name);
}

static void test_what_may_differ_without_harm_is_summarised(void **state)
{
    struct peculiarity peculiarities[] = {
        {"the next data", packet_at(50 * MILLI, 0, ACK, 200, 600, 1400)},
        {"a keep-alive", packet_at(50 * MILLI, 0, ACK, 199, 600, 0)},
        {"a reset without a window", packet_at(50 * MILLI, 0, RST | ACK, 200, 600, 0)},
        {"an old acknowledgment", packet_at(50 * MILLI, 0, ACK, 200, 550, 0)},
        {"stamps out of order", packet_at(-900 * MILLI, 0, ACK, 200, 600, 0)},
        {"an equal ACK later", packet_at(41 * MILLI, 0, ACK, 100, 500, 0)},
    };

    (void)state;
    peculiarities[2].packet.segment.window_field = 0;
    for (size_t i = 0; i < sizeof peculiarities / sizeof peculiarities[0]; i++)
        if (!is_summarised_with(&peculiarities[i].packet))
            fail_msg("no summary was written because of: %s", peculiarities[i].name);
}

/* --- whatever the packets --- */

static uint64_t random_state;

static uint32_t random_below(uint32_t bound)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(random_state >> 33) % bound;
}

/* One in so many. */
static bool chance(uint32_t bound)
{
    return random_below(bound) == 0;
}

/* What happens on many ports at once: `next` is the sequence number of each end. */
static struct ckp_packet random_packet(int64_t now_ns, uint32_t next[PORTS][2])
{
    uint32_t port = random_below(PORTS) & random_below(PORTS); /* some are busy, some are not */
    unsigned direction = random_below(2), flags = ACK;
    uint32_t payload_bytes = chance(2) ? random_below(1400) : 0;

    if (chance(60))
        flags = chance(2) ? SYN : SYN | ACK;
    else if (chance(25))
        flags = FIN | ACK;
    else if (chance(100))
        flags = RST;
    if (flags & (SYN | RST))
        payload_bytes = 0;
    if (flags == SYN && chance(2))
        next[port][direction] = random_below(1 << 30);
    struct ckp_packet packet =
        packet_at(now_ns - random_below(40) * MILLI, direction, flags, next[port][direction],
                  next[port][!direction], payload_bytes);
    packet.key.low_port = (uint16_t)(FIRST_PORT + port);
    packet.segment.ip_id = (uint16_t)random_below(1 << 16);
    if (chance(40)) {
        packet.segment.sack_blocks = (uint8_t)(1 + random_below(3));
        packet.segment.options_present = CKP_OPTION_SACK_BLOCKS;
        for (unsigned i = 0; i < packet.segment.sack_blocks; i++)
            packet.sack[i] = (struct ckp_sack_block){random_below(1 << 20), random_below(1 << 20)};
    }
    if (!chance(20)) /* else it is sent again */
        next[port][direction] += payload_bytes + ((flags & (SYN | FIN)) != 0);
    return packet;
}

/* The flows of a port all have one fate in the end: the same runs as without the filter, or less
 * of them and a summary for each that is missing. */
static void compare(const struct probe *filtered, const struct probe *all)
{
    for (int i = 0; i < PORTS; i++) {
        const struct port *a = &filtered->port[i], *b = &all->port[i];
        assert_int_equal(a->packets_in_runs + a->packets_in_summaries, b->packets_in_runs);
        if (a->summaries == 0 && a->runs_hash != b->runs_hash)
            fail_msg("port %d has other runs with the filter", i);
    }
}

static void test_the_runs_of_flows_that_grow_are_the_same_to_the_bit(void **state)
{
    static uint32_t next[PORTS][2];
    uint64_t summarised = 0, compared = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct probe *all = probe_with(0), *filtered = probe_with(1 + (uint32_t)(seed % 20));
        int64_t now_ns = 0;
        random_state = seed;
        memset(next, 0, sizeof next);
        for (int i = 0; i < 4000; i++) {
            now_ns += random_below(chance(300) ? 5000 : 25) * MILLI;
            struct ckp_packet packet = random_packet(now_ns, next);
            observe(all, &packet);
            observe(filtered, &packet);
        }
        finish(all);
        finish(filtered);
        compare(filtered, all);
        for (int i = 0; i < PORTS; i++)
            compared += filtered->port[i].summaries == 0 && filtered->port[i].runs > 0;
        summarised += count(filtered, CKP_COUNT_FLOWS_SUMMARISED);
        discard(all);
        discard(filtered);
    }
    assert_true(summarised > 1000 && compared > 300); /* else this has shown nothing */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_short_flow_is_one_line),
        cmocka_unit_test(test_the_books_tell_summaries_apart),
        cmocka_unit_test(test_at_its_nth_data_packet_a_flow_is_written_from_the_start),
        cmocka_unit_test(test_both_directions_count_together),
        cmocka_unit_test(test_without_the_filter_no_flow_is_held),
        cmocka_unit_test(test_silence_is_told_by_the_summary),
        cmocka_unit_test(test_a_reset_flow_lingers_and_is_summarised),
        cmocka_unit_test(test_of_a_flow_seen_in_one_direction_the_acknowledgments_count),
        cmocka_unit_test(test_keep_alives_are_held_up_to_a_run),
        cmocka_unit_test(test_a_full_memory_lets_the_oldest_mouse_go),
        cmocka_unit_test(test_a_mouse_that_fills_the_memory_alone_lets_itself_go),
        cmocka_unit_test(test_a_silent_source_releases_no_mouse),
        cmocka_unit_test(test_what_a_summary_cannot_tell_is_written_in_full),
        cmocka_unit_test(test_what_may_differ_without_harm_is_summarised),
        cmocka_unit_test(test_the_runs_of_flows_that_grow_are_the_same_to_the_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
