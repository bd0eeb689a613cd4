/* SPDX-License-Identifier: Apache-2.0 */
/* One row = arguments, or a file of --config, and the sentence they deserve; NULL if they are
 * right. */
#include "options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#define ARGUMENTS_MAX 12

#define NAME_TEXT "text in UTF-8 of 1 to 255 bytes without control characters"
#define SECRET(name)                                                                               \
    "option --kafka-option: " name " is a secret, expected in the file of --kafka-options"

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
    {"--tap", "option --tap: no value, expected " NAME_TEXT},
    {"--tap=", "option --tap: '' is not " NAME_TEXT},
    {"--tap \xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", NULL},
    {"--tap a\xff", "option --tap: 'a\xff' is not " NAME_TEXT},
    {"--tap \xc3", "option --tap: '\xc3' is not " NAME_TEXT},
    {"--tap \xc0\xaf", "option --tap: '\xc0\xaf' is not " NAME_TEXT},         /* a longer / */
    {"--tap \xed\xa0\x80", "option --tap: '\xed\xa0\x80' is not " NAME_TEXT}, /* a surrogate */
    {"--tap \xf4\x90\x80\x80", "option --tap: '\xf4\x90\x80\x80' is not " NAME_TEXT},
    {"--probe a\nb", "option --probe: 'a\nb' is not " NAME_TEXT},
    {"--probe a\xc2\x80", "option --probe: 'a\xc2\x80' is not " NAME_TEXT},
    {"--topic \xff", NULL},
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
    {"--kafka-option acks=all --kafka-option sasl.username=probe", NULL},
    {"--kafka-option sasl.password=hunter2", SECRET("sasl.password")},
    {"--kafka-option=ssl.key.password=hunter2", SECRET("ssl.key.password")},
    {"--kafka-option ssl.keystore.password=", SECRET("ssl.keystore.password")},
    {"--kafka-option ssl.key.pem=hunter2", SECRET("ssl.key.pem")},
    {"--kafka-option sasl.oauthbearer.client.secret=hunter2",
     SECRET("sasl.oauthbearer.client.secret")},
    {"--kafka-option sasl.oauthbearer.config=hunter2", SECRET("sasl.oauthbearer.config")},
    {"--ring-memory 256MiB --ring-snap 64 --ring-payload", NULL},
    {"--ring-memory 1KiB",
     "option --ring-memory: '1KiB' is not a size such as 64MiB from 64KiB to 16GiB"},
    {"--ring-snap 63", "option --ring-snap: '63' is not a whole number from 64 to 2048"},
    {"--help=yes", "option --help: 'yes' is too much, expected no value"},
};

static bool parse(struct ckp_options *options, const char *arguments)
{
    static char text[512];
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
        ckp_options_free(&options);
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

static const struct {
    const char *file;
    const char *clause; /* after the line and the file's name; NULL if it is right */
    int line;
} config_rows[] = {
    {"", NULL, 0},
    {"# all of it\n\ntap = core-1\nrun-memory=2MiB\n  no-seccomp = yes\n", NULL, 0},
    {"no-seccomp=no\n", NULL, 0},
    {"port=net_pcap0,rx_iface_in=a\nport=net_pcap1,rx_iface_in=b\n", NULL, 0},
    {"partitions=0\n", ": option --partitions: '0' is not a whole number from 1 to 65536", 1},
    {"tap=a\ntap = b\n", ": option --tap is there twice, expected one line of it", 2},
    {"no-seccomp=no\nno-seccomp=no\n",
     ": option --no-seccomp is there twice, expected one line of it", 2},
    {"\n\n# b\ntpa=a\n", ": 'tpa' is no option, expected one of those that --help lists", 4},
    {"--tap=a\n", ": '--tap' is no option, expected one of those that --help lists", 1},
    {"tap=\n", ": option --tap: '' is not " NAME_TEXT, 1},
    {"probe=\xff\n", ": option --probe: '\xff' is not " NAME_TEXT, 1},
    {"no-seccomp=1\n", ": option --no-seccomp: '1' is not one of yes|no", 1},
    {"help=yes\n", ": option --help is for the command line, not for a file", 1},
    {"check=yes\n", ": option --check is for the command line, not for a file", 1},
    {"version=yes\n", ": option --version is for the command line, not for a file", 1},
    {"config=other\n", ": option --config is for the command line, not for a file", 1},
    {"kafka-option=sasl.password=hunter2\n", ": " SECRET("sasl.password"), 1},
    {"hunter2\n", " is not NAME=VALUE", 1},
    {"tap=a\nmonday.pcap\n", " is not NAME=VALUE", 2},
    {"SASL PASSWORD=hunter2\n", " has an unknown name", 1},
};

/* Parses "--config FILE" and then `arguments`. */
static bool parse_with_config(struct ckp_options *options, const char *file, const char *arguments,
                              char *path)
{
    char text[256];

    strcpy(path, "/tmp/test_options-XXXXXX");
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, file, strlen(file)), strlen(file));
    close(descriptor);
    snprintf(text, sizeof text, "--config %s %s", path, arguments);
    bool is_right = parse(options, text);
    unlink(path);
    return is_right;
}

static void test_each_mistake_in_a_file_gets_its_sentence(void **state)
{
    struct ckp_options options;
    char path[64], expected[512];

    (void)state;
    for (size_t i = 0; i < sizeof config_rows / sizeof config_rows[0]; i++) {
        bool is_right = parse_with_config(&options, config_rows[i].file, "", path);
        if (is_right != (config_rows[i].clause == NULL))
            fail_msg("%s: taken %d, %s", config_rows[i].file, is_right, options.error);
        snprintf(expected, sizeof expected, "option --config: line %d of %s%s", config_rows[i].line,
                 path, is_right ? "" : config_rows[i].clause);
        if (!is_right)
            assert_string_equal(options.error, expected);
        ckp_options_free(&options);
    }
    assert_false(parse(&options, "--config /nowhere/a"));
    assert_string_equal(options.error,
                        "option --config: /nowhere/a cannot be read: No such file or directory");
    assert_true(parse(&options, "--config /nowhere/a --help"));
    assert_false(parse(&options, "--config /dev/null"));
    assert_string_equal(
        options.error, "option --config: /dev/null is no regular file, and is read more than once");
}

static void test_a_flag_that_a_file_does_not_want_is_not_given(void **state)
{
    struct ckp_options options;
    char path[64];

    (void)state;
    assert_true(parse_with_config(&options, "no-shed = no\nring-payload=yes\n", "", path));
    assert_false(options.value[CKP_OPTION_NO_SHED].is_given);
    assert_null(ckp_option_text(&options, CKP_OPTION_NO_SHED));
    assert_true(options.value[CKP_OPTION_RING_PAYLOAD].is_given);
    ckp_options_free(&options);
}

static void test_the_command_line_goes_over_the_file(void **state)
{
    static const char file[] = "tap = from file\nprobe = p\npartitions=4\nbatch-delay=2s\n"
                               "kafka-option=acks=all\nkafka-option=linger.ms=5\nport=aaaaa\n"
                               "tunnels=outer\nno-seccomp=yes\n";
    struct ckp_options options;
    char path[64];
    size_t count;

    (void)state;
    assert_true(
        parse_with_config(&options, file, "--probe q --partitions 8 --port bbbbb one", path));
    assert_string_equal(ckp_option_text(&options, CKP_OPTION_TAP), "from file");
    assert_string_equal(ckp_option_text(&options, CKP_OPTION_PROBE), "q");
    assert_int_equal(ckp_option_number(&options, CKP_OPTION_PARTITIONS), 8);
    assert_int_equal(ckp_option_number(&options, CKP_OPTION_BATCH_DELAY), 2000000000);
    assert_int_equal(ckp_option_number(&options, CKP_OPTION_TUNNELS), 1);
    assert_int_equal(ckp_option_number(&options, CKP_OPTION_HASH_SEED), 0);
    assert_non_null(ckp_option_text(&options, CKP_OPTION_NO_SECCOMP));
    const char *const *settings = ckp_option_list(&options, CKP_OPTION_KAFKA_OPTION, &count);
    assert_int_equal(count, 2);
    assert_string_equal(settings[0], "acks=all");
    assert_string_equal(settings[1], "linger.ms=5");
    const char *const *ports = ckp_option_list(&options, CKP_OPTION_PORT, &count);
    assert_int_equal(count, 1);
    assert_string_equal(ports[0], "bbbbb");
    assert_int_equal(options.file_count, 1);
    ckp_options_free(&options);
    /* what the command line goes over is checked all the same */
    assert_false(parse_with_config(&options, "partitions=0\n", "--partitions 8", path));
    ckp_options_free(&options);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_mistake_gets_its_sentence),
        cmocka_unit_test(test_values_have_units_and_defaults),
        cmocka_unit_test(test_behind_two_dashes_all_are_files),
        cmocka_unit_test(test_each_mistake_in_a_file_gets_its_sentence),
        cmocka_unit_test(test_a_flag_that_a_file_does_not_want_is_not_given),
        cmocka_unit_test(test_the_command_line_goes_over_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
