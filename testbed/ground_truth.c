/* SPDX-License-Identifier: Apache-2.0 */
#include "ground_truth.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ETHERNET_BYTES 14
#define PORTS_BYTES 4

static const char *const fate_names[CKP_NUM_FATES] = {
    [CKP_DELIVERED] = "delivered",        [CKP_QUEUE_DROP] = "queue_drops",
    [CKP_POLICER_DROP] = "policer_drops", [CKP_CODEL_DROP] = "codel_drops",
    [CKP_RANDOM_LOSS] = "random_losses",  [CKP_REORDERED] = "reordered",
    [CKP_ECN_MARK] = "ecn_marks",
};

/** Where a frame was lost, as drops.csv calls it. */
static const char *const drop_places[CKP_NUM_FATES] = {
    [CKP_QUEUE_DROP] = "queue",
    [CKP_POLICER_DROP] = "policer",
    [CKP_CODEL_DROP] = "codel",
    [CKP_RANDOM_LOSS] = "random",
};

/** Makes room for `num_needed` elements; new ones are not initialised. */
static void *grow(void *array, size_t *capacity, size_t num_needed, size_t element_bytes)
{
    if (num_needed <= *capacity)
        return array;
    *capacity = 2 * num_needed + 1024;
    array = realloc(array, *capacity * element_bytes);
    if (!array)
        abort();
    return array;
}

/** The bin of an instant; bins between the last one and it keep the standing queue. */
static struct ckp_queue_bin *bin_at(struct ckp_ground_truth *truth, int64_t at_ns)
{
    size_t index = (size_t)(at_ns / CKP_QUEUE_BIN_NS);

    truth->bins = grow(truth->bins, &truth->bins_capacity, index + 1, sizeof(truth->bins[0]));
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

/** Where the parts of a TCP frame are. */
struct layout {
    size_t addresses_at, addresses_bytes, tcp_at, end_at;
};

/** False for every frame that is not TCP. */
static bool find_tcp(struct layout *layout, const struct ckp_frame *frame)
{
    const uint8_t *ip = frame->data + ETHERNET_BYTES;
    unsigned type = (unsigned)frame->data[12] << 8 | frame->data[13];

    if (type == 0x0800 && ip[9] == 6)
        *layout = (struct layout){.addresses_at = 12,
                                  .addresses_bytes = 8,
                                  .tcp_at = (size_t)(ip[0] & 0xf) * 4,
                                  .end_at = (size_t)ip[2] << 8 | ip[3]};
    else if (type == 0x86dd && ip[6] == 6)
        *layout = (struct layout){.addresses_at = 8,
                                  .addresses_bytes = 32,
                                  .tcp_at = 40,
                                  .end_at = 40 + ((size_t)ip[4] << 8 | ip[5])};
    else
        return false;
    return true;
}

/** Copies what names the flow of a TCP frame; 0 for every other frame. */
static size_t flow_key(uint8_t *key, const struct ckp_frame *frame)
{
    const uint8_t *ip = frame->data + ETHERNET_BYTES;
    struct layout at;

    if (!find_tcp(&at, frame))
        return 0;
    key[0] = at.addresses_bytes == 8 ? 4 : 6;
    memcpy(key + 1, ip + at.addresses_at, at.addresses_bytes);
    memcpy(key + 1 + at.addresses_bytes, ip + at.tcp_at, PORTS_BYTES);
    return 1 + at.addresses_bytes + PORTS_BYTES;
}

uint16_t ckp_truth_flow(struct ckp_ground_truth *truth, const struct ckp_frame *frame)
{
    uint8_t key[sizeof(truth->flows[0].key)];
    size_t key_bytes = flow_key(key, frame);
    size_t i = 0;

    while (i < truth->num_flows && (truth->flows[i].key_bytes != key_bytes ||
                                    memcmp(truth->flows[i].key, key, key_bytes) != 0))
        i++;
    if (i == CKP_MAX_FLOWS)
        i--;
    if (i == truth->num_flows) {
        memcpy(truth->flows[i].key, key, key_bytes);
        truth->flows[i].key_bytes = key_bytes;
        truth->num_flows++;
    }
    return (uint16_t)i;
}

bool ckp_truth_has_port(const struct ckp_ground_truth *truth, uint16_t flow, uint16_t port)
{
    const struct ckp_flow_fates *row = &truth->flows[flow];
    const uint8_t *ports = row->key + row->key_bytes - PORTS_BYTES;

    return row->key_bytes > 0 && (((unsigned)ports[0] << 8 | ports[1]) == port ||
                                  ((unsigned)ports[2] << 8 | ports[3]) == port);
}

void ckp_truth_fate(struct ckp_ground_truth *truth, const struct ckp_frame *frame,
                    enum ckp_fate fate)
{
    struct ckp_flow_fates *flow = &truth->flows[frame->flow];

    flow->num_frames[fate]++;
    flow->bytes[fate] += frame->bytes;
}

static struct ckp_flow_bin *flow_bin_at(struct ckp_flow_fates *flow, int64_t at_ns)
{
    size_t index = (size_t)(at_ns / CKP_QUEUE_BIN_NS);

    flow->bins = grow(flow->bins, &flow->bins_capacity, index + 1, sizeof(flow->bins[0]));
    while (flow->num_bins <= index)
        flow->bins[flow->num_bins++] = (struct ckp_flow_bin){0};
    return &flow->bins[index];
}

/** What a TCP frame carries of the sequence space; all 0 for other frames. */
static struct ckp_drop describe(const struct ckp_frame *frame)
{
    const uint8_t *ip = frame->data + ETHERNET_BYTES;
    struct layout at;

    if (!find_tcp(&at, frame))
        return (struct ckp_drop){0};
    const uint8_t *tcp = ip + at.tcp_at;
    size_t payload_at = at.tcp_at + (size_t)(tcp[12] >> 4) * 4;

    return (struct ckp_drop){
        .sequence_number =
            (uint32_t)tcp[4] << 24 | (uint32_t)tcp[5] << 16 | (uint32_t)tcp[6] << 8 | tcp[7],
        .payload_bytes = at.end_at > payload_at ? (uint32_t)(at.end_at - payload_at) : 0,
    };
}

void ckp_truth_drop(struct ckp_ground_truth *truth, int64_t now_ns, const struct ckp_frame *frame,
                    enum ckp_fate fate)
{
    ckp_truth_fate(truth, frame, fate);
    if (frame->direction != CKP_DATA)
        return;
    struct ckp_queue_bin *bin = bin_at(truth, now_ns);
    if (fate != CKP_RANDOM_LOSS)
        bin->num_drops++;
    flow_bin_at(&truth->flows[frame->flow], now_ns)->num_drops++;
    truth->drops =
        grow(truth->drops, &truth->drops_capacity, truth->num_drops + 1, sizeof(truth->drops[0]));
    struct ckp_drop *drop = &truth->drops[truth->num_drops++];
    *drop = describe(frame);
    drop->at_ns = now_ns;
    drop->flow = frame->flow;
    drop->fate = (uint8_t)fate;
}

void ckp_truth_carried(struct ckp_ground_truth *truth, int64_t now_ns,
                       const struct ckp_frame *frame)
{
    struct ckp_flow_bin *bin = flow_bin_at(&truth->flows[frame->flow], now_ns);

    bin->num_frames++;
    bin->bytes += (uint32_t)frame->bytes;
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

void ckp_truth_write_json(const struct ckp_ground_truth *truth, int64_t start_ns, FILE *file)
{
    uint64_t num_listed = truth->num_stalls < CKP_MAX_STALLS ? truth->num_stalls : CKP_MAX_STALLS;

    fprintf(file,
            "{\"epoch_unix_ns\": %" PRId64 ", \"num_stalls\": %" PRIu64 ", \"stalled_ns\": %" PRId64
            ", \"stalls\": [",
            start_ns, truth->num_stalls, truth->stalled_ns);
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

void ckp_truth_write_link(const struct ckp_ground_truth *truth, int64_t start_ns, FILE *file)
{
    fprintf(file, "unix_ns,flow,frames,bytes,drops\n");
    for (size_t i = 0; i < truth->num_bins; i++)
        for (size_t flow = 0; flow < truth->num_flows; flow++) {
            if (i >= truth->flows[flow].num_bins)
                continue;
            const struct ckp_flow_bin *bin = &truth->flows[flow].bins[i];

            if (bin->num_frames > 0 || bin->num_drops > 0)
                fprintf(file, "%" PRId64 ",%zu,%u,%u,%u\n",
                        start_ns + (int64_t)i * CKP_QUEUE_BIN_NS, flow, bin->num_frames, bin->bytes,
                        bin->num_drops);
        }
}

void ckp_truth_write_drops(const struct ckp_ground_truth *truth, int64_t start_ns, FILE *file)
{
    fprintf(file, "unix_ns,flow,sequence_number,payload_bytes,where\n");
    for (size_t i = 0; i < truth->num_drops; i++) {
        const struct ckp_drop *drop = &truth->drops[i];

        fprintf(file, "%" PRId64 ",%u,%u,%u,%s\n", start_ns + drop->at_ns, (unsigned)drop->flow,
                drop->sequence_number, drop->payload_bytes, drop_places[drop->fate]);
    }
}

void ckp_truth_free(struct ckp_ground_truth *truth)
{
    for (size_t i = 0; i < truth->num_flows; i++)
        free(truth->flows[i].bins);
    free(truth->bins);
    free(truth->drops);
}
