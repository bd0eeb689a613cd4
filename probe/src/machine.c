/* SPDX-License-Identifier: Apache-2.0 */
#include "machine.h"

#include "health.h"

#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define AF_PACKET_FRAMES 512 /* of the driver, unless told otherwise */
#define NODES_MAX        64
#define CORE_MAX         4095u

/* ---- files of the kernel ---- */

/* The first line of a file, without its end. @return false if it cannot be read */
__attribute__((format(printf, 3, 4))) static bool read_line(char *line, size_t size,
                                                            const char *format, ...)
{
    char path[PATH_MAX];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(path, sizeof path, format, arguments);
    va_end(arguments);
    line[0] = '\0';
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    bool is_read = fgets(line, (int)size, file) != NULL;
    fclose(file);
    line[strcspn(line, "\n")] = '\0';
    return is_read;
}

/* The number in a file; `otherwise` if there is none. */
__attribute__((format(printf, 2, 3))) static int64_t read_number(int64_t otherwise,
                                                                 const char *format, ...)
{
    char path[PATH_MAX], line[64];
    va_list arguments;
    char *end;

    va_start(arguments, format);
    vsnprintf(path, sizeof path, format, arguments);
    va_end(arguments);
    if (!read_line(line, sizeof line, "%s", path))
        return otherwise;
    long long number = strtoll(line, &end, 10);
    return end == line ? otherwise : number;
}

/* Whether a number is in a list such as 0-3,8. */
static bool is_in_list(const char *list, unsigned number)
{
    while (*list) {
        char *end;
        unsigned long from = strtoul(list, &end, 10), to = from;
        if (*end == '-')
            to = strtoul(end + 1, &end, 10);
        if (end != list && number >= from && number <= to)
            return true;
        list = end + strcspn(end, ",");
        list += *list == ',';
    }
    return false;
}

static unsigned count_entries(const char *path)
{
    unsigned count = 0;
    DIR *folder = opendir(path);

    for (struct dirent *entry; folder && (entry = readdir(folder)) != NULL;)
        count += entry->d_name[0] != '.';
    if (folder)
        closedir(folder);
    return count;
}

/* ---- arguments of DPDK ---- */

/* What follows an argument: behind a blank, or attached as in -l2 and --lcores=2. NULL if it is not
 * there. */
static const char *find_argument(const char *arguments, const char *name)
{
    size_t bytes = strlen(name);

    while (*arguments) {
        size_t argument_bytes = strcspn(arguments, " ");
        if (argument_bytes >= bytes && memcmp(arguments, name, bytes) == 0) {
            const char *behind = arguments + bytes;
            if (*behind == ' ' || *behind == '\0')
                return behind + strspn(behind, " ");
            if (name[1] != '-' || *behind == '=')
                return behind + (*behind == '=');
        }
        arguments += argument_bytes;
        arguments += strspn(arguments, " ");
    }
    return NULL;
}

bool ckp_machine_has_argument(const char *arguments, const char *name)
{
    return find_argument(arguments, name) != NULL;
}

uint64_t ckp_machine_argument_number(const char *arguments, const char *name)
{
    const char *text = find_argument(arguments, name);

    return text ? strtoull(text, NULL, 10) : 0;
}

/* ---- the machine ---- */

static void look_at_pages(struct ckp_facts *facts, int node, const char *folder)
{
    struct dirent *entry;
    uint64_t page_kib;
    DIR *sizes = opendir(folder);

    while (sizes && (entry = readdir(sizes)) != NULL) {
        if (facts->huge_pages_count == CKP_FACTS_PAGES_MAX ||
            sscanf(entry->d_name, "hugepages-%" SCNu64 "kB", &page_kib) != 1)
            continue;
        facts->huge_pages[facts->huge_pages_count++] = (struct ckp_huge_pages_fact){
            .node = node,
            .page_kib = page_kib,
            .pages = (uint64_t)read_number(0, "%s/%s/nr_hugepages", folder, entry->d_name),
            .free_pages = (uint64_t)read_number(0, "%s/%s/free_hugepages", folder, entry->d_name),
        };
    }
    if (sizes)
        closedir(sizes);
}

static bool has_hugetlbfs(void)
{
    char line[1024];
    bool is_found = false;
    FILE *mounts = fopen("/proc/self/mounts", "re");

    while (mounts && fgets(line, sizeof line, mounts))
        is_found |= strstr(line, " hugetlbfs ") != NULL;
    if (mounts)
        fclose(mounts);
    return is_found;
}

static int node_of_core(unsigned core)
{
    char path[64];

    for (int node = 0; node < NODES_MAX; node++) {
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/node%d", core, node);
        if (access(path, F_OK) == 0)
            return node;
    }
    return -1;
}

static void look_at_core(struct ckp_facts *facts, unsigned id, const char *isolated)
{
    if (facts->core_count == CKP_FACTS_CORES_MAX)
        return;
    struct ckp_core_fact *core = &facts->cores[facts->core_count++];
    core->id = id;
    core->node = node_of_core(id);
    core->is_online = is_in_list(facts->cores_online, id);
    core->is_isolated = is_in_list(isolated, id);
    read_line(core->governor, sizeof core->governor,
              "/sys/devices/system/cpu/cpu%u/cpufreq/scaling_governor", id);
}

static void look_at_cores(struct ckp_facts *facts, const char *eal)
{
    char isolated[CKP_LIST_TEXT_BYTES], chosen[CKP_LIST_TEXT_BYTES];
    const char *list = find_argument(eal, "-l");

    read_line(facts->cores_online, sizeof facts->cores_online, "/sys/devices/system/cpu/online");
    read_line(isolated, sizeof isolated, "/sys/devices/system/cpu/isolated");
    facts->has_chosen_cores = list != NULL;
    snprintf(chosen, sizeof chosen, "%.*s", list ? (int)strcspn(list, " ") : 1, list ? list : "0");
    for (unsigned id = 0; id <= CORE_MAX; id++)
        if (is_in_list(chosen, id))
            look_at_core(facts, id, isolated);
}

/* A line a core in hexadecimal; its second number is what found no room. */
static int64_t count_backlog_dropped(void)
{
    char line[512];
    int64_t dropped = -1;
    FILE *cores = fopen("/proc/net/softnet_stat", "re");

    while (cores && fgets(line, sizeof line, cores)) {
        uint64_t of_core;
        if (sscanf(line, "%*x %" SCNx64, &of_core) == 1)
            dropped = (dropped < 0 ? 0 : dropped) + (int64_t)of_core;
    }
    if (cores)
        fclose(cores);
    return dropped;
}

void ckp_machine_look(struct ckp_facts *facts, const char *eal)
{
    struct rlimit locked = {0};
    char folder[64];

    facts->is_root = geteuid() == 0;
    for (int node = 0; node < NODES_MAX; node++) {
        snprintf(folder, sizeof folder, "/sys/devices/system/node/node%d/hugepages", node);
        look_at_pages(facts, node, folder);
    }
    facts->has_hugetlbfs = has_hugetlbfs();
    look_at_cores(facts, eal);
    facts->iommu_groups = count_entries("/sys/kernel/iommu_groups");
    facts->has_vfio = access("/sys/bus/pci/drivers/vfio-pci", F_OK) == 0;
    getrlimit(RLIMIT_MEMLOCK, &locked);
    facts->locked_memory_kib =
        locked.rlim_cur == RLIM_INFINITY ? INT64_MAX : (int64_t)(locked.rlim_cur / 1024);
    facts->backlog_packets = read_number(-1, "/proc/sys/net/core/netdev_max_backlog");
    facts->backlog_dropped = count_backlog_dropped();
    facts->clock = ckp_health_clock();
}

/* ---- a port ---- */

static bool ask_ethtool(const char *interface, void *command)
{
    struct ifreq request = {.ifr_data = command};
    int descriptor = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    snprintf(request.ifr_name, sizeof request.ifr_name, "%s", interface);
    bool is_told = descriptor >= 0 && ioctl(descriptor, SIOCETHTOOL, &request) == 0;
    if (descriptor >= 0)
        close(descriptor);
    return is_told;
}

static void look_at_merging(struct ckp_interface_fact *fact, const char *interface)
{
    struct ethtool_value gro = {.cmd = ETHTOOL_GGRO}, flags = {.cmd = ETHTOOL_GFLAGS};

    fact->gro = ask_ethtool(interface, &gro) ? gro.data != 0 : -1;
    fact->lro = ask_ethtool(interface, &flags) ? (flags.data & ETH_FLAG_LRO) != 0 : -1;
}

static void look_at_ring(struct ckp_interface_fact *fact, const char *interface)
{
    struct ethtool_ringparam ring = {.cmd = ETHTOOL_GRINGPARAM};

    if (!ask_ethtool(interface, &ring))
        return;
    fact->ring = ring.rx_pending;
    fact->ring_max = ring.rx_max_pending;
}

static void look_at_key(struct ckp_spread_fact *spread, const char *interface)
{
    struct ethtool_rxfh sizes = {.cmd = ETHTOOL_GRSSH};

    if (!ask_ethtool(interface, &sizes) || sizes.key_size > sizeof spread->key)
        return;
    size_t table_bytes = sizes.indir_size * sizeof sizes.rss_config[0];
    struct ethtool_rxfh *all = calloc(1, sizeof *all + table_bytes + sizes.key_size);
    if (!all)
        return;
    *all = sizes;
    if (ask_ethtool(interface, all)) {
        spread->is_symmetric_function = all->hfunc == 2; /* XOR, the second bit */
        spread->key_bytes = sizes.key_size;
        memcpy(spread->key, (const uint8_t *)all->rss_config + table_bytes, sizes.key_size);
    }
    free(all);
}

/* Of interfaces without the first question, as veth, the kernel knows how many queues there are. */
static void look_at_spread(struct ckp_spread_fact *spread, const char *interface)
{
    struct ethtool_channels channels = {.cmd = ETHTOOL_GCHANNELS};
    char folder[PATH_MAX];

    if (ask_ethtool(interface, &channels)) {
        spread->queues = (int)(channels.rx_count + channels.combined_count);
        spread->queues_max = (int)(channels.max_rx + channels.max_combined);
        spread->are_combined = channels.combined_count > 0;
    } else {
        snprintf(folder, sizeof folder, "/sys/class/net/%s/queues", interface);
        DIR *queues = opendir(folder);
        for (struct dirent *entry; queues && (entry = readdir(queues)) != NULL;)
            spread->queues += strncmp(entry->d_name, "rx-", 3) == 0;
        if (queues)
            closedir(queues);
    }
    look_at_key(spread, interface);
}

static void look_at_interface(struct ckp_interface_fact *fact, const char *interface)
{
    struct ifreq request = {0};
    int descriptor = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    snprintf(request.ifr_name, sizeof request.ifr_name, "%s", interface);
    fact->is_there = descriptor >= 0 && ioctl(descriptor, SIOCGIFFLAGS, &request) == 0;
    if (descriptor >= 0)
        close(descriptor);
    if (!fact->is_there)
        return;
    fact->is_up = (request.ifr_flags & IFF_UP) != 0;
    fact->has_carrier = (request.ifr_flags & IFF_RUNNING) != 0;
    look_at_merging(fact, interface);
    look_at_ring(fact, interface);
    look_at_spread(&fact->spread, interface);
}

static void look_at_card(struct ckp_card_fact *card, const char *address)
{
    char path[PATH_MAX], target[PATH_MAX];

    snprintf(path, sizeof path, "/sys/bus/pci/devices/%s", address);
    card->is_there = access(path, F_OK) == 0;
    snprintf(path, sizeof path, "/sys/bus/pci/devices/%s/iommu_group", address);
    card->has_iommu_group = access(path, F_OK) == 0;
    snprintf(path, sizeof path, "/sys/bus/pci/devices/%s/driver", address);
    ssize_t bytes = readlink(path, target, sizeof target - 1);
    if (bytes <= 0)
        return;
    target[bytes] = '\0';
    snprintf(card->driver, sizeof card->driver, "%s", strrchr(target, '/') + 1);
}

/* The value of an argument of a device, as in net_pcap0,rx_iface_in=eth0. */
static bool find_value(char *out, size_t size, const char *spec, const char *name)
{
    const char *at = strstr(spec, name);

    if (!at)
        return false;
    at += strlen(name);
    snprintf(out, size, "%.*s", (int)strcspn(at, ","), at);
    return true;
}

static enum ckp_port_kind kind_of(const char *spec)
{
    if (strncmp(spec, "net_pcap", strlen("net_pcap")) == 0)
        return CKP_PORT_PCAP;
    if (strncmp(spec, "net_af_packet", strlen("net_af_packet")) == 0)
        return CKP_PORT_AF_PACKET;
    if (strncmp(spec, "net_af_xdp", strlen("net_af_xdp")) == 0)
        return CKP_PORT_AF_XDP;
    return strncmp(spec, "net_", strlen("net_")) == 0 ? CKP_PORT_OTHER : CKP_PORT_CARD;
}

static void look_at_node(struct ckp_port_fact *port, const char *folder)
{
    port->node = (int)read_number(-1, "%s/numa_node", folder);
    if (port->node >= 0)
        read_line(port->cores_of_node, sizeof port->cores_of_node,
                  "/sys/devices/system/node/node%d/cpulist", port->node);
}

void ckp_machine_look_at_port(struct ckp_port_fact *port)
{
    char text[PATH_MAX];

    port->kind = kind_of(port->spec);
    port->node = -1;
    if (port->kind == CKP_PORT_CARD) {
        const char *domain = strchr(port->spec, ':') == strrchr(port->spec, ':') ? "0000:" : "";
        snprintf(port->device, sizeof port->device, "%s%.*s", domain, (int)strcspn(port->spec, ","),
                 port->spec);
        look_at_card(&port->card, port->device);
        snprintf(text, sizeof text, "/sys/bus/pci/devices/%s", port->device);
        look_at_node(port, text);
        return;
    }
    if (!find_value(port->device, sizeof port->device, port->spec, ",rx_iface_in=") &&
        !find_value(port->device, sizeof port->device, port->spec, ",rx_iface=") &&
        !find_value(port->device, sizeof port->device, port->spec, ",iface="))
        return;
    port->ring_frames = find_value(text, sizeof text, port->spec, ",framecnt=")
                            ? strtoll(text, NULL, 10)
                            : AF_PACKET_FRAMES;
    look_at_interface(&port->interface, port->device);
    snprintf(text, sizeof text, "/sys/class/net/%s/device", port->device);
    look_at_node(port, text);
}
