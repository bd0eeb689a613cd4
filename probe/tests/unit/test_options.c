/* SPDX-License-Identifier: Apache-2.0 */
/* One row = arguments and the sentence they deserve; NULL if they are right. */
#include "options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define ARGUMENTS_MAX 8

struct row {
    const char *arguments; /* split at single spaces */
    const char *error;
};

static const struct row rows[] = {
    {"a.pcap", NULL},
    {"--tap t a.pcap b.pcap", NULL},
    {"--tap=t -", NULL},
    {"--", NULL},
    {"--nonsense", "option --nonsense is unknown: expected one of those that --help lists"},
    {"-x", "option -x is unknown: expected one of those that --help lists"},
    {"--ta x", "option --ta is unknown: expected one of those that --help lists"},
    {"--nonsense=1", "option --nonsense is unknown: expected one of those that --help lists"},
    {"--tap", "option --tap: no value, expected text of 1 to 255 bytes"},
    {"--tap=", "option --tap: '' is not text of 1 to 255 bytes"},
    {"--partitions 0", "option --partitions: '0' is not a whole number from 1 to 65536"},
    {"--partitions 65537", "option --partitions: '65537' is not a whole number from 1 to 65536"},
    {"--partitions 1x", "option --partitions: '1x' is not a whole number from 1 to 65536"},
    {"--partitions -1", "option --partitions: '-1' is not a whole number from 1 to 65536"},
    {"--partitions 99999999999999999999",
     "option --partitions: '99999999999999999999' is not a whole number from 1 to 65536"},
    {"--hash-seed 0xffffffffffffffff", NULL},
    {"--hash-seed 18446744073709551615", NULL},
    {"--hash-seed 18446744073709551616",
     "option --hash-seed: '18446744073709551616' is not a 64-bit number such as 42 or 0x2a"},
    {"--hash-seed ff", "option --hash-seed: 'ff' is not a 64-bit number such as 42 or 0x2a"},
    {"--run-memory 2MiB", NULL},
    {"--run-memory 2", "option --run-memory: '2' is not a size such as 64MiB from 1MiB to 64GiB"},
    {"--run-memory 2MB",
     "option --run-memory: '2MB' is not a size such as 64MiB from 1MiB to 64GiB"},
    {"--run-memory 99999999999GiB",
     "option --run-memory: '99999999999GiB' is not a size such as 64MiB from 1MiB to 64GiB"},
    {"--batch-delay 1s", NULL},
    {"--batch-delay 11s",
     "option --batch-delay: '11s' is not a time such as 250ms from 1ms to 10s"},
    {"--idle-timeout 2min", NULL},
    {"--tunnels inner", NULL},
    {"--tunnels=outer", NULL},
    {"--tunnels inner|outer", "option --tunnels: 'inner|outer' is not one of inner|outer"},
    {"--tunnels inne", "option --tunnels: 'inne' is not one of inner|outer"},
    {"--tunnels", "option --tunnels: no value, expected one of inner|outer"},
    {"--help=yes", "option --help: 'yes' is too much, expected no value"},
};

static bool parse(struct ckp_options *options, const char *arguments)
{
    static char text[256];
    static char *argv[ARGUMENTS_MAX];
    int argc = 1;

    strcpy(text, arguments);
    argv[0] = text;
    for (char *at = strtok(text, " "); at; at = strtok(NULL, " "))
        argv[argc++] = at;
    return ckp_options_parse(options, argc, argv);
}

static void test_each_mistake_gets_its_sentence(void **state)
{
    struct ckp_options options;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bool is_right = parse(&options, rows[i].arguments);
        if (is_right != (rows[i].error == NULL))
            fail_msg("%s: taken %d", rows[i].arguments, is_right);
        if (!is_right)
            assert_string_equal(options.error, rows[i].error);
    }
}

static void test_values_have_units_and_defaults(void **state)
{
    struct ckp_options options;

    (void)state;
    assert_true(parse(&options, "--batch-delay=2s --hash-seed 0x5eed one --run-memory 1GiB two"));
    assert_int_equal(ckp_option_number(&options, CKP_OPTION_BATCH_DELAY), 2000000000);
    assert_int_equal(ckp_option_number(&options, CKP_OPTION_HASH_SEED), 0x5eed);
    assert_int_equal(ckp_option_number(&options, CKP_OPTION_RUN_MEMORY), 1 << 30);
    assert_int_equal(ckp_option_number(&options, CKP_OPTION_PARTITIONS), 32);
    assert_int_equal(ckp_option_number(&options, CKP_OPTION_IDLE_TIMEOUT), 180000000000);
    assert_string_equal(ckp_option_text(&options, CKP_OPTION_OUTPUT), "-");
    assert_null(ckp_option_text(&options, CKP_OPTION_TAP));
    assert_int_equal(options.file_count, 2);
    assert_string_equal(options.files[0], "one");
    assert_string_equal(options.files[1], "two");
    assert_int_equal(ckp_option_number(&options, CKP_OPTION_TUNNELS), 0);
    assert_true(parse(&options, "--tunnels outer one"));
    assert_int_equal(ckp_option_number(&options, CKP_OPTION_TUNNELS), 1);
}

static void test_behind_two_dashes_all_are_files(void **state)
{
    struct ckp_options options;

    (void)state;
    assert_true(parse(&options, "- -- --tap"));
    assert_int_equal(options.file_count, 2);
    assert_string_equal(options.files[0], "-");
    assert_string_equal(options.files[1], "--tap");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_mistake_gets_its_sentence),
        cmocka_unit_test(test_values_have_units_and_defaults),
        cmocka_unit_test(test_behind_two_dashes_all_are_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
