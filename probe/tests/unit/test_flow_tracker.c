/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of cutting and ending, each as a small timeline: packets go in, the runs that come out
 * are written as text, one line a run, and compared.
 *
 *   "before 2 packets 3 until 1.500 NONE"
 *
 * Times are seconds since START.
 */
#include "batch_reader.h"
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

#define TEXT_BYTES_MAX 65536

struct probe {
    struct ckp_worker worker;
    char runs[TEXT_BYTES_MAX];
    size_t runs_bytes;
    uint64_t batches;
    int64_t next_sequence;
    uint16_t only_port; /* runs of flows with another low port are left out; 0: all */
};

static const char *const reasons[] = {"NONE",    "FIN",      "RST",         "IDLE",
                                      "EVICTED", "REPLACED", "CAPTURE_END", "SHED"};

static void describe(struct probe *probe, const struct read_run *run)
{
    int64_t until_ns = run->observed_until_ns - START;

    if (probe->only_port && run->low_port != probe->only_port)
        return;
    probe->runs_bytes += (size_t)snprintf(
        probe->runs + probe->runs_bytes, sizeof probe->runs - probe->runs_bytes,
        "before %d packets %u until %d.%03d %s\n", (int)run->packets_before, run->packets.count,
        (int)(until_ns / SECOND), (int)(until_ns % SECOND / MILLI), reasons[run->end_reason]);
}

static void keep(void *sink, const struct ckp_batch *batch)
{
    static struct read_run run;
    struct probe *probe = sink;
    struct batch_reader reader = {batch->bytes, batch->bytes + batch->size_bytes};
    struct read_batch header;
    int64_t packets = 0;

    read_batch_header(&reader, &header);
    assert_int_equal(header.sequence, probe->next_sequence++);
    for (int64_t i = 0; i < header.runs; i++) {
        read_run(&reader, &run);
        packets += run.packets.count;
        describe(probe, &run);
    }
    read_runs_end(&reader, &header);
    read_batch_end(&reader, &header);
    assert_int_equal(packets, batch->packets);
    assert_int_equal(packets, header.packets);
    ckp_count(probe->worker.counters, CKP_COUNT_BATCHES_DELIVERED, 1);
    ckp_count(probe->worker.counters, CKP_COUNT_PACKETS_DELIVERED, batch->packets);
    probe->batches++;
}

static struct probe *new_probe(struct ckp_flow_limits limits)
{
    struct probe *probe = calloc(1, sizeof *probe);
    struct ckp_batch_config config = {
        .probe = "probe",
        .tap = "tap",
        .partition_count = 1,
        .flush_bytes = 16384,
        .flush_delay_ns = 250 * MILLI,
        .timestamp_source = CKP_TIMESTAMP_FILE,
        .timestamp_resolution_ns = 1,
    };
    struct ckp_frame_reading reading = {.tunnels = CKP_TUNNELS_INNER};
    if (limits.idle_ns == 0)
        limits.idle_ns = 180 * SECOND;
    if (limits.flows_max == 0)
        limits.flows_max = UINT32_MAX;
    if (limits.run_memory_bytes == 0)
        limits.run_memory_bytes = 1 << 20;
    assert_non_null(probe);
    assert_true(ckp_worker_init(&probe->worker, &reading, &config, &limits, NULL, keep, probe));
    return probe;
}

/* A packet of the flow between 10.0.0.1 port `port` and 10.0.0.2 port 443. */
static struct ckp_packet make_packet(uint16_t port, unsigned direction, unsigned flags,
                                     uint32_t sequence_number, int64_t time_ns)
{
    const uint8_t low[4] = {10, 0, 0, 1}, high[4] = {10, 0, 0, 2};
    struct ckp_packet packet = {
        .segment = {.time_ns = START + time_ns,
                    .tcp_flags = (uint8_t)flags,
                    .sequence_number = sequence_number,
                    .header_bytes = 40},
        .tunnel_id = CKP_TUNNEL_NONE,
        .vlan_id = CKP_VLAN_NONE,
    };
    struct ckp_address a = ckp_address_from_ipv4(low), b = ckp_address_from_ipv4(high);

    ckp_flow_key_order(&packet.key, &a, port, &b, 443);
    packet.segment.direction = (uint8_t)direction;
    return packet;
}

static void observe(struct probe *probe, const struct ckp_packet *packet)
{
    ckp_worker_take(&probe->worker, packet);
    ckp_worker_flush(&probe->worker);
}

static void send(struct probe *probe, uint16_t port, unsigned direction, unsigned flags,
                 uint32_t sequence_number, int64_t time_ns)
{
    struct ckp_packet packet = make_packet(port, direction, flags, sequence_number, time_ns);

    observe(probe, &packet);
}

/* A SYN-ACK of the flow on port 1000. */
static void syn_ack(struct probe *probe, unsigned direction, uint32_t sequence_number,
                    uint32_t acknowledgment_number, int64_t time_ns)
{
    struct ckp_packet packet = make_packet(1000, direction, SYN | ACK, sequence_number, time_ns);

    packet.segment.acknowledgment_number = acknowledgment_number;
    observe(probe, &packet);
}

/* Data of the flow on port 1000. */
static void data(struct probe *probe, int64_t time_ns)
{
    send(probe, 1000, 0, ACK, 1, time_ns);
}

static void finish(struct probe *probe)
{
    ckp_worker_finish(&probe->worker);
}

static void expect(struct probe *probe, const char *runs)
{
    const uint64_t *count = probe->worker.counters->value;

    finish(probe);
    assert_string_equal(probe->runs, runs);
    assert_int_equal(count[CKP_COUNT_FRAMES_RECEIVED], count[CKP_COUNT_PACKETS_DELIVERED]);
    ckp_worker_free(&probe->worker);
    free(probe);
}

#define DEFAULTS ((struct ckp_flow_limits){0})

static void test_a_run_is_cut_at_each_whole_second(void **state)
{
    struct probe *probe = new_probe(DEFAULTS);

    (void)state;
    data(probe, 0);
    data(probe, 999 * MILLI);
    data(probe, 1000 * MILLI);
    data(probe, 1001 * MILLI);
    expect(probe, "before 0 packets 2 until 0.999 NONE\n"
                  "before 2 packets 2 until 1.001 CAPTURE_END\n");
}

static void test_a_run_is_cut_at_256_packets(void **state)
{
    struct probe *probe = new_probe(DEFAULTS);

    (void)state;
    for (int i = 0; i < 600; i++)
        data(probe, i * 1000);
    expect(probe, "before 0 packets 256 until 0.000 NONE\n"
                  "before 256 packets 256 until 0.000 NONE\n"
                  "before 512 packets 88 until 0.000 CAPTURE_END\n");
}

static void test_a_run_that_is_full_at_the_end_leaves_a_bare_end_mark(void **state)
{
    struct probe *probe = new_probe(DEFAULTS);

    (void)state;
    for (int i = 0; i < 256; i++)
        data(probe, i * 1000);
    expect(probe, "before 0 packets 256 until 0.000 NONE\n"
                  "before 256 packets 0 until 0.000 CAPTURE_END\n");
}

static void test_quiet_marks_come_at_doubling_distances(void **state)
{
    struct probe *probe = new_probe(DEFAULTS);

    (void)state;
    data(probe, 500 * MILLI);
    data(probe, 9500 * MILLI);
    expect(probe, "before 0 packets 1 until 0.500 NONE\n"
                  "before 1 packets 0 until 1.500 NONE\n"
                  "before 1 packets 0 until 2.500 NONE\n"
                  "before 1 packets 0 until 4.500 NONE\n"
                  "before 1 packets 0 until 8.500 NONE\n"
                  "before 1 packets 1 until 9.500 CAPTURE_END\n");
}

/* Another flow's packets move the clock by `step_ns` each, up to `end_ns`. */
static void let_time_pass(struct probe *probe, int64_t from_ns, int64_t end_ns, int64_t step_ns)
{
    for (int64_t at = from_ns; at <= end_ns; at += step_ns)
        send(probe, 9, 0, ACK, 1, at);
}

static void test_a_silent_flow_is_closed_by_the_packets_of_others(void **state)
{
    struct probe *probe = new_probe(DEFAULTS);

    (void)state;
    probe->only_port = 1000;
    data(probe, 500 * MILLI);
    let_time_pass(probe, 600 * MILLI, 5000 * MILLI, 50 * MILLI);

    assert_string_equal(probe->runs, "before 0 packets 1 until 0.500 NONE\n"
                                     "before 1 packets 0 until 1.500 NONE\n"
                                     "before 1 packets 0 until 2.500 NONE\n"
                                     "before 1 packets 0 until 4.500 NONE\n");
    expect(probe, "before 0 packets 1 until 0.500 NONE\n"
                  "before 1 packets 0 until 1.500 NONE\n"
                  "before 1 packets 0 until 2.500 NONE\n"
                  "before 1 packets 0 until 4.500 NONE\n"
                  "before 1 packets 0 until 5.000 CAPTURE_END\n");
}

static const char *const idle_runs = "before 0 packets 1 until 0.500 NONE\n"
                                     "before 1 packets 0 until 1.500 NONE\n"
                                     "before 1 packets 0 until 2.500 NONE\n"
                                     "before 1 packets 0 until 4.500 NONE\n"
                                     "before 1 packets 0 until 8.500 NONE\n"
                                     "before 1 packets 0 until 10.500 IDLE\n";

static void test_silence_ends_a_flow(void **state)
{
    struct probe *probe = new_probe((struct ckp_flow_limits){.idle_ns = 10 * SECOND});

    (void)state;
    probe->only_port = 1000;
    data(probe, 500 * MILLI);
    let_time_pass(probe, 600 * MILLI, 12000 * MILLI, 50 * MILLI);
    assert_int_equal(probe->worker.tracker.table.living, 1);
    expect(probe, idle_runs);
}

static void test_silence_ends_a_flow_the_same_when_only_its_own_packet_tells(void **state)
{
    struct probe *probe = new_probe((struct ckp_flow_limits){.idle_ns = 10 * SECOND});
    char expected[1024];

    (void)state;
    data(probe, 500 * MILLI);
    data(probe, 100 * SECOND);
    snprintf(expected, sizeof expected, "%sbefore 0 packets 1 until 100.000 CAPTURE_END\n",
             idle_runs);
    expect(probe, expected);
}

static void test_a_flow_ends_two_seconds_after_both_fins(void **state)
{
    struct probe *probe = new_probe(DEFAULTS);

    (void)state;
    probe->only_port = 1000;
    send(probe, 1000, 0, ACK | FIN, 1, 0);
    send(probe, 1000, 1, ACK | FIN, 1, 100 * MILLI);
    send(probe, 1000, 0, ACK, 2, 200 * MILLI);
    send(probe, 1000, 1, ACK | FIN, 1, 1500 * MILLI); /* sent again: still of this flow */
    let_time_pass(probe, 1600 * MILLI, 4000 * MILLI, 50 * MILLI);
    expect(probe, "before 0 packets 3 until 0.200 NONE\n"
                  "before 3 packets 1 until 1.500 NONE\n"
                  "before 4 packets 0 until 3.500 FIN\n");
}

static void test_one_fin_does_not_end_a_flow(void **state)
{
    struct probe *probe = new_probe(DEFAULTS);

    (void)state;
    send(probe, 1000, 0, ACK | FIN, 1, 0);
    send(probe, 1000, 0, ACK | FIN, 1, 100 * MILLI);
    send(probe, 1000, 1, ACK, 1, 2500 * MILLI);
    expect(probe, "before 0 packets 2 until 0.100 NONE\n"
                  "before 2 packets 0 until 1.100 NONE\n"
                  "before 2 packets 0 until 2.100 NONE\n"
                  "before 2 packets 1 until 2.500 CAPTURE_END\n");
}

static void test_a_flow_that_lingers_at_the_end_of_the_capture_has_its_own_reason(void **state)
{
    struct probe *probe = new_probe(DEFAULTS);

    (void)state;
    send(probe, 1000, 0, ACK | FIN, 1, 0);
    send(probe, 1000, 1, ACK | FIN, 1, 100 * MILLI);
    expect(probe, "before 0 packets 2 until 0.100 FIN\n");
}

static void test_a_reset_ends_a_flow(void **state)
{
    struct probe *probe = new_probe(DEFAULTS);

    (void)state;
    data(probe, 0);
    send(probe, 1000, 1, RST, 1, 100 * MILLI);
    send(probe, 1000, 0, ACK, 1, 3000 * MILLI);
    expect(probe, "before 0 packets 2 until 0.100 NONE\n"
                  "before 2 packets 0 until 2.100 RST\n"
                  "before 0 packets 1 until 3.000 CAPTURE_END\n");
}

static void test_a_syn_with_another_isn_replaces_a_flow(void **state)
{
    struct probe *probe = new_probe(DEFAULTS);

    (void)state;
    send(probe, 1000, 0, SYN, 77, 0);
    send(probe, 1000, 0, SYN, 77, 10 * MILLI); /* the same one again */
    send(probe, 1000, 1, SYN | ACK, 5, 20 * MILLI);
    send(probe, 1000, 0, ACK, 78, 30 * MILLI);
    send(probe, 1000, 0, SYN, 99, 40 * MILLI);
    expect(probe, "before 0 packets 4 until 0.030 REPLACED\n"
                  "before 0 packets 1 until 0.040 CAPTURE_END\n");
}

static void test_a_syn_replaces_a_flow_whose_own_syn_was_missed(void **state)
{
    struct probe *probe = new_probe(DEFAULTS);

    (void)state;
    data(probe, 0);
    send(probe, 1000, 0, SYN, 77, 10 * MILLI);
    expect(probe, "before 0 packets 1 until 0.000 REPLACED\n"
                  "before 0 packets 1 until 0.010 CAPTURE_END\n");
}

static void test_a_syn_on_a_finished_flow_ends_it_as_finished(void **state)
{
    struct probe *probe = new_probe(DEFAULTS);

    (void)state;
    send(probe, 1000, 0, ACK | FIN, 1, 0);
    send(probe, 1000, 1, ACK | FIN, 1, 1 * MILLI);
    send(probe, 1000, 0, SYN, 77, 10 * MILLI);
    expect(probe, "before 0 packets 2 until 0.001 FIN\n"
                  "before 0 packets 1 until 0.010 CAPTURE_END\n");
}

static void test_a_late_copy_of_its_syn_leaves_a_flow_finished(void **state)
{
    struct probe *probe = new_probe(DEFAULTS);

    (void)state;
    send(probe, 1000, 0, SYN, 77, 0);
    send(probe, 1000, 0, ACK | FIN, 78, 1 * MILLI);
    send(probe, 1000, 1, ACK | FIN, 1, 2 * MILLI);
    send(probe, 1000, 0, SYN, 77, 3 * MILLI);
    expect(probe, "before 0 packets 4 until 0.003 FIN\n");
}

static void test_a_syn_ack_seen_before_its_syn_is_the_same_flow(void **state)
{
    struct probe *probe = new_probe(DEFAULTS);

    (void)state;
    syn_ack(probe, 1, 5, 78, 0);
    send(probe, 1000, 0, SYN, 77, 1 * MILLI);
    expect(probe, "before 0 packets 2 until 0.001 CAPTURE_END\n");
}

static void test_a_syn_ack_of_two_other_isns_replaces_a_flow(void **state)
{
    struct probe *probe = new_probe(DEFAULTS);

    (void)state;
    send(probe, 1000, 0, SYN, 77, 0);
    syn_ack(probe, 1, 5, 78, 1 * MILLI);
    send(probe, 1000, 0, ACK, 78, 2 * MILLI);
    syn_ack(probe, 1, 500, 100, 10 * MILLI); /* its SYN was missed */
    syn_ack(probe, 1, 500, 100, 11 * MILLI);
    send(probe, 1000, 0, SYN, 99, 12 * MILLI); /* or late */
    expect(probe, "before 0 packets 3 until 0.002 REPLACED\n"
                  "before 0 packets 3 until 0.012 CAPTURE_END\n");
}

static void test_a_syn_ack_replaces_a_flow_of_which_no_syn_was_seen(void **state)
{
    struct probe *probe = new_probe(DEFAULTS);

    (void)state;
    syn_ack(probe, 1, 5, 78, 0); /* it tells both ISNs */
    syn_ack(probe, 1, 500, 100, 10 * MILLI);
    expect(probe, "before 0 packets 1 until 0.000 REPLACED\n"
                  "before 0 packets 1 until 0.010 CAPTURE_END\n");
}

static void test_a_syn_ack_of_one_other_isn_is_the_same_flow(void **state)
{
    struct probe *probe = new_probe(DEFAULTS);

    (void)state;
    send(probe, 1000, 0, SYN, 77, 0);
    syn_ack(probe, 1, 9, 60, 1 * MILLI); /* late, of an earlier connection */
    syn_ack(probe, 1, 5, 78, 2 * MILLI);
    send(probe, 1000, 0, SYN, 77, 3 * MILLI);
    syn_ack(probe, 1, 6, 78, 4 * MILLI); /* another cookie */
    expect(probe, "before 0 packets 5 until 0.004 CAPTURE_END\n");
}

static void test_a_syn_ack_whose_peer_is_unknown_may_be_of_an_earlier_flow(void **state)
{
    struct probe *probe = new_probe(DEFAULTS);

    (void)state;
    send(probe, 1000, 1, SYN, 5, 0);
    syn_ack(probe, 1, 9, 60, 1 * MILLI);
    expect(probe, "before 0 packets 2 until 0.001 CAPTURE_END\n");
}

static void test_a_syn_ack_sent_again_is_the_same_flow(void **state)
{
    struct probe *probe = new_probe(DEFAULTS);

    (void)state;
    send(probe, 1000, 0, SYN, 77, 0);
    syn_ack(probe, 1, 5, 78, 1 * MILLI);
    send(probe, 1000, 0, ACK, 78, 2 * MILLI);
    syn_ack(probe, 1, 5, 78, 3 * MILLI);
    expect(probe, "before 0 packets 4 until 0.003 CAPTURE_END\n");
}

static void test_a_syn_ack_in_a_flow_of_unknown_isns_may_be_late(void **state)
{
    struct probe *probe = new_probe(DEFAULTS);

    (void)state;
    data(probe, 0);
    syn_ack(probe, 1, 5, 78, 1 * MILLI);
    expect(probe, "before 0 packets 2 until 0.001 CAPTURE_END\n");
}

/* The peer still holds the former connection and challenges the SYN (RFC 5961 §4.2); the ACK makes
 * the client reset that one and send its SYN again. */
static void test_a_reset_after_a_challenge_does_not_end_the_new_flow(void **state)
{
    struct probe *probe = new_probe(DEFAULTS);

    (void)state;
    send(probe, 1000, 0, SYN, 77, 0);
    syn_ack(probe, 1, 5, 78, 1 * MILLI);
    send(probe, 1000, 0, SYN, 99, 10 * MILLI);
    send(probe, 1000, 1, ACK, 6, 11 * MILLI);
    send(probe, 1000, 0, RST, 78, 12 * MILLI);
    send(probe, 1000, 0, SYN, 99, 510 * MILLI);
    syn_ack(probe, 1, 500, 100, 511 * MILLI);
    send(probe, 1000, 0, ACK, 100, 3600 * MILLI);
    expect(probe, "before 0 packets 2 until 0.001 REPLACED\n"
                  "before 0 packets 5 until 0.511 NONE\n"
                  "before 5 packets 0 until 1.511 NONE\n"
                  "before 5 packets 0 until 2.511 NONE\n"
                  "before 5 packets 1 until 3.600 CAPTURE_END\n");
}

static void test_a_challenge_whose_syn_was_missed_is_of_the_former_flow(void **state)
{
    struct probe *probe = new_probe(DEFAULTS);

    (void)state;
    send(probe, 1000, 0, SYN, 77, 0);
    syn_ack(probe, 1, 5, 78, 1 * MILLI);
    send(probe, 1000, 1, ACK, 6, 11 * MILLI);
    send(probe, 1000, 0, RST, 78, 12 * MILLI);
    syn_ack(probe, 1, 500, 100, 511 * MILLI);
    expect(probe, "before 0 packets 4 until 0.012 RST\n"
                  "before 0 packets 1 until 0.511 CAPTURE_END\n");
}

static void test_both_sides_may_open_at_once(void **state)
{
    struct probe *probe = new_probe(DEFAULTS);

    (void)state;
    send(probe, 1000, 0, SYN, 77, 0);
    send(probe, 1000, 1, SYN, 5, 1 * MILLI);
    send(probe, 1000, 0, SYN | ACK, 77, 2 * MILLI);
    send(probe, 1000, 1, SYN | ACK, 5, 2 * MILLI);
    expect(probe, "before 0 packets 4 until 0.002 CAPTURE_END\n");
}

static void test_both_sides_may_open_at_once_on_the_ports_of_a_flow(void **state)
{
    struct probe *probe = new_probe(DEFAULTS);

    (void)state;
    send(probe, 1000, 0, SYN, 77, 0);
    syn_ack(probe, 1, 5, 78, 1 * MILLI);
    syn_ack(probe, 0, 99, 501, 10 * MILLI); /* both SYNs were missed */
    syn_ack(probe, 1, 500, 100, 11 * MILLI);
    expect(probe, "before 0 packets 2 until 0.001 REPLACED\n"
                  "before 0 packets 2 until 0.011 CAPTURE_END\n");
}

static void test_a_small_step_back_stays_in_the_run(void **state)
{
    struct probe *probe = new_probe(DEFAULTS);

    (void)state;
    data(probe, 0);
    data(probe, 1000 * MILLI);
    data(probe, 990 * MILLI);
    data(probe, 1010 * MILLI);
    expect(probe, "before 0 packets 1 until 0.000 NONE\n"
                  "before 1 packets 0 until 1.000 NONE\n"
                  "before 1 packets 3 until 1.010 CAPTURE_END\n");
}

static void test_a_clock_set_back_cuts_the_run(void **state)
{
    struct probe *probe = new_probe(DEFAULTS);

    (void)state;
    data(probe, 3600 * SECOND);
    data(probe, 0);
    data(probe, 1 * MILLI);
    data(probe, 1000 * MILLI);
    expect(probe, "before 0 packets 1 until 3600.000 NONE\n"
                  "before 1 packets 2 until 0.001 NONE\n"
                  "before 3 packets 1 until 1.000 CAPTURE_END\n");
}

static void test_one_stamp_of_2106_leaves_other_flows_alone(void **state)
{
    struct probe *probe = new_probe(DEFAULTS);

    (void)state;
    probe->only_port = 1000;
    data(probe, 0);
    send(probe, 2000, 0, ACK, 1, 4294967295 * SECOND - START);
    data(probe, 1 * MILLI);
    expect(probe, "before 0 packets 2 until 0.001 CAPTURE_END\n");
}

static void test_a_pause_does_not_silence_the_flow_that_ends_it(void **state)
{
    struct probe *probe = new_probe(DEFAULTS);

    (void)state;
    data(probe, 0);
    for (int i = 0; i < 100; i++) /* the clock believes the leap only after some of them */
        data(probe, 10 * SECOND + i * MILLI);
    expect(probe, "before 0 packets 1 until 0.000 NONE\n"
                  "before 1 packets 0 until 1.000 NONE\n"
                  "before 1 packets 0 until 2.000 NONE\n"
                  "before 1 packets 0 until 4.000 NONE\n"
                  "before 1 packets 0 until 8.000 NONE\n"
                  "before 1 packets 100 until 10.099 CAPTURE_END\n");
}

static void test_runs_do_not_depend_on_other_flows(void **state)
{
    struct probe *alone = new_probe(DEFAULTS), *among_others = new_probe(DEFAULTS);
    uint64_t random = 1;
    int64_t at = 0, other_at = 0;

    (void)state;
    among_others->only_port = 1000;
    for (int i = 0; i < 3000; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        at += (int64_t)(random >> 33) % (i % 50 ? 40 * MILLI : 5 * SECOND);
        for (; other_at < at; other_at += 20 * MILLI) {
            send(among_others, 9, 0, ACK, 1, other_at);
            send(among_others, (uint16_t)(2000 + other_at / SECOND), 0, SYN, (uint32_t)i, other_at);
        }
        data(alone, at);
        data(among_others, at);
    }
    finish(alone);
    finish(among_others);
    assert_string_equal(alone->runs, among_others->runs);
    ckp_worker_free(&alone->worker);
    ckp_worker_free(&among_others->worker);
    free(alone);
    free(among_others);
}

static void test_runs_are_cut_short_when_memory_is_full(void **state)
{
    struct probe *probe = new_probe((struct ckp_flow_limits){.run_memory_bytes = 4 * 260});

    (void)state;
    assert_int_equal(probe->worker.tracker.pool.chunk_count, 4);
    for (uint16_t port = 1000; port < 1005; port++)
        for (int i = 0; i < 2; i++)
            send(probe, port, 0, ACK, 1, (port - 1000) * 2 + i);
    assert_int_equal(probe->worker.counters->value[CKP_COUNT_RUNS_CUT_SHORT], 1);
    expect(probe, "before 0 packets 2 until 0.000 NONE\n" /* the oldest */
                  "before 2 packets 0 until 0.000 CAPTURE_END\n"
                  "before 0 packets 2 until 0.000 CAPTURE_END\n"
                  "before 0 packets 2 until 0.000 CAPTURE_END\n"
                  "before 0 packets 2 until 0.000 CAPTURE_END\n"
                  "before 0 packets 2 until 0.000 CAPTURE_END\n");
}

static void test_a_run_that_fills_the_memory_alone_is_cut_itself(void **state)
{
    struct probe *probe = new_probe((struct ckp_flow_limits){.run_memory_bytes = 2 * 260});

    (void)state;
    assert_int_equal(probe->worker.tracker.pool.chunk_count, 2);
    for (int i = 0; i < 25; i++)
        data(probe, i);
    expect(probe, "before 0 packets 10 until 0.000 NONE\n"
                  "before 10 packets 10 until 0.000 NONE\n"
                  "before 20 packets 5 until 0.000 CAPTURE_END\n");
}

static void test_a_full_table_evicts_the_flow_silent_longest(void **state)
{
    struct probe *probe = new_probe((struct ckp_flow_limits){.flows_max = 3});

    (void)state;
    send(probe, 1000, 0, ACK, 1, 0);
    send(probe, 1001, 0, ACK, 1, 1 * MILLI);
    send(probe, 1002, 0, ACK, 1, 2 * MILLI);
    send(probe, 1000, 0, ACK, 1, 3 * MILLI);
    send(probe, 1003, 0, ACK, 1, 4 * MILLI);
    assert_int_equal(probe->worker.tracker.table.living, 3);
    expect(probe, "before 0 packets 1 until 0.001 EVICTED\n"
                  "before 0 packets 2 until 0.004 CAPTURE_END\n"
                  "before 0 packets 1 until 0.004 CAPTURE_END\n"
                  "before 0 packets 1 until 0.004 CAPTURE_END\n");
}

/* What is written of the flows between 10.0.0.1 and 10.0.0.2, whatever else there is. */
#define WATCHED 20

struct flood {
    struct ckp_worker worker;
    int64_t packets[WATCHED]; /* of the flow on port 1000 + i */
    uint32_t ends[WATCHED];
    uint32_t runs;
};

static void keep_watched(void *sink, const struct ckp_batch *batch)
{
    static const uint8_t low[4] = {10, 0, 0, 1};
    static struct read_run run;
    struct flood *flood = sink;
    struct batch_reader reader = {batch->bytes, batch->bytes + batch->size_bytes};
    struct read_batch header;

    read_batch_header(&reader, &header);
    for (int64_t i = 0; i < header.runs; i++) {
        read_run(&reader, &run);
        if (memcmp(run.low_address, low, sizeof low) != 0)
            continue;
        uint32_t at = run.low_port - 1000u;
        assert_in_range(at, 0, WATCHED - 1);
        assert_int_equal(flood->ends[at], 0);
        assert_int_equal(run.packets_before, flood->packets[at]);
        flood->packets[at] += run.packets.count;
        flood->ends[at] += run.end_reason != CKP_END_NONE;
        flood->runs++;
    }
    ckp_count(flood->worker.counters, CKP_COUNT_BATCHES_DELIVERED, 1);
    ckp_count(flood->worker.counters, CKP_COUNT_PACKETS_DELIVERED, batch->packets);
}

static struct flood *new_flood(uint32_t flows_max, size_t run_memory_bytes)
{
    struct flood *flood = calloc(1, sizeof *flood);
    struct ckp_batch_config config = {
        .probe = "probe",
        .tap = "tap",
        .partition_count = 32,
        .flush_bytes = 16384,
        .flush_delay_ns = 250 * MILLI,
        .timestamp_source = CKP_TIMESTAMP_FILE,
        .timestamp_resolution_ns = 1,
    };
    struct ckp_frame_reading reading = {.tunnels = CKP_TUNNELS_INNER};
    struct ckp_flow_limits limits = {
        .idle_ns = 180 * SECOND,
        .flows_max = flows_max,
        .run_memory_bytes = run_memory_bytes,
    };
    assert_non_null(flood);
    assert_true(
        ckp_worker_init(&flood->worker, &reading, &config, &limits, NULL, keep_watched, flood));
    return flood;
}

static void take(struct flood *flood, const struct ckp_packet *packet)
{
    ckp_worker_take(&flood->worker, packet);
}

/* A SYN of a source that nobody has heard of, or what its victim answers. */
static void forge(struct flood *flood, uint32_t number, unsigned flags, int64_t time_ns)
{
    uint32_t scattered = number * 2654435761u;
    const uint8_t source[4] = {172, (uint8_t)(scattered >> 24), (uint8_t)(scattered >> 16),
                               (uint8_t)(scattered >> 8)};
    const uint8_t victim[4] = {10, 0, 0, 2};
    struct ckp_packet packet = make_packet(0, 0, flags, number, time_ns);
    struct ckp_address a = ckp_address_from_ipv4(source), b = ckp_address_from_ipv4(victim);

    packet.segment.direction =
        ckp_flow_key_order(&packet.key, &a, (uint16_t)(1 + number % 60000), &b, 443);
    if (flags & ACK)
        packet.segment.direction ^= 1;
    take(flood, &packet);
}

static void take_watched(struct flood *flood, uint32_t at, unsigned direction, unsigned flags,
                         uint32_t sequence_number, int64_t time_ns)
{
    struct ckp_packet packet =
        make_packet((uint16_t)(1000 + at), direction, flags, sequence_number, time_ns);

    take(flood, &packet);
}

/* A SYN each microsecond, half of them answered. Ten flows send a thousand packets
 * a second all the time, ten others a packet in 0.4 s: none ends, and no packet is missing. */
static void flood_a_table(int64_t syns, size_t run_memory_bytes, uint32_t living_expected,
                          uint32_t runs_max)
{
    struct flood *flood = new_flood(100000, run_memory_bytes);
    const struct ckp_flow_tracker *tracker = &flood->worker.tracker;
    const uint64_t *count = flood->worker.counters->value;
    uint32_t living_most = 0, blocks = 0;

    for (uint32_t at = 0; at < WATCHED; at++) {
        take_watched(flood, at, 0, SYN, 1, -3 * MILLI);
        take_watched(flood, at, 1, SYN | ACK, 1, -2 * MILLI);
        take_watched(flood, at, 0, ACK, 2, -1 * MILLI);
    }
    for (int64_t i = 0; i < syns; i++) {
        int64_t time_ns = i * 1000;
        forge(flood, (uint32_t)i, SYN, time_ns);
        if (i % 2)
            forge(flood, (uint32_t)i, SYN | ACK, time_ns);
        if (i % 1000 == 0)
            for (uint32_t at = 0; at < WATCHED; at++)
                if (at < 10 || i % 400000 == 0)
                    take_watched(flood, at, 0, ACK, (uint32_t)i, time_ns);
        if (i == 200000)
            blocks = tracker->table.block_count;
        if (tracker->table.living > living_most)
            living_most = tracker->table.living;
    }
    ckp_worker_flush(&flood->worker);
    assert_in_range(living_most, living_expected * 0.95, living_expected + WATCHED);
    assert_int_equal(tracker->table.block_count, blocks);
    for (uint32_t at = 0; at < WATCHED; at++)
        assert_int_equal(flood->ends[at], 0);
    ckp_worker_finish(&flood->worker);
    for (uint32_t at = 0; at < WATCHED; at++) {
        assert_int_equal(flood->ends[at], 1);
        assert_int_equal(flood->packets[at],
                         3 + (at < 10 ? syns / 1000 : (syns + 399999) / 400000));
    }
    assert_in_range(flood->runs, WATCHED, runs_max);
    assert_int_equal(count[CKP_COUNT_PACKETS_DELIVERED], count[CKP_COUNT_FRAMES_RECEIVED]);
    ckp_worker_free(&flood->worker);
    free(flood);
}

static void test_a_syn_flood_ends_no_other_flow(void **state)
{
    (void)state;
    flood_a_table(2000000, 64 << 20, 100000, 150);
}

static void test_a_syn_flood_that_fills_the_memory_of_runs_ends_itself_first(void **state)
{
    const uint32_t chunks = (8 << 20) / 260; /* the oldest is 32 ms old, at one a microsecond */

    (void)state;
    flood_a_table(500000, 8 << 20, chunks, 250);
}

/* Few flows are unproven: those that were silent for long make room, and new ones get a chance. */
static void test_a_full_table_of_real_flows_lets_new_ones_in(void **state)
{
    struct flood *flood = new_flood(1000, 1 << 20);

    (void)state;
    for (uint32_t i = 0; i < 3000; i++) {
        forge(flood, i, SYN, i * MILLI);
        for (int j = 0; j < 3; j++)
            forge(flood, i, ACK, i * MILLI);
    }
    take_watched(flood, 0, 0, SYN, 1, 3000 * MILLI);
    for (uint32_t i = 3000; i < 3100; i++) {
        forge(flood, i, SYN, i * MILLI);
        for (int j = 0; j < 3; j++)
            forge(flood, i, ACK, i * MILLI);
    }
    take_watched(flood, 0, 1, SYN | ACK, 1, 3100 * MILLI);
    take_watched(flood, 0, 0, ACK, 2, 3101 * MILLI);
    ckp_worker_finish(&flood->worker);
    assert_int_equal(flood->packets[0], 3);
    assert_int_equal(flood->worker.counters->value[CKP_COUNT_FLOWS_ENDED_CAPTURE_END], 1000);
    ckp_worker_free(&flood->worker);
    free(flood);
}

/* From now on the flow on port 1000 is left out, and all flows of earlier buckets. */
static void leave_out(struct probe *probe)
{
    struct ckp_packet packet = make_packet(1000, 0, ACK, 1, 0);

    ckp_worker_shed(&probe->worker, 1 + ckp_shed_bucket(&packet.key, 0));
}

static void watch_again(struct probe *probe)
{
    ckp_worker_shed(&probe->worker, 0);
}

/* As expect(), of a probe that has left out `shed` frames. */
static void expect_but_for(struct probe *probe, uint64_t shed, const char *runs)
{
    uint64_t *count = probe->worker.counters->value;

    assert_int_equal(count[CKP_COUNT_FRAMES_SHED], shed);
    count[CKP_COUNT_FRAMES_RECEIVED] -= shed;
    expect(probe, runs);
}

static void test_a_flow_that_is_left_out_ends_with_what_it_had(void **state)
{
    struct probe *probe = new_probe(DEFAULTS);

    (void)state;
    data(probe, 0);
    data(probe, 100 * MILLI);
    leave_out(probe);
    data(probe, 200 * MILLI);
    data(probe, 300 * MILLI);
    assert_int_equal(probe->worker.tracker.table.living, 0);
    assert_int_equal(probe->worker.counters->value[CKP_COUNT_FLOWS_ENDED_SHED], 1);
    watch_again(probe);
    data(probe, 400 * MILLI); /* a new flow: nothing is missing within either */
    expect_but_for(probe, 2,
                   "before 0 packets 2 until 0.100 SHED\n"
                   "before 0 packets 1 until 0.400 CAPTURE_END\n");
}

static void test_a_silent_flow_that_is_left_out_ends_when_it_is_visited(void **state)
{
    struct probe *probe = new_probe(DEFAULTS);

    (void)state;
    probe->only_port = 1000;
    data(probe, 500 * MILLI);
    leave_out(probe);
    ckp_worker_pass_time(&probe->worker, START + 1200 * MILLI);
    assert_int_equal(probe->worker.tracker.table.living, 0);
    expect_but_for(probe, 0, "before 0 packets 1 until 0.500 SHED\n");
}

static void test_a_flow_without_a_packet_while_it_was_left_out_goes_on(void **state)
{
    struct probe *probe = new_probe(DEFAULTS);

    (void)state;
    data(probe, 100 * MILLI);
    leave_out(probe);
    watch_again(probe);
    data(probe, 200 * MILLI);
    expect_but_for(probe, 0, "before 0 packets 2 until 0.200 CAPTURE_END\n");
}

static void test_a_flow_that_lingers_is_not_said_to_be_left_out(void **state)
{
    struct probe *probe = new_probe(DEFAULTS);

    (void)state;
    send(probe, 1000, 0, ACK | FIN, 1, 0);
    send(probe, 1000, 1, ACK | FIN, 1, 100 * MILLI);
    leave_out(probe);
    send(probe, 1000, 0, ACK, 2, 200 * MILLI);
    expect_but_for(probe, 1, "before 0 packets 2 until 0.100 FIN\n");
}

static void test_flows_of_other_buckets_are_watched_as_before(void **state)
{
    struct probe *probe = new_probe(DEFAULTS);
    uint32_t watched = 0;

    (void)state;
    leave_out(probe);
    for (uint16_t port = 1000; port < 1100; port++)
        for (int i = 0; i < 3; i++)
            send(probe, port, 0, ACK, 1, i * MILLI);
    for (uint16_t port = 1000; port < 1100; port++) {
        struct ckp_packet packet = make_packet(port, 0, ACK, 1, 0);
        watched += !ckp_flow_tracker_sheds(&probe->worker.tracker, &packet.key);
    }
    assert_in_range(watched, 1, 99);
    assert_int_equal(probe->worker.tracker.table.living, watched);
    assert_int_equal(probe->worker.counters->value[CKP_COUNT_FRAMES_SHED], 3 * (100 - watched));
    finish(probe);
    assert_int_equal(probe->worker.counters->value[CKP_COUNT_PACKETS_ENCODED], 3 * watched);
    ckp_worker_free(&probe->worker);
    free(probe);
}

static void test_batches_wait_no_longer_than_told(void **state)
{
    struct probe *probe = new_probe(DEFAULTS);

    (void)state;
    for (int i = 0; i < 256; i++)
        data(probe, i); /* one whole run: it opens a batch */
    assert_int_equal(probe->batches, 0);
    data(probe, 249 * MILLI);
    assert_int_equal(probe->batches, 0);
    data(probe, 251 * MILLI);
    assert_int_equal(probe->batches, 1);
    finish(probe);
    ckp_worker_free(&probe->worker);
    free(probe);
}

/* Frames arrive as they were stamped, and the source waits after each. */
static int64_t before_wait(struct probe *probe, int64_t time_ns)
{
    return ckp_worker_before_wait(&probe->worker, 1 + time_ns);
}

static void test_silence_releases_what_is_open_and_the_flow_goes_on(void **state)
{
    struct probe *probe = new_probe(DEFAULTS);

    (void)state;
    assert_int_equal(before_wait(probe, 0), INT64_MAX);
    data(probe, 0);
    assert_int_equal(before_wait(probe, 0), 250 * MILLI);
    data(probe, 200 * MILLI);
    assert_int_equal(before_wait(probe, 200 * MILLI), 250 * MILLI);
    assert_int_equal(before_wait(probe, 449 * MILLI), 1 * MILLI);
    assert_int_equal(probe->batches, 0);
    assert_int_equal(before_wait(probe, 450 * MILLI), INT64_MAX);
    assert_int_equal(probe->batches, 1);
    assert_string_equal(probe->runs, "before 0 packets 2 until 0.200 NONE\n");
    assert_int_equal(before_wait(probe, 900 * MILLI), INT64_MAX);
    assert_int_equal(probe->batches, 1);
    data(probe, 900 * MILLI);
    data(probe, 1900 * MILLI);
    expect(probe, "before 0 packets 2 until 0.200 NONE\n"
                  "before 2 packets 1 until 0.900 NONE\n"
                  "before 3 packets 0 until 1.900 NONE\n"
                  "before 3 packets 1 until 1.900 CAPTURE_END\n");
}

static void test_silence_releases_a_batch_when_no_run_is_open(void **state)
{
    struct probe *probe = new_probe(DEFAULTS);

    (void)state;
    for (int i = 0; i < 256; i++)
        data(probe, 0);
    before_wait(probe, 0);
    assert_int_equal(before_wait(probe, 250 * MILLI), INT64_MAX);
    assert_int_equal(probe->batches, 1);
    expect(probe, "before 0 packets 256 until 0.000 NONE\n"
                  "before 256 packets 0 until 0.000 CAPTURE_END\n");
}

static void test_other_frames_do_not_put_off_what_is_open(void **state)
{
    struct probe *probe = new_probe(DEFAULTS);

    (void)state;
    data(probe, 0);
    for (int64_t at = 0; at < 250 * MILLI; at += 50 * MILLI) {
        ckp_worker_leave_out(&probe->worker);
        assert_int_equal(before_wait(probe, at), 250 * MILLI - at);
    }
    assert_int_equal(before_wait(probe, 250 * MILLI), INT64_MAX);
    assert_int_equal(probe->batches, 1);
    finish(probe);
    ckp_worker_free(&probe->worker);
    free(probe);
}

static void test_packets_after_a_leap_are_not_released_one_by_one(void **state)
{
    struct probe *probe = new_probe(DEFAULTS);

    (void)state;
    data(probe, 0);
    before_wait(probe, 0);
    before_wait(probe, 250 * MILLI);
    for (int i = 0; i < 10; i++) { /* the clock does not believe them yet */
        data(probe, 3600 * SECOND + i * MILLI);
        before_wait(probe, 3600 * SECOND + i * MILLI);
    }
    assert_int_equal(probe->batches, 1);
    before_wait(probe, 3600 * SECOND + 250 * MILLI);
    assert_int_equal(probe->batches, 2);
    finish(probe);
    ckp_worker_free(&probe->worker);
    free(probe);
}

static uint64_t counted(const struct probe *probe, enum ckp_counter counter)
{
    return probe->worker.counters->value[counter];
}

static void discard(struct probe *probe)
{
    ckp_worker_free(&probe->worker);
    free(probe);
}

static void test_a_copy_of_the_last_packet_is_a_duplicate(void **state)
{
    static const struct {
        const char *sentence;
        int64_t apart_ns;
        uint16_t ip_id, other_ip_id;
        uint32_t payload_bytes, other_payload_bytes;
        uint8_t flags, ttl, other_ttl;
        uint64_t duplicates;
    } rows[] = {
        {"seen twice", MILLI, 7, 7, 100, 100, ACK, 64, 64, 1},
        {"before and behind a router", MILLI, 7, 7, 100, 100, ACK, 64, 63, 1},
        {"put out of order by two ports", -MILLI, 7, 7, 100, 100, ACK, 64, 64, 1},
        {"sent again", 200 * MILLI, 7, 8, 100, 100, ACK, 64, 64, 0},
        {"sent again by a host that gives all the same id", 200 * MILLI, 7, 7, 100, 100, ACK, 64,
         64, 0},
        {"a second acknowledgment", MILLI, 7, 8, 0, 0, ACK, 64, 64, 0},
        {"one that cannot be told from a copy", MILLI, 0, 0, 0, 0, ACK, 64, 64, 0},
        {"without an id, but with data", MILLI, 0, 0, 100, 100, ACK, 64, 64, 1},
        {"a copy of a SYN", MILLI, 0, 0, 0, 0, SYN, 64, 64, 1},
        {"other data", MILLI, 0, 0, 100, 50, ACK, 64, 64, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct probe *probe = new_probe(DEFAULTS);
        struct ckp_packet packet = make_packet(1000, 0, rows[i].flags, 500, SECOND);
        packet.segment.ip_id = rows[i].ip_id;
        packet.segment.payload_bytes = rows[i].payload_bytes;
        packet.segment.time_to_live = rows[i].ttl;
        observe(probe, &packet);
        packet.segment.time_ns += rows[i].apart_ns;
        packet.segment.ip_id = rows[i].other_ip_id;
        packet.segment.payload_bytes = rows[i].other_payload_bytes;
        packet.segment.time_to_live = rows[i].other_ttl;
        observe(probe, &packet);
        if (counted(probe, CKP_COUNT_PACKETS_DUPLICATE) != rows[i].duplicates)
            fail_msg("%s", rows[i].sentence);
        assert_int_equal(counted(probe, CKP_COUNT_PACKETS_TIME_STEP_BACK), rows[i].apart_ns < 0);
        discard(probe);
    }
}

static void test_flows_of_one_direction_are_told_from_calls_without_an_answer(void **state)
{
    struct probe *probe = new_probe(DEFAULTS);

    (void)state;
    send(probe, 1000, 0, SYN, 1, 0);
    send(probe, 1000, 0, SYN, 1, SECOND);
    send(probe, 1001, 0, SYN, 1, SECOND);
    send(probe, 1001, 0, ACK, 2, SECOND);
    send(probe, 1002, 1, ACK, 2, SECOND);
    send(probe, 1003, 0, ACK, 2, SECOND);
    send(probe, 1003, 1, ACK, 2, SECOND);
    ckp_worker_finish(&probe->worker);
    assert_int_equal(counted(probe, CKP_COUNT_PACKETS_FROM_LOW), 5);
    assert_int_equal(counted(probe, CKP_COUNT_BYTES_FROM_LOW), 5 * 40);
    assert_int_equal(counted(probe, CKP_COUNT_BYTES_FROM_HIGH), 2 * 40);
    assert_int_equal(counted(probe, CKP_COUNT_FLOWS_ONE_SIDED), 2);
    discard(probe);
}

static void test_a_capture_without_packets_still_tells_its_counters(void **state)
{
    struct probe *probe = new_probe(DEFAULTS);

    (void)state;
    ckp_count(probe->worker.counters, CKP_COUNT_FRAMES_RECEIVED, 1);
    ckp_count(probe->worker.counters, CKP_COUNT_FRAMES_NOT_IP, 1);
    finish(probe);
    assert_int_equal(probe->batches, 1);
    assert_string_equal(probe->runs, "");
    ckp_worker_free(&probe->worker);
    free(probe);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_run_is_cut_at_each_whole_second),
        cmocka_unit_test(test_a_run_is_cut_at_256_packets),
        cmocka_unit_test(test_a_run_that_is_full_at_the_end_leaves_a_bare_end_mark),
        cmocka_unit_test(test_quiet_marks_come_at_doubling_distances),
        cmocka_unit_test(test_a_silent_flow_is_closed_by_the_packets_of_others),
        cmocka_unit_test(test_silence_ends_a_flow),
        cmocka_unit_test(test_silence_ends_a_flow_the_same_when_only_its_own_packet_tells),
        cmocka_unit_test(test_a_flow_ends_two_seconds_after_both_fins),
        cmocka_unit_test(test_one_fin_does_not_end_a_flow),
        cmocka_unit_test(test_a_flow_that_lingers_at_the_end_of_the_capture_has_its_own_reason),
        cmocka_unit_test(test_a_reset_ends_a_flow),
        cmocka_unit_test(test_a_syn_with_another_isn_replaces_a_flow),
        cmocka_unit_test(test_a_syn_replaces_a_flow_whose_own_syn_was_missed),
        cmocka_unit_test(test_a_syn_on_a_finished_flow_ends_it_as_finished),
        cmocka_unit_test(test_a_late_copy_of_its_syn_leaves_a_flow_finished),
        cmocka_unit_test(test_a_syn_ack_seen_before_its_syn_is_the_same_flow),
        cmocka_unit_test(test_a_syn_ack_of_two_other_isns_replaces_a_flow),
        cmocka_unit_test(test_a_syn_ack_replaces_a_flow_of_which_no_syn_was_seen),
        cmocka_unit_test(test_a_syn_ack_of_one_other_isn_is_the_same_flow),
        cmocka_unit_test(test_a_syn_ack_whose_peer_is_unknown_may_be_of_an_earlier_flow),
        cmocka_unit_test(test_a_syn_ack_sent_again_is_the_same_flow),
        cmocka_unit_test(test_a_syn_ack_in_a_flow_of_unknown_isns_may_be_late),
        cmocka_unit_test(test_a_reset_after_a_challenge_does_not_end_the_new_flow),
        cmocka_unit_test(test_a_challenge_whose_syn_was_missed_is_of_the_former_flow),
        cmocka_unit_test(test_both_sides_may_open_at_once),
        cmocka_unit_test(test_both_sides_may_open_at_once_on_the_ports_of_a_flow),
        cmocka_unit_test(test_a_small_step_back_stays_in_the_run),
        cmocka_unit_test(test_a_clock_set_back_cuts_the_run),
        cmocka_unit_test(test_one_stamp_of_2106_leaves_other_flows_alone),
        cmocka_unit_test(test_a_pause_does_not_silence_the_flow_that_ends_it),
        cmocka_unit_test(test_runs_do_not_depend_on_other_flows),
        cmocka_unit_test(test_runs_are_cut_short_when_memory_is_full),
        cmocka_unit_test(test_a_run_that_fills_the_memory_alone_is_cut_itself),
        cmocka_unit_test(test_a_full_table_evicts_the_flow_silent_longest),
        cmocka_unit_test(test_a_syn_flood_ends_no_other_flow),
        cmocka_unit_test(test_a_syn_flood_that_fills_the_memory_of_runs_ends_itself_first),
        cmocka_unit_test(test_a_full_table_of_real_flows_lets_new_ones_in),
        cmocka_unit_test(test_a_flow_that_is_left_out_ends_with_what_it_had),
        cmocka_unit_test(test_a_silent_flow_that_is_left_out_ends_when_it_is_visited),
        cmocka_unit_test(test_a_flow_without_a_packet_while_it_was_left_out_goes_on),
        cmocka_unit_test(test_a_flow_that_lingers_is_not_said_to_be_left_out),
        cmocka_unit_test(test_flows_of_other_buckets_are_watched_as_before),
        cmocka_unit_test(test_batches_wait_no_longer_than_told),
        cmocka_unit_test(test_silence_releases_what_is_open_and_the_flow_goes_on),
        cmocka_unit_test(test_silence_releases_a_batch_when_no_run_is_open),
        cmocka_unit_test(test_other_frames_do_not_put_off_what_is_open),
        cmocka_unit_test(test_packets_after_a_leap_are_not_released_one_by_one),
        cmocka_unit_test(test_a_copy_of_the_last_packet_is_a_duplicate),
        cmocka_unit_test(test_flows_of_one_direction_are_told_from_calls_without_an_answer),
        cmocka_unit_test(test_a_capture_without_packets_still_tells_its_counters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
