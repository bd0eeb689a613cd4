/* SPDX-License-Identifier: Apache-2.0 */
#include "interfaces.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define BITS_PER_MEGABIT UINT64_C(1000000)

struct ckp_interfaces {
    FILE *counters; /* of the network namespace that it was opened in */
    int socket;     /* for questions */
};

struct ckp_interfaces *ckp_interfaces_open(void)
{
    struct ckp_interfaces *interfaces = calloc(1, sizeof *interfaces);

    if (!interfaces)
        return NULL;
    interfaces->counters = fopen("/proc/self/net/dev", "re");
    interfaces->socket = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (interfaces->counters)
        return interfaces;
    ckp_interfaces_close(interfaces);
    return NULL;
}

void ckp_interfaces_close(struct ckp_interfaces *interfaces)
{
    if (!interfaces)
        return;
    if (interfaces->counters)
        fclose(interfaces->counters);
    if (interfaces->socket >= 0)
        close(interfaces->socket);
    free(interfaces);
}

struct ckp_interface_frames ckp_interfaces_frames(const struct ckp_interfaces *interfaces,
                                                  const char *name)
{
    char line[512];
    struct ckp_interface_frames frames = {0};

    if (!interfaces || !*name)
        return frames;
    rewind(interfaces->counters);
    while (fgets(line, sizeof line, interfaces->counters)) {
        char *at = line + strspn(line, " ");
        char *colon = strchr(at, ':');
        if (!colon || strlen(name) != (size_t)(colon - at) || strncmp(name, at, strlen(name)) != 0)
            continue;
        if (sscanf(colon + 1, "%*u %" SCNu64 " %*u %" SCNu64, &frames.received, &frames.dropped) !=
            2)
            frames = (struct ckp_interface_frames){0};
    }
    return frames;
}

struct ckp_interface_link ckp_interfaces_link(const struct ckp_interfaces *interfaces,
                                              const char *name)
{
    struct ckp_interface_link link = {0};
    struct ethtool_cmd settings = {.cmd = ETHTOOL_GSET};
    struct ifreq request = {0};

    if (!interfaces || !*name || strlen(name) >= sizeof request.ifr_name)
        return link;
    strcpy(request.ifr_name, name);
    if (ioctl(interfaces->socket, SIOCGIFFLAGS, &request) != 0) {
        link.is_known = link.is_gone = errno == ENODEV || errno == ENXIO;
        return link;
    }
    link.is_known = true;
    link.is_up = (request.ifr_flags & IFF_RUNNING) != 0;
    request.ifr_data = (void *)&settings;
    if (ioctl(interfaces->socket, SIOCETHTOOL, &request) == 0 &&
        ethtool_cmd_speed(&settings) != (uint32_t)SPEED_UNKNOWN)
        link.bits_per_second = ethtool_cmd_speed(&settings) * BITS_PER_MEGABIT;
    return link;
}
