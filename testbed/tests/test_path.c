/* SPDX-License-Identifier: Apache-2.0 */
/* The emulated path on its own: what leaves when, and that every frame has exactly one fate. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "path.h"

#define FULL_BYTES 1500
#define FULL_AT_LINK_NS (1200 * NANOS_PER_MICRO) /* 1500 B at 10 Mbit/s */
#define FULL_AT_ACCESS_NS (12 * NANOS_PER_MICRO) /* 1500 B at 1 Gbit/s */
#define SNAP_BYTES 64
#define RECORD_HEADER_BYTES 16
#define FILE_HEADER_BYTES 24
#define MAX_ARRIVALS 4096

struct arrivals {
    int64_t at_ns[MAX_ARRIVALS];
    uint32_t number[MAX_ARRIVALS]; /* as given to send_numbered() */
    size_t count;
};

/** 10 Mbit/s behind 1 Gbit/s, one-way delay 4 + 6 + 10 ms. */
static int set_up(void **state)
{
    static struct ckp_path path;
    static const int64_t delays_ms[CKP_NUM_SECTIONS] = {4, 6, 10};

    memset(&path, 0, sizeof(path));
    path.random_state = 1;
    for (int direction = 0; direction < CKP_NUM_DIRECTIONS; direction++) {
        path.access[direction].bits_per_second = 1e9;
        path.links[direction].bits_per_second = 1e7;
        path.links[direction].queue_limit_bytes = 1000 * FULL_BYTES;
        for (int section = 0; section < CKP_NUM_SECTIONS; section++)
            path.sections[direction][section].delay_ns = delays_ms[section] * NANOS_PER_MILLI;
    }
    for (int tap = 0; tap < CKP_NUM_TAPS; tap++)
        ckp_capture_open(&path.captures[tap], SNAP_BYTES);
    *state = &path;
    return 0;
}

static int tear_down(void **state)
{
    ckp_path_free(*state);
    return 0;
}

static void send_numbered(struct ckp_path *path, int64_t now_ns, uint32_t number, size_t bytes)
{
    struct ckp_frame *frame = ckp_path_take_frame(path);

    memset(frame->data, 0, bytes);
    memcpy(frame->data, &number, sizeof(number));
    frame->bytes = bytes;
    ckp_path_send(path, CKP_DATA, now_ns, frame);
}

static void send_burst(struct ckp_path *path, uint32_t count)
{
    for (uint32_t number = 0; number < count; number++)
        send_numbered(path, 0, number, FULL_BYTES);
}

static struct arrivals run_to_the_end(struct ckp_path *path)
{
    static struct arrivals arrivals;

    arrivals.count = 0;
    for (int64_t due_ns; (due_ns = ckp_path_next_due_ns(path)) != INT64_MAX;) {
        struct ckp_frame *frame = ckp_path_step(path);

        if (!frame)
            continue;
        arrivals.at_ns[arrivals.count] = due_ns;
        memcpy(&arrivals.number[arrivals.count++], frame->data, sizeof(uint32_t));
        ckp_path_release(path, frame);
    }
    return arrivals;
}

static uint64_t count_fate(const struct ckp_path *path, enum ckp_fate fate)
{
    uint64_t count = 0;

    for (size_t i = 0; i < path->truth.num_flows; i++)
        count += path->truth.flows[i].num_frames[fate];
    return count;
}

static int64_t stamp_ns(const struct ckp_capture *capture, size_t record)
{
    const uint8_t *header =
        capture->bytes + FILE_HEADER_BYTES + record * (RECORD_HEADER_BYTES + SNAP_BYTES);
    uint32_t seconds, nanos;

    memcpy(&seconds, header, sizeof(seconds));
    memcpy(&nanos, header + sizeof(seconds), sizeof(nanos));
    return seconds * NANOS_PER_SECOND + nanos;
}

static void test_a_lone_frame_takes_all_delays_and_both_serialisations(void **state)
{
    struct ckp_path *path = *state;

    send_burst(path, 1);
    struct arrivals arrivals = run_to_the_end(path);

    assert_int_equal(arrivals.count, 1);
    assert_int_equal(arrivals.at_ns[0], 20 * NANOS_PER_MILLI + FULL_AT_ACCESS_NS + FULL_AT_LINK_NS);
}

static void test_a_burst_leaves_at_exactly_the_rate_of_the_link(void **state)
{
    struct ckp_path *path = *state;

    send_burst(path, 100);
    run_to_the_end(path);

    for (size_t i = 1; i < 100; i++) {
        assert_int_equal(stamp_ns(&path->captures[CKP_TAP_BEFORE], i) -
                             stamp_ns(&path->captures[CKP_TAP_BEFORE], i - 1),
                         FULL_AT_ACCESS_NS);
        assert_int_equal(stamp_ns(&path->captures[CKP_TAP_AFTER], i) -
                             stamp_ns(&path->captures[CKP_TAP_AFTER], i - 1),
                         FULL_AT_LINK_NS);
    }
}

static void test_the_taps_at_the_hosts_see_frames_as_they_leave_and_arrive(void **state)
{
    struct ckp_path *path = *state;

    send_burst(path, 2);
    struct arrivals arrivals = run_to_the_end(path);

    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(stamp_ns(&path->captures[CKP_TAP_SENDER], i),
                         (int64_t)(i + 1) * FULL_AT_ACCESS_NS);
        assert_int_equal(stamp_ns(&path->captures[CKP_TAP_RECEIVER], i), arrivals.at_ns[i]);
    }
}

static void test_a_capture_is_written_in_the_order_of_time(void **state)
{
    static const int64_t stamps_ns[] = {3, 1, 2, 1};
    static const uint8_t numbers[] = {30, 10, 20, 11}; /* equal stamps stay in their order */
    char file_name[] = "/tmp/ckp-capture-XXXXXX";
    struct ckp_capture capture, written;

    (void)state;
    ckp_capture_open(&capture, 1);
    for (size_t i = 0; i < 4; i++)
        ckp_capture_add(&capture, stamps_ns[i], &numbers[i], 1);
    int fd = mkstemp(file_name);
    assert_true(fd >= 0);
    assert_true(ckp_capture_write(&capture, file_name));
    uint8_t bytes[FILE_HEADER_BYTES + 4 * (RECORD_HEADER_BYTES + 1)];
    assert_int_equal(read(fd, bytes, sizeof(bytes)), sizeof(bytes));
    close(fd);
    unlink(file_name);

    static const uint8_t expected[] = {10, 11, 20, 30};
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(bytes[FILE_HEADER_BYTES + (i + 1) * (RECORD_HEADER_BYTES + 1) - 1],
                         expected[i]);
    ckp_capture_free(&capture);
    ckp_capture_open(&written, 1);
    assert_true(ckp_capture_is_open(&written));
    ckp_capture_free(&written);
    assert_false(ckp_capture_is_open(&written));
}

static void test_what_does_not_fit_the_queue_is_dropped_and_booked(void **state)
{
    struct ckp_path *path = *state;

    path->links[CKP_DATA].queue_limit_bytes = 10 * FULL_BYTES;
    send_burst(path, 25);
    struct arrivals arrivals = run_to_the_end(path);

    assert_int_equal(arrivals.count, 10);
    assert_int_equal(count_fate(path, CKP_QUEUE_DROP), 15);
    assert_int_equal(path->links[CKP_DATA].queue_bytes, 0);
}

static void test_a_frame_that_leaves_makes_room_for_one_that_enters_just_then(void **state)
{
    struct ckp_path *path = *state;

    path->access[CKP_DATA].bits_per_second = 1e7; /* frames arrive as fast as they leave */
    path->links[CKP_DATA].queue_limit_bytes = FULL_BYTES;
    send_burst(path, 50);

    assert_int_equal(run_to_the_end(path).count, 50);
}

static void test_the_truth_knows_when_the_link_was_busy(void **state)
{
    struct ckp_path *path = *state;
    int64_t busy_ns = 0;
    int32_t max_bytes = 0;

    send_burst(path, 100);
    run_to_the_end(path);

    for (size_t i = 0; i < path->truth.num_bins; i++) {
        assert_in_range(path->truth.bins[i].busy_ns, 0, CKP_QUEUE_BIN_NS);
        busy_ns += path->truth.bins[i].busy_ns;
        if (path->truth.bins[i].max_bytes > max_bytes)
            max_bytes = path->truth.bins[i].max_bytes;
    }
    assert_int_equal(busy_ns, 100 * FULL_AT_LINK_NS);
    assert_int_equal(max_bytes, 100 * FULL_BYTES); /* the last comes before the first has left */
}

static void test_a_held_frame_is_overtaken_by_as_many_as_asked(void **state)
{
    struct ckp_path *path = *state;
    struct ckp_section *section = &path->sections[CKP_DATA][CKP_SENDER];

    section->reorder_probability = 1;
    section->min_overtakers = section->max_overtakers = 3;
    send_numbered(path, 0, 0, FULL_BYTES);
    section->reorder_probability = 0;
    for (uint32_t number = 1; number <= 5; number++)
        send_numbered(path, 0, number, FULL_BYTES);
    struct arrivals arrivals = run_to_the_end(path);

    static const uint32_t expected[] = {1, 2, 3, 0, 4, 5};
    assert_int_equal(arrivals.count, 6);
    assert_memory_equal(arrivals.number, expected, sizeof(expected));
    assert_int_equal(count_fate(path, CKP_REORDERED), 1);
}

static void test_a_held_frame_that_nothing_overtakes_still_arrives(void **state)
{
    struct ckp_path *path = *state;

    for (int section = 0; section < CKP_NUM_SECTIONS; section++)
        path->sections[CKP_DATA][section].reorder_probability = 1,
        path->sections[CKP_DATA][section].min_overtakers = 1,
        path->sections[CKP_DATA][section].max_overtakers = 2;
    send_burst(path, 1);

    assert_int_equal(run_to_the_end(path).count, 1);
    for (int section = 0; section < CKP_NUM_SECTIONS; section++)
        assert_int_equal(path->sections[CKP_DATA][section].num_held, 0);
}

static void test_every_frame_has_one_fate_whatever_the_path_does(void **state)
{
    struct ckp_path *path = *state;
    const uint32_t num_sent = 3000;

    path->links[CKP_DATA].queue_limit_bytes = 20 * FULL_BYTES;
    for (int i = 0; i < CKP_NUM_SECTIONS; i++) {
        struct ckp_section *section = &path->sections[CKP_DATA][i];

        section->loss_probability = 0.02;
        section->reorder_probability = 0.05;
        section->min_overtakers = 1;
        section->max_overtakers = 4;
    }
    for (uint32_t number = 0; number < num_sent; number++)
        send_numbered(path, number * 1100 * NANOS_PER_MICRO, number, FULL_BYTES);
    struct arrivals arrivals = run_to_the_end(path);

    bool seen[3000] = {false};
    for (size_t i = 0; i < arrivals.count; i++) {
        assert_false(seen[arrivals.number[i]]);
        seen[arrivals.number[i]] = true;
    }
    assert_true(count_fate(path, CKP_QUEUE_DROP) > 0);
    assert_true(count_fate(path, CKP_RANDOM_LOSS) > 0);
    assert_true(count_fate(path, CKP_REORDERED) > 0);
    assert_int_equal(arrivals.count + count_fate(path, CKP_QUEUE_DROP) +
                         count_fate(path, CKP_RANDOM_LOSS),
                     num_sent);
    for (int tap = CKP_TAP_BEFORE; tap <= CKP_TAP_AFTER; tap++)
        for (size_t i = 1; i < path->captures[tap].num_records; i++)
            assert_true(stamp_ns(&path->captures[tap], i - 1) <= stamp_ns(&path->captures[tap], i));
}

static uint16_t header_sum(const uint8_t *ip)
{
    uint32_t sum = 0;

    for (int i = 0; i < 20; i += 2)
        sum += (uint32_t)ip[i] << 8 | ip[i + 1];
    sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)((sum & 0xffff) + (sum >> 16));
}

/** An IPv4 TCP frame of a flow that its source port names; ECN-capable if asked for. */
static void send_tcp(struct ckp_path *path, int64_t now_ns, uint16_t source_port, uint32_t sequence,
                     size_t bytes, bool ecn_capable)
{
    struct ckp_frame *frame = ckp_path_take_frame(path);
    uint8_t *ip = frame->data + 14, *tcp = ip + 20;

    memset(frame->data, 0, bytes);
    frame->data[12] = 8;
    ip[0] = 0x45;
    ip[1] = ecn_capable ? 2 : 0;
    ip[2] = (uint8_t)((bytes - 14) >> 8);
    ip[3] = (uint8_t)(bytes - 14);
    ip[9] = 6;
    uint16_t checksum = (uint16_t)~header_sum(ip);
    ip[10] = (uint8_t)(checksum >> 8);
    ip[11] = (uint8_t)checksum;
    tcp[0] = (uint8_t)(source_port >> 8);
    tcp[1] = (uint8_t)source_port;
    for (int i = 0; i < 4; i++)
        tcp[4 + i] = (uint8_t)(sequence >> (24 - 8 * i));
    tcp[12] = 5 << 4;
    frame->bytes = bytes;
    ckp_path_send(path, CKP_DATA, now_ns, frame);
}

static void test_jitter_delays_each_frame_and_keeps_their_order(void **state)
{
    struct ckp_path *path = *state;
    bool varies = false;

    path->sections[CKP_DATA][CKP_RECEIVER].jitter_ns = 5 * NANOS_PER_MILLI;
    for (uint32_t number = 0; number < 200; number++)
        send_numbered(path, number * 2 * NANOS_PER_MILLI, number, FULL_BYTES);
    struct arrivals arrivals = run_to_the_end(path);

    assert_int_equal(arrivals.count, 200);
    for (uint32_t i = 0; i < 200; i++) {
        int64_t least_ns = (2 * i + 20) * NANOS_PER_MILLI + FULL_AT_ACCESS_NS + FULL_AT_LINK_NS;

        assert_int_equal(arrivals.number[i], i);
        assert_in_range(arrivals.at_ns[i], least_ns, least_ns + 5 * NANOS_PER_MILLI);
        varies |= arrivals.at_ns[i] > least_ns + NANOS_PER_MILLI;
    }
    assert_true(varies);
}

static void test_losses_come_in_bursts_as_long_as_asked(void **state)
{
    struct ckp_path *path = *state;
    struct ckp_section *section = &path->sections[CKP_DATA][CKP_MIDDLE];
    size_t num_bursts = 0;

    section->to_bad_probability = 0.02;
    section->to_good_probability = 0.25; /* mean burst 4 frames, lost 0.02 / (0.02 + 0.25) */
    for (uint32_t number = 0; number < 4000; number++)
        send_numbered(path, number * 2 * NANOS_PER_MILLI, number, FULL_BYTES);
    struct arrivals arrivals = run_to_the_end(path);

    for (size_t i = 1; i < arrivals.count; i++)
        num_bursts += arrivals.number[i] != arrivals.number[i - 1] + 1;
    size_t num_lost = 4000 - arrivals.count;
    assert_in_range(num_lost, 4000 * 5 / 100, 4000 * 10 / 100);
    assert_in_range(num_lost, 3 * num_bursts, 5 * num_bursts);
    assert_int_equal(path->truth.num_drops, num_lost);
}

static void test_the_one_frame_that_is_named_is_lost_and_listed(void **state)
{
    struct ckp_path *path = *state;

    path->sections[CKP_DATA][CKP_MIDDLE].lost_frame_number = 3;
    for (uint32_t number = 1; number <= 5; number++)
        send_tcp(path, number * NANOS_PER_MILLI, 7000, 1000 * number, 554, false);

    assert_int_equal(run_to_the_end(path).count, 4);
    assert_int_equal(path->truth.num_drops, 1);
    assert_int_equal(path->truth.drops[0].sequence_number, 3000);
    assert_int_equal(path->truth.drops[0].payload_bytes, 500);
    assert_int_equal(path->truth.drops[0].fate, CKP_RANDOM_LOSS);
}

static void test_a_shaper_passes_its_burst_at_line_rate_and_the_rest_at_its_own(void **state)
{
    struct ckp_path *path = *state;
    const struct ckp_capture *after = &path->captures[CKP_TAP_AFTER];

    path->links[CKP_DATA].bits_per_second = 1e8;
    path->links[CKP_DATA].shaper =
        (struct ckp_bucket){.bits_per_second = 1e7, .burst_bytes = 10 * FULL_BYTES};
    send_burst(path, 100);
    run_to_the_end(path);

    for (size_t i = 1; i < 10; i++)
        assert_int_equal(stamp_ns(after, i) - stamp_ns(after, i - 1), FULL_AT_LINK_NS / 10);
    for (size_t i = 20; i < 100; i++)
        assert_int_equal(stamp_ns(after, i) - stamp_ns(after, i - 1), FULL_AT_LINK_NS);
}

static void test_a_policer_drops_what_has_no_tokens_and_lets_nothing_wait(void **state)
{
    struct ckp_path *path = *state;

    path->links[CKP_DATA].bits_per_second = 1e9;
    path->links[CKP_DATA].policer =
        (struct ckp_bucket){.bits_per_second = 1e7, .burst_bytes = 10 * FULL_BYTES};
    send_burst(path, 25);
    for (uint32_t number = 25; number < 50; number++) /* later, at half the rate */
        send_numbered(path, (100 + number * 24 / 10) * NANOS_PER_MILLI, number, FULL_BYTES);
    struct arrivals arrivals = run_to_the_end(path);

    assert_int_equal(count_fate(path, CKP_POLICER_DROP), 15);
    assert_int_equal(arrivals.count, 10 + 25);
    assert_int_equal(arrivals.number[10], 25);
}

static void test_codel_leaves_a_short_queue_alone_and_drops_from_one_that_stands(void **state)
{
    struct ckp_path *path = *state;

    path->links[CKP_DATA].codel_target_ns = 5 * NANOS_PER_MILLI;
    path->links[CKP_DATA].codel_interval_ns = 100 * NANOS_PER_MILLI;
    for (uint32_t number = 0; number < 500; number++) /* at the rate of the link */
        send_numbered(path, number * FULL_AT_LINK_NS, number, FULL_BYTES);
    for (uint32_t number = 500; number < 1500; number++) /* a fifth above it */
        send_numbered(path, 500 * FULL_AT_LINK_NS + (number - 500) * NANOS_PER_MILLI, number,
                      FULL_BYTES);
    run_to_the_end(path);

    assert_true(path->truth.num_drops > 0);
    assert_true(path->truth.drops[0].at_ns > 500 * FULL_AT_LINK_NS + 100 * NANOS_PER_MILLI);
    for (size_t i = 2; i < path->truth.num_drops; i++) /* ever faster, RFC 8289 §5.2 */
        assert_true(path->truth.drops[i].at_ns - path->truth.drops[i - 1].at_ns <=
                    path->truth.drops[i - 1].at_ns - path->truth.drops[i - 2].at_ns +
                        2 * FULL_AT_LINK_NS);
    assert_int_equal(count_fate(path, CKP_CODEL_DROP), path->truth.num_drops);
    assert_int_equal(path->links[CKP_DATA].queue_bytes, 0);
}

static void test_codel_marks_frames_that_can_be_marked_and_mends_the_checksum(void **state)
{
    struct ckp_path *path = *state;
    size_t num_marked = 0;

    path->links[CKP_DATA].codel_target_ns = 5 * NANOS_PER_MILLI;
    path->links[CKP_DATA].codel_interval_ns = 100 * NANOS_PER_MILLI;
    for (uint32_t number = 0; number < 500; number++)
        send_tcp(path, 0, 7000, number, FULL_BYTES, true);
    while (ckp_path_next_due_ns(path) != INT64_MAX) {
        struct ckp_frame *frame = ckp_path_step(path);

        if (!frame)
            continue;
        bool has_ce = (frame->data[15] & 3) == 3;
        assert_int_equal(frame->marked, has_ce);
        assert_int_equal(header_sum(frame->data + 14), 0xffff);
        num_marked += has_ce;
        ckp_path_release(path, frame);
    }

    assert_true(num_marked > 5);
    assert_int_equal(path->truth.num_drops, 0);
}

static void test_fair_queueing_serves_flows_alike_and_drops_from_the_longest(void **state)
{
    struct ckp_path *path = *state;

    path->links[CKP_DATA].fair = true;
    path->links[CKP_DATA].queue_limit_bytes = 50 * FULL_BYTES;
    for (uint32_t number = 0; number < 10; number++)
        send_tcp(path, 0, 7001, number, FULL_BYTES, false);
    for (uint32_t number = 0; number < 100; number++)
        send_tcp(path, 0, 7000, number, FULL_BYTES, false);
    run_to_the_end(path);

    assert_int_equal(path->truth.num_flows, 2);
    assert_int_equal(path->truth.flows[0].num_frames[CKP_DELIVERED], 10);
    assert_int_equal(path->truth.flows[0].num_frames[CKP_QUEUE_DROP], 0);
    assert_int_equal(path->truth.flows[1].num_frames[CKP_DELIVERED] +
                         path->truth.flows[1].num_frames[CKP_QUEUE_DROP],
                     100);
    assert_true(path->truth.flows[1].num_frames[CKP_QUEUE_DROP] > 0);
    assert_int_equal(path->links[CKP_DATA].queue_bytes, 0);
}

static void test_a_hidden_flow_fills_the_link_and_is_in_no_capture(void **state)
{
    struct ckp_path *path = *state;
    uint32_t carried = 0;

    path->hidden_ports[path->num_hidden_ports++] = 7001;
    for (uint32_t number = 0; number < 20; number++) {
        send_tcp(path, 0, 7000, number, FULL_BYTES, false);
        send_tcp(path, 0, 7001, number, FULL_BYTES, false);
    }

    assert_int_equal(run_to_the_end(path).count, 40);
    for (int tap = 0; tap < CKP_NUM_TAPS; tap++)
        assert_int_equal(path->captures[tap].num_records, 20);
    for (size_t i = 0; i < path->truth.flows[1].num_bins; i++)
        carried += path->truth.flows[1].bins[i].num_frames;
    assert_int_equal(carried, 20);
}

static void test_a_short_frame_is_padded_as_on_the_wire(void **state)
{
    struct ckp_path *path = *state;

    send_numbered(path, 0, 7, 54);
    struct ckp_frame *frame = NULL;
    while (!frame)
        frame = ckp_path_step(path);

    assert_int_equal(frame->bytes, CKP_FRAME_MIN_BYTES);
    ckp_path_release(path, frame);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_a_lone_frame_takes_all_delays_and_both_serialisations),
        TEST(test_a_burst_leaves_at_exactly_the_rate_of_the_link),
        TEST(test_the_taps_at_the_hosts_see_frames_as_they_leave_and_arrive),
        TEST(test_a_capture_is_written_in_the_order_of_time),
        TEST(test_what_does_not_fit_the_queue_is_dropped_and_booked),
        TEST(test_a_frame_that_leaves_makes_room_for_one_that_enters_just_then),
        TEST(test_the_truth_knows_when_the_link_was_busy),
        TEST(test_a_held_frame_is_overtaken_by_as_many_as_asked),
        TEST(test_a_held_frame_that_nothing_overtakes_still_arrives),
        TEST(test_every_frame_has_one_fate_whatever_the_path_does),
        TEST(test_jitter_delays_each_frame_and_keeps_their_order),
        TEST(test_losses_come_in_bursts_as_long_as_asked),
        TEST(test_the_one_frame_that_is_named_is_lost_and_listed),
        TEST(test_a_shaper_passes_its_burst_at_line_rate_and_the_rest_at_its_own),
        TEST(test_a_policer_drops_what_has_no_tokens_and_lets_nothing_wait),
        TEST(test_codel_leaves_a_short_queue_alone_and_drops_from_one_that_stands),
        TEST(test_codel_marks_frames_that_can_be_marked_and_mends_the_checksum),
        TEST(test_fair_queueing_serves_flows_alike_and_drops_from_the_longest),
        TEST(test_a_hidden_flow_fills_the_link_and_is_in_no_capture),
        TEST(test_a_short_frame_is_padded_as_on_the_wire),
    };

    return cmocka_run_group_tests_name("path", tests, NULL, NULL);
}
