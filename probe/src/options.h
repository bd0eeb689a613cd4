/* SPDX-License-Identifier: Apache-2.0 */
/* The command line and the file of --config, checked against one table. */
#ifndef CKP_OPTIONS_H
#define CKP_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum ckp_option {
#define CKP_OPTION(symbol, name, kind, placeholder, default_value, min, max, help)                 \
    CKP_OPTION_##symbol,
#include "options.def"
#undef CKP_OPTION
    CKP_OPTIONS
};

#define CKP_OPTION_LIST_MAX 32

struct ckp_option_text; /* from the file of --config */

struct ckp_option_value {
    const char *text; /* as given or by default; NULL if not set */
    uint64_t number;  /* of COUNT, SIZE in bytes, DURATION in ns, BITS, CHOICE */
    bool is_given;
    const char *list[CKP_OPTION_LIST_MAX]; /* of LIST, in the order given */
    size_t list_count;
};

struct ckp_options {
    struct ckp_option_value value[CKP_OPTIONS];
    const char *const *files; /* the arguments that are no options; point into argv */
    size_t file_count;
    char *const *argv; /* as given, as long as there are no files */
    struct ckp_option_text *texts;
    char error[768];
};

/**
 * Parses and checks all arguments, and the file that --config names, unless --help or --version
 * is among them. Files move to the end of argv, in their order.
 *
 * @return false with one sentence in options->error that names option, value and what was expected,
 * of a mistake in a file also file and line. To be freed in either case.
 */
bool ckp_options_parse(struct ckp_options *options, int argc, char **argv);
void ckp_options_free(struct ckp_options *options);

/** Whether it is UTF-8 without control characters, as names must be that others read. */
bool ckp_is_name(const char *text);

void ckp_options_print_help(FILE *out);

/** The markdown table of README.md. */
void ckp_options_print_table(FILE *out);

static inline const char *ckp_option_text(const struct ckp_options *options, enum ckp_option option)
{
    return options->value[option].text;
}

static inline const char *const *ckp_option_list(const struct ckp_options *options,
                                                 enum ckp_option option, size_t *count)
{
    *count = options->value[option].list_count;
    return options->value[option].list;
}

static inline uint64_t ckp_option_number(const struct ckp_options *options, enum ckp_option option)
{
    return options->value[option].number;
}

#endif
