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

/* RFC 3032 §2.1, RFC 5332 §3; RFC 4385 §3. */
#define TYPE_MPLS_UPSTREAM  0x8848u
#define MPLS_LABEL_BYTES    4u
#define MPLS_LABELS_MAX     16
#define CONTROL_WORD_BYTES  4u
#define NIBBLE_CONTROL_WORD 0
#define NIBBLE_ASSOCIATED   1
#define NIBBLE_IPV4         4
#define NIBBLE_IPV6         6

/* RFC 2516 §4, RFC 1661 §2. */
#define TYPE_PPPOE_SESSION 0x8864u
#define PPPOE_VERSION_TYPE 0x11u
#define PPPOE_BYTES        8u /* with the PPP protocol */
#define PPP_IPV4           0x0021u
#define PPP_IPV6           0x0057u

static bool is_vlan_type(uint16_t type)
{
    /* 802.1Q, 802.1ad, and two that switches used for QinQ before 802.1ad. */
    return type == 0x8100 || type == 0x88a8 || type == 0x9100 || type == 0x9200;
}

/* A header with a type field, then any number of VLAN tags, each with the next type at its end. */
static inline enum ckp_decode_status strip_typed(struct ckp_layers *layers, size_t type_at,
                                                 size_t header_bytes)
{
    struct ckp_span *rest = &layers->rest;

    layers->vlan_id = CKP_VLAN_NONE;
    if (rest->captured < header_bytes)
        return CKP_DECODE_TRUNCATED;

    uint16_t type = ckp_load_be16(rest->bytes + type_at);
    ckp_span_advance(rest, header_bytes);
    for (int tags = 0; is_vlan_type(type) && tags < VLAN_TAGS_MAX; tags++) {
        if (rest->captured < VLAN_TAG_BYTES)
            return CKP_DECODE_TRUNCATED;
        layers->vlan_id = ckp_load_be16(rest->bytes) & VLAN_ID_MASK;
        type = ckp_load_be16(rest->bytes + 2);
        ckp_span_advance(rest, VLAN_TAG_BYTES);
    }
    layers->type = type;
    return CKP_DECODE_OK;
}

static bool is_ip_family(uint32_t family)
{
    /* AF_INET everywhere; AF_INET6 of Linux, NetBSD and OpenBSD, FreeBSD, Darwin. */
    return family == 2 || family == 10 || family == 24 || family == 28 || family == 30;
}

static enum ckp_decode_status strip_family(struct ckp_span *rest)
{
    if (rest->captured < NULL_BYTES)
        return CKP_DECODE_TRUNCATED;

    uint32_t family = ckp_load_be32(rest->bytes);
    ckp_span_advance(rest, NULL_BYTES);
    return is_ip_family(family) || is_ip_family(__builtin_bswap32(family)) ? CKP_DECODE_OK
                                                                           : CKP_DECODE_NOT_IP;
}

enum ckp_decode_status ckp_link_strip_ethernet(struct ckp_layers *layers)
{
    return strip_typed(layers, ETHERNET_TYPE_AT, ETHERNET_BYTES);
}

enum ckp_decode_status ckp_link_strip(struct ckp_layers *layers, enum ckp_link link,
                                      const struct ckp_frame *frame)
{
    *layers = (struct ckp_layers){
        .rest = {frame->bytes, frame->captured_bytes, frame->original_bytes},
        .type = CKP_TYPE_IPV4,
        .vlan_id = CKP_VLAN_NONE,
        .tunnel_id = CKP_TUNNEL_NONE,
    };
    if (layers->rest.length < layers->rest.captured) /* a capture that lies about it */
        layers->rest.length = layers->rest.captured;

    switch (link) {
    case CKP_LINK_ETHERNET:
        return strip_typed(layers, ETHERNET_TYPE_AT, ETHERNET_BYTES);
    case CKP_LINK_LINUX_SLL:
        return strip_typed(layers, LINUX_SLL_TYPE_AT, LINUX_SLL_BYTES);
    case CKP_LINK_LINUX_SLL2:
        return strip_typed(layers, LINUX_SLL2_TYPE_AT, LINUX_SLL2_BYTES);
    case CKP_LINK_NULL:
        return strip_family(&layers->rest);
    case CKP_LINK_RAW_IP:
        break;
    }
    return CKP_DECODE_OK;
}

static bool is_mpls_type(uint16_t type)
{
    return type == CKP_TYPE_MPLS || type == TYPE_MPLS_UPSTREAM;
}

static bool is_known_type(uint16_t type)
{
    return ckp_is_ip(type) || is_vlan_type(type) || is_mpls_type(type) ||
           type == TYPE_PPPOE_SESSION;
}

/* Of a pseudo-wire that starts with a nibble of 0: a control word, or an address such as 00:1b:..?
 * The former is all 0 unless it counts; else the EtherType tells, if it stands where it would
 * behind an address. */
static bool has_control_word(const struct ckp_span *rest)
{
    return rest->captured < ETHERNET_BYTES || ckp_load_be32(rest->bytes) == 0 ||
           !is_known_type(ckp_load_be16(rest->bytes + ETHERNET_TYPE_AT));
}

/* Nothing says what a label stack carries. Routers that look, to spread flows over paths, take the
 * first nibble for the IP version and all else for a pseudo-wire (RFC 4928 §2); so do we. */
static enum ckp_decode_status strip_labelled(struct ckp_layers *layers)
{
    struct ckp_span *rest = &layers->rest;
    enum ckp_decode_status status = ckp_check_header(rest, 1);

    if (status != CKP_DECODE_OK)
        return status;
    switch (rest->bytes[0] >> 4) {
    case NIBBLE_IPV4:
    case NIBBLE_IPV6:
        layers->type = CKP_TYPE_IPV4;
        return CKP_DECODE_OK;
    case NIBBLE_ASSOCIATED:
        return CKP_DECODE_NOT_IP;
    case NIBBLE_CONTROL_WORD:
        if (!has_control_word(rest))
            break;
        status = ckp_check_header(rest, CONTROL_WORD_BYTES);
        if (status != CKP_DECODE_OK)
            return status;
        ckp_span_advance(rest, CONTROL_WORD_BYTES);
    }
    return ckp_link_strip_ethernet(layers);
}

static enum ckp_decode_status strip_mpls(struct ckp_layers *layers)
{
    struct ckp_span *rest = &layers->rest;
    bool is_bottom = false;

    for (int labels = 0; !is_bottom; labels++) {
        if (labels == MPLS_LABELS_MAX)
            return CKP_DECODE_NESTED_TOO_DEEP;
        enum ckp_decode_status status = ckp_check_header(rest, MPLS_LABEL_BYTES);
        if (status != CKP_DECODE_OK)
            return status;
        is_bottom = rest->bytes[2] & 1;
        ckp_span_advance(rest, MPLS_LABEL_BYTES);
    }
    return strip_labelled(layers);
}

static enum ckp_decode_status strip_pppoe(struct ckp_layers *layers)
{
    struct ckp_span *rest = &layers->rest;
    enum ckp_decode_status status = ckp_check_header(rest, PPPOE_BYTES);

    if (status != CKP_DECODE_OK)
        return status;
    uint16_t protocol = ckp_load_be16(rest->bytes + 6);
    if (rest->bytes[0] != PPPOE_VERSION_TYPE || rest->bytes[1] != 0 ||
        (protocol != PPP_IPV4 && protocol != PPP_IPV6))
        return CKP_DECODE_NOT_IP;
    ckp_span_advance(rest, PPPOE_BYTES);
    layers->type = CKP_TYPE_IPV4;
    return CKP_DECODE_OK;
}

enum ckp_decode_status ckp_link_reach_ip(struct ckp_layers *layers)
{
    enum ckp_decode_status status = CKP_DECODE_OK;

    while (status == CKP_DECODE_OK && !ckp_is_ip(layers->type)) {
        if (!is_mpls_type(layers->type) && layers->type != TYPE_PPPOE_SESSION)
            return CKP_DECODE_NOT_IP;
        status = ckp_nest(layers);
        if (status == CKP_DECODE_OK)
            status = is_mpls_type(layers->type) ? strip_mpls(layers) : strip_pppoe(layers);
    }
    return status;
}
