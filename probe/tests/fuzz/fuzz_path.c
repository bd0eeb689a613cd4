/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole path from frames to batches, in memory so small that it always runs out of flows and
 * run chunks. What comes out must be readable, complete, and balance.
 *
 * Input: frames, each as length (1 byte), time step (1 byte, see time_step_ns) and bytes.
 */
#include "batch_reader.h"
#include "ledger.h"
#include "worker.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SILENCE 0x80u /* time step after which the source falls silent */

static struct ckp_worker worker;

static void require(bool is_true)
{
    if (!is_true)
        abort();
}

/* What a reader refuses would cost the whole batch. */
static void check_summary(const struct read_summary *summary)
{
    require(summary->duration_ns >= 0 && summary->quiet_ns >= 0 && summary->syns <= 256);
    require(summary->server_delay_ns <= summary->duration_ns);
    require(summary->client_delay_ns <= summary->duration_ns);
    for (int i = 0; i < 2; i++) {
        const struct ckp_summary_direction *sent = &summary->sent_by[i];
        require(sent->data_packets <= sent->packets && sent->full_packets <= sent->data_packets);
        require(sent->data_bytes >= sent->largest_data_bytes);
        require(sent->data_bytes <= sent->data_packets * sent->largest_data_bytes);
        require(sent->header_bytes < 1u << 24 && sent->acknowledged_bytes <= INT32_MAX);
    }
}

static void check_batch(void *sink, const struct ckp_batch *batch)
{
    static struct read_run run;
    static struct read_summary summary;
    uint8_t *bytes = malloc(batch->size_bytes); /* exactly as large */
    struct read_batch header;
    int64_t packets = 0;

    (void)sink;
    require(bytes != NULL);
    memcpy(bytes, batch->bytes, batch->size_bytes);
    struct batch_reader reader = {bytes, bytes + batch->size_bytes};
    read_batch_header(&reader, &header);
    for (int64_t i = 0; i < header.runs; i++) {
        read_run(&reader, &run);
        packets += run.packets.count;
    }
    read_runs_end(&reader, &header);
    require(packets == header.packets);
    packets = 0;
    for (int64_t i = 0; i < header.summaries; i++) {
        read_summary(&reader, &summary);
        check_summary(&summary);
        packets += summary.sent_by[0].packets + summary.sent_by[1].packets;
    }
    read_batch_end(&reader, &header);
    free(bytes);
    require(packets == header.summarised_packets);
    require(header.packets + header.summarised_packets == batch->packets);
    ckp_count(worker.counters, CKP_COUNT_BATCHES_DELIVERED, 1);
    ckp_count(worker.counters, CKP_COUNT_PACKETS_DELIVERED, batch->packets);
}

/* Nothing, microseconds, half seconds, a leap of years, or a step back. */
static int64_t time_step_ns(uint8_t code)
{
    switch (code >> 5) {
    case 0:
        return 0;
    case 5:
        return CKP_NANOS_PER_SECOND / 2 * (code & 0x1f);
    case 6:
        return INT64_C(100000000) * CKP_NANOS_PER_SECOND * (code & 0x1f);
    case 7:
        return -CKP_NANOS_PER_SECOND / 8 * (code & 0x1f);
    default:
        return (int64_t)code * 1000;
    }
}

/* A source that falls silent for longer than a batch may wait. */
static void fall_silent(void)
{
    ckp_worker_before_wait(&worker, 1);
    require(ckp_worker_before_wait(&worker, CKP_NANOS_PER_SECOND) == INT64_MAX);
    require(!ckp_flow_tracker_has_open(&worker.tracker));
}

static void observe(const uint8_t *data, size_t count, int64_t time_ns)
{
    uint8_t *bytes = malloc(count);

    require(bytes != NULL);
    memcpy(bytes, data, count);
    struct ckp_frame frame = {
        .bytes = bytes, .captured_bytes = count, .original_bytes = count, .time_ns = time_ns};
    ckp_worker_observe(&worker, CKP_LINK_RAW_IP, &frame);
    free(bytes);
}

static void observe_all(const uint8_t *data, size_t size, uint32_t mouse_packets)
{
    static const struct ckp_frame_reading reading = {.tunnels = CKP_TUNNELS_INNER};
    static const struct ckp_batch_config batches = {
        .probe = "probe",
        .tap = "tap",
        .partition_count = 3,
        .flush_bytes = 300,
        .flush_delay_ns = 250 * CKP_NANOS_PER_MILLI,
        .timestamp_source = CKP_TIMESTAMP_FILE,
        .timestamp_resolution_ns = 1,
    };
    const struct ckp_flow_limits limits = {.idle_ns = 10 * CKP_NANOS_PER_SECOND,
                                           .flows_max = 4,
                                           .mouse_packets = mouse_packets,
                                           .run_memory_bytes = 4 * 260};
    int64_t time_ns = 1700000000 * CKP_NANOS_PER_SECOND;

    require(ckp_worker_init(&worker, &reading, &batches, &limits, NULL, check_batch, NULL));
    for (size_t at = 0; at + 2 <= size;) {
        size_t count = data[at];
        if (count > size - at - 2)
            count = size - at - 2;
        time_ns = (int64_t)((uint64_t)time_ns + (uint64_t)time_step_ns(data[at + 1]));
        if (time_ns < 0 || time_ns >= CKP_TIME_END_SECONDS * CKP_NANOS_PER_SECOND)
            time_ns = 0;
        observe(data + at + 2, count, time_ns);
        if (data[at + 1] == SILENCE)
            fall_silent();
        at += 2 + count;
    }
    ckp_worker_finish(&worker);
    require(ckp_ledger_is_balanced(worker.counters, stderr));
    ckp_worker_free(&worker);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    observe_all(data, size, 0);
    observe_all(data, size, 3);
    return 0;
}
