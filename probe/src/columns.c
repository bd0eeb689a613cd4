/* SPDX-License-Identifier: Apache-2.0 */
#include "columns.h"

#include "avro.h"

/* The column ids of schemas/README.md. */
enum column {
    COLUMN_TIME_NS = 1,
    COLUMN_DIRECTION,
    COLUMN_SEQUENCE_NUMBER,
    COLUMN_ACKNOWLEDGMENT_NUMBER,
    COLUMN_PAYLOAD_BYTES,
    COLUMN_HEADER_BYTES,
    COLUMN_TCP_FLAGS,
    COLUMN_WINDOW_FIELD,
    COLUMN_IP_ID,
    COLUMN_TIME_TO_LIVE,
    COLUMN_TRAFFIC_CLASS,
    COLUMN_OPTIONS_PRESENT,
    COLUMN_TIMESTAMP_VALUE,
    COLUMN_TIMESTAMP_ECHO,
    COLUMN_MAXIMUM_SEGMENT_SIZE,
    COLUMN_WINDOW_SCALE,
    COLUMN_SACK_BLOCKS,
    COLUMN_AFTER_LAST,
};

/* Of one packet in any one column, at most: the SACK blocks. */
#define COLUMN_BYTES_MAX (CKP_RUN_PACKETS_MAX * (1 + CKP_SACK_BLOCKS_MAX * 10u))

/* Modulo 2^32 and 2^16, read as the signed number nearest to zero. */
static int64_t difference_32(uint32_t value, uint32_t predicted)
{
    return (int32_t)(value - predicted);
}

static int64_t difference_16(uint16_t value, uint16_t predicted)
{
    return (int16_t)(uint16_t)(value - predicted);
}

/* Pairs of value and repeat count, for columns that hardly ever change. */
struct repeats {
    uint8_t *out;
    int64_t value;
    uint64_t count;
};

static void flush_repeats(struct repeats *repeats)
{
    if (repeats->count == 0)
        return;
    repeats->out = ckp_write_zigzag(repeats->out, repeats->value);
    repeats->out = ckp_write_varint(repeats->out, repeats->count);
    repeats->count = 0;
}

static inline void add_repeat(struct repeats *repeats, int64_t value)
{
    if (value != repeats->value)
        flush_repeats(repeats);
    repeats->value = value;
    repeats->count++;
}

/* Each writer below loops over all segments; `s` is the one at hand. */
#define FOR_EACH_SEGMENT(s, packets)                                                               \
    for (const struct ckp_segment *s = (packets)->segments;                                        \
         s < (packets)->segments + (packets)->count; s++)

static uint8_t *write_time_ns(uint8_t *out, const struct ckp_packets *packets)
{
    int64_t previous = 0;

    FOR_EACH_SEGMENT (s, packets) {
        out = ckp_write_zigzag(out, s->time_ns - previous);
        previous = s->time_ns;
    }
    return out;
}

static uint8_t *write_direction(uint8_t *out, const struct ckp_packets *packets)
{
    size_t bytes = (packets->count + 7) / 8;

    memset(out, 0, bytes);
    for (uint32_t i = 0; i < packets->count; i++)
        out[i / 8] |= (uint8_t)(packets->segments[i].direction << (i % 8));
    return out + bytes;
}

static uint8_t *write_sequence_number(uint8_t *out, const struct ckp_packets *packets)
{
    uint32_t predicted[2] = {0, 0};

    FOR_EACH_SEGMENT (s, packets) {
        out = ckp_write_zigzag(out, difference_32(s->sequence_number, predicted[s->direction]));
        predicted[s->direction] = s->sequence_number + s->payload_bytes +
                                  ((s->tcp_flags & CKP_TCP_SYN) != 0) +
                                  ((s->tcp_flags & CKP_TCP_FIN) != 0);
    }
    return out;
}

static uint8_t *write_payload_bytes(uint8_t *out, const struct ckp_packets *packets)
{
    FOR_EACH_SEGMENT (s, packets)
        out = ckp_write_varint(out, s->payload_bytes);
    return out;
}

/* A zigzag column of 32-bit differences per direction. */
#define DEFINE_DIFFERENCES_32(field, mask)                                                         \
    static uint8_t *write_##field(uint8_t *out, const struct ckp_packets *packets)                 \
    {                                                                                              \
        uint32_t previous[2] = {0, 0};                                                             \
                                                                                                   \
        FOR_EACH_SEGMENT (s, packets) {                                                            \
            if ((mask) != 0 && (s->options_present & (mask)) == 0)                                 \
                continue;                                                                          \
            out = ckp_write_zigzag(out, difference_32(s->field, previous[s->direction]));          \
            previous[s->direction] = s->field;                                                     \
        }                                                                                          \
        return out;                                                                                \
    }

DEFINE_DIFFERENCES_32(acknowledgment_number, 0)
DEFINE_DIFFERENCES_32(timestamp_value, CKP_OPTION_TIMESTAMPS)
DEFINE_DIFFERENCES_32(timestamp_echo, CKP_OPTION_TIMESTAMPS)

/* A column of repeated differences per direction; they need no modulus. */
#define DEFINE_REPEATS(field)                                                                      \
    static uint8_t *write_##field(uint8_t *out, const struct ckp_packets *packets)                 \
    {                                                                                              \
        struct repeats repeats = {.out = out};                                                     \
        int64_t previous[2] = {0, 0};                                                              \
                                                                                                   \
        FOR_EACH_SEGMENT (s, packets) {                                                            \
            add_repeat(&repeats, s->field - previous[s->direction]);                               \
            previous[s->direction] = s->field;                                                     \
        }                                                                                          \
        flush_repeats(&repeats);                                                                   \
        return repeats.out;                                                                        \
    }

DEFINE_REPEATS(header_bytes)
DEFINE_REPEATS(tcp_flags)
DEFINE_REPEATS(time_to_live)
DEFINE_REPEATS(traffic_class)
DEFINE_REPEATS(options_present)

static uint8_t *write_window_field(uint8_t *out, const struct ckp_packets *packets)
{
    int64_t previous[2] = {0, 0};

    FOR_EACH_SEGMENT (s, packets) {
        out = ckp_write_zigzag(out, s->window_field - previous[s->direction]);
        previous[s->direction] = s->window_field;
    }
    return out;
}

static uint8_t *write_ip_id(uint8_t *out, const struct ckp_packets *packets)
{
    struct repeats repeats = {.out = out};
    uint16_t predicted[2] = {0, 0};

    if (packets->is_ipv6)
        return out;
    FOR_EACH_SEGMENT (s, packets) {
        add_repeat(&repeats, difference_16(s->ip_id, predicted[s->direction]));
        predicted[s->direction] = (uint16_t)(s->ip_id + 1);
    }
    flush_repeats(&repeats);
    return repeats.out;
}

static uint8_t *write_maximum_segment_size(uint8_t *out, const struct ckp_packets *packets)
{
    FOR_EACH_SEGMENT (s, packets)
        if (s->options_present & CKP_OPTION_MSS)
            out = ckp_write_varint(out, s->maximum_segment_size);
    return out;
}

static uint8_t *write_window_scale(uint8_t *out, const struct ckp_packets *packets)
{
    FOR_EACH_SEGMENT (s, packets)
        if (s->options_present & CKP_OPTION_WINDOW_SCALE)
            out = ckp_write_varint(out, s->window_scale);
    return out;
}

static uint8_t *write_sack_blocks(uint8_t *out, const struct ckp_packets *packets)
{
    const struct ckp_sack_block *block = packets->sack_blocks;

    FOR_EACH_SEGMENT (s, packets) {
        if ((s->options_present & CKP_OPTION_SACK_BLOCKS) == 0)
            continue;
        out = ckp_write_varint(out, s->sack_blocks);
        for (unsigned i = 0; i < s->sack_blocks; i++, block++) {
            out = ckp_write_zigzag(out, difference_32(block->left_edge, s->acknowledgment_number));
            out = ckp_write_zigzag(out, difference_32(block->right_edge, block->left_edge));
        }
    }
    return out;
}

static uint8_t *(*const column_writer[COLUMN_AFTER_LAST])(uint8_t *, const struct ckp_packets *) = {
    [COLUMN_TIME_NS] = write_time_ns,
    [COLUMN_DIRECTION] = write_direction,
    [COLUMN_SEQUENCE_NUMBER] = write_sequence_number,
    [COLUMN_ACKNOWLEDGMENT_NUMBER] = write_acknowledgment_number,
    [COLUMN_PAYLOAD_BYTES] = write_payload_bytes,
    [COLUMN_HEADER_BYTES] = write_header_bytes,
    [COLUMN_TCP_FLAGS] = write_tcp_flags,
    [COLUMN_WINDOW_FIELD] = write_window_field,
    [COLUMN_IP_ID] = write_ip_id,
    [COLUMN_TIME_TO_LIVE] = write_time_to_live,
    [COLUMN_TRAFFIC_CLASS] = write_traffic_class,
    [COLUMN_OPTIONS_PRESENT] = write_options_present,
    [COLUMN_TIMESTAMP_VALUE] = write_timestamp_value,
    [COLUMN_TIMESTAMP_ECHO] = write_timestamp_echo,
    [COLUMN_MAXIMUM_SEGMENT_SIZE] = write_maximum_segment_size,
    [COLUMN_WINDOW_SCALE] = write_window_scale,
    [COLUMN_SACK_BLOCKS] = write_sack_blocks,
};

uint8_t *ckp_columns_write(uint8_t *out, const struct ckp_packets *packets)
{
    uint8_t column[COLUMN_BYTES_MAX];
    uint8_t *array_count = out++; /* at most 17 columns: one byte */
    int64_t columns = 0;

    if (packets->count == 0) {
        *array_count = 0;
        return out;
    }
    for (int id = COLUMN_TIME_NS; id < COLUMN_AFTER_LAST; id++) {
        size_t bytes = (size_t)(column_writer[id](column, packets) - column);
        if (bytes == 0)
            continue;
        out = ckp_write_zigzag(out, id);
        out = ckp_write_bytes(out, column, bytes);
        columns++;
    }
    ckp_write_zigzag(array_count, columns);
    return ckp_write_zigzag(out, 0);
}
