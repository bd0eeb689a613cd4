/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as the options of one segment, against a second reader of them.
 *
 * Input: words of options (1 byte, modulo 11), bytes not captured (1 byte), options.
 */
#include "decode.h"
#include "target.h"

#define HEADERS_BYTES 40u
#define OPTIONS_MAX   40u

struct expected {
    struct ckp_segment segment;
    struct ckp_sack_block sack[CKP_SACK_BLOCKS_MAX];
    enum ckp_options_status status;
};

static uint32_t number_at(const uint8_t *bytes, size_t count)
{
    struct input input = {bytes, bytes + count};

    return (uint32_t)take_number(&input, (int)count);
}

static void expect_sack(struct expected *expected, const uint8_t *value, size_t bytes)
{
    expected->segment.options_present |= CKP_OPTION_SACK_BLOCKS;
    expected->segment.sack_blocks = (uint8_t)(bytes / 8);
    for (size_t i = 0; i < bytes / 8; i++)
        expected->sack[i] =
            (struct ckp_sack_block){number_at(value + 8 * i, 4), number_at(value + 8 * i + 4, 4)};
}

/* An option whose value has a length that its kind may have. */
static void expect_value(struct expected *expected, uint8_t kind, const uint8_t *value,
                         size_t bytes)
{
    struct ckp_segment *segment = &expected->segment;

    if (kind == 2) {
        segment->options_present |= CKP_OPTION_MSS;
        segment->maximum_segment_size = (uint16_t)number_at(value, 2);
    } else if (kind == 3) {
        segment->options_present |= CKP_OPTION_WINDOW_SCALE;
        segment->window_scale = value[0];
    } else if (kind == 4) {
        segment->options_present |= CKP_OPTION_SACK_PERMITTED;
    } else if (kind == 5) {
        expect_sack(expected, value, bytes);
    } else if (kind == 8) {
        segment->options_present |= CKP_OPTION_TIMESTAMPS;
        segment->timestamp_value = number_at(value, 4);
        segment->timestamp_echo = number_at(value + 4, 4);
    }
}

static bool may_have(uint8_t kind, size_t value_bytes)
{
    static const size_t fixed[] = {[2] = 2, [3] = 1, [8] = 8};

    if (kind == 5)
        return value_bytes >= 8 && value_bytes <= 32 && value_bytes % 8 == 0;
    if (kind == 2 || kind == 3 || kind == 4 || kind == 8)
        return value_bytes == fixed[kind];
    return true;
}

/* RFC 9293 §3.2: one option after the other; `captured` of `length` bytes can be read. */
static void expect(struct expected *expected, const uint8_t *options, size_t captured,
                   size_t length)
{
    const enum ckp_options_status beyond = CKP_OPTIONS_CUT;

    *expected = (struct expected){0};
    for (size_t at = 0; at < length && expected->status == CKP_OPTIONS_OK;) {
        if (at < captured && options[at] == 0)
            return;
        if (at < captured && options[at] == 1) {
            at++;
        } else if (at >= captured) {
            expected->status = beyond;
        } else if (at + 1 == length) {
            expected->status = CKP_OPTIONS_MALFORMED;
        } else if (at + 1 == captured) {
            expected->status = beyond;
        } else if (options[at + 1] < 2 || at + options[at + 1] > length) {
            expected->status = CKP_OPTIONS_MALFORMED;
        } else if (at + options[at + 1] > captured) {
            expected->status = beyond;
        } else if (!may_have(options[at], options[at + 1] - 2u)) {
            expected->status = CKP_OPTIONS_MALFORMED;
        } else {
            expect_value(expected, options[at], options + at + 2, options[at + 1] - 2u);
            at += options[at + 1];
        }
    }
    if (expected->status != CKP_OPTIONS_OK)
        expected->segment.options_present |= CKP_OPTION_MALFORMED;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t packet_bytes[HEADERS_BYTES + OPTIONS_MAX] = {
        [0] = 0x45, [8] = 64, [9] = 6, [12] = 10, [16] = 11, [20 + 13] = 0x10};
    struct ckp_packet packet;
    struct expected expected;

    if (size < 2)
        return 0;
    size_t length = 4u * (data[0] % 11u), given = size - 2 < length ? size - 2 : length;
    size_t cut = data[1] % (length + 1), total = HEADERS_BYTES + length;
    memcpy(packet_bytes + HEADERS_BYTES, data + 2, given);
    packet_bytes[3] = (uint8_t)total;
    packet_bytes[20 + 12] = (uint8_t)((5 + length / 4) << 4);

    uint8_t *bytes = copy_exactly(packet_bytes, total - cut);
    struct ckp_frame frame = {
        .bytes = bytes, .captured_bytes = total - cut, .original_bytes = total, .time_ns = 1};
    REQUIRE(ckp_decode(&packet, CKP_LINK_RAW_IP, &frame, CKP_TUNNELS_INNER) == CKP_DECODE_OK);
    free(bytes);

    const struct ckp_segment *segment = &packet.segment;
    expect(&expected, packet_bytes + HEADERS_BYTES, length - cut, length);
    REQUIRE(packet.options_status == expected.status);
    REQUIRE(segment->options_present == expected.segment.options_present);
    REQUIRE(segment->maximum_segment_size == expected.segment.maximum_segment_size);
    REQUIRE(segment->window_scale == expected.segment.window_scale);
    REQUIRE(segment->timestamp_value == expected.segment.timestamp_value);
    REQUIRE(segment->timestamp_echo == expected.segment.timestamp_echo);
    REQUIRE(segment->sack_blocks == expected.segment.sack_blocks);
    REQUIRE(memcmp(packet.sack, expected.sack, segment->sack_blocks * sizeof packet.sack[0]) == 0);
    REQUIRE(segment->payload_bytes == 0 && segment->header_bytes == total);
    return 0;
}
