/* SPDX-License-Identifier: Apache-2.0 */
#include "dump_gate.h"

#include "segment.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#define START_SECONDS 1767225600
#define KEY           "0123456789abcdef0123456789abcdef"

/* Fields of a command whose time and nonce are filled in. */
#define FLOW                                                                                       \
    "\"client_ip\":\"10.0.0.1\",\"client_port\":40000,\"server_ip\":\"10.0.0.2\","                 \
    "\"server_port\":443"
#define FORMAT "{" FLOW ",\"seconds\":30,\"issued_at_seconds\":%d,\"nonce\":\"%016d\"}"

static struct ckp_dump_command command;
static const char *why;

static int64_t at_second(int second)
{
    return (START_SECONDS + second) * CKP_NANOS_PER_SECOND;
}

static struct ckp_dump_gate *gate_at(int second)
{
    struct ckp_dump_gate *gate =
        ckp_dump_gate_new((const uint8_t *)KEY, strlen(KEY), "core-1", at_second(second));

    assert_non_null(gate);
    return gate;
}

static void sign(char digits[65], const char *key, const char *text)
{
    uint8_t signature[32];
    unsigned bytes;

    assert_non_null(HMAC(EVP_sha256(), key, (int)strlen(key), (const uint8_t *)text, strlen(text),
                         signature, &bytes));
    for (int i = 0; i < 32; i++)
        snprintf(digits + 2 * i, 3, "%02x", signature[i]);
}

static enum ckp_dump_status check(struct ckp_dump_gate *gate, const char *text, int64_t now_ns)
{
    char digits[65];

    sign(digits, KEY, text);
    return ckp_dump_gate_check(gate, &command, text, strlen(text), digits, now_ns, &why);
}

static enum ckp_dump_status check_issued(struct ckp_dump_gate *gate, int issued_second, int nonce,
                                         int64_t now_ns)
{
    char text[512];

    snprintf(text, sizeof text, FORMAT, START_SECONDS + issued_second, nonce);
    return check(gate, text, now_ns);
}

static void test_a_signed_command_is_followed_once(void **state)
{
    struct ckp_dump_gate *gate = gate_at(0);

    (void)state;
    assert_int_equal(check_issued(gate, 10, 1, at_second(10)), CKP_DUMP_OK);
    assert_int_equal(command.seconds, 30);
    assert_string_equal(command.flow, "10.0.0.1:40000>10.0.0.2:443");
    assert_int_equal(command.key.low_port, 40000);
    assert_int_equal(command.key.high_port, 443);
    for (int second = 10; second <= 70; second++) {
        assert_int_equal(check_issued(gate, 10, 1, at_second(second)), CKP_DUMP_REFUSED);
        assert_string_equal(why, "the command was followed before");
    }
    assert_int_equal(check_issued(gate, 10, 2, at_second(70)), CKP_DUMP_OK);
    ckp_dump_gate_free(gate);
}

static void test_a_command_is_good_for_a_minute(void **state)
{
    struct ckp_dump_gate *gate = gate_at(0);

    (void)state;
    assert_int_equal(check_issued(gate, 40, 1, at_second(101) - 1), CKP_DUMP_OK);
    assert_int_equal(check_issued(gate, 40, 2, at_second(101)), CKP_DUMP_REFUSED);
    assert_string_equal(why, "the command is older than 60 s by the clock of the probe");
    assert_int_equal(check_issued(gate, 106, 3, at_second(101)), CKP_DUMP_OK);
    assert_int_equal(check_issued(gate, 107, 4, at_second(101)), CKP_DUMP_REFUSED);
    assert_string_equal(why, "the command is of the future by the clock of the probe");
    /* one of the future is remembered until it is old */
    assert_int_equal(check_issued(gate, 106, 3, at_second(167) - 1), CKP_DUMP_REFUSED);
    assert_string_equal(why, "the command was followed before");
    assert_int_equal(check_issued(gate, 106, 3, at_second(167)), CKP_DUMP_REFUSED);
    assert_string_equal(why, "the command is older than 60 s by the clock of the probe");
    ckp_dump_gate_free(gate);
}

static void test_a_command_of_the_run_before_is_refused(void **state)
{
    struct ckp_dump_gate *gate = gate_at(0);

    (void)state;
    assert_int_equal(check_issued(gate, -1, 1, at_second(5)), CKP_DUMP_REFUSED);
    assert_string_equal(why, "the command is older than this run of the probe");
    assert_int_equal(check_issued(gate, 0, 1, at_second(5)), CKP_DUMP_OK);
    ckp_dump_gate_free(gate);
}

static void test_ten_commands_at_once_and_one_a_second(void **state)
{
    struct ckp_dump_gate *gate = gate_at(0);
    int nonce = 0;

    (void)state;
    for (int i = 0; i < 10; i++)
        assert_int_equal(check_issued(gate, 0, nonce++, at_second(0)), CKP_DUMP_OK);
    assert_int_equal(check_issued(gate, 0, nonce, at_second(0)), CKP_DUMP_TOO_MANY);
    assert_int_equal(check_issued(gate, 0, nonce, at_second(1) - 1), CKP_DUMP_TOO_MANY);
    assert_int_equal(check_issued(gate, 0, nonce, at_second(1)), CKP_DUMP_OK);
    /* for hours there is room to remember all */
    for (int second = 2; second < 10000; second++) {
        assert_int_equal(check_issued(gate, second + 5, ++nonce, at_second(second)), CKP_DUMP_OK);
        assert_int_equal(check_issued(gate, second + 5, nonce, at_second(second)),
                         CKP_DUMP_REFUSED);
    }
    ckp_dump_gate_free(gate);
}

static void test_a_clock_that_is_set_back_shuts_nobody_out(void **state)
{
    struct ckp_dump_gate *gate = gate_at(0);

    (void)state;
    for (int nonce = 0; nonce < 10; nonce++)
        assert_int_equal(check_issued(gate, 3600, nonce, at_second(3600)), CKP_DUMP_OK);
    assert_int_equal(check_issued(gate, 10, 10, at_second(10)), CKP_DUMP_OK);
    ckp_dump_gate_free(gate);
}

static void test_a_wrong_signature_is_refused(void **state)
{
    struct ckp_dump_gate *gate = gate_at(0);
    char text[512], digits[66];
    const char *wrong[] = {NULL, "", "00", digits, digits, digits, digits};

    (void)state;
    snprintf(text, sizeof text, FORMAT, START_SECONDS, 1);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        sign(digits, i == 3 ? KEY "x" : KEY, text);
        if (i == 4)
            digits[63] = digits[63] == '0' ? '1' : '0';
        if (i == 5)
            strcat(digits, "0");
        if (i == 6)
            digits[5] = 'g';
        assert_int_equal(
            ckp_dump_gate_check(gate, &command, text, strlen(text), wrong[i], at_second(0), &why),
            CKP_DUMP_REFUSED);
        assert_string_equal(why, "the signature is not that of the command");
    }
    /* a byte more, a byte less; then as it was signed */
    sign(digits, KEY, text);
    size_t bytes = strlen(text);
    for (int extra = 1; extra >= -1; extra -= 2)
        assert_int_equal(ckp_dump_gate_check(gate, &command, text, bytes + (size_t)extra, digits,
                                             at_second(0), &why),
                         CKP_DUMP_REFUSED);
    for (char *c = digits; *c; c++)
        *c = (char)(*c >= 'a' ? *c - 'a' + 'A' : *c);
    assert_int_equal(ckp_dump_gate_check(gate, &command, text, bytes, digits, at_second(0), &why),
                     CKP_DUMP_OK);
    ckp_dump_gate_free(gate);
}

struct row {
    const char *text;
    enum ckp_dump_status status;
    const char *why;
};

#define REST         ",\"issued_at_seconds\":1767225600,\"nonce\":\"0123456789abcdef\"}"
#define UNEXPECTED   "the command is not the JSON object that is expected"
#define NO_SECONDS   "seconds are not 1 to 3600"
#define NO_PORTS     "client_port and server_port are not two ports"
#define NO_ADDRESSES "client_ip and server_ip are not two addresses of one kind"
#define ENDS(client, client_port, server, server_port)                                             \
    "{\"client_ip\":" client ",\"client_port\":" client_port ",\"server_ip\":" server              \
    ",\"server_port\":" server_port ",\"seconds\":1" REST

static const struct row rows[] = {
    {"", CKP_DUMP_BAD_COMMAND, UNEXPECTED},
    {"[]", CKP_DUMP_BAD_COMMAND, UNEXPECTED},
    {"{}", CKP_DUMP_BAD_COMMAND, UNEXPECTED},
    {"{" FLOW REST, CKP_DUMP_BAD_COMMAND, UNEXPECTED},
    {"{" FLOW ",\"seconds\":\"30\"" REST, CKP_DUMP_BAD_COMMAND, UNEXPECTED},
    {"{" FLOW ",\"seconds\":1,\"seconds\":2" REST, CKP_DUMP_BAD_COMMAND, UNEXPECTED},
    {"{" FLOW ",\"seconds\":1" REST "x", CKP_DUMP_BAD_COMMAND, UNEXPECTED},
    {"{" FLOW ",\"seconds\":0" REST, CKP_DUMP_BAD_COMMAND, NO_SECONDS},
    {"{" FLOW ",\"seconds\":3601" REST, CKP_DUMP_BAD_COMMAND, NO_SECONDS},
    {"{" FLOW ",\"seconds\":-1" REST, CKP_DUMP_BAD_COMMAND, NO_SECONDS},
    {"{" FLOW ",\"seconds\":3600" REST, CKP_DUMP_OK, NULL},
    {"{" FLOW ",\"seconds\":1,\"issued_at_seconds\":1767225600,\"nonce\":\"0123456789abcde\"}",
     CKP_DUMP_BAD_COMMAND, "the nonce has less than 16 characters"},
    {"{" FLOW ",\"seconds\":1,\"tap\":\"core-1\"" REST, CKP_DUMP_OK, NULL},
    {"{" FLOW ",\"seconds\":1,\"tap\":\"core-2\"" REST, CKP_DUMP_REFUSED,
     "the probe watches another tap"},
    {"{" FLOW ",\"seconds\":1,\"issued_at_seconds\":9223372036854775807,"
     "\"nonce\":\"0123456789abcdef\"}",
     CKP_DUMP_REFUSED, "the command is of the future by the clock of the probe"},
    {ENDS("\"2001:db8::1\"", "1", "\"2001:0db8::2\"", "65535"), CKP_DUMP_OK, NULL},
    {ENDS("\"2001:db8::1\"", "1", "\"10.0.0.1\"", "2"), CKP_DUMP_BAD_COMMAND, NO_ADDRESSES},
    {ENDS("\"10.0.0.256\"", "1", "\"10.0.0.1\"", "2"), CKP_DUMP_BAD_COMMAND, NO_ADDRESSES},
    {ENDS("\"host\"", "1", "\"10.0.0.1\"", "2"), CKP_DUMP_BAD_COMMAND, NO_ADDRESSES},
    {ENDS("\"10.0.0.2\"", "65536", "\"10.0.0.1\"", "2"), CKP_DUMP_BAD_COMMAND, NO_PORTS},
    {ENDS("\"10.0.0.2\"", "1", "\"10.0.0.1\"", "-1"), CKP_DUMP_BAD_COMMAND, NO_PORTS},
};

static void test_each_command_has_its_answer(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ckp_dump_gate *gate = gate_at(0);
        assert_int_equal(check(gate, rows[i].text, at_second(0)), rows[i].status);
        if (rows[i].why)
            assert_string_equal(why, rows[i].why);
        ckp_dump_gate_free(gate);
    }
}

static void write_key(const char *path, const char *content, mode_t mode)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fputs(content, file);
    fclose(file);
    assert_int_equal(chmod(path, mode), 0);
}

static void test_the_key_is_the_file_without_its_end_of_line(void **state)
{
    char folder[] = "/tmp/chokepoint-key-XXXXXX", path[64], sentence[256], expected[256];
    struct ckp_dump_gate *gate, *same = gate_at(0);

    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/key", folder);
    write_key(path, KEY "\r\n", 0600);
    gate = ckp_dump_gate_open(path, "core-1", at_second(0), sentence, sizeof sentence);
    assert_non_null(gate);
    assert_string_equal(ckp_dump_gate_key_id(gate), ckp_dump_gate_key_id(same));
    assert_int_equal(strlen(ckp_dump_gate_key_id(gate)), CKP_DUMP_KEY_ID_DIGITS);
    assert_int_equal(check_issued(gate, 0, 1, at_second(0)), CKP_DUMP_OK);
    ckp_dump_gate_free(gate);
    ckp_dump_gate_free(same);

    write_key(path, "0123456789abcdef0123456789abcde\n", 0600);
    assert_null(ckp_dump_gate_open(path, "core-1", 0, sentence, sizeof sentence));
    snprintf(expected, sizeof expected,
             "option --ring-key: %s is no key, expected 32 to 1024 bytes", path);
    assert_string_equal(sentence, expected);
    write_key(path, KEY, 0640);
    assert_null(ckp_dump_gate_open(path, "core-1", 0, sentence, sizeof sentence));
    snprintf(expected, sizeof expected,
             "option --ring-key: %s has mode 0640, expected a key that nobody but its owner may "
             "open, as by chmod 600",
             path);
    assert_string_equal(sentence, expected);
    unlink(path);
    assert_null(ckp_dump_gate_open(path, "core-1", 0, sentence, sizeof sentence));
    snprintf(expected, sizeof expected,
             "option --ring-key: %s cannot be read: No such file or directory", path);
    assert_string_equal(sentence, expected);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_signed_command_is_followed_once),
        cmocka_unit_test(test_a_command_is_good_for_a_minute),
        cmocka_unit_test(test_a_command_of_the_run_before_is_refused),
        cmocka_unit_test(test_ten_commands_at_once_and_one_a_second),
        cmocka_unit_test(test_a_clock_that_is_set_back_shuts_nobody_out),
        cmocka_unit_test(test_a_wrong_signature_is_refused),
        cmocka_unit_test(test_each_command_has_its_answer),
        cmocka_unit_test(test_the_key_is_the_file_without_its_end_of_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
