/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules are those of the analysis (HalfConnection, Handshake, SegmentSize and MirrorCopies of
 * analysis-core), as far as a flow needs them that was sent in order and once: a row of a summary
 * says the same as one of the packets, or nothing.
 */
#include "summary.h"

#include "avro.h"

/* A larger step back is one of the clock. */
#define CLOCK_STEP_NS CKP_NANOS_PER_SECOND

/* A frame that a mirror port delivers twice: so close, and so few others of its direction between.
 */
#define COPY_NS     CKP_NANOS_PER_MILLI
#define COPIES_BACK 8

/* An MSS below is a mistake; a payload above 1.5 times that of three full segments is one that a
 * host has not split yet. */
#define MSS_MIN     64u
#define FULL_ENOUGH 3u

/* Acknowledged at once; more is not of so short a flow, but of another connection, or forged. */
#define ADVANCE_MAX (INT32_C(1) << 20)

#define CONGESTION_EXPERIENCED 3u
#define TCP_PSH                0x08u

/* How far one end is. Sequence numbers are compared modulo 2^32. */
struct sender {
    bool is_seen;
    bool is_begun; /* next and acknowledged are set */
    bool has_initial;
    bool has_fin;
    uint32_t next; /* after the highest byte sent */
    uint32_t acknowledged;
    uint32_t initial;
    uint32_t after_fin;
};

enum handshake { NO_SYN, SYN_SEEN, SYN_ACK_SEEN, HANDSHAKE_DONE };

struct reading {
    struct ckp_summary *summary;
    const struct ckp_packets *packets;
    struct sender sender[2];
    int64_t now_ns;
    enum handshake handshake;
    bool is_syn_repeated;
    int64_t syn_ns;
    int64_t syn_ack_ns;
};

static int32_t distance(uint32_t from, uint32_t to)
{
    return (int32_t)(to - from);
}

static bool has(const struct ckp_segment *segment, unsigned flags)
{
    return (segment->tcp_flags & flags) == flags;
}

static bool has_option(const struct ckp_segment *segment, unsigned option)
{
    return (segment->options_present & option) != 0;
}

static bool is_equal(const struct ckp_segment *a, const struct ckp_segment *b)
{
    return a->sequence_number == b->sequence_number &&
           a->acknowledgment_number == b->acknowledgment_number && a->ip_id == b->ip_id &&
           a->payload_bytes == b->payload_bytes && a->window_field == b->window_field &&
           a->tcp_flags == b->tcp_flags && a->timestamp_value == b->timestamp_value;
}

static bool is_copy(const struct ckp_packets *packets, uint32_t index)
{
    const struct ckp_segment *segment = &packets->segments[index];

    if (segment->ip_id == 0 && !has(segment, CKP_TCP_SYN))
        return false;
    for (uint32_t i = index, seen = 0; i-- > 0 && seen < COPIES_BACK;) {
        const struct ckp_segment *earlier = &packets->segments[i];
        if (earlier->direction != segment->direction)
            continue;
        seen++;
        if (is_equal(earlier, segment) && segment->time_ns - earlier->time_ns < COPY_NS)
            return true;
    }
    return false;
}

static void announce(struct ckp_summary *summary, const struct ckp_segment *segment)
{
    if (has_option(segment, CKP_OPTION_MSS) && segment->maximum_segment_size > 0)
        summary->sent_by[!segment->direction].maximum_segment_size = segment->maximum_segment_size;
}

static void name_client(struct ckp_summary *summary, unsigned client, uint32_t sequence_number)
{
    summary->is_client_known = true;
    summary->client = (uint8_t)client;
    summary->client_sequence_number = sequence_number;
}

static void on_syn(struct reading *reading, const struct ckp_segment *segment)
{
    struct ckp_summary *summary = reading->summary;
    bool is_answered = reading->handshake == SYN_ACK_SEEN;

    reading->is_syn_repeated = summary->syns > 0 || is_answered;
    summary->syns++;
    name_client(summary, segment->direction, segment->sequence_number);
    reading->syn_ns = reading->now_ns;
    if (reading->handshake == NO_SYN)
        reading->handshake = SYN_SEEN;
    announce(summary, segment);
    if (is_answered)
        summary->sent_by[!segment->direction].flags |= CKP_SUMMARY_WINDOW_SCALE_KNOWN;
}

static void on_syn_ack(struct reading *reading, const struct ckp_segment *segment)
{
    struct ckp_summary *summary = reading->summary;
    unsigned client = !segment->direction;
    bool server_scales = has_option(segment, CKP_OPTION_WINDOW_SCALE);

    if (reading->handshake == SYN_ACK_SEEN) {
        reading->is_syn_repeated = true;
        return;
    }
    name_client(summary, client, segment->acknowledgment_number - 1);
    reading->syn_ack_ns = reading->now_ns;
    reading->handshake = SYN_ACK_SEEN;
    announce(summary, segment);
    /* Windows that an end sends bound the data of the other one: RFC 7323 §2.2. */
    summary->sent_by[client].flags |= CKP_SUMMARY_WINDOW_SCALE_KNOWN;
    if (summary->syns || !server_scales)
        summary->sent_by[!client].flags |= CKP_SUMMARY_WINDOW_SCALE_KNOWN;
}

static void on_final_ack(struct reading *reading)
{
    struct ckp_summary *summary = reading->summary;

    reading->handshake = HANDSHAKE_DONE;
    if (summary->syns == 0 || reading->is_syn_repeated || reading->syn_ack_ns < reading->syn_ns)
        return;
    summary->is_handshake_timed = true;
    summary->server_delay_ns = reading->syn_ack_ns - reading->syn_ns;
    summary->client_delay_ns = reading->now_ns - reading->syn_ack_ns;
}

static void follow_handshake(struct reading *reading, const struct ckp_segment *segment)
{
    if (reading->handshake == HANDSHAKE_DONE)
        return;
    if (has(segment, CKP_TCP_SYN | CKP_TCP_ACK))
        on_syn_ack(reading, segment);
    else if (has(segment, CKP_TCP_SYN))
        on_syn(reading, segment);
    else if (reading->handshake == SYN_ACK_SEEN && segment->direction == reading->summary->client &&
             has(segment, CKP_TCP_ACK))
        on_final_ack(reading);
}

static bool is_super_segment(const struct ckp_summary_direction *sent, uint32_t payload_bytes)
{
    if (sent->maximum_segment_size >= MSS_MIN)
        return payload_bytes > sent->maximum_segment_size;
    return sent->full_packets >= FULL_ENOUGH && payload_bytes > sent->largest_data_bytes * 3 / 2;
}

/* @return false if the data are not the next ones, or more than a segment */
static bool on_data(struct ckp_summary_direction *sent, struct sender *sender,
                    const struct ckp_segment *segment)
{
    uint32_t payload_bytes = segment->payload_bytes;

    if (segment->sequence_number != sender->next || payload_bytes > UINT16_MAX ||
        is_super_segment(sent, payload_bytes) ||
        (segment->traffic_class & CONGESTION_EXPERIENCED) == CONGESTION_EXPERIENCED)
        return false;
    if (payload_bytes > sent->largest_data_bytes) {
        sent->largest_data_bytes = payload_bytes;
        sent->full_packets = 0;
    }
    if (payload_bytes == sent->largest_data_bytes && !has(segment, TCP_PSH))
        sent->full_packets++;
    if (!has_option(segment, CKP_OPTION_TIMESTAMPS))
        sent->flags |= CKP_SUMMARY_NO_TIMESTAMPS;
    sent->data_packets++;
    sent->data_bytes += payload_bytes;
    sent->header_bytes += segment->header_bytes;
    sender->next += payload_bytes + has(segment, CKP_TCP_FIN);
    return true;
}

static bool on_sent(struct ckp_summary_direction *sent, struct sender *sender,
                    const struct ckp_segment *segment)
{
    uint32_t sequence_number = segment->sequence_number;
    uint32_t end = sequence_number + segment->payload_bytes + has(segment, CKP_TCP_SYN) +
                   has(segment, CKP_TCP_FIN);

    sent->packets++;
    sender->is_seen = true;
    if (has(segment, CKP_TCP_SYN)) {
        sender->next = sender->is_begun && distance(sender->next, end) < 0 ? sender->next : end;
        sender->acknowledged = sender->is_begun ? sender->acknowledged : sequence_number;
        sender->is_begun = sender->has_initial = true;
        sender->initial = sequence_number;
        return segment->payload_bytes == 0;
    }
    if (has(segment, CKP_TCP_FIN)) {
        sender->has_fin = true;
        sender->after_fin = end;
    }
    bool is_behind_start = !sender->has_initial && sent->data_packets == 0 &&
                           distance(sender->next, sequence_number) > 0;
    if (!sender->is_begun || is_behind_start) {
        sender->next = sequence_number;
        if (!sender->is_begun || distance(sender->acknowledged, sequence_number) < 0)
            sender->acknowledged = sequence_number;
        sender->is_begun = true;
    }
    if (segment->payload_bytes > 0)
        return on_data(sent, sender, segment);
    if (has(segment, CKP_TCP_FIN) && distance(sender->next, end) > 0)
        sender->next = end;
    return true;
}

/* The other end acknowledges. @return false if it has closed its window, or has what was not seen
 */
static bool on_acknowledged(struct ckp_summary_direction *sent, struct sender *sender,
                            const struct ckp_segment *segment)
{
    uint32_t acknowledged = segment->acknowledgment_number;
    bool is_syn = has(segment, CKP_TCP_SYN);

    if (!is_syn && segment->window_field == 0)
        return false;
    if (!sender->is_begun)
        sender->next = sender->acknowledged = acknowledged;
    sender->is_begun = true;
    int32_t advance = distance(sender->acknowledged, acknowledged);
    if (advance > ADVANCE_MAX)
        return false;
    if (distance(sender->next, acknowledged) > 0) {
        if (sender->is_seen)
            return false;
        sender->next = acknowledged;
    }
    if (!is_syn)
        sent->flags |= CKP_SUMMARY_ACKNOWLEDGED;
    if (advance <= 0)
        return true;
    bool with_syn = sender->has_initial && sender->acknowledged == sender->initial;
    bool with_fin = sender->has_fin && acknowledged == sender->after_fin;
    int32_t control = with_syn + with_fin;
    sent->acknowledged_bytes += advance > control ? (uint32_t)(advance - control) : 0;
    sender->acknowledged = acknowledged;
    return true;
}

static bool read_packet(struct reading *reading, uint32_t index)
{
    const struct ckp_segment *segment = &reading->packets->segments[index];
    unsigned direction = segment->direction;
    struct ckp_summary_direction *sent_by = reading->summary->sent_by;

    if (segment->time_ns < reading->now_ns - CLOCK_STEP_NS || segment->sack_blocks > 0 ||
        has_option(segment, CKP_OPTION_MALFORMED) || is_copy(reading->packets, index))
        return false;
    if (segment->time_ns > reading->now_ns)
        reading->now_ns = segment->time_ns;
    follow_handshake(reading, segment);
    if (!on_sent(&sent_by[direction], &reading->sender[direction], segment))
        return false;
    return !has(segment, CKP_TCP_ACK) || has(segment, CKP_TCP_RST) ||
           on_acknowledged(&sent_by[!direction], &reading->sender[!direction], segment);
}

bool ckp_summarise(struct ckp_summary *summary, const struct ckp_packets *packets)
{
    struct reading reading = {.summary = summary, .packets = packets};

    summary->is_client_known = summary->is_handshake_timed = false;
    summary->client = 0;
    summary->client_sequence_number = summary->syns = 0;
    summary->sent_by[0] = summary->sent_by[1] = (struct ckp_summary_direction){0};
    reading.now_ns = packets->segments[0].time_ns;
    for (uint32_t i = 0; i < packets->count; i++)
        if (!read_packet(&reading, i))
            return false;
    summary->duration_ns = reading.now_ns - packets->segments[0].time_ns;
    return true;
}

void ckp_summary_reverse(struct ckp_summary *summary)
{
    struct ckp_summary_direction low = summary->sent_by[0];

    summary->sent_by[0] = summary->sent_by[1];
    summary->sent_by[1] = low;
    summary->client ^= 1;
}

static uint8_t *write_direction(uint8_t *out, const struct ckp_summary_direction *sent)
{
    out = ckp_write_zigzag(out, sent->packets);
    out = ckp_write_zigzag(out, sent->data_packets);
    out = ckp_write_zigzag(out, sent->data_bytes);
    out = ckp_write_zigzag(out, sent->header_bytes);
    out = ckp_write_zigzag(out, sent->acknowledged_bytes);
    out = ckp_write_zigzag(out, sent->largest_data_bytes);
    out = ckp_write_zigzag(out, sent->full_packets);
    out = ckp_write_zigzag(out, sent->maximum_segment_size);
    return ckp_write_zigzag(out, sent->flags);
}

uint8_t *ckp_summary_write(uint8_t *out, const struct ckp_summary *summary)
{
    out = ckp_place_write(out, summary->key, summary->vlan_id, summary->tunnel_id);
    out = ckp_write_zigzag(out, summary->flow_start_ns);
    out = ckp_write_zigzag(out, summary->duration_ns);
    out = ckp_write_zigzag(out, summary->quiet_ns);
    out = ckp_write_zigzag(out, summary->end_reason);
    out = ckp_write_optional(out, summary->is_client_known, summary->client);
    out = ckp_write_optional(out, summary->is_client_known, summary->client_sequence_number);
    out = ckp_write_zigzag(out, summary->syns);
    out = ckp_write_optional(out, summary->is_handshake_timed, summary->server_delay_ns);
    out = ckp_write_optional(out, summary->is_handshake_timed, summary->client_delay_ns);
    out = write_direction(out, &summary->sent_by[0]);
    return write_direction(out, &summary->sent_by[1]);
}
