#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints a batch stream as text: one line a batch, a run, a packet and a summary.

usage: read_batches.py [RESOLUTION_NS] < STREAM     rounds all times down to the resolution
    Ends with 1 and says so if the stream ends within a batch; those before it are printed.

An independent reader for the tests: driven by the schema file, decoding columns by the table in
schemas/README.md, sharing nothing with the probe's encoder.
"""
import ipaddress
import json
import os
import struct
import sys

SCHEMA = os.path.join(os.path.dirname(__file__), "../../../schemas/avro/segment_batch.avsc")
COLUMNS = {
    1: "time_ns", 2: "direction", 3: "sequence_number", 4: "acknowledgment_number",
    5: "payload_bytes", 6: "header_bytes", 7: "tcp_flags", 8: "window_field", 9: "ip_id",
    10: "time_to_live", 11: "traffic_class", 12: "options_present", 13: "timestamp_value",
    14: "timestamp_echo", 15: "maximum_segment_size", 16: "window_scale", 17: "sack_blocks"}


class TornBatch(Exception):
    """The stream ends within a batch, as that of a probe that was killed may."""


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def varint(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    def zigzag(self):
        value = self.varint()
        return (value >> 1) ^ -(value & 1)

    def take(self, count):
        self.at += count
        assert self.at <= len(self.data), "past the end"
        return self.data[self.at - count:self.at]

    def is_at_end(self):
        return self.at == len(self.data)


def named_types(schema):
    """Records and enums by name: a batch may have nothing where one is defined, and need it."""
    named = {}
    if isinstance(schema, list):
        for branch in schema:
            named |= named_types(branch)
    elif isinstance(schema, dict):
        if "name" in schema and schema["type"] in ("record", "enum"):
            named[schema["name"]] = schema
        for part in [schema.get("items"), *(field["type"] for field in schema.get("fields", []))]:
            named |= named_types(part)
    return named


def read_value(reader, schema, named):
    """Generic Avro, as far as the schema needs it."""
    if isinstance(schema, list):
        return read_value(reader, schema[reader.zigzag()], named)
    if isinstance(schema, str) and schema in named:
        schema = named[schema]
    kind = schema["type"] if isinstance(schema, dict) else schema
    if kind == "record":
        return {field["name"]: read_value(reader, field["type"], named)
                for field in schema["fields"]}
    if kind == "array":
        items = []
        while count := reader.zigzag():
            assert count > 0, "the probe writes no block sizes"
            items += [read_value(reader, schema["items"], named) for _ in range(count)]
        return items
    if kind == "enum":
        return schema["symbols"][reader.zigzag()]
    if kind in ("int", "long"):
        return reader.zigzag()
    if kind == "bytes":
        return reader.take(reader.zigzag())
    if kind == "string":
        return reader.take(reader.zigzag()).decode()
    assert kind == "null", kind
    return None


def repeated(reader, count):
    values = []
    while len(values) < count:
        value = reader.zigzag()
        repeat = reader.varint()
        assert repeat >= 1
        values += [value] * repeat
    assert len(values) == count
    return values


def signed_sum(differences, directions, modulus=None):
    previous, values = [0, 0], []
    for difference, direction in zip(differences, directions):
        previous[direction] += difference
        if modulus:
            previous[direction] %= modulus
        values.append(previous[direction])
    return values


def decode_packets(run):
    """The run's packets as dictionaries; 32-bit columns modulo 2^32."""
    count = run["packets"]
    columns = {column["id"]: Reader(column["data"]) for column in run["columns"]}
    assert list(columns) == sorted(columns)
    packets = [{} for _ in range(count)]

    def store(name, values, chosen=None):
        for packet, value in zip(chosen if chosen is not None else packets, values):
            packet[name] = value

    if count == 0:
        assert not columns
        return packets
    bits = columns[2].take((count + 7) // 8)
    direction = [bits[i // 8] >> (i % 8) & 1 for i in range(count)]
    store("direction", direction)
    store("time_ns", signed_sum([columns[1].zigzag() for _ in packets], [0] * count))
    store("payload_bytes", [columns[5].varint() for _ in packets])
    for column in (6, 7, 10, 11, 12):
        store(COLUMNS[column], signed_sum(repeated(columns[column], count), direction))
    predicted = [0, 0]
    for packet in packets:
        sequence_number = (predicted[packet["direction"]] + columns[3].zigzag()) % 2**32
        packet["sequence_number"] = sequence_number
        flags = packet["tcp_flags"]
        predicted[packet["direction"]] = (
            sequence_number + packet["payload_bytes"] + (flags >> 1 & 1) + (flags & 1))
    store("acknowledgment_number",
          signed_sum([columns[4].zigzag() for _ in packets], direction, 2**32))
    store("window_field", signed_sum([columns[8].zigzag() for _ in packets], direction))
    if 9 in columns:
        previous = [65535, 65535]
        for packet, difference in zip(packets, repeated(columns[9], count)):
            packet["ip_id"] = (previous[packet["direction"]] + 1 + difference) % 65536
            previous[packet["direction"]] = packet["ip_id"]
    for column, bit in ((13, 1), (14, 1)):
        chosen = [packet for packet in packets if packet["options_present"] & bit]
        if chosen:
            store(COLUMNS[column], signed_sum([columns[column].zigzag() for _ in chosen],
                                              [packet["direction"] for packet in chosen], 2**32),
                  chosen)
    for column, bit in ((15, 2), (16, 4)):
        for packet in packets:
            if packet["options_present"] & bit:
                packet[COLUMNS[column]] = columns[column].varint()
    for packet in packets:
        if packet["options_present"] & 16:
            blocks = []
            for _ in range(columns[17].varint()):
                left = (packet["acknowledgment_number"] + columns[17].zigzag()) % 2**32
                blocks.append((left, (left + columns[17].zigzag()) % 2**32))
            packet["sack_blocks"] = blocks
    for column in columns.values():
        assert column.is_at_end(), "a column holds more than its packets"
    return packets


def read_stream(file):
    with open(SCHEMA, encoding="utf-8") as schema_file:
        schema = json.load(schema_file)
    named = named_types(schema)
    while length := file.read(4):
        size = struct.unpack("<I", length)[0] if len(length) == 4 else None
        data = file.read(size) if size else b""
        if len(data) != size:
            raise TornBatch(f"the last batch is torn: {len(length) + len(data)} bytes of it are there")
        reader = Reader(data)
        assert reader.take(2) == b"\xc3\x01", "no single-object encoding"
        fingerprint = reader.take(8)
        batch = read_value(reader, schema, named)
        assert reader.is_at_end(), "bytes behind the batch"
        yield fingerprint, batch


def describe_packet(packet):
    text = (f"    {packet['time_ns']} {'<>'[packet['direction'] == 0]} flags {packet['tcp_flags']}"
            f" seq {packet['sequence_number']} ack {packet['acknowledgment_number']}"
            f" payload {packet['payload_bytes']} header {packet['header_bytes']}"
            f" win {packet['window_field']} ttl {packet['time_to_live']}"
            f" class {packet['traffic_class']} options {packet['options_present']}")
    for name, label in (("ip_id", "id"), ("timestamp_value", "val"), ("timestamp_echo", "ecr"),
                        ("maximum_segment_size", "mss"), ("window_scale", "scale"),
                        ("sack_blocks", "sack")):
        if name in packet:
            text += f" {label} {packet[name]}"
    return text


def endpoint(run, side):
    return f"{ipaddress.ip_address(run[side + '_address'])} {run[side + '_port']}"


def describe_direction(sent):
    return (f"packets {sent['packets']} data {sent['data_packets']} bytes {sent['data_bytes']}"
            f" header {sent['header_bytes']} acknowledged {sent['acknowledged_bytes']}"
            f" largest {sent['largest_data_bytes']} full {sent['full_packets']}"
            f" mss {sent['maximum_segment_size']} flags {sent['flags']}")


def describe_summary(summary):
    tags = "".join(f" {key}={summary[key]}" for key in ("domain", "vlan_id", "tunnel_id")
                   if summary[key])
    values = (f"{name} {summary[name]}" for name in (
        "flow_start_ns", "duration_ns", "quiet_ns", "end_reason", "client",
        "client_sequence_number", "syns", "server_delay_ns", "client_delay_ns"))
    return "\n".join((
        f"  summary {endpoint(summary, 'low')} {endpoint(summary, 'high')}{tags} " + " ".join(values),
        "    > " + describe_direction(summary["sent_by_low"]),
        "    < " + describe_direction(summary["sent_by_high"])))


def round_times(batch, resolution_ns):
    for run in batch["runs"]:
        for name in ("flow_start_ns", "observed_until_ns"):
            run[name] -= run[name] % resolution_ns


def print_stream(resolution_ns):
    for _, batch in read_stream(sys.stdin.buffer):
        round_times(batch, resolution_ns)
        header = {key: value for key, value in batch.items()
                  if key not in ("runs", "counters", "summaries")}
        print("batch", *(f"{key}={value}" for key, value in header.items()),
              *(f"{c['name']}={c['value']}" for c in batch["counters"]))
        for run in batch["runs"]:
            tags = "".join(f" {key}={run[key]}" for key in ("domain", "vlan_id", "tunnel_id")
                           if run[key])
            print(f"  run {endpoint(run, 'low')} {endpoint(run, 'high')}{tags}"
                  f" start {run['flow_start_ns']} before {run['packets_before']}"
                  f" until {run['observed_until_ns']} end {run['end_reason']}"
                  f" packets {run['packets']}")
            for packet in decode_packets(run):
                packet["time_ns"] -= packet["time_ns"] % resolution_ns
                print(describe_packet(packet))
        for summary in batch["summaries"]:
            print(describe_summary(summary))


def main():
    try:
        print_stream(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
    except TornBatch as torn:
        sys.exit(f"read_batches.py: {torn}")


if __name__ == "__main__":
    main()
