/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a capture with libpcap and does nothing: what the source alone costs. */
#include <pcap/pcap.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    char error[PCAP_ERRBUF_SIZE];
    struct pcap_pkthdr *header;
    const u_char *bytes;
    unsigned long frames = 0;
    pcap_t *pcap =
        argc == 2
            ? pcap_open_offline_with_tstamp_precision(argv[1], PCAP_TSTAMP_PRECISION_NANO, error)
            : NULL;

    if (!pcap)
        return 2;
    while (pcap_next_ex(pcap, &header, &bytes) == 1)
        frames++;
    pcap_close(pcap);
    printf("%lu\n", frames);
    return 0;
}
