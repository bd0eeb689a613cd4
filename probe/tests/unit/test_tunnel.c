/* SPDX-License-Identifier: Apache-2.0 */
/* Frames with a packet in a tunnel: one row = one sentence, the frame, and what must come of it. */
#include "erspan_clock.h"
#include "frame_text.h"

#include <stdio.h>

/* 192.0.2.1 > 198.51.100.2 and 2001:db8:ff::1 > ::2; up to the end of the frame */
#define OUTER_IPV4(protocol) "4500 LLLL 0001 0000 40 " protocol " 0000 c0000201 c6336402 "
#define OUTER_IPV6(next)                                                                           \
    "60000000 PPPP " next " 40 20010db800ff00000000000000000001 "                                  \
    "20010db800ff00000000000000000002 "
#define OUTER_MACS      "00005e005302 00005e005301 "
#define OUTER(protocol) OUTER_MACS "0800 " OUTER_IPV4(protocol)
#define UDP(port)       OUTER("11") "c001 " port " 0000 0000 "

/* What is in there: 4 bytes of payload. */
#define INNER_IPV4  IPV4("002c") TCP_PLAIN "61626364 "
#define INNER_IPV6  IPV6("0018", "06") TCP_PLAIN "61626364 "
#define INNER_FRAME ETHERNET_IPV4 INNER_IPV4
#define INNER_VLAN  MACS "8100 a007 0800 " INNER_IPV4
#define ARP_FRAME   MACS "0806 0001080006040001 "

/* labels 16001, and 24005 at the bottom of the stack; time to live 64 */
#define LABEL  "03e81040 "
#define BOTTOM "05dc5140 "
#define MPLS   OUTER_MACS "8847 " LABEL BOTTOM
/* 16 labels, the last at the bottom */
#define FIVE_LABELS    LABEL LABEL LABEL LABEL LABEL
#define SIXTEEN_LABELS FIVE_LABELS FIVE_LABELS FIVE_LABELS BOTTOM

/* session 7 */
#define PPPOE(protocol) OUTER_MACS "8864 1100 0007 002e " protocol " "

/* flags and protocol of GRE are given */
#define GRE(flags, type) OUTER("2f") flags " " type " "

/* VLAN 7; class 7, the tag was kept, truncated, session 5; the index */
#define ERSPAN_II OUTER("2f") "1000 88be 00000001 1007 fc05 00000000 "
/* VLAN 7, session 1023; timestamp, security group; Ethernet in units of 100 ns, or as given */
#define ERSPAN_III(kind) OUTER("2f") "1000 22eb 00000001 2007 03ff 12345678 0000 " kind " "

/* network 5001 */
#define VXLAN  UDP("12b5") "08000000 00138900 "
#define GENEVE UDP("17c1") "0000 6558 00138900 "

/* version 1, GTP, tunnel 0xfedcba98; length; flags are given */
#define GTP_U(flags) UDP("0868") flags " ff 0000 fedcba98 "

#define TUNNEL_0 INT64_MAX

struct row {
    const char *sentence;
    const char *frame;
    enum ckp_decode_status status;
    enum ckp_tunnels tunnels;
    int64_t tunnel_id; /* of OK rows only, like the rest; 0: none, TUNNEL_0: 0 */
    uint16_t vlan_id;  /* 0: untagged */
    bool is_ipv6;
    bool is_first_fragment;
};

static const struct row rows[] = {
    /* --- MPLS --- */
    {"IPv4 under two labels", MPLS INNER_IPV4, .status = CKP_DECODE_OK},
    {"IPv6 under two labels", MPLS INNER_IPV6, .is_ipv6 = true},
    {"an upstream label", OUTER_MACS "8848 " BOTTOM INNER_IPV4, .status = CKP_DECODE_OK},
    {"the tag of a frame with labels is the packet's",
     OUTER_MACS "8100 0064 8847 " BOTTOM INNER_IPV4, .vlan_id = 100},
    {"a pseudo-wire with a control word", MPLS "00000000 " INNER_FRAME, .status = CKP_DECODE_OK},
    {"a control word before an address that looks like an EtherType",
     MPLS "00000000 020000000002 020008000001 0800 " INNER_IPV4, .status = CKP_DECODE_OK},
    {"a control word that counts", MPLS "0000abcd " INNER_VLAN, .vlan_id = 7},
    {"a pseudo-wire without one, to an address of which only 02 tells", MPLS INNER_FRAME,
     .status = CKP_DECODE_OK},
    {"to an address that cannot be a control word",
     MPLS "3c"
          "0000000002 020000000001 0800 " INNER_IPV4,
     .status = CKP_DECODE_OK},
    {"a tag within a pseudo-wire goes over one around it",
     OUTER_MACS "8100 0064 8847 " BOTTOM INNER_VLAN, .vlan_id = 7},
    {"an untagged frame in a tagged one is untagged",
     OUTER_MACS "8100 0064 8847 " BOTTOM INNER_FRAME, .status = CKP_DECODE_OK},
    {"labels within a pseudo-wire", MPLS "00000000 " MACS "8847 " BOTTOM INNER_IPV4,
     .status = CKP_DECODE_OK},
    {"PPPoE within a pseudo-wire", MPLS "00000000 " MACS "8864 1100 0007 002e 0021 " INNER_IPV4,
     .status = CKP_DECODE_OK},
    {"ARP in a pseudo-wire", MPLS "00000000 " ARP_FRAME "0000", .status = CKP_DECODE_NOT_IP},
    {"an associated channel", MPLS "10000007 45000000", .status = CKP_DECODE_NOT_IP},
    {"labels without a bottom", OUTER_MACS "8847 " LABEL LABEL,
     .status = CKP_DECODE_MALFORMED_TUNNEL},
    {"labels with nothing beneath", MPLS, .status = CKP_DECODE_MALFORMED_TUNNEL},
    {"half a label", OUTER_MACS "8847 03e8", .status = CKP_DECODE_MALFORMED_TUNNEL},
    {"half a control word", MPLS "0000", .status = CKP_DECODE_MALFORMED_TUNNEL},
    {"16 labels", OUTER_MACS "8847 " SIXTEEN_LABELS INNER_IPV4, .status = CKP_DECODE_OK},
    {"17 labels", OUTER_MACS "8847 " LABEL SIXTEEN_LABELS INNER_IPV4,
     .status = CKP_DECODE_NESTED_TOO_DEEP},

    /* --- PPPoE --- */
    {"IPv4 in a PPPoE session", PPPOE("0021") INNER_IPV4, .status = CKP_DECODE_OK},
    {"IPv6 in a PPPoE session", PPPOE("0057") INNER_IPV6, .is_ipv6 = true},
    {"its tag is the packet's", OUTER_MACS "8100 0064 8864 1100 0007 002e 0021 " INNER_IPV4,
     .vlan_id = 100},
    {"the link control protocol", PPPOE("c021") "0101 0004 0000", .status = CKP_DECODE_NOT_IP},
    {"PPPoE discovery", OUTER_MACS "8863 1109 0000 0004 0101 0000", .status = CKP_DECODE_NOT_IP},
    {"a PPPoE session that is no data", OUTER_MACS "8864 11a7 0007 0000 0021 " INNER_IPV4,
     .status = CKP_DECODE_NOT_IP},
    {"PPPoE of another version", OUTER_MACS "8864 2100 0007 002e 0021 " INNER_IPV4,
     .status = CKP_DECODE_NOT_IP},
    {"half a PPPoE header", OUTER_MACS "8864 1100 0007", .status = CKP_DECODE_MALFORMED_TUNNEL},

    /* --- GRE --- */
    {"IPv4 in GRE", GRE("0000", "0800") INNER_IPV4, .status = CKP_DECODE_OK},
    {"IPv6 in GRE in IPv6", OUTER_MACS "86dd " OUTER_IPV6("2f") "0000 86dd " INNER_IPV6,
     .is_ipv6 = true},
    {"a tag around it is not the packet's",
     OUTER_MACS "8100 0064 0800 " OUTER_IPV4("2f") "0000 0800 " INNER_IPV4,
     .status = CKP_DECODE_OK},
    {"with a checksum", GRE("8000", "0800") "abcd0000 " INNER_IPV4, .status = CKP_DECODE_OK},
    {"with a key", GRE("2000", "0800") "fedcba98 " INNER_IPV4, .tunnel_id = 0xfedcba98},
    {"with a sequence number", GRE("1000", "0800") "00000001 " INNER_IPV4, .status = CKP_DECODE_OK},
    {"with all three", GRE("b000", "0800") "abcd0000 00000005 00000001 " INNER_IPV4,
     .tunnel_id = 5},
    {"labels in GRE", GRE("0000", "8847") BOTTOM INNER_IPV4, .status = CKP_DECODE_OK},
    {"bridged Ethernet", GRE("0000", "6558") INNER_VLAN, .vlan_id = 7},
    {"of NVGRE the subnet counts, not the flow", GRE("2000", "6558") "123456ff " INNER_FRAME,
     .tunnel_id = 0x123456},
    {"the least subnet of NVGRE", GRE("2000", "6558") "00100001 " INNER_FRAME, .tunnel_id = 0x1000},
    {"bridged with a key that cannot be of NVGRE", GRE("2000", "6558") "000fffff " INNER_FRAME,
     .tunnel_id = 0xfffff},
    {"with a sequence number neither", GRE("3000", "6558") "123456ff 00000001 " INNER_FRAME,
     .tunnel_id = 0x123456ff},
    {"nor is what is not bridged", GRE("2000", "0800") "123456ff " INNER_IPV4,
     .tunnel_id = 0x123456ff},
    {"GRE with a routing field", GRE("4000", "0800") "abcd0000 00000000 " INNER_IPV4,
     .status = CKP_DECODE_NOT_TCP},
    {"enhanced GRE of PPTP", GRE("3001", "880b") "00300001 00000001 0021 " INNER_IPV4,
     .status = CKP_DECODE_NOT_TCP},
    {"GRE of another version", GRE("0001", "0800") INNER_IPV4, .status = CKP_DECODE_NOT_TCP},
    {"a GRE keepalive", GRE("0000", "0000"), .status = CKP_DECODE_NOT_TCP},
    {"ARP bridged over GRE", GRE("0000", "6558") ARP_FRAME, .status = CKP_DECODE_NOT_TCP},
    {"Ethernet on the wire is not bridged", OUTER_MACS "6558 " INNER_FRAME,
     .status = CKP_DECODE_NOT_IP},
    {"two bytes of GRE", OUTER("2f") "0000", .status = CKP_DECODE_MALFORMED_TUNNEL},
    {"a key beyond the packet", GRE("2000", "0800") "0000", .status = CKP_DECODE_MALFORMED_TUNNEL},

    /* --- ERSPAN --- */
    {"ERSPAN I", GRE("0000", "88be") INNER_VLAN, .vlan_id = 7},
    {"ERSPAN II", ERSPAN_II INNER_FRAME, .tunnel_id = 5},
    {"ERSPAN III", ERSPAN_III("0002") INNER_FRAME, .tunnel_id = 1023},
    {"with its platform's subheader", ERSPAN_III("0003") "0c000000 00000000 " INNER_FRAME,
     .tunnel_id = 1023},
    {"ERSPAN III without Ethernet", ERSPAN_III("0802") INNER_IPV4, .tunnel_id = 1023},
    {"ERSPAN III with another kind of frame", ERSPAN_III("0402") INNER_FRAME,
     .status = CKP_DECODE_NOT_TCP},
    {"ERSPAN of a version to come", GRE("1000", "88be") "00000001 3007 0005 00000000 " INNER_FRAME,
     .status = CKP_DECODE_NOT_TCP},
    {"half of ERSPAN II", GRE("1000", "88be") "00000001 1007 0005",
     .status = CKP_DECODE_MALFORMED_TUNNEL},
    {"ERSPAN III as short as II", GRE("1000", "22eb") "00000001 2007 03ff 12345678",
     .status = CKP_DECODE_MALFORMED_TUNNEL},
    {"a subheader beyond the packet", ERSPAN_III("0003") "0c000000",
     .status = CKP_DECODE_MALFORMED_TUNNEL},

    /* --- VXLAN --- */
    {"VXLAN", VXLAN INNER_FRAME, .tunnel_id = 5001},
    {"on the port of old", UDP("2118") "08000000 00138900 " INNER_FRAME, .tunnel_id = 5001},
    {"over IPv6, with IPv6 within",
     OUTER_MACS
     "86dd " OUTER_IPV6("11") "c001 12b5 0000 0000 08000000 00138900 " ETHERNET_IPV6 INNER_IPV6,
     .tunnel_id = 5001, .is_ipv6 = true},
    {"behind an extension header",
     OUTER_MACS "86dd " OUTER_IPV6(
         "3c") "1100 010400000000 c001 12b5 0000 0000 08000000 00138900 " INNER_FRAME,
     .tunnel_id = 5001},
    {"network 0 is one too", UDP("12b5") "08000000 000000ff " INNER_FRAME, .tunnel_id = TUNNEL_0},
    {"the tag within counts", VXLAN INNER_VLAN, .tunnel_id = 5001, .vlan_id = 7},
    {"and not the one around it",
     OUTER_MACS
     "8100 0064 0800 " OUTER_IPV4("11") "c001 12b5 0000 0000 08000000 00138900 " INNER_FRAME,
     .tunnel_id = 5001},
    {"VXLAN without a network", UDP("12b5") "00000000 00138900 " INNER_FRAME,
     .status = CKP_DECODE_NOT_TCP},
    {"ARP in VXLAN", VXLAN ARP_FRAME, .status = CKP_DECODE_NOT_TCP},
    {"half of VXLAN", UDP("12b5") "08000000", .status = CKP_DECODE_MALFORMED_TUNNEL},
    {"half a frame in VXLAN", VXLAN MACS, .status = CKP_DECODE_TRUNCATED},
    {"IPv4 in VXLAN-GPE", UDP("12b6") "0c000001 00138900 " INNER_IPV4, .tunnel_id = 5001},
    {"IPv6 in VXLAN-GPE", UDP("12b6") "0c000002 00138900 " INNER_IPV6, .tunnel_id = 5001,
     .is_ipv6 = true},
    {"Ethernet in VXLAN-GPE", UDP("12b6") "0c000003 00138900 " INNER_FRAME, .tunnel_id = 5001},
    {"and unless something else is said", UDP("12b6") "08000001 00138900 " INNER_FRAME,
     .tunnel_id = 5001},
    {"a service header in VXLAN-GPE", UDP("12b6") "0c000004 00138900 " INNER_IPV4,
     .status = CKP_DECODE_NOT_TCP},
    {"management in VXLAN-GPE", UDP("12b6") "0d000001 00138900 " INNER_IPV4,
     .status = CKP_DECODE_NOT_TCP},
    {"VXLAN-GPE of another version", UDP("12b6") "1c000001 00138900 " INNER_IPV4,
     .status = CKP_DECODE_NOT_TCP},

    /* --- Geneve --- */
    {"Geneve", GENEVE INNER_FRAME, .tunnel_id = 5001},
    {"with 8 bytes of options", UDP("17c1") "0200 6558 00138900 ff000101 00000000 " INNER_FRAME,
     .tunnel_id = 5001},
    {"IPv4 in Geneve", UDP("17c1") "0000 0800 00138900 " INNER_IPV4, .tunnel_id = 5001},
    {"Geneve of another version", UDP("17c1") "4000 6558 00138900 " INNER_FRAME,
     .status = CKP_DECODE_NOT_TCP},
    {"a control packet of Geneve", UDP("17c1") "0080 6558 00138900 " INNER_FRAME,
     .status = CKP_DECODE_NOT_TCP},
    {"half of Geneve", UDP("17c1") "0000 6558", .status = CKP_DECODE_MALFORMED_TUNNEL},
    {"options beyond the packet", UDP("17c1") "3f00 6558 00138900 " INNER_FRAME,
     .status = CKP_DECODE_MALFORMED_TUNNEL},

    /* --- GTP-U --- */
    {"GTP-U", GTP_U("30") INNER_IPV4, .tunnel_id = 0xfedcba98},
    {"IPv6 in GTP-U", GTP_U("30") INNER_IPV6, .tunnel_id = 0xfedcba98, .is_ipv6 = true},
    {"with a sequence number", GTP_U("32") "00010000 " INNER_IPV4, .tunnel_id = 0xfedcba98},
    {"whose extension field says nothing", GTP_U("32") "00010085 " INNER_IPV4,
     .tunnel_id = 0xfedcba98},
    {"with extension headers of 4 and 8 bytes",
     GTP_U("34") "00000085 01000085 02000000 00000000 " INNER_IPV4, .tunnel_id = 0xfedcba98},
    {"with none although there could be", GTP_U("34") "00000000 " INNER_IPV4,
     .tunnel_id = 0xfedcba98},
    {"8 extension headers",
     GTP_U("34") "00000085 01000085 01000085 01000085 01000085 01000085 01000085 01000085 "
                 "01000000 " INNER_IPV4,
     .tunnel_id = 0xfedcba98},
    {"9 extension headers",
     GTP_U("34") "00000085 01000085 01000085 01000085 01000085 01000085 01000085 01000085 01000085 "
                 "01000000 " INNER_IPV4,
     .status = CKP_DECODE_NESTED_TOO_DEEP},
    {"an extension header of length 0 would loop for ever",
     GTP_U("34") "00000085 00000085 " INNER_IPV4, .status = CKP_DECODE_MALFORMED_TUNNEL},
    {"one beyond the packet", GTP_U("34") "00000085 ff000000",
     .status = CKP_DECODE_MALFORMED_TUNNEL},
    {"one that is not there", GTP_U("34") "00000085", .status = CKP_DECODE_MALFORMED_TUNNEL},
    {"an echo request", UDP("0868") "32 01 0004 00000000 00010000", .status = CKP_DECODE_NOT_TCP},
    {"GTP of version 2", UDP("0868") "50 ff 0000 fedcba98 " INNER_IPV4,
     .status = CKP_DECODE_NOT_TCP},
    {"GTP prime", UDP("0868") "20 ff 0000 fedcba98 " INNER_IPV4, .status = CKP_DECODE_NOT_TCP},
    {"Ethernet in GTP-U", GTP_U("30") INNER_FRAME, .status = CKP_DECODE_NOT_TCP},
    {"half of GTP-U", UDP("0868") "30 ff 0000", .status = CKP_DECODE_MALFORMED_TUNNEL},
    {"half of its optional part", GTP_U("32") "0001", .status = CKP_DECODE_MALFORMED_TUNNEL},
    {"nothing in GTP-U", GTP_U("30"), .status = CKP_DECODE_MALFORMED_TUNNEL},

    /* --- IP in IP, and in each other --- */
    {"4in4", OUTER("04") INNER_IPV4, .status = CKP_DECODE_OK},
    {"6in4", OUTER("29") INNER_IPV6, .is_ipv6 = true},
    {"4in6", OUTER_MACS "86dd " OUTER_IPV6("04") INNER_IPV4, .status = CKP_DECODE_OK},
    {"6in6", OUTER_MACS "86dd " OUTER_IPV6("29") INNER_IPV6, .is_ipv6 = true},
    {"a mirror of a tunnel: the id of the inner one",
     ERSPAN_II ETHERNET_IPV4 OUTER_IPV4("11") "c001 12b5 0000 0000 08000000 00138900 " INNER_FRAME,
     .tunnel_id = 5001},
    {"a tunnel without an id leaves that of the one around it",
     VXLAN ETHERNET_IPV4 OUTER_IPV4("04") INNER_IPV4, .tunnel_id = 5001},
    {"an impossible version within", OUTER("04") "55000028", .status = CKP_DECODE_MALFORMED_IP},
    {"nothing within", OUTER("04"), .status = CKP_DECODE_TRUNCATED},
    {"UDP within", OUTER("04") OUTER_IPV4("11") "00350035 00080000", .status = CKP_DECODE_NOT_TCP},
    {"too little TCP within", OUTER("04") IPV4("0027") TCP_PLAIN,
     .status = CKP_DECODE_MALFORMED_TCP},
    {"a later fragment within",
     OUTER("04") "4500 002c 1234 2001 4006 0000 0a000001 0a000002 " TCP_PLAIN "61626364",
     .status = CKP_DECODE_FRAGMENT_NOT_FIRST},

    /* --- around it --- */
    {"the first fragment of a tunnel's packet, of which the inner header tells the length",
     OUTER_MACS "0800 4500 LLLL 0001 2000 4011 0000 c0000201 c6336402 c001 12b5 0000 0000 "
                "08000000 00138900 " ETHERNET_IPV4 IPV4("002c") TCP_PLAIN,
     .tunnel_id = 5001, .is_first_fragment = true},
    {"a later one", OUTER_MACS "0800 4500 LLLL 0001 0001 4011 0000 c0000201 c6336402 " INNER_FRAME,
     .status = CKP_DECODE_NOT_TCP},
    {"a mirror that cuts frames leaves their lengths",
     ERSPAN_II ETHERNET_IPV4 IPV4("002c") TCP_PLAIN, .tunnel_id = 5},
    {"a frame's padding is not the packet's",
     OUTER_MACS "0800 4500 0040 0001 0000 4004 0000 c0000201 c6336402 " INNER_IPV4 "00000000",
     .status = CKP_DECODE_OK},
    {"UDP to a port that we do not know", UDP("12b4") "08000000 00138900 " INNER_FRAME,
     .status = CKP_DECODE_NOT_TCP},
    {"UDP from a port of a tunnel",
     OUTER("11") "12b5 c001 0000 0000 08000000 00138900 " INNER_FRAME,
     .status = CKP_DECODE_NOT_TCP},
    {"UDP too short for its header", OUTER("11") "c001 12b5", .status = CKP_DECODE_NOT_TCP},

    /* --- the outer packet alone --- */
    {"4in4, outer", OUTER("04") INNER_IPV4, .status = CKP_DECODE_NOT_TCP,
     .tunnels = CKP_TUNNELS_OUTER},
    {"GRE, outer", GRE("0000", "0800") INNER_IPV4, .status = CKP_DECODE_NOT_TCP,
     .tunnels = CKP_TUNNELS_OUTER},
    {"VXLAN, outer", VXLAN INNER_FRAME, .status = CKP_DECODE_NOT_TCP, .tunnels = CKP_TUNNELS_OUTER},
    {"labels are no tunnel: what they carry is the outermost packet", MPLS INNER_IPV4,
     .status = CKP_DECODE_OK, .tunnels = CKP_TUNNELS_OUTER},
    {"nor is a pseudo-wire", MPLS "00000000 " INNER_FRAME, .status = CKP_DECODE_OK,
     .tunnels = CKP_TUNNELS_OUTER},
    {"nor PPPoE", PPPOE("0021") INNER_IPV4, .status = CKP_DECODE_OK, .tunnels = CKP_TUNNELS_OUTER},
};

#define ROWS (sizeof rows / sizeof rows[0])

/* Of the first `captured` bytes, in memory of their own. */
static enum ckp_decode_status decode(struct ckp_packet *packet, const uint8_t *bytes,
                                     size_t captured, size_t original, enum ckp_tunnels tunnels)
{
    uint8_t *copy = copy_exactly(bytes, captured);
    struct ckp_frame frame = {copy, captured, original, .time_ns = 42};
    enum ckp_decode_status status = ckp_decode(packet, CKP_LINK_ETHERNET, &frame, tunnels);

    free(copy);
    return status;
}

static void check_packet(const struct row *row, const struct ckp_packet *packet)
{
    const struct ckp_segment *s = &packet->segment;
    int64_t tunnel_id = row->tunnel_id ? row->tunnel_id : CKP_TUNNEL_NONE;

    if (packet->tunnel_id != (tunnel_id == TUNNEL_0 ? 0 : tunnel_id) ||
        packet->vlan_id != (row->vlan_id ? row->vlan_id : CKP_VLAN_NONE) ||
        packet->key.is_ipv6 != row->is_ipv6 || packet->is_first_fragment != row->is_first_fragment)
        fail_msg("%s: tunnel %lld, vlan %u, IPv6 %d, first fragment %d", row->sentence,
                 (long long)packet->tunnel_id, packet->vlan_id, packet->key.is_ipv6,
                 packet->is_first_fragment);
    if (s->payload_bytes != 4 || s->header_bytes != (row->is_ipv6 ? 60 : 40))
        fail_msg("%s: payload %u, header %u", row->sentence, s->payload_bytes, s->header_bytes);
    assert_int_equal(s->sequence_number, 1000);
    assert_int_equal(s->time_to_live, row->is_ipv6 ? 57 : 64);
    assert_int_equal(s->traffic_class, 0xb9);
    assert_int_equal(packet->key.low_port, 40000);
    assert_int_equal(packet->key.low_address.word[1], row->is_ipv6 ? 1 : 0xffff0a000001);
}

static void test_every_frame_has_one_fate(void **state)
{
    (void)state;
    for (const struct row *row = rows; row < rows + ROWS; row++) {
        struct ckp_packet packet;
        size_t count;
        uint8_t *bytes = parse_hex(row->frame, &count);
        enum ckp_decode_status status = decode(&packet, bytes, count, count, row->tunnels);
        free(bytes);
        if (status != row->status)
            fail_msg("%s: status %d, expected %d", row->sentence, (int)status, (int)row->status);
        if (status == CKP_DECODE_OK)
            check_packet(row, &packet);
    }
}

/* A snap length anywhere before the end of the TCP header is nothing but that. */
static void test_a_cut_at_any_byte_is_a_cut(void **state)
{
    (void)state;
    for (const struct row *row = rows; row < rows + ROWS; row++) {
        struct ckp_packet packet;
        size_t count, needed = 0;
        if (row->status != CKP_DECODE_OK)
            continue;
        uint8_t *bytes = parse_hex(row->frame, &count);
        while (decode(&packet, bytes, needed, count, row->tunnels) == CKP_DECODE_TRUNCATED)
            needed++;
        if (needed < count - 8 || needed > count) /* payload, padding */
            fail_msg("%s: %zu of %zu bytes are enough", row->sentence, needed, count);
        for (; needed <= count; needed++) {
            if (decode(&packet, bytes, needed, count, row->tunnels) != CKP_DECODE_OK)
                fail_msg("%s: %zu bytes are not enough", row->sentence, needed);
            check_packet(row, &packet);
        }
        free(bytes);
    }
}

/* As if the wire had ended there: the outer lengths are of more than there is. */
static void test_a_frame_that_ends_early_gives_no_packet(void **state)
{
    (void)state;
    for (const struct row *row = rows; row < rows + ROWS; row++) {
        struct ckp_packet packet;
        size_t count;
        if (row->status != CKP_DECODE_OK)
            continue;
        uint8_t *bytes = parse_hex(row->frame, &count);
        for (size_t end = 0; end + 8 < count; end++)
            if (decode(&packet, bytes, end, end, row->tunnels) == CKP_DECODE_OK)
                fail_msg("%s: a packet in %zu bytes", row->sentence, end);
        free(bytes);
    }
}

/* Whatever a byte says, nobody reads beyond, and what is called a packet can be one. */
static void test_any_byte_may_lie(void **state)
{
    (void)state;
    for (const struct row *row = rows; row < rows + ROWS; row++) {
        struct ckp_packet packet;
        size_t count;
        uint8_t *bytes = parse_hex(row->frame, &count);
        for (size_t at = 0; at < count; at++) {
            uint8_t truth = bytes[at];
            for (unsigned lie = 0; lie < 256; lie++) {
                bytes[at] = (uint8_t)lie;
                enum ckp_decode_status status = decode(&packet, bytes, count, count, row->tunnels);
                assert_in_range(status, CKP_DECODE_OK, CKP_DECODE_NESTED_TOO_DEEP);
                if (status == CKP_DECODE_OK)
                    assert_in_range(packet.segment.header_bytes, 40, 65535);
            }
            bytes[at] = truth;
        }
        free(bytes);
    }
}

struct nesting_row {
    const char *sentence;
    const char *repeated;
    const char *innermost;
};

static const struct nesting_row nesting_rows[] = {
    {"4in4", OUTER_IPV4("04"), INNER_IPV4},
    {"GRE in GRE", OUTER_IPV4("2f") "0000 0800 ", INNER_IPV4},
    {"VXLAN in VXLAN", OUTER_IPV4("11") "c001 12b5 0000 0000 08000000 00138900 " ETHERNET_IPV4,
     INNER_IPV4},
    {"Geneve in Geneve", OUTER_IPV4("11") "c001 17c1 0000 0000 0000 0800 00138900 ", INNER_IPV4},
    {"GTP-U in GTP-U", OUTER_IPV4("11") "c001 0868 0000 0000 30 ff 0000 00000001 ", INNER_IPV4},
    {"ERSPAN of ERSPAN", OUTER_IPV4("2f") "1000 88be 00000001 1007 0005 00000000 " ETHERNET_IPV4,
     INNER_IPV4},
};

static enum ckp_decode_status decode_nested(const struct nesting_row *row, int times)
{
    char text[FRAME_BYTES_MAX] = ETHERNET_IPV4;
    struct ckp_packet packet;
    size_t count;

    for (int i = 0; i < times; i++)
        strcat(text, row->repeated);
    strcat(text, row->innermost);
    uint8_t *bytes = parse_hex(text, &count);
    enum ckp_decode_status status = decode(&packet, bytes, count, count, CKP_TUNNELS_INNER);
    free(bytes);
    return status;
}

static void test_eight_tunnels_within_each_other_are_enough(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof nesting_rows / sizeof nesting_rows[0]; i++)
        for (int times = 0; times <= 12; times++)
            if (decode_nested(&nesting_rows[i], times) !=
                (times <= 8 ? CKP_DECODE_OK : CKP_DECODE_NESTED_TOO_DEEP))
                fail_msg("%s: %d times", nesting_rows[i].sentence, times);
}

static void test_pseudo_wires_count_too(void **state)
{
    const struct nesting_row wires = {"", BOTTOM "00000000 " MACS "8847 ", BOTTOM INNER_IPV4};
    char text[FRAME_BYTES_MAX];
    struct ckp_packet packet;

    (void)state;
    for (int times = 0; times <= 12; times++) {
        size_t count;
        strcpy(text, OUTER_MACS "8847 ");
        for (int i = 0; i < times; i++)
            strcat(text, wires.repeated);
        strcat(text, wires.innermost);
        uint8_t *bytes = parse_hex(text, &count);
        assert_int_equal(decode(&packet, bytes, count, count, CKP_TUNNELS_INNER),
                         times <= 7 ? CKP_DECODE_OK : CKP_DECODE_NESTED_TOO_DEEP);
        free(bytes);
    }
}

/* 192.0.2.3 mirrors in session 1 */
#define OTHER_ERSPAN_III                                                                           \
    ETHERNET_IPV4 "4500 LLLL 0001 0000 40 2f 0000 c0000203 c6336402 "                              \
                  "1000 22eb 00000001 2007 0001 87654321 0000 0294 "

static const struct {
    const char *sentence;
    const char *frame;
    struct ckp_erspan_stamp stamp; /* session 0: there is none */
} stamp_rows[] = {
    {"ERSPAN III",
     ERSPAN_III("0002") INNER_FRAME,
     {{{0, 0xffffc0000201}}, 0x12345678, 1023, 0, CKP_ERSPAN_100_NS}},
    {"over IPv6",
     OUTER_MACS
     "86dd " OUTER_IPV6("2f") "1000 22eb 00000001 2007 03ff 12345678 0000 0006 " INNER_FRAME,
     {{{0x20010db800ff0000, 1}}, 0x12345678, 1023, 0, CKP_ERSPAN_OTHER}},
    {"the innermost counts",
     ERSPAN_III("0002") OTHER_ERSPAN_III INNER_FRAME,
     {{{0, 0xffffc0000203}}, 0x87654321, 1, 41, CKP_ERSPAN_IEEE_1588}},
    {"of another tunnel within it",
     ERSPAN_III("0000") ETHERNET_IPV4 OUTER_IPV4("04") INNER_IPV4,
     {{{0, 0xffffc0000201}}, 0x12345678, 1023, 0, CKP_ERSPAN_100_US}},
    {"ERSPAN II has none", ERSPAN_II INNER_FRAME, {.session_id = 0}},
    {"nor has a plain packet", INNER_FRAME, {.session_id = 0}},
};

static void test_the_stamp_of_a_mirror_is_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof stamp_rows / sizeof stamp_rows[0]; i++) {
        const struct ckp_erspan_stamp *expected = &stamp_rows[i].stamp;
        struct ckp_packet packet;
        size_t count;
        uint8_t *bytes = parse_hex(stamp_rows[i].frame, &count);
        struct ckp_frame frame = {.bytes = bytes, .captured_bytes = count};
        assert_int_equal(decode(&packet, bytes, count, count, CKP_TUNNELS_INNER), CKP_DECODE_OK);
        if ((packet.erspan_at != 0) != (expected->session_id != 0))
            fail_msg("%s: at %u", stamp_rows[i].sentence, packet.erspan_at);
        if (packet.erspan_at) {
            struct ckp_erspan_stamp stamp = ckp_erspan_stamp_read(&frame, &packet);
            assert_memory_equal(&stamp.source, &expected->source, sizeof stamp.source);
            assert_int_equal(stamp.ticks, expected->ticks);
            assert_int_equal(stamp.session_id, expected->session_id);
            assert_int_equal(stamp.hardware_id, expected->hardware_id);
            assert_int_equal(stamp.unit, expected->unit);
        }
        free(bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_frame_has_one_fate),
        cmocka_unit_test(test_a_cut_at_any_byte_is_a_cut),
        cmocka_unit_test(test_a_frame_that_ends_early_gives_no_packet),
        cmocka_unit_test(test_any_byte_may_lie),
        cmocka_unit_test(test_eight_tunnels_within_each_other_are_enough),
        cmocka_unit_test(test_pseudo_wires_count_too),
        cmocka_unit_test(test_the_stamp_of_a_mirror_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
