/* SPDX-License-Identifier: Apache-2.0 */
#include "layers.h"

enum ckp_decode_status ckp_decode(struct ckp_packet *packet, enum ckp_link link,
                                  const struct ckp_frame *frame)
{
    struct ckp_segment *segment = &packet->segment;
    struct ckp_span ip_span, tcp_span;
    struct ckp_ip ip;
    uint16_t source_port, destination_port;

    enum ckp_decode_status status = ckp_link_strip(&ip_span, &packet->vlan_id, link, frame);
    if (status != CKP_DECODE_OK)
        return status;
    status = ckp_ip_read(&ip, &tcp_span, &ip_span);
    if (status != CKP_DECODE_OK)
        return status;
    *segment = (struct ckp_segment){
        .time_ns = frame->time_ns,
        .ip_id = ip.id,
        .time_to_live = ip.time_to_live,
        .traffic_class = ip.traffic_class,
    };
    status = ckp_tcp_read(packet, &source_port, &destination_port, &tcp_span);
    if (status != CKP_DECODE_OK)
        return status;

    segment->header_bytes = (uint16_t)(ip.ip_bytes - segment->payload_bytes);
    packet->is_first_fragment = ip.is_first_fragment;
    packet->key.domain = 0;
    packet->key.is_ipv6 = ip.is_ipv6;
    segment->direction = ckp_flow_key_order(&packet->key, &ip.source, source_port, &ip.destination,
                                            destination_port);
    return CKP_DECODE_OK;
}
