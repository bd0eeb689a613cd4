#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes schemas/golden/segment_batch_*.json from the *.txt beside them.

The text is what people write and review: batches, runs and packets in plain values. The JSON is
Avro's own encoding of the same record, columns coded by the table in schemas/README.md. The bytes
(*.avro) are then made from the JSON by Avro's libraries: see avro_from_json.c.

usage: make_golden.py FILE.txt > FILE.json
"""
import ipaddress
import json
import sys

ENUMS = ("timestamp_source", "end_reason")
TEXTS = ("probe", "tap")


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def zigzag(value):
    return varint(value << 1 if value >= 0 else (-value << 1) - 1)


def nearest(difference, bits):
    """A difference modulo 2^bits as the signed number nearest to zero."""
    difference %= 1 << bits
    return difference - (1 << bits) if difference >> (bits - 1) else difference


def repeats(values):
    pairs = []
    for value in values:
        if pairs and pairs[-1][0] == value:
            pairs[-1][1] += 1
        else:
            pairs.append([value, 1])
    return b"".join(zigzag(value) + varint(count) for value, count in pairs)


def differences(packets, name, bits=None, start=0, step=0):
    """Each packet's value less the one of the packet before it in its direction."""
    previous = [start, start]
    for packet in packets:
        difference = packet[name] - previous[packet["direction"]] - step
        yield nearest(difference, bits) if bits else difference
        previous[packet["direction"]] = packet[name]


def sequence_numbers(packets):
    predicted = [0, 0]
    for packet in packets:
        yield nearest(packet["sequence_number"] - predicted[packet["direction"]], 32)
        syn, fin = packet["tcp_flags"] >> 1 & 1, packet["tcp_flags"] & 1
        predicted[packet["direction"]] = (
            packet["sequence_number"] + packet["payload_bytes"] + syn + fin)


def sack_blocks(packet):
    out = varint(len(packet["sack_blocks"]))
    for left, right in packet["sack_blocks"]:
        out += zigzag(nearest(left - packet["acknowledgment_number"], 32))
        out += zigzag(nearest(right - left, 32))
    return out


def direction_bits(packets):
    bits = sum(packet["direction"] << i for i, packet in enumerate(packets))
    return bits.to_bytes((len(packets) + 7) // 8, "little")


def zigzags(values):
    return b"".join(map(zigzag, values))


def columns(packets, is_ipv6):
    def having(bit):
        return [packet for packet in packets if packet["options_present"] & bit]

    times = [packet["time_ns"] for packet in packets]
    coded = {
        1: zigzags(now - before for now, before in zip(times, [0] + times)),
        2: direction_bits(packets),
        3: zigzags(sequence_numbers(packets)),
        4: zigzags(differences(packets, "acknowledgment_number", 32)),
        5: b"".join(varint(packet["payload_bytes"]) for packet in packets),
        6: repeats(differences(packets, "header_bytes")),
        7: repeats(differences(packets, "tcp_flags")),
        8: zigzags(differences(packets, "window_field")),
        9: b"" if is_ipv6 else repeats(differences(packets, "ip_id", 16, 65535, 1)),
        10: repeats(differences(packets, "time_to_live")),
        11: repeats(differences(packets, "traffic_class")),
        12: repeats(differences(packets, "options_present")),
        13: zigzags(differences(having(1), "timestamp_value", 32)),
        14: zigzags(differences(having(1), "timestamp_echo", 32)),
        15: b"".join(varint(packet["maximum_segment_size"]) for packet in having(2)),
        16: b"".join(varint(packet["window_scale"]) for packet in having(4)),
        17: b"".join(map(sack_blocks, having(16))),
    }
    return [{"id": column, "data": data.decode("latin-1")} for column, data in coded.items() if data]


def parse_packet(fields):
    names = ("time_ns", "direction", "sequence_number", "acknowledgment_number", "payload_bytes",
             "header_bytes", "tcp_flags", "window_field", "ip_id", "time_to_live", "traffic_class",
             "options_present", "timestamp_value", "timestamp_echo", "maximum_segment_size",
             "window_scale")
    packet = {name: int(fields.get(name, 0)) for name in names}
    packet["sack_blocks"] = [tuple(map(int, block.split("-")))
                             for block in fields.get("sack_blocks", "").split(",") if block]
    return packet


def address(text):
    return ipaddress.ip_address(text).packed.decode("latin-1")


def optional(text, branch):
    return None if text == "-" else {branch: int(text)}


def place(fields):
    return {
        "domain": int(fields["domain"]),
        "low_address": address(fields["low_address"]), "low_port": int(fields["low_port"]),
        "high_address": address(fields["high_address"]), "high_port": int(fields["high_port"]),
        "vlan_id": optional(fields["vlan_id"], "int"),
        "tunnel_id": optional(fields["tunnel_id"], "long"),
        "flow_start_ns": int(fields["flow_start_ns"]),
    }


def finish_run(run, packets):
    return {
        **place(run),
        "packets_before": int(run["packets_before"]),
        "observed_until_ns": int(run["observed_until_ns"]),
        "end_reason": run["end_reason"],
        "packets": len(packets),
        "columns": columns(packets, ":" in run["low_address"]),
    }


def summary(fields):
    return {
        **place(fields),
        "duration_ns": int(fields["duration_ns"]), "quiet_ns": int(fields["quiet_ns"]),
        "end_reason": fields["end_reason"],
        "client": optional(fields["client"], "int"),
        "client_sequence_number": optional(fields["client_sequence_number"], "long"),
        "syns": int(fields["syns"]),
        "server_delay_ns": optional(fields["server_delay_ns"], "long"),
        "client_delay_ns": optional(fields["client_delay_ns"], "long"),
    }


def parse(lines):
    batch, counters, runs, summaries = {}, [], [], []
    for line in lines:
        kind, *tokens = line.split()
        fields = dict(token.split("=", 1) for token in tokens)
        if kind == "batch":
            batch = {name: value if name in ENUMS + TEXTS else int(value)
                     for name, value in fields.items()}
        elif kind == "counter":
            counters += [{"name": name, "value": int(value)} for name, value in fields.items()]
        elif kind == "run":
            runs.append((fields, []))
        elif kind == "packet":
            runs[-1][1].append(parse_packet(fields))
        elif kind == "summary":
            summaries.append(summary(fields))
        elif kind in ("sent_by_low", "sent_by_high"):
            summaries[-1][kind] = {name: int(value) for name, value in fields.items()}
        else:
            raise ValueError(line)
    batch["counters"] = counters
    batch["runs"] = [finish_run(run, packets) for run, packets in runs]
    batch["summarised_packets_before"] = batch.get("summarised_packets_before", 0)
    batch["summarised_packets"] = batch.get("summarised_packets", 0)
    batch["summaries"] = summaries
    return batch


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        batch = parse(line for line in file if line.strip() and not line.startswith("#"))
    print(json.dumps(batch, indent=1))


main()
