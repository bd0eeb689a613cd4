/* SPDX-License-Identifier: Apache-2.0 */
/* Timelines of feeds: "0:10" is a packet of feed 0 stamped 10 ms. */
#include "merge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define MILLI CKP_NANOS_PER_MILLI

static struct ckp_merge merge;

static void push(uint32_t feed, int64_t time_ms)
{
    struct ckp_packet packet = {.segment = {.time_ns = time_ms * MILLI}, .vlan_id = (uint16_t)feed};

    assert_true(ckp_merge_has_room(&merge, feed));
    ckp_merge_push(&merge, feed, &packet);
}

/* All that can be popped at a time, as text. */
static const char *pop_all(int64_t now_ms)
{
    static char text[256];
    const struct ckp_packet *packet;
    size_t bytes = 0;

    text[0] = '\0';
    while ((packet = ckp_merge_pop(&merge, now_ms * MILLI)) != NULL)
        bytes += (size_t)snprintf(text + bytes, sizeof text - bytes, "%u:%d ", packet->vlan_id,
                                  (int)(packet->segment.time_ns / MILLI));
    return text;
}

static int set_up(void **state)
{
    (void)state;
    return ckp_merge_init(&merge, 2) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    ckp_merge_free(&merge);
    return 0;
}

static void test_the_answer_waits_for_the_question(void **state)
{
    (void)state;
    push(1, 12); /* the answer is delivered first */
    assert_string_equal(pop_all(13), "");
    push(0, 10);
    assert_string_equal(pop_all(13), "0:10 ");
}

static void test_a_packet_waits_no_longer_than_told(void **state)
{
    (void)state;
    push(0, 10);
    push(0, 11);
    assert_string_equal(pop_all(14), "");
    assert_string_equal(pop_all(15), "0:10 ");
    assert_string_equal(pop_all(100), "0:11 ");
}

static void test_feeds_are_woven_by_their_stamps(void **state)
{
    (void)state;
    push(0, 10);
    push(0, 13);
    push(0, 14);
    push(1, 11);
    push(1, 12);
    push(1, 15);
    assert_string_equal(pop_all(15), "0:10 1:11 1:12 0:13 0:14 ");
    assert_string_equal(pop_all(20), "1:15 ");
}

static void test_a_full_feed_waits_for_nobody(void **state)
{
    const struct ckp_packet *packet;

    (void)state;
    for (uint32_t i = 0; i < CKP_FEED_PACKETS_MAX; i++)
        push(0, i);
    assert_false(ckp_merge_has_room(&merge, 0));
    packet = ckp_merge_pop(&merge, 0);
    assert_non_null(packet);
    assert_int_equal(packet->segment.time_ns, 0);
    assert_true(ckp_merge_has_room(&merge, 0));
    assert_null(ckp_merge_pop(&merge, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_answer_waits_for_the_question, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_packet_waits_no_longer_than_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_feeds_are_woven_by_their_stamps, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_full_feed_waits_for_nobody, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
