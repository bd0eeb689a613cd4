/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which commands to dump a flow are followed: those that a holder of the key has signed, once, and
 * soon after. A command is a JSON object such as
 *
 *   {"client_ip": "192.0.2.1", "client_port": 40000, "server_ip": "198.51.100.2",
 *    "server_port": 443, "seconds": 30, "issued_at_seconds": 1767225600, "nonce": "5e8f..."}
 *
 * whose bytes, exactly as they are sent, have the signature HMAC-SHA256 (RFC 2104). The nonce makes
 * two commands of one second differ; "tap" may be added, and must then be the probe's.
 */
#ifndef CKP_DUMP_GATE_H
#define CKP_DUMP_GATE_H

#include "flow_key.h"

/** Of the file that holds the key, without the line's end. */
#define CKP_DUMP_KEY_BYTES_MIN 32u
#define CKP_DUMP_KEY_BYTES_MAX 1024u

#define CKP_DUMP_COMMAND_BYTES_MAX 2048u
#define CKP_DUMP_SECONDS_MAX       3600u
#define CKP_DUMP_AGE_MAX_SECONDS   60
#define CKP_DUMP_AHEAD_MAX_SECONDS 5

/** Commands that are followed at once, and how many more each second. */
#define CKP_DUMP_BURST      10
#define CKP_DUMP_PER_SECOND 1

#define CKP_DUMP_KEY_ID_DIGITS 8u

/** What to answer a command by, in numbers of HTTP. */
enum ckp_dump_status {
    CKP_DUMP_OK = 200,
    CKP_DUMP_BAD_COMMAND = 400,
    CKP_DUMP_REFUSED = 403,
    CKP_DUMP_NOTHING_THERE = 404,
    CKP_DUMP_TOO_MANY = 429,
    CKP_DUMP_FAILED = 500,
};

#define CKP_DUMP_FLOW_BYTES 112u

struct ckp_dump_command {
    struct ckp_flow_key key; /* of domain 0 */
    uint32_t seconds;
    char flow[CKP_DUMP_FLOW_BYTES]; /* as text: CLIENT:PORT>SERVER:PORT */
};

struct ckp_dump_gate;

/** @param tap what the frames are of @param now_ns UTC: commands of before are refused, for nobody
 * remembers whether they were followed @return NULL if there is no memory */
struct ckp_dump_gate *ckp_dump_gate_new(const uint8_t *key, size_t key_bytes, const char *tap,
                                        int64_t now_ns);

/** The same with the key in a file. @return NULL with one sentence in `why` */
struct ckp_dump_gate *ckp_dump_gate_open(const char *path, const char *tap, int64_t now_ns,
                                         char *why, size_t why_size);
void ckp_dump_gate_free(struct ckp_dump_gate *gate);

/** Names the key and tells nothing of it: the first digits of the HMAC of "chokepoint key id". */
const char *ckp_dump_gate_key_id(const struct ckp_dump_gate *gate);

/**
 * @param signature 64 hexadecimal digits, or NULL
 * @param now_ns UTC
 * @return CKP_DUMP_OK; else the command means nothing, and *why says why in a few words
 */
enum ckp_dump_status ckp_dump_gate_check(struct ckp_dump_gate *gate,
                                         struct ckp_dump_command *command, const char *text,
                                         size_t text_bytes, const char *signature, int64_t now_ns,
                                         const char **why);

#endif
