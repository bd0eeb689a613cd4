/* SPDX-License-Identifier: Apache-2.0 */
/* One row = one sentence, a frame with its decoded form above it, and what must come of it. */
#include "frame_text.h"

#include <stdio.h>

struct row {
    const char *sentence;
    enum ckp_link link;
    const char *frame;
    size_t captured_bytes; /* 0: all of the frame */
    size_t original_bytes; /* 0: as captured */
    enum ckp_decode_status status;
    uint32_t payload_bytes; /* of OK rows only, like the rest */
    uint16_t header_bytes;
    uint16_t vlan_id; /* 0: untagged */
    bool is_first_fragment;
};

static const struct row rows[] = {
    /* --- link layers --- */
    {"plain Ethernet", CKP_LINK_ETHERNET, ETHERNET_IPV4 IPV4("002c") TCP_PLAIN "61626364",
     .payload_bytes = 4, .header_bytes = 40},
    {"Ethernet padding is no payload", CKP_LINK_ETHERNET,
     ETHERNET_IPV4 IPV4("0028") TCP_PLAIN "000000000000", .payload_bytes = 0, .header_bytes = 40},
    {"a frame without a whole Ethernet header", CKP_LINK_ETHERNET, MACS "08",
     .status = CKP_DECODE_TRUNCATED},
    {"nothing at all", CKP_LINK_ETHERNET, "", .status = CKP_DECODE_TRUNCATED},
    {"ARP", CKP_LINK_ETHERNET, MACS "0806 0001080006040001", .status = CKP_DECODE_NOT_IP},
    {"802.3 with a length instead of a type", CKP_LINK_ETHERNET, MACS "0026 424203000000",
     .status = CKP_DECODE_NOT_IP},
    /* VLAN 100, priority 5 */
    {"one VLAN tag", CKP_LINK_ETHERNET, MACS "8100 a064 0800 " IPV4("0028") TCP_PLAIN,
     .header_bytes = 40, .vlan_id = 100},
    /* service VLAN 7, customer VLAN 4095 */
    {"of two VLAN tags the inner one counts", CKP_LINK_ETHERNET,
     MACS "88a8 0007 8100 0fff 0800 " IPV4("0028") TCP_PLAIN, .header_bytes = 40, .vlan_id = 4095},
    {"a VLAN tag that is cut", CKP_LINK_ETHERNET, MACS "8100 a064 08",
     .status = CKP_DECODE_TRUNCATED},
    {"VLAN tags without end", CKP_LINK_ETHERNET,
     MACS "8100 0001 8100 0001 8100 0001 8100 0001 8100 0001 8100 0001 8100 0001 8100 0001 8100 "
          "0001 0800 " IPV4("0028") TCP_PLAIN,
     .status = CKP_DECODE_NOT_IP},
    {"raw IPv4", CKP_LINK_RAW_IP, IPV4("0029") TCP_PLAIN "61", .payload_bytes = 1,
     .header_bytes = 40},
    {"raw nothing", CKP_LINK_RAW_IP, "", .status = CKP_DECODE_TRUNCATED},
    {"raw IP of version 5", CKP_LINK_RAW_IP, "55000028", .status = CKP_DECODE_MALFORMED_IP},
    /* to us, ARPHRD_ETHER, 6 bytes of address */
    {"Linux cooked", CKP_LINK_LINUX_SLL,
     "0000 0001 0006 0200000000010000 0800 " IPV4("0028") TCP_PLAIN, .header_bytes = 40},
    /* IPv4, interface 3, ARPHRD_ETHER, to us, 6 bytes of address */
    {"Linux cooked, version 2", CKP_LINK_LINUX_SLL2,
     "0800 0000 00000003 0001 00 06 0200000000010000 " IPV4("0028") TCP_PLAIN, .header_bytes = 40},
    {"loopback, AF_INET in little endian", CKP_LINK_NULL, "02000000 " IPV4("0028") TCP_PLAIN,
     .header_bytes = 40},
    {"loopback, AF_INET6 of Darwin in big endian", CKP_LINK_NULL,
     "0000001e " IPV6("0014", "06") TCP_PLAIN, .header_bytes = 60},
    {"loopback, AppleTalk", CKP_LINK_NULL, "10000000 00", .status = CKP_DECODE_NOT_IP},

    /* --- IPv4 --- */
    {"IPv4 with options", CKP_LINK_RAW_IP,
     "46b9 0030 1234 4000 4006 0000 0a000001 0a000002 94040000 " TCP_PLAIN "61626364",
     .payload_bytes = 4, .header_bytes = 44},
    {"a header length below 20", CKP_LINK_RAW_IP,
     "44b9 0028 1234 4000 4006 0000 0a000001 0a000002 " TCP_PLAIN,
     .status = CKP_DECODE_MALFORMED_IP},
    {"a header longer than the packet", CKP_LINK_RAW_IP,
     "4fb9 0028 1234 4000 4006 0000 0a000001 0a000002 " TCP_PLAIN,
     .status = CKP_DECODE_MALFORMED_IP},
    {"a total length below the header's", CKP_LINK_RAW_IP, IPV4("0013") TCP_PLAIN,
     .status = CKP_DECODE_MALFORMED_IP},
    {"a snap length does not shorten the payload", CKP_LINK_RAW_IP, IPV4("05dc") TCP_PLAIN,
     .original_bytes = 1500, .payload_bytes = 1460, .header_bytes = 40},
    {"nor does a capture that lost the original length", CKP_LINK_RAW_IP, IPV4("05dc") TCP_PLAIN,
     .payload_bytes = 1460, .header_bytes = 40},
    {"a segment not yet cut up has IP length 0: as long as its frame", CKP_LINK_ETHERNET,
     ETHERNET_IPV4 IPV4("0000") TCP_PLAIN "61626364", .original_bytes = 65240,
     .payload_bytes = 65240 - 54, .header_bytes = 40},
    {"cut within the IPv4 header", CKP_LINK_RAW_IP, IPV4("0028") TCP_PLAIN, .captured_bytes = 19,
     .original_bytes = 40, .status = CKP_DECODE_TRUNCATED},
    {"cut within the IPv4 options", CKP_LINK_RAW_IP,
     "46b9 0030 1234 4000 4006 0000 0a000001 0a000002 9404", .original_bytes = 48,
     .status = CKP_DECODE_TRUNCATED},
    {"UDP", CKP_LINK_RAW_IP, "4500 001c 1234 4000 4011 0000 0a000001 0a000002 0035003500080000",
     .status = CKP_DECODE_NOT_TCP},
    {"the first of several fragments", CKP_LINK_RAW_IP,
     "4500 002c 1234 2000 4006 0000 0a000001 0a000002 " TCP_PLAIN "61626364", .payload_bytes = 4,
     .header_bytes = 40, .is_first_fragment = true},
    {"a later fragment", CKP_LINK_RAW_IP,
     "4500 002c 1234 2001 4006 0000 0a000001 0a000002 " TCP_PLAIN "61626364",
     .status = CKP_DECODE_FRAGMENT_NOT_FIRST},
    {"a later fragment of UDP is no TCP", CKP_LINK_RAW_IP,
     "4500 001c 1234 0001 4011 0000 0a000001 0a000002 0035003500080000",
     .status = CKP_DECODE_NOT_TCP},

    /* --- IPv6 --- */
    {"plain IPv6", CKP_LINK_ETHERNET, ETHERNET_IPV6 IPV6("0018", "06") TCP_PLAIN "61626364",
     .payload_bytes = 4, .header_bytes = 60},
    {"IPv6 with payload length 0: as long as its frame", CKP_LINK_RAW_IP,
     IPV6("0000", "06") TCP_PLAIN, .original_bytes = 100060, .payload_bytes = 100000,
     .header_bytes = 60},
    {"cut within the IPv6 header", CKP_LINK_RAW_IP, IPV6("0014", "06"), .captured_bytes = 39,
     .original_bytes = 60, .status = CKP_DECODE_TRUNCATED},
    /* hop-by-hop of 8, destination of 16, routing of 8, authentication of 24 */
    {"a chain of extension headers", CKP_LINK_RAW_IP,
     IPV6("004c", "00") "3c00 010400000000 2b01 010c000000000000000000000000 3300 000000000000 "
                        "0604 0000 00000001 00000001 000000000000000000000000 " TCP_PLAIN,
     .payload_bytes = 0, .header_bytes = 40 + 56 + 20},
    {"an extension header beyond the packet", CKP_LINK_RAW_IP,
     IPV6("0010", "00") "06ff 010400000000 0000000000000000", .status = CKP_DECODE_MALFORMED_IP},
    {"an extension header beyond the captured bytes", CKP_LINK_RAW_IP,
     IPV6("0100", "00") "0604 010400000000", .original_bytes = 296, .status = CKP_DECODE_TRUNCATED},
    {"one byte of an extension header", CKP_LINK_RAW_IP, IPV6("0100", "00") "06",
     .original_bytes = 296, .status = CKP_DECODE_TRUNCATED},
    {"extension headers without end", CKP_LINK_RAW_IP,
     IPV6("00a0", "00") "0000010400000000 0000010400000000 0000010400000000 0000010400000000 "
                        "0000010400000000 0000010400000000 0000010400000000 0000010400000000 "
                        "0000010400000000 0000010400000000 0000010400000000 0000010400000000 "
                        "0000010400000000 0000010400000000 0000010400000000 0000010400000000 "
                        "0000010400000000 0000010400000000 0000010400000000 0600010400000000 ",
     .status = CKP_DECODE_MALFORMED_IP},
    {"the first IPv6 fragment", CKP_LINK_RAW_IP,
     IPV6("0020", "2c") "0600 0001 00000007 " TCP_PLAIN "61626364", .payload_bytes = 4,
     .header_bytes = 68, .is_first_fragment = true},
    {"a fragment header without fragments", CKP_LINK_RAW_IP,
     IPV6("0020", "2c") "0600 0000 00000007 " TCP_PLAIN "61626364", .payload_bytes = 4,
     .header_bytes = 68},
    {"a later IPv6 fragment", CKP_LINK_RAW_IP,
     IPV6("0010", "2c") "0600 0008 00000007 6162636465666768",
     .status = CKP_DECODE_FRAGMENT_NOT_FIRST},
    {"a later IPv6 fragment behind which more extensions were", CKP_LINK_RAW_IP,
     IPV6("0010", "2c") "3c00 0008 00000007 6162636465666768",
     .status = CKP_DECODE_FRAGMENT_NOT_FIRST},
    {"a later IPv6 fragment of UDP", CKP_LINK_RAW_IP,
     IPV6("0010", "2c") "1100 0008 00000007 6162636465666768", .status = CKP_DECODE_NOT_TCP},
    {"ICMPv6", CKP_LINK_RAW_IP, IPV6("0008", "3a") "8000000000000000",
     .status = CKP_DECODE_NOT_TCP},
    {"encrypted", CKP_LINK_RAW_IP, IPV6("0008", "32") "0000000000000001",
     .status = CKP_DECODE_NOT_TCP},
    {"no next header", CKP_LINK_RAW_IP, IPV6("0000", "3b"), .status = CKP_DECODE_NOT_TCP},

    /* --- TCP --- */
    {"cut within the TCP header", CKP_LINK_RAW_IP, IPV4("0028") TCP_PLAIN, .captured_bytes = 39,
     .original_bytes = 40, .status = CKP_DECODE_TRUNCATED},
    {"a packet too short for TCP", CKP_LINK_RAW_IP, IPV4("0027") TCP_PLAIN,
     .status = CKP_DECODE_MALFORMED_TCP},
    {"a data offset below 20 bytes", CKP_LINK_RAW_IP, IPV4("0028") TCP("4"),
     .status = CKP_DECODE_MALFORMED_TCP},
    {"a data offset beyond the packet", CKP_LINK_RAW_IP, IPV4("0028") TCP("6"),
     .status = CKP_DECODE_MALFORMED_TCP},
};

static enum ckp_decode_status decode(struct ckp_packet *packet, const struct row *row)
{
    size_t count;
    uint8_t *bytes = parse_hex(row->frame, &count);

    if (row->captured_bytes) {
        count = row->captured_bytes;
        bytes = realloc(bytes, count);
    }
    struct ckp_frame frame = {
        .bytes = bytes,
        .captured_bytes = count,
        .original_bytes = row->original_bytes ? row->original_bytes : count,
        .time_ns = 42,
    };
    enum ckp_decode_status status = ckp_decode(packet, row->link, &frame, CKP_TUNNELS_INNER);
    free(bytes);
    return status;
}

static void check_row(const struct row *row)
{
    struct ckp_packet packet;
    enum ckp_decode_status status = decode(&packet, row);

    if (status != row->status)
        fail_msg("%s: status %d, expected %d", row->sentence, (int)status, (int)row->status);
    if (status != CKP_DECODE_OK)
        return;
    const struct ckp_segment *s = &packet.segment;
    if (s->payload_bytes != row->payload_bytes || s->header_bytes != row->header_bytes ||
        packet.vlan_id != (row->vlan_id ? row->vlan_id : CKP_VLAN_NONE) ||
        packet.is_first_fragment != row->is_first_fragment)
        fail_msg("%s: payload %u, header %u, vlan %u, first fragment %d", row->sentence,
                 s->payload_bytes, s->header_bytes, packet.vlan_id, packet.is_first_fragment);
    assert_int_equal(s->time_ns, 42);
    assert_int_equal(s->sequence_number, 1000);
    assert_int_equal(s->acknowledgment_number, 2000);
    assert_int_equal(s->tcp_flags, 0x18);
    assert_int_equal(s->window_field, 502);
    assert_int_equal(s->options_present, 0);
    assert_int_equal(s->direction, 0);
    assert_int_equal(packet.key.low_port, 40000);
    assert_int_equal(packet.key.high_port, 443);
}

static void test_every_frame_has_one_fate(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check_row(&rows[i]);
}

static void test_a_packet_is_cut_if_not_all_of_it_was_captured(void **state)
{
    static const struct {
        const char *sentence;
        const char *frame;
        size_t captured_bytes, original_bytes;
        bool is_chained, is_cut;
    } cuts[] = {
        {"whole", ETHERNET_IPV4 IPV4("002c") TCP_PLAIN "61626364", 58, 58, false, false},
        {"with padding", ETHERNET_IPV4 IPV4("0028") TCP_PLAIN "000000000000", 60, 60, false, false},
        {"padding cut off", ETHERNET_IPV4 IPV4("0028") TCP_PLAIN, 54, 60, false, false},
        {"payload cut off", ETHERNET_IPV4 IPV4("05dc") TCP_PLAIN, 54, 1514, false, true},
        {"payload in another piece", ETHERNET_IPV4 IPV4("05dc") TCP_PLAIN, 54, 1514, true, false},
        {"in pieces, and cut by a mirror", ETHERNET_IPV4 IPV4("05dc") TCP_PLAIN, 54, 1000, true,
         true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cuts / sizeof cuts[0]; i++) {
        size_t count;
        uint8_t *bytes = parse_hex(cuts[i].frame, &count);
        struct ckp_frame frame = {bytes, cuts[i].captured_bytes, cuts[i].original_bytes, 42,
                                  cuts[i].is_chained};
        struct ckp_packet packet;
        assert_int_equal(ckp_decode(&packet, CKP_LINK_ETHERNET, &frame, CKP_TUNNELS_INNER),
                         CKP_DECODE_OK);
        if (packet.is_cut != cuts[i].is_cut)
            fail_msg("%s: cut %d", cuts[i].sentence, packet.is_cut);
        free(bytes);
    }
}

static void test_ip_fields_are_kept(void **state)
{
    struct ckp_packet packet;
    struct row ipv4 = {.link = CKP_LINK_RAW_IP, .frame = IPV4("0028") TCP_PLAIN};
    struct row ipv6 = {.link = CKP_LINK_RAW_IP, .frame = IPV6("0014", "06") TCP_PLAIN};

    (void)state;
    assert_int_equal(decode(&packet, &ipv4), CKP_DECODE_OK);
    assert_int_equal(packet.segment.ip_id, 0x1234);
    assert_int_equal(packet.segment.time_to_live, 64);
    assert_int_equal(packet.segment.traffic_class, 0xb9);
    assert_false(packet.key.is_ipv6);
    assert_int_equal(packet.key.low_address.word[1], 0xffff0a000001);

    assert_int_equal(decode(&packet, &ipv6), CKP_DECODE_OK);
    assert_int_equal(packet.segment.ip_id, 0);
    assert_int_equal(packet.segment.time_to_live, 57);
    assert_int_equal(packet.segment.traffic_class, 0xb9);
    assert_true(packet.key.is_ipv6);
    assert_int_equal(packet.key.high_address.word[0], 0x20010db800000000);
    assert_int_equal(packet.key.high_address.word[1], 2);
}

struct options_row {
    const char *sentence;
    const char *options; /* padded to a multiple of 4 */
    size_t captured;     /* bytes of them, 0: all */
    enum ckp_options_status status;
    uint8_t present;
};

#define MSS        CKP_OPTION_MSS
#define SCALE      CKP_OPTION_WINDOW_SCALE
#define PERMITTED  CKP_OPTION_SACK_PERMITTED
#define BLOCKS     CKP_OPTION_SACK_BLOCKS
#define TIMESTAMPS CKP_OPTION_TIMESTAMPS
#define MALFORMED  CKP_OPTION_MALFORMED

static const struct options_row options_rows[] = {
    /* mss 1460, sackOK, TS val 1 ecr 2, nop, wscale 7 */
    {"those of a SYN", "020405b4 0402 080a 00000001 00000002 01 030307", 0, CKP_OPTIONS_OK,
     MSS | PERMITTED | TIMESTAMPS | SCALE},
    {"nothing counts after the end", "00 0204ff 030300ff", 0, CKP_OPTIONS_OK, 0},
    {"only padding", "01010101", 0, CKP_OPTIONS_OK, 0},
    /* TCP fast open cookie, then mss */
    {"one of no interest is skipped", "220a 0102030405060708 020405b4 0101", 0, CKP_OPTIONS_OK,
     MSS},
    {"length 0 would loop for ever", "020405b4 0300 0707", 0, CKP_OPTIONS_MALFORMED,
     MSS | MALFORMED},
    {"length 0 of an unknown option too", "fe00 0101", 0, CKP_OPTIONS_MALFORMED, MALFORMED},
    {"length 1", "0301 0000", 0, CKP_OPTIONS_MALFORMED, MALFORMED},
    {"length beyond the header", "030307 08", 0, CKP_OPTIONS_MALFORMED, SCALE | MALFORMED},
    {"one byte too many for the header", "01 0204 05", 0, CKP_OPTIONS_MALFORMED, MALFORMED},
    {"mss of 3 bytes", "020305 01", 0, CKP_OPTIONS_MALFORMED, MALFORMED},
    {"window scale of 4 bytes", "03040700", 0, CKP_OPTIONS_MALFORMED, MALFORMED},
    {"sack permitted of 3 bytes", "040300 01", 0, CKP_OPTIONS_MALFORMED, MALFORMED},
    {"timestamps of 8 bytes", "0808 00000001 0000", 0, CKP_OPTIONS_MALFORMED, MALFORMED},
    {"sack without blocks", "0502 0101", 0, CKP_OPTIONS_MALFORMED, MALFORMED},
    {"sack of one and a half blocks", "050e 00000001 00000002 00000003 0101", 0,
     CKP_OPTIONS_MALFORMED, MALFORMED},
    {"one sack block", "0101 050a 00000001 00000002", 0, CKP_OPTIONS_OK, BLOCKS},
    {"four sack blocks",
     "0101 0522 00000001 00000002 00000003 00000004 00000005 00000006 00000007 00000008", 0,
     CKP_OPTIONS_OK, BLOCKS},
    {"cut before an option", "020405b4 01030307", 5, CKP_OPTIONS_CUT, MSS | MALFORMED},
    {"cut behind its kind", "020405b4 01030307", 6, CKP_OPTIONS_CUT, MSS | MALFORMED},
    {"cut within it", "020405b4 01030307", 7, CKP_OPTIONS_CUT, MSS | MALFORMED},
    {"none of them captured", "020405b4", SIZE_MAX, CKP_OPTIONS_CUT, MALFORMED},
};

static struct ckp_packet decode_options(const struct options_row *row)
{
    char frame[512];
    struct ckp_packet packet;
    size_t bytes, captured;

    free(parse_hex(row->options, &bytes));
    captured = row->captured == SIZE_MAX ? 0 : row->captured ? row->captured : bytes;
    snprintf(frame, sizeof frame,
             "45b9 %04zx 1234 4000 4006 0000 0a000001 0a000002 "
             "9c40 01bb 000003e8 000007d0 %zx0 18 01f6 0000 0000 %s",
             40 + bytes, 5 + bytes / 4, row->options);
    struct row whole = {row->sentence, CKP_LINK_RAW_IP, frame, .captured_bytes = 40 + captured,
                        .original_bytes = 40 + bytes};
    assert_int_equal(bytes % 4, 0);
    assert_int_equal(decode(&packet, &whole), CKP_DECODE_OK);
    assert_int_equal(packet.segment.payload_bytes, 0);
    return packet;
}

static void test_options_before_a_malformation_are_kept(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof options_rows / sizeof options_rows[0]; i++) {
        const struct options_row *row = &options_rows[i];
        struct ckp_packet packet = decode_options(row);
        if (packet.options_status != row->status || packet.segment.options_present != row->present)
            fail_msg("%s: status %d, present %#x", row->sentence, packet.options_status,
                     packet.segment.options_present);
    }
}

static void test_option_values_are_read(void **state)
{
    struct ckp_packet syn = decode_options(&options_rows[0]);
    struct options_row two_blocks = {.options = "0101 0512 fffffff0 00000010 00000001 00000002"};
    struct ckp_packet sack = decode_options(&two_blocks);

    (void)state;
    assert_int_equal(syn.segment.maximum_segment_size, 1460);
    assert_int_equal(syn.segment.window_scale, 7);
    assert_int_equal(syn.segment.timestamp_value, 1);
    assert_int_equal(syn.segment.timestamp_echo, 2);
    assert_int_equal(sack.segment.sack_blocks, 2);
    assert_int_equal(sack.sack[0].left_edge, 0xfffffff0);
    assert_int_equal(sack.sack[0].right_edge, 0x10);
    assert_int_equal(sack.sack[1].left_edge, 1);
    assert_int_equal(sack.sack[1].right_edge, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_frame_has_one_fate),
        cmocka_unit_test(test_a_packet_is_cut_if_not_all_of_it_was_captured),
        cmocka_unit_test(test_ip_fields_are_kept),
        cmocka_unit_test(test_options_before_a_malformation_are_kept),
        cmocka_unit_test(test_option_values_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
