/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets of any content, at any times, come out of the batches as they went in: each flow's in
 * their order, none lost, none twice, under the right key and in the right partition. Between runs,
 * batches and the ledger all sums agree.
 *
 * Input: settings (1 byte, see configure()), then steps (see do_step()).
 */
#include "batch_reader.h"
#include "ledger.h"
#include "target.h"
#include "worker.h"

#define FLOWS          8u
#define PACKETS_MAX    600u /* of all flows, which many steps of few bytes could exceed */
#define PARTITIONS_MAX 32u

struct model_packet {
    struct ckp_segment segment;
    struct ckp_sack_block sack[CKP_SACK_BLOCKS_MAX];
};

struct model_flow {
    struct ckp_flow_key key;
    struct model_packet packets[PACKETS_MAX];
    uint32_t sent;       /* into the probe */
    uint32_t seen;       /* in batches */
    uint32_t seen_begin; /* of the flow of these ports that lives now */
    uint32_t next_sequence_number[2];
    int64_t start_ns;
    bool is_open;
};

struct model_partition {
    int64_t batches;
    int64_t packets;
};

static struct ckp_worker worker;
static struct model_flow flows[FLOWS];
static struct model_partition partitions[PARTITIONS_MAX];
static struct ckp_batch_config config;
static struct ckp_flow_limits limits;
static struct ckp_packet packet; /* the last one, which the next builds on */
static uint32_t packets_sent;
static int64_t time_ns;

/* --- what comes out --- */

static void mask(struct ckp_address *address, bool is_ipv6)
{
    address->word[1] ^= UINT64_C(0xa5c3f00f);
    if (is_ipv6)
        address->word[0] ^= UINT64_C(0xff00ff00a5c3f00f);
}

static void anonymise(void *self, struct ckp_address addresses[2], bool is_ipv6)
{
    (void)self;
    mask(&addresses[0], is_ipv6);
    mask(&addresses[1], is_ipv6);
}

static struct ckp_address address_of(const uint8_t *bytes, bool is_ipv6)
{
    return is_ipv6 ? ckp_address_from_ipv6(bytes) : ckp_address_from_ipv4(bytes);
}

/* The flow of a run, and whether it is written the other way round. */
static struct model_flow *flow_of(const struct read_run *run, int64_t partition, uint8_t *is_turned)
{
    bool is_ipv6 = run->address_bytes == 16;
    struct ckp_address low = address_of(run->low_address, is_ipv6);
    struct ckp_address high = address_of(run->high_address, is_ipv6);
    struct ckp_flow_key written = {low, high, run->low_port, run->high_port, run->domain, is_ipv6};
    struct ckp_flow_key key = written;

    REQUIRE(ckp_flow_key_order(&written, &low, run->low_port, &high, run->high_port) == 0);
    REQUIRE(ckp_flow_partition(ckp_flow_key_hash(&written, config.hash_seed),
                               config.partition_count) == partition);
    if (limits.anonymise) {
        mask(&low, is_ipv6);
        mask(&high, is_ipv6);
    }
    *is_turned = ckp_flow_key_order(&key, &low, run->low_port, &high, run->high_port);
    for (struct model_flow *flow = flows; flow < flows + FLOWS; flow++)
        if (ckp_flow_key_equal(&flow->key, &key))
            return flow;
    fprintf(stderr, "a run of a flow that was never there\n");
    abort();
}

static void check_packet(const struct model_packet *sent, const struct ckp_segment *seen,
                         const struct ckp_sack_block *sack, uint8_t is_turned)
{
    const struct ckp_segment *segment = &sent->segment;

    REQUIRE(seen->time_ns == segment->time_ns);
    REQUIRE((seen->direction ^ is_turned) == segment->direction);
    REQUIRE(seen->sequence_number == segment->sequence_number);
    REQUIRE(seen->acknowledgment_number == segment->acknowledgment_number);
    REQUIRE(seen->payload_bytes == segment->payload_bytes);
    REQUIRE(seen->header_bytes == segment->header_bytes);
    REQUIRE(seen->tcp_flags == segment->tcp_flags);
    REQUIRE(seen->window_field == segment->window_field);
    REQUIRE(seen->ip_id == segment->ip_id);
    REQUIRE(seen->time_to_live == segment->time_to_live);
    REQUIRE(seen->traffic_class == segment->traffic_class);
    REQUIRE(seen->options_present == segment->options_present);
    REQUIRE(seen->timestamp_value == segment->timestamp_value);
    REQUIRE(seen->timestamp_echo == segment->timestamp_echo);
    REQUIRE(seen->maximum_segment_size == segment->maximum_segment_size);
    REQUIRE(seen->window_scale == segment->window_scale);
    REQUIRE(seen->sack_blocks == segment->sack_blocks);
    REQUIRE(memcmp(sack, sent->sack, segment->sack_blocks * sizeof sack[0]) == 0);
}

/* No run reaches beyond the second that it began in. */
static int64_t second_after(int64_t at_ns)
{
    return (at_ns / CKP_NANOS_PER_SECOND + 1) * CKP_NANOS_PER_SECOND;
}

static void check_packets(struct model_flow *flow, const struct read_packets *packets,
                          uint8_t is_turned)
{
    const struct ckp_sack_block *sack = packets->sack_blocks;

    REQUIRE(packets->count <= CKP_RUN_PACKETS_MAX && packets->count <= flow->sent - flow->seen);
    for (uint32_t i = 0; i < packets->count; i++) {
        REQUIRE(packets->segments[i].time_ns < second_after(packets->segments[0].time_ns));
        check_packet(&flow->packets[flow->seen++], &packets->segments[i], sack, is_turned);
        sack += packets->segments[i].sack_blocks;
    }
    REQUIRE(sack == packets->sack_blocks + packets->sack_count);
}

static void check_run(const struct read_run *run, int64_t partition)
{
    uint8_t is_turned;
    struct model_flow *flow = flow_of(run, partition, &is_turned);
    size_t number = (size_t)(flow - flows);

    if (!flow->is_open) {
        REQUIRE(run->packets.count > 0);
        flow->is_open = true;
        flow->seen_begin = flow->seen;
        flow->start_ns = run->packets.segments[0].time_ns;
    }
    REQUIRE(run->domain == worker.reading.domain);
    REQUIRE(run->vlan_id == (number & 1 ? (int64_t)number : -1));
    REQUIRE(run->tunnel_id == (number & 2 ? (int64_t)number << 29 : -1));
    REQUIRE(run->packets_before == flow->seen - flow->seen_begin);
    REQUIRE(run->flow_start_ns == flow->start_ns);
    check_packets(flow, &run->packets, is_turned);
    REQUIRE(run->observed_until_ns >= flow->packets[flow->seen - 1].segment.time_ns);
    flow->is_open = run->end_reason == CKP_END_NONE;
}

static void check_batch(void *sink, const struct ckp_batch *batch)
{
    static struct read_run run;
    struct model_partition *partition = &partitions[batch->partition];
    uint8_t *bytes = copy_exactly(batch->bytes, batch->size_bytes);
    struct batch_reader reader = {bytes, bytes + batch->size_bytes};
    struct read_batch header;
    int64_t packets = 0;

    REQUIRE(sink == &worker);
    read_batch_header(&reader, &header);
    REQUIRE(header.partition == batch->partition);
    REQUIRE(header.partition_count == config.partition_count);
    REQUIRE(header.sequence == partition->batches);
    REQUIRE(header.packets_before == partition->packets);
    REQUIRE((uint64_t)header.session == config.session);
    REQUIRE((uint64_t)header.hash_seed == config.hash_seed);
    REQUIRE(header.worker == config.worker);
    REQUIRE(header.timestamp_resolution_ns == config.timestamp_resolution_ns);
    REQUIRE(strcmp(header.probe, config.probe) == 0 && strcmp(header.tap, config.tap) == 0);
    for (int64_t i = 0; i < header.runs; i++) {
        read_run(&reader, &run);
        check_run(&run, header.partition);
        packets += run.packets.count;
    }
    read_runs_end(&reader, &header);
    REQUIRE(header.summaries == 0 && header.summarised_packets == 0);
    read_batch_end(&reader, &header);
    free(bytes);
    REQUIRE(packets == batch->packets && packets == header.packets);
    partition->batches++;
    partition->packets += packets;
    ckp_count(worker.counters, CKP_COUNT_BATCHES_DELIVERED, 1);
    ckp_count(worker.counters, CKP_COUNT_PACKETS_DELIVERED, batch->packets);
}

/* --- what goes in --- */

static struct ckp_flow_key make_key(unsigned number, uint32_t domain)
{
    static const uint8_t far[16] = {0x20, 1, [15] = 1};
    struct ckp_flow_key key = {.domain = domain, .is_ipv6 = number >= 5};
    uint8_t near[16] = {10, [3] = (uint8_t)(1 + number % 2), [15] = 9};
    struct ckp_address a = address_of(near, key.is_ipv6), b = address_of(far, key.is_ipv6);

    if (number == FLOWS - 1) /* one that speaks to itself */
        ckp_flow_key_order(&key, &a, 7, &a, 7);
    else
        ckp_flow_key_order(&key, &a, (uint16_t)(1000 + number), &b, 443);
    return key;
}

static bool has_equal_ends(const struct ckp_flow_key *key)
{
    return key->low_port == key->high_port &&
           key->low_address.word[0] == key->high_address.word[0] &&
           key->low_address.word[1] == key->high_address.word[1];
}

static void configure(uint8_t settings)
{
    static const uint32_t partition_counts[] = {1, 3, PARTITIONS_MAX, 2};
    static const size_t flush_bytes[] = {1, 300, 16384, 3000};

    config = (struct ckp_batch_config){
        .probe = "probe",
        .tap = settings & 0x10 ? "" : "tap",
        .session = UINT64_MAX - settings,
        .worker = settings,
        .partition_count = partition_counts[settings & 3],
        .hash_seed = settings & 0x20 ? UINT64_MAX : 0,
        .flush_bytes = flush_bytes[settings >> 2 & 3],
        .flush_delay_ns = 250 * CKP_NANOS_PER_MILLI,
        .timestamp_source = CKP_TIMESTAMP_FILE,
        .timestamp_resolution_ns = 1,
    };
    limits = (struct ckp_flow_limits){
        .idle_ns = (settings & 0x20 ? 3 : 180) * CKP_NANOS_PER_SECOND,
        .flows_max = settings & 0x40 ? 3 : 1000,
        .run_memory_bytes = settings & 0x40 ? 5 * 260 : 1000 * 260,
        .anonymise = settings & 0x80 ? anonymise : NULL,
    };
}

static int64_t clamp(int64_t at_ns)
{
    const int64_t end_ns = CKP_TIME_END_SECONDS * CKP_NANOS_PER_SECOND;

    return at_ns < 0 ? 0 : at_ns >= end_ns ? end_ns - 1 : at_ns;
}

/* Nothing, microseconds, up to a wheel's turn, a date, an edge, or a step back. */
static void let_time_pass(struct input *input)
{
    uint8_t code = take_byte(input);
    int64_t amount = code & 0x1f;

    switch (code >> 5) {
    case 0:
        break;
    case 3:
        time_ns = clamp(time_ns + amount * CKP_NANOS_PER_SECOND / 16);
        break;
    case 4:
        time_ns = clamp(time_ns + amount * 10 * CKP_NANOS_PER_SECOND);
        break;
    case 5:
        time_ns = clamp(time_ns - amount * CKP_NANOS_PER_SECOND / 8);
        break;
    case 6:
        time_ns = clamp(amount & 1 ? INT64_MAX : 0);
        break;
    case 7:
        time_ns = clamp((int64_t)(take_number(input, 8) >> 1));
        break;
    default:
        time_ns = clamp(time_ns + code * INT64_C(1000));
    }
}

static void read_options(struct input *input)
{
    struct ckp_segment *segment = &packet.segment;

    segment->options_present = take_byte(input) & 0x3f;
    segment->timestamp_value = segment->timestamp_echo = 0;
    segment->maximum_segment_size = 0;
    segment->window_scale = segment->sack_blocks = 0;
    if (segment->options_present & CKP_OPTION_TIMESTAMPS) {
        segment->timestamp_value = (uint32_t)take_number(input, 4);
        segment->timestamp_echo = (uint32_t)take_number(input, 4);
    }
    if (segment->options_present & CKP_OPTION_MSS)
        segment->maximum_segment_size = (uint16_t)take_number(input, 2);
    if (segment->options_present & CKP_OPTION_WINDOW_SCALE)
        segment->window_scale = take_byte(input);
    if (!(segment->options_present & CKP_OPTION_SACK_BLOCKS))
        return;
    segment->sack_blocks = 1 + take_byte(input) % CKP_SACK_BLOCKS_MAX;
    for (unsigned i = 0; i < segment->sack_blocks; i++) {
        packet.sack[i].left_edge = (uint32_t)take_number(input, 4);
        packet.sack[i].right_edge = (uint32_t)take_number(input, 4);
    }
}

/* What differs from the packet before, as the bits of the first byte say. */
static void read_differences(struct input *input)
{
    struct ckp_segment *segment = &packet.segment;
    uint8_t what = take_byte(input);

    if (what & 0x01)
        let_time_pass(input);
    if (what & 0x02)
        segment->payload_bytes = (uint32_t)take_number(input, 4);
    if (what & 0x04)
        segment->payload_bytes = take_byte(input);
    if (what & 0x08)
        segment->acknowledgment_number = (uint32_t)take_number(input, 4);
    if (what & 0x10)
        segment->tcp_flags = take_byte(input);
    if (what & 0x20) {
        segment->window_field = (uint16_t)take_number(input, 2);
        segment->header_bytes = (uint16_t)take_number(input, 2);
        segment->time_to_live = take_byte(input);
        segment->traffic_class = take_byte(input);
        segment->ip_id = (uint16_t)take_number(input, 2);
    }
    if (what & 0x40)
        read_options(input);
    if (what & 0x80)
        segment->sequence_number = (uint32_t)take_number(input, 4);
}

static void send(unsigned number, unsigned direction, bool is_next)
{
    struct model_flow *flow = &flows[number];
    struct ckp_segment *segment = &packet.segment;

    if (packets_sent == PACKETS_MAX)
        return;
    packet.key = flow->key;
    packet.vlan_id = number & 1 ? (uint16_t)number : CKP_VLAN_NONE;
    packet.tunnel_id = number & 2 ? (int64_t)number << 29 : CKP_TUNNEL_NONE;
    segment->direction = has_equal_ends(&flow->key) ? 0 : (uint8_t)direction;
    segment->time_ns = time_ns;
    if (is_next)
        segment->sequence_number = flow->next_sequence_number[direction];
    flow->next_sequence_number[direction] = segment->sequence_number + segment->payload_bytes;

    struct ckp_packet sent = packet;
    if (sent.key.is_ipv6)
        sent.segment.ip_id = 0;
    struct model_packet *model = &flow->packets[flow->sent++];
    model->segment = sent.segment;
    memcpy(model->sack, sent.sack, sizeof model->sack);
    packets_sent++;
    ckp_worker_take(&worker, &sent);
}

static void fall_silent(void)
{
    ckp_worker_before_wait(&worker, 1);
    REQUIRE(ckp_worker_before_wait(&worker, CKP_NANOS_PER_SECOND) == INT64_MAX);
    REQUIRE(!ckp_flow_tracker_has_open(&worker.tracker));
    for (const struct model_flow *flow = flows; flow < flows + FLOWS; flow++)
        REQUIRE(flow->seen == flow->sent);
}

/* Mostly few, for they take time; sometimes more than a run holds. */
static int burst_packets(uint8_t code)
{
    return code < 0xf0 ? code % 16 : 250 + code % 16;
}

/* A packet, many like the last one, or something that happens between packets. */
static void do_step(struct input *input)
{
    uint8_t step = take_byte(input);
    unsigned number = step % FLOWS, direction = step >> 3 & 1;

    switch (step >> 6) {
    case 0:
    case 1:
        read_differences(input);
        send(number, direction, (step & 0x10) != 0);
        break;
    case 2:
        for (int left = burst_packets(take_byte(input)); left > 0; left--) {
            time_ns = clamp(time_ns + (step & 0x10 ? 1000000 : 1000));
            send(step & 0x20 ? (unsigned)left % FLOWS : number, direction, true);
        }
        break;
    default:
        if (step & 1)
            fall_silent();
        else if (step & 2)
            ckp_worker_flush(&worker);
        else
            let_time_pass(input);
        if (step & 4)
            ckp_worker_pass_time(&worker, time_ns);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, data + size};
    const struct ckp_frame_reading reading = {.domain = size & 1 ? 0 : INT32_MAX};

    configure(take_byte(&input));
    packet = (struct ckp_packet){.segment = {.header_bytes = 40, .tcp_flags = CKP_TCP_ACK}};
    memset(partitions, 0, sizeof partitions);
    for (unsigned i = 0; i < FLOWS; i++) {
        flows[i].key = make_key(i, reading.domain);
        flows[i].sent = flows[i].seen = 0;
        flows[i].next_sequence_number[0] = UINT32_MAX - 5000;
        flows[i].next_sequence_number[1] = 0;
        flows[i].is_open = false;
    }
    packets_sent = 0;
    time_ns = 1700000000 * CKP_NANOS_PER_SECOND;

    REQUIRE(ckp_worker_init(&worker, &reading, &config, &limits, NULL, check_batch, &worker));
    while (input.at < input.end)
        do_step(&input);
    ckp_worker_finish(&worker);
    for (const struct model_flow *flow = flows; flow < flows + FLOWS; flow++)
        REQUIRE(flow->seen == flow->sent && !flow->is_open);
    REQUIRE(worker.counters->value[CKP_COUNT_FRAMES_RECEIVED] == packets_sent);
    REQUIRE(worker.counters->value[CKP_COUNT_PACKETS_DELIVERED] == packets_sent);
    REQUIRE(ckp_ledger_is_balanced(worker.counters, stderr));
    ckp_worker_free(&worker);
    return 0;
}
