/* SPDX-License-Identifier: Apache-2.0 */
#include "settings_file.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyz0123456789._-"

/* Cuts white space off both ends of `bytes` of text. */
static char *trim(char *text, size_t bytes)
{
    while (bytes > 0 && isspace((unsigned char)text[bytes - 1]))
        bytes--;
    text[bytes] = '\0';
    while (isspace((unsigned char)*text))
        text++;
    return text;
}

static const char *complaint_of(enum ckp_setting_fate fate, const struct ckp_setting_taker *taker)
{
    if (fate != CKP_SETTING_TAKEN && taker->words)
        return taker->words;
    switch (fate) {
    case CKP_SETTING_TAKEN:
        return NULL;
    case CKP_SETTING_NAME_UNKNOWN:
        return "has an unknown name";
    case CKP_SETTING_VALUE_REFUSED:
        break;
    }
    return "has a value that is refused";
}

/* @return NULL, the taker's words, or a clause that is true of the line without its text */
static const char *take_line(char *line, size_t bytes, const struct ckp_setting_taker *taker)
{
    bool is_text = strlen(line) == bytes;
    char *name = trim(line, bytes);
    char *equals = strchr(name, '=');

    if (*name == '#' || *name == '!' || (*name == '\0' && is_text))
        return NULL;
    if (!is_text || !equals || equals == name)
        return "is not NAME=VALUE";
    char *value = trim(equals + 1, strlen(equals + 1));
    trim(name, (size_t)(equals - name));
    if (name[strspn(name, NAME_CHARACTERS)] != '\0')
        return "has an unknown name";
    return complaint_of(taker->take(taker->self, name, value), taker);
}

static bool take_lines(FILE *file, const char *path, const struct ckp_setting_taker *taker,
                       char *why, size_t why_size)
{
    const char *complaint = NULL;
    char *line = NULL;
    size_t room = 0;
    ssize_t bytes;

    for (int number = 1; !complaint && (bytes = getline(&line, &room, file)) >= 0; number++) {
        complaint = take_line(line, (size_t)bytes, taker);
        if (complaint)
            snprintf(why, why_size, "line %d of %s%s %s", number, path,
                     complaint == taker->words ? ":" : "", complaint);
    }
    bool is_taken = !complaint;
    if (is_taken && ferror(file)) {
        snprintf(why, why_size, "%s cannot be read: %s", path, strerror(errno));
        is_taken = false;
    }
    free(line);
    return is_taken;
}

bool ckp_settings_file_read(const char *path, const struct ckp_setting_taker *taker, char *why,
                            size_t why_size)
{
    FILE *file = fopen(path, "re");

    if (!file) {
        snprintf(why, why_size, "%s cannot be read: %s", path, strerror(errno));
        return false;
    }
    bool is_taken = take_lines(file, path, taker, why, why_size);
    fclose(file);
    return is_taken;
}
