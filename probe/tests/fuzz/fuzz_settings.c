/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a file of settings, against a second reader of them: what is handed on is clean, and
 * a complaint names the line and quotes nothing.
 *
 * Input: the file. Names that begin with u are unknown, values that begin with r are refused.
 */
#include "settings_file.h"
#include "target.h"

#include <ctype.h>
#include <sys/mman.h>
#include <unistd.h>

static unsigned taken;

static enum ckp_setting_fate take(void *self, const char *name, const char *value)
{
    size_t bytes = strlen(value);

    REQUIRE(self == &taken);
    REQUIRE(*name && name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789._-")] == '\0');
    REQUIRE(!memchr(value, '\n', bytes));
    REQUIRE(bytes == 0 ||
            (!isspace((unsigned char)value[0]) && !isspace((unsigned char)value[bytes - 1])));
    taken++;
    return *name == 'u'    ? CKP_SETTING_NAME_UNKNOWN
           : *value == 'r' ? CKP_SETTING_VALUE_REFUSED
                           : CKP_SETTING_TAKEN;
}

/* --- a second reader --- */

struct text {
    const uint8_t *at;
    const uint8_t *end;
};

static struct text stripped(struct text text)
{
    while (text.at < text.end && isspace(*text.at))
        text.at++;
    while (text.at < text.end && isspace(text.end[-1]))
        text.end--;
    return text;
}

static bool is_name(struct text name)
{
    for (const uint8_t *at = name.at; at < name.end; at++)
        if (!islower(*at) && !isdigit(*at) && *at != '.' && *at != '_' && *at != '-')
            return false;
    return true;
}

/* What must be said of a line, or NULL; whether it is handed on. */
static const char *judge(struct text line, bool *is_taken)
{
    struct text whole = stripped(line);
    const uint8_t *equals = memchr(whole.at, '=', (size_t)(whole.end - whole.at));

    *is_taken = false;
    if (whole.at < whole.end && (*whole.at == '#' || *whole.at == '!'))
        return NULL;
    if (memchr(line.at, '\0', (size_t)(line.end - line.at)))
        return "is not NAME=VALUE";
    if (whole.at == whole.end)
        return NULL;
    if (!equals || equals == whole.at)
        return "is not NAME=VALUE";
    struct text name = stripped((struct text){whole.at, equals});
    struct text value = stripped((struct text){equals + 1, whole.end});
    if (!is_name(name))
        return "has an unknown name";
    *is_taken = true;
    if (*name.at == 'u')
        return "has an unknown name";
    return value.at < value.end && *value.at == 'r' ? "has a value that is refused" : NULL;
}

static void check(const uint8_t *data, size_t size, const char *path, const char *why)
{
    const uint8_t *end = data + size;
    unsigned expected = 0, number = 0;
    char complaint[256] = "";

    for (const uint8_t *at = data; at < end && !*complaint;) {
        const uint8_t *newline = memchr(at, '\n', (size_t)(end - at));
        struct text line = {at, newline ? newline : end};
        bool is_taken;
        const char *clause = judge(line, &is_taken);
        number++;
        expected += is_taken;
        if (clause)
            snprintf(complaint, sizeof complaint, "line %u of %s %s", number, path, clause);
        at = newline ? newline + 1 : end;
    }
    REQUIRE(strcmp(why, complaint) == 0);
    REQUIRE(taken == expected);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct ckp_setting_taker taker = {.self = &taken, .take = take};
    int file = memfd_create("settings", MFD_CLOEXEC);
    char path[64], why[256] = "";

    REQUIRE(file >= 0 && write(file, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    taken = 0;
    bool is_read = ckp_settings_file_read(path, &taker, why, sizeof why);
    REQUIRE(is_read == (why[0] == '\0'));
    check(data, size, path, why);
    close(file);
    return 0;
}
