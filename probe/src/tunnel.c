/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What IP packets carry other packets in. Lengths in headers of tunnels and UDP only matter where
 * they tell where the header ends: how long the packet within is stands in its own IP header.
 * A header that is not of the kind its port or protocol makes one expect, or that says nothing of
 * where a packet would be, is NOT_TCP.
 */
#include "layers.h"

#include "octets.h"

#define UDP_BYTES 8u

/* RFC 2784 §2.1, RFC 2890 §2; routing: RFC 1701. */
#define GRE_BYTES       4u
#define GRE_FIELD_BYTES 4u
#define GRE_CHECKSUM    0x8000u
#define GRE_ROUTING     0x4000u
#define GRE_KEY         0x2000u
#define GRE_SEQUENCE    0x1000u
#define GRE_VERSION     0x0007u

/* RFC 7637 §3.2: subnets below are reserved. */
#define NVGRE_SUBNET_MIN   0x1000u
#define NVGRE_SUBNET_SHIFT 8

/* draft-foschiano-erspan-03 §4.1 to §4.3. */
#define TYPE_ERSPAN            0x88beu
#define TYPE_ERSPAN_III        0x22ebu
#define ERSPAN_II_VERSION      1
#define ERSPAN_II_BYTES        8u
#define ERSPAN_III_VERSION     2
#define ERSPAN_III_BYTES       12u
#define ERSPAN_III_MORE_BYTES  8u
#define ERSPAN_III_HAS_MORE    0x0001u
#define ERSPAN_FRAME_SHIFT     10
#define ERSPAN_FRAME_MASK      0x1fu
#define ERSPAN_FRAME_ETHERNET  0u
#define ERSPAN_FRAME_IP        2u
#define ERSPAN_SESSION_ID_MASK 0x03ffu

/* RFC 7348 §5, draft-ietf-nvo3-vxlan-gpe-13 §3. */
#define PORT_VXLAN       4789u
#define PORT_VXLAN_LINUX 8472u /* Linux before there was a number, and its default since */
#define PORT_VXLAN_GPE   4790u
#define VXLAN_BYTES      8u
#define VXLAN_HAS_ID     0x08u
#define GPE_VERSION      0x30u
#define GPE_HAS_NEXT     0x04u
#define GPE_IS_OAM       0x01u

/* RFC 8926 §3.4. */
#define PORT_GENEVE         6081u
#define GENEVE_BYTES        8u
#define GENEVE_VERSION      0xc0u
#define GENEVE_OPTIONS_MASK 0x3fu
#define GENEVE_OPTIONS_UNIT 4u
#define GENEVE_IS_CONTROL   0x80u

/* 3GPP TS 29.281 §5.1, §5.2. */
#define PORT_GTP_U         2152u
#define GTP_BYTES          8u
#define GTP_OPTIONAL_BYTES 4u
#define GTP_VERSION_1      3 /* and "GTP", not "GTP prime" */
#define GTP_HAS_OPTIONAL   0x07u
#define GTP_HAS_EXTENSION  0x04u
#define GTP_PACKET         255
#define GTP_EXTENSION_UNIT 4u
#define GTP_EXTENSIONS_MAX 8

/* With its platform's subheader. What its timestamp says is for erspan_clock.c to judge. */
static enum ckp_decode_status strip_erspan_iii(struct ckp_layers *layers)
{
    struct ckp_span *rest = &layers->rest;
    enum ckp_decode_status status = ckp_check_header(rest, ERSPAN_III_BYTES);

    if (status != CKP_DECODE_OK)
        return status;
    uint16_t flags = ckp_load_be16(rest->bytes + 10);
    unsigned frame = flags >> ERSPAN_FRAME_SHIFT & ERSPAN_FRAME_MASK;
    if (frame != ERSPAN_FRAME_ETHERNET && frame != ERSPAN_FRAME_IP)
        return CKP_DECODE_NOT_TCP;
    size_t bytes = ERSPAN_III_BYTES + (flags & ERSPAN_III_HAS_MORE ? ERSPAN_III_MORE_BYTES : 0);
    status = ckp_check_header(rest, bytes);
    if (status != CKP_DECODE_OK)
        return status;
    layers->erspan = rest->bytes;
    layers->erspan_ip = layers->ip;
    ckp_span_advance(rest, bytes);
    layers->type = frame == ERSPAN_FRAME_ETHERNET ? CKP_TYPE_ETHERNET : CKP_TYPE_IPV4;
    return CKP_DECODE_OK;
}

static enum ckp_decode_status strip_erspan(struct ckp_layers *layers)
{
    struct ckp_span *rest = &layers->rest;
    enum ckp_decode_status status = ckp_check_header(rest, ERSPAN_II_BYTES);

    if (status != CKP_DECODE_OK)
        return status;
    layers->tunnel_id = ckp_load_be16(rest->bytes + 2) & ERSPAN_SESSION_ID_MASK;
    switch (rest->bytes[0] >> 4) {
    case ERSPAN_II_VERSION:
        ckp_span_advance(rest, ERSPAN_II_BYTES);
        layers->type = CKP_TYPE_ETHERNET;
        return CKP_DECODE_OK;
    case ERSPAN_III_VERSION:
        return strip_erspan_iii(layers);
    default:
        return CKP_DECODE_NOT_TCP;
    }
}

/* NVGRE is bridged GRE whose key is subnet and flow; its reserved subnets are what is left for the
 * plain keys of others. */
static uint32_t gre_tunnel_id(uint16_t type, uint16_t flags, uint32_t key)
{
    uint32_t subnet = key >> NVGRE_SUBNET_SHIFT;
    bool is_nvgre = type == CKP_TYPE_ETHERNET && !(flags & (GRE_CHECKSUM | GRE_SEQUENCE)) &&
                    subnet >= NVGRE_SUBNET_MIN;

    return is_nvgre ? subnet : key;
}

static enum ckp_decode_status strip_gre(struct ckp_layers *layers)
{
    struct ckp_span *rest = &layers->rest;
    enum ckp_decode_status status = ckp_check_header(rest, GRE_BYTES);

    if (status != CKP_DECODE_OK)
        return status;
    uint16_t flags = ckp_load_be16(rest->bytes);
    uint16_t type = ckp_load_be16(rest->bytes + 2);
    if (flags & (GRE_ROUTING | GRE_VERSION))
        return CKP_DECODE_NOT_TCP;
    size_t key_at = GRE_BYTES + (flags & GRE_CHECKSUM ? GRE_FIELD_BYTES : 0);
    size_t sequence_at = key_at + (flags & GRE_KEY ? GRE_FIELD_BYTES : 0);
    size_t bytes = sequence_at + (flags & GRE_SEQUENCE ? GRE_FIELD_BYTES : 0);
    status = ckp_check_header(rest, bytes);
    if (status != CKP_DECODE_OK)
        return status;
    if (flags & GRE_KEY)
        layers->tunnel_id = gre_tunnel_id(type, flags, ckp_load_be32(rest->bytes + key_at));
    ckp_span_advance(rest, bytes);
    layers->type = type;
    if (type == TYPE_ERSPAN && !(flags & GRE_SEQUENCE)) /* type I has no header of its own */
        layers->type = CKP_TYPE_ETHERNET;
    else if (type == TYPE_ERSPAN || type == TYPE_ERSPAN_III)
        return strip_erspan(layers);
    return CKP_DECODE_OK;
}

static enum ckp_decode_status strip_vxlan(struct ckp_layers *layers)
{
    struct ckp_span *rest = &layers->rest;
    enum ckp_decode_status status = ckp_check_header(rest, VXLAN_BYTES);

    if (status != CKP_DECODE_OK)
        return status;
    if (!(rest->bytes[0] & VXLAN_HAS_ID))
        return CKP_DECODE_NOT_TCP;
    layers->tunnel_id = ckp_load_be32(rest->bytes + 4) >> 8;
    layers->type = CKP_TYPE_ETHERNET;
    ckp_span_advance(rest, VXLAN_BYTES);
    return CKP_DECODE_OK;
}

static enum ckp_decode_status strip_vxlan_gpe(struct ckp_layers *layers)
{
    static const uint16_t next_types[] = {0, CKP_TYPE_IPV4, CKP_TYPE_IPV6, CKP_TYPE_ETHERNET};
    const uint8_t *header = layers->rest.bytes;
    enum ckp_decode_status status = strip_vxlan(layers);

    if (status != CKP_DECODE_OK)
        return status;
    if (header[0] & (GPE_VERSION | GPE_IS_OAM))
        return CKP_DECODE_NOT_TCP;
    if (header[0] & GPE_HAS_NEXT)
        layers->type =
            header[3] < sizeof next_types / sizeof next_types[0] ? next_types[header[3]] : 0;
    return CKP_DECODE_OK;
}

static enum ckp_decode_status strip_geneve(struct ckp_layers *layers)
{
    struct ckp_span *rest = &layers->rest;
    const uint8_t *header = rest->bytes;
    enum ckp_decode_status status = ckp_check_header(rest, GENEVE_BYTES);

    if (status != CKP_DECODE_OK)
        return status;
    if (header[0] & GENEVE_VERSION || header[1] & GENEVE_IS_CONTROL)
        return CKP_DECODE_NOT_TCP;
    size_t bytes = GENEVE_BYTES + GENEVE_OPTIONS_UNIT * (header[0] & GENEVE_OPTIONS_MASK);
    status = ckp_check_header(rest, bytes);
    if (status != CKP_DECODE_OK)
        return status;
    layers->tunnel_id = ckp_load_be32(header + 4) >> 8;
    layers->type = ckp_load_be16(header + 2);
    ckp_span_advance(rest, bytes);
    return CKP_DECODE_OK;
}

/* Extension headers start with their length and end with the type of the next. */
static enum ckp_decode_status skip_gtp_extensions(struct ckp_span *rest, uint8_t next)
{
    for (int seen = 0; next != 0; seen++) {
        if (seen == GTP_EXTENSIONS_MAX)
            return CKP_DECODE_NESTED_TOO_DEEP;
        enum ckp_decode_status status = ckp_check_header(rest, 1);
        if (status != CKP_DECODE_OK)
            return status;
        size_t bytes = GTP_EXTENSION_UNIT * rest->bytes[0];
        if (bytes == 0)
            return CKP_DECODE_MALFORMED_TUNNEL;
        status = ckp_check_header(rest, bytes);
        if (status != CKP_DECODE_OK)
            return status;
        next = rest->bytes[bytes - 1];
        ckp_span_advance(rest, bytes);
    }
    return CKP_DECODE_OK;
}

static enum ckp_decode_status strip_gtp_u(struct ckp_layers *layers)
{
    struct ckp_span *rest = &layers->rest;
    const uint8_t *header = rest->bytes;
    enum ckp_decode_status status = ckp_check_header(rest, GTP_BYTES);

    if (status != CKP_DECODE_OK)
        return status;
    if (header[0] >> 4 != GTP_VERSION_1 || header[1] != GTP_PACKET)
        return CKP_DECODE_NOT_TCP;
    size_t bytes = GTP_BYTES + (header[0] & GTP_HAS_OPTIONAL ? GTP_OPTIONAL_BYTES : 0);
    status = ckp_check_header(rest, bytes);
    if (status != CKP_DECODE_OK)
        return status;
    layers->tunnel_id = ckp_load_be32(header + 4);
    layers->type = CKP_TYPE_IPV4;
    ckp_span_advance(rest, bytes);
    status = skip_gtp_extensions(rest, header[0] & GTP_HAS_EXTENSION ? header[bytes - 1] : 0);
    if (status == CKP_DECODE_OK)
        status = ckp_check_header(rest, 1);
    if (status != CKP_DECODE_OK)
        return status;
    unsigned version = rest->bytes[0] >> 4; /* a session may carry Ethernet or anything instead */
    return version == 4 || version == 6 ? CKP_DECODE_OK : CKP_DECODE_NOT_TCP;
}

static enum ckp_decode_status strip_udp(struct ckp_layers *layers)
{
    struct ckp_span *rest = &layers->rest;

    if (rest->length < UDP_BYTES)
        return CKP_DECODE_NOT_TCP;
    if (rest->captured < UDP_BYTES)
        return CKP_DECODE_TRUNCATED;
    uint16_t destination_port = ckp_load_be16(rest->bytes + 2);
    ckp_span_advance(rest, UDP_BYTES);
    switch (destination_port) {
    case PORT_VXLAN:
    case PORT_VXLAN_LINUX:
        return strip_vxlan(layers);
    case PORT_VXLAN_GPE:
        return strip_vxlan_gpe(layers);
    case PORT_GENEVE:
        return strip_geneve(layers);
    case PORT_GTP_U:
        return strip_gtp_u(layers);
    default:
        return CKP_DECODE_NOT_TCP;
    }
}

static enum ckp_decode_status strip_header(struct ckp_layers *layers, uint8_t protocol)
{
    switch (protocol) {
    case CKP_PROTOCOL_UDP:
        return strip_udp(layers);
    case CKP_PROTOCOL_GRE:
        return strip_gre(layers);
    case CKP_PROTOCOL_IPV4:
    case CKP_PROTOCOL_IPV6:
        layers->type = CKP_TYPE_IPV4;
        return CKP_DECODE_OK;
    default:
        return CKP_DECODE_NOT_TCP;
    }
}

enum ckp_decode_status ckp_tunnel_strip(struct ckp_layers *layers, uint8_t protocol)
{
    enum ckp_decode_status status = strip_header(layers, protocol);

    if (status == CKP_DECODE_OK)
        status = ckp_nest(layers);
    layers->vlan_id = CKP_VLAN_NONE; /* a tag of the outer frame is not the packet's */
    if (status == CKP_DECODE_OK && layers->type == CKP_TYPE_ETHERNET)
        status = ckp_link_strip_ethernet(layers);
    if (status == CKP_DECODE_OK)
        status = ckp_link_reach_ip(layers);
    return status == CKP_DECODE_NOT_IP ? CKP_DECODE_NOT_TCP : status;
}
