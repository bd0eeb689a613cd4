/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a single-object encoding from Avro's JSON encoding with avro-c: the test's oracle, which
 * shares no code with the probe.
 *
 * usage: avro_from_json SCHEMA FINGERPRINT_HEX FILE.json > FILE.avro
 */
#include <avro.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENCODED_BYTES_MAX (1u << 20)

static void require(bool is_true, const char *what)
{
    if (is_true)
        return;
    fprintf(stderr, "avro_from_json: %s: %s\n", what, avro_strerror());
    exit(1);
}

/* Avro's JSON writes bytes as a string of the code points 0 to 255. */
static size_t bytes_of(uint8_t *out, const json_t *text)
{
    const uint8_t *utf8 = (const uint8_t *)json_string_value(text);
    const uint8_t *end = utf8 + json_string_length(text);
    size_t count = 0;

    while (utf8 < end) {
        if (*utf8 < 0x80) {
            out[count++] = *utf8++;
        } else {
            out[count++] = (uint8_t)((utf8[0] & 0x03) << 6 | (utf8[1] & 0x3f));
            utf8 += 2;
        }
    }
    return count;
}

static void fill(avro_value_t *value, const json_t *json);

static void fill_record(avro_value_t *value, const json_t *json)
{
    size_t fields;
    require(avro_value_get_size(value, &fields) == 0, "record");
    require(json_object_size(json) == fields, "the JSON has other fields than the schema");
    for (size_t i = 0; i < fields; i++) {
        const char *name;
        avro_value_t field;
        require(avro_value_get_by_index(value, i, &field, &name) == 0, "field");
        const json_t *member = json_object_get(json, name);
        require(member != NULL, name);
        fill(&field, member);
    }
}

static void fill_array(avro_value_t *value, const json_t *json)
{
    for (size_t i = 0; i < json_array_size(json); i++) {
        avro_value_t item;
        require(avro_value_append(value, &item, NULL) == 0, "item");
        fill(&item, json_array_get(json, i));
    }
}

/* All unions of the schema are of null and one number. */
static void fill_union(avro_value_t *value, const json_t *json)
{
    avro_value_t branch;

    require(avro_value_set_branch(value, json_is_null(json) ? 0 : 1, &branch) == 0, "branch");
    if (!json_is_null(json))
        fill(&branch, json_object_iter_value(json_object_iter((json_t *)(uintptr_t)json)));
}

static void fill_enum(avro_value_t *value, const json_t *json)
{
    int symbol =
        avro_schema_enum_get_by_name(avro_value_get_schema(value), json_string_value(json));

    require(symbol >= 0 && avro_value_set_enum(value, symbol) == 0, "symbol");
}

static void fill(avro_value_t *value, const json_t *json)
{
    static uint8_t bytes[ENCODED_BYTES_MAX];

    switch (avro_value_get_type(value)) {
    case AVRO_RECORD:
        fill_record(value, json);
        break;
    case AVRO_ARRAY:
        fill_array(value, json);
        break;
    case AVRO_UNION:
        fill_union(value, json);
        break;
    case AVRO_ENUM:
        fill_enum(value, json);
        break;
    case AVRO_STRING:
        require(avro_value_set_string(value, json_string_value(json)) == 0, "string");
        break;
    case AVRO_BYTES:
        require(avro_value_set_bytes(value, bytes, bytes_of(bytes, json)) == 0, "bytes");
        break;
    case AVRO_INT32:
        require(avro_value_set_int(value, (int32_t)json_integer_value(json)) == 0, "int");
        break;
    case AVRO_INT64:
        require(avro_value_set_long(value, json_integer_value(json)) == 0, "long");
        break;
    default:
        require(avro_value_set_null(value) == 0, "null");
    }
}

static json_t *load(const char *path)
{
    json_error_t error;
    json_t *json = json_load_file(path, JSON_ALLOW_NUL, &error);

    if (!json)
        fprintf(stderr, "%s: %s\n", path, error.text);
    require(json != NULL, path);
    return json;
}

int main(int argc, char **argv)
{
    static char encoded[ENCODED_BYTES_MAX];
    avro_schema_t schema;
    avro_value_t batch;

    require(argc == 4, "three arguments");
    char *schema_text = json_dumps(load(argv[1]), 0);
    require(avro_schema_from_json_length(schema_text, strlen(schema_text), &schema) == 0, "schema");
    require(avro_generic_value_new(avro_generic_class_from_schema(schema), &batch) == 0, "value");
    fill(&batch, load(argv[3]));

    avro_writer_t writer = avro_writer_memory(encoded, sizeof encoded);
    require(avro_value_write(writer, &batch) == 0, "write");
    uint64_t fingerprint = strtoull(argv[2], NULL, 16);
    putchar(0xc3);
    putchar(0x01);
    for (int i = 0; i < 8; i++)
        putchar((int)(fingerprint >> (8 * i) & 0xff));
    size_t size = (size_t)avro_writer_tell(writer);
    return fwrite(encoded, 1, size, stdout) == size && fflush(stdout) == 0 ? 0 : 1;
}
