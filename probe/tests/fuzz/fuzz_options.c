/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any arguments, and any file of options, are options and files that keep the table's limits, or
 * one sentence.
 *
 * Input: arguments, each ended by a zero; behind an empty one, a file for --config.
 */
#include "options.h"
#include "target.h"

#include <sys/mman.h>
#include <unistd.h>

#define ARGUMENTS_MAX 64

enum kind { TEXT, COUNT, SIZE, DURATION, BITS, CHOICE, FLAG, LIST, NAME };

static const struct {
    enum kind kind;
    uint64_t min, max;
} table[CKP_OPTIONS] = {
#define CKP_OPTION(symbol, name, kind, placeholder, default_value, min, max, help)                 \
    [CKP_OPTION_##symbol] = {kind, min, max},
#include "options.def"
#undef CKP_OPTION
};

static void check_value(const struct ckp_option_value *value, int option)
{
    uint64_t number = value->number, bytes = value->text ? strlen(value->text) : 0;

    REQUIRE(!value->is_given || value->text || table[option].kind == FLAG);
    REQUIRE(value->list_count <= CKP_OPTION_LIST_MAX);
    REQUIRE(value->list_count == 0 || table[option].kind == LIST);
    for (size_t i = 0; i < value->list_count; i++)
        REQUIRE(strlen(value->list[i]) >= table[option].min &&
                strlen(value->list[i]) <= table[option].max);
    if (!value->text)
        return;
    switch (table[option].kind) {
    case TEXT:
    case LIST:
    case NAME:
        REQUIRE(bytes >= table[option].min && bytes <= table[option].max);
        break;
    case COUNT:
    case SIZE:
    case DURATION:
        REQUIRE(number >= table[option].min && number <= table[option].max);
        break;
    case BITS:
    case CHOICE:
    case FLAG:
        break;
    }
}

static void check(const struct ckp_options *options, char *const *given, int count)
{
    int at = 1;

    for (int option = 0; option < CKP_OPTIONS; option++)
        check_value(&options->value[option], option);
    REQUIRE(options->file_count < (size_t)count);
    for (size_t i = 0; i < options->file_count; i++, at++) { /* in their order */
        while (at < count && given[at] != options->files[i])
            at++;
        REQUIRE(at < count);
    }
}

/* @return a file of these bytes, to be closed, and the option that names it */
static int make_config(const uint8_t *data, size_t size, char *option, size_t option_size)
{
    int file = memfd_create("config", MFD_CLOEXEC);

    REQUIRE(file >= 0 && write(file, data, size) == (ssize_t)size);
    snprintf(option, option_size, "--config=/proc/self/fd/%d", file);
    return file;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char name[] = "chokepoint-probe", config[64] = "", *argv[ARGUMENTS_MAX + 3] = {name};
    char *given[ARGUMENTS_MAX + 3];
    struct ckp_options options;
    const uint8_t *at = data, *end = data + size;
    int argc = 1, file = -1;

    if (memmem(data, size, "-config", strlen("-config"))) /* bytes should open no other file */
        return 0;
    while (at < end && *at != '\0' && argc <= ARGUMENTS_MAX) {
        size_t bytes = strnlen((const char *)at, (size_t)(end - at));
        argv[argc] = (char *)copy_exactly(at, bytes + 1 <= (size_t)(end - at) ? bytes + 1 : bytes);
        if (at + bytes == end) { /* the last one has no zero yet */
            argv[argc] = realloc(argv[argc], bytes + 1);
            REQUIRE(argv[argc] != NULL);
            argv[argc][bytes] = '\0';
        }
        argc++;
        at += at + bytes == end ? bytes : bytes + 1;
    }
    int arguments = argc;
    if (at < end && *at == '\0') {
        file = make_config(at + 1, (size_t)(end - at - 1), config, sizeof config);
        argv[argc++] = config;
    }
    memcpy(given, argv, sizeof given);
    memset(options.error, 'x', sizeof options.error);
    if (ckp_options_parse(&options, argc, argv))
        check(&options, given, argc);
    else
        REQUIRE(strnlen(options.error, sizeof options.error) < sizeof options.error &&
                strncmp(options.error, "option ", strlen("option ")) == 0);
    ckp_options_free(&options);
    for (int i = 1; i < arguments; i++)
        free(given[i]);
    if (file >= 0)
        close(file);
    return 0;
}
