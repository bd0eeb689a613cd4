/* SPDX-License-Identifier: Apache-2.0 */
/* Facts of machines that are well, and what is told once one of them is not. */
#include "doctor.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define BELOW "                 "

/* A card, on the first of two nodes. */
static struct ckp_facts card(void)
{
    return (struct ckp_facts){
        .is_root = true,
        .needs_huge_pages = true,
        .needs_hugetlbfs = true,
        .memory_needed_mib = 64,
        .idle_sleep_ns = 0,
        .huge_pages = {{0, 1048576, 0, 0}, {0, 2048, 512, 500}, {1, 2048, 0, 0}},
        .huge_pages_count = 3,
        .has_hugetlbfs = true,
        .cores = {{2, 0, true, true, "performance"}},
        .core_count = 1,
        .has_chosen_cores = true,
        .cores_online = "0-3",
        .iommu_groups = 9,
        .has_vfio = true,
        .locked_memory_kib = 8192,
        .clock = {true, 12e-6, 340e-6},
        .ports = {{.spec = "0000:03:00.0",
                   .kind = CKP_PORT_CARD,
                   .device = "0000:03:00.0",
                   .node = 0,
                   .cores_of_node = "0-1",
                   .card = {true, true, "vfio-pci"},
                   .driver = "net_ice",
                   .descriptors = 4096}},
        .port_count = 1,
        .are_ports_open = true,
    };
}

/* An interface of the kernel, and Kafka. */
static struct ckp_facts interface(void)
{
    return (struct ckp_facts){
        .is_root = true,
        .memory_needed_mib = 256,
        .idle_sleep_ns = 50000,
        .cores_online = "0-3",
        .cores = {{0, 0, true, false, ""}},
        .core_count = 1,
        .backlog_packets = 1000,
        .clock = {true, 12e-6, 340e-6},
        .ports = {{.spec = "net_pcap0,rx_iface_in=eth1",
                   .kind = CKP_PORT_PCAP,
                   .device = "eth1",
                   .node = -1,
                   .interface = {.is_there = true,
                                 .is_up = true,
                                 .has_carrier = true,
                                 .ring = 4096,
                                 .ring_max = 8192,
                                 .spread = {.queues = 1}},
                   .driver = "net_pcap",
                   .descriptors = -1}},
        .port_count = 1,
        .are_ports_open = true,
        .are_ports_stamped = true,
        .kafka = {.brokers = "b:9092",
                  .is_reachable = true,
                  .broker_count = 3,
                  .batches = {.name = "tcp-segments",
                              .is_there = true,
                              .partitions = 32,
                              .replicas = 3,
                              .has_settings = true,
                              .retention_ms = 172800000},
                  .schemas = {.name = "tcp-schemas",
                              .is_there = true,
                              .partitions = 1,
                              .replicas = 1,
                              .has_settings = true,
                              .is_compacted = true}},
    };
}

static char *print(const struct ckp_facts *facts, bool *is_well)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    *is_well = ckp_doctor_print(facts, out);
    fclose(out);
    return text;
}

/* These lines are told, and that all is well unless one of all lines is a failure. */
static void gives(const struct ckp_facts *facts, const char *lines)
{
    bool is_well;
    char *text = print(facts, &is_well);

    if (!strstr(text, lines))
        fail_msg("told\n%sinstead of\n%s", text, lines);
    assert_int_equal(is_well, strstr(text, "FAIL ") == NULL);
    free(text);
}

static void test_a_card_that_is_well(void **state)
{
    const char *const all =
        "ok    hugepages  node 0: 500 of 512 pages of 2048 KiB free, 64 MiB needed\n"
        "-     hugepages  node 1: 0 of 0 pages of 2048 KiB free, 64 MiB needed\n"
        "ok    memlock    no limit\n"
        "ok    cores      core 2 is online and isolated\n"
        "ok    governor   core 2 runs by performance\n"
        "-     backlog    needs an interface in --port\n"
        "ok    clock      synchronised, 12 us to go, wrong by at most 340 us\n"
        "ok    iommu      0000:03:00.0 has a group, of 9\n"
        "ok    driver     0000:03:00.0 is bound to vfio-pci\n"
        "ok    port       0000:03:00.0 opens: net_ice, its queue holds 4096 frames\n"
        "ok    stamps     when a burst is taken, all the time\n"
        "-     kafka      needs --kafka\n";
    struct ckp_facts facts = card();
    bool is_well;
    char *text = print(&facts, &is_well);

    (void)state;
    assert_string_equal(text, all);
    assert_true(is_well);
    free(text);
}

static void test_an_interface_that_is_well(void **state)
{
    const char *const all = "ok    hugepages  not needed: --eal has --no-huge\n"
                            "-     memlock    needs a card in --port\n"
                            "-     cores      needs -l in --eal; 0-3 are online\n"
                            "-     governor   the frequency of cores is not ours to set\n"
                            "ok    backlog    the kernel has dropped none before the ports\n"
                            "ok    clock      synchronised, 12 us to go, wrong by at most 340 us\n"
                            "ok    interface  eth1 is up\n"
                            "ok    offloads   eth1: frames come as they were on the wire\n"
                            "ok    ring       eth1: 4096 of 8192 frames\n"
                            "ok    rss        eth1: 1 queue, so both directions meet\n"
                            "ok    port       eth1 opens: net_pcap\n"
                            "ok    stamps     by the kernel, in steps of 1 us\n"
                            "ok    kafka      b:9092 answers, 3 brokers\n"
                            "ok    topic      tcp-segments: 32 partitions, 3 replicas\n"
                            "ok    retention  tcp-segments: 48 h\n"
                            "ok    schemas    tcp-schemas: 1 partition, 1 replica\n"
                            "ok    retention  tcp-schemas: kept for good\n";
    struct ckp_facts facts = interface();
    bool is_well;
    char *text = print(&facts, &is_well);

    (void)state;
    assert_string_equal(text, all);
    assert_true(is_well);
    free(text);
}

static void test_nothing_asked_for_fails_nowhere(void **state)
{
    struct ckp_facts facts = {.cores_online = "0-3"};

    (void)state;
    gives(&facts, "-     hugepages  needs --port\n");
    gives(&facts, "-     port       needs --port\n");
    gives(&facts, "-     kafka      needs --kafka\n");
}

static void test_huge_pages(void **state)
{
    struct ckp_facts facts = card();

    (void)state;
    facts.huge_pages[1].free_pages = 31;
    gives(&facts,
          "FAIL  hugepages  node 0: 31 of 512 pages of 2048 KiB free, 64 MiB needed\n" BELOW
          "echo 513 >/sys/devices/system/node/node0/hugepages/hugepages-2048kB/nr_hugepages\n"
          "-     hugepages  node 1: 0 of 0 pages of 2048 KiB free, 64 MiB needed\n");
    facts.huge_pages[2] = (struct ckp_huge_pages_fact){1, 2048, 512, 32};
    gives(&facts, "warn  hugepages  node 0: 31 of 512");
    facts.huge_pages[0].free_pages = facts.huge_pages[0].pages = 1;
    gives(&facts, "ok    hugepages  node 0: 1 of 1 pages of 1048576 KiB free, 64 MiB needed\n");
    facts.huge_pages_count = 0;
    gives(&facts, "FAIL  hugepages  this kernel has none\n");
    facts = card();
    facts.has_hugetlbfs = false;
    gives(&facts, "FAIL  hugetlbfs  is not mounted\n" BELOW
                  "mount -t hugetlbfs none /dev/hugepages, or give --in-memory in --eal\n");
    facts.needs_hugetlbfs = false;
    gives(&facts, "needed\nok    memlock");
    facts.needs_huge_pages = false;
    gives(&facts,
          "ok    hugepages  not needed: --eal has --no-huge\n" BELOW "a card is faster with them");
}

static void test_locked_memory(void **state)
{
    struct ckp_facts facts = card();

    (void)state;
    facts.is_root = false;
    gives(&facts, "FAIL  memlock    8192 KiB may be locked, too little for VFIO\n" BELOW
                  "ulimit -l unlimited");
    facts.locked_memory_kib = 64 * 1024;
    gives(&facts, "ok    memlock    64 MiB may be locked\n");
    facts.locked_memory_kib = INT64_MAX;
    gives(&facts, "ok    memlock    no limit\n");
}

static void test_cores(void **state)
{
    struct ckp_facts facts = card();

    (void)state;
    facts.cores[0].is_isolated = false;
    gives(&facts, "warn  cores      core 2 polls all the time and is not isolated\n" BELOW
                  "boot with isolcpus=2 nohz_full=2, or give --idle-sleep 50us\n");
    facts.idle_sleep_ns = 50000;
    gives(&facts, "ok    cores      core 2 is online\n");
    facts.cores[0].node = 1;
    gives(&facts, "warn  cores      core 2 is on node 1, 0000:03:00.0 on node 0\n" BELOW
                  "name one of 0-1 by -l in --eal\n");
    facts.ports[0].node = -1;
    gives(&facts, "ok    cores      core 2 is online\n");
    facts.cores[0].is_online = false;
    gives(&facts, "FAIL  cores      core 2 is not online, 0-3 are\n" BELOW
                  "name one of these by -l in --eal\n");
    strcpy(facts.cores[0].governor, "powersave");
    gives(&facts, "warn  governor   core 2 runs by powersave\n" BELOW
                  "cpupower --cpu 2 frequency-set --governor performance\n");
}

static void test_backlog(void **state)
{
    struct ckp_facts facts = interface();

    (void)state;
    facts.backlog_dropped = 7;
    gives(
        &facts,
        "warn  backlog    the kernel has dropped 7 frames before the ports since it started\n" BELOW
        "sysctl -w net.core.netdev_max_backlog=10000\n");
    facts.backlog_dropped = -1;
    gives(&facts, "-     backlog    the kernel does not tell\n");
    facts.ports[0].kind = CKP_PORT_AF_XDP;
    gives(&facts, "-     backlog    the kernel does not tell\n");
    facts.ports[0].kind = CKP_PORT_OTHER;
    gives(&facts, "-     backlog    needs an interface in --port\n");
}

static void test_clock(void **state)
{
    struct ckp_facts facts = interface();

    (void)state;
    facts.clock = (struct ckp_clock_status){false, 0, 16};
    gives(&facts, "warn  clock      not known to be synchronised, may be wrong by 16 s\n" BELOW
                  "apt-get install chrony, and see chronyc tracking\n");
    facts.clock = (struct ckp_clock_status){false, 0, 0.01};
    gives(&facts, "warn  clock      not known to be synchronised, may be wrong by 0.01 s\n" BELOW
                  "see chronyc tracking; with rtcsync in chrony.conf the kernel knows\n");
    facts.clock = (struct ckp_clock_status){true, 0, 2};
    gives(&facts, "warn  clock      synchronised, may be wrong by 2 s\n");
}

static void test_interfaces(void **state)
{
    struct ckp_facts facts = interface();
    struct ckp_interface_fact *eth1 = &facts.ports[0].interface;

    (void)state;
    eth1->has_carrier = false;
    gives(&facts, "warn  interface  eth1 is up and has no carrier\n");
    eth1->is_up = false;
    gives(&facts, "FAIL  interface  eth1 is down\n" BELOW "ip link set eth1 up\n");
    eth1->is_there = false;
    gives(&facts, "FAIL  interface  eth1 is not there\n");
    facts.are_ports_open = false;
    strcpy(facts.why_not_open, "no such device");
    gives(&facts, "FAIL  port       no such device\n");
}

static void test_offloads(void **state)
{
    struct ckp_facts facts = interface();
    struct ckp_interface_fact *eth1 = &facts.ports[0].interface;

    (void)state;
    eth1->gro = 1;
    gives(&facts, "warn  offloads   eth1: GRO makes merged frames that no wire carries\n" BELOW
                  "ethtool -K eth1 gro off\n");
    eth1->lro = 1;
    gives(&facts,
          "warn  offloads   eth1: GRO and LRO make merged frames that no wire carries\n" BELOW
          "ethtool -K eth1 gro off lro off\n");
    eth1->gro = 0;
    gives(&facts, "warn  offloads   eth1: LRO makes merged frames that no wire carries\n" BELOW
                  "ethtool -K eth1 lro off\n");
    eth1->gro = eth1->lro = -1;
    gives(&facts, "-     offloads   eth1: the driver does not tell\n");
}

static void test_queues(void **state)
{
    struct ckp_facts facts = interface();

    (void)state;
    facts.ports[0].interface.ring = 256;
    gives(&facts, "warn  ring       eth1: 256 of 8192 frames\n" BELOW "ethtool -G eth1 rx 8192\n");
    facts.ports[0].interface.ring_max = 256;
    gives(&facts, "ok    ring       eth1: 256 of 256 frames\n");
    facts.ports[0].interface.ring_max = 0;
    gives(&facts, "-     ring       eth1: the driver tells none\n");
    facts.ports[0].kind = CKP_PORT_AF_PACKET;
    facts.ports[0].ring_frames = 512;
    gives(&facts, "warn  queue      eth1: 512 frames, little for a burst\n" BELOW
                  "--port net_af_packet0,iface=eth1,blocksz=65536,framesz=2048,framecnt=16384\n");
    facts.ports[0].ring_frames = 16384;
    gives(&facts, "ok    queue      eth1: 16384 frames\n");
    facts = card();
    facts.ports[0].descriptors = 512;
    gives(&facts, "warn  port       0000:03:00.0 opens: net_ice, its queue holds 512 frames\n");
}

static void test_spread(void **state)
{
    struct ckp_facts facts = interface();
    struct ckp_spread_fact *spread = &facts.ports[0].interface.spread;

    (void)state;
    spread->queues = 4;
    spread->are_combined = true;
    gives(&facts, "warn  rss        eth1: 4 queues, the driver does not tell by which key\n" BELOW
                  "ethtool -L eth1 combined 1\n");
    spread->are_combined = false;
    gives(&facts, "by which key\n" BELOW "ethtool -L eth1 rx 1\n");
    spread->key_bytes = 40;
    spread->key[3] = 1;
    gives(&facts,
          "warn  rss        eth1: 4 queues, directions of a flow in different ones: the key "
          "is not symmetric\n" BELOW "ethtool -X eth1 hkey 6d:5a:6d:5a:6d:5a:6d:5a:6d:5a:6d:5a:"
          "6d:5a:6d:5a:6d:5a:6d:5a:6d:5a:6d:5a:6d:5a:6d:5a:6d:5a:6d:5a:6d:5a:6d:5a:6d:5a:6d:5a\n");
    spread->is_symmetric_function = true;
    gives(&facts, "ok    rss        eth1: 4 queues, both directions of a flow in the same\n");
    spread->is_symmetric_function = false;
    for (size_t i = 0; i < 40; i++)
        spread->key[i] = i % 2 ? 0x5a : 0x6d;
    gives(&facts, "ok    rss        eth1: 4 queues, both directions of a flow in the same\n");
    spread->queues = 0;
    gives(&facts, "-     rss        eth1: the driver does not tell its queues\n");
}

static void test_workers(void **state)
{
    struct ckp_facts facts = card();

    (void)state;
    facts.workers = facts.queues = 4;
    gives(&facts, "ok    workers    4 with a queue of each port each, verified to keep both "
                  "directions together\n");
    facts.are_queues_trusted = true;
    gives(&facts, "ok    workers    4 with a queue of each port each, trusted\n");
    facts.queues = 1;
    gives(&facts, "ok    workers    4, the first hands on packets to the others\n");
    strcpy(facts.why_one_queue, "it has one");
    gives(&facts, "warn  workers    4, the first hands on packets to the others: it has one\n");
}

static void test_cards(void **state)
{
    struct ckp_facts facts = card();
    struct ckp_card_fact *fact = &facts.ports[0].card;

    (void)state;
    strcpy(fact->driver, "ice");
    gives(&facts, "FAIL  driver     0000:03:00.0 is bound to ice\n" BELOW
                  "dpdk-devbind.py --bind=vfio-pci 0000:03:00.0\n");
    facts.has_vfio = false;
    fact->driver[0] = '\0';
    gives(&facts, "FAIL  driver     0000:03:00.0 is bound to no driver\n" BELOW
                  "modprobe vfio-pci && dpdk-devbind.py --bind=vfio-pci 0000:03:00.0\n");
    fact->has_iommu_group = false;
    gives(&facts, "FAIL  iommu      0000:03:00.0 has no group, the machine has 9\n" BELOW
                  "boot with intel_iommu=on iommu=pt");
    strcpy(fact->driver, "mlx5_core");
    gives(&facts, "-     iommu      0000:03:00.0: not needed by mlx5_core\n"
                  "ok    driver     0000:03:00.0 is bound to mlx5_core\n");
    fact->is_there = false;
    gives(&facts, "FAIL  card       0000:03:00.0 is not there\n");
}

static void test_who_is_not_root_is_told_so(void **state)
{
    struct ckp_facts facts = interface();

    (void)state;
    facts.is_root = facts.are_ports_open = false;
    strcpy(facts.why_not_open, "Operation not permitted");
    gives(&facts, "-     port       needs root: Operation not permitted\n");
}

static void test_stamps(void **state)
{
    struct ckp_facts facts = interface();

    (void)state;
    facts.are_ports_stamped = false;
    gives(&facts, "warn  stamps     when a burst is taken, every 50 us or later\n" BELOW
                  "--port net_pcap0,rx_iface_in=INTERFACE, or --idle-sleep 0us\n");
    facts = card();
    facts.idle_sleep_ns = 50000;
    gives(&facts, "warn  stamps     when a burst is taken, every 50 us or later\n" BELOW
                  "--idle-sleep 0us, with a core of its own\n");
}

static void test_key_and_metrics(void **state)
{
    struct ckp_facts facts = interface();

    (void)state;
    facts.anonymise_key = "k";
    facts.metrics = "[::1]:9465";
    gives(&facts, "ok    anonymise  k holds a key\nok    metrics    [::1]:9465 is free\n");
    strcpy(facts.why_no_key, "k cannot be read");
    gives(&facts, "FAIL  anonymise  k cannot be read\n" BELOW
                  "(umask 077; openssl rand -hex 32 >k), the same for all probes\n");
    strcpy(facts.why_no_metrics, "[::1]:9465 is in use");
    gives(&facts, "FAIL  metrics    [::1]:9465 is in use\n");
}

static void test_files(void **state)
{
    struct ckp_facts facts = interface();

    (void)state;
    facts.is_root = false;
    facts.filter.path = "f";
    facts.ring_key.path = "k";
    facts.ring_audit.path = "a";
    facts.ledger.path = "l";
    facts.output.path = "o";
    gives(&facts, "ok    filter     f holds a filter\n"
                  "ok    ring-key   k holds a key\n"
                  "ok    ring-audit a can be written\n"
                  "ok    ledger     l can be written\n"
                  "ok    output     o can be written\n");
    strcpy(facts.ring_key.why_not, "k cannot be read");
    gives(&facts, "FAIL  ring-key   k cannot be read\n" BELOW
                  "(umask 077; openssl rand -hex 32 >k), or chmod 600 if it is there already\n"
                  "ok    ring-audit a can be written\n");
    strcpy(facts.filter.why_not, "f holds no expression");
    gives(&facts, "FAIL  filter     f holds no expression\n" BELOW
                  "write an expression as of pcap-filter(7) to it, or leave --filter-file away\n");
    strcpy(facts.ring_audit.why_not, "Permission denied");
    gives(&facts, "FAIL  ring-audit a cannot be written: Permission denied\n" BELOW
                  "name a file by --ring-audit in a folder that is there and that you may write "
                  "to\n");
    facts.is_root = true;
    strcpy(facts.ledger.why_not, "Is a directory");
    gives(&facts, "FAIL  ledger     l cannot be written: Is a directory\n" BELOW
                  "name a file by --ledger in a folder that is there and that root may write to\n");
    strcpy(facts.output.why_not, "Read-only file system");
    gives(&facts, "FAIL  output     o cannot be written: Read-only file system\n");
}

static void test_kafka(void **state)
{
    struct ckp_facts facts = interface();
    struct ckp_topic_fact *batches = &facts.kafka.batches, *schemas = &facts.kafka.schemas;

    (void)state;
    facts.kafka.partitions_wanted = 32;
    gives(&facts, "3 replicas\nok    retention");
    facts.kafka.partitions_wanted = 16;
    gives(&facts, "FAIL  partitions --partitions 16 is not the 32 of tcp-segments\n" BELOW
                  "leave --partitions away\n");
    facts.kafka.partitions_wanted = 0;
    batches->retention_ms = 600000;
    gives(&facts,
          "warn  retention  tcp-segments: 0.167 h, then what the job has not read is lost\n" BELOW
          "kafka-configs.sh --alter --topic tcp-segments --add-config retention.ms=172800000\n");
    batches->has_settings = false;
    gives(&facts, "-     retention  tcp-segments: needs the right to describe its settings\n");
    schemas->is_compacted = false;
    schemas->retention_ms = 172800000;
    gives(&facts,
          "warn  retention  tcp-schemas: 48 h, then readers miss the schema\n" BELOW
          "kafka-configs.sh --alter --topic tcp-schemas --add-config cleanup.policy=compact\n");
    schemas->retention_ms = -1;
    gives(&facts, "ok    retention  tcp-schemas: kept for good\n");
    batches->without_leader = 3;
    gives(&facts, "FAIL  topic      tcp-segments: 3 of 32 partitions have no leader\n");
    schemas->is_there = false;
    strcpy(schemas->why_not, "unknown");
    gives(&facts, "FAIL  schemas    tcp-schemas: unknown\n" BELOW
                  "./chokepoint migrate --kafka b:9092 --only topics\n");
    facts.kafka.is_reachable = false;
    strcpy(facts.kafka.why_not, "b:9092 does not answer");
    gives(&facts, "FAIL  kafka      b:9092 does not answer\n");
    gives(&facts, "-     topic      needs kafka\n");
}

/* What README.md shows is what is told. */
static void test_the_example_of_the_readme(void **state)
{
    struct ckp_facts facts = interface();
    char path[4096], readme[1 << 16];
    bool is_well;

    (void)state;
    facts.ports[0].interface.gro = 1;
    facts.ports[0].interface.spread = (struct ckp_spread_fact){.queues = 4, .are_combined = true};
    facts.kafka.brokers = "broker-1:9092";
    facts.kafka.batches.is_there = false;
    strcpy(facts.kafka.batches.why_not, "Broker: Unknown topic or partition");
    snprintf(path, sizeof path, "%s/../../probe/README.md", getenv("CKP_GOLDEN"));
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    readme[fread(readme, 1, sizeof readme - 1, file)] = '\0';
    fclose(file);
    char *text = print(&facts, &is_well);
    if (!strstr(readme, text))
        fail_msg("%s does not show\n%s", path, text);
    assert_false(is_well);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_card_that_is_well),
        cmocka_unit_test(test_an_interface_that_is_well),
        cmocka_unit_test(test_nothing_asked_for_fails_nowhere),
        cmocka_unit_test(test_huge_pages),
        cmocka_unit_test(test_locked_memory),
        cmocka_unit_test(test_cores),
        cmocka_unit_test(test_backlog),
        cmocka_unit_test(test_clock),
        cmocka_unit_test(test_interfaces),
        cmocka_unit_test(test_offloads),
        cmocka_unit_test(test_queues),
        cmocka_unit_test(test_spread),
        cmocka_unit_test(test_workers),
        cmocka_unit_test(test_cards),
        cmocka_unit_test(test_who_is_not_root_is_told_so),
        cmocka_unit_test(test_stamps),
        cmocka_unit_test(test_key_and_metrics),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_kafka),
        cmocka_unit_test(test_the_example_of_the_readme),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
