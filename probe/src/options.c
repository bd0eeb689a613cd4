/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include "settings_file.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum kind { TEXT, COUNT, SIZE, DURATION, BITS, CHOICE, FLAG, LIST, NAME };

struct option_info {
    const char *name;
    enum kind kind;
    const char *placeholder;
    const char *default_value;
    uint64_t min;
    uint64_t max;
    const char *help;
};

struct ckp_option_text {
    struct ckp_option_text *next;
    char text[];
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

/* Bytes of the character at `text`; 0 if it is none of UTF-8 (RFC 3629 §4) or a control. */
static size_t character_bytes(const unsigned char *text)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t bytes = text[0] < 0x80   ? 1
                   : text[0] < 0xc0 ? 0
                   : text[0] < 0xe0 ? 2
                   : text[0] < 0xf0 ? 3
                   : text[0] < 0xf8 ? 4
                                    : 0;
    uint32_t point = bytes > 1 ? text[0] & (0x7fu >> bytes) : text[0];

    for (size_t i = 1; i < bytes; i++) {
        if ((text[i] & 0xc0) != 0x80) /* also at the end of the text */
            return 0;
        point = point << 6 | (text[i] & 0x3f);
    }
    if (bytes == 0 || point < least[bytes] || point > 0x10ffff ||
        (point >= 0xd800 && point < 0xe000) || point < 0x20 || (point >= 0x7f && point < 0xa0))
        return 0;
    return bytes;
}

bool ckp_is_name(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    size_t bytes = 1;

    for (; *at && bytes > 0; at += bytes)
        bytes = character_bytes(at);
    return bytes > 0;
}

static bool parse_value(const struct option_info *info, const char *text, uint64_t *number)
{
    switch (info->kind) {
    case TEXT:
    case LIST:
        return is_in_range(info, strlen(text));
    case NAME:
        return is_in_range(info, strlen(text)) && ckp_is_name(text);
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
    else if (info->kind == NAME)
        snprintf(out, size, "text in UTF-8 of %s to %s bytes without control characters", min, max);
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

/* For everyone on the machine can read a command line. */
static bool is_secret(const char *setting)
{
    static const char *const others[] = {"ssl.key.pem", "sasl.oauthbearer.config"};
    char name[64];

    snprintf(name, sizeof name, "%.*s", (int)strcspn(setting, "= "), setting);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strcmp(name, others[i]) == 0)
            return true;
    return strstr(name, "password") || strstr(name, "secret");
}

static bool refuse_secret(struct ckp_options *options, const char *setting)
{
    snprintf(options->error, sizeof options->error,
             "option --kafka-option: %.*s is a secret, expected in the file of --kafka-options",
             (int)strcspn(setting, "= "), setting);
    return false;
}

static bool add_to_list(struct ckp_options *options, const struct option_info *info,
                        struct ckp_option_value *value, const char *text)
{
    if (value->list_count == CKP_OPTION_LIST_MAX) {
        snprintf(options->error, sizeof options->error,
                 "option --%s: '%.200s' is one too many, expected at most %d", info->name, text,
                 CKP_OPTION_LIST_MAX);
        return false;
    }
    value->list[value->list_count++] = text;
    return true;
}

static bool set(struct ckp_options *options, struct ckp_option_value *values,
                enum ckp_option option, const char *text)
{
    const struct option_info *info = &option_info[option];
    struct ckp_option_value *value = &values[option];

    if (option == CKP_OPTION_KAFKA_OPTION && is_secret(text))
        return refuse_secret(options, text);
    if (!parse_value(info, text, &value->number))
        return refuse_value(options, info, text);
    value->text = text;
    value->is_given = true;
    return info->kind != LIST || add_to_list(options, info, value, text);
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
        return set(options, options->value, (enum ckp_option)option, "yes");
    if (option_info[option].kind == FLAG) {
        snprintf(options->error, sizeof options->error,
                 "option --%s: '%.200s' is too much, expected no value", option_info[option].name,
                 equals + 1);
        return false;
    }
    if (equals)
        return set(options, options->value, (enum ckp_option)option, equals + 1);
    if (*at + 1 == argc) {
        char expected[128];
        describe(expected, sizeof expected, &option_info[option]);
        snprintf(options->error, sizeof options->error, "option --%s: no value, expected %s",
                 option_info[option].name, expected);
        return false;
    }
    ++*at;
    return set(options, options->value, (enum ckp_option)option, argv[*at]);
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

/* What a file says, until all of it is known to be right. */
struct reading {
    struct ckp_options *options;
    struct ckp_option_value value[CKP_OPTIONS];
};

static const char *keep(struct ckp_options *options, const char *text)
{
    struct ckp_option_text *kept = malloc(sizeof *kept + strlen(text) + 1);

    if (!kept)
        return NULL;
    strcpy(kept->text, text);
    kept->next = options->texts;
    options->texts = kept;
    return kept->text;
}

static bool is_for_files(int option)
{
    return option >= 0 && option != CKP_OPTION_CONFIG && option != CKP_OPTION_CHECK &&
           option != CKP_OPTION_HELP && option != CKP_OPTION_VERSION;
}

static bool take_flag(struct reading *reading, enum ckp_option option, const char *text)
{
    struct ckp_options *options = reading->options;

    if (strcmp(text, "yes") == 0)
        return set(options, reading->value, option, "yes");
    reading->value[option].is_given = true;
    if (strcmp(text, "no") == 0)
        return true;
    snprintf(options->error, sizeof options->error, "option --%s: '%.200s' is not one of yes|no",
             option_info[option].name, text);
    return false;
}

static bool take_option(struct reading *reading, const char *name, const char *text)
{
    struct ckp_options *options = reading->options;
    int option = find_option(name, strlen(name));

    if (!is_for_files(option)) {
        snprintf(options->error, sizeof options->error,
                 option < 0 ? "'%.64s' is no option, expected one of those that --help lists"
                            : "option --%.64s is for the command line, not for a file",
                 name);
        return false;
    }
    if (reading->value[option].is_given && option_info[option].kind != LIST) {
        snprintf(options->error, sizeof options->error,
                 "option --%s is there twice, expected one line of it", name);
        return false;
    }
    if (option_info[option].kind == FLAG)
        return take_flag(reading, (enum ckp_option)option, text);
    const char *kept = keep(options, text);
    if (!kept)
        snprintf(options->error, sizeof options->error, "there is no memory for it");
    return kept && set(options, reading->value, (enum ckp_option)option, kept);
}

static enum ckp_setting_fate take_setting(void *self, const char *name, const char *value)
{
    return take_option(self, name, value) ? CKP_SETTING_TAKEN : CKP_SETTING_VALUE_REFUSED;
}

/* What the command line gives, a list as a whole, goes over the file. A flag that is not wanted has
 * no text, and is as one that is not there. */
static bool read_config(struct ckp_options *options, const char *path)
{
    struct reading reading = {.options = options};
    const struct ckp_setting_taker taker = {&reading, take_setting, options->error};
    char why[sizeof options->error - sizeof "option --config: "];
    struct stat status;

    /* The program for ports reads it once more: of a pipe there would be nothing left. */
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
        snprintf(options->error, sizeof options->error,
                 "option --config: %.200s is no regular file, and is read more than once", path);
        return false;
    }
    if (!ckp_settings_file_read(path, &taker, why, sizeof why)) {
        snprintf(options->error, sizeof options->error, "option --config: %s", why);
        return false;
    }
    for (int i = 0; i < CKP_OPTIONS; i++)
        if (reading.value[i].text && !options->value[i].is_given)
            options->value[i] = reading.value[i];
    return true;
}

void ckp_options_free(struct ckp_options *options)
{
    while (options->texts) {
        struct ckp_option_text *next = options->texts->next;
        free(options->texts);
        options->texts = next;
    }
}

bool ckp_options_parse(struct ckp_options *options, int argc, char **argv)
{
    bool only_files = false;
    int files = 1; /* argv[1] to argv[files - 1] are files already seen */

    set_defaults(options);
    options->texts = NULL;
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
    const char *config = ckp_option_text(options, CKP_OPTION_CONFIG);
    return !config || ckp_option_text(options, CKP_OPTION_HELP) ||
           ckp_option_text(options, CKP_OPTION_VERSION) || read_config(options, config);
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
