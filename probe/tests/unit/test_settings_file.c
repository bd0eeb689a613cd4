/* SPDX-License-Identifier: Apache-2.0 */
/* One row = a file, and the settings that are taken from it or the clause that it deserves. */
#include "settings_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#define BYTES(text) (text), sizeof(text) - 1

struct row {
    const char *file;
    size_t file_bytes;
    const char *taken; /* each as "[NAME][VALUE]" */
    const char *clause;
};

static const struct row rows[] = {
    {BYTES(""), "", NULL},
    {BYTES("sasl.username=probe\nsasl.password=secret\n"),
     "[sasl.username][probe][sasl.password][secret]", NULL},
    {BYTES("a=1\nb=2"), "[a][1][b][2]", NULL},
    {BYTES("a=1\r\n\r\nb=2\r\n"), "[a][1][b][2]", NULL},
    {BYTES("  a =\t1 2 \n"), "[a][1 2]", NULL},
    {BYTES("# a=1\n! b=2\n\n  # c=3\n \t\nd=4\n"), "[d][4]", NULL},
    {BYTES("a=b=c==\n"), "[a][b=c==]", NULL},
    {BYTES("a=#1\n"), "[a][#1]", NULL},
    {BYTES("a=\\u0041\\\nb=2\n"), "[a][\\u0041\\][b][2]", NULL},
    {BYTES("a=\n"), "[a][]", NULL},
    {BYTES("a=1\n\nsecret\nb=2\n"), "[a][1]", "line 3 of %s is not NAME=VALUE"},
    {BYTES("=secret\n"), "", "line 1 of %s is not NAME=VALUE"},
    {BYTES("a=1\0secret\n"), "", "line 1 of %s is not NAME=VALUE"},
    {BYTES("\0secret\n"), "", "line 1 of %s is not NAME=VALUE"},
    {BYTES("a=1\nrefused=secret\nb=2\n"), "[a][1]", "line 2 of %s has a value that is refused"},
    {BYTES("unknown = secret\n"), "", "line 1 of %s has an unknown name"},
    {BYTES("a_z.0_9=1\nsasl.password: c2VjcmV0==\n"), "[a_z.0_9][1]",
     "line 2 of %s has an unknown name"},
    {BYTES("sasl.password:secret=\n"), "", "line 1 of %s has an unknown name"},
    {BYTES("sasl password=secret\n"), "", "line 1 of %s has an unknown name"},
    {BYTES("c2VjcmV0=\n"), "", "line 1 of %s has an unknown name"},
};

static enum ckp_setting_fate take(void *self, const char *name, const char *value)
{
    char *taken = self;

    if (strcmp(name, "unknown") == 0)
        return CKP_SETTING_NAME_UNKNOWN;
    if (strcmp(name, "refused") == 0)
        return CKP_SETTING_VALUE_REFUSED;
    sprintf(taken + strlen(taken), "[%s][%s]", name, value);
    return CKP_SETTING_TAKEN;
}

static void check(const struct row *row)
{
    char path[] = "/tmp/test_settings_file-XXXXXX";
    char taken[256] = "", why[256] = "", clause[256] = "";
    int descriptor = mkstemp(path);

    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, row->file, row->file_bytes), row->file_bytes);
    close(descriptor);
    bool is_read = ckp_settings_file_read(path, &(struct ckp_setting_taker){taken, take, NULL}, why,
                                          sizeof why);
    unlink(path);
    if (row->clause)
        snprintf(clause, sizeof clause, row->clause, path);
    assert_string_equal(why, clause);
    assert_string_equal(taken, row->taken);
    assert_int_equal(is_read, row->clause == NULL);
}

static void test_each_file_gives_its_settings_or_a_clause(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check(&rows[i]);
}

static enum ckp_setting_fate refuse_in_words(void *self, const char *name, const char *value)
{
    sprintf(self, "%s is not to be %s", name, value);
    return CKP_SETTING_VALUE_REFUSED;
}

static void test_a_taker_may_have_words_of_its_own(void **state)
{
    char path[] = "/tmp/test_settings_file-XXXXXX", words[64], why[256], expected[256];
    struct ckp_setting_taker taker = {words, refuse_in_words, words};
    int descriptor = mkstemp(path);

    (void)state;
    assert_int_equal(write(descriptor, "\na-b = c\n", 9), 9);
    close(descriptor);
    assert_false(ckp_settings_file_read(path, &taker, why, sizeof why));
    unlink(path);
    snprintf(expected, sizeof expected, "line 2 of %s: a-b is not to be c", path);
    assert_string_equal(why, expected);
}

static void test_what_is_no_file_is_named(void **state)
{
    struct ckp_setting_taker taker = {NULL, take, NULL};
    char why[256];

    (void)state;
    assert_false(ckp_settings_file_read("/nowhere/a", &taker, why, sizeof why));
    assert_string_equal(why, "/nowhere/a cannot be read: No such file or directory");
    assert_false(ckp_settings_file_read("/", &taker, why, sizeof why));
    assert_string_equal(why, "/ cannot be read: Is a directory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_file_gives_its_settings_or_a_clause),
        cmocka_unit_test(test_a_taker_may_have_words_of_its_own),
        cmocka_unit_test(test_what_is_no_file_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
