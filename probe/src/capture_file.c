/* SPDX-License-Identifier: Apache-2.0 */
#include "capture_file.h"

#include "capture_format.h"
#include "filter.h"
#include "worker.h"

#include <errno.h>
#include <fcntl.h>
#include <pcap/pcap.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#define HASH_BLOCK_BYTES (1u << 18)
#define READ_BYTES       (1u << 16)

struct ckp_capture {
    const char *name; /* for people */
    FILE *stream;     /* pcap's, once there is one */
    pcap_t *pcap;
    char *buffer;              /* the stream's */
    struct ckp_filter *filter; /* or NULL */
    bool is_regular;
    struct ckp_pipe pipe; /* if it is none */
    bool is_pcapng;
    enum ckp_link link;
    int64_t resolution_ns;
    bool has_pending; /* a frame read ahead, its bytes still in libpcap's buffer */
    enum ckp_capture_status pending_status;
    struct ckp_frame pending;
    char error[PCAP_ERRBUF_SIZE + 256];
};

static bool link_of(int datalink, enum ckp_link *link)
{
    switch (datalink) {
    case DLT_EN10MB:
        *link = CKP_LINK_ETHERNET;
        return true;
    case DLT_RAW:
    case DLT_IPV4:
    case DLT_IPV6:
        *link = CKP_LINK_RAW_IP;
        return true;
    case DLT_LINUX_SLL:
        *link = CKP_LINK_LINUX_SLL;
        return true;
    case DLT_LINUX_SLL2:
        *link = CKP_LINK_LINUX_SLL2;
        return true;
    case DLT_NULL:
    case DLT_LOOP:
        *link = CKP_LINK_NULL;
        return true;
    default:
        return false;
    }
}

static bool check_format(struct ckp_capture *capture, FILE *stream, char *why, size_t why_size)
{
    static const char *const refusal[] = {
        [CKP_FORMAT_EMPTY] = "is empty, expected a capture (pcap or pcapng)",
        [CKP_FORMAT_GZIP] = "is compressed with gzip: pipe it through zcat",
        [CKP_FORMAT_ZSTD] = "is compressed with zstd: pipe it through zstdcat",
        [CKP_FORMAT_UNKNOWN] = "is not a capture (pcap or pcapng)",
    };
    enum ckp_capture_format format = ckp_capture_format_peek(stream, &capture->resolution_ns);

    capture->is_pcapng = format == CKP_FORMAT_PCAPNG;
    if (format == CKP_FORMAT_PCAP || format == CKP_FORMAT_PCAPNG)
        return true;
    snprintf(why, why_size, "%s %s", capture->name, refusal[format]);
    return false;
}

/* libpcap reads a frame in two small pieces: the default of 4 KiB a system call and a lock a piece
 * would cost more than all of decoding. The buffer is ours, for without one setvbuf() of glibc
 * takes no heed of the size. */
static void make_fast(struct ckp_capture *capture)
{
    capture->buffer = malloc(READ_BYTES);
    if (capture->buffer)
        setvbuf(capture->stream, capture->buffer, _IOFBF, READ_BYTES);
    __fsetlocking(capture->stream, FSETLOCKING_BYCALLER);
}

/* Opens what can be read. @return NULL with errno */
static FILE *open_bytes(struct ckp_capture *capture, const char *path)
{
    struct stat status;
    FILE *stream = NULL;
    int descriptor = STDIN_FILENO;

    if (strcmp(path, "-") != 0)
        descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0 || fstat(descriptor, &status) != 0)
        return NULL;
    capture->is_regular = S_ISREG(status.st_mode);
    capture->pipe.descriptor = descriptor;
    if (S_ISDIR(status.st_mode))
        errno = EISDIR;
    else
        stream =
            capture->is_regular ? fdopen(descriptor, "rb") : ckp_pipe_stream_open(&capture->pipe);
    if (!stream)
        close(descriptor);
    return stream;
}

static bool open_pcap(struct ckp_capture *capture, char *why, size_t why_size)
{
    FILE *stream = capture->stream;
    char error[PCAP_ERRBUF_SIZE];

    capture->pcap =
        pcap_fopen_offline_with_tstamp_precision(stream, PCAP_TSTAMP_PRECISION_NANO, error);
    if (!capture->pcap) {
        if (feof(stream))
            snprintf(why, why_size, "%s ends within its header", capture->name);
        else
            snprintf(why, why_size, "%s cannot be read: %s", capture->name, error);
        return false;
    }
    capture->stream = NULL;
    if (link_of(pcap_datalink(capture->pcap), &capture->link))
        return true;
    const char *name = pcap_datalink_val_to_name(pcap_datalink(capture->pcap));
    snprintf(why, why_size,
             "%s has link type %s (%d), expected Ethernet, raw IP, Linux cooked or loopback",
             capture->name, name ? name : "unknown", pcap_datalink(capture->pcap));
    return false;
}

static bool make_filter(struct ckp_capture *capture, const char *expression, char *why,
                        size_t why_size)
{
    char complaint[PCAP_ERRBUF_SIZE];

    if (!expression)
        return true;
    capture->filter =
        ckp_filter_new(expression, pcap_datalink(capture->pcap), complaint, sizeof complaint);
    if (!capture->filter)
        snprintf(why, why_size, "%s cannot be filtered: %s", capture->name, complaint);
    return capture->filter != NULL;
}

struct ckp_capture *ckp_capture_open(const char *path, char *why, size_t why_size)
{
    struct ckp_capture *capture = calloc(1, sizeof *capture);

    if (!capture) {
        snprintf(why, why_size, "%s cannot be read: no memory", path);
        return NULL;
    }
    capture->name = strcmp(path, "-") == 0 ? "standard input" : path;
    capture->stream = open_bytes(capture, path);
    if (capture->stream) {
        make_fast(capture);
        return capture;
    }
    snprintf(why, why_size, "%s cannot be read: %s", capture->name, strerror(errno));
    ckp_capture_close(capture);
    return NULL;
}

bool ckp_capture_read_head(struct ckp_capture *capture, const char *filter, char *why,
                           size_t why_size)
{
    return check_format(capture, capture->stream, why, why_size) &&
           open_pcap(capture, why, why_size) && make_filter(capture, filter, why, why_size);
}

void ckp_capture_close(struct ckp_capture *capture)
{
    if (!capture)
        return;
    ckp_filter_free(capture->filter);
    if (capture->pcap)
        pcap_close(capture->pcap);
    if (capture->stream)
        fclose(capture->stream);
    free(capture->buffer);
    free(capture);
}

const char *ckp_capture_name(const struct ckp_capture *capture)
{
    return capture->name;
}

enum ckp_link ckp_capture_link(const struct ckp_capture *capture)
{
    return capture->link;
}

int64_t ckp_capture_resolution_ns(const struct ckp_capture *capture)
{
    return capture->resolution_ns;
}

const char *ckp_capture_error(const struct ckp_capture *capture)
{
    return capture->error;
}

void ckp_capture_before_wait(struct ckp_capture *capture, ckp_before_wait_fn *before_wait,
                             void *self)
{
    capture->pipe.before_wait = before_wait;
    capture->pipe.self = self;
}

/* libpcap has one status for a short file and for nonsense in it; the stream tells them apart. */
static enum ckp_capture_status fail(struct ckp_capture *capture)
{
    if (feof(pcap_file(capture->pcap)))
        return CKP_CAPTURE_CUT_OFF;
    snprintf(capture->error, sizeof capture->error, "%s cannot be read to its end: %s",
             capture->name, pcap_geterr(capture->pcap));
    return CKP_CAPTURE_FAILED;
}

/* Both numbers of the older format are 32 bits without a sign, which libpcap takes for signed ones:
 * what looks like 1901 to 1969 is 2038 to 2106. The "microseconds" are ns: see open_pcap(). */
static int64_t time_of(const struct ckp_capture *capture, const struct timeval *stamp)
{
    int64_t unit_ns = capture->resolution_ns;

    if (capture->is_pcapng)
        return ckp_time_ns(stamp->tv_sec, stamp->tv_usec);
    return ckp_time_ns((uint32_t)stamp->tv_sec, (uint32_t)(stamp->tv_usec / unit_ns) * unit_ns);
}

static enum ckp_capture_status read_frame(struct ckp_capture *capture, struct ckp_frame *frame)
{
    struct pcap_pkthdr *header;
    const u_char *bytes;
    int status = pcap_next_ex(capture->pcap, &header, &bytes);

    if (status == PCAP_ERROR_BREAK)
        return CKP_CAPTURE_END;
    if (status != 1)
        return fail(capture);
    *frame = (struct ckp_frame){
        .bytes = bytes,
        .captured_bytes = header->caplen,
        .original_bytes = header->len,
        .time_ns = time_of(capture, &header->ts),
    };
    return ckp_filter_passes(capture->filter, frame) ? CKP_CAPTURE_FRAME : CKP_CAPTURE_FILTERED;
}

enum ckp_capture_status ckp_capture_next(struct ckp_capture *capture, struct ckp_frame *frame)
{
    if (!capture->has_pending)
        return read_frame(capture, frame);
    capture->has_pending = false;
    *frame = capture->pending;
    return capture->pending_status;
}

static bool peek(struct ckp_capture *capture)
{
    if (!capture->has_pending) {
        capture->pending_status = read_frame(capture, &capture->pending);
        capture->has_pending = true;
    }
    return capture->pending_status == CKP_CAPTURE_FRAME ||
           capture->pending_status == CKP_CAPTURE_FILTERED;
}

int64_t ckp_capture_first_time_ns(struct ckp_capture *capture)
{
    return peek(capture) ? capture->pending.time_ns : INT64_MAX;
}

/* Reads beside the stream, whose position stays. */
static bool hash_file(int descriptor, const volatile sig_atomic_t *stop, uint64_t *hash)
{
    XXH3_state_t *state = XXH3_createState();
    uint8_t *block = malloc(HASH_BLOCK_BYTES);
    ssize_t bytes = -1;
    off_t at = 0;

    if (state && block) {
        XXH3_64bits_reset(state);
        while (!*stop && (bytes = pread(descriptor, block, HASH_BLOCK_BYTES, at)) > 0) {
            XXH3_64bits_update(state, block, (size_t)bytes);
            at += bytes;
        }
        *hash = XXH3_64bits_digest(state);
    }
    free(block);
    XXH3_freeState(state);
    return bytes == 0;
}

bool ckp_capture_hash(struct ckp_capture *capture, const volatile sig_atomic_t *stop,
                      uint64_t *hash)
{
    if (capture->is_regular)
        return hash_file(fileno(pcap_file(capture->pcap)), stop, hash);
    *hash = 0;
    if (peek(capture))
        *hash = XXH3_64bits_withSeed(capture->pending.bytes, capture->pending.captured_bytes,
                                     (uint64_t)capture->pending.time_ns);
    return true;
}
