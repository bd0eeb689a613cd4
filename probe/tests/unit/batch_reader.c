/* SPDX-License-Identifier: Apache-2.0 */
#include "batch_reader.h"

#include <stdlib.h>
#include <string.h>

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "batch reader, line %d: not so: %s\n", __LINE__, #condition);          \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

#define COLUMNS 18

static uint64_t varint(struct batch_reader *reader)
{
    uint64_t value = 0;

    for (unsigned shift = 0;; shift += 7) {
        REQUIRE(reader->at < reader->end && shift < 64);
        uint8_t byte = *reader->at++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
}

static int64_t zigzag(struct batch_reader *reader)
{
    uint64_t value = varint(reader);

    return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

static struct batch_reader bytes(struct batch_reader *reader)
{
    int64_t count = zigzag(reader);

    REQUIRE(count >= 0 && count <= reader->end - reader->at);
    struct batch_reader inner = {reader->at, reader->at + count};
    reader->at = inner.end;
    return inner;
}

static void text(struct batch_reader *reader, char *out)
{
    struct batch_reader inner = bytes(reader);
    size_t count = (size_t)(inner.end - inner.at);

    REQUIRE(count < 256);
    memcpy(out, inner.at, count);
    out[count] = '\0';
}

void read_batch_header(struct batch_reader *reader, struct read_batch *batch)
{
    char name[256];

    REQUIRE(reader->end - reader->at > 10 && memcmp(reader->at, "\xc3\x01", 2) == 0);
    reader->at += 10;
    text(reader, batch->probe);
    text(reader, batch->tap);
    int64_t *const fields[] = {
        &batch->session,          &batch->worker,
        &batch->partition,        &batch->partition_count,
        &batch->hash_seed,        &batch->sequence,
        &batch->packets_before,   &batch->packets,
        &batch->timestamp_source, &batch->timestamp_resolution_ns,
    };
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        *fields[i] = zigzag(reader);
    batch->counters = zigzag(reader);
    for (int64_t i = 0; i < batch->counters; i++) {
        text(reader, name);
        REQUIRE(zigzag(reader) > 0);
    }
    REQUIRE(batch->counters == 0 || zigzag(reader) == 0);
    batch->runs = zigzag(reader);
}

void read_runs_end(struct batch_reader *reader, struct read_batch *batch)
{
    REQUIRE(batch->runs == 0 || zigzag(reader) == 0);
    batch->summarised_packets_before = zigzag(reader);
    batch->summarised_packets = zigzag(reader);
    batch->summaries = zigzag(reader);
}

void read_batch_end(struct batch_reader *reader, const struct read_batch *batch)
{
    REQUIRE(batch->summaries == 0 || zigzag(reader) == 0);
    REQUIRE(reader->at == reader->end);
}

static int64_t optional(struct batch_reader *reader)
{
    int64_t branch = zigzag(reader);

    REQUIRE(branch == 0 || branch == 1);
    return branch ? zigzag(reader) : -1;
}

static size_t endpoint(struct batch_reader *reader, uint8_t *address, uint16_t *port)
{
    struct batch_reader inner = bytes(reader);
    size_t count = (size_t)(inner.end - inner.at);

    REQUIRE(count == 4 || count == 16);
    memcpy(address, inner.at, count);
    *port = (uint16_t)zigzag(reader);
    return count;
}

static void read_place(struct batch_reader *reader, struct read_run *run)
{
    run->domain = (uint32_t)zigzag(reader);
    run->address_bytes = endpoint(reader, run->low_address, &run->low_port);
    REQUIRE(endpoint(reader, run->high_address, &run->high_port) == run->address_bytes);
    run->vlan_id = optional(reader);
    run->tunnel_id = optional(reader);
    run->flow_start_ns = zigzag(reader);
}

static void read_direction(struct batch_reader *reader, struct ckp_summary_direction *sent)
{
    sent->packets = (uint32_t)zigzag(reader);
    sent->data_packets = (uint32_t)zigzag(reader);
    sent->data_bytes = (uint32_t)zigzag(reader);
    sent->header_bytes = (uint32_t)zigzag(reader);
    sent->acknowledged_bytes = (uint32_t)zigzag(reader);
    sent->largest_data_bytes = (uint32_t)zigzag(reader);
    sent->full_packets = (uint32_t)zigzag(reader);
    sent->maximum_segment_size = (uint16_t)zigzag(reader);
    sent->flags = (uint8_t)zigzag(reader);
}

void read_summary(struct batch_reader *reader, struct read_summary *summary)
{
    read_place(reader, &summary->place);
    summary->duration_ns = zigzag(reader);
    summary->quiet_ns = zigzag(reader);
    summary->place.end_reason = (enum ckp_end_reason)zigzag(reader);
    summary->client = optional(reader);
    summary->client_sequence_number = optional(reader);
    summary->syns = zigzag(reader);
    summary->server_delay_ns = optional(reader);
    summary->client_delay_ns = optional(reader);
    read_direction(reader, &summary->sent_by[0]);
    read_direction(reader, &summary->sent_by[1]);
}

void read_run(struct batch_reader *reader, struct read_run *run)
{
    read_place(reader, run);
    run->packets_before = zigzag(reader);
    run->observed_until_ns = zigzag(reader);
    run->end_reason = (enum ckp_end_reason)zigzag(reader);
    int64_t count = zigzag(reader);
    REQUIRE(count >= 0 && count <= (int64_t)CKP_RUN_PACKETS_MAX);
    read_columns(reader, &run->packets, (uint32_t)count, run->address_bytes == 16);
}

/* The values of a column of repeats, one by one. */
struct repeats {
    struct batch_reader *column;
    int64_t value;
    uint64_t left;
};

static int64_t next_repeat(struct repeats *repeats)
{
    if (repeats->left == 0) {
        repeats->value = zigzag(repeats->column);
        repeats->left = varint(repeats->column);
        REQUIRE(repeats->left > 0);
    }
    repeats->left--;
    return repeats->value;
}

/* Adds up differences per direction: repeated if `is_repeated`, of packets with `mask` only. */
#define READ_SUMS(field, source, is_repeated, mask)                                                \
    do {                                                                                           \
        int64_t sum[2] = {0, 0};                                                                   \
        struct repeats repeats = {.column = (source)};                                             \
        for (uint32_t i = 0; i < packets->count; i++) {                                            \
            struct ckp_segment *s = &packets->segments[i];                                         \
            if ((mask) != 0 && (s->options_present & (mask)) == 0)                                 \
                continue;                                                                          \
            sum[s->direction] += (is_repeated) ? next_repeat(&repeats) : zigzag(source);           \
            s->field = (__typeof__(s->field))sum[s->direction];                                    \
        }                                                                                          \
        REQUIRE(repeats.left == 0);                                                                \
    } while (0)

static void read_times_and_directions(struct read_packets *packets, struct batch_reader *columns)
{
    int64_t time_ns = 0;

    REQUIRE(columns[2].end - columns[2].at == (packets->count + 7) / 8);
    for (uint32_t i = 0; i < packets->count; i++) {
        time_ns += zigzag(&columns[1]);
        packets->segments[i].time_ns = time_ns;
        packets->segments[i].direction = columns[2].at[i / 8] >> (i % 8) & 1;
    }
    columns[2].at = columns[2].end;
}

static void read_sequence_numbers(struct read_packets *packets, struct batch_reader *column)
{
    uint32_t next[2] = {0, 0};

    for (uint32_t i = 0; i < packets->count; i++) {
        struct ckp_segment *s = &packets->segments[i];
        s->sequence_number = next[s->direction] + (uint32_t)zigzag(column);
        next[s->direction] =
            s->sequence_number + s->payload_bytes + (s->tcp_flags >> 1 & 1) + (s->tcp_flags & 1);
    }
}

static void read_ip_ids(struct read_packets *packets, struct batch_reader *column)
{
    uint16_t previous[2] = {65535, 65535};
    struct repeats repeats = {.column = column};

    for (uint32_t i = 0; i < packets->count; i++) {
        struct ckp_segment *s = &packets->segments[i];
        s->ip_id = (uint16_t)(previous[s->direction] + 1 + next_repeat(&repeats));
        previous[s->direction] = s->ip_id;
    }
    REQUIRE(repeats.left == 0);
}

static void read_sack_blocks(struct read_packets *packets, struct batch_reader *column)
{
    packets->sack_count = 0;
    for (uint32_t i = 0; i < packets->count; i++) {
        struct ckp_segment *s = &packets->segments[i];
        if ((s->options_present & CKP_OPTION_SACK_BLOCKS) == 0)
            continue;
        s->sack_blocks = (uint8_t)varint(column);
        for (unsigned j = 0; j < s->sack_blocks; j++) {
            struct ckp_sack_block *block = &packets->sack_blocks[packets->sack_count++];
            block->left_edge = s->acknowledgment_number + (uint32_t)zigzag(column);
            block->right_edge = block->left_edge + (uint32_t)zigzag(column);
        }
    }
}

static void read_handshake_options(struct read_packets *packets, struct batch_reader *columns)
{
    for (uint32_t i = 0; i < packets->count; i++) {
        struct ckp_segment *s = &packets->segments[i];
        if (s->options_present & CKP_OPTION_MSS)
            s->maximum_segment_size = (uint16_t)varint(&columns[15]);
        if (s->options_present & CKP_OPTION_WINDOW_SCALE)
            s->window_scale = (uint8_t)varint(&columns[16]);
    }
}

void read_columns(struct batch_reader *reader, struct read_packets *packets, uint32_t count,
                  bool is_ipv6)
{
    struct batch_reader columns[COLUMNS] = {0};
    int64_t listed = zigzag(reader), last_id = 0;

    for (int64_t i = 0; i < listed; i++) {
        int64_t id = zigzag(reader);
        REQUIRE(id > last_id && id < COLUMNS);
        columns[id] = bytes(reader);
        REQUIRE(columns[id].at < columns[id].end);
        last_id = id;
    }
    REQUIRE(listed == 0 || zigzag(reader) == 0);
    REQUIRE((count == 0) == (listed == 0));

    memset(packets->segments, 0, count * sizeof packets->segments[0]);
    packets->count = count;
    packets->sack_count = 0;
    if (count == 0)
        return;
    read_times_and_directions(packets, columns);
    for (uint32_t i = 0; i < count; i++)
        packets->segments[i].payload_bytes = (uint32_t)varint(&columns[5]);
    READ_SUMS(header_bytes, &columns[6], true, 0);
    READ_SUMS(tcp_flags, &columns[7], true, 0);
    read_sequence_numbers(packets, &columns[3]);
    READ_SUMS(acknowledgment_number, &columns[4], false, 0);
    READ_SUMS(window_field, &columns[8], false, 0);
    if (!is_ipv6)
        read_ip_ids(packets, &columns[9]);
    READ_SUMS(time_to_live, &columns[10], true, 0);
    READ_SUMS(traffic_class, &columns[11], true, 0);
    READ_SUMS(options_present, &columns[12], true, 0);
    READ_SUMS(timestamp_value, &columns[13], false, CKP_OPTION_TIMESTAMPS);
    READ_SUMS(timestamp_echo, &columns[14], false, CKP_OPTION_TIMESTAMPS);
    read_handshake_options(packets, columns);
    read_sack_blocks(packets, &columns[17]);
    for (int id = 1; id < COLUMNS; id++)
        REQUIRE(columns[id].at == columns[id].end);
}
