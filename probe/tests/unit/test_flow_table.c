/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table against a plain array: after every operation whatever was added is found under its
 * handle, whatever was removed is not, and who is scheduled is visited in time, once. Operations
 * are random, from the seeds printed; CKP_SEED=N in the environment tries another one.
 */
#include "flow_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define FLOWS_MAX 3000u
#define SEEDS     4u

#define TICK_NS    (INT64_C(1) << CKP_WHEEL_TICK_SHIFT)
#define HORIZON_NS ((int64_t)CKP_WHEEL_SLOTS * TICK_NS)
#define NEVER      INT64_MAX

/* How the table is driven. */
struct regime {
    const char *name;
    uint32_t flows; /* at most */
    uint32_t operations;
    uint32_t compare_every;     /* operations between two comparisons of everything */
    uint32_t colliding_percent; /* of flows that share a home with others */
    bool has_written_keys;
};

struct model_flow {
    uint32_t handle; /* CKP_FLOW_NONE: is not in the table */
    uint64_t hash;
    int64_t due_ns;          /* NEVER: is not scheduled */
    uint64_t scheduled_tick; /* of the wheel then */
    bool may_come_before;
};

static struct ckp_flow_table table;
static struct model_flow model[FLOWS_MAX];
static uint32_t owner[FLOWS_MAX]; /* of each handle: number of a flow, or FLOWS_MAX */
static uint32_t living;
static uint32_t colliding_percent;
static int64_t now_ns;
static uint64_t random_state;

static uint32_t random_below(uint32_t limit)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % limit;
}

static struct ckp_flow_key key_of(uint32_t number)
{
    return (struct ckp_flow_key){.low_address = {{0, number}}, .high_port = 443};
}

/* What another may know it by. */
static struct ckp_flow_key written_key_of(uint32_t number)
{
    return (struct ckp_flow_key){.low_address = {{7, ~(uint64_t)number}}, .high_port = 7};
}

/* Few homes and fewer tags, so that probe sequences collide, overlap and go around the end: at the
 * last buckets of a table of any size, at the first ones, or scattered. */
static uint64_t random_hash(void)
{
    uint64_t tag = (uint64_t)random_below(3) << 32;

    switch (random_below(100) < colliding_percent ? random_below(3) : 3) {
    case 0:
        return tag | (UINT32_MAX - random_below(6));
    case 1:
        return tag | random_below(6);
    case 2:
        return tag | (UINT32_MAX / 2 - random_below(3));
    default:
        return tag | random_below(UINT32_MAX);
    }
}

/* --- comparing --- */

static void compare_flow(uint32_t number)
{
    struct ckp_flow_key key = key_of(number), written = written_key_of(number);
    const struct model_flow *expected = &model[number];

    assert_int_equal(ckp_flow_table_find(&table, &key, expected->hash), expected->handle);
    if (expected->handle == CKP_FLOW_NONE)
        return;
    const struct ckp_flow *flow = ckp_flow_at(&table, expected->handle);
    assert_true(flow->is_living);
    assert_true(ckp_flow_key_equal(&flow->key, &key));
    assert_true(ckp_flow_key_equal(flow->written_key, table.has_written_keys ? &written : &key));
    assert_int_equal(flow->packets_before, number);
}

static void compare_all(uint32_t flows)
{
    for (uint32_t number = 0; number < flows; number++)
        compare_flow(number);
    assert_int_equal(table.living, living);
    assert_true(table.bucket_mask + 1 >= 2 * (size_t)living);
}

/* --- operations --- */

static void add(uint32_t number)
{
    struct model_flow *flow = &model[number];
    struct ckp_flow_key key = key_of(number);

    flow->hash = random_hash();
    flow->due_ns = NEVER;
    assert_int_equal(ckp_flow_table_find(&table, &key, flow->hash), CKP_FLOW_NONE);
    flow->handle = ckp_flow_table_add(&table, &key, flow->hash);
    assert_true(flow->handle < FLOWS_MAX); /* handles are used again before new ones are */
    assert_int_equal(owner[flow->handle], FLOWS_MAX);
    owner[flow->handle] = number;
    living++;

    struct ckp_flow *added = ckp_flow_at(&table, flow->handle);
    assert_int_equal(added->packets_before, 0);
    assert_int_equal(added->run.packets, 0);
    assert_true(ckp_flow_key_equal(added->written_key, &key));
    added->packets_before = number;
    if (table.has_written_keys)
        *added->written_key = written_key_of(number);
}

static void remove_flow(uint32_t number)
{
    ckp_flow_table_remove(&table, model[number].handle);
    owner[model[number].handle] = FLOWS_MAX;
    model[number].handle = CKP_FLOW_NONE;
    model[number].due_ns = NEVER;
    living--;
}

/* In the past, soon, at either side of the horizon, or far away. */
static int64_t random_due_ns(void)
{
    int64_t jitter_ns = (int64_t)random_below(1000000000) - 500000000, due_ns = 0;

    switch (random_below(6)) {
    case 0:
        due_ns = now_ns - random_below(10) * TICK_NS;
        break;
    case 1:
        due_ns = now_ns + random_below(8) * TICK_NS;
        break;
    case 2:
        due_ns = now_ns + random_below(300) * INT64_C(1000000000);
        break;
    case 3:
        due_ns = now_ns + HORIZON_NS + ((int64_t)random_below(9) - 4) * TICK_NS;
        break;
    case 4:
        due_ns = now_ns + random_below(4000) * INT64_C(1000000000);
        break;
    default:
        due_ns = now_ns;
        jitter_ns = random_below(2);
    }
    return due_ns + jitter_ns < 0 ? 0 : due_ns + jitter_ns;
}

/* What is long due is due now. A visit that is due later than the wheel reaches may come before. */
static void schedule(uint32_t number)
{
    struct model_flow *flow = &model[number];
    int64_t due_ns = random_due_ns(), reach_ns = (int64_t)table.wheel_tick * TICK_NS + HORIZON_NS;

    ckp_flow_table_schedule(&table, flow->handle, due_ns);
    if (due_ns < now_ns)
        due_ns = now_ns;
    if (flow->due_ns != NEVER && flow->due_ns <= due_ns)
        return;
    bool was_early = flow->due_ns != NEVER && flow->may_come_before;
    flow->due_ns = due_ns;
    flow->scheduled_tick = table.wheel_tick;
    flow->may_come_before = was_early || due_ns >= reach_ns - 2 * TICK_NS;
}

static void visit(uint32_t handle)
{
    assert_true(handle < FLOWS_MAX && owner[handle] != FLOWS_MAX);
    struct model_flow *flow = &model[owner[handle]];
    assert_true(flow->due_ns != NEVER);                   /* scheduled, and not visited since */
    assert_true(flow->scheduled_tick < table.wheel_tick); /* else a round might never end */
    assert_true(flow->due_ns <= now_ns || flow->may_come_before);
    flow->due_ns = NEVER;

    switch (random_below(4)) { /* as its contract says, but for some that are never seen again */
    case 0:
        remove_flow(owner[handle]);
        break;
    case 1:
        break;
    default:
        schedule(owner[handle]);
    }
}

/* A little, some seconds, about a turn of the wheel, or many. Visits may schedule for the past,
 * which is due at the next tick: the round has an end. */
static void let_time_pass(uint32_t flows)
{
    uint32_t handle;

    switch (random_below(8)) {
    case 0:
        now_ns += HORIZON_NS + ((int64_t)random_below(9) - 4) * TICK_NS;
        break;
    case 1:
        now_ns += random_below(50) * HORIZON_NS / 7;
        break;
    case 2:
    case 3:
        now_ns += random_below(20) * INT64_C(1000000000);
        break;
    default:
        now_ns += random_below(3) * TICK_NS / 2;
    }
    while ((handle = ckp_flow_table_next_due(&table, now_ns)) != CKP_FLOW_NONE)
        visit(handle);
    bool is_late = false;
    for (uint32_t number = 0; number < flows; number++)
        is_late |= model[number].due_ns <= now_ns - 2 * TICK_NS;
    assert_false(is_late);
}

static void operate(uint32_t flows, uint32_t growth)
{
    uint32_t number = random_below(flows);

    if (random_below(40) == 0) {
        let_time_pass(flows);
    } else if (model[number].handle == CKP_FLOW_NONE) {
        if (random_below(100) < growth)
            add(number);
    } else if (random_below(100) >= growth) {
        remove_flow(number);
    } else {
        schedule(number);
    }
    compare_flow(number);
    compare_flow(random_below(flows));
}

static void drive(const struct regime *regime, uint64_t seed)
{
    random_state = seed;
    colliding_percent = regime->colliding_percent;
    now_ns = 0;
    living = 0;
    for (uint32_t i = 0; i < FLOWS_MAX; i++) {
        model[i] = (struct model_flow){.handle = CKP_FLOW_NONE, .due_ns = NEVER};
        owner[i] = FLOWS_MAX;
    }
    assert_true(ckp_flow_table_init(&table, regime->has_written_keys));
    for (uint32_t i = 0; i < regime->operations; i++) {
        uint32_t growth = i / (regime->operations / 8) % 2 ? 20 : 85; /* fills, empties ... */
        operate(regime->flows, growth);
        if (i % regime->compare_every == 0)
            compare_all(regime->flows);
    }
    compare_all(regime->flows);
    ckp_flow_table_free(&table);
}

static void drive_from_seeds(const struct regime *regime)
{
    const char *given = getenv("CKP_SEED");

    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        uint64_t used = given ? strtoull(given, NULL, 0) : seed;
        print_message("%s: CKP_SEED=%llu\n", regime->name, (unsigned long long)used);
        drive(regime, used);
        if (given)
            return;
    }
}

static void test_few_flows_that_collide(void **state)
{
    (void)state;
    drive_from_seeds(&(struct regime){"few", 40, 8000, 1, 75, false});
}

static void test_few_flows_under_two_keys(void **state)
{
    (void)state;
    drive_from_seeds(&(struct regime){"two keys", 40, 8000, 1, 75, true});
}

static void test_many_flows_that_make_it_grow(void **state)
{
    (void)state;
    drive_from_seeds(&(struct regime){"many", FLOWS_MAX, 40000, 5000, 5, true});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_few_flows_that_collide),
        cmocka_unit_test(test_few_flows_under_two_keys),
        cmocka_unit_test(test_many_flows_that_make_it_grow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
