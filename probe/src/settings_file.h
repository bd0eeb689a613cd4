/* SPDX-License-Identifier: Apache-2.0 */
/* Settings in a file, one NAME=VALUE a line, for what should not stand on a command line. */
#ifndef CKP_SETTINGS_FILE_H
#define CKP_SETTINGS_FILE_H

#include <stdbool.h>
#include <stddef.h>

struct ckp_setting_taker {
    void *self;
    /** Takes a setting. @return false with a clause in `why` that does not tell the value */
    bool (*take)(void *self, const char *name, const char *value, char *why, size_t why_size);
};

/**
 * Hands on all settings in their order. White space around name and value does not count, nor do
 * empty lines and those that start with # or !; a value is taken as it stands, without escapes.
 *
 * @return false with a clause in `why` that names file and line; it never quotes the file, which
 * may hold a secret
 */
bool ckp_settings_file_read(const char *path, const struct ckp_setting_taker *taker, char *why,
                            size_t why_size);

#endif
