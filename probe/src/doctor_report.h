/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of the doctor, as its parts write them. */
#ifndef CKP_DOCTOR_REPORT_H
#define CKP_DOCTOR_REPORT_H

#include "facts.h"

#include <stdarg.h>
#include <stdio.h>

enum verdict { OK, WARN, FAIL, SKIPPED };

struct report {
    const struct ckp_facts *facts;
    FILE *out;
    bool is_well; /* nothing has failed */
};

__attribute__((format(printf, 4, 5))) static inline void
say(struct report *report, enum verdict verdict, const char *name, const char *format, ...)
{
    static const char *const texts[] = {"ok", "warn", "FAIL", "-"};
    va_list arguments;

    report->is_well &= verdict != FAIL;
    fprintf(report->out, "%-5s %-10s ", texts[verdict], name);
    va_start(arguments, format);
    vfprintf(report->out, format, arguments);
    va_end(arguments);
    fputc('\n', report->out);
}

/* The remedy of what was just said. */
__attribute__((format(printf, 2, 3))) static inline void mend(struct report *report,
                                                              const char *format, ...)
{
    va_list arguments;

    fprintf(report->out, "%17s", "");
    va_start(arguments, format);
    vfprintf(report->out, format, arguments);
    va_end(arguments);
    fputc('\n', report->out);
}

/** Whether one of the ports is a card. */
bool ckp_doctor_has_card(const struct ckp_facts *facts);

void ckp_doctor_tell_ports(struct report *report);

#endif
