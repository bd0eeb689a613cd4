/* SPDX-License-Identifier: Apache-2.0 */
#include "layers.h"

#include "octets.h"

#define ETHERNET_TYPE_AT   12u
#define ETHERNET_BYTES     14u
#define LINUX_SLL_TYPE_AT  14u
#define LINUX_SLL_BYTES    16u
#define LINUX_SLL2_TYPE_AT 0u
#define LINUX_SLL2_BYTES   20u
#define NULL_BYTES         4u
#define VLAN_TAG_BYTES     4u
#define VLAN_TAGS_MAX      8
#define VLAN_ID_MASK       0x0fffu

#define TYPE_IPV4 0x0800u
#define TYPE_IPV6 0x86ddu

static bool is_vlan_type(uint16_t type)
{
    /* 802.1Q, 802.1ad, and two that switches used for QinQ before 802.1ad. */
    return type == 0x8100 || type == 0x88a8 || type == 0x9100 || type == 0x9200;
}

/* A header with a type field, then any number of VLAN tags, each with the next type at its end. */
static enum ckp_decode_status strip_typed(struct ckp_span *span, uint16_t *vlan_id, size_t type_at,
                                          size_t header_bytes)
{
    if (span->captured < header_bytes)
        return CKP_DECODE_TRUNCATED;

    uint16_t type = ckp_load_be16(span->bytes + type_at);
    ckp_span_advance(span, header_bytes);
    for (int tags = 0; is_vlan_type(type) && tags < VLAN_TAGS_MAX; tags++) {
        if (span->captured < VLAN_TAG_BYTES)
            return CKP_DECODE_TRUNCATED;
        *vlan_id = ckp_load_be16(span->bytes) & VLAN_ID_MASK;
        type = ckp_load_be16(span->bytes + 2);
        ckp_span_advance(span, VLAN_TAG_BYTES);
    }
    return type == TYPE_IPV4 || type == TYPE_IPV6 ? CKP_DECODE_OK : CKP_DECODE_NOT_IP;
}

static bool is_ip_family(uint32_t family)
{
    /* AF_INET everywhere; AF_INET6 of Linux, NetBSD and OpenBSD, FreeBSD, Darwin. */
    return family == 2 || family == 10 || family == 24 || family == 28 || family == 30;
}

static enum ckp_decode_status strip_family(struct ckp_span *span)
{
    if (span->captured < NULL_BYTES)
        return CKP_DECODE_TRUNCATED;

    uint32_t family = ckp_load_be32(span->bytes);
    ckp_span_advance(span, NULL_BYTES);
    return is_ip_family(family) || is_ip_family(__builtin_bswap32(family)) ? CKP_DECODE_OK
                                                                           : CKP_DECODE_NOT_IP;
}

enum ckp_decode_status ckp_link_strip(struct ckp_span *ip, uint16_t *vlan_id, enum ckp_link link,
                                      const struct ckp_frame *frame)
{
    *ip = (struct ckp_span){frame->bytes, frame->captured_bytes, frame->original_bytes};
    if (ip->length < ip->captured) /* a capture that lies about it */
        ip->length = ip->captured;
    *vlan_id = CKP_VLAN_NONE;

    switch (link) {
    case CKP_LINK_ETHERNET:
        return strip_typed(ip, vlan_id, ETHERNET_TYPE_AT, ETHERNET_BYTES);
    case CKP_LINK_LINUX_SLL:
        return strip_typed(ip, vlan_id, LINUX_SLL_TYPE_AT, LINUX_SLL_BYTES);
    case CKP_LINK_LINUX_SLL2:
        return strip_typed(ip, vlan_id, LINUX_SLL2_TYPE_AT, LINUX_SLL2_BYTES);
    case CKP_LINK_NULL:
        return strip_family(ip);
    case CKP_LINK_RAW_IP:
        break;
    }
    return CKP_DECODE_OK;
}
