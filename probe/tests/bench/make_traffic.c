/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a capture (pcap, ns, 100 bytes a frame) of bulk transfers: `flows` at once, each some
 * hundred to some thousand packets long and then replaced by another, two segments for each ACK,
 * one in 500 lost and sent again, with timestamps and SACK blocks. The same arguments make the same
 * capture.
 *
 * usage: make_traffic PACKETS FLOWS > CAPTURE
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SNAP_BYTES  100
#define MSS         1448
#define START_NS    INT64_C(1700000000000000000)
#define MEAN_GAP_NS 1000

enum { FIN = 1, SYN = 2, ACK = 16 };

struct flow {
    uint32_t client, server;
    uint16_t port;
    uint16_t id[2];
    uint32_t next, acked, hole; /* of the client's data; hole 0: none */
    uint32_t left;              /* segments */
    uint8_t step;               /* of the handshake, then of data data ACK */
};

static uint64_t random_state = 1;
static int64_t now_ns = START_NS;

static uint32_t random_below(uint32_t limit)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 32) % limit;
}

static void put16(uint8_t *at, uint32_t value)
{
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
}

static void put32(uint8_t *at, uint32_t value)
{
    put16(at, value >> 16);
    put16(at + 2, value);
}

static size_t put_options(uint8_t *at, const struct flow *flow, unsigned flags, int direction)
{
    uint32_t milliseconds = (uint32_t)((now_ns - START_NS) / 1000000);
    size_t bytes = 12;

    memcpy(at, "\1\1\10\n", 4);
    put32(at + 4, 1000 + milliseconds);
    put32(at + 8, 990 + milliseconds);
    if (flags & SYN) {
        memcpy(at + bytes, "\2\4\5\264\4\2\3\3\7\1\1\1", 12);
        bytes += 12;
    } else if (direction == 1 && flow->hole) {
        memcpy(at + bytes, "\1\1\5\n", 4);
        put32(at + bytes + 4, flow->hole + MSS);
        put32(at + bytes + 8, flow->next);
        bytes += 12;
    }
    return bytes;
}

/* Ethernet, IPv4, TCP; direction 0 is sent by the client. */
static void write_frame(struct flow *flow, int direction, unsigned flags, uint32_t seq,
                        uint32_t ack, uint32_t payload)
{
    uint8_t frame[SNAP_BYTES] = "\2\0\0\0\0\2\2\0\0\0\0\1\10";
    uint8_t *ip = frame + 14, *tcp = ip + 20;
    size_t header = 20 + put_options(tcp + 20, flow, flags, direction);
    uint32_t length = (uint32_t)(14 + 20 + header + payload);
    uint32_t captured = length < SNAP_BYTES ? length : SNAP_BYTES;

    ip[0] = 0x45;
    put16(ip + 2, length - 14);
    put16(ip + 4, flow->id[direction]++);
    ip[6] = 0x40;
    ip[8] = 64;
    ip[9] = 6;
    put32(ip + 12, direction ? flow->server : flow->client);
    put32(ip + 16, direction ? flow->client : flow->server);
    put16(tcp, direction ? 443 : flow->port);
    put16(tcp + 2, direction ? flow->port : 443);
    put32(tcp + 4, seq);
    put32(tcp + 8, ack);
    tcp[12] = (uint8_t)(header / 4 << 4);
    tcp[13] = (uint8_t)flags;
    put16(tcp + 14, direction ? 700 + random_below(8) : 502);

    uint32_t record[4] = {(uint32_t)(now_ns / 1000000000), (uint32_t)(now_ns % 1000000000),
                          captured, length};
    fwrite(record, sizeof record, 1, stdout);
    fwrite(frame, captured, 1, stdout);
    now_ns += MEAN_GAP_NS / 2 + random_below(MEAN_GAP_NS);
}

static void start_flow(struct flow *flow)
{
    *flow = (struct flow){
        .client = 0x0a000000 | random_below(1 << 20),
        .server = 0x0a800000 | random_below(1 << 12),
        .port = (uint16_t)(1024 + random_below(60000)),
        .next = random_below(UINT32_MAX),
        .left = 200 + random_below(4000),
    };
    flow->acked = flow->next + 1;
}

static void send_data(struct flow *flow)
{
    if (flow->hole && random_below(40) == 0) {
        write_frame(flow, 0, ACK, flow->hole, 77, MSS);
        flow->hole = 0;
        return;
    }
    if (!flow->hole && random_below(500) == 0) {
        flow->hole = flow->next;
        flow->next += MSS;
    }
    write_frame(flow, 0, ACK, flow->next, 77, MSS);
    flow->next += MSS;
    flow->left--;
}

/* Writes the flow's next packet. */
static void step(struct flow *flow)
{
    switch (flow->step) {
    case 0:
        write_frame(flow, 0, SYN, flow->next, 0, 0);
        break;
    case 1:
        write_frame(flow, 1, SYN | ACK, 76, flow->next + 1, 0);
        break;
    case 2:
        write_frame(flow, 0, ACK, ++flow->next, 77, 0);
        break;
    case 3:
    case 4:
        send_data(flow);
        break;
    default:
        flow->acked = flow->hole ? flow->hole : flow->next;
        write_frame(flow, 1, ACK, 77, flow->acked, 0);
    }
    flow->step = flow->step == 5 ? 3 : flow->step + 1;
    if (flow->left == 0) {
        write_frame(flow, 0, FIN | ACK, flow->next, 77, 0);
        write_frame(flow, 1, FIN | ACK, 77, flow->next + 1, 0);
        start_flow(flow);
    }
}

int main(int argc, char **argv)
{
    const uint32_t header[] = {0xa1b23c4d, 4 << 16 | 2, 0, 0, SNAP_BYTES, 1};

    if (argc != 3)
        return 2;
    uint64_t packets = strtoull(argv[1], NULL, 10);
    uint32_t flow_count = (uint32_t)strtoul(argv[2], NULL, 10);
    struct flow *flows = calloc(flow_count, sizeof *flows);
    if (!flows)
        return 1;
    for (uint32_t i = 0; i < flow_count; i++)
        start_flow(&flows[i]);
    fwrite(header, sizeof header, 1, stdout);
    /* Packets come in short trains, as a bottleneck's neighbours see them. */
    for (uint64_t i = 0; i < packets;) {
        struct flow *flow = &flows[random_below(flow_count)];
        for (uint32_t train = 1 + random_below(6); train > 0 && i < packets; train--, i++)
            step(flow);
    }
    free(flows);
    return fflush(stdout) ? 1 : 0;
}
