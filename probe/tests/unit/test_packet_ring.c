/* SPDX-License-Identifier: Apache-2.0 */
#include "packet_ring.h"
#include "pcapng.h"

#include "frame_text.h"

#include <pthread.h>
#include <string.h>

#define SNAP       64u
#define SLOT_BYTES (3 * 8 + SNAP)

/* Ethernet, IPv4 and TCP without options end after 54 bytes. */
#define PLAIN        ETHERNET_IPV4 IPV4("LLLL") TCP_PLAIN
#define HEADER_BYTES 54u

static struct ckp_packet_ring *ring_of(uint64_t slots, bool keeps_payload)
{
    struct ckp_ring_config config = {
        .memory_bytes = slots * SLOT_BYTES + SLOT_BYTES - 1,
        .snap_bytes = SNAP,
        .keeps_payload = keeps_payload,
        .hash_seed = 7,
    };

    return ckp_packet_ring_new(&config);
}

/* @return the key of the packet */
static struct ckp_flow_key put(struct ckp_packet_ring *ring, const char *hex, int64_t time_ns)
{
    struct ckp_packet packet;
    size_t count;
    uint8_t *bytes = parse_hex(hex, &count);
    struct ckp_frame frame = {bytes, count, count, time_ns, false};

    assert_int_equal(ckp_decode(&packet, CKP_LINK_ETHERNET, &frame, CKP_TUNNELS_INNER),
                     CKP_DECODE_OK);
    ckp_packet_ring_put(ring, CKP_LINK_ETHERNET, &frame, &packet);
    free(bytes);
    return packet.key;
}

/* The times of a flow's frames since then, newest first, as digits. */
static const char *times(const struct ckp_packet_ring *ring, const struct ckp_flow_key *key,
                         int64_t since_ns)
{
    static char text[64];
    size_t at = 0;
    struct ckp_ring_walk walk;
    struct ckp_ring_frame frame;

    ckp_ring_walk_start(&walk, ring, key, since_ns);
    while (ckp_ring_walk_next(&walk, &frame))
        text[at++] = (char)('0' + frame.time_ns);
    assert_false(ckp_ring_walk_next(&walk, &frame));
    text[at] = '\0';
    return text;
}

static void test_it_keeps_the_newest(void **state)
{
    struct ckp_packet_ring *ring = ring_of(3, false);
    struct ckp_flow_key key = {0};

    (void)state;
    assert_int_equal(ckp_packet_ring_capacity(ring), 3);
    assert_int_equal(ckp_packet_ring_newest_ns(ring), INT64_MIN);
    assert_string_equal(times(ring, &key, 0), "");
    key = put(ring, PLAIN, 1);
    assert_string_equal(times(ring, &key, 0), "1");
    put(ring, PLAIN, 2);
    put(ring, PLAIN, 3);
    assert_string_equal(times(ring, &key, 0), "321");
    put(ring, PLAIN, 4);
    assert_string_equal(times(ring, &key, 0), "432");
    for (int64_t time_ns = 5; time_ns <= 9; time_ns++)
        put(ring, PLAIN, time_ns);
    assert_string_equal(times(ring, &key, 0), "987");
    assert_string_equal(times(ring, &key, 8), "98");
    assert_int_equal(ckp_packet_ring_newest_ns(ring), 9);
    ckp_packet_ring_free(ring);
}

static void test_a_walk_is_through_one_flow_in_both_directions(void **state)
{
    struct ckp_packet_ring *ring = ring_of(8, false);
    struct ckp_flow_key key = put(ring, PLAIN, 1);

    (void)state;
    put(ring,
        ETHERNET_IPV4 "45000028 1234 4000 4006 0000 0a000002 0a000001 01bb 9c40 00000000 "
                      "00000000 50 10 01f6 0000 0000",
        2);
    put(ring,
        ETHERNET_IPV4 "45000028 1234 4000 4006 0000 0a000001 0a000003 9c40 01bb 00000000 "
                      "00000000 50 10 01f6 0000 0000",
        3);
    put(ring, ETHERNET_IPV6 IPV6("0014", "06") TCP_PLAIN, 4);
    assert_string_equal(times(ring, &key, 0), "21");
    ckp_packet_ring_free(ring);
}

static void test_frames_out_of_order_by_less_than_a_second_are_found(void **state)
{
    struct ckp_packet_ring *ring = ring_of(8, false);
    struct ckp_flow_key key = put(ring, PLAIN, 4);

    (void)state;
    put(ring, PLAIN, 1);
    put(ring, PLAIN, 5);
    assert_string_equal(times(ring, &key, 3), "54");
    put(ring, PLAIN, 3 - 2 * CKP_NANOS_PER_SECOND);
    put(ring, PLAIN, 6);
    assert_string_equal(times(ring, &key, 3), "6");
    ckp_packet_ring_free(ring);
}

struct cut_row {
    const char *hex;
    bool keeps_payload;
    uint32_t captured_bytes;
};

static void test_frames_end_with_their_headers_or_the_snap_length(void **state)
{
    static const char payload[] = PLAIN "aaaaaaaa bbbbbbbb cccccccc dddddddd eeeeeeee";
    const struct cut_row rows[] = {
        {PLAIN, false, HEADER_BYTES},
        {PLAIN, true, HEADER_BYTES},
        {PLAIN "aa", false, HEADER_BYTES},
        {PLAIN "aa", true, HEADER_BYTES + 1},
        {payload, false, HEADER_BYTES},
        {payload, true, SNAP},
        /* padding of Ethernet is not kept, options are */
        {ETHERNET_IPV4 "45000028 1234 4000 4006 0000 0a000001 0a000002" TCP_PLAIN "00000000 0000",
         false, HEADER_BYTES},
        {ETHERNET_IPV4 IPV4("LLLL") TCP("7") "02040578 01010402 aa", false, HEADER_BYTES + 8},
        /* headers longer than the snap length */
        {ETHERNET_IPV4 IPV4("LLLL") TCP("8") "02040578 01010402 01010101 aa", false, SNAP},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ckp_packet_ring *ring = ring_of(2, rows[i].keeps_payload);
        struct ckp_flow_key key = put(ring, payload, 1); /* what is to be overwritten */
        struct ckp_ring_walk walk;
        struct ckp_ring_frame frame;
        size_t count;
        uint8_t *bytes = parse_hex(rows[i].hex, &count);

        put(ring, payload, 2);
        put(ring, rows[i].hex, 3);
        ckp_ring_walk_start(&walk, ring, &key, 0);
        assert_true(ckp_ring_walk_next(&walk, &frame));
        assert_int_equal(frame.captured_bytes, rows[i].captured_bytes);
        assert_int_equal(frame.original_bytes, count);
        assert_int_equal(frame.link, CKP_LINK_ETHERNET);
        assert_memory_equal(frame.bytes, bytes, frame.captured_bytes);
        free(bytes);
        ckp_packet_ring_free(ring);
    }
}

static void test_a_frame_that_was_cut_by_whoever_captured_it_stays_as_it_is(void **state)
{
    struct ckp_packet_ring *ring = ring_of(2, false);
    struct ckp_packet packet;
    struct ckp_ring_walk walk;
    struct ckp_ring_frame kept;
    size_t count;
    uint8_t *bytes = parse_hex(ETHERNET_IPV4 IPV4("05dc") TCP("8"), &count);
    struct ckp_frame frame = {bytes, count, 1514, 1, false};

    (void)state;
    assert_int_equal(ckp_decode(&packet, CKP_LINK_ETHERNET, &frame, CKP_TUNNELS_INNER),
                     CKP_DECODE_OK);
    ckp_packet_ring_put(ring, CKP_LINK_ETHERNET, &frame, &packet);
    ckp_ring_walk_start(&walk, ring, &packet.key, 0);
    assert_true(ckp_ring_walk_next(&walk, &kept));
    assert_int_equal(kept.captured_bytes, HEADER_BYTES);
    assert_int_equal(kept.original_bytes, 1514);
    free(bytes);
    ckp_packet_ring_free(ring);
}

static void test_a_walk_notices_what_is_overwritten_meanwhile(void **state)
{
    struct ckp_packet_ring *ring = ring_of(3, false);
    struct ckp_flow_key key = {0};
    struct ckp_ring_walk walk;
    struct ckp_ring_frame frame;

    (void)state;
    for (int64_t time_ns = 1; time_ns <= 3; time_ns++)
        key = put(ring, PLAIN, time_ns);
    ckp_ring_walk_start(&walk, ring, &key, 0);
    assert_true(ckp_ring_walk_next(&walk, &frame));
    assert_int_equal(frame.time_ns, 3);
    put(ring, PLAIN, 4); /* over 1 */
    assert_true(ckp_ring_walk_next(&walk, &frame));
    assert_int_equal(frame.time_ns, 2);
    assert_false(ckp_ring_walk_next(&walk, &frame));
    assert_int_equal(walk.oldest_ns, 2);
    ckp_packet_ring_free(ring);
}

static void test_memory_for_less_than_a_frame_is_refused(void **state)
{
    struct ckp_ring_config config = {.memory_bytes = SLOT_BYTES - 1, .snap_bytes = SNAP};

    (void)state;
    assert_null(ckp_packet_ring_new(&config));
}

/* --- a writer and a reader at once --- */

#define FRAMES 300000

static struct ckp_packet_ring *shared;
static struct ckp_packet pattern_packet = {.payload_at = SNAP};

/* Every byte of frame n is n modulo 251, and so is its length, from 1 to SNAP. */
static void *put_many(void *unused)
{
    for (int64_t n = 1; n <= FRAMES; n++) {
        uint8_t bytes[SNAP];
        struct ckp_frame frame = {bytes, (size_t)n % SNAP + 1, (size_t)n, n, false};
        memset(bytes, (int)(n % 251), sizeof bytes);
        ckp_packet_ring_put(shared, (enum ckp_link)(n % (CKP_LINK_NULL + 1)), &frame,
                            &pattern_packet);
    }
    return unused;
}

static void check_pattern(const struct ckp_ring_frame *frame)
{
    int64_t n = frame->time_ns;

    assert_int_equal(frame->captured_bytes, n % SNAP + 1);
    assert_int_equal(frame->original_bytes, n);
    assert_int_equal(frame->link, n % (CKP_LINK_NULL + 1));
    for (size_t i = 0; i < frame->captured_bytes; i++)
        assert_int_equal(frame->bytes[i], n % 251);
}

static void test_a_reader_gets_whole_frames_while_the_writer_runs(void **state)
{
    pthread_t writer;
    int64_t newest = 0;

    (void)state;
    shared = ring_of(16, false);
    assert_int_equal(pthread_create(&writer, NULL, put_many, NULL), 0);
    while (newest < FRAMES) {
        struct ckp_ring_walk walk;
        struct ckp_ring_frame frame;
        int64_t before = INT64_MAX;

        ckp_ring_walk_start(&walk, shared, &pattern_packet.key, 0);
        while (ckp_ring_walk_next(&walk, &frame)) {
            check_pattern(&frame);
            if (before == INT64_MAX)
                assert_true(frame.time_ns >= newest);
            else
                assert_int_equal(frame.time_ns, before - 1);
            newest = frame.time_ns > newest ? frame.time_ns : newest;
            before = frame.time_ns;
        }
    }
    pthread_join(writer, NULL);
    ckp_packet_ring_free(shared);
}

static void test_blocks_of_pcapng(void **state)
{
    struct ckp_ring_frame frame = {
        .time_ns = 0x0102030405060708, .captured_bytes = 5, .original_bytes = 9};
    uint32_t words[CKP_PCAPNG_HEAD_BYTES_MAX / 4];
    uint8_t *out = (uint8_t *)words;

    (void)state;
    memcpy(frame.bytes, "abcde", 5);
    assert_int_equal(ckp_pcapng_write_frame(out, 3, &frame) - out, 40);
    assert_int_equal(ckp_pcapng_frame_bytes(&frame), 40);
    const uint32_t expected[] = {6, 40, 3, 0x01020304, 0x05060708, 5, 9};
    assert_memory_equal(words, expected, sizeof expected);
    assert_memory_equal(words + 7, "abcde\0\0", 8);
    assert_int_equal(words[9], 40);
    assert_int_equal(ckp_pcapng_block_bytes(out), 40);
    assert_int_equal(ckp_pcapng_block_time_ns(out), frame.time_ns);

    char name[400];
    memset(name, 'n', sizeof name);
    name[sizeof name - 1] = '\0';
    assert_in_range(ckp_pcapng_write_section(out, name) - out, 1, CKP_PCAPNG_HEAD_BYTES_MAX);
    assert_in_range(ckp_pcapng_write_interface(out, CKP_LINK_NULL, 1, name) - out, 1,
                    CKP_PCAPNG_HEAD_BYTES_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_keeps_the_newest),
        cmocka_unit_test(test_a_walk_is_through_one_flow_in_both_directions),
        cmocka_unit_test(test_frames_out_of_order_by_less_than_a_second_are_found),
        cmocka_unit_test(test_frames_end_with_their_headers_or_the_snap_length),
        cmocka_unit_test(test_a_frame_that_was_cut_by_whoever_captured_it_stays_as_it_is),
        cmocka_unit_test(test_a_walk_notices_what_is_overwritten_meanwhile),
        cmocka_unit_test(test_memory_for_less_than_a_frame_is_refused),
        cmocka_unit_test(test_a_reader_gets_whole_frames_while_the_writer_runs),
        cmocka_unit_test(test_blocks_of_pcapng),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
