/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static struct ckp_counters balanced_counters(void)
{
    struct ckp_counters counters = {0};

    ckp_count(&counters, CKP_COUNT_FRAMES_RECEIVED, 10);
    ckp_count(&counters, CKP_COUNT_FRAMES_NOT_IP, 3);
    ckp_count(&counters, CKP_COUNT_PACKETS_ENCODED, 7);
    ckp_count(&counters, CKP_COUNT_PACKETS_DELIVERED, 7);
    ckp_count(&counters, CKP_COUNT_BATCHES_ENCODED, 1);
    ckp_count(&counters, CKP_COUNT_BATCHES_DELIVERED, 1);
    ckp_count(&counters, CKP_COUNT_FLOWS_STARTED, 2);
    ckp_count(&counters, CKP_COUNT_FLOWS_ENDED_RST, 1);
    ckp_count(&counters, CKP_COUNT_FLOWS_ENDED_IDLE, 1);
    return counters;
}

static char text[65536];

static FILE *open_text(void)
{
    memset(text, 0, sizeof text);
    FILE *file = fmemopen(text, sizeof text, "w");
    assert_non_null(file);
    return file;
}

static void test_balanced_books_need_no_word(void **state)
{
    struct ckp_counters counters = balanced_counters();
    FILE *out = open_text();

    (void)state;
    assert_true(ckp_ledger_is_balanced(&counters, out));
    fclose(out);
    assert_string_equal(text, "");
}

static void test_a_lost_packet_is_told(void **state)
{
    struct ckp_counters counters = balanced_counters();
    FILE *out = open_text();

    (void)state;
    counters.value[CKP_COUNT_PACKETS_DELIVERED]--;
    assert_false(ckp_ledger_is_balanced(&counters, out));
    fclose(out);
    assert_string_equal(text,
                        "the ledger does not balance: packets_encoded is 7, its parts are 6\n");
}

/* A counter that is part of no equation would let its items vanish. */
static void test_every_fate_counts(void **state)
{
    static const char *const fates[] = {
        "frames_",  "packets_encoded", "packets_delivered", "packets_undelivered",
        "batches_", "flows_started",   "flows_ended_"};

    (void)state;
    for (int i = 0; i < CKP_COUNTERS; i++) {
        struct ckp_counters counters = balanced_counters();
        bool is_fate = false;
        for (size_t j = 0; j < sizeof fates / sizeof fates[0]; j++)
            is_fate |= !strstr(ckp_counter_info[i].name, "_missed_") &&
                       strncmp(ckp_counter_info[i].name, fates[j], strlen(fates[j])) == 0;
        counters.value[i]++;
        if (ckp_ledger_is_balanced(&counters, NULL) == is_fate)
            fail_msg("%s", ckp_counter_info[i].name);
    }
}

static void test_json_is_one_line_with_all_counters(void **state)
{
    struct ckp_counters counters = balanced_counters();
    const struct ckp_counters *const workers[] = {&counters};
    struct ckp_ledger ledger = {"pro\"be", "t\\ap\n", UINT64_MAX, workers, 1};
    FILE *out = open_text();

    (void)state;
    ckp_ledger_print_json(&ledger, out);
    fclose(out);
    assert_non_null(strstr(text, "{\"record\":\"ledger\",\"probe\":\"pro\\\"be\","
                                 "\"tap\":\"t\\\\ap\\u000a\",\"session\":-1,\"balanced\":true,"
                                 "\"counters\":{\"frames_received\":10,\"frames_filtered\":0,"));
    assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
    for (int i = 0; i < CKP_COUNTERS; i++)
        assert_non_null(strstr(text, ckp_counter_info[i].name));
}

static void test_workers_are_summed_and_each_must_balance(void **state)
{
    struct ckp_counters first = balanced_counters(), second = balanced_counters();
    const struct ckp_counters *const workers[] = {&first, &second};
    struct ckp_ledger ledger = {"p", "t", 1, workers, 2};
    FILE *out = open_text();

    (void)state;
    ckp_ledger_print_json(&ledger, out);
    fclose(out);
    assert_non_null(strstr(text, "\"balanced\":true,\"counters\":{\"frames_received\":20,"));
    assert_non_null(strstr(text, "},\"workers\":[{\"frames_received\":10,"));
    assert_non_null(strstr(text, "},{\"frames_received\":10,"));

    first.value[CKP_COUNT_FRAMES_RECEIVED]++; /* the sum would be even */
    second.value[CKP_COUNT_FRAMES_RECEIVED]--;
    assert_false(ckp_ledger_all_balanced(&ledger, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_balanced_books_need_no_word),
        cmocka_unit_test(test_a_lost_packet_is_told),
        cmocka_unit_test(test_every_fate_counts),
        cmocka_unit_test(test_json_is_one_line_with_all_counters),
        cmocka_unit_test(test_workers_are_summed_and_each_must_balance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
