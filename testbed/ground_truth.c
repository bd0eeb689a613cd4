/* SPDX-License-Identifier: Apache-2.0 */
#include "ground_truth.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ETHERNET_BYTES 14
#define PORTS_BYTES 4

static const char *const fate_names[CKP_NUM_FATES] = {
    [CKP_DELIVERED] = "delivered",
    [CKP_QUEUE_DROP] = "queue_drops",
    [CKP_RANDOM_LOSS] = "random_losses",
    [CKP_REORDERED] = "reordered",
};

/** The bin of an instant; bins between the last one and it keep the standing queue. */
static struct ckp_queue_bin *bin_at(struct ckp_ground_truth *truth, int64_t at_ns)
{
    size_t index = (size_t)(at_ns / CKP_QUEUE_BIN_NS);

    if (index >= truth->bins_capacity) {
        truth->bins_capacity = 2 * index + 4096;
        truth->bins = realloc(truth->bins, truth->bins_capacity * sizeof(truth->bins[0]));
        if (!truth->bins)
            abort();
    }
    while (truth->num_bins <= index)
        truth->bins[truth->num_bins++] = (struct ckp_queue_bin){
            .min_bytes = truth->queue_bytes,
            .max_bytes = truth->queue_bytes,
        };
    return &truth->bins[index];
}

void ckp_truth_queue(struct ckp_ground_truth *truth, int64_t now_ns, int32_t queue_bytes)
{
    struct ckp_queue_bin *bin = bin_at(truth, now_ns);

    truth->queue_bytes = queue_bytes;
    if (queue_bytes < bin->min_bytes)
        bin->min_bytes = queue_bytes;
    if (queue_bytes > bin->max_bytes)
        bin->max_bytes = queue_bytes;
}

void ckp_truth_busy(struct ckp_ground_truth *truth, int64_t start_ns, int64_t end_ns)
{
    while (start_ns < end_ns) {
        int64_t bin_end_ns = (start_ns / CKP_QUEUE_BIN_NS + 1) * CKP_QUEUE_BIN_NS;
        int64_t until_ns = bin_end_ns < end_ns ? bin_end_ns : end_ns;

        bin_at(truth, start_ns)->busy_ns += (int32_t)(until_ns - start_ns);
        start_ns = until_ns;
    }
}

/** Copies what names the flow of a TCP frame; 0 for every other frame. */
static size_t flow_key(uint8_t *key, const struct ckp_frame *frame)
{
    const uint8_t *ip = frame->data + ETHERNET_BYTES;
    unsigned type = (unsigned)frame->data[12] << 8 | frame->data[13];
    size_t addresses_at, addresses_bytes, tcp_at;

    if (type == 0x0800 && ip[9] == 6) {
        addresses_at = 12;
        addresses_bytes = 8;
        tcp_at = (size_t)(ip[0] & 0xf) * 4;
    } else if (type == 0x86dd && ip[6] == 6) {
        addresses_at = 8;
        addresses_bytes = 32;
        tcp_at = 40;
    } else {
        return 0;
    }
    key[0] = addresses_bytes == 8 ? 4 : 6;
    memcpy(key + 1, ip + addresses_at, addresses_bytes);
    memcpy(key + 1 + addresses_bytes, ip + tcp_at, PORTS_BYTES);
    return 1 + addresses_bytes + PORTS_BYTES;
}

void ckp_truth_fate(struct ckp_ground_truth *truth, const struct ckp_frame *frame,
                    enum ckp_fate fate)
{
    uint8_t key[sizeof(truth->flows[0].key)];
    size_t key_bytes = flow_key(key, frame);
    size_t i = 0;

    while (i < truth->num_flows && (truth->flows[i].key_bytes != key_bytes ||
                                    memcmp(truth->flows[i].key, key, key_bytes) != 0))
        i++;
    if (i == CKP_MAX_FLOWS)
        i--; /* the last row collects what does not fit */
    struct ckp_flow_fates *flow = &truth->flows[i];
    if (i == truth->num_flows) {
        memcpy(flow->key, key, key_bytes);
        flow->key_bytes = key_bytes;
        truth->num_flows++;
    }
    flow->num_frames[fate]++;
    flow->bytes[fate] += frame->bytes;
}

void ckp_truth_queue_drop(struct ckp_ground_truth *truth, int64_t now_ns,
                          const struct ckp_frame *frame)
{
    bin_at(truth, now_ns)->num_drops++;
    ckp_truth_fate(truth, frame, CKP_QUEUE_DROP);
}

void ckp_truth_stall(struct ckp_ground_truth *truth, int64_t emulated_ns, int64_t duration_ns)
{
    if (truth->num_stalls < CKP_MAX_STALLS)
        truth->stalls[truth->num_stalls] = (struct ckp_stall){emulated_ns, duration_ns};
    truth->num_stalls++;
    truth->stalled_ns += duration_ns;
}

static void write_flow(const struct ckp_flow_fates *flow, FILE *file)
{
    char source[INET6_ADDRSTRLEN] = "other", destination[INET6_ADDRSTRLEN] = "other";
    unsigned source_port = 0, destination_port = 0;

    if (flow->key_bytes > 0) {
        int family = flow->key[0] == 4 ? AF_INET : AF_INET6;
        size_t address_bytes = flow->key[0] == 4 ? 4 : 16;
        const uint8_t *ports = flow->key + 1 + 2 * address_bytes;

        inet_ntop(family, flow->key + 1, source, sizeof(source));
        inet_ntop(family, flow->key + 1 + address_bytes, destination, sizeof(destination));
        source_port = (unsigned)ports[0] << 8 | ports[1];
        destination_port = (unsigned)ports[2] << 8 | ports[3];
    }
    fprintf(file,
            "{\"source\": \"%s\", \"source_port\": %u, \"destination\": \"%s\", "
            "\"destination_port\": %u",
            source, source_port, destination, destination_port);
    for (int fate = 0; fate < CKP_NUM_FATES; fate++)
        fprintf(file, ", \"%s_frames\": %" PRIu64 ", \"%s_bytes\": %" PRIu64, fate_names[fate],
                flow->num_frames[fate], fate_names[fate], flow->bytes[fate]);
    fprintf(file, "}");
}

void ckp_truth_write_json(const struct ckp_ground_truth *truth, FILE *file)
{
    uint64_t num_listed = truth->num_stalls < CKP_MAX_STALLS ? truth->num_stalls : CKP_MAX_STALLS;

    fprintf(file, "{\"num_stalls\": %" PRIu64 ", \"stalled_ns\": %" PRId64 ", \"stalls\": [",
            truth->num_stalls, truth->stalled_ns);
    for (uint64_t i = 0; i < num_listed; i++)
        fprintf(file, "%s{\"emulated_ns\": %" PRId64 ", \"duration_ns\": %" PRId64 "}",
                i ? ", " : "", truth->stalls[i].emulated_ns, truth->stalls[i].duration_ns);
    fprintf(file,
            "],\n \"num_events\": %" PRIu64 ", \"mean_lateness_ns\": %" PRId64
            ", \"max_lateness_ns\": %" PRId64 ", \"num_undelivered\": %" PRIu64 ",\n",
            truth->num_events,
            truth->num_events ? truth->sum_lateness_ns / (int64_t)truth->num_events : 0,
            truth->max_lateness_ns, truth->num_undelivered);
    fprintf(file, " \"directions_of_flows\": [");
    for (size_t i = 0; i < truth->num_flows; i++) {
        fprintf(file, "%s\n  ", i ? "," : "");
        write_flow(&truth->flows[i], file);
    }
    fprintf(file, "]}\n");
}

void ckp_truth_write_queue(const struct ckp_ground_truth *truth, int64_t start_ns, FILE *file)
{
    fprintf(file, "unix_ns,min_queue_bytes,max_queue_bytes,busy_ns,drops\n");
    for (size_t i = 0; i < truth->num_bins; i++)
        fprintf(file, "%" PRId64 ",%d,%d,%d,%d\n", start_ns + (int64_t)i * CKP_QUEUE_BIN_NS,
                truth->bins[i].min_bytes, truth->bins[i].max_bytes, truth->bins[i].busy_ns,
                truth->bins[i].num_drops);
}
