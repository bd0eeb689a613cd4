/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as captures, from files and from a pipe: read to an end that is told, each frame within
 * limits, and the pipe says what the file says. Without a filter frames are those of plain libpcap.
 *
 * Input: how (1 byte: 1 with a filter, 2 two captures), where the second one begins (2 bytes), the
 * captures.
 */
#include "capture_file.h"
#include "inputs.h"
#include "target.h"
#include "worker.h"

#include <fcntl.h>
#include <pcap/pcap.h>
#include <sys/mman.h>
#include <unistd.h>

#define PIPE_BYTES 65536u /* what a pipe holds without a reader */

/* What libpcap takes for the largest frame there is. */
#define FRAME_BYTES_MAX 262144u

struct outcome {
    bool is_open;
    enum ckp_capture_status status;
    uint32_t frames;
    uint32_t filtered;
    uint32_t checksum;       /* of times, lengths and bytes */
    uint32_t bytes_checksum; /* of bytes alone */
};

static void path_of(char *path, size_t size, int descriptor)
{
    snprintf(path, size, "/proc/self/fd/%d", descriptor);
}

static int make_file(const uint8_t *data, size_t size)
{
    int file = memfd_create("capture", MFD_CLOEXEC);

    REQUIRE(file >= 0 && write(file, data, size) == (ssize_t)size);
    return file;
}

static uint32_t add_up(uint32_t sum, const void *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sum = (sum ^ ((const uint8_t *)bytes)[i]) * 16777619u;
    return sum;
}

static void check_frame(struct outcome *outcome, const struct ckp_capture *capture,
                        const struct ckp_frame *frame)
{
    struct ckp_packet packet;

    REQUIRE(frame->captured_bytes <= FRAME_BYTES_MAX);
    REQUIRE(frame->time_ns == CKP_TIME_OUT_OF_RANGE ||
            (frame->time_ns >= 0 &&
             frame->time_ns / CKP_NANOS_PER_SECOND <= CKP_TIME_END_SECONDS + 5000));
    outcome->checksum = add_up(outcome->checksum, &frame->time_ns, sizeof frame->time_ns);
    outcome->checksum =
        add_up(outcome->checksum, &frame->original_bytes, sizeof frame->original_bytes);
    outcome->checksum = add_up(outcome->checksum, frame->bytes, frame->captured_bytes);
    outcome->bytes_checksum = add_up(outcome->bytes_checksum, frame->bytes, frame->captured_bytes);
    ckp_decode(&packet, ckp_capture_link(capture), frame, CKP_TUNNELS_INNER);
}

static void read_frames(struct outcome *outcome, struct ckp_capture *capture)
{
    int64_t first_ns = ckp_capture_first_time_ns(capture);
    struct ckp_frame frame;

    for (;;) {
        outcome->status = ckp_capture_next(capture, &frame);
        if (outcome->status > CKP_CAPTURE_FILTERED)
            break;
        if (outcome->frames + outcome->filtered == 0)
            REQUIRE(frame.time_ns == first_ns);
        if (outcome->status == CKP_CAPTURE_FRAME)
            outcome->frames++;
        else
            outcome->filtered++;
        check_frame(outcome, capture, &frame);
    }
    REQUIRE(outcome->frames + outcome->filtered > 0 || first_ns == INT64_MAX);
    REQUIRE((outcome->status == CKP_CAPTURE_FAILED) == (ckp_capture_error(capture)[0] != '\0'));
}

static struct outcome read_capture(const char *path, const char *filter)
{
    struct outcome outcome = {.is_open = false};
    char why[1024] = "";
    struct ckp_capture *capture = ckp_capture_open(path, why, sizeof why);

    REQUIRE(capture != NULL);
    outcome.is_open = ckp_capture_read_head(capture, filter, why, sizeof why);
    REQUIRE(outcome.is_open == (why[0] == '\0'));
    if (!outcome.is_open) {
        ckp_capture_close(capture);
        return outcome;
    }
    REQUIRE(ckp_capture_resolution_ns(capture) >= 1 &&
            ckp_capture_resolution_ns(capture) <= CKP_NANOS_PER_SECOND);
    read_frames(&outcome, capture);
    ckp_capture_close(capture);
    return outcome;
}

static struct outcome read_pipe(const uint8_t *data, size_t size, const char *filter)
{
    int ends[2];
    char path[64];

    REQUIRE(pipe2(ends, O_CLOEXEC) == 0 && write(ends[1], data, size) == (ssize_t)size);
    path_of(path, sizeof path, ends[0]);
    int again = open(path, O_RDONLY | O_CLOEXEC); /* keeps the bytes until the probe opens it */
    close(ends[1]);
    struct outcome outcome = read_capture(path, filter);
    close(ends[0]);
    close(again);
    return outcome;
}

static void compare_with_libpcap(const char *path, const struct outcome *outcome)
{
    char error[PCAP_ERRBUF_SIZE];
    struct pcap_pkthdr *header;
    const u_char *bytes;
    uint32_t frames = 0, checksum = 0;
    int status;
    pcap_t *pcap = pcap_open_offline(path, error);

    REQUIRE(pcap != NULL);
    for (; (status = pcap_next_ex(pcap, &header, &bytes)) == 1; frames++)
        checksum = add_up(checksum, bytes, header->caplen);
    pcap_close(pcap);
    REQUIRE(frames == outcome->frames && checksum == outcome->bytes_checksum);
    REQUIRE((status == PCAP_ERROR_BREAK) == (outcome->status == CKP_CAPTURE_END));
}

static const volatile sig_atomic_t stop;

static bool is_same(const struct outcome *a, const struct outcome *b)
{
    return a->is_open == b->is_open && a->status == b->status && a->frames == b->frames &&
           a->filtered == b->filtered && a->checksum == b->checksum;
}

/* Both are opened at once, put into order, and read. */
static void read_inputs(int first, int second, const char *filter)
{
    char path[2][64];
    const char *const paths[2] = {path[0], path[1]};
    struct ckp_inputs inputs;
    int64_t before_ns = INT64_MIN;

    path_of(path[0], sizeof path[0], first);
    path_of(path[1], sizeof path[1], second);
    REQUIRE(ckp_inputs_open(&inputs, paths, 2) && inputs.count == 2);
    ckp_inputs_read_heads(&inputs, filter, &stop);
    REQUIRE(inputs.count + inputs.unreadable == 2);
    for (size_t i = 0; i < inputs.count; i++) {
        struct outcome outcome = {.is_open = true};
        int64_t first_ns = ckp_capture_first_time_ns(inputs.captures[i]);
        REQUIRE(first_ns >= before_ns);
        before_ns = first_ns;
        REQUIRE(ckp_capture_resolution_ns(inputs.captures[i]) <= inputs.resolution_ns);
        read_frames(&outcome, inputs.captures[i]);
    }
    ckp_inputs_close(&inputs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static FILE *nowhere; /* for the sentences of inputs.c */

    if (!nowhere)
        nowhere = fopen("/dev/null", "we");
    if (size < 3 || size > PIPE_BYTES)
        return 0;
    const char *filter = data[0] & 1 ? "tcp or vlan" : NULL;
    const uint8_t *captures = data + 3;
    size_t bytes = size - 3, begin = (size_t)(data[1] << 8 | data[2]) % (bytes + 1);
    bool are_two = data[0] & 2;

    int file = make_file(captures, are_two ? begin : bytes);
    if (are_two) {
        int second = make_file(captures + begin, bytes - begin);
        FILE *console = stderr;
        stderr = nowhere;
        read_inputs(file, second, filter);
        stderr = console;
        close(second);
    } else {
        char path[64];
        path_of(path, sizeof path, file);
        struct outcome of_file = read_capture(path, filter);
        struct outcome of_pipe = read_pipe(captures, bytes, filter);
        REQUIRE(is_same(&of_file, &of_pipe));
        if (of_file.is_open && !filter)
            compare_with_libpcap(path, &of_file);
    }
    close(file);
    return 0;
}
