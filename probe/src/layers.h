/* SPDX-License-Identifier: Apache-2.0 */
/* PURE. The three layers of ckp_decode(), each a function that either fills its output or says why
 * not. */
#ifndef CKP_LAYERS_H
#define CKP_LAYERS_H

#include "decode.h"

/** Bytes of a layer: `captured` of them can be read, `length` were there. */
struct ckp_span {
    const uint8_t *bytes;
    size_t captured;
    size_t length;
};

struct ckp_ip {
    struct ckp_address source;
    struct ckp_address destination;
    size_t ip_bytes;
    uint16_t id;
    uint8_t time_to_live;
    uint8_t traffic_class;
    bool is_ipv6;
    bool is_first_fragment;
};

/** Finds the IP packet in a frame. @return OK, NOT_IP or TRUNCATED */
enum ckp_decode_status ckp_link_strip(struct ckp_span *ip, uint16_t *vlan_id, enum ckp_link link,
                                      const struct ckp_frame *frame);

/** Finds the TCP segment in an IP packet; `tcp` ends where the IP length says. */
enum ckp_decode_status ckp_ip_read(struct ckp_ip *ip, struct ckp_span *tcp,
                                   const struct ckp_span *packet);

/** Fills the TCP fields of the packet's segment, its ports and its SACK blocks. */
enum ckp_decode_status ckp_tcp_read(struct ckp_packet *packet, uint16_t *source_port,
                                    uint16_t *destination_port, const struct ckp_span *tcp);

/** Removes the first `bytes`, of which all must have been captured. */
static inline void ckp_span_advance(struct ckp_span *span, size_t bytes)
{
    span->bytes += bytes;
    span->captured -= bytes;
    span->length -= bytes;
}

#endif
