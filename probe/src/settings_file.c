/* SPDX-License-Identifier: Apache-2.0 */
#include "settings_file.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REFUSAL_BYTES_MAX 512

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

static bool take_line(char *line, size_t bytes, const struct ckp_setting_taker *taker, char *why,
                      size_t why_size)
{
    bool is_text = strlen(line) == bytes;
    char *name = trim(line, bytes);
    char *equals = strchr(name, '=');

    if (*name == '#' || *name == '!' || (*name == '\0' && is_text))
        return true;
    if (!is_text || !equals || equals == name) {
        snprintf(why, why_size, "is not NAME=VALUE");
        return false;
    }
    char *value = trim(equals + 1, strlen(equals + 1));
    return taker->take(taker->self, trim(name, (size_t)(equals - name)), value, why, why_size);
}

static bool take_lines(FILE *file, const char *path, const struct ckp_setting_taker *taker,
                       char *why, size_t why_size)
{
    char refusal[REFUSAL_BYTES_MAX];
    char *line = NULL;
    size_t room = 0;
    ssize_t bytes;
    bool is_taken = true;

    for (int number = 1; is_taken && (bytes = getline(&line, &room, file)) >= 0; number++) {
        is_taken = take_line(line, (size_t)bytes, taker, refusal, sizeof refusal);
        if (!is_taken)
            snprintf(why, why_size, "line %d of %s %s", number, path, refusal);
    }
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
