/* SPDX-License-Identifier: Apache-2.0 */
/* One row = rules, a packet, and the domain that it gets: 9 without a rule. */
#include "domain.h"
#include "worker.h"

#include "frame_text.h"

#define OTHERWISE 9u
#define NONE      CKP_TUNNEL_NONE
#define UNTAGGED  CKP_VLAN_NONE

static const struct {
    const char *rules[2];
    int64_t tunnel_id;
    uint16_t vlan_id;
    uint32_t domain;
} rows[] = {
    {{0}, NONE, UNTAGGED, OTHERWISE},
    {{0}, 5000, 100, OTHERWISE},
    {{"vlan:100=7"}, NONE, 100, 7},
    {{"vlan:100=7"}, NONE, 101, OTHERWISE},
    {{"vlan:100=7"}, NONE, UNTAGGED, OTHERWISE},
    {{"vlan:100=7"}, 100, UNTAGGED, OTHERWISE},
    {{"vlan:0=7"}, NONE, 0, 7},
    {{"vlan:4094=7"}, NONE, UNTAGGED, OTHERWISE},
    {{"tunnel:100=7"}, NONE, 100, OTHERWISE},
    {{"tunnel:100=7"}, 100, UNTAGGED, 7},
    {{"tunnel:0=7"}, 0, UNTAGGED, 7},
    {{"tunnel:4294967295=2147483647"}, UINT32_MAX, UNTAGGED, INT32_MAX},
    {{"vlan:100=7", "tunnel:5000=8"}, 5000, 100, 8}, /* the tunnel's rule goes first */
    {{"tunnel:5000=8,vlan:100=7"}, 5000, 100, 8},
    {{"vlan:100=7", "tunnel:5000=8"}, 5001, 100, 7},
    {{"vlan:100=7", "tunnel:5000=8"}, 5001, 101, OTHERWISE},
    {{"vlan:3=3,vlan:1=1,vlan:2=2", "vlan:5=5,vlan:4=4"}, NONE, 1, 1},
    {{"vlan:3=3,vlan:1=1,vlan:2=2", "vlan:5=5,vlan:4=4"}, NONE, 3, 3},
    {{"vlan:3=3,vlan:1=1,vlan:2=2", "vlan:5=5,vlan:4=4"}, NONE, 5, 5},
    {{"vlan:3=3,vlan:1=1,vlan:2=2", "vlan:5=5,vlan:4=4"}, NONE, 6, OTHERWISE},
    {{"vlan:1=0"}, NONE, 1, 0},
    {{"vlan:1=5", "vlan:1=5"}, NONE, 1, 5},
};

static const char *const wrong[] = {
    "",
    "vlan",
    "vlan:",
    "vlan:1",
    "vlan:1=",
    "vlan:=1",
    "vlan:-1=1",
    "vlan:4095=1",
    "vlan: 1=1",
    "vlan:1 =1",
    "vlan:1=x",
    "vlan:1=1x",
    "vlan:1=-1",
    "vlan:1=1,",
    ",vlan:1=1",
    "1=1",
    "vlan:0x1=1",
    "VLAN:1=1",
    "vni:1=1",
    "vlan:1=2147483648",
    "vlan:1,2",
    "tunnel:-1=1",
    "vlan:1=1;",
    "vlan:1=1 ",
    "tunnel:4294967296=1",
    "vlan:1:2",
    "vlan:1-2=1",
    "vlan:1=1,vlan:",
    "vlan:1=1=2",
    "tunnel:18446744073709551617=1",
    "tunnel",
    "vlan:+1=1",
    "vlan:1=+1",
    "tunnel:5=1,,",
    "vlan:1=18446744073709551617",
    "vlan:1=1,vlan:1=2",
};

static void test_the_tunnel_s_rule_goes_before_the_vlan_s(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ckp_domain_rules rules = {0};
        for (size_t j = 0; j < 2 && rows[i].rules[j]; j++)
            assert_true(ckp_domain_rules_add(&rules, rows[i].rules[j]));
        uint32_t domain = ckp_domain_of(&rules, rows[i].tunnel_id, rows[i].vlan_id, OTHERWISE);
        if (domain != rows[i].domain)
            fail_msg("row %zu: domain %u instead of %u", i, domain, rows[i].domain);
        ckp_domain_rules_free(&rules);
    }
}

static void test_other_rules_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct ckp_domain_rules rules = {0};
        if (ckp_domain_rules_add(&rules, wrong[i]))
            fail_msg("'%s' is taken", wrong[i]);
        ckp_domain_rules_free(&rules);
    }
}

static void drop(void *sink, const struct ckp_batch *batch)
{
    (void)sink, (void)batch;
}

/* The same packet, untagged, and in two VLANs of which one is another address space. */
static void test_equal_addresses_in_two_domains_are_two_flows(void **state)
{
    static const char *const frames[] = {
        ETHERNET_IPV4 IPV4("002c") TCP_PLAIN "61626364",
        MACS "8100 0064 0800 " IPV4("002c") TCP_PLAIN "61626364",
        MACS "8100 0065 0800 " IPV4("002c") TCP_PLAIN "61626364",
    };
    const struct ckp_batch_config batches = {
        .probe = "p", .tap = "t", .partition_count = 4, .flush_bytes = 16384, .flush_delay_ns = 1};
    const struct ckp_flow_limits limits = {.idle_ns = 180 * CKP_NANOS_PER_SECOND,
                                           .flows_max = UINT32_MAX,
                                           .run_memory_bytes = 1 << 20};
    struct ckp_frame_reading reading = {.domain = OTHERWISE};
    struct ckp_worker *worker = calloc(1, sizeof *worker);

    (void)state;
    assert_true(ckp_domain_rules_add(&reading.domain_rules, "vlan:101=1"));
    assert_true(ckp_worker_init(worker, &reading, &batches, &limits, NULL, drop, NULL));
    for (size_t i = 0; i < sizeof frames / sizeof frames[0]; i++) {
        struct ckp_frame frame = {.time_ns = CKP_NANOS_PER_SECOND + (int64_t)i};
        uint8_t *bytes = parse_hex(frames[i], &frame.captured_bytes);
        frame.bytes = bytes;
        frame.original_bytes = frame.captured_bytes;
        ckp_worker_observe(worker, CKP_LINK_ETHERNET, &frame);
        free(bytes);
    }
    ckp_worker_finish(worker);
    assert_int_equal(worker->counters->value[CKP_COUNT_PACKETS_ENCODED], 3);
    assert_int_equal(worker->counters->value[CKP_COUNT_FLOWS_STARTED], 2);
    ckp_worker_free(worker);
    ckp_domain_rules_free(&reading.domain_rules);
    free(worker);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_tunnel_s_rule_goes_before_the_vlan_s),
        cmocka_unit_test(test_other_rules_are_refused),
        cmocka_unit_test(test_equal_addresses_in_two_domains_are_two_flows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
