/* SPDX-License-Identifier: Apache-2.0 */
/* What one probe after the other tells of the one before, by a sink that answers when it is told
 * to. The clock is the test's own: it goes on only while somebody sleeps. */
#include "settlement.h"

#include "batch_reader.h"
#include "clock.h"
#include "ledger.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <cmocka.h>

#define PARTITIONS 32u
#define SAID_BYTES 4096

static int64_t now_ns;

int clock_gettime(clockid_t clock, struct timespec *now)
{
    (void)clock;
    now->tv_sec = now_ns / CKP_NANOS_PER_SECOND;
    now->tv_nsec = now_ns % CKP_NANOS_PER_SECOND;
    return 0;
}

int usleep(useconds_t us)
{
    now_ns += (int64_t)us * 1000;
    return 0;
}

struct late_sink {
    struct ckp_counters *counters;
    int64_t answer_ns; /* when it takes what it owes an answer for */
    uint64_t owed_batches, told_batches;
    uint64_t told_session; /* of the last */
};

static void deliver(void *self, const struct ckp_batch *batch)
{
    struct late_sink *sink = self;
    struct batch_reader reader = {batch->bytes, batch->bytes + batch->size_bytes};
    struct read_batch header;

    assert_int_equal(batch->packets, 0);
    read_batch_header(&reader, &header);
    sink->told_session = (uint64_t)header.session;
    sink->told_batches++;
    sink->owed_batches++;
}

static int64_t tend(void *self)
{
    struct late_sink *sink = self;

    if (now_ns < sink->answer_ns)
        return 1;
    ckp_count(sink->counters, CKP_COUNT_BATCHES_DELIVERED, sink->owed_batches);
    sink->owed_batches = 0;
    return 0;
}

struct probe {
    struct ckp_options options;
    struct ckp_settlement settlement;
    struct ckp_counters *counters;
    struct late_sink sink;
};

static char folder[64], tap[64], path[96], why[256], said[SAID_BYTES];
static volatile sig_atomic_t stop;

static int prepare(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/chokepoint-settlement-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(tap, sizeof tap, "%s", strrchr(folder, '/') + 1);
    snprintf(path, sizeof path, "%s/state", folder);
    now_ns = CKP_NANOS_PER_SECOND;
    stop = 0;
    return 0;
}

static int clean_up(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

/* A probe up to where it tells of the one before, with its state file or that of the default. */
static struct probe *start(bool is_file_named, int64_t answer_ns)
{
    struct probe *probe = calloc(1, sizeof *probe);
    char *arguments[] = {"probe", "--port", "net_null0",    "--kafka", "localhost:1",
                         "--tap", tap,      "--state-file", path,      NULL};

    assert_non_null(probe);
    assert_true(ckp_options_parse(&probe->options, is_file_named ? 9 : 7, arguments));
    if (!ckp_settlement_open(&probe->settlement, &probe->options, true, why, sizeof why))
        fail_msg("%s", why);
    probe->counters = ckp_state_file_counters(probe->settlement.file, 0, 1);
    probe->sink = (struct late_sink){.counters = probe->counters, .answer_ns = answer_ns};
    const struct ckp_sink sink = {.self = &probe->sink, .deliver = deliver, .tend = tend};
    ckp_settlement_publish(&probe->settlement, &probe->options, PARTITIONS, &sink, probe->counters,
                           &stop);
    return probe;
}

static bool begin(struct probe *probe, uint64_t session)
{
    struct ckp_session_facts facts = {
        .probe = "rack-7",
        .topic = "tcp-segments",
        .session = session,
        .timestamp_resolution_ns = 1000,
        .timestamp_source = CKP_TIMESTAMP_KERNEL,
        .worker_count = 1,
        .partition_count = PARTITIONS,
    };

    strcpy(facts.tap, tap);
    return ckp_settlement_begin(&probe->settlement, &facts, why, sizeof why);
}

/* 20 frames: a packet in a delivered batch of each of so many partitions, the others in no run. */
static void watch(struct probe *probe, uint32_t partitions)
{
    struct ckp_partition_totals *totals = ckp_state_file_totals(probe->settlement.file, 0);

    ckp_count(probe->counters, CKP_COUNT_FRAMES_RECEIVED, 20 + partitions);
    for (uint32_t i = 0; i < partitions; i++)
        totals[i] = (struct ckp_partition_totals){.batches = 1, .packets = 1};
    ckp_count(probe->counters, CKP_COUNT_PACKETS_ENCODED, partitions);
    ckp_count(probe->counters, CKP_COUNT_PACKETS_DELIVERED, partitions);
    ckp_count(probe->counters, CKP_COUNT_BATCHES_ENCODED, partitions);
    ckp_count(probe->counters, CKP_COUNT_BATCHES_DELIVERED, partitions);
}

static uint64_t count_of(const struct probe *probe, enum ckp_counter counter)
{
    return probe->counters->value[counter];
}

/* As the kernel closes the file of a process that is killed. */
static void kill_probe(struct probe *probe)
{
    ckp_settlement_close(&probe->settlement, false);
    ckp_options_free(&probe->options);
    free(probe);
}

/* What is said on standard error from here to hear_end() is in `said`. */
static FILE *hear(int *standard_error)
{
    FILE *file = tmpfile();

    assert_non_null(file);
    *standard_error = dup(STDERR_FILENO);
    dup2(fileno(file), STDERR_FILENO);
    return file;
}

static void hear_end(FILE *file, int standard_error)
{
    dup2(standard_error, STDERR_FILENO);
    close(standard_error);
    rewind(file);
    said[fread(said, 1, sizeof said - 1, file)] = '\0';
    fclose(file);
}

static void leave_a_killed_session(uint64_t session)
{
    struct probe *probe = start(true, 0);

    assert_true(begin(probe, session));
    watch(probe, PARTITIONS);
    kill_probe(probe);
}

static void assert_settles(struct probe *probe, uint64_t session, uint64_t batches)
{
    assert_int_equal(count_of(probe, CKP_COUNT_SESSIONS_SETTLED), 1);
    assert_int_equal(count_of(probe, CKP_COUNT_SESSIONS_UNSETTLED), 0);
    assert_int_equal(probe->sink.told_session, session);
    assert_int_equal(probe->sink.told_batches, batches);
    assert_true(ckp_ledger_is_balanced(probe->counters, stderr));
}

static void test_who_has_settled_a_killed_probe_can_be_killed_and_settled(void **state)
{
    struct probe *probe;

    (void)state;
    leave_a_killed_session(1);

    probe = start(true, 0);
    assert_settles(probe, 1, PARTITIONS);
    assert_true(begin(probe, 2));
    watch(probe, 3);
    kill_probe(probe);

    probe = start(true, 0);
    assert_settles(probe, 2, 3);
    assert_true(begin(probe, 3));
    kill_probe(probe); /* at once: but for what it told of the one before it has nothing to tell */

    probe = start(true, 0);
    assert_settles(probe, 3, 1);
    kill_probe(probe);
}

/* As a full /dev/shm, but for who runs the test alone. */
static void let_no_file_grow(bool is_so)
{
    struct rlimit limit;

    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = is_so ? 4096 : limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void test_without_room_the_default_file_is_gone_without(void **state)
{
    struct probe *probe = start(false, 0);
    char default_path[sizeof probe->settlement.default_path], expected[SAID_BYTES];
    int standard_error;

    (void)state;
    strcpy(default_path, probe->settlement.path);
    FILE *heard = hear(&standard_error);
    let_no_file_grow(true);
    bool is_begun = begin(probe, 1);
    let_no_file_grow(false);
    hear_end(heard, standard_error);
    assert_true(is_begun);
    snprintf(expected, sizeof expected,
             "chokepoint-probe: state file %s has no room: File too large; should this probe be "
             "killed, nobody will know what it had received\n",
             default_path);
    assert_string_equal(said, expected);
    assert_null(ckp_state_file_totals(probe->settlement.file, 0)); /* a batcher has its own then */
    ckp_count(probe->counters, CKP_COUNT_FRAMES_RECEIVED, 1);
    assert_int_equal(count_of(probe, CKP_COUNT_FRAMES_RECEIVED), 1);
    kill_probe(probe);

    probe = start(false, 0); /* finds nothing to tell */
    assert_int_equal(count_of(probe, CKP_COUNT_SESSIONS_UNSETTLED), 0);
    assert_int_equal(probe->sink.told_batches, 0);
    assert_true(begin(probe, 2));
    kill_probe(probe);
    unlink(default_path);
}

static void test_without_room_a_file_that_was_asked_for_is_no_start(void **state)
{
    struct probe *probe = start(true, 0);

    (void)state;
    let_no_file_grow(true);
    bool is_begun = begin(probe, 1);
    let_no_file_grow(false);
    assert_false(is_begun);
    assert_non_null(strstr(why, "/state has no room: File too large"));
    kill_probe(probe);
}

static struct probe *start_and_hear(int64_t answer_ns)
{
    int standard_error;
    FILE *heard = hear(&standard_error);
    struct probe *probe = start(true, answer_ns);

    hear_end(heard, standard_error);
    return probe;
}

static void test_a_broker_may_fail_over_before_it_answers(void **state)
{
    (void)state;
    leave_a_killed_session(1);

    struct probe *probe = start_and_hear(now_ns + 9 * CKP_NANOS_PER_SECOND);
    assert_settles(probe, 1, PARTITIONS);
    assert_non_null(strstr(said, "; its balance is published\n"));
    kill_probe(probe);
}

static void assert_is_not_confirmed(const struct probe *probe)
{
    assert_int_equal(count_of(probe, CKP_COUNT_SESSIONS_SETTLED), 0);
    assert_int_equal(count_of(probe, CKP_COUNT_SESSIONS_UNSETTLED), 1);
    assert_int_equal(probe->sink.told_batches, PARTITIONS);
    assert_non_null(strstr(said, ", which had no good end, is not confirmed by the output\n"));
}

/* What was handed over may still come: nobody says that it will not. */
static void test_what_nobody_answers_for_15_s_is_not_confirmed(void **state)
{
    (void)state;
    leave_a_killed_session(1);

    int64_t started_ns = now_ns;
    struct probe *probe = start_and_hear(INT64_MAX);
    assert_is_not_confirmed(probe);
    assert_int_equal((now_ns - started_ns) / CKP_NANOS_PER_SECOND, 15);
    kill_probe(probe);
}

static void test_who_is_told_to_end_waits_for_no_answer(void **state)
{
    (void)state;
    leave_a_killed_session(1);

    int64_t started_ns = now_ns;
    stop = 1;
    struct probe *probe = start_and_hear(INT64_MAX);
    assert_is_not_confirmed(probe);
    assert_int_equal(now_ns, started_ns);
    kill_probe(probe);
}

static void test_a_start_with_nothing_to_tell_waits_for_nobody(void **state)
{
    (void)state;
    int64_t started_ns = now_ns;
    kill_probe(start(true, INT64_MAX));
    assert_int_equal(now_ns, started_ns);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, prepare, clean_up)
    const struct CMUnitTest tests[] = {
        TEST(who_has_settled_a_killed_probe_can_be_killed_and_settled),
        TEST(without_room_the_default_file_is_gone_without),
        TEST(without_room_a_file_that_was_asked_for_is_no_start),
        TEST(a_broker_may_fail_over_before_it_answers),
        TEST(what_nobody_answers_for_15_s_is_not_confirmed),
        TEST(who_is_told_to_end_waits_for_no_answer),
        TEST(a_start_with_nothing_to_tell_waits_for_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
