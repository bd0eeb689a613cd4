/* SPDX-License-Identifier: Apache-2.0 */
#include "erspan_clock.h"

#include "octets.h"

/* draft-foschiano-erspan-03 §4.3. */
#define SESSION_ID_MASK   0x03ffu
#define HARDWARE_ID_SHIFT 4
#define HARDWARE_ID_MASK  0x3fu
#define UNIT_SHIFT        1
#define UNIT_MASK         0x3u
#define HARDWARE_ID_BITS  6

#define TICK_NS   UINT64_C(100)
#define PERIOD_NS (TICK_NS << 32)

#define WINDOW_NS CKP_NANOS_PER_SECOND

/* 100 ppm is what an oscillator may be off; as much again catches up. */
#define SLEW_PARTS 5000 /* one in so many */

/* After such a silence two clocks may be 12 ms apart. */
#define SILENCE_NS (60 * CKP_NANOS_PER_SECOND)

struct ckp_erspan_stamp ckp_erspan_stamp_read(const struct ckp_frame *frame,
                                              const struct ckp_packet *packet)
{
    const uint8_t *ip = frame->bytes + packet->erspan_ip_at;
    const uint8_t *erspan = frame->bytes + packet->erspan_at;
    uint16_t flags = ckp_load_be16(erspan + 10);

    return (struct ckp_erspan_stamp){
        .source = ip[0] >> 4 == 4 ? ckp_address_from_ipv4(ip + 12) : ckp_address_from_ipv6(ip + 8),
        .ticks = ckp_load_be32(erspan + 4),
        .session_id = ckp_load_be16(erspan + 2) & SESSION_ID_MASK,
        .hardware_id = flags >> HARDWARE_ID_SHIFT & HARDWARE_ID_MASK,
        .unit = (enum ckp_erspan_unit)(flags >> UNIT_SHIFT & UNIT_MASK),
    };
}

static uint64_t minus(uint64_t a_ns, uint64_t b_ns)
{
    return a_ns >= b_ns ? a_ns - b_ns : a_ns + PERIOD_NS - b_ns;
}

/* The same as the shortest way from b to a, which may lead back. */
static int64_t distance(uint64_t a_ns, uint64_t b_ns)
{
    uint64_t ahead_ns = minus(a_ns, b_ns);

    return ahead_ns < PERIOD_NS / 2 ? (int64_t)ahead_ns : (int64_t)ahead_ns - (int64_t)PERIOD_NS;
}

static bool is_near(int64_t distance_ns)
{
    return distance_ns <= CKP_ERSPAN_WAIT_MAX_NS && distance_ns >= -CKP_ERSPAN_WAIT_MAX_NS;
}

static void set_clock(struct ckp_erspan_source *source, uint64_t offset_ns, int64_t arrival_ns)
{
    source->strays = 0;
    source->first_ns = arrival_ns;
    source->window_end_ns = arrival_ns + WINDOW_NS;
    source->offset_ns = source->lowest_ns[0] = source->lowest_ns[1] = offset_ns;
}

static bool is_of(const struct ckp_erspan_source *source, const struct ckp_erspan_stamp *stamp,
                  uint32_t id)
{
    return source->last_ns != 0 && source->id == id &&
           source->address.word[0] == stamp->source.word[0] &&
           source->address.word[1] == stamp->source.word[1];
}

/* A new one takes the place of the one in its set that was heard of longest ago. */
static struct ckp_erspan_source *find(struct ckp_erspan_clocks *clocks,
                                      struct ckp_counters *counters,
                                      const struct ckp_erspan_stamp *stamp)
{
    uint32_t id = (uint32_t)stamp->session_id << HARDWARE_ID_BITS | stamp->hardware_id;
    uint64_t hash =
        (stamp->source.word[0] ^ stamp->source.word[1] ^ id) * UINT64_C(0x9e3779b97f4a7c15);
    struct ckp_erspan_source *set = clocks->source[(hash >> 32) % CKP_ERSPAN_SETS];
    struct ckp_erspan_source *oldest = set;

    for (unsigned i = 0; i < CKP_ERSPAN_WAYS; i++) {
        if (is_of(&set[i], stamp, id))
            return &set[i];
        if (set[i].last_ns < oldest->last_ns)
            oldest = &set[i];
    }
    if (oldest->last_ns != 0)
        ckp_count(counters, CKP_COUNT_ERSPAN_SOURCES_EVICTED, 1);
    *oldest = (struct ckp_erspan_source){.address = stamp->source, .id = id};
    return oldest;
}

static void refuse(struct ckp_erspan_source *source, struct ckp_counters *counters,
                   uint64_t offset_ns, int64_t arrival_ns)
{
    ckp_count(counters, CKP_COUNT_ERSPAN_STAMPS_REFUSED, 1);
    if (source->strays == 0 || !is_near(distance(offset_ns, source->first_stray_ns))) {
        source->strays = 0;
        source->first_stray_ns = offset_ns;
    }
    if (++source->strays < CKP_ERSPAN_STRAYS)
        return;
    ckp_count(counters, CKP_COUNT_ERSPAN_CLOCKS_SET, 1);
    set_clock(source, offset_ns, arrival_ns);
}

/* Slides the windows on. @return the lowest of both */
static uint64_t lowest_of_windows(struct ckp_erspan_source *source, uint64_t offset_ns,
                                  int64_t arrival_ns)
{
    uint64_t *lowest_ns = source->lowest_ns;

    if (arrival_ns >= source->window_end_ns) {
        lowest_ns[1] = lowest_ns[0];
        lowest_ns[0] = offset_ns;
        source->window_end_ns = arrival_ns + WINDOW_NS;
    } else if (distance(offset_ns, lowest_ns[0]) < 0) {
        lowest_ns[0] = offset_ns;
    }
    return distance(lowest_ns[0], lowest_ns[1]) < 0 ? lowest_ns[0] : lowest_ns[1];
}

static void follow(struct ckp_erspan_source *source, uint64_t lowest_ns, int64_t elapsed_ns)
{
    int64_t step_ns = distance(lowest_ns, source->offset_ns);
    int64_t highest_ns = elapsed_ns > 0 ? elapsed_ns / SLEW_PARTS : 0;

    if (step_ns > highest_ns)
        step_ns = highest_ns;
    source->offset_ns = step_ns >= 0 ? (source->offset_ns + (uint64_t)step_ns) % PERIOD_NS
                                     : minus(source->offset_ns, (uint64_t)-step_ns);
}

int64_t ckp_erspan_time_ns(struct ckp_erspan_clocks *clocks, struct ckp_counters *counters,
                           const struct ckp_erspan_stamp *stamp, int64_t arrival_ns)
{
    if (stamp->unit != CKP_ERSPAN_100_NS) {
        ckp_count(counters, CKP_COUNT_ERSPAN_STAMPS_UNUSABLE, 1);
        return arrival_ns;
    }
    struct ckp_erspan_source *source = find(clocks, counters, stamp);
    uint64_t offset_ns = minus((uint64_t)arrival_ns % PERIOD_NS, stamp->ticks * TICK_NS);
    int64_t elapsed_ns = arrival_ns - source->last_ns;
    if (source->last_ns == 0 || elapsed_ns > SILENCE_NS)
        set_clock(source, offset_ns, arrival_ns);
    source->last_ns = arrival_ns > 0 ? arrival_ns : 1;
    if (!is_near(distance(offset_ns, source->offset_ns))) {
        refuse(source, counters, offset_ns, arrival_ns);
        return arrival_ns;
    }

    source->strays = 0;
    follow(source, lowest_of_windows(source, offset_ns, arrival_ns), elapsed_ns);
    int64_t wait_ns = distance(offset_ns, source->offset_ns);
    if (arrival_ns - source->first_ns < CKP_ERSPAN_PROOF_NS) {
        ckp_count(counters, CKP_COUNT_ERSPAN_STAMPS_UNPROVEN, 1);
        return arrival_ns;
    }
    ckp_count(counters, CKP_COUNT_ERSPAN_STAMPS_USED, 1);
    return arrival_ns - wait_ns;
}
