/* SPDX-License-Identifier: Apache-2.0 */
#include "eal.h"

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARGUMENTS_MAX 64
#define TEXT_MAX      4096
#define CORES_MAX     512 /* bytes of a list of cores */

struct arguments {
    char text[TEXT_MAX];
    size_t used;
    char *argv[ARGUMENTS_MAX + 1];
    int argc;
    bool is_too_long;
    bool names_cores;
};

static void add_bytes(struct arguments *arguments, const char *text, size_t bytes)
{
    if (arguments->argc == ARGUMENTS_MAX || arguments->used + bytes + 1 > TEXT_MAX) {
        arguments->is_too_long = true;
        return;
    }
    char *copy = arguments->text + arguments->used;
    memcpy(copy, text, bytes);
    copy[bytes] = '\0';
    arguments->used += bytes + 1;
    arguments->argv[arguments->argc++] = copy;
    arguments->names_cores |= strncmp(copy, "-l", 2) == 0 || strncmp(copy, "-c", 2) == 0 ||
                              strncmp(copy, "--lcores", strlen("--lcores")) == 0;
}

static void add(struct arguments *arguments, const char *text)
{
    add_bytes(arguments, text, strlen(text));
}

/* The cores that this process may run on, as "0,1,5". */
static void list_cores(char *list, size_t size)
{
    cpu_set_t cores;
    size_t used = 0;

    CPU_ZERO(&cores);
    sched_getaffinity(0, sizeof cores, &cores);
    for (size_t core = 0; core < CPU_SETSIZE && used + 8 < size; core++)
        if (CPU_ISSET(core, &cores))
            used += (size_t)snprintf(list + used, size - used, "%s%zu", used ? "," : "", core);
}

/* Left to itself DPDK would tie the first thread, and all that it starts, to one core, and start
 * one for each other. */
static void add_cores(struct arguments *arguments, uint32_t workers)
{
    char list[CORES_MAX], lcores[CORES_MAX + 32];

    list_cores(list, sizeof list);
    snprintf(lcores, sizeof lcores, "(0-%u)@(%s)", workers - 1, list);
    add(arguments, "--lcores");
    add(arguments, lcores);
}

static bool is_device_name(const char *spec)
{
    return strncmp(spec, "net_", 4) == 0;
}

/* What the user gave, then cores and devices. The PCI bus is left alone unless a PCI device is
 * asked for. */
static bool make_arguments(struct arguments *arguments, const char *const *specs, size_t count,
                           const char *given, uint32_t workers)
{
    bool needs_pci = false;

    add(arguments, "chokepoint-probe");
    while (*given) {
        size_t bytes = strcspn(given, " ");
        if (bytes > 0)
            add_bytes(arguments, given, bytes);
        given += bytes + strspn(given + bytes, " ");
    }
    if (!arguments->names_cores)
        add_cores(arguments, workers);
    for (size_t i = 0; i < count; i++) {
        needs_pci |= !is_device_name(specs[i]);
        add(arguments, is_device_name(specs[i]) ? "--vdev" : "-a");
        add(arguments, specs[i]);
    }
    if (!needs_pci)
        add(arguments, "--no-pci");
    return !arguments->is_too_long;
}

bool ckp_eal_start(const char *const *specs, size_t count, const char *given, uint32_t workers,
                   char *why, size_t why_size)
{
    struct arguments *arguments = calloc(1, sizeof *arguments);
    bool is_started = false;

    if (!arguments || !make_arguments(arguments, specs, count, given, workers))
        snprintf(why, why_size, "option --eal: '%s' is too long", given);
    else if (rte_eal_init(arguments->argc, arguments->argv) < 0)
        snprintf(why, why_size, "port %s cannot be opened: %s", specs[0], rte_strerror(rte_errno));
    else
        is_started = true;
    free(arguments);
    if (is_started && rte_lcore_count() < workers) {
        snprintf(why, why_size,
                 "option --eal: '%s' has %u cores, expected at least the %u of --workers", given,
                 rte_lcore_count(), workers);
        ckp_eal_stop();
        is_started = false;
    }
    return is_started;
}

void ckp_eal_stop(void)
{
    rte_eal_cleanup();
}

/* The first lcore is that of the caller. */
static unsigned lcore_of(uint32_t worker)
{
    unsigned lcore = (unsigned)-1;

    for (uint32_t i = 0; i < worker; i++)
        lcore = rte_get_next_lcore(lcore, 1, 0);
    return lcore;
}

void ckp_eal_launch(uint32_t worker, int (*work)(void *), void *argument)
{
    rte_eal_remote_launch(work, argument, lcore_of(worker));
}

void ckp_eal_join(void)
{
    rte_eal_mp_wait_lcore();
}
