#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kafka records as sorted lines "PARTITION HEX".

Standard input is what kcat writes with the format '%p %R%s': partition, space, 4 bytes of length in network
order, the value. With --stream it is a batch stream, whose headers say the partition. With --packets or
--partitions it is such lines, and the packets in them are counted, in all or by the partition of the record.
"""
import collections
import io
import os
import re
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../golden"))
from read_batches import read_stream  # noqa: E402


def values_of_kcat(data):
    at = 0
    while at < len(data):
        partition, prefix = re.compile(rb"(\d+) ").match(data, at).group(1, 0)
        at += len(prefix)
        (length,) = struct.unpack_from(">I", data, at)
        yield int(partition), data[at + 4:at + 4 + length]
        at += 4 + length


def values_of_stream(data):
    at = 0
    for _, batch in read_stream(io.BytesIO(data)):
        (length,) = struct.unpack_from("<I", data, at)
        yield batch["partition"], data[at + 4:at + 4 + length]
        at += 4 + length


def packets_by_partition(lines):
    packets = collections.Counter()
    for line in lines:
        partition, text = line.split()
        value = bytes.fromhex(text)
        for _, batch in read_stream(io.BytesIO(struct.pack("<I", len(value)) + value)):
            assert batch["partition"] == int(partition), "the header says another partition"
            packets[int(partition)] += batch["packets"] + batch["summarised_packets"]
    return packets


def main():
    mode = sys.argv[1] if len(sys.argv) > 1 else ""
    if mode in ("--packets", "--partitions"):
        packets = packets_by_partition(sys.stdin)
        print(sum(packets.values()) if mode == "--packets" else
              "\n".join(f"{partition} {count}" for partition, count in sorted(packets.items())))
        return
    data = sys.stdin.buffer.read()
    values = values_of_stream(data) if mode == "--stream" else values_of_kcat(data)
    print("\n".join(sorted(f"{partition} {value.hex()}" for partition, value in values)))


main()
