/* SPDX-License-Identifier: Apache-2.0 */
/* PURE. Frame bytes -> packet. Every bound is checked before the read, nothing is allocated, and
 * every frame gets exactly one status. */
#ifndef CKP_DECODE_H
#define CKP_DECODE_H

#include "flow_key.h"
#include "run.h"
#include "segment.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** How the frame starts. */
enum ckp_link {
    CKP_LINK_ETHERNET,
    CKP_LINK_RAW_IP,
    CKP_LINK_LINUX_SLL,
    CKP_LINK_LINUX_SLL2,
    CKP_LINK_NULL, /* 4 bytes of address family, in the byte order of whoever captured */
};

struct ckp_frame {
    const uint8_t *bytes;
    size_t captured_bytes; /* how many of them there are */
    size_t original_bytes; /* how many there were on the wire */
    int64_t time_ns;
    bool is_chained; /* what is not captured here was captured elsewhere */
};

/** Which packet of those within each other is decoded. */
enum ckp_tunnels {
    CKP_TUNNELS_INNER, /* the innermost */
    CKP_TUNNELS_OUTER, /* the outermost: no tunnel is looked into */
};

/** OK; not for us (NOT_IP, NOT_TCP, FRAGMENT_NOT_FIRST); or bad (the rest). */
enum ckp_decode_status {
    CKP_DECODE_OK,
    CKP_DECODE_NOT_IP,
    CKP_DECODE_NOT_TCP,
    CKP_DECODE_FRAGMENT_NOT_FIRST,
    CKP_DECODE_TRUNCATED,        /* a header runs past the captured bytes */
    CKP_DECODE_MALFORMED_IP,     /* impossible version, header length or total length */
    CKP_DECODE_MALFORMED_TCP,    /* the TCP header does not fit into the IP packet */
    CKP_DECODE_MALFORMED_TUNNEL, /* a header of a tunnel does not fit, or has an impossible length
                                  */
    CKP_DECODE_NESTED_TOO_DEEP,
};

enum ckp_options_status {
    CKP_OPTIONS_OK,
    CKP_OPTIONS_CUT,       /* they run past the captured bytes */
    CKP_OPTIONS_MALFORMED, /* impossible length */
};

struct ckp_packet {
    struct ckp_segment segment;
    struct ckp_sack_block sack[CKP_SACK_BLOCKS_MAX];
    struct ckp_flow_key key; /* its domain is the caller's to set */
    int64_t tunnel_id;       /* of the innermost tunnel that has one, else CKP_TUNNEL_NONE */
    uint32_t payload_at;     /* where in the frame the headers of all layers end */
    uint32_t erspan_at;      /* where a header of ERSPAN III starts, the innermost; 0: none */
    uint32_t erspan_ip_at;   /* where the IP packet around that starts */
    uint16_t vlan_id;        /* innermost of the innermost frame, CKP_VLAN_NONE if untagged */
    bool is_first_fragment;  /* it, or a packet around it */
    bool is_cut;             /* of its IP bytes not all were captured */
    enum ckp_options_status options_status;
};

/**
 * Decodes one frame.
 *
 * Lengths come from the innermost IP header, so padding and snap lengths do not count, nor does
 * what a mirror cut off; an IP length of 0 (a segment not yet cut up by the network card) is taken
 * from what is around it, in the end from the frame's original length. Options before a
 * malformation, or before the end of the captured bytes, are kept and CKP_OPTION_MALFORMED is set.
 *
 * @return CKP_DECODE_OK, else the packet's content means nothing
 */
enum ckp_decode_status ckp_decode(struct ckp_packet *packet, enum ckp_link link,
                                  const struct ckp_frame *frame, enum ckp_tunnels tunnels);

#endif
