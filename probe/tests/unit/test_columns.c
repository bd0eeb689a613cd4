/* SPDX-License-Identifier: Apache-2.0 */
/* Columns come back as they went in, whatever the packets. */
#include "batch_reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#define ROUNDS 3000

static uint64_t random_state;

static uint64_t next_random(void)
{
    random_state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t x = random_state;
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* A third of the draws lies at an end of the range, another third near the one before. */
static uint32_t draw(uint32_t previous, uint32_t mask)
{
    uint64_t random = next_random();

    switch (random % 6) {
    case 0:
        return (uint32_t)(random >> 40) % 3;
    case 1:
        return (mask - (uint32_t)(random >> 40) % 3) & mask;
    case 2:
        return ((mask >> 1) + (uint32_t)(random >> 40) % 3) & mask;
    case 3:
        return previous;
    default:
        return (random & 8 ? previous + (uint32_t)(random >> 50) : (uint32_t)(random >> 8)) & mask;
    }
}

static void draw_segment(struct ckp_segment *s, const struct ckp_segment *previous)
{
    memset(s, 0, sizeof *s);
    s->time_ns = next_random() % 4 ? previous->time_ns + (int64_t)(next_random() % 3000000) - 1000
                                   : (int64_t)(next_random() >> 1);
    if (s->time_ns < 0)
        s->time_ns = 0;
    s->sequence_number = draw(previous->sequence_number, UINT32_MAX);
    s->acknowledgment_number = draw(previous->acknowledgment_number, UINT32_MAX);
    s->payload_bytes = draw(previous->payload_bytes, UINT32_MAX);
    s->window_field = (uint16_t)draw(previous->window_field, UINT16_MAX);
    s->header_bytes = (uint16_t)draw(previous->header_bytes, UINT16_MAX);
    s->ip_id = (uint16_t)draw(previous->ip_id + 1u, UINT16_MAX);
    s->tcp_flags = (uint8_t)draw(previous->tcp_flags, UINT8_MAX);
    s->time_to_live = (uint8_t)draw(previous->time_to_live, UINT8_MAX);
    s->traffic_class = (uint8_t)draw(previous->traffic_class, UINT8_MAX);
    s->options_present = (uint8_t)draw(previous->options_present, 0x3f);
    s->direction = next_random() & 1;
    if (s->options_present & CKP_OPTION_TIMESTAMPS) {
        s->timestamp_value = draw(previous->timestamp_value, UINT32_MAX);
        s->timestamp_echo = draw(previous->timestamp_echo, UINT32_MAX);
    }
    if (s->options_present & CKP_OPTION_MSS)
        s->maximum_segment_size = (uint16_t)draw(1460, UINT16_MAX);
    if (s->options_present & CKP_OPTION_WINDOW_SCALE)
        s->window_scale = (uint8_t)draw(7, UINT8_MAX);
    if (s->options_present & CKP_OPTION_SACK_BLOCKS)
        s->sack_blocks = (uint8_t)(1 + next_random() % CKP_SACK_BLOCKS_MAX);
}

static struct ckp_segment segments[CKP_RUN_PACKETS_MAX];
static struct ckp_sack_block sack_blocks[CKP_RUN_PACKETS_MAX * CKP_SACK_BLOCKS_MAX];

static struct ckp_packets draw_packets(void)
{
    struct ckp_packets packets = {
        .segments = segments,
        .sack_blocks = sack_blocks,
        .count = next_random() % 4 ? (uint32_t)(next_random() % 20) : CKP_RUN_PACKETS_MAX,
        .is_ipv6 = next_random() & 1,
    };
    struct ckp_segment previous = {.time_ns = 1700000000000000000};
    uint32_t sack_count = 0;

    for (uint32_t i = 0; i < packets.count; i++) {
        draw_segment(&segments[i], &previous);
        if (packets.is_ipv6)
            segments[i].ip_id = 0;
        previous = segments[i];
        for (unsigned j = 0; j < segments[i].sack_blocks; j++) {
            uint32_t left = draw(segments[i].acknowledgment_number, UINT32_MAX);
            sack_blocks[sack_count++] =
                (struct ckp_sack_block){left, draw(left + 1448, UINT32_MAX)};
        }
    }
    return packets;
}

static void assert_round_trip(const struct ckp_packets *packets)
{
    static uint8_t bytes[CKP_COLUMNS_ENCODED_MAX];
    static struct read_packets read;
    const uint8_t *end = ckp_columns_write(bytes, packets);
    struct batch_reader reader = {bytes, end};

    assert_true(end <= bytes + sizeof bytes);
    read_columns(&reader, &read, packets->count, packets->is_ipv6);
    assert_ptr_equal(reader.at, end);
    for (uint32_t i = 0; i < packets->count; i++)
        assert_memory_equal(&read.segments[i], &packets->segments[i], sizeof packets->segments[i]);
    assert_memory_equal(read.sack_blocks, packets->sack_blocks,
                        read.sack_count * sizeof sack_blocks[0]);
}

static void test_columns_come_back_as_they_went_in(void **state)
{
    (void)state;
    random_state = 20240229;
    for (int round = 0; round < ROUNDS; round++) {
        struct ckp_packets packets = draw_packets();
        assert_round_trip(&packets);
    }
}

static void test_the_worst_packets_fit_the_promised_room(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < CKP_RUN_PACKETS_MAX; i++) {
        uint32_t odd = i & 2 ? UINT32_MAX : 0;
        segments[i] = (struct ckp_segment){
            .time_ns = odd ? INT64_MAX : 0,
            .sequence_number = odd / 2,
            .acknowledgment_number = odd / 2,
            .payload_bytes = UINT32_MAX,
            .timestamp_value = odd / 2,
            .timestamp_echo = odd / 2,
            .window_field = (uint16_t)odd,
            .header_bytes = (uint16_t)odd,
            .ip_id = (uint16_t)(odd / 2),
            .maximum_segment_size = UINT16_MAX,
            .tcp_flags = (uint8_t)odd,
            .time_to_live = (uint8_t)odd,
            .traffic_class = (uint8_t)odd,
            .options_present = odd ? 0x3f : 0x1f,
            .window_scale = UINT8_MAX,
            .direction = i & 1,
            .sack_blocks = CKP_SACK_BLOCKS_MAX,
        };
        for (uint32_t j = 0; j < CKP_SACK_BLOCKS_MAX; j++)
            sack_blocks[i * CKP_SACK_BLOCKS_MAX + j] =
                (struct ckp_sack_block){0x80000000u, odd / 2};
    }
    struct ckp_packets packets = {segments, sack_blocks, CKP_RUN_PACKETS_MAX, false};
    assert_round_trip(&packets);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns_come_back_as_they_went_in),
        cmocka_unit_test(test_the_worst_packets_fit_the_promised_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
