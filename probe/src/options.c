/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum kind { TEXT, COUNT, SIZE, DURATION, BITS, CHOICE, FLAG, LIST };

struct option_info {
    const char *name;
    enum kind kind;
    const char *placeholder;
    const char *default_value;
    uint64_t min;
    uint64_t max;
    const char *help;
};

static const struct option_info option_info[CKP_OPTIONS] = {
#define CKP_OPTION(symbol, name, kind, placeholder, default_value, min, max, help)                 \
    [CKP_OPTION_##symbol] = {name, kind, placeholder, default_value, min, max, help},
#include "options.def"
#undef CKP_OPTION
};

struct unit {
    const char *name;
    uint64_t factor;
};

static const struct unit size_units[] = {
    {"B", 1}, {"KiB", 1024}, {"MiB", 1024 * 1024}, {"GiB", 1024 * 1024 * 1024}, {NULL, 0}};
static const struct unit duration_units[] = {
    {"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}, {"min", 60000000000}, {NULL, 0}};
static const struct unit no_units[] = {{"", 1}, {NULL, 0}};

/* Reads digits and then, spaces allowed, one of the units. */
static bool parse_number(const char *text, int base, const struct unit *units, uint64_t *number)
{
    char *end;

    if (!isdigit((unsigned char)text[0]))
        return false;
    errno = 0;
    unsigned long long value = strtoull(text, &end, base);
    if (errno)
        return false;
    while (*end == ' ')
        end++;
    for (const struct unit *unit = units; unit->name; unit++)
        if (strcmp(unit->name, end) == 0)
            return !__builtin_mul_overflow(value, unit->factor, number);
    return false;
}

static bool is_in_range(const struct option_info *info, uint64_t number)
{
    return number >= info->min && number <= info->max;
}

/* The number of `text` among names with | between them. */
static bool parse_choice(const char *names, const char *text, uint64_t *number)
{
    size_t bytes = strlen(text);

    for (uint64_t i = 0; names; i++) {
        const char *bar = strchr(names, '|');
        size_t name_bytes = bar ? (size_t)(bar - names) : strlen(names);
        if (name_bytes == bytes && memcmp(names, text, bytes) == 0) {
            *number = i;
            return true;
        }
        names = bar ? bar + 1 : NULL;
    }
    return false;
}

static bool parse_value(const struct option_info *info, const char *text, uint64_t *number)
{
    switch (info->kind) {
    case TEXT:
    case LIST:
        return is_in_range(info, strlen(text));
    case COUNT:
        return parse_number(text, 10, no_units, number) && is_in_range(info, *number);
    case SIZE:
        return parse_number(text, 10, size_units, number) && is_in_range(info, *number);
    case DURATION:
        return parse_number(text, 10, duration_units, number) && is_in_range(info, *number);
    case BITS:
        return parse_number(text, strncmp(text, "0x", 2) == 0 ? 16 : 10, no_units, number);
    case CHOICE:
        return parse_choice(info->placeholder, text, number);
    case FLAG:
        break;
    }
    return true;
}

/* Writes a number with the largest unit that divides it. */
static void format_number(char *out, size_t size, uint64_t number, const struct unit *units)
{
    const struct unit *best = units;

    for (const struct unit *unit = units; unit->name; unit++)
        if (number % unit->factor == 0 && number >= unit->factor)
            best = unit;
    snprintf(out, size, "%llu%s", (unsigned long long)(number / best->factor), best->name);
}

/* What a value of this option looks like, as the end of a sentence. */
static void describe(char *out, size_t size, const struct option_info *info)
{
    const struct unit *units = info->kind == SIZE       ? size_units
                               : info->kind == DURATION ? duration_units
                                                        : no_units;
    char min[32], max[32];

    format_number(min, sizeof min, info->min, units);
    format_number(max, sizeof max, info->max, units);
    if (info->kind == TEXT || info->kind == LIST)
        snprintf(out, size, "text of %s to %s bytes", min, max);
    else if (info->kind == CHOICE)
        snprintf(out, size, "one of %s", info->placeholder);
    else if (info->kind == BITS)
        snprintf(out, size, "a 64-bit number such as 42 or 0x2a");
    else
        snprintf(out, size, "%s from %s to %s",
                 info->kind == SIZE       ? "a size such as 64MiB"
                 : info->kind == DURATION ? "a time such as 250ms"
                                          : "a whole number",
                 min, max);
}

static bool refuse_value(struct ckp_options *options, const struct option_info *info,
                         const char *text)
{
    char expected[128];

    describe(expected, sizeof expected, info);
    snprintf(options->error, sizeof options->error, "option --%s: '%.200s' is not %s", info->name,
             text, expected);
    return false;
}

static bool set(struct ckp_options *options, enum ckp_option option, const char *text)
{
    struct ckp_option_value *value = &options->value[option];

    if (!parse_value(&option_info[option], text, &value->number))
        return refuse_value(options, &option_info[option], text);
    value->text = text;
    value->is_given = true;
    if (option_info[option].kind != LIST)
        return true;
    if (value->list_count == CKP_OPTION_LIST_MAX) {
        snprintf(options->error, sizeof options->error,
                 "option --%s: '%.200s' is one too many, expected at most %d",
                 option_info[option].name, text, CKP_OPTION_LIST_MAX);
        return false;
    }
    value->list[value->list_count++] = text;
    return true;
}

static int find_option(const char *name, size_t name_bytes)
{
    for (int i = 0; i < CKP_OPTIONS; i++)
        if (strlen(option_info[i].name) == name_bytes &&
            memcmp(option_info[i].name, name, name_bytes) == 0)
            return i;
    return -1;
}

/* Parses the option at argv[*at], and its value; *at ends on the last argument used. */
static bool parse_option(struct ckp_options *options, int argc, char **argv, int *at)
{
    const char *argument = argv[*at];
    const char *equals = strchr(argument, '=');
    size_t bytes = equals ? (size_t)(equals - argument) : strlen(argument);
    int option = bytes > 2 && argument[1] == '-' ? find_option(argument + 2, bytes - 2) : -1;

    if (option < 0) {
        snprintf(options->error, sizeof options->error,
                 "option %.*s is unknown: expected one of those that --help lists",
                 bytes > 200 ? 200 : (int)bytes, argument);
        return false;
    }
    if (option_info[option].kind == FLAG && !equals)
        return set(options, (enum ckp_option)option, "yes");
    if (option_info[option].kind == FLAG) {
        snprintf(options->error, sizeof options->error,
                 "option --%s: '%.200s' is too much, expected no value", option_info[option].name,
                 equals + 1);
        return false;
    }
    if (equals)
        return set(options, (enum ckp_option)option, equals + 1);
    if (*at + 1 == argc) {
        char expected[128];
        describe(expected, sizeof expected, &option_info[option]);
        snprintf(options->error, sizeof options->error, "option --%s: no value, expected %s",
                 option_info[option].name, expected);
        return false;
    }
    ++*at;
    return set(options, (enum ckp_option)option, argv[*at]);
}

static void set_defaults(struct ckp_options *options)
{
    for (int i = 0; i < CKP_OPTIONS; i++) {
        struct ckp_option_value *value = &options->value[i];
        *value = (struct ckp_option_value){0};
        if (option_info[i].default_value[0] == '\0')
            continue;
        value->text = option_info[i].default_value;
        parse_value(&option_info[i], value->text, &value->number);
    }
}

bool ckp_options_parse(struct ckp_options *options, int argc, char **argv)
{
    bool only_files = false;
    int files = 1; /* argv[1] to argv[files - 1] are files already seen */

    set_defaults(options);
    options->argv = argv;
    for (int at = 1; at < argc; at++) {
        if (only_files || argv[at][0] != '-' || argv[at][1] == '\0')
            argv[files++] = argv[at];
        else if (strcmp(argv[at], "--") == 0)
            only_files = true;
        else if (!parse_option(options, argc, argv, &at))
            return false;
    }
    options->files = (const char *const *)argv + 1;
    options->file_count = (size_t)(files - 1);
    return true;
}

void ckp_options_print_help(FILE *out)
{
    fputs("usage: chokepoint-probe [OPTION]... FILE...\n"
          "       chokepoint-probe [OPTION]... --port DEVICE...\n"
          "\n"
          "Reads captures (pcap or pcapng; - is standard input) of one tap, in the order of their\n"
          "first packets, or watches ports, and hands on the features of all TCP packets in\n"
          "batches: as a stream, or to Kafka.\n"
          "\n",
          out);
    for (int i = 0; i < CKP_OPTIONS; i++) {
        const struct option_info *info = &option_info[i];
        char name[64];
        snprintf(name, sizeof name, "--%s %s", info->name, info->placeholder);
        fprintf(out, "  %-22s %s%s%s%s\n", name, info->help, *info->default_value ? " [" : "",
                info->default_value, *info->default_value ? "]" : "");
    }
    fputs(
        "\n"
        "Exit codes: 0 all read, also a capture that is cut off at its end; 1 an input could not\n"
        "be read, the output failed, or the ledger does not balance; 2 wrong options.\n",
        out);
}

/* In a table a bar would start the next cell. */
static void print_cell(FILE *out, const char *text)
{
    for (; *text; text++)
        fprintf(out, "%s%c", *text == '|' ? "\\" : "", *text);
}

void ckp_options_print_table(FILE *out)
{
    fputs("| option | default | meaning |\n|---|---|---|\n", out);
    for (int i = 0; i < CKP_OPTIONS; i++) {
        const struct option_info *info = &option_info[i];
        fprintf(out, "| `--%s%s", info->name, *info->placeholder ? " " : "");
        print_cell(out, info->placeholder);
        fprintf(out, "` | %s%s%s | %s |\n", *info->default_value ? "`" : "", info->default_value,
                *info->default_value ? "`" : "", info->help);
    }
}
