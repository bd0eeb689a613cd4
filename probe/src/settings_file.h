/* SPDX-License-Identifier: Apache-2.0 */
/* Settings in a file, one NAME=VALUE a line, for what should not stand on a command line. */
#ifndef CKP_SETTINGS_FILE_H
#define CKP_SETTINGS_FILE_H

#include <stdbool.h>
#include <stddef.h>

enum ckp_setting_fate {
    CKP_SETTING_TAKEN,
    CKP_SETTING_NAME_UNKNOWN,
    CKP_SETTING_VALUE_REFUSED,
};

struct ckp_setting_taker {
    void *self;
    enum ckp_setting_fate (*take)(void *self, const char *name, const char *value);
    /** Where take() leaves a sentence on what it has not taken; NULL if the file may hold a secret:
     * then there is a fate and no words, for words may quote the setting. */
    const char *words;
};

/**
 * Hands on all settings in their order. White space around name and value does not count, nor do
 * empty lines and those that start with # or !; a value is taken as it stands, without escapes.
 * Names are of a-z, 0-9, dot, dash and underscore: others are unknown, and the taker never sees
 * them.
 *
 * @return false with a clause in `why` that names file, line and kind of mistake; but for the
 * taker's words it never quotes the file, which may hold a secret
 */
bool ckp_settings_file_read(const char *path, const struct ckp_setting_taker *taker, char *why,
                            size_t why_size);

#endif
