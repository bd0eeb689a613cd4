/* SPDX-License-Identifier: Apache-2.0 */
/* What the fuzz targets share. */
#ifndef CKP_TESTS_FUZZ_TARGET_H
#define CKP_TESTS_FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s, line %d: not so: %s\n", __FILE__, __LINE__, #condition);          \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/** Memory exactly as large, so that a read beyond is seen; to be freed. */
static inline uint8_t *copy_exactly(const void *bytes, size_t count)
{
    uint8_t *copy = malloc(count);

    REQUIRE(copy != NULL);
    if (count)
        memcpy(copy, bytes, count);
    return copy;
}

/** Bytes that are used up one by one; behind their end there are zeros. */
struct input {
    const uint8_t *at;
    const uint8_t *end;
};

static inline uint8_t take_byte(struct input *input)
{
    return input->at < input->end ? *input->at++ : 0;
}

/** Big-endian, of up to 8 bytes. */
static inline uint64_t take_number(struct input *input, int bytes)
{
    uint64_t number = 0;

    while (bytes-- > 0)
        number = number << 8 | take_byte(input);
    return number;
}

#endif
