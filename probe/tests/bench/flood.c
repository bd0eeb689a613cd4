/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What CPU time a packet of a SYN flood costs the tracker: SYNs of distinct flows, and in every ten
 * packets one of ten busy flows, from decoded packets to encoded batches that nobody takes.
 *
 * usage: flood [PACKETS [MAX_FLOWS]]
 */
#include "worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define START       (1700000000 * CKP_NANOS_PER_SECOND)
#define INTERVAL_NS 1000 /* a million packets a second */

static void drop(void *sink, const struct ckp_batch *batch)
{
    (void)batch;
    ++*(uint64_t *)sink;
}

static uint64_t scatter(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    return (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
}

static struct ckp_packet make_packet(uint64_t number)
{
    bool is_busy = number % 10 == 0;
    uint64_t from = is_busy ? number / 10 % 10 : scatter(number);
    const uint8_t source[4] = {is_busy ? 10 : 172, (uint8_t)(from >> 40), (uint8_t)(from >> 32),
                               (uint8_t)(from >> 24)};
    const uint8_t destination[4] = {192, 0, 2, 1};
    struct ckp_packet packet = {
        .segment = {.time_ns = START + (int64_t)number * INTERVAL_NS,
                    .tcp_flags = is_busy ? CKP_TCP_ACK : CKP_TCP_SYN,
                    .sequence_number = (uint32_t)(is_busy ? number * 1448 : from),
                    .payload_bytes = is_busy ? 1448 : 0,
                    .header_bytes = 40},
        .tunnel_id = CKP_TUNNEL_NONE,
        .vlan_id = CKP_VLAN_NONE,
    };
    struct ckp_address a = ckp_address_from_ipv4(source), b = ckp_address_from_ipv4(destination);

    packet.segment.direction =
        ckp_flow_key_order(&packet.key, &a, (uint16_t)(is_busy ? 1000 + from : from), &b, 443);
    return packet;
}

int main(int argc, char **argv)
{
    uint64_t packets = argc > 1 ? strtoull(argv[1], NULL, 10) : 20000000, batches = 0;
    struct ckp_flow_limits limits = {
        .idle_ns = 180 * CKP_NANOS_PER_SECOND,
        .flows_max = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 1000000,
        .run_memory_bytes = 64 << 20,
        .table_seed = 1,
    };
    struct ckp_batch_config config = {
        .probe = "probe",
        .tap = "tap",
        .partition_count = 32,
        .flush_bytes = 16384,
        .flush_delay_ns = 250 * CKP_NANOS_PER_MILLI,
        .timestamp_source = CKP_TIMESTAMP_BURST,
        .timestamp_resolution_ns = 1000,
    };
    struct ckp_frame_reading reading = {.tunnels = CKP_TUNNELS_INNER};
    struct ckp_worker *worker = calloc(1, sizeof *worker);

    if (!worker || !ckp_worker_init(worker, &reading, &config, &limits, NULL, drop, &batches))
        return 1;
    clock_t start = clock();
    for (uint64_t i = 0; i < packets; i++) {
        struct ckp_packet packet = make_packet(i);
        ckp_worker_take(worker, &packet);
    }
    double ns = (double)(clock() - start) * 1e9 / CLOCKS_PER_SEC;
    const uint64_t *count = worker->counters->value;
    printf("%.0f ns a packet, %llu evicted, %llu runs cut short, %llu runs, %llu batches\n",
           ns / (double)packets, (unsigned long long)count[CKP_COUNT_FLOWS_ENDED_EVICTED],
           (unsigned long long)count[CKP_COUNT_RUNS_CUT_SHORT],
           (unsigned long long)count[CKP_COUNT_RUNS_ENCODED], (unsigned long long)batches);
    ckp_worker_free(worker);
    free(worker);
    return 0;
}
