# SPDX-License-Identifier: Apache-2.0
"""The same flow as a worse tap would have seen it.

A variant is a function from frames to frames, each (stamp_ns, captured, original_bytes): captured
are the bytes that are there, original_bytes is what the frame had on the wire. The frames that go
in are those of a Capture, in the order of their stamps; each variant says what it does to them.
"""

import struct
from operator import itemgetter
from pathlib import Path

from encapsulation import ENCAPSULATIONS, ETHERNET_BYTES, goes_up, ipv4_checksum

MAGIC_NANOS, MAGIC_MICROS = 0xa1b23c4d, 0xa1b2c3d4
VERSION = (2, 4)
LINK_ETHERNET = 1
FILE_HEADER, RECORD_HEADER = struct.Struct("<IHHiIII"), struct.Struct("<IIII")
NANOS_PER_SECOND, NANOS_PER_MILLI, NANOS_PER_MICRO = 10**9, 10**6, 10**3
WRITE_BYTES = 1 << 20

NOISE_MEAN_NS = 5 * NANOS_PER_MICRO
POLL_NS, POLL_JITTER_NS = 2200, (1000, 3000)
MODERATION_NS = 100 * NANOS_PER_MICRO
SYN_MISSED_NS = 1500 * NANOS_PER_MILLI
LOSS_SHARE = 0.01
LOSS_BURST_FRAMES = (20, 60)
COPY_DELAY_NS = (1000, 20_000)
PARTIAL_COPIES_SHARE = 0.1
SUPER_SEGMENTS_MAX = 44
IP_LENGTH_MAX = 0xffff
MERGE_NS = 3 * NANOS_PER_MILLI
QUEUE_DELAY_NS = 200 * NANOS_PER_MICRO
SNAP_BYTES = 54

TYPE_IPV4, TYPE_IPV6 = b"\x08\x00", b"\x86\xdd"
IPV6_BYTES = 40
PROTOCOL_TCP = 6
FIN, SYN, RST, PSH, URG = 0x01, 0x02, 0x04, 0x08, 0x20
SEQUENCE_MASK = 0xffffffff

STAMP = itemgetter(0)


class BadCapture(Exception):
    """What cannot be read, in one sentence."""


class Capture:
    """The frames of a nanosecond pcap of Ethernet; may be walked several times."""

    def __init__(self, file_name):
        self.raw = Path(file_name).read_bytes()
        if len(self.raw) < FILE_HEADER.size:
            raise BadCapture(f"{file_name} is too short to be a capture")
        magic, *_, self.snap_bytes, link = FILE_HEADER.unpack_from(self.raw)
        if magic != MAGIC_NANOS or link != LINK_ETHERNET:
            raise BadCapture(f"{file_name} is no little-endian nanosecond pcap of Ethernet")

    def __iter__(self):
        raw, at, unpack, end = self.raw, FILE_HEADER.size, RECORD_HEADER.unpack_from, len(self.raw)
        while at < end:
            start = at + RECORD_HEADER.size
            if start > end:
                raise BadCapture("the capture ends in the middle of a frame")
            seconds, nanos, captured_bytes, original_bytes = unpack(raw, at)
            at = start + captured_bytes
            if at > end:
                raise BadCapture("the capture ends in the middle of a frame")
            yield seconds * NANOS_PER_SECOND + nanos, raw[start:at], original_bytes


# --- Writing


def _write(file_name, chunks):
    with open(file_name, "wb") as file:
        pending = bytearray()
        for chunk in chunks:
            pending += chunk
            if len(pending) >= WRITE_BYTES:
                file.write(pending)
                pending.clear()
        file.write(pending)


def _pcap(frames, snap_bytes, magic):
    unit_ns = 1 if magic == MAGIC_NANOS else NANOS_PER_MICRO
    yield FILE_HEADER.pack(magic, *VERSION, 0, 0, snap_bytes, LINK_ETHERNET)
    for stamp_ns, captured, original_bytes in frames:
        seconds, nanos = divmod(stamp_ns, NANOS_PER_SECOND)
        yield RECORD_HEADER.pack(seconds, nanos // unit_ns, len(captured), original_bytes)
        yield captured


def write_pcap(file_name, frames, snap_bytes):
    _write(file_name, _pcap(frames, snap_bytes, MAGIC_NANOS))


def write_pcap_micros(file_name, frames, snap_bytes):
    _write(file_name, _pcap(frames, snap_bytes, MAGIC_MICROS))


def _pcapng(frames, snap_bytes):
    # draft-ietf-opsawg-pcapng: section header of unknown length, one interface, if_tsresol 10^-9.
    yield struct.pack("<IIIHHqI", 0x0a0d0d0a, 28, 0x1a2b3c4d, 1, 0, -1, 28)
    yield struct.pack("<IIHHIHHB3xHHI", 1, 32, LINK_ETHERNET, 0, snap_bytes, 9, 1, 9, 0, 0, 32)
    block_header = struct.Struct("<IIIIIII")
    for stamp_ns, captured, original_bytes in frames:
        padding = -len(captured) % 4
        block_bytes = block_header.size + len(captured) + padding + 4
        yield block_header.pack(6, block_bytes, 0, stamp_ns >> 32, stamp_ns & 0xffffffff,
                                len(captured), original_bytes)
        yield captured
        yield bytes(padding) + block_bytes.to_bytes(4, "little")


def write_pcapng(file_name, frames, snap_bytes):
    _write(file_name, _pcapng(frames, snap_bytes))


# --- Reading headers


def read_tcp(frame):
    """(key of the direction, where TCP begins, payload bytes), or None if it is not TCP."""
    kind = frame[12:14]
    if kind == TYPE_IPV4 and frame[23] == PROTOCOL_TCP:
        at = ETHERNET_BYTES + (frame[14] & 0x0f) * 4
        ip_bytes = frame[16] << 8 | frame[17]
        addresses = frame[26:34]
    elif kind == TYPE_IPV6 and frame[20] == PROTOCOL_TCP:
        at = ETHERNET_BYTES + IPV6_BYTES
        ip_bytes = IPV6_BYTES + (frame[18] << 8 | frame[19])
        addresses = frame[22:54]
    else:
        return None
    payload_bytes = ip_bytes - (at - ETHERNET_BYTES) - (frame[at + 12] >> 4) * 4
    return addresses + frame[at:at + 4], at, payload_bytes


def reverse_key(key):
    half = (len(key) - 4) // 2
    return key[half:2 * half] + key[:half] + key[-2:] + key[-4:-2]


def _with_ipv4_checksum(frame):
    header_end = ETHERNET_BYTES + (frame[14] & 0x0f) * 4
    frame[24:26] = b"\0\0"
    frame[24:26] = ipv4_checksum(frame[ETHERNET_BYTES:header_end]).to_bytes(2, "big")


def one_hop_later(frame):
    """The frame with its time to live one less."""
    is_ipv4 = frame[12:14] == TYPE_IPV4
    if not is_ipv4 and frame[12:14] != TYPE_IPV6:
        return frame
    copy = bytearray(frame)
    at = 22 if is_ipv4 else 21
    copy[at] = max(copy[at] - 1, 0)
    if is_ipv4:
        _with_ipv4_checksum(copy)
    return bytes(copy)


# --- The clock


def clock_us(frames, _rng):
    """stamps cut to 1 us, a microsecond pcap"""
    for stamp_ns, captured, original_bytes in frames:
        yield stamp_ns - stamp_ns % NANOS_PER_MICRO, captured, original_bytes


def clock_noisy(frames, rng):
    """stamps of software: late by 5 us on average, exponential, order kept"""
    last_ns = 0
    for stamp_ns, captured, original_bytes in frames:
        last_ns = max(last_ns, stamp_ns + round(rng.expovariate(1 / NOISE_MEAN_NS)))
        yield last_ns, captured, original_bytes


def clock_burst(frames, rng):
    """a port polled each 2.2 us: one stamp a poll, 1 to 3 us late, order kept"""
    phase_ns, poll, last_ns = rng.randrange(POLL_NS), None, 0
    for stamp_ns, captured, original_bytes in frames:
        this_poll = (stamp_ns + phase_ns) // POLL_NS + 1
        if this_poll != poll:
            poll = this_poll
            polled_ns = poll * POLL_NS - phase_ns + round(rng.uniform(*POLL_JITTER_NS))
            last_ns = max(last_ns, polled_ns)
        yield last_ns, captured, original_bytes


def clock_coalesced(frames, rng):
    """interrupt moderation: the frames of 100 us are stamped at their end"""
    phase_ns = rng.randrange(MODERATION_NS)
    for stamp_ns, captured, original_bytes in frames:
        since_ns = (stamp_ns + phase_ns) % MODERATION_NS
        yield stamp_ns - since_ns + MODERATION_NS, captured, original_bytes


# --- What the tap misses


def no_syn(frames, _rng):
    """the capture begins 1.5 s late"""
    start_ns = None
    for frame in frames:
        start_ns = frame[0] if start_ns is None else start_ns
        if frame[0] >= start_ns + SYN_MISSED_NS:
            yield frame


def capture_loss(frames, rng):
    """1 % of the frames are missing, by chance"""
    return (frame for frame in frames if rng.random() >= LOSS_SHARE)


def capture_loss_burst(frames, rng):
    """1 % of the frames are missing, 20 to 60 at once"""
    left = 0
    for frame in frames:
        if left == 0:
            # A burst somewhere in the stretch of which it is 1 %.
            burst = rng.randint(*LOSS_BURST_FRAMES)
            left = round(burst / LOSS_SHARE)
            starts_at = left - rng.randrange(left - burst + 1)
        if not starts_at - burst < left <= starts_at:
            yield frame
        left -= 1


def _direction_of_data(frames):
    """For each key whether it is the direction of its flow with more payload."""
    payload_bytes = {}
    for _, captured, _ in frames:
        tcp = read_tcp(captured)
        if tcp:
            payload_bytes[tcp[0]] = payload_bytes.get(tcp[0], 0) + tcp[2]
    return {key: (total, key) > (payload_bytes.get(reverse_key(key), 0), reverse_key(key))
            for key, total in payload_bytes.items()}


def _one_direction(frames, wants_data):
    carries_data = _direction_of_data(frames)
    for frame in frames:
        tcp = read_tcp(frame[1])
        if tcp and carries_data[tcp[0]] == wants_data:
            yield frame


def one_direction_data(frames, _rng):
    """of each flow only the direction with more payload"""
    return _one_direction(frames, True)


def one_direction_acks(frames, _rng):
    """of each flow only the direction with less payload"""
    return _one_direction(frames, False)


def snap_54(frames, _rng):
    """54 bytes captured: no TCP options; of IPv6 no TCP"""
    for stamp_ns, captured, original_bytes in frames:
        yield stamp_ns, captured[:SNAP_BYTES], original_bytes


# --- What the tap sees otherwise


def _duplicated(frames, rng, share):
    doubled = []
    for frame in frames:
        doubled.append(frame)
        if rng.random() < share:
            stamp_ns, captured, original_bytes = frame
            doubled.append((stamp_ns + rng.randint(*COPY_DELAY_NS), one_hop_later(captured),
                            original_bytes))
    doubled.sort(key=STAMP)
    return doubled


def duplicates(frames, rng):
    """each frame again 1 to 20 us later, one hop on"""
    return _duplicated(frames, rng, 1)


def duplicates_partial(frames, rng):
    """10 % of the frames again 1 to 20 us later, one hop on"""
    return _duplicated(frames, rng, PARTIAL_COPIES_SHARE)


class _SuperSegment:
    """Segments of one direction that follow each other without a gap."""

    def __init__(self, frame, tcp_at, payload_bytes):
        self.first = frame
        self.tcp_at = tcp_at
        self.segment_bytes = self.payload_bytes = payload_bytes
        self.num_segments = 1
        self.last_ns = frame[0]
        self.flags = frame[1][tcp_at + 13]

    def joins(self, stamp_ns, captured, payload_bytes, same_options):
        """Whether the next segment of the direction may be merged: full ones, then one at most
        that is shorter; of one ACK, and if `same_options`, as Linux demands, without a PSH
        between them."""
        at, head = self.tcp_at, self.first[1]
        options_end = at + (head[at + 12] >> 4) * 4
        next_sequence = int.from_bytes(head[at + 4:at + 8], "big") + self.payload_bytes
        return (self.num_segments < SUPER_SEGMENTS_MAX
                and stamp_ns - self.first[0] <= MERGE_NS
                and 0 < payload_bytes <= self.segment_bytes
                and self.payload_bytes == self.num_segments * self.segment_bytes
                and int.from_bytes(captured[at + 4:at + 8], "big") == next_sequence & SEQUENCE_MASK
                and options_end - ETHERNET_BYTES + self.payload_bytes + payload_bytes
                <= IP_LENGTH_MAX
                and captured[at + 8:at + 13] == head[at + 8:at + 13]
                and not (self.flags | captured[at + 13]) & (SYN | RST | URG)
                and not self.flags & FIN
                and not (same_options and (self.flags & PSH or captured[at + 20:options_end]
                                           != head[at + 20:options_end])))

    def add(self, stamp_ns, captured, payload_bytes):
        self.num_segments += 1
        self.payload_bytes += payload_bytes
        self.last_ns = stamp_ns
        self.flags |= captured[self.tcp_at + 13] & (FIN | PSH)

    def merged(self, stamp_last):
        """The first frame, with all the payload."""
        if self.num_segments == 1:
            return self.first
        stamp_ns, captured, original_bytes = self.first
        more = self.payload_bytes - self.segment_bytes
        frame = bytearray(captured)
        frame[self.tcp_at + 13] = self.flags
        length_at = 16 if frame[12:14] == TYPE_IPV4 else 18
        length = int.from_bytes(frame[length_at:length_at + 2], "big") + more
        frame[length_at:length_at + 2] = length.to_bytes(2, "big")
        if length_at == 16:
            _with_ipv4_checksum(frame)
        return self.last_ns if stamp_last else stamp_ns, bytes(frame), original_bytes + more


def _merged(frames, stamp_last, same_options):
    open_by_key, merged = {}, []
    for frame in frames:
        stamp_ns, captured, _ = frame
        tcp = read_tcp(captured)
        if not tcp:
            merged.append(frame)
            continue
        key, tcp_at, payload_bytes = tcp
        run = open_by_key.get(key)
        if run and run.joins(stamp_ns, captured, payload_bytes, same_options):
            run.add(stamp_ns, captured, payload_bytes)
            continue
        if run:
            merged.append(run.merged(stamp_last))
            del open_by_key[key]
        if payload_bytes > 0:
            open_by_key[key] = _SuperSegment(frame, tcp_at, payload_bytes)
        else:
            merged.append(frame)
    merged.extend(run.merged(stamp_last) for run in open_by_key.values())
    merged.sort(key=STAMP)
    return merged


def gro(frames, _rng):
    """a receiving host: up to 44 segments within 3 ms as one, at the time of the last"""
    return _merged(frames, stamp_last=True, same_options=False)


def gso(frames, _rng):
    """a sending host: the segments of one write, up to 44, as one at the time of the first"""
    return _merged(frames, stamp_last=False, same_options=True)


def reordered_merge(frames, rng):
    """a capture queue for each direction, drained at intervals of up to 200 us: stamps right,
    records out of order"""
    drained_ns, records = [0, 0], []
    for frame in frames:
        queue = goes_up(frame[1])
        if frame[0] >= drained_ns[queue]:
            drained_ns[queue] = frame[0] + rng.randint(1, QUEUE_DELAY_NS)
        records.append((drained_ns[queue], frame))
    records.sort(key=STAMP)
    return (frame for _, frame in records)


def nanosecond_pcapng(frames, _rng):
    """the same frames as pcapng"""
    return iter(frames)


def _encapsulated(encapsulate):
    def variant(frames, _rng):
        for number, (stamp_ns, captured, original_bytes) in enumerate(frames):
            yield stamp_ns, *encapsulate(captured, original_bytes, number)
    variant.__doc__ = encapsulate.__doc__
    return variant


VARIANTS = {function.__name__.replace("_", "-"): function for function in (
    clock_us, clock_noisy, clock_burst, clock_coalesced, no_syn, capture_loss, capture_loss_burst,
    one_direction_data, one_direction_acks, duplicates, duplicates_partial, gro, gso, snap_54)}
VARIANTS |= {name: _encapsulated(function) for name, function in ENCAPSULATIONS.items()}
VARIANTS |= {"reordered-merge": reordered_merge, "nanosecond-pcapng": nanosecond_pcapng}

WRITERS = {"clock-us": write_pcap_micros, "nanosecond-pcapng": write_pcapng}
# More than any encapsulation adds.
ENCAPSULATION_BYTES_MAX = 64


def degrade(variant, in_name, out_name, rng):
    """Writes the capture as the variant shows it."""
    capture = Capture(in_name)
    snap_bytes = capture.snap_bytes
    if variant == "snap-54":
        snap_bytes = SNAP_BYTES
    elif variant in ENCAPSULATIONS:
        snap_bytes += ENCAPSULATION_BYTES_MAX
    write = WRITERS.get(variant, write_pcap)
    write(out_name, VARIANTS[variant](capture, rng), snap_bytes)
