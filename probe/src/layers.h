/* SPDX-License-Identifier: Apache-2.0 */
/* PURE. The layers of ckp_decode(), each a function that either fills its output or says why not.
 */
#ifndef CKP_LAYERS_H
#define CKP_LAYERS_H

#include "decode.h"

/** Bytes of a layer: `captured` of them can be read, `length` were there. */
struct ckp_span {
    const uint8_t *bytes;
    size_t captured;
    size_t length;
};

/** EtherTypes, of which also tunnels make use. */
enum {
    CKP_TYPE_IPV4 = 0x0800, /* or IPv6 where nothing but the packet tells */
    CKP_TYPE_IPV6 = 0x86dd,
    CKP_TYPE_ETHERNET = 0x6558, /* bridged: RFC 1701, RFC 7637 §3.2 */
    CKP_TYPE_MPLS = 0x8847,
};

/** Protocol numbers of IP. */
enum {
    CKP_PROTOCOL_IPV4 = 4,
    CKP_PROTOCOL_TCP = 6,
    CKP_PROTOCOL_UDP = 17,
    CKP_PROTOCOL_IPV6 = 41,
    CKP_PROTOCOL_GRE = 47,
};

/** Tunnels, label stacks and sessions within each other, beyond which a frame is given up. */
#define CKP_NESTED_MAX 8u

/** The way from the start of a frame to the packet in it. */
struct ckp_layers {
    struct ckp_span rest;     /* not read yet */
    uint16_t type;            /* EtherType of the rest */
    uint16_t vlan_id;         /* innermost of the innermost Ethernet frame */
    uint32_t nested;          /* how many so far */
    int64_t tunnel_id;        /* of the innermost that has one */
    bool is_first_fragment;   /* what follows lies in one */
    const uint8_t *ip;        /* header of the innermost IP packet so far */
    const uint8_t *erspan;    /* innermost header of ERSPAN III; NULL: none */
    const uint8_t *erspan_ip; /* header of the IP packet that it is in */
};

struct ckp_ip {
    struct ckp_address source;
    struct ckp_address destination;
    size_t ip_bytes;
    uint16_t id;
    uint8_t protocol;
    uint8_t time_to_live;
    uint8_t traffic_class;
    bool is_ipv6;
    bool is_first_fragment;
};

/** Strips the header of the link and its VLAN tags, whatever follows. @return OK, NOT_IP, TRUNCATED
 */
enum ckp_decode_status ckp_link_strip(struct ckp_layers *layers, enum ckp_link link,
                                      const struct ckp_frame *frame);

/** The same of an Ethernet frame in a tunnel. */
enum ckp_decode_status ckp_link_strip_ethernet(struct ckp_layers *layers);

/** Strips what lies between link and IP: MPLS, pseudo-wires, PPPoE. */
enum ckp_decode_status ckp_link_reach_ip(struct ckp_layers *layers);

/** Strips an IP header; the rest ends where the IP length says.
 * @return OK if TCP follows, or UDP or another that tunnels use */
enum ckp_decode_status ckp_ip_strip(struct ckp_ip *ip, struct ckp_span *rest);

/** Strips what an IP packet of that protocol has to carry another; that one is the rest.
 * @return NOT_TCP if it is no tunnel, or none with IP */
enum ckp_decode_status ckp_tunnel_strip(struct ckp_layers *layers, uint8_t protocol);

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

static inline bool ckp_is_ip(uint16_t type)
{
    return type == CKP_TYPE_IPV4 || type == CKP_TYPE_IPV6;
}

/** Whether `bytes` of a header between link and innermost IP can be read. */
static inline enum ckp_decode_status ckp_check_header(const struct ckp_span *rest, size_t bytes)
{
    if (bytes > rest->length)
        return CKP_DECODE_MALFORMED_TUNNEL;
    return bytes > rest->captured ? CKP_DECODE_TRUNCATED : CKP_DECODE_OK;
}

static inline enum ckp_decode_status ckp_nest(struct ckp_layers *layers)
{
    return layers->nested++ < CKP_NESTED_MAX ? CKP_DECODE_OK : CKP_DECODE_NESTED_TOO_DEEP;
}

#endif
