/* SPDX-License-Identifier: Apache-2.0 */
#include "state_file.h"

#include "options.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC         "CKPSTATE"
#define FORMAT        1u
#define ALIGN_BYTES   65536u /* of the largest pages there are */
#define COUNTER_BYTES 4096u  /* of a worker, so that no two share a cache line */
#define LOCK_TRIES    20u
#define LOCK_PAUSE_US 50000u

_Static_assert(sizeof(struct ckp_counters) <= COUNTER_BYTES, "a slot for each worker");

/* Then, each at a multiple of ALIGN_BYTES: the counters of all workers; the totals of all. */
struct header {
    char magic[8];
    uint64_t layout;   /* of this format and these counters */
    uint64_t checksum; /* of the facts */
    struct ckp_session_facts facts;
    _Atomic uint32_t is_settled;
};

struct ckp_state_file {
    int descriptor; /* has the lock */
    uint8_t *counters;
    size_t counters_bytes;
    struct header *map;
    size_t map_bytes;
    uint32_t partition_count;
};

static size_t aligned(size_t bytes)
{
    return (bytes + ALIGN_BYTES - 1) / ALIGN_BYTES * ALIGN_BYTES;
}

static size_t totals_at(uint32_t worker_count)
{
    return ALIGN_BYTES + aligned((size_t)worker_count * COUNTER_BYTES);
}

static size_t totals_bytes(const struct ckp_session_facts *facts)
{
    return sizeof(struct ckp_partition_totals) * facts->worker_count * facts->partition_count;
}

static size_t file_bytes(const struct ckp_session_facts *facts)
{
    return totals_at(facts->worker_count) + aligned(totals_bytes(facts));
}

/* FNV-1a: against damage, not against people, who cannot write the file. */
static uint64_t hash(uint64_t so_far, const void *bytes, size_t count)
{
    for (const uint8_t *byte = bytes, *end = byte + count; byte < end; byte++)
        so_far = (so_far ^ *byte) * UINT64_C(0x100000001b3);
    return so_far;
}

static uint64_t layout(void)
{
    uint64_t so_far = UINT64_C(0xcbf29ce484222325) + FORMAT;

    for (int i = 0; i < CKP_COUNTERS; i++)
        so_far = hash(so_far, ckp_counter_info[i].name, strlen(ckp_counter_info[i].name) + 1);
    return so_far + sizeof(struct header);
}

static uint64_t checksum(const struct ckp_session_facts *facts)
{
    return hash(UINT64_C(0xcbf29ce484222325), facts, sizeof *facts);
}

/* Who was killed a moment ago may still have it. */
static bool take_lock(int descriptor)
{
    for (unsigned tries = 0; tries < LOCK_TRIES; tries++) {
        if (flock(descriptor, LOCK_EX | LOCK_NB) == 0)
            return true;
        if (errno != EWOULDBLOCK && errno != EINTR)
            return false;
        usleep(LOCK_PAUSE_US);
    }
    return false;
}

static const char *why_not(int descriptor)
{
    char magic[sizeof MAGIC - 1];
    struct stat status;

    if (fstat(descriptor, &status) != 0)
        return strerror(errno);
    if (!S_ISREG(status.st_mode))
        return "is no regular file";
    if (status.st_uid != geteuid() || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return "can be written by others";
    if (!take_lock(descriptor))
        return errno == EWOULDBLOCK ? "is in use by another probe" : strerror(errno);
    ssize_t bytes = pread(descriptor, magic, sizeof magic, 0);
    if (bytes < 0)
        return strerror(errno);
    bool is_blank = true; /* begun, and killed before there was anything to keep */
    for (ssize_t i = 0; i < bytes; i++)
        is_blank &= magic[i] == '\0';
    bool is_ours = bytes == (ssize_t)sizeof magic && memcmp(magic, MAGIC, sizeof magic) == 0;
    return is_blank || is_ours ? NULL : "was not made by a probe";
}

struct ckp_state_file *ckp_state_file_open(const char *path, char *why, size_t why_size)
{
    struct ckp_state_file *file = calloc(1, sizeof *file);
    int descriptor = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    const char *reason = descriptor < 0 ? strerror(errno) : why_not(descriptor);

    if (!reason && file) {
        file->descriptor = descriptor;
        return file;
    }
    snprintf(why, why_size, "%s", reason ? reason : "finds no memory");
    if (descriptor >= 0)
        close(descriptor);
    free(file);
    return NULL;
}

void ckp_state_file_close(struct ckp_state_file *file)
{
    if (!file)
        return;
    if (file->map)
        munmap(file->map, file->map_bytes);
    if (file->counters)
        munmap(file->counters, file->counters_bytes);
    close(file->descriptor);
    free(file);
}

static bool read_at(int descriptor, void *to, size_t bytes, size_t at)
{
    for (uint8_t *out = to; bytes > 0;) {
        ssize_t got = pread(descriptor, out, bytes, (off_t)at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        out += got;
        at += (size_t)got;
        bytes -= (size_t)got;
    }
    return true;
}

static bool is_text(const char *text, size_t size)
{
    return memchr(text, '\0', size) != NULL && ckp_is_name(text);
}

static bool are_facts(const struct ckp_session_facts *facts)
{
    return is_text(facts->probe, sizeof facts->probe) && is_text(facts->tap, sizeof facts->tap) &&
           memchr(facts->topic, '\0', sizeof facts->topic) && facts->worker_count >= 1 &&
           facts->worker_count <= UINT16_MAX && facts->partition_count >= 1 &&
           facts->partition_count <= UINT16_MAX + 1 &&
           facts->timestamp_source <= CKP_TIMESTAMP_BURST;
}

static const char *read_numbers(const struct ckp_state_file *file,
                                struct ckp_killed_session *killed)
{
    const struct ckp_session_facts *facts = &killed->facts;
    size_t bytes = totals_bytes(facts);
    bool is_read = true;

    killed->counters = calloc(facts->worker_count, sizeof *killed->counters);
    killed->totals = malloc(bytes);
    if (!killed->counters || !killed->totals)
        return "finds no memory";
    for (uint32_t i = 0; i < facts->worker_count; i++)
        is_read &= read_at(file->descriptor, &killed->counters[i], sizeof *killed->counters,
                           ALIGN_BYTES + (size_t)i * COUNTER_BYTES);
    is_read &= read_at(file->descriptor, killed->totals, bytes, totals_at(facts->worker_count));
    return is_read ? NULL : "is cut off";
}

enum ckp_state ckp_state_file_read(const struct ckp_state_file *file,
                                   struct ckp_killed_session *killed, char *why, size_t why_size)
{
    struct header header;
    const char *reason = NULL;

    *killed = (struct ckp_killed_session){.counters = NULL};
    if (!read_at(file->descriptor, header.magic, sizeof header.magic, 0) || header.magic[0] == '\0')
        return CKP_STATE_SETTLED;
    if (!read_at(file->descriptor, &header, sizeof header, 0))
        reason = "is cut off";
    else if (header.layout != layout())
        reason = "is of another version of the probe";
    else if (header.checksum != checksum(&header.facts) || !are_facts(&header.facts))
        reason = "is damaged";
    else if (header.is_settled)
        return CKP_STATE_SETTLED;
    if (!reason) {
        killed->facts = header.facts;
        reason = read_numbers(file, killed);
    }
    if (!reason)
        return CKP_STATE_KILLED;
    snprintf(why, why_size, "%s", reason);
    ckp_killed_session_free(killed);
    return CKP_STATE_UNREADABLE;
}

struct ckp_counters *ckp_state_file_counters(struct ckp_state_file *file, uint32_t worker,
                                             uint32_t worker_count)
{
    if (!file->counters) {
        size_t bytes = aligned((size_t)worker_count * COUNTER_BYTES);
        void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (pages == MAP_FAILED)
            return NULL;
        file->counters = pages;
        file->counters_bytes = bytes;
    }
    return (void *)(file->counters + (size_t)worker * COUNTER_BYTES);
}

/* All of it now, for there may be no room later, and who writes into a page without any is killed.
 */
static int make_room(int descriptor, size_t bytes)
{
    return ftruncate(descriptor, 0) != 0 ? errno : posix_fallocate(descriptor, 0, (off_t)bytes);
}

/* The pages that have been counted in become those of the file, with what they hold. */
static bool move_counters(struct ckp_state_file *file)
{
    memcpy((uint8_t *)file->map + ALIGN_BYTES, file->counters, file->counters_bytes);
    return mmap(file->counters, file->counters_bytes, PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_FIXED, file->descriptor, ALIGN_BYTES) == file->counters;
}

bool ckp_state_file_begin(struct ckp_state_file *file, const struct ckp_session_facts *facts,
                          char *why, size_t why_size)
{
    size_t bytes = file_bytes(facts);
    int error = make_room(file->descriptor, bytes);
    void *map = error ? MAP_FAILED
                      : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
                             file->descriptor, 0);

    if (map == MAP_FAILED) {
        snprintf(why, why_size, "has no room: %s", strerror(error ? error : errno));
        return false;
    }
    file->map = map;
    file->map_bytes = bytes;
    file->partition_count = facts->partition_count;
    if (!move_counters(file)) {
        snprintf(why, why_size, "cannot be counted in: %s", strerror(errno));
        munmap(map, bytes);
        file->map = NULL;
        return false;
    }
    file->map->layout = layout();
    file->map->facts = *facts;
    file->map->checksum = checksum(facts);
    atomic_thread_fence(memory_order_release); /* with the magic it is whole */
    memcpy(file->map->magic, MAGIC, sizeof file->map->magic);
    return true;
}

struct ckp_partition_totals *ckp_state_file_totals(const struct ckp_state_file *file,
                                                   uint32_t worker)
{
    if (!file->map)
        return NULL;
    uint32_t worker_count = file->map->facts.worker_count;
    struct ckp_partition_totals *all = (void *)((uint8_t *)file->map + totals_at(worker_count));

    return &all[(size_t)worker * file->partition_count];
}

void ckp_state_file_settle(struct ckp_state_file *file)
{
    if (file->map)
        file->map->is_settled = 1;
}
