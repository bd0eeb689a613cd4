/* SPDX-License-Identifier: Apache-2.0 */
/* Our bytes are Avro's bytes: schemas/golden/segment_batch_*.txt, encoded by the probe, equal the
 * .avro beside them, which avro-c and Avro Java made from the .json. */
#include "batch.h"
#include "schema_text.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define FILE_BYTES_MAX (1u << 20)
#define RUNS_MAX       16
#define SUMMARIES_MAX  4
#define LINE_BYTES_MAX 4096

struct golden_run {
    struct ckp_flow_key key;
    struct ckp_run run;
    struct ckp_segment segments[CKP_RUN_PACKETS_MAX];
    struct ckp_sack_block sack_blocks[CKP_RUN_PACKETS_MAX * CKP_SACK_BLOCKS_MAX];
    uint32_t sack_count;
};

struct golden_summary {
    struct ckp_flow_key key;
    struct ckp_summary summary;
};

struct golden_batch {
    char text[2][256]; /* probe, tap */
    struct ckp_batch_config config;
    uint32_t partition;
    uint64_t sequence, packets_before, summarised_packets_before;
    struct ckp_counters counters;
    struct golden_run runs[RUNS_MAX];
    int run_count;
    struct golden_summary summaries[SUMMARIES_MAX];
    int summary_count;
};

static struct golden_batch golden;

/* The value of ` name=` in a line; "0" if it is not there. */
static const char *field(const char *line, const char *name)
{
    static char value[8][256];
    static int turn;
    char pattern[64];

    snprintf(pattern, sizeof pattern, " %s=", name);
    const char *at = strstr(line, pattern);
    if (!at)
        return "0";
    turn = (turn + 1) % 8;
    sscanf(at + strlen(pattern), "%255s", value[turn]);
    return value[turn];
}

static int64_t number(const char *line, const char *name)
{
    return strtoll(field(line, name), NULL, 10);
}

static unsigned index_of(const char *name, const char *const *names)
{
    unsigned i = 0;

    while (names[i] && strcmp(names[i], name) != 0)
        i++;
    assert_non_null(names[i]);
    return i;
}

static const char *const sources[] = {"UNKNOWN", "FILE", "NIC", "KERNEL", "BURST", NULL};
static const char *const reasons[] = {"NONE",     "FIN",         "RST",  "IDLE", "EVICTED",
                                      "REPLACED", "CAPTURE_END", "SHED", NULL};

static void parse_batch(const char *line)
{
    strcpy(golden.text[0], field(line, "probe"));
    strcpy(golden.text[1], field(line, "tap"));
    golden.config = (struct ckp_batch_config){
        .probe = golden.text[0],
        .tap = golden.text[1],
        .session = (uint64_t)number(line, "session"),
        .worker = (uint32_t)number(line, "worker"),
        .partition_count = (uint32_t)number(line, "partition_count"),
        .hash_seed = (uint64_t)number(line, "hash_seed"),
        .schema_fingerprint = CKP_SCHEMA_FINGERPRINT,
        .flush_bytes = 1 << 18,
        .timestamp_source = index_of(field(line, "timestamp_source"), sources),
        .timestamp_resolution_ns = number(line, "timestamp_resolution_ns"),
    };
    golden.partition = (uint32_t)number(line, "partition");
    golden.sequence = (uint64_t)number(line, "sequence");
    golden.packets_before = (uint64_t)number(line, "packets_before");
    golden.summarised_packets_before = (uint64_t)number(line, "summarised_packets_before");
}

static void parse_counter(const char *line)
{
    char pattern[64];

    for (int i = 0; i < CKP_COUNTERS; i++) {
        snprintf(pattern, sizeof pattern, " %s=", ckp_counter_info[i].name);
        if (strstr(line, pattern))
            golden.counters.value[i] = (uint64_t)number(line, ckp_counter_info[i].name);
    }
}

static struct ckp_address parse_address(const char *text, bool *is_ipv6)
{
    uint8_t bytes[16];

    *is_ipv6 = strchr(text, ':') != NULL;
    assert_int_equal(inet_pton(*is_ipv6 ? AF_INET6 : AF_INET, text, bytes), 1);
    return *is_ipv6 ? ckp_address_from_ipv6(bytes) : ckp_address_from_ipv4(bytes);
}

static void parse_key(struct ckp_flow_key *key, const char *line)
{
    key->domain = (uint32_t)number(line, "domain");
    key->low_address = parse_address(field(line, "low_address"), &key->is_ipv6);
    key->high_address = parse_address(field(line, "high_address"), &key->is_ipv6);
    key->low_port = (uint16_t)number(line, "low_port");
    key->high_port = (uint16_t)number(line, "high_port");
}

static uint16_t parse_vlan(const char *line)
{
    const char *vlan_id = field(line, "vlan_id");

    return *vlan_id == '-' ? CKP_VLAN_NONE : (uint16_t)strtol(vlan_id, NULL, 10);
}

static int64_t parse_tunnel(const char *line)
{
    const char *tunnel_id = field(line, "tunnel_id");

    return *tunnel_id == '-' ? CKP_TUNNEL_NONE : strtoll(tunnel_id, NULL, 10);
}

static void parse_run(const char *line)
{
    struct golden_run *run = &golden.runs[golden.run_count++];

    run->sack_count = 0;
    parse_key(&run->key, line);
    run->run = (struct ckp_run){
        .key = &run->key,
        .vlan_id = parse_vlan(line),
        .tunnel_id = parse_tunnel(line),
        .flow_start_ns = number(line, "flow_start_ns"),
        .packets_before = (uint64_t)number(line, "packets_before"),
        .observed_until_ns = number(line, "observed_until_ns"),
        .end_reason = index_of(field(line, "end_reason"), reasons),
        .packets = {run->segments, run->sack_blocks, 0, run->key.is_ipv6},
    };
}

static void parse_sack(struct golden_run *run, struct ckp_segment *segment, const char *text)
{
    unsigned left, right;
    int used;

    while (sscanf(text, "%u-%u%n", &left, &right, &used) == 2) {
        run->sack_blocks[run->sack_count++] = (struct ckp_sack_block){left, right};
        segment->sack_blocks++;
        text += used;
        if (*text++ != ',')
            break;
    }
}

static void parse_packet(const char *line)
{
    struct golden_run *run = &golden.runs[golden.run_count - 1];
    struct ckp_segment *segment = &run->segments[run->run.packets.count++];

    *segment = (struct ckp_segment){
        .time_ns = number(line, "time_ns"),
        .sequence_number = (uint32_t)number(line, "sequence_number"),
        .acknowledgment_number = (uint32_t)number(line, "acknowledgment_number"),
        .payload_bytes = (uint32_t)number(line, "payload_bytes"),
        .timestamp_value = (uint32_t)number(line, "timestamp_value"),
        .timestamp_echo = (uint32_t)number(line, "timestamp_echo"),
        .window_field = (uint16_t)number(line, "window_field"),
        .header_bytes = (uint16_t)number(line, "header_bytes"),
        .ip_id = (uint16_t)number(line, "ip_id"),
        .maximum_segment_size = (uint16_t)number(line, "maximum_segment_size"),
        .tcp_flags = (uint8_t)number(line, "tcp_flags"),
        .time_to_live = (uint8_t)number(line, "time_to_live"),
        .traffic_class = (uint8_t)number(line, "traffic_class"),
        .options_present = (uint8_t)number(line, "options_present"),
        .window_scale = (uint8_t)number(line, "window_scale"),
        .direction = (uint8_t)number(line, "direction"),
    };
    if (segment->options_present & CKP_OPTION_SACK_BLOCKS)
        parse_sack(run, segment, field(line, "sack_blocks"));
}

static void parse_summary(const char *line)
{
    struct golden_summary *golden_summary = &golden.summaries[golden.summary_count++];

    parse_key(&golden_summary->key, line);
    golden_summary->summary = (struct ckp_summary){
        .key = &golden_summary->key,
        .vlan_id = parse_vlan(line),
        .tunnel_id = parse_tunnel(line),
        .flow_start_ns = number(line, "flow_start_ns"),
        .duration_ns = number(line, "duration_ns"),
        .quiet_ns = number(line, "quiet_ns"),
        .end_reason = index_of(field(line, "end_reason"), reasons),
        .is_client_known = *field(line, "client") != '-',
        .client = (uint8_t)number(line, "client"),
        .client_sequence_number = (uint32_t)number(line, "client_sequence_number"),
        .syns = (uint32_t)number(line, "syns"),
        .is_handshake_timed = *field(line, "server_delay_ns") != '-',
        .server_delay_ns = number(line, "server_delay_ns"),
        .client_delay_ns = number(line, "client_delay_ns"),
    };
}

static void parse_direction(unsigned direction, const char *line)
{
    golden.summaries[golden.summary_count - 1].summary.sent_by[direction] =
        (struct ckp_summary_direction){
            .packets = (uint32_t)number(line, "packets"),
            .data_packets = (uint32_t)number(line, "data_packets"),
            .data_bytes = (uint32_t)number(line, "data_bytes"),
            .header_bytes = (uint32_t)number(line, "header_bytes"),
            .acknowledged_bytes = (uint32_t)number(line, "acknowledged_bytes"),
            .largest_data_bytes = (uint32_t)number(line, "largest_data_bytes"),
            .full_packets = (uint32_t)number(line, "full_packets"),
            .maximum_segment_size = (uint16_t)number(line, "maximum_segment_size"),
            .flags = (uint8_t)number(line, "flags"),
        };
}

static FILE *open_golden(const char *name, const char *ending)
{
    char path[1024];

    snprintf(path, sizeof path, "%s/%s.%s", getenv("CKP_GOLDEN"), name, ending);
    FILE *file = fopen(path, "rb");
    if (!file)
        fail_msg("%s cannot be opened", path);
    return file;
}

static void parse_golden(const char *name)
{
    FILE *file = open_golden(name, "txt");
    char line[LINE_BYTES_MAX];

    golden.counters = (struct ckp_counters){0};
    golden.run_count = golden.summary_count = 0;
    while (fgets(line, sizeof line, file)) {
        if (strncmp(line, "batch ", 6) == 0)
            parse_batch(line);
        else if (strncmp(line, "counter ", 8) == 0)
            parse_counter(line);
        else if (strncmp(line, "run ", 4) == 0)
            parse_run(line);
        else if (strncmp(line, "packet ", 7) == 0)
            parse_packet(line);
        else if (strncmp(line, "summary ", 8) == 0)
            parse_summary(line);
        else if (strncmp(line, "sent_by_low ", 12) == 0)
            parse_direction(0, line);
        else if (strncmp(line, "sent_by_high ", 13) == 0)
            parse_direction(1, line);
    }
    fclose(file);
}

static struct {
    uint8_t bytes[FILE_BYTES_MAX];
    size_t size;
} delivered, expected;

static void keep(void *sink, const struct ckp_batch *batch)
{
    (void)sink;
    memcpy(delivered.bytes, batch->bytes, batch->size_bytes);
    delivered.size = batch->size_bytes;
}

/* The counters of the header are the golden ones: they must not count on while runs are added. */
static void encode_golden(void)
{
    struct ckp_batcher batcher;
    struct ckp_counters counters = golden.counters;

    assert_true(ckp_batcher_init(&batcher, &golden.config, &counters, keep, NULL));
    batcher.totals[golden.partition] = (struct ckp_partition_totals){
        .batches = golden.sequence,
        .packets = golden.packets_before,
        .summarised_packets = golden.summarised_packets_before,
    };
    for (int i = 0; i < golden.run_count; i++)
        ckp_batcher_add(&batcher, golden.partition, &golden.runs[i].run, 0);
    for (int i = 0; i < golden.summary_count; i++)
        ckp_batcher_add_summary(&batcher, golden.partition, &golden.summaries[i].summary, 0);
    counters = golden.counters;
    counters.value[CKP_COUNT_BATCHES_ENCODED]--; /* the delivery itself counts one */
    ckp_batcher_finish(&batcher);
    ckp_batcher_free(&batcher);
}

static void test_our_bytes_are_avros_bytes(void **state)
{
    const char *name = *state;
    FILE *file = open_golden(name, "avro");

    expected.size = fread(expected.bytes, 1, sizeof expected.bytes, file);
    fclose(file);
    parse_golden(name);
    delivered.size = 0;
    encode_golden();

    assert_int_equal(delivered.size, expected.size);
    assert_memory_equal(delivered.bytes, expected.bytes, expected.size);
}

#define GOLDEN(batch)                                                                              \
    {                                                                                              \
        .name = "our bytes are avro's bytes: " batch, .test_func = test_our_bytes_are_avros_bytes, \
        .initial_state = (void *)(uintptr_t) "segment_batch_" batch                                \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        GOLDEN("handshake"), GOLDEN("sack"), GOLDEN("marks"),
        GOLDEN("empty"),     GOLDEN("bulk"), GOLDEN("summaries"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
