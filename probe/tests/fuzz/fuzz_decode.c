/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes are a frame with one fate, and cutting off its end changes nothing but what lay there:
 * the cut frame is the same packet, perhaps without some of its options, or truncated. Packets are
 * also put into a ring, and their stamps of ERSPAN III are read.
 *
 * Input: link layer, 128 to look into no tunnel (1 byte); what the original length exceeds the
 * captured one by, 128 to compare with a cut frame (1 byte); frame. How much is cut off depends on
 * all of it.
 */
#include "erspan_clock.h"
#include "packet_ring.h"
#include "target.h"

#define FRAME_NS CKP_NANOS_PER_SECOND

static struct ckp_packet_ring *ring;
static struct ckp_erspan_clocks clocks;
static struct ckp_counters counters;

static enum ckp_decode_status decode(struct ckp_packet *packet, const uint8_t *data, size_t count,
                                     size_t original_bytes, uint8_t kind)
{
    uint8_t *bytes = copy_exactly(data, count);
    struct ckp_frame frame = {.bytes = bytes,
                              .captured_bytes = count,
                              .original_bytes = original_bytes,
                              .time_ns = FRAME_NS};
    enum ckp_link link = (enum ckp_link)((kind & 0x7f) % (CKP_LINK_NULL + 1));
    enum ckp_decode_status status =
        ckp_decode(packet, link, &frame, kind & 0x80 ? CKP_TUNNELS_OUTER : CKP_TUNNELS_INNER);

    if (status == CKP_DECODE_OK) {
        REQUIRE(packet->segment.header_bytes >= 40);
        REQUIRE(packet->payload_at >= packet->segment.header_bytes);
        ckp_packet_ring_put(ring, link, &frame, packet);
        if (packet->erspan_at) {
            struct ckp_erspan_stamp stamp = ckp_erspan_stamp_read(&frame, packet);
            int64_t time_ns = ckp_erspan_time_ns(&clocks, &counters, &stamp, FRAME_NS);
            REQUIRE(time_ns <= FRAME_NS && time_ns >= FRAME_NS - CKP_ERSPAN_WAIT_MAX_NS);
        }
        REQUIRE(packet->segment.sack_blocks <= CKP_SACK_BLOCKS_MAX);
        REQUIRE((packet->segment.sack_blocks != 0) ==
                ((packet->segment.options_present & CKP_OPTION_SACK_BLOCKS) != 0));
        REQUIRE(packet->key.is_ipv6 || packet->key.low_address.word[0] == 0);
        REQUIRE(!(kind & 0x80) || packet->tunnel_id == CKP_TUNNEL_NONE);
    }
    free(bytes);
    return status;
}

static bool is_same_but_options(const struct ckp_packet *a, const struct ckp_packet *b)
{
    const struct ckp_segment *s = &a->segment, *t = &b->segment;

    return s->sequence_number == t->sequence_number &&
           s->acknowledgment_number == t->acknowledgment_number &&
           s->payload_bytes == t->payload_bytes && s->window_field == t->window_field &&
           s->header_bytes == t->header_bytes && s->ip_id == t->ip_id &&
           s->tcp_flags == t->tcp_flags && s->time_to_live == t->time_to_live &&
           s->traffic_class == t->traffic_class && s->direction == t->direction &&
           ckp_flow_key_equal(&a->key, &b->key) && a->tunnel_id == b->tunnel_id &&
           a->vlan_id == b->vlan_id && a->is_first_fragment == b->is_first_fragment;
}

static bool has_same_options(const struct ckp_packet *a, const struct ckp_packet *b)
{
    const struct ckp_segment *s = &a->segment, *t = &b->segment;

    return a->options_status == b->options_status && s->options_present == t->options_present &&
           s->timestamp_value == t->timestamp_value && s->timestamp_echo == t->timestamp_echo &&
           s->maximum_segment_size == t->maximum_segment_size &&
           s->window_scale == t->window_scale && s->sack_blocks == t->sack_blocks &&
           memcmp(a->sack, b->sack, s->sack_blocks * sizeof a->sack[0]) == 0;
}

static size_t choose_cut(const uint8_t *data, size_t count)
{
    uint32_t hash = 2166136261u;

    for (size_t i = 0; i < count; i++)
        hash = (hash ^ data[i]) * 16777619u;
    return (hash >> 16) % (count + 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ckp_packet whole, cut;

    if (!ring)
        ring =
            ckp_packet_ring_new(&(struct ckp_ring_config){.memory_bytes = 4096, .snap_bytes = 128});
    REQUIRE(ring != NULL);
    if (size < 2)
        return 0;
    size_t count = size - 2, original_bytes = count + (data[1] & 0x7f);
    enum ckp_decode_status status = decode(&whole, data + 2, count, original_bytes, data[0]);
    if (!(data[1] & 0x80))
        return 0;
    enum ckp_decode_status cut_status =
        decode(&cut, data + 2, choose_cut(data + 2, count), original_bytes, data[0]);
    REQUIRE(cut_status == status || cut_status == CKP_DECODE_TRUNCATED);
    if (cut_status != CKP_DECODE_OK)
        return 0;
    REQUIRE(is_same_but_options(&cut, &whole));
    REQUIRE(cut.options_status == CKP_OPTIONS_CUT || has_same_options(&cut, &whole));
    return 0;
}
