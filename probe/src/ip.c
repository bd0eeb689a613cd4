/* SPDX-License-Identifier: Apache-2.0 */
#include "layers.h"

#include "octets.h"

/* RFC 791 §3.1. */
#define IPV4_HEADER_BYTES_MIN 20u
#define IPV4_MORE_FRAGMENTS   0x2000u
#define IPV4_OFFSET_MASK      0x1fffu

/* RFC 8200 §3, §4. */
#define IPV6_HEADER_BYTES   40u
#define IPV6_FRAGMENT_BYTES 8u
#define IPV6_OFFSET_MASK    0xfff8u
#define IPV6_MORE_FRAGMENTS 0x0001u
#define IPV6_EXTENSIONS_MAX 16

enum {
    NEXT_HOP_BY_HOP = 0,
    NEXT_ROUTING = 43,
    NEXT_FRAGMENT = 44,
    NEXT_AUTHENTICATION = 51,
    NEXT_DESTINATION = 60,
    NEXT_MOBILITY = 135,
    NEXT_HIP = 139,
    NEXT_SHIM6 = 140,
};

/* TCP, and what may carry a tunnel. */
static bool may_lead_to_tcp(uint8_t protocol)
{
    return protocol == CKP_PROTOCOL_TCP || protocol == CKP_PROTOCOL_UDP ||
           protocol == CKP_PROTOCOL_GRE || protocol == CKP_PROTOCOL_IPV4 ||
           protocol == CKP_PROTOCOL_IPV6;
}

/* Whether `bytes` can be read: beyond the layer's length it is malformed, beyond the captured
 * bytes only truncated. */
static enum ckp_decode_status check(const struct ckp_span *span, size_t bytes)
{
    if (bytes > span->length)
        return CKP_DECODE_MALFORMED_IP;
    return bytes > span->captured ? CKP_DECODE_TRUNCATED : CKP_DECODE_OK;
}

/* Ends the span where the IP length says; 0 means "not cut up yet": as long as the frame. A length
 * beyond the frame is believed: some captures lose the original length, not the header. */
static void limit_to_ip_length(struct ckp_span *span, size_t ip_bytes)
{
    if (ip_bytes == 0)
        return;
    span->length = ip_bytes;
    if (span->captured > ip_bytes)
        span->captured = ip_bytes;
}

static enum ckp_decode_status read_ipv4(struct ckp_ip *ip, struct ckp_span *span)
{
    const uint8_t *header = span->bytes;

    if (span->captured < IPV4_HEADER_BYTES_MIN)
        return CKP_DECODE_TRUNCATED;

    size_t header_bytes = (size_t)(header[0] & 0x0f) * 4;
    limit_to_ip_length(span, ckp_load_be16(header + 2));
    if (header_bytes < IPV4_HEADER_BYTES_MIN || header_bytes > span->length)
        return CKP_DECODE_MALFORMED_IP;
    uint8_t protocol = header[9];
    if (!may_lead_to_tcp(protocol))
        return CKP_DECODE_NOT_TCP;

    uint16_t fragment = ckp_load_be16(header + 6);
    if (fragment & IPV4_OFFSET_MASK)
        return protocol == CKP_PROTOCOL_TCP ? CKP_DECODE_FRAGMENT_NOT_FIRST : CKP_DECODE_NOT_TCP;
    if (header_bytes > span->captured)
        return CKP_DECODE_TRUNCATED;

    *ip = (struct ckp_ip){
        .source = ckp_address_from_ipv4(header + 12),
        .destination = ckp_address_from_ipv4(header + 16),
        .ip_bytes = span->length,
        .id = ckp_load_be16(header + 4),
        .protocol = protocol,
        .time_to_live = header[8],
        .traffic_class = header[1],
        .is_first_fragment = (fragment & IPV4_MORE_FRAGMENTS) != 0,
    };
    ckp_span_advance(span, header_bytes);
    return CKP_DECODE_OK;
}

/* Bytes of an extension header of which two can be read; 0 if `kind` is none that we can skip. */
static size_t extension_bytes(uint8_t kind, const uint8_t *header)
{
    switch (kind) {
    case NEXT_HOP_BY_HOP:
    case NEXT_ROUTING:
    case NEXT_DESTINATION:
    case NEXT_MOBILITY:
    case NEXT_HIP:
    case NEXT_SHIM6:
        return ((size_t)header[1] + 1) * 8;
    case NEXT_AUTHENTICATION: /* counts in 4 bytes, minus 2: RFC 4302 §2.2 */
        return ((size_t)header[1] + 2) * 4;
    case NEXT_FRAGMENT:
        return IPV6_FRAGMENT_BYTES;
    default:
        return 0;
    }
}

static bool is_extension(uint8_t kind)
{
    static const uint8_t shortest[2];

    return extension_bytes(kind, shortest) != 0;
}

static enum ckp_decode_status read_fragment(struct ckp_ip *ip, const uint8_t *header)
{
    uint16_t fragment = ckp_load_be16(header + 2);

    if ((fragment & IPV6_OFFSET_MASK) == 0) {
        ip->is_first_fragment = (fragment & IPV6_MORE_FRAGMENTS) != 0;
        return CKP_DECODE_OK;
    }
    /* What follows is the middle of something; an extension may well have led to TCP. */
    return header[0] == CKP_PROTOCOL_TCP || is_extension(header[0]) ? CKP_DECODE_FRAGMENT_NOT_FIRST
                                                                    : CKP_DECODE_NOT_TCP;
}

/* Walks from the fixed header to the protocol. */
static enum ckp_decode_status skip_extensions(struct ckp_ip *ip, struct ckp_span *span,
                                              uint8_t next)
{
    for (int seen = 0; !may_lead_to_tcp(next); seen++) {
        if (!is_extension(next))
            return CKP_DECODE_NOT_TCP;
        if (seen == IPV6_EXTENSIONS_MAX)
            return CKP_DECODE_MALFORMED_IP;

        enum ckp_decode_status status = check(span, 2);
        if (status != CKP_DECODE_OK)
            return status;
        size_t bytes = extension_bytes(next, span->bytes);
        status = check(span, bytes);
        if (status != CKP_DECODE_OK)
            return status;
        if (next == NEXT_FRAGMENT) {
            status = read_fragment(ip, span->bytes);
            if (status != CKP_DECODE_OK)
                return status;
        }
        next = span->bytes[0];
        ckp_span_advance(span, bytes);
    }
    ip->protocol = next;
    return CKP_DECODE_OK;
}

static enum ckp_decode_status read_ipv6(struct ckp_ip *ip, struct ckp_span *span)
{
    const uint8_t *header = span->bytes;

    if (span->captured < IPV6_HEADER_BYTES)
        return CKP_DECODE_TRUNCATED;

    size_t payload_bytes = ckp_load_be16(header + 4);
    limit_to_ip_length(span, payload_bytes ? IPV6_HEADER_BYTES + payload_bytes : 0);
    *ip = (struct ckp_ip){
        .source = ckp_address_from_ipv6(header + 8),
        .destination = ckp_address_from_ipv6(header + 24),
        .ip_bytes = span->length,
        .time_to_live = header[7],
        .traffic_class = (uint8_t)(ckp_load_be16(header) >> 4),
        .is_ipv6 = true,
    };
    ckp_span_advance(span, IPV6_HEADER_BYTES);
    return skip_extensions(ip, span, header[6]);
}

enum ckp_decode_status ckp_ip_strip(struct ckp_ip *ip, struct ckp_span *rest)
{
    if (rest->captured < 1)
        return CKP_DECODE_TRUNCATED;

    switch (rest->bytes[0] >> 4) {
    case 4:
        return read_ipv4(ip, rest);
    case 6:
        return read_ipv6(ip, rest);
    default:
        return CKP_DECODE_MALFORMED_IP;
    }
}
