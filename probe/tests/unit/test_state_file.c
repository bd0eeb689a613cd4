/* SPDX-License-Identifier: Apache-2.0 */
/* Probes that are killed and started again, as far as their state file goes. */
#include "state_file.h"

#include "batch_reader.h"
#include "ledger.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#define WORKERS    2u
#define PARTITIONS 3u

static char folder[64], path[96], why[256];

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/chokepoint-state-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/state", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

static struct ckp_session_facts facts(uint64_t session)
{
    return (struct ckp_session_facts){
        .probe = "rack-7",
        .tap = "core-1",
        .topic = "tcp-segments",
        .session = session,
        .timestamp_resolution_ns = 1000,
        .timestamp_source = CKP_TIMESTAMP_KERNEL,
        .worker_count = WORKERS,
        .partition_count = PARTITIONS,
    };
}

static struct ckp_state_file *open_file(void)
{
    struct ckp_state_file *file = ckp_state_file_open(path, why, sizeof why);

    if (!file)
        fail_msg("%s", why);
    return file;
}

static struct ckp_state_file *begin(uint64_t session)
{
    const struct ckp_session_facts of = facts(session);
    struct ckp_state_file *file = open_file();

    for (uint32_t i = 0; i < WORKERS; i++)
        assert_non_null(ckp_state_file_counters(file, i, WORKERS));
    assert_true(ckp_state_file_begin(file, &of, why, sizeof why));
    return file;
}

/* Worker 1 has received 20 frames: 3 are no IP, 12 packets are in the 2 batches of partition 2, of
 * which the first was delivered and the second is still open, 5 are in no run yet. */
static void watch(struct ckp_state_file *file)
{
    struct ckp_counters *counters = ckp_state_file_counters(file, 1, WORKERS);
    struct ckp_partition_totals *totals = ckp_state_file_totals(file, 1);

    ckp_count(counters, CKP_COUNT_FRAMES_RECEIVED, 20);
    ckp_count(counters, CKP_COUNT_FRAMES_NOT_IP, 3);
    ckp_count(counters, CKP_COUNT_FLOWS_STARTED, 4);
    ckp_count(counters, CKP_COUNT_FLOWS_ENDED_FIN, 1);
    totals[2] = (struct ckp_partition_totals){.batches = 2, .packets = 10, .summarised_packets = 2};
    ckp_count(counters, CKP_COUNT_PACKETS_ENCODED, 12);
    ckp_count(counters, CKP_COUNT_PACKETS_SUMMARISED, 2);
    ckp_count(counters, CKP_COUNT_BATCHES_ENCODED, 1);
    ckp_count(counters, CKP_COUNT_BATCHES_DELIVERED, 1);
    ckp_count(counters, CKP_COUNT_PACKETS_DELIVERED, 7);
}

/* What the next start finds of a process that has done `work` and was killed. */
static enum ckp_state find_after(void (*work)(void), struct ckp_killed_session *killed)
{
    pid_t child = fork();

    if (child == 0) {
        work();
        raise(SIGKILL);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
    struct ckp_state_file *file = open_file();
    enum ckp_state state = ckp_state_file_read(file, killed, why, sizeof why);
    ckp_state_file_close(file);
    return state;
}

static void be_killed_while_watching(void)
{
    watch(begin(7));
}

static void end_well(void)
{
    struct ckp_state_file *file = begin(7);

    watch(file);
    ckp_state_file_settle(file);
    ckp_state_file_close(file);
}

static void be_killed_before_it_begins(void)
{
    ckp_state_file_counters(open_file(), 0, WORKERS);
}

static void test_what_a_killed_probe_had_counted_is_found_to_the_last_packet(void **state)
{
    struct ckp_killed_session killed;

    (void)state;
    assert_int_equal(find_after(be_killed_while_watching, &killed), CKP_STATE_KILLED);
    assert_string_equal(killed.facts.tap, "core-1");
    assert_int_equal(killed.facts.session, 7);
    assert_int_equal(killed.counters[1].value[CKP_COUNT_FRAMES_RECEIVED], 20);
    assert_int_equal(killed.counters[0].value[CKP_COUNT_FRAMES_RECEIVED], 0);
    assert_int_equal(killed.totals[PARTITIONS + 2].packets, 10);
    ckp_killed_session_free(&killed);
}

static void test_an_end_leaves_nothing_to_tell(void **state)
{
    struct ckp_killed_session killed;

    (void)state;
    assert_int_equal(find_after(end_well, &killed), CKP_STATE_SETTLED);
    assert_null(killed.counters);
}

static void test_a_start_that_fails_leaves_the_killed_one_to_the_next(void **state)
{
    struct ckp_killed_session killed;

    (void)state;
    assert_int_equal(find_after(be_killed_while_watching, &killed), CKP_STATE_KILLED);
    ckp_killed_session_free(&killed);
    assert_int_equal(find_after(be_killed_before_it_begins, &killed), CKP_STATE_KILLED);
    assert_int_equal(killed.facts.session, 7);
    ckp_killed_session_free(&killed);
}

static void test_a_session_counts_on_from_what_was_counted_before_it_began(void **state)
{
    const struct ckp_session_facts of = facts(9);
    struct ckp_killed_session killed;
    struct ckp_state_file *file = open_file();
    struct ckp_counters *counters = ckp_state_file_counters(file, 0, WORKERS);

    (void)state;
    ckp_count(counters, CKP_COUNT_SESSIONS_SETTLED, 1);
    assert_true(ckp_state_file_begin(file, &of, why, sizeof why));
    assert_ptr_equal(ckp_state_file_counters(file, 0, WORKERS), counters);
    ckp_count(counters, CKP_COUNT_FRAMES_RECEIVED, 1);
    ckp_state_file_close(file);

    file = open_file();
    assert_int_equal(ckp_state_file_read(file, &killed, why, sizeof why), CKP_STATE_KILLED);
    assert_int_equal(killed.counters[0].value[CKP_COUNT_SESSIONS_SETTLED], 1);
    assert_int_equal(killed.counters[0].value[CKP_COUNT_FRAMES_RECEIVED], 1);
    ckp_killed_session_free(&killed);
    ckp_state_file_close(file);
}

static void test_two_probes_never_share_a_file(void **state)
{
    struct ckp_state_file *file = open_file();

    (void)state;
    assert_null(ckp_state_file_open(path, why, sizeof why));
    assert_string_equal(why, "is in use by another probe");
    ckp_state_file_close(file);
    ckp_state_file_close(open_file());
}

static void write_file(const void *bytes, size_t count)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    fclose(file);
    chmod(path, 0600);
}

static void test_a_file_of_anything_else_is_left_alone(void **state)
{
    (void)state;
    write_file("root:x:0:0:\n", 12);
    assert_null(ckp_state_file_open(path, why, sizeof why));
    assert_string_equal(why, "was not made by a probe");
    assert_int_equal(chmod(path, 0666), 0);
    assert_null(ckp_state_file_open(path, why, sizeof why));
    assert_string_equal(why, "can be written by others");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink("/dev/null", path), 0);
    assert_null(ckp_state_file_open(path, why, sizeof why));
    assert_string_equal(why, strerror(ELOOP));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_null(ckp_state_file_open(path, why, sizeof why));
    assert_string_equal(why, "is no regular file");
    assert_int_equal(unlink(path), 0);
}

static uint8_t whole[1 << 20];

static size_t read_whole(void)
{
    FILE *file = fopen(path, "r");

    assert_non_null(file);
    size_t count = fread(whole, 1, sizeof whole, file);
    fclose(file);
    return count;
}

/* However it is damaged, it is told as damaged or gives books that balance. */
static void assert_is_survived(void)
{
    struct ckp_killed_session killed;
    struct ckp_state_file *file = ckp_state_file_open(path, why, sizeof why);

    if (!file)
        return;
    if (ckp_state_file_read(file, &killed, why, sizeof why) == CKP_STATE_KILLED) {
        if (ckp_killed_session_close_books(&killed))
            for (uint32_t i = 0; i < killed.facts.worker_count; i++)
                assert_true(ckp_ledger_is_balanced(&killed.counters[i], stderr));
        ckp_killed_session_free(&killed);
    }
    ckp_state_file_close(file);
}

static void flip(size_t at)
{
    FILE *file = fopen(path, "r+");

    assert_non_null(file);
    fseek(file, (long)at, SEEK_SET);
    int byte = fgetc(file);
    fseek(file, (long)at, SEEK_SET);
    fputc(byte ^ 0xff, file);
    fclose(file);
}

static void test_a_torn_or_damaged_file_is_told(void **state)
{
    /* All of the header, of the counters of both workers, and of the totals. */
    static const size_t places[][2] = {{0, 1000}, {65536, 66200}, {69632, 70300}, {131072, 131250}};
    struct ckp_killed_session killed;

    (void)state;
    find_after(be_killed_while_watching, &killed);
    ckp_killed_session_free(&killed);
    size_t size = read_whole();
    for (size_t left = size; left > 0; left -= left > 4099 ? 4099 : left > 1000 ? 101 : 1) {
        assert_int_equal(truncate(path, (off_t)left), 0);
        assert_is_survived();
    }
    write_file(whole, size);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        for (size_t at = places[i][0]; at < places[i][1]; at++) {
            flip(at);
            assert_is_survived();
            flip(at);
        }

    struct ckp_state_file *file;
    whole[8] ^= 1; /* the layout */
    write_file(whole, size);
    file = open_file();
    assert_int_equal(ckp_state_file_read(file, &killed, why, sizeof why), CKP_STATE_UNREADABLE);
    assert_string_equal(why, "is of another version of the probe");
    ckp_state_file_close(file);
    whole[8] ^= 1;
    whole[40] ^= 1; /* the facts */
    write_file(whole, size);
    file = open_file();
    assert_int_equal(ckp_state_file_read(file, &killed, why, sizeof why), CKP_STATE_UNREADABLE);
    assert_string_equal(why, "is damaged");
    ckp_state_file_close(file);
    whole[40] ^= 1;
    write_file(whole, size / 2);
    file = open_file();
    assert_int_equal(ckp_state_file_read(file, &killed, why, sizeof why), CKP_STATE_UNREADABLE);
    assert_string_equal(why, "is cut off");
    ckp_state_file_close(file);
}

static struct read_batch told[WORKERS * PARTITIONS];
static uint32_t told_count;

static void keep(void *sink, const struct ckp_batch *batch)
{
    struct batch_reader reader = {batch->bytes, batch->bytes + batch->size_bytes};

    (void)sink;
    assert_true(told_count < WORKERS * PARTITIONS);
    read_batch_header(&reader, &told[told_count]);
    read_runs_end(&reader, &told[told_count]);
    read_batch_end(&reader, &told[told_count]);
    assert_int_equal(batch->packets, 0);
    told_count++;
}

static void test_the_balance_tells_what_is_missing_where(void **state)
{
    struct ckp_killed_session killed;

    (void)state;
    find_after(be_killed_while_watching, &killed);
    assert_true(ckp_killed_session_close_books(&killed));
    for (uint32_t i = 0; i < WORKERS; i++)
        assert_true(ckp_ledger_is_balanced(&killed.counters[i], stderr));
    assert_int_equal(killed.counters[1].value[CKP_COUNT_FRAMES_LOST_WHEN_KILLED], 5);
    assert_int_equal(killed.counters[1].value[CKP_COUNT_PACKETS_UNDELIVERED_IN_DOUBT], 5);
    assert_int_equal(killed.counters[1].value[CKP_COUNT_BATCHES_UNDELIVERED], 1);
    assert_int_equal(killed.counters[1].value[CKP_COUNT_FLOWS_ENDED_KILLED], 3);

    told_count = 0;
    assert_true(ckp_killed_session_tell(&killed, 1, keep, NULL));
    assert_int_equal(told_count, 1); /* nobody else has sent or received anything */
    assert_int_equal(told[0].session, 7);
    assert_int_equal(told[0].worker, 1);
    assert_int_equal(told[0].partition, 2);
    assert_int_equal(told[0].sequence, 2);
    assert_int_equal(told[0].packets_before, 10);
    assert_int_equal(told[0].packets, 0);
    assert_int_equal(told[0].summarised_packets_before, 2);
    assert_int_equal(told[0].summarised_packets, 0);
    assert_int_equal(told[0].runs, 0);
    assert_int_equal(told[0].counters, 9);
    ckp_killed_session_free(&killed);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        TEST(what_a_killed_probe_had_counted_is_found_to_the_last_packet),
        TEST(an_end_leaves_nothing_to_tell),
        TEST(a_start_that_fails_leaves_the_killed_one_to_the_next),
        TEST(a_session_counts_on_from_what_was_counted_before_it_began),
        TEST(two_probes_never_share_a_file),
        TEST(a_file_of_anything_else_is_left_alone),
        TEST(a_torn_or_damaged_file_is_told),
        TEST(the_balance_tells_what_is_missing_where),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
