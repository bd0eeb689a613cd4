/* SPDX-License-Identifier: Apache-2.0 */
#include "layers.h"

/* On copies: what never goes anywhere by address stays in registers for the other frames. */
static enum ckp_decode_status reach_ip(struct ckp_layers *layers)
{
    struct ckp_layers copy = *layers;
    enum ckp_decode_status status = ckp_link_reach_ip(&copy);

    *layers = copy;
    return status;
}

static enum ckp_decode_status strip_tunnel(struct ckp_layers *layers, uint8_t protocol)
{
    struct ckp_layers copy = *layers;
    enum ckp_decode_status status = ckp_tunnel_strip(&copy, protocol);

    *layers = copy;
    return status;
}

/* A frame of several pieces has been looked into as far as the first one goes. */
static bool is_cut(const struct ckp_span *rest, const struct ckp_frame *frame)
{
    size_t elsewhere = frame->is_chained ? frame->original_bytes - frame->captured_bytes : 0;

    return rest->captured + elsewhere < rest->length;
}

/* From packet to packet, until one carries TCP, or nothing that we can look into. */
static enum ckp_decode_status find_tcp(struct ckp_ip *ip, struct ckp_layers *layers,
                                       enum ckp_tunnels tunnels)
{
    enum ckp_decode_status status = CKP_DECODE_OK;

    if (!ckp_is_ip(layers->type))
        status = reach_ip(layers);
    while (status == CKP_DECODE_OK) {
        layers->ip = layers->rest.bytes;
        status = ckp_ip_strip(ip, &layers->rest);
        if (status != CKP_DECODE_OK)
            break;
        layers->is_first_fragment |= ip->is_first_fragment;
        if (ip->protocol == CKP_PROTOCOL_TCP)
            break;
        status =
            tunnels == CKP_TUNNELS_INNER ? strip_tunnel(layers, ip->protocol) : CKP_DECODE_NOT_TCP;
    }
    return status;
}

enum ckp_decode_status ckp_decode(struct ckp_packet *packet, enum ckp_link link,
                                  const struct ckp_frame *frame, enum ckp_tunnels tunnels)
{
    struct ckp_segment *segment = &packet->segment;
    struct ckp_layers layers;
    struct ckp_ip ip;
    uint16_t source_port, destination_port;

    enum ckp_decode_status status = ckp_link_strip(&layers, link, frame);
    if (status != CKP_DECODE_OK)
        return status;
    status = find_tcp(&ip, &layers, tunnels);
    if (status != CKP_DECODE_OK)
        return status;
    *segment = (struct ckp_segment){
        .time_ns = frame->time_ns,
        .ip_id = ip.id,
        .time_to_live = ip.time_to_live,
        .traffic_class = ip.traffic_class,
    };
    status = ckp_tcp_read(packet, &source_port, &destination_port, &layers.rest);
    if (status != CKP_DECODE_OK)
        return status;

    segment->header_bytes = (uint16_t)(ip.ip_bytes - segment->payload_bytes);
    packet->payload_at = (uint32_t)((size_t)(layers.rest.bytes - frame->bytes) +
                                    layers.rest.length - segment->payload_bytes);
    packet->erspan_at = layers.erspan ? (uint32_t)(layers.erspan - frame->bytes) : 0;
    packet->erspan_ip_at = layers.erspan ? (uint32_t)(layers.erspan_ip - frame->bytes) : 0;
    packet->tunnel_id = layers.tunnel_id;
    packet->vlan_id = layers.vlan_id;
    packet->is_first_fragment = layers.is_first_fragment;
    packet->is_cut = is_cut(&layers.rest, frame);
    packet->key.domain = 0;
    packet->key.is_ipv6 = ip.is_ipv6;
    segment->direction = ckp_flow_key_order(&packet->key, &ip.source, source_port, &ip.destination,
                                            destination_port);
    return CKP_DECODE_OK;
}
