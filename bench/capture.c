// SPDX-License-Identifier: Apache-2.0
/*
 * Makes a capture of any size out of small ones:
 * capture [-e ELEPHANTS] [-m MICE] [-E STRETCH] [-M STRETCH] [-k] PACKETS START_SECONDS OUTPUT
 * SAMPLE...
 *
 * The TCP flows of the samples are played again and again, ELEPHANTS (100) of them at a time, each
 * time with other addresses, ports, sequence numbers and timestamps (-k: with the addresses and
 * ports that the first one got); what does not end by itself is given a FIN in both directions.
 * Beside them MICE (100) flows at a time are the heads of the same flows. Elephants and mice last
 * STRETCH (1) times as long as in the samples. Equal arguments give equal bytes, and a capture of
 * fewer packets is the head of one of more. TCP checksums stay those of the samples: with 128 bytes
 * of each frame nobody can verify them.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    MAX_TEMPLATES = 256,
    MAX_FRAME = 128,
    FRAME_HEADER = 16,
    FILE_HEADER = 24,
    IP = 14,
    TCP = IP + 20,
    FIN_FRAME = TCP + 32, // with timestamps
    FIN = 1,
    SYN = 2,
    RST = 4,
    ACK = 16,
};

static const uint32_t nanosecond_magic = 0xa1b23c4d;
static const int64_t second_ns = 1000000000;
static const int64_t stagger_ns = 2000000000; // over which the first flows start
static const int64_t pause_ns = 1000000;      // between two flows of a slot

struct packet {
    int64_t offset_ns; // from the flow's first packet
    uint32_t captured_bytes;
    uint32_t wire_bytes;
    uint8_t direction; // 0: of the flow's first packet
    uint8_t frame[MAX_FRAME];
};

struct template
{
    struct packet *packets;
    size_t num_packets;
    size_t room;
    uint8_t key[12]; // addresses and ports of the first packet, as on the wire
};

// One flow at a time; the heap is ordered by next_ns.
struct slot {
    bool plays_mice;
    const struct template *template;
    size_t next;
    size_t end; // packets of the template that are played, before the FINs
    int64_t start_ns;
    int64_t next_ns;
    uint32_t copy;
    uint32_t sequence_shift[2];
    uint32_t timestamp_shift[2];
    uint32_t next_sequence[2];
    uint32_t fins_left;
    bool ends_itself;
    struct packet last[2];
};

static struct template templates[MAX_TEMPLATES];
static size_t num_templates;
static size_t num_elephants = 100;
static size_t num_mice = 100;
static int64_t elephant_stretch = 1;
static int64_t mouse_stretch = 1;
static bool keep_addresses; // of the elephants
static size_t num_slots;
static struct slot *slots;
static struct slot **heap;
static uint32_t copies;
static uint64_t random_state = 1;

static void die(const char *reason, const char *subject)
{
    fprintf(stderr, "capture: %s %s\n", reason, subject);
    exit(1);
}

// splitmix64
static uint64_t draw(void)
{
    uint64_t z = random_state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

static uint32_t get32(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static void put32(uint8_t *bytes, uint32_t value)
{
    bytes[0] = value >> 24;
    bytes[1] = value >> 16;
    bytes[2] = value >> 8;
    bytes[3] = value;
}

static uint32_t get16(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 8 | bytes[1];
}

static void put16(uint8_t *bytes, uint32_t value)
{
    bytes[0] = value >> 8;
    bytes[1] = value;
}

static void add32(uint8_t *bytes, uint32_t value)
{
    put32(bytes, get32(bytes) + value);
}

/* ---- samples ---- */

static bool is_plain_tcp(const uint8_t *frame, uint32_t captured_bytes)
{
    return captured_bytes >= TCP + 20 && get16(frame + 12) == 0x0800 && frame[IP] == 0x45 &&
           frame[IP + 9] == 6;
}

// The template of a frame, found by its addresses and ports or made anew; direction comes out with
// it.
static struct template *find_template(size_t first, const uint8_t *frame, uint8_t *direction)
{
    uint8_t forward[12], backward[12];
    memcpy(forward, frame + IP + 12, 12);
    memcpy(backward, frame + IP + 16, 4);
    memcpy(backward + 4, frame + IP + 12, 4);
    memcpy(backward + 8, frame + TCP + 2, 2);
    memcpy(backward + 10, frame + TCP, 2);
    for (size_t i = first; i < num_templates; i++) {
        *direction = memcmp(templates[i].key, forward, sizeof forward) != 0;
        if (!*direction || memcmp(templates[i].key, backward, sizeof backward) == 0)
            return &templates[i];
    }
    if (num_templates == MAX_TEMPLATES)
        die("too many flows", "");
    *direction = 0;
    memcpy(templates[num_templates].key, forward, sizeof forward);
    return &templates[num_templates++];
}

static struct packet *append(struct template *template)
{
    if (template->num_packets == template->room) {
        template->room = template->room ? 2 * template->room : 1024;
        template->packets = realloc(template->packets, template->room * sizeof *template->packets);
        if (!template->packets)
            die("no memory", "");
    }
    return &template->packets[template->num_packets++];
}

static void read_sample(const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t header[FILE_HEADER], frame[65536];
    uint32_t record[4]; // as this machine, little-endian, stores them
    if (!file || fread(header, sizeof header, 1, file) != 1 ||
        memcmp(header, &nanosecond_magic, 4) != 0)
        die("not a little-endian capture with nanoseconds:", path);
    size_t first = num_templates;
    while (fread(record, sizeof record, 1, file) == 1) {
        if (record[2] > sizeof frame || fread(frame, 1, record[2], file) != record[2])
            die("cut off:", path);
        if (!is_plain_tcp(frame, record[2]))
            continue;
        uint8_t direction;
        struct template *template = find_template(first, frame, &direction);
        struct packet *packet = append(template);
        packet->offset_ns = record[0] * second_ns + record[1];
        packet->captured_bytes = record[2] < MAX_FRAME ? record[2] : MAX_FRAME;
        packet->wire_bytes = record[3];
        packet->direction = direction;
        memcpy(packet->frame, frame, packet->captured_bytes);
    }
    fclose(file);
    for (size_t i = first; i < num_templates; i++)
        for (size_t j = templates[i].num_packets; j-- > 0;)
            templates[i].packets[j].offset_ns -= templates[i].packets[0].offset_ns;
}

/* ---- one copy of a flow ---- */

static void start_flow(struct slot *slot, int64_t start_ns)
{
    bool is_first = !slot->template;
    const struct template *template = &templates[draw() % num_templates];
    slot->template = template;
    slot->next = 0;
    slot->end = template->num_packets;
    slot->ends_itself = template->packets[slot->end - 1].frame[TCP + 13] & (FIN | RST);
    if (slot->plays_mice) {
        size_t length = 6 + draw() % 35;
        if (length < slot->end) {
            slot->end = length;
            slot->ends_itself = false;
        }
    }
    slot->start_ns = start_ns;
    slot->next_ns = start_ns;
    if (is_first || slot->plays_mice || !keep_addresses)
        slot->copy = copies++;
    slot->fins_left = slot->ends_itself ? 0 : 3;
    for (int i = 0; i < 2; i++) {
        slot->sequence_shift[i] = (uint32_t)draw();
        slot->timestamp_shift[i] = (uint32_t)draw();
        slot->next_sequence[i] = 0;
    }
}

// 10.0.0.0/8 talks to 172.16.0.0/12: 16 M clients before a pair comes again.
static void shift_addresses(const struct slot *slot, uint8_t *frame, int direction)
{
    uint32_t client = 10u << 24 | (slot->copy & 0xffffff);
    uint32_t server = 172u << 24 | 16u << 16 | (slot->copy * 2654435761u >> 12);
    uint32_t client_port = 32768 + slot->copy % 28232;
    uint32_t server_port = 1024 + slot->copy % 61;
    put32(frame + IP + 12, direction ? server : client);
    put32(frame + IP + 16, direction ? client : server);
    put16(frame + TCP, direction ? server_port : client_port);
    put16(frame + TCP + 2, direction ? client_port : server_port);
}

static void shift_options(const struct slot *slot, struct packet *packet)
{
    int direction = packet->direction;
    uint8_t *frame = packet->frame;
    uint32_t end = TCP + (frame[TCP + 12] >> 4) * 4;
    if (end > packet->captured_bytes)
        end = packet->captured_bytes;
    for (uint32_t at = TCP + 20; at + 1 < end && frame[at] != 0;) {
        uint32_t length = frame[at] == 1 ? 1 : frame[at + 1];
        if (length == 0 || at + length > end)
            return;
        if (frame[at] == 8 && length == 10) {
            add32(frame + at + 2, slot->timestamp_shift[direction]);
            if (get32(frame + at + 6) != 0)
                add32(frame + at + 6, slot->timestamp_shift[1 - direction]);
        }
        if (frame[at] == 5)
            for (uint32_t edge = at + 2; edge + 4 <= at + length; edge += 4)
                add32(frame + edge, slot->sequence_shift[1 - direction]);
        at += length;
    }
}

static void renew_ip_checksum(uint8_t *frame)
{
    uint32_t sum = 0;
    put16(frame + IP + 10, 0);
    for (int at = IP; at < TCP; at += 2)
        sum += get16(frame + at);
    sum = (sum & 0xffff) + (sum >> 16);
    sum += sum >> 16;
    put16(frame + IP + 10, ~sum & 0xffff);
}

static void shift(struct slot *slot, struct packet *packet)
{
    int direction = packet->direction;
    uint8_t *frame = packet->frame;
    shift_addresses(slot, frame, direction);
    add32(frame + TCP + 4, slot->sequence_shift[direction]);
    if (frame[TCP + 13] & ACK)
        add32(frame + TCP + 8, slot->sequence_shift[1 - direction]);
    shift_options(slot, packet);
    renew_ip_checksum(frame);

    uint32_t payload = get16(frame + IP + 2) - 20 - (frame[TCP + 12] >> 4) * 4;
    uint32_t next = get32(frame + TCP + 4) + payload + ((frame[TCP + 13] & (SYN | FIN)) != 0);
    if (slot->next_sequence[direction] == 0 || (int32_t)(next - slot->next_sequence[direction]) > 0)
        slot->next_sequence[direction] = next;
    slot->last[direction] = *packet;
}

// FIN of the client, FIN of the server, last ACK: header of the last packet of that direction
// without its payload.
static void make_fin(struct slot *slot, struct packet *packet)
{
    int direction = slot->fins_left == 2;
    bool is_fin = slot->fins_left > 1;
    *packet = slot->last[direction];
    uint8_t *frame = packet->frame;
    uint32_t header = (frame[TCP + 12] >> 4) * 4;
    if (header > 32)
        header = 20; // SACK blocks or those of a SYN
    frame[TCP + 12] = header / 4 << 4;
    put16(frame + IP + 2, 20 + header);
    packet->captured_bytes = TCP + header;
    packet->wire_bytes = packet->captured_bytes;
    put32(frame + TCP + 4, slot->next_sequence[direction]);
    put32(frame + TCP + 8, slot->next_sequence[1 - direction]);
    frame[TCP + 13] = ACK | (is_fin ? FIN : 0);
    renew_ip_checksum(frame);
    if (is_fin)
        slot->next_sequence[direction]++;
    slot->fins_left--;
}

// The next packet of a slot; afterwards next_ns says when the one after it is due.
static void take(struct slot *slot, struct packet *packet)
{
    if (slot->next < slot->end) {
        *packet = slot->template->packets[slot->next++];
        shift(slot, packet);
    } else {
        make_fin(slot, packet);
    }
    if (slot->next < slot->end)
        slot->next_ns = slot->start_ns + slot->template->packets[slot->next].offset_ns *
                                             (slot->plays_mice ? mouse_stretch : elephant_stretch);
    else if (slot->fins_left > 0)
        slot->next_ns += pause_ns;
    else
        start_flow(slot, slot->next_ns + pause_ns);
}

/* ---- all of them in the order of time ---- */

static void sink_down(size_t at)
{
    for (;;) {
        size_t least = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < num_slots; child++)
            if (heap[child]->next_ns < heap[least]->next_ns)
                least = child;
        if (least == at)
            return;
        struct slot *moved = heap[at];
        heap[at] = heap[least];
        heap[least] = moved;
        at = least;
    }
}

static void start_slots(int64_t first_time_ns)
{
    num_slots = num_elephants + num_mice;
    slots = calloc(num_slots, sizeof *slots);
    heap = calloc(num_slots, sizeof *heap);
    if (!slots || !heap)
        die("no memory", "");
    for (size_t i = 0; i < num_slots; i++) {
        slots[i].plays_mice = i >= num_elephants;
        start_flow(&slots[i], first_time_ns + (int64_t)(draw() % (uint64_t)stagger_ns));
        heap[i] = &slots[i];
    }
    for (size_t i = num_slots / 2; i-- > 0;)
        sink_down(i);
}

static void write_packets(FILE *output, uint64_t num_packets)
{
    for (uint64_t i = 0; i < num_packets; i++) {
        struct packet packet;
        int64_t time_ns = heap[0]->next_ns;
        take(heap[0], &packet);
        sink_down(0);
        uint32_t record[4] = {(uint32_t)(time_ns / second_ns), (uint32_t)(time_ns % second_ns),
                              packet.captured_bytes, packet.wire_bytes};
        fwrite(record, sizeof record, 1, output);
        fwrite(packet.frame, packet.captured_bytes, 1, output);
    }
}

int main(int argc, char **argv)
{
    for (int option; (option = getopt(argc, argv, "e:m:E:M:k")) != -1;) {
        if (option == 'e')
            num_elephants = strtoull(optarg, NULL, 10);
        else if (option == 'm')
            num_mice = strtoull(optarg, NULL, 10);
        else if (option == 'E')
            elephant_stretch = strtoll(optarg, NULL, 10);
        else if (option == 'M')
            mouse_stretch = strtoll(optarg, NULL, 10);
        else if (option == 'k')
            keep_addresses = true;
        else
            die("unknown option:", argv[optind - 1]);
    }
    char **arguments = argv + optind;
    if (argc - optind < 4 || num_elephants + num_mice == 0)
        die("usage: capture [-e ELEPHANTS] [-m MICE] [-E STRETCH] [-M STRETCH] [-k] PACKETS "
            "START_SECONDS "
            "OUTPUT "
            "SAMPLE...",
            "");
    for (int i = optind + 3; i < argc; i++)
        read_sample(argv[i]);
    FILE *output = fopen(arguments[2], "wb");
    if (!output)
        die("cannot be written:", arguments[2]);
    setvbuf(output, NULL, _IOFBF, 1 << 20);
    const uint32_t header[FILE_HEADER / 4] = {nanosecond_magic, 4u << 16 | 2, 0, 0, MAX_FRAME, 1};
    fwrite(header, sizeof header, 1, output);
    start_slots(strtoll(arguments[1], NULL, 10) * second_ns);
    write_packets(output, strtoull(arguments[0], NULL, 10));
    if (fclose(output) != 0)
        die("cannot be written:", arguments[2]);
    return 0;
}
