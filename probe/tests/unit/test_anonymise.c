/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses under keys: published vectors, the properties that make them useful, flows that are
 * written under them, and key files. */
#include "anonymise.h"

#include "batch_reader.h"
#include "worker.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

/* The key of the sample trace that comes with the reference implementation of Crypto-PAn. */
static const uint8_t reference_key[CKP_ANONYMISE_KEY_BYTES] = {
    21,  34,  23,  141, 51,  164, 207, 128, 19, 10, 91, 22, 73, 144, 125, 16,
    216, 152, 143, 131, 121, 121, 101, 39,  98, 87, 76, 45, 42, 132, 34,  2};

/* Addresses of that trace; those from 127.0.0.1 on, and of IPv6, are what other implementations
 * agree on. */
static const struct {
    const char *real, *anonymised;
} vectors[] = {
    {"128.11.68.132", "135.242.180.132"},
    {"129.118.74.4", "134.136.186.123"},
    {"130.132.252.244", "133.68.164.234"},
    {"141.223.7.43", "141.167.8.160"},
    {"141.233.145.108", "141.129.237.235"},
    {"152.163.225.39", "151.140.114.167"},
    {"156.29.3.236", "147.225.12.42"},
    {"165.247.96.84", "162.9.99.234"},
    {"192.41.57.43", "252.222.221.184"},
    {"195.205.63.100", "255.186.223.5"},
    {"198.51.77.238", "249.18.186.254"},
    {"205.188.147.153", "242.96.16.101"},
    {"205.188.248.25", "242.96.88.27"},
    {"216.254.18.172", "235.7.16.162"},
    {"24.0.250.221", "100.15.198.226"},
    {"38.15.67.68", "64.3.66.187"},
    {"4.3.88.225", "124.60.155.63"},
    {"63.14.55.111", "95.9.215.7"},
    {"64.39.15.238", "0.219.7.41"},
    {"10.185.25.118", "117.161.29.118"},
    {"127.0.0.1", "33.0.243.129"},
    {"0.0.0.0", "120.255.240.1"},
    {"255.255.255.255", "206.120.97.255"},
    {"::1", "78ff:f001:9fc0:20df:8380:b1f1:704:ed"},
    {"::2", "78ff:f001:9fc0:20df:8380:b1f1:704:ef"},
    {"::ffff", "78ff:f001:9fc0:20df:8380:b1f1:704:f838"},
    {"2001:db8::1", "4401:2bc:603f:d91d:27f:ff8e:e6f1:dc1e"},
    {"2001:db8::2", "4401:2bc:603f:d91d:27f:ff8e:e6f1:dc1c"},
};

static struct ckp_address parse_address(const char *text, bool *is_ipv6)
{
    uint8_t bytes[16];

    *is_ipv6 = strchr(text, ':') != NULL;
    assert_int_equal(inet_pton(*is_ipv6 ? AF_INET6 : AF_INET, text, bytes), 1);
    return *is_ipv6 ? ckp_address_from_ipv6(bytes) : ckp_address_from_ipv4(bytes);
}

static void assert_address(const struct ckp_address *address, bool is_ipv6, const char *text)
{
    uint8_t bytes[16];
    char said[INET6_ADDRSTRLEN];

    ckp_address_write(bytes, address, is_ipv6);
    inet_ntop(is_ipv6 ? AF_INET6 : AF_INET, bytes, said, sizeof said);
    assert_string_equal(said, text);
    if (!is_ipv6) /* the words that are hashed */
        assert_true(address->word[0] == 0 && address->word[1] >> 32 == 0xffff);
}

static void test_published_vectors(void **state)
{
    struct ckp_anonymiser *anonymiser = ckp_anonymiser_new(reference_key);

    (void)state;
    assert_non_null(anonymiser);
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        bool is_ipv6;
        struct ckp_address real = parse_address(vectors[i].real, &is_ipv6);
        struct ckp_address pair[2] = {real, real};
        ckp_anonymise(anonymiser, pair, is_ipv6);
        assert_address(&pair[0], is_ipv6, vectors[i].anonymised);
        assert_address(&pair[1], is_ipv6, vectors[i].anonymised);
    }
    ckp_anonymiser_free(anonymiser);
}

static uint64_t next_random(void)
{
    static uint64_t seed = 7;

    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return seed ^ seed >> 29;
}

/* How many leading bits two addresses share. */
static int shared_bits(const struct ckp_address *a, const struct ckp_address *b)
{
    for (int i = 0; i < 2; i++)
        if (a->word[i] != b->word[i])
            return 64 * i + __builtin_clzll(a->word[i] ^ b->word[i]);
    return 128;
}

/* Like `address`, but for the bits from `bit` on: that one is the other, and the rest is random. */
static struct ckp_address branch(struct ckp_address address, int bit)
{
    if (bit >= 128)
        return address;
    uint64_t flipped = UINT64_C(1) << (63 - bit % 64);
    address.word[bit / 64] ^= flipped | (next_random() & (flipped - 1));
    if (bit < 64)
        address.word[1] = next_random();
    return address;
}

static void check_prefixes(struct ckp_anonymiser *anonymiser, bool is_ipv6)
{
    for (int bit = is_ipv6 ? 0 : 96; bit <= 128; bit++)
        for (int round = 0; round < 50; round++) {
            struct ckp_address a = {{next_random(), next_random()}};
            if (!is_ipv6)
                a = (struct ckp_address){{0, UINT64_C(0xffff) << 32 | (uint32_t)next_random()}};
            struct ckp_address pair[2] = {a, branch(a, bit)};
            struct ckp_address turned[2] = {pair[1], pair[0]};
            ckp_anonymise(anonymiser, pair, is_ipv6);
            assert_int_equal(shared_bits(&pair[0], &pair[1]), bit);
            ckp_anonymise(anonymiser, turned, is_ipv6);
            assert_memory_equal(&turned[0], &pair[1], sizeof pair[1]);
            assert_memory_equal(&turned[1], &pair[0], sizeof pair[0]);
        }
}

static void test_common_prefixes_keep_their_length_exactly(void **state)
{
    struct ckp_anonymiser *anonymiser = ckp_anonymiser_new(reference_key);

    (void)state;
    check_prefixes(anonymiser, false);
    check_prefixes(anonymiser, true);
    ckp_anonymiser_free(anonymiser);
}

static void test_another_key_gives_other_addresses_and_numbers(void **state)
{
    uint8_t other_key[CKP_ANONYMISE_KEY_BYTES];
    bool is_ipv6;

    (void)state;
    for (size_t i = 0; i < sizeof other_key; i++) { /* each byte counts */
        memcpy(other_key, reference_key, sizeof other_key);
        other_key[i] ^= 1;
        struct ckp_anonymiser *anonymiser = ckp_anonymiser_new(other_key);
        struct ckp_address real = parse_address("2001:db8::1", &is_ipv6);
        struct ckp_address pair[2] = {real, real}, expected;
        ckp_anonymise(anonymiser, pair, is_ipv6);
        expected = parse_address("4401:2bc:603f:d91d:27f:ff8e:e6f1:dc1e", &is_ipv6);
        assert_true(shared_bits(&pair[0], &expected) < 128);
        ckp_anonymiser_free(anonymiser);
    }
    struct ckp_anonymiser *a = ckp_anonymiser_new(reference_key);
    struct ckp_anonymiser *b = ckp_anonymiser_new(other_key);
    assert_true(ckp_anonymise_number(a, 1) == ckp_anonymise_number(a, 1));
    assert_true(ckp_anonymise_number(a, 1) != ckp_anonymise_number(a, 2));
    assert_true(ckp_anonymise_number(b, 1) != (uint64_t)1);
    ckp_anonymiser_free(a);
    ckp_anonymiser_free(b);
}

/* --- flows under a key that turns the order of 10.0.0.1 and 10.0.0.2, or keeps it --- */

struct written {
    struct read_run run; /* the last one */
    int64_t partition;
    unsigned runs;
};

static void keep(void *sink, const struct ckp_batch *batch)
{
    struct written *written = sink;
    struct batch_reader reader = {batch->bytes, batch->bytes + batch->size_bytes};
    struct read_batch header;

    read_batch_header(&reader, &header);
    for (int64_t i = 0; i < header.runs; i++, written->runs++)
        read_run(&reader, &written->run);
    read_runs_end(&reader, &header);
    read_batch_end(&reader, &header);
    written->partition = batch->partition;
}

static struct ckp_packet packet_between(const char *source, uint16_t source_port,
                                        const char *destination, uint16_t destination_port,
                                        uint8_t flags)
{
    struct ckp_packet packet = {
        .segment = {.time_ns = 1700000000 * CKP_NANOS_PER_SECOND,
                    .tcp_flags = flags,
                    .header_bytes = 40},
        .tunnel_id = CKP_TUNNEL_NONE,
        .vlan_id = CKP_VLAN_NONE,
    };
    struct ckp_address a = parse_address(source, &packet.key.is_ipv6);
    struct ckp_address b = parse_address(destination, &packet.key.is_ipv6);

    packet.segment.direction =
        ckp_flow_key_order(&packet.key, &a, source_port, &b, destination_port);
    return packet;
}

/* SYN and SYN-ACK between port 443 of `low` and port 40000 of `high`, who opens. */
static struct written write_flow(const uint8_t *key, const char *low, const char *high)
{
    struct written written = {.runs = 0};
    struct ckp_anonymiser *anonymiser = key ? ckp_anonymiser_new(key) : NULL;
    struct ckp_worker *worker = calloc(1, sizeof *worker);
    const struct ckp_batch_config config = {
        .probe = "", .tap = "", .partition_count = 65536, .flush_bytes = 16384};
    const struct ckp_flow_limits limits = {
        .idle_ns = 180 * CKP_NANOS_PER_SECOND,
        .flows_max = UINT32_MAX,
        .run_memory_bytes = 1 << 20,
        .anonymise = anonymiser ? ckp_anonymise : NULL,
        .anonymiser = anonymiser,
    };
    struct ckp_packet packets[] = {
        packet_between(high, 40000, low, 443, CKP_TCP_SYN),
        packet_between(low, 443, high, 40000, CKP_TCP_SYN | CKP_TCP_ACK),
    };

    assert_true(ckp_worker_init(worker, &(struct ckp_frame_reading){0}, &config, &limits, NULL,
                                keep, &written));
    ckp_worker_take(worker, &packets[0]);
    ckp_worker_take(worker, &packets[1]);
    ckp_worker_finish(worker);
    assert_int_equal(worker->counters->value[CKP_COUNT_FLOWS_STARTED], 1);
    assert_int_equal(worker->counters->value[CKP_COUNT_FLOWS_ANONYMISED], anonymiser ? 1 : 0);
    ckp_worker_free(worker);
    ckp_anonymiser_free(anonymiser);
    free(worker);
    return written;
}

/* The flow lies between these, the client at `client`: 0 is the lower endpoint. */
static void expect_flow(const struct written *written, const char *low, uint16_t low_port,
                        const char *high, uint16_t high_port, uint8_t client)
{
    struct ckp_flow_key key = {.low_port = low_port, .high_port = high_port};
    uint8_t bytes[16];

    key.low_address = parse_address(low, &key.is_ipv6);
    key.high_address = parse_address(high, &key.is_ipv6);
    assert_int_equal(written->runs, 1);
    assert_int_equal(written->run.address_bytes, key.is_ipv6 ? 16 : 4);
    ckp_address_write(bytes, &key.low_address, key.is_ipv6);
    assert_memory_equal(written->run.low_address, bytes, written->run.address_bytes);
    ckp_address_write(bytes, &key.high_address, key.is_ipv6);
    assert_memory_equal(written->run.high_address, bytes, written->run.address_bytes);
    assert_int_equal(written->run.low_port, low_port);
    assert_int_equal(written->run.high_port, high_port);
    assert_int_equal(written->partition, ckp_flow_partition(ckp_flow_key_hash(&key, 0), 65536));
    assert_int_equal(written->run.packets.count, 2);
    assert_int_equal(written->run.packets.segments[0].tcp_flags, CKP_TCP_SYN);
    assert_int_equal(written->run.packets.segments[0].direction, client);
    assert_int_equal(written->run.packets.segments[1].direction, !client);
}

static void test_flows_are_written_under_anonymised_addresses(void **state)
{
    uint8_t turning_key[CKP_ANONYMISE_KEY_BYTES];

    (void)state;
    for (size_t i = 0; i < sizeof turning_key; i++)
        turning_key[i] = (uint8_t)i;

    struct written plain = write_flow(NULL, "10.0.0.1", "10.0.0.2");
    expect_flow(&plain, "10.0.0.1", 443, "10.0.0.2", 40000, 1);
    struct written kept = write_flow(reference_key, "10.0.0.1", "10.0.0.2");
    expect_flow(&kept, "117.15.0.1", 443, "117.15.0.2", 40000, 1);
    struct written turned = write_flow(turning_key, "10.0.0.1", "10.0.0.2");
    expect_flow(&turned, "246.35.191.208", 40000, "246.35.191.210", 443, 0);
    struct written ipv6 = write_flow(reference_key, "2001:db8::1", "2001:db8::2");
    expect_flow(&ipv6, "4401:2bc:603f:d91d:27f:ff8e:e6f1:dc1c", 40000,
                "4401:2bc:603f:d91d:27f:ff8e:e6f1:dc1e", 443, 0);
    struct written itself = write_flow(turning_key, "10.0.0.1", "10.0.0.1");
    expect_flow(&itself, "246.35.191.210", 443, "246.35.191.210", 40000, 1);
}

/* --- key files --- */

#define HEX    "1522178d33a4cf80130a5b1649907d10d8988f8379796527" /* and 62574c2d2a842202 */
#define NO_KEY "%s is no key, expected 32 random bytes or 64 hexadecimal digits"
#define OPEN_TO_OTHERS(mode)                                                                       \
    "%s has mode " mode ", expected a key that nobody but its owner may open, as by chmod 600"

static const struct {
    const char *content;
    size_t bytes;
    mode_t mode;
    const char *sentence; /* NULL: it is the reference key */
} files[] = {
    {(const char *)reference_key, 32, 0600, NULL},
    {(const char *)reference_key, 32, 0400, NULL},
    {HEX "62574c2d2a842202", 64, 0600, NULL},
    {HEX "62574C2D2A842202\r\n", 66, 0600, NULL},
    {HEX "62574c2d2a842202\n", 65, 0640, OPEN_TO_OTHERS("0640")},
    {(const char *)reference_key, 32, 0604, OPEN_TO_OTHERS("0604")},
    {"", 0, 0600, NO_KEY},
    {(const char *)reference_key, 31, 0600, NO_KEY},
    {HEX, 48, 0600, NO_KEY},
    {HEX, 32, 0600, NO_KEY},
    {HEX "62574c2d2a84220g", 64, 0600, NO_KEY},
    {HEX "62574c2d2a842202"
         "00",
     66, 0600, NO_KEY},
    {HEX HEX HEX, 144, 0600, NO_KEY},
};

static void test_key_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char path[] = "/tmp/test_anonymise-XXXXXX", why[256] = "", option[256], sentence[256] = "";
        int descriptor = mkstemp(path);
        assert_true(descriptor >= 0);
        assert_int_equal(write(descriptor, files[i].content, files[i].bytes), files[i].bytes);
        assert_int_equal(fchmod(descriptor, files[i].mode), 0);
        close(descriptor);
        struct ckp_anonymiser *anonymiser = ckp_anonymiser_open(path, why, sizeof why);
        unlink(path);
        if (files[i].sentence) {
            snprintf(option, sizeof option, "option --anonymise: %s", files[i].sentence);
            snprintf(sentence, sizeof sentence, option, path);
        }
        assert_string_equal(why, sentence);
        assert_int_equal(anonymiser == NULL, files[i].sentence != NULL);
        if (anonymiser) {
            bool is_ipv6;
            struct ckp_address real = parse_address("128.11.68.132", &is_ipv6);
            struct ckp_address pair[2] = {real, real};
            ckp_anonymise(anonymiser, pair, is_ipv6);
            assert_address(&pair[0], is_ipv6, "135.242.180.132");
        }
        ckp_anonymiser_free(anonymiser);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published_vectors),
        cmocka_unit_test(test_common_prefixes_keep_their_length_exactly),
        cmocka_unit_test(test_another_key_gives_other_addresses_and_numbers),
        cmocka_unit_test(test_flows_are_written_under_anonymised_addresses),
        cmocka_unit_test(test_key_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
