/* SPDX-License-Identifier: Apache-2.0 */
#include "dump.h"

#include "clock.h"
#include "health.h"
#include "pcapng.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

/* Of an answer, the newest frames, and as much again while they are put in order. Only what is
 * written of it takes memory. */
#define CAPTURE_BYTES_MAX (64u << 20)

#define LINKS               (CKP_LINK_NULL + 1)
#define HEAD_BYTES_MAX      ((1 + LINKS) * CKP_PCAPNG_HEAD_BYTES_MAX)
#define AUDIT_MODE          0600
#define LINE_FORMAT         (JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(9))
#define REFUSALS_PER_SECOND 1
#define TIME_BYTES          sizeof "2026-01-01T00:00:00.000Z"

struct ckp_dump {
    const struct ckp_options *options;
    struct ckp_packet_ring **rings;
    uint32_t ring_count;
    struct ckp_dump_gate *gate;
    int audit;
    int64_t refusal_told_ns;
    uint64_t refusals_untold;
};

struct needed {
    enum ckp_option option;
    const char *name;
};

bool ckp_dump_check(struct ckp_options *options)
{
    static const struct needed needed[] = {
        {CKP_OPTION_METRICS, "metrics"},
        {CKP_OPTION_RING_KEY, "ring-key"},
        {CKP_OPTION_RING_AUDIT, "ring-audit"},
    };
    static const struct needed pointless[] = {
        {CKP_OPTION_RING_KEY, "ring-key"},
        {CKP_OPTION_RING_AUDIT, "ring-audit"},
        {CKP_OPTION_RING_SNAP, "ring-snap"},
        {CKP_OPTION_RING_PAYLOAD, "ring-payload"},
        {CKP_OPTION_RING_BEYOND_LOOPBACK, "ring-beyond-loopback"},
    };

    if (!ckp_option_text(options, CKP_OPTION_RING_MEMORY)) {
        for (size_t i = 0; i < sizeof pointless / sizeof pointless[0]; i++)
            if (options->value[pointless[i].option].is_given) {
                snprintf(options->error, sizeof options->error,
                         "option --%s is too much without --ring-memory, expected both or neither",
                         pointless[i].name);
                return false;
            }
        return true;
    }
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
        if (!ckp_option_text(options, needed[i].option)) {
            snprintf(options->error, sizeof options->error,
                     "option --ring-memory: --%s is not given, expected --metrics, --ring-key and "
                     "--ring-audit too",
                     needed[i].name);
            return false;
        }
    if (ckp_option_text(options, CKP_OPTION_ANONYMISE)) {
        snprintf(options->error, sizeof options->error,
                 "option --ring-memory is too much with --anonymise: a ring holds the addresses "
                 "that it hides, expected either");
        return false;
    }
    const char *address = ckp_option_text(options, CKP_OPTION_METRICS);
    if (ckp_health_is_loopback(address) ||
        ckp_option_text(options, CKP_OPTION_RING_BEYOND_LOOPBACK))
        return true;
    snprintf(options->error, sizeof options->error,
             "option --metrics: %s is not of loopback, and frames would leave it in the clear: "
             "expected --ring-beyond-loopback, if that is a network of your own",
             address);
    return false;
}

static bool open_rings(struct ckp_dump *dump, uint32_t rings, char *why, size_t why_size)
{
    struct ckp_ring_config config = {
        .memory_bytes = ckp_option_number(dump->options, CKP_OPTION_RING_MEMORY) / rings,
        .snap_bytes = (uint32_t)ckp_option_number(dump->options, CKP_OPTION_RING_SNAP),
        .keeps_payload = ckp_option_text(dump->options, CKP_OPTION_RING_PAYLOAD) != NULL,
    };

    /* Without a random seed only the protection against forged collisions is lost. */
    if (getrandom(&config.hash_seed, sizeof config.hash_seed, GRND_NONBLOCK) < 0)
        config.hash_seed = 0;
    dump->rings = calloc(rings, sizeof(struct ckp_packet_ring *));
    while (dump->rings && dump->ring_count < rings) {
        struct ckp_packet_ring *ring = ckp_packet_ring_new(&config);
        if (!ring)
            break;
        dump->rings[dump->ring_count++] = ring;
    }
    if (dump->ring_count == rings)
        return true;
    const char *memory = ckp_option_text(dump->options, CKP_OPTION_RING_MEMORY);
    if (config.memory_bytes < 2 * CKP_RING_SNAP_MAX)
        snprintf(why, why_size, "option --ring-memory: %s is too little for %u rings", memory,
                 rings);
    else
        snprintf(why, why_size, "option --ring-memory: there is no memory for %s", memory);
    return false;
}

static bool open_audit(struct ckp_dump *dump, char *why, size_t why_size)
{
    const char *path = ckp_option_text(dump->options, CKP_OPTION_RING_AUDIT);

    dump->audit = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, AUDIT_MODE);
    if (dump->audit >= 0)
        return true;
    snprintf(why, why_size, "option --ring-audit: %s cannot be written: %s", path, strerror(errno));
    return false;
}

struct ckp_dump *ckp_dump_open(const struct ckp_options *options, uint32_t rings, char *why,
                               size_t why_size)
{
    why[0] = '\0';
    if (!ckp_option_text(options, CKP_OPTION_RING_MEMORY))
        return NULL;
    struct ckp_dump *dump = calloc(1, sizeof *dump);
    if (!dump) {
        snprintf(why, why_size, "there is no memory");
        return NULL;
    }
    dump->options = options;
    dump->audit = -1;
    dump->gate = ckp_dump_gate_open(ckp_option_text(options, CKP_OPTION_RING_KEY),
                                    ckp_option_text(options, CKP_OPTION_TAP), ckp_clock_utc_ns(),
                                    why, why_size);
    if (dump->gate && open_audit(dump, why, why_size) && open_rings(dump, rings, why, why_size))
        return dump;
    ckp_dump_close(dump);
    return NULL;
}

void ckp_dump_close(struct ckp_dump *dump)
{
    if (!dump)
        return;
    for (uint32_t i = 0; i < dump->ring_count; i++)
        ckp_packet_ring_free(dump->rings[i]);
    free(dump->rings);
    ckp_dump_gate_free(dump->gate);
    if (dump->audit >= 0)
        close(dump->audit);
    free(dump);
}

struct ckp_packet_ring *ckp_dump_ring(const struct ckp_dump *dump, uint32_t worker)
{
    return dump && worker < dump->ring_count ? dump->rings[worker] : NULL;
}

/* --- the capture --- */

/* Filled from its end, for a walk goes from the newest frame to the oldest. */
struct capture {
    uint8_t *memory;
    uint8_t *blocks; /* of frames, up to the end of the memory */
    uint64_t frames;
    int64_t first_ns;
    int64_t oldest_ns; /* that all rings reach back to */
    bool is_in_order;
    uint32_t interface_of[LINKS]; /* and one; 0: no frame has come in that way */
    uint32_t interfaces;
};

static uint8_t *end_of(const struct capture *capture)
{
    return capture->memory + CAPTURE_BYTES_MAX;
}

static uint32_t interface_of(struct capture *capture, enum ckp_link link)
{
    if (capture->interface_of[link] == 0)
        capture->interface_of[link] = ++capture->interfaces;
    return capture->interface_of[link] - 1;
}

/* @return false if it does not fit */
static bool add_frame(struct capture *capture, const struct ckp_ring_frame *frame)
{
    size_t bytes = ckp_pcapng_frame_bytes(frame);

    if ((size_t)(capture->blocks - capture->memory) < HEAD_BYTES_MAX + bytes)
        return false;
    capture->blocks -= bytes;
    ckp_pcapng_write_frame(capture->blocks, interface_of(capture, frame->link), frame);
    capture->is_in_order &= frame->time_ns <= capture->first_ns;
    capture->first_ns = frame->time_ns;
    capture->frames++;
    return true;
}

static void gather(struct capture *capture, const struct ckp_packet_ring *ring,
                   const struct ckp_flow_key *key, int64_t since_ns)
{
    struct ckp_ring_walk walk;
    struct ckp_ring_frame frame;

    ckp_ring_walk_start(&walk, ring, key, since_ns);
    while (ckp_ring_walk_next(&walk, &frame) && add_frame(capture, &frame))
        continue;
    if (walk.oldest_ns != INT64_MAX && walk.oldest_ns > capture->oldest_ns)
        capture->oldest_ns = walk.oldest_ns;
}

struct placed {
    int64_t time_ns;
    const uint8_t *block;
};

static int compare_placed(const void *a, const void *b)
{
    const struct placed *left = a, *right = b;

    if (left->time_ns != right->time_ns)
        return left->time_ns < right->time_ns ? -1 : 1;
    return left->block < right->block ? -1 : left->block > right->block;
}

/* Feeds are in order each for itself, and so are the rings of several workers. */
static bool put_in_order(struct capture *capture)
{
    struct placed *frames = malloc(capture->frames * sizeof *frames);
    uint8_t *memory = malloc(CAPTURE_BYTES_MAX);

    if (frames && memory) {
        const uint8_t *block = capture->blocks;
        for (uint64_t i = 0; i < capture->frames; i++) {
            frames[i] = (struct placed){ckp_pcapng_block_time_ns(block), block};
            block += ckp_pcapng_block_bytes(block);
        }
        qsort(frames, capture->frames, sizeof *frames, compare_placed);
        uint8_t *out = memory + (capture->blocks - capture->memory);
        uint8_t *blocks = out;
        for (uint64_t i = 0; i < capture->frames; i++) {
            size_t bytes = ckp_pcapng_block_bytes(frames[i].block);
            memcpy(out, frames[i].block, bytes);
            out += bytes;
        }
        free(capture->memory);
        capture->memory = memory;
        capture->blocks = blocks;
        memory = NULL;
        capture->is_in_order = true;
    }
    free(memory);
    free(frames);
    return capture->is_in_order;
}

/* Before the frames, which it moves down to. */
static void write_head(struct capture *capture, const struct ckp_options *options)
{
    uint8_t head[HEAD_BYTES_MAX];
    uint8_t *out = ckp_pcapng_write_section(head, "chokepoint-probe " CKP_VERSION);

    for (uint32_t interface = 1; interface <= capture->interfaces; interface++)
        for (int link = 0; link < LINKS; link++)
            if (capture->interface_of[link] == interface)
                out = ckp_pcapng_write_interface(
                    out, (enum ckp_link)link,
                    (uint32_t)ckp_option_number(options, CKP_OPTION_RING_SNAP),
                    ckp_option_text(options, CKP_OPTION_TAP));
    size_t bytes = (size_t)(out - head);
    capture->blocks -= bytes;
    memcpy(capture->blocks, head, bytes);
}

static int64_t newest_ns(const struct ckp_dump *dump)
{
    int64_t newest = INT64_MIN;

    for (uint32_t i = 0; i < dump->ring_count; i++) {
        int64_t time_ns = ckp_packet_ring_newest_ns(dump->rings[i]);
        newest = time_ns > newest ? time_ns : newest;
    }
    return newest;
}

/* How far all rings reach back, of what was asked for. */
static int64_t covered_ns(const struct capture *capture, int64_t newest, int64_t length_ns)
{
    if (capture->oldest_ns == INT64_MIN)
        return 0;
    return newest - capture->oldest_ns < length_ns ? newest - capture->oldest_ns : length_ns;
}

/* The seconds end with the newest frame of the tap, whatever its flow: that is now, or where the
 * reading of a capture has come to. */
static struct ckp_dump_answer make_capture(const struct ckp_dump *dump,
                                           const struct ckp_dump_command *command)
{
    int64_t newest = newest_ns(dump);
    int64_t length_ns = command->seconds * CKP_NANOS_PER_SECOND;
    struct capture capture = {
        .memory = malloc(CAPTURE_BYTES_MAX),
        .first_ns = INT64_MAX,
        .oldest_ns = INT64_MIN,
        .is_in_order = true,
    };

    if (!capture.memory)
        return (struct ckp_dump_answer){.status = CKP_DUMP_FAILED, .why = "there is no memory"};
    capture.blocks = end_of(&capture);
    for (uint32_t i = 0; i < dump->ring_count && newest != INT64_MIN; i++)
        gather(&capture, dump->rings[i], &command->key, newest - length_ns);
    struct ckp_dump_answer answer = {
        .status = CKP_DUMP_NOTHING_THERE,
        .why = "the ring holds no frame of this flow in these seconds",
        .frames = capture.frames,
        .covered_ns = covered_ns(&capture, newest, length_ns),
    };
    if (capture.frames > 0 && !capture.is_in_order && !put_in_order(&capture)) {
        answer.status = CKP_DUMP_FAILED;
        answer.why = "there is no memory";
    } else if (capture.frames > 0) {
        write_head(&capture, dump->options);
        answer.status = CKP_DUMP_OK;
        answer.memory = capture.memory;
        answer.bytes = capture.blocks;
        answer.byte_count = (size_t)(end_of(&capture) - capture.blocks);
        return answer;
    }
    free(capture.memory);
    return answer;
}

/* --- the audit file --- */

static void write_time(char text[TIME_BYTES], int64_t time_ns)
{
    time_t seconds = (time_t)(time_ns / CKP_NANOS_PER_SECOND);
    char whole[TIME_BYTES];
    struct tm parts;

    strftime(whole, sizeof whole, "%Y-%m-%dT%H:%M:%S", gmtime_r(&seconds, &parts));
    snprintf(text, TIME_BYTES, "%.19s.%03dZ", whole,
             (int)(time_ns % CKP_NANOS_PER_SECOND / CKP_NANOS_PER_MILLI));
}

/* Takes the line. @return whether it is on the disk */
static bool append(const struct ckp_dump *dump, json_t *line)
{
    char *text = line ? json_dumps(line, LINE_FORMAT) : NULL;
    bool is_kept = false;

    json_decref(line);
    if (text) {
        size_t bytes = strlen(text);
        text[bytes] = '\n'; /* in place of its end */
        is_kept =
            write(dump->audit, text, bytes + 1) == (ssize_t)bytes + 1 && fsync(dump->audit) == 0;
    }
    free(text);
    return is_kept;
}

static json_t *describe(const struct ckp_dump *dump, const struct ckp_dump_answer *answer,
                        const char *remote, int64_t now_ns)
{
    char time[TIME_BYTES];

    write_time(time, now_ns);
    return json_pack("{s:s, s:s, s:s, s:s, s:s}", "time", time, "remote", remote, "tap",
                     ckp_option_text(dump->options, CKP_OPTION_TAP), "key_id",
                     ckp_dump_gate_key_id(dump->gate), "outcome",
                     answer->status == CKP_DUMP_OK ? "dumped" : answer->why);
}

static bool tell_followed(const struct ckp_dump *dump, const struct ckp_dump_command *command,
                          const struct ckp_dump_answer *answer, const char *remote, int64_t now_ns)
{
    json_t *line = describe(dump, answer, remote, now_ns);
    json_t *what = json_pack("{s:s, s:I, s:f, s:I, s:I}", "flow", command->flow, "seconds",
                             (json_int_t)command->seconds, "covered_seconds",
                             (double)answer->covered_ns / (double)CKP_NANOS_PER_SECOND, "frames",
                             (json_int_t)answer->frames, "bytes", (json_int_t)answer->byte_count);
    bool is_whole = line && what && json_object_update(line, what) == 0;

    json_decref(what);
    return append(dump, line) && is_whole;
}

/* Anybody can be refused: the file must not grow by it without bounds. */
static bool tell_refused(struct ckp_dump *dump, const struct ckp_dump_answer *answer,
                         const char *remote, int64_t now_ns)
{
    int64_t monotonic_ns = ckp_clock_monotonic_ns();

    if (dump->refusal_told_ns != 0 &&
        monotonic_ns - dump->refusal_told_ns < CKP_NANOS_PER_SECOND / REFUSALS_PER_SECOND) {
        dump->refusals_untold++;
        return true;
    }
    json_t *line = describe(dump, answer, remote, now_ns);
    if (line && dump->refusals_untold > 0)
        json_object_set_new(line, "refusals_untold",
                            json_integer((json_int_t)dump->refusals_untold));
    dump->refusal_told_ns = monotonic_ns;
    dump->refusals_untold = 0;
    return append(dump, line);
}

struct ckp_dump_answer ckp_dump_follow(struct ckp_dump *dump, const char *text, size_t text_bytes,
                                       const char *signature, const char *remote)
{
    int64_t now_ns = ckp_clock_utc_ns();
    struct ckp_dump_command command;
    struct ckp_dump_answer answer = {0};
    bool is_told;

    answer.status =
        ckp_dump_gate_check(dump->gate, &command, text, text_bytes, signature, now_ns, &answer.why);
    if (answer.status == CKP_DUMP_OK) {
        answer = make_capture(dump, &command);
        is_told = tell_followed(dump, &command, &answer, remote, now_ns);
    } else {
        is_told = tell_refused(dump, &answer, remote, now_ns);
    }
    if (is_told)
        return answer;
    free(answer.memory);
    return (struct ckp_dump_answer){.status = CKP_DUMP_FAILED,
                                    .why = "the audit file cannot be written"};
}
