/* SPDX-License-Identifier: Apache-2.0 */
#include "filter.h"

#include <errno.h>
#include <pcap/pcap.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SNAP_BYTES 262144

struct ckp_filter {
    struct bpf_program program;
};

struct ckp_filter *ckp_filter_new(const char *expression, int datalink, char *why, size_t why_size)
{
    struct ckp_filter *filter = calloc(1, sizeof *filter);
    pcap_t *pcap = pcap_open_dead(datalink, SNAP_BYTES);

    if (filter && pcap &&
        pcap_compile(pcap, &filter->program, expression, 1, PCAP_NETMASK_UNKNOWN) == 0) {
        pcap_close(pcap);
        return filter;
    }
    snprintf(why, why_size, "%s", filter && pcap ? pcap_geterr(pcap) : "no memory");
    if (pcap)
        pcap_close(pcap);
    free(filter);
    return NULL;
}

struct ckp_filter *ckp_filter_new_ethernet(const char *expression, char *why, size_t why_size)
{
    return ckp_filter_new(expression, DLT_EN10MB, why, why_size);
}

void ckp_filter_free(struct ckp_filter *filter)
{
    if (!filter)
        return;
    pcap_freecode(&filter->program);
    free(filter);
}

static bool read_expression(FILE *file, FILE *expression)
{
    char *line = NULL;
    size_t room = 0;

    while (getline(&line, &room, file) >= 0)
        fprintf(expression, "%.*s ", (int)strcspn(line, "#\n"), line);
    free(line);
    return !ferror(file);
}

char *ckp_filter_file_read(const char *path, char *why, size_t why_size)
{
    struct stat status;

    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
        snprintf(why, why_size, "%s is no regular file, and is read more than once", path);
        return NULL;
    }
    FILE *file = fopen(path, "re");
    char *text = NULL;
    size_t bytes;
    FILE *expression = file ? open_memstream(&text, &bytes) : NULL;
    bool is_read = expression && read_expression(file, expression);

    if (!is_read)
        snprintf(why, why_size, "%s cannot be read: %s", path, strerror(errno));
    if (file)
        fclose(file);
    if (expression)
        fclose(expression);
    if (is_read && text && text[strspn(text, " \t\r")] == '\0') {
        snprintf(why, why_size, "%s holds no expression", path);
        is_read = false;
    }
    if (is_read)
        return text;
    free(text);
    return NULL;
}

bool ckp_filter_passes(const struct ckp_filter *filter, const struct ckp_frame *frame)
{
    struct pcap_pkthdr header = {
        .caplen = (bpf_u_int32)frame->captured_bytes,
        .len = (bpf_u_int32)frame->original_bytes,
    };
    return !filter || pcap_offline_filter(&filter->program, &header, frame->bytes) != 0;
}
