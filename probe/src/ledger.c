/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger.h"

#include <inttypes.h>

/* The whole, then its parts, up to CKP_COUNTERS. */
struct equation {
    enum ckp_counter whole;
    enum ckp_counter parts[15];
};

static const struct equation equations[] = {
    {CKP_COUNT_FRAMES_RECEIVED,
     {CKP_COUNT_FRAMES_FILTERED, CKP_COUNT_FRAMES_SHED, CKP_COUNT_FRAMES_TIME_OUT_OF_RANGE,
      CKP_COUNT_FRAMES_NOT_IP, CKP_COUNT_FRAMES_NOT_TCP, CKP_COUNT_FRAMES_FRAGMENT_NOT_FIRST,
      CKP_COUNT_FRAMES_TRUNCATED, CKP_COUNT_FRAMES_MALFORMED_IP, CKP_COUNT_FRAMES_MALFORMED_TCP,
      CKP_COUNT_FRAMES_MALFORMED_TUNNEL, CKP_COUNT_FRAMES_NESTED_TOO_DEEP,
      CKP_COUNT_FRAMES_LOST_WHEN_KILLED, CKP_COUNT_PACKETS_ENCODED, CKP_COUNTERS}},
    {CKP_COUNT_PACKETS_ENCODED,
     {CKP_COUNT_PACKETS_DELIVERED, CKP_COUNT_PACKETS_UNDELIVERED_OUTPUT_CLOSED,
      CKP_COUNT_PACKETS_UNDELIVERED_OUTPUT_FAILED, CKP_COUNT_PACKETS_UNDELIVERED_QUEUE_FULL,
      CKP_COUNT_PACKETS_UNDELIVERED_TIMED_OUT, CKP_COUNT_PACKETS_UNDELIVERED_REFUSED,
      CKP_COUNT_PACKETS_UNDELIVERED_IN_DOUBT, CKP_COUNTERS}},
    {CKP_COUNT_BATCHES_ENCODED,
     {CKP_COUNT_BATCHES_DELIVERED, CKP_COUNT_BATCHES_UNDELIVERED, CKP_COUNTERS}},
    {CKP_COUNT_FLOWS_STARTED,
     {CKP_COUNT_FLOWS_ENDED_FIN, CKP_COUNT_FLOWS_ENDED_RST, CKP_COUNT_FLOWS_ENDED_IDLE,
      CKP_COUNT_FLOWS_ENDED_EVICTED, CKP_COUNT_FLOWS_ENDED_REPLACED,
      CKP_COUNT_FLOWS_ENDED_CAPTURE_END, CKP_COUNT_FLOWS_ENDED_SHED, CKP_COUNT_FLOWS_ENDED_KILLED,
      CKP_COUNTERS}},
};

#define EQUATIONS (sizeof equations / sizeof equations[0])

static uint64_t sum_of_parts(const struct equation *equation, const struct ckp_counters *counters)
{
    uint64_t sum = 0;

    for (const enum ckp_counter *part = equation->parts; *part != CKP_COUNTERS; part++)
        sum += counters->value[*part];
    return sum;
}

static const struct equation *equation_of(enum ckp_counter part)
{
    for (const struct equation *equation = equations;; equation++)
        for (const enum ckp_counter *at = equation->parts; *at != CKP_COUNTERS; at++)
            if (*at == part)
                return equation;
}

bool ckp_ledger_give_rest(struct ckp_counters *counters, enum ckp_counter fate, uint64_t slack)
{
    const struct equation *equation = equation_of(fate);
    uint64_t *whole = &counters->value[equation->whole];
    uint64_t parts = sum_of_parts(equation, counters);

    if (parts > *whole + slack)
        return false;
    if (parts > *whole)
        *whole = parts;
    counters->value[fate] += *whole - parts;
    return true;
}

bool ckp_ledger_is_balanced(const struct ckp_counters *counters, FILE *complaints)
{
    bool is_balanced = true;

    for (size_t i = 0; i < EQUATIONS; i++) {
        uint64_t whole = counters->value[equations[i].whole];
        uint64_t sum = sum_of_parts(&equations[i], counters);
        if (whole == sum)
            continue;
        is_balanced = false;
        if (complaints)
            fprintf(complaints,
                    "the ledger does not balance: %s is %" PRIu64 ", its parts are %" PRIu64 "\n",
                    ckp_counter_info[equations[i].whole].name, whole, sum);
    }
    return is_balanced;
}

bool ckp_ledger_all_balanced(const struct ckp_ledger *ledger, FILE *complaints)
{
    bool is_balanced = true;

    for (uint32_t i = 0; i < ledger->worker_count; i++)
        is_balanced &= ckp_ledger_is_balanced(ledger->workers[i], complaints);
    return is_balanced;
}

static struct ckp_counters sum_of_workers(const struct ckp_ledger *ledger)
{
    struct ckp_counters sum = {0};

    for (uint32_t i = 0; i < ledger->worker_count; i++)
        ckp_counters_add(&sum, ledger->workers[i]);
    return sum;
}

void ckp_ledger_print(const struct ckp_ledger *ledger, FILE *out)
{
    struct ckp_counters sum = sum_of_workers(ledger);

    fprintf(out, "ledger of tap %s, session %016" PRIx64 "\n", ledger->tap, ledger->session);
    for (int i = 0; i < CKP_COUNTERS; i++)
        if (sum.value[i] != 0)
            fprintf(out, "  %-34s %14" PRIu64 "  %s\n", ckp_counter_info[i].name, sum.value[i],
                    ckp_counter_info[i].help);
}

static void print_json_text(const char *text, FILE *out)
{
    fputc('"', out);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            fprintf(out, "\\%c", c);
        else if (c < 0x20)
            fprintf(out, "\\u%04x", c);
        else
            fputc(c, out);
    }
    fputc('"', out);
}

static void print_json_counters(const struct ckp_counters *counters, FILE *out)
{
    for (int i = 0; i < CKP_COUNTERS; i++)
        fprintf(out, "%s\"%s\":%" PRIu64, i ? "," : "{", ckp_counter_info[i].name,
                counters->value[i]);
    fputc('}', out);
}

void ckp_ledger_print_json(const struct ckp_ledger *ledger, FILE *out)
{
    struct ckp_counters sum = sum_of_workers(ledger);

    fputs("{\"record\":\"ledger\",\"probe\":", out);
    print_json_text(ledger->probe, out);
    fputs(",\"tap\":", out);
    print_json_text(ledger->tap, out);
    fprintf(out, ",\"session\":%" PRId64 ",\"balanced\":%s,\"counters\":", (int64_t)ledger->session,
            ckp_ledger_all_balanced(ledger, NULL) ? "true" : "false");
    print_json_counters(&sum, out);
    for (uint32_t i = 0; ledger->worker_count > 1 && i < ledger->worker_count; i++) {
        fputs(i ? "," : ",\"workers\":[", out);
        print_json_counters(ledger->workers[i], out);
    }
    fputs(ledger->worker_count > 1 ? "]}\n" : "}\n", out);
}

void ckp_ledger_print_counter_table(FILE *out)
{
    fputs("| counter | meaning |\n|---|---|\n", out);
    for (int i = 0; i < CKP_COUNTERS; i++)
        fprintf(out, "| `%s` | %s |\n", ckp_counter_info[i].name, ckp_counter_info[i].help);
}
