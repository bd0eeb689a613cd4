/* SPDX-License-Identifier: Apache-2.0 */
#include "dump_gate.h"

#include "segment.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SIGNATURE_BYTES 32u
#define NONCE_BYTES_MIN 16u
#define AGE_MAX_NS      (CKP_DUMP_AGE_MAX_SECONDS * CKP_NANOS_PER_SECOND)
#define PERMIT_NS       (CKP_NANOS_PER_SECOND / CKP_DUMP_PER_SECOND)

/* A command is remembered until it is too old. */
#define REMEMBERED_SECONDS (CKP_DUMP_AGE_MAX_SECONDS + CKP_DUMP_AHEAD_MAX_SECONDS)
#define FOLLOWED_MAX       (CKP_DUMP_BURST + REMEMBERED_SECONDS * CKP_DUMP_PER_SECOND + 1)

struct followed {
    int64_t until_ns;
    uint8_t signature[SIGNATURE_BYTES];
};

struct ckp_dump_gate {
    uint8_t key[CKP_DUMP_KEY_BYTES_MAX];
    size_t key_bytes;
    const char *tap;
    int64_t opened_ns;
    int64_t permits_full_ns; /* when CKP_DUMP_BURST commands would be followed at once */
    struct followed followed[FOLLOWED_MAX];
    char key_id[CKP_DUMP_KEY_ID_DIGITS + 1];
};

/* HMAC-SHA256 cannot fail but for memory; nobody gets in by that. */
static bool sign(const struct ckp_dump_gate *gate, const void *text, size_t bytes,
                 uint8_t signature[SIGNATURE_BYTES])
{
    unsigned written = 0;

    return HMAC(EVP_sha256(), gate->key, (int)gate->key_bytes, text, bytes, signature, &written) &&
           written == SIGNATURE_BYTES;
}

struct ckp_dump_gate *ckp_dump_gate_new(const uint8_t *key, size_t key_bytes, const char *tap,
                                        int64_t now_ns)
{
    static const char named[] = "chokepoint key id";
    uint8_t signature[SIGNATURE_BYTES];
    struct ckp_dump_gate *gate = calloc(1, sizeof *gate);

    if (!gate)
        return NULL;
    memcpy(gate->key, key, key_bytes);
    gate->key_bytes = key_bytes;
    gate->tap = tap;
    gate->opened_ns = now_ns;
    if (!sign(gate, named, sizeof named - 1, signature)) {
        ckp_dump_gate_free(gate);
        return NULL;
    }
    for (size_t i = 0; i < CKP_DUMP_KEY_ID_DIGITS / 2; i++)
        snprintf(gate->key_id + 2 * i, 3, "%02x", signature[i]);
    return gate;
}

void ckp_dump_gate_free(struct ckp_dump_gate *gate)
{
    if (!gate)
        return;
    OPENSSL_cleanse(gate, sizeof *gate);
    free(gate);
}

const char *ckp_dump_gate_key_id(const struct ckp_dump_gate *gate)
{
    return gate->key_id;
}

/* @return how many bytes, without the line's end, 0 if they are no key; `why` says so */
static size_t read_key(uint8_t content[CKP_DUMP_KEY_BYTES_MAX + 1], FILE *file, const char *path,
                       char *why, size_t why_size)
{
    struct stat status;
    size_t bytes = fread(content, 1, CKP_DUMP_KEY_BYTES_MAX + 1, file);

    if (ferror(file) || fstat(fileno(file), &status) != 0) {
        snprintf(why, why_size, "option --ring-key: %s cannot be read: %s", path, strerror(errno));
        return 0;
    }
    if (status.st_mode & (S_IRWXG | S_IRWXO)) {
        snprintf(why, why_size,
                 "option --ring-key: %s has mode %04o, expected a key that nobody but its owner "
                 "may open, as by chmod 600",
                 path, (unsigned)(status.st_mode & 07777));
        return 0;
    }
    while (bytes > 0 && (content[bytes - 1] == '\n' || content[bytes - 1] == '\r'))
        bytes--;
    if (bytes >= CKP_DUMP_KEY_BYTES_MIN && bytes <= CKP_DUMP_KEY_BYTES_MAX)
        return bytes;
    snprintf(why, why_size, "option --ring-key: %s is no key, expected %u to %u bytes", path,
             CKP_DUMP_KEY_BYTES_MIN, CKP_DUMP_KEY_BYTES_MAX);
    return 0;
}

struct ckp_dump_gate *ckp_dump_gate_open(const char *path, const char *tap, int64_t now_ns,
                                         char *why, size_t why_size)
{
    struct ckp_dump_gate *gate = NULL;
    uint8_t content[CKP_DUMP_KEY_BYTES_MAX + 1];
    FILE *file = fopen(path, "re");

    if (!file) {
        snprintf(why, why_size, "option --ring-key: %s cannot be read: %s", path, strerror(errno));
        return NULL;
    }
    setbuf(file, NULL); /* which would keep a copy of the key */
    size_t bytes = read_key(content, file, path, why, why_size);
    fclose(file);
    if (bytes > 0) {
        gate = ckp_dump_gate_new(content, bytes, tap, now_ns);
        if (!gate)
            snprintf(why, why_size, "option --ring-key: libcrypto offers no HMAC-SHA256");
    }
    OPENSSL_cleanse(content, sizeof content);
    return gate;
}

static int nibble(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    if (digit >= 'a' && digit <= 'f')
        return digit - 'a' + 10;
    return digit >= 'A' && digit <= 'F' ? digit - 'A' + 10 : -1;
}

static bool parse_signature(uint8_t signature[SIGNATURE_BYTES], const char *digits)
{
    if (!digits || strlen(digits) != 2 * SIGNATURE_BYTES)
        return false;
    for (size_t i = 0; i < SIGNATURE_BYTES; i++) {
        int high = nibble(digits[2 * i]), low = nibble(digits[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        signature[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

struct command_text {
    const char *client_ip, *server_ip, *nonce, *tap;
    json_int_t client_port, server_port, seconds, issued_at_seconds;
};

static bool parse_address(struct ckp_address *address, bool *is_ipv6, const char *text)
{
    uint8_t bytes[16];

    *is_ipv6 = strchr(text, ':') != NULL;
    if (inet_pton(*is_ipv6 ? AF_INET6 : AF_INET, text, bytes) != 1)
        return false;
    *address = *is_ipv6 ? ckp_address_from_ipv6(bytes) : ckp_address_from_ipv4(bytes);
    return true;
}

static bool is_port(json_int_t number)
{
    return number >= 0 && number <= UINT16_MAX;
}

static void name_flow(char flow[CKP_DUMP_FLOW_BYTES], const struct command_text *text, bool is_ipv6)
{
    const char *format = is_ipv6 ? "[%s]:%u>[%s]:%u" : "%s:%u>%s:%u";

    snprintf(flow, CKP_DUMP_FLOW_BYTES, format, text->client_ip, (unsigned)text->client_port,
             text->server_ip, (unsigned)text->server_port);
}

/* @return NULL, or what is wrong */
static const char *take_flow(struct ckp_flow_key *key, const struct command_text *text)
{
    struct ckp_address client, server;
    bool is_client_ipv6, is_server_ipv6;

    if (!parse_address(&client, &is_client_ipv6, text->client_ip) ||
        !parse_address(&server, &is_server_ipv6, text->server_ip) ||
        is_client_ipv6 != is_server_ipv6)
        return "client_ip and server_ip are not two addresses of one kind";
    if (!is_port(text->client_port) || !is_port(text->server_port))
        return "client_port and server_port are not two ports";
    *key = (struct ckp_flow_key){.is_ipv6 = is_client_ipv6};
    ckp_flow_key_order(key, &client, (uint16_t)text->client_port, &server,
                       (uint16_t)text->server_port);
    return NULL;
}

static const char *take_command(struct ckp_dump_command *command, const struct command_text *text)
{
    if (text->seconds < 1 || text->seconds > CKP_DUMP_SECONDS_MAX)
        return "seconds are not 1 to 3600";
    if (strlen(text->nonce) < NONCE_BYTES_MIN)
        return "the nonce has less than 16 characters";
    command->seconds = (uint32_t)text->seconds;
    const char *why = take_flow(&command->key, text);
    if (!why)
        name_flow(command->flow, text, command->key.is_ipv6);
    return why;
}

/* @return NULL, or why it is refused */
static const char *check_time(const struct ckp_dump_gate *gate, json_int_t issued_at_seconds,
                              int64_t now_ns)
{
    /* Compared in seconds, where no number of a stranger overflows. */
    int64_t now_seconds = now_ns / CKP_NANOS_PER_SECOND;

    if (issued_at_seconds < now_seconds - CKP_DUMP_AGE_MAX_SECONDS)
        return "the command is older than 60 s by the clock of the probe";
    if (issued_at_seconds > now_seconds + CKP_DUMP_AHEAD_MAX_SECONDS)
        return "the command is of the future by the clock of the probe";
    if (issued_at_seconds < gate->opened_ns / CKP_NANOS_PER_SECOND)
        return "the command is older than this run of the probe";
    return NULL;
}

static const struct followed *find(const struct ckp_dump_gate *gate,
                                   const uint8_t signature[SIGNATURE_BYTES], int64_t now_ns)
{
    for (size_t i = 0; i < FOLLOWED_MAX; i++)
        if (gate->followed[i].until_ns >= now_ns &&
            memcmp(gate->followed[i].signature, signature, SIGNATURE_BYTES) == 0)
            return &gate->followed[i];
    return NULL;
}

/* @return false if there is no room, or it would be one too many at a time */
static bool remember(struct ckp_dump_gate *gate, const uint8_t signature[SIGNATURE_BYTES],
                     int64_t issued_at_seconds, int64_t now_ns)
{
    int64_t full_ns = gate->permits_full_ns > now_ns ? gate->permits_full_ns : now_ns;

    if (full_ns - now_ns > CKP_DUMP_BURST * PERMIT_NS)
        full_ns = now_ns; /* the clock was set back */
    if (full_ns - now_ns > (CKP_DUMP_BURST - 1) * PERMIT_NS)
        return false;
    for (size_t i = 0; i < FOLLOWED_MAX; i++) {
        struct followed *followed = &gate->followed[i];
        if (followed->until_ns >= now_ns)
            continue;
        /* Its second is good to its end. */
        followed->until_ns = (issued_at_seconds + 1) * CKP_NANOS_PER_SECOND + AGE_MAX_NS;
        memcpy(followed->signature, signature, SIGNATURE_BYTES);
        gate->permits_full_ns = full_ns + PERMIT_NS;
        return true;
    }
    return false;
}

static enum ckp_dump_status check_command(struct ckp_dump_gate *gate,
                                          struct ckp_dump_command *command,
                                          const struct command_text *text,
                                          const uint8_t signature[SIGNATURE_BYTES], int64_t now_ns,
                                          const char **why)
{
    *why = take_command(command, text);
    if (*why)
        return CKP_DUMP_BAD_COMMAND;
    *why = check_time(gate, text->issued_at_seconds, now_ns);
    if (*why)
        return CKP_DUMP_REFUSED;
    if (text->tap && strcmp(text->tap, gate->tap) != 0) {
        *why = "the probe watches another tap";
        return CKP_DUMP_REFUSED;
    }
    if (find(gate, signature, now_ns)) {
        *why = "the command was followed before";
        return CKP_DUMP_REFUSED;
    }
    if (!remember(gate, signature, text->issued_at_seconds, now_ns)) {
        *why = "more than 10 commands at once, and one a second, are too many";
        return CKP_DUMP_TOO_MANY;
    }
    return CKP_DUMP_OK;
}

enum ckp_dump_status ckp_dump_gate_check(struct ckp_dump_gate *gate,
                                         struct ckp_dump_command *command, const char *text,
                                         size_t text_bytes, const char *signature, int64_t now_ns,
                                         const char **why)
{
    uint8_t expected[SIGNATURE_BYTES], given[SIGNATURE_BYTES];
    struct command_text parts = {0};

    if (!sign(gate, text, text_bytes, expected) || !parse_signature(given, signature) ||
        CRYPTO_memcmp(expected, given, SIGNATURE_BYTES) != 0) {
        *why = "the signature is not that of the command";
        return CKP_DUMP_REFUSED;
    }
    json_t *json = json_loadb(text, text_bytes, JSON_REJECT_DUPLICATES, NULL);
    enum ckp_dump_status status = CKP_DUMP_BAD_COMMAND;
    *why = "the command is not the JSON object that is expected";
    if (json_unpack(json, "{s:s, s:I, s:s, s:I, s:I, s:I, s:s, s?s}", "client_ip", &parts.client_ip,
                    "client_port", &parts.client_port, "server_ip", &parts.server_ip, "server_port",
                    &parts.server_port, "seconds", &parts.seconds, "issued_at_seconds",
                    &parts.issued_at_seconds, "nonce", &parts.nonce, "tap", &parts.tap) == 0)
        status = check_command(gate, command, &parts, expected, now_ns, why);
    json_decref(json);
    return status;
}
