/* SPDX-License-Identifier: Apache-2.0 */
#include "layers.h"

#include "octets.h"

#define TCP_HEADER_BYTES_MIN 20u

/* Kinds and lengths: RFC 9293 §3.2, RFC 7323 §2.2 and §3.2, RFC 2018 §2 and §3. */
enum {
    KIND_END = 0,
    KIND_NOP = 1,
    KIND_MSS = 2,
    KIND_WINDOW_SCALE = 3,
    KIND_SACK_PERMITTED = 4,
    KIND_SACK = 5,
    KIND_TIMESTAMPS = 8,
};

static bool read_sack(struct ckp_packet *packet, const uint8_t *option, size_t bytes)
{
    size_t blocks = (bytes - 2) / 8;

    if ((bytes - 2) % 8 != 0 || blocks == 0 || blocks > CKP_SACK_BLOCKS_MAX)
        return false;
    for (size_t i = 0; i < blocks; i++) {
        packet->sack[i].left_edge = ckp_load_be32(option + 2 + 8 * i);
        packet->sack[i].right_edge = ckp_load_be32(option + 6 + 8 * i);
    }
    packet->segment.sack_blocks = (uint8_t)blocks;
    packet->segment.options_present |= CKP_OPTION_SACK_BLOCKS;
    return true;
}

/* Reads one option of `bytes`, all of them captured. @return false if its length is impossible */
static bool read_option(struct ckp_packet *packet, const uint8_t *option, size_t bytes)
{
    struct ckp_segment *segment = &packet->segment;

    switch (option[0]) {
    case KIND_MSS:
        if (bytes != 4)
            return false;
        segment->maximum_segment_size = ckp_load_be16(option + 2);
        segment->options_present |= CKP_OPTION_MSS;
        return true;
    case KIND_WINDOW_SCALE:
        if (bytes != 3)
            return false;
        segment->window_scale = option[2];
        segment->options_present |= CKP_OPTION_WINDOW_SCALE;
        return true;
    case KIND_SACK_PERMITTED:
        if (bytes != 2)
            return false;
        segment->options_present |= CKP_OPTION_SACK_PERMITTED;
        return true;
    case KIND_SACK:
        return read_sack(packet, option, bytes);
    case KIND_TIMESTAMPS:
        if (bytes != 10)
            return false;
        segment->timestamp_value = ckp_load_be32(option + 2);
        segment->timestamp_echo = ckp_load_be32(option + 6);
        segment->options_present |= CKP_OPTION_TIMESTAMPS;
        return true;
    default:
        return true; /* of no interest */
    }
}

/* `length` bytes of options were sent, `captured` can be read. */
static enum ckp_options_status read_options(struct ckp_packet *packet, const uint8_t *options,
                                            size_t captured, size_t length)
{
    size_t at = 0;

    while (at < length) {
        if (at >= captured)
            return CKP_OPTIONS_CUT;
        if (options[at] == KIND_END)
            break;
        if (options[at] == KIND_NOP) {
            at++;
            continue;
        }
        if (at + 2 > length)
            return CKP_OPTIONS_MALFORMED;
        if (at + 2 > captured)
            return CKP_OPTIONS_CUT;

        size_t bytes = options[at + 1];
        if (bytes < 2 || at + bytes > length) /* 0 and 1 would never advance */
            return CKP_OPTIONS_MALFORMED;
        if (at + bytes > captured)
            return CKP_OPTIONS_CUT;
        if (!read_option(packet, options + at, bytes))
            return CKP_OPTIONS_MALFORMED;
        at += bytes;
    }
    return CKP_OPTIONS_OK;
}

enum ckp_decode_status ckp_tcp_read(struct ckp_packet *packet, uint16_t *source_port,
                                    uint16_t *destination_port, const struct ckp_span *tcp)
{
    const uint8_t *header = tcp->bytes;
    struct ckp_segment *segment = &packet->segment;

    if (tcp->length < TCP_HEADER_BYTES_MIN)
        return CKP_DECODE_MALFORMED_TCP;
    if (tcp->captured < TCP_HEADER_BYTES_MIN)
        return CKP_DECODE_TRUNCATED;

    size_t header_bytes = (size_t)(header[12] >> 4) * 4;
    if (header_bytes < TCP_HEADER_BYTES_MIN || header_bytes > tcp->length)
        return CKP_DECODE_MALFORMED_TCP;

    *source_port = ckp_load_be16(header);
    *destination_port = ckp_load_be16(header + 2);
    segment->sequence_number = ckp_load_be32(header + 4);
    segment->acknowledgment_number = ckp_load_be32(header + 8);
    segment->tcp_flags = header[13];
    segment->window_field = ckp_load_be16(header + 14);
    segment->payload_bytes = (uint32_t)(tcp->length - header_bytes);
    packet->options_status =
        read_options(packet, header + TCP_HEADER_BYTES_MIN, tcp->captured - TCP_HEADER_BYTES_MIN,
                     header_bytes - TCP_HEADER_BYTES_MIN);
    if (packet->options_status != CKP_OPTIONS_OK)
        segment->options_present |= CKP_OPTION_MALFORMED;
    return CKP_DECODE_OK;
}
