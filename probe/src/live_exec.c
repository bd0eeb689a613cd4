/* SPDX-License-Identifier: Apache-2.0 */
/* DPDK takes half a second to load its drivers, so it lives in a program of its own: the one beside
 * this, with the same options. */
#include "live_play.h"

#include "check.h"
#include "exit_code.h"
#include "log.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Returns only if that fails, with one sentence. */
static void start(const struct ckp_options *options, char *why, size_t why_size)
{
    char path[PATH_MAX];
    ssize_t bytes = readlink("/proc/self/exe", path, sizeof path - sizeof "-live");

    if (bytes > 0) {
        strcpy(path + bytes, "-live");
        /* Huge pages for what it allocates, if the machine has any: a million flows lie on 50,000
         * small ones, more than a core can keep the addresses of. */
        setenv("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1", false);
        execv(path, options->argv);
    }
    snprintf(why, why_size, "%s cannot be started: %s", bytes > 0 ? path : "chokepoint-probe-live",
             strerror(errno));
}

int ckp_play_ports(const struct ckp_options *options, const volatile sig_atomic_t *stop)
{
    char why[PATH_MAX + 128];

    (void)stop;
    start(options, why, sizeof why);
    ckp_log("%s", why);
    return CKP_EXIT_NOT_ALL_DONE;
}

void ckp_check_ports(struct ckp_facts *facts, const struct ckp_options *options)
{
    start(options, facts->why_not_open, sizeof facts->why_not_open);
}
