#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Commands to dump a flow, and what comes back.

usage: dump.py sign KEYFILE AGE_SECONDS PORT SECONDS COMMAND_FILE
           writes a command for the flow of that port of 10.0.0.1 to port 443 of 10.0.0.2, and prints its signature
       dump.py disorder CAPTURE
           writes the frames of a capture in another order, up to 0.4 s off
       dump.py frames CAPTURE
           prints the frames of a capture, pcap or pcapng of this machine: time, link type, original bytes, captured
           bytes in hexadecimal
       dump.py expect CAPTURE PORT SINCE_SECONDS HEADERS|SNAP
           prints the frames of a flow in the last seconds of a capture of Ethernet and IPv4, cut off behind the TCP
           header, or at that many bytes
"""
import hashlib
import hmac
import json
import secrets
import struct
import sys
import time

ETHERNET = 1


def sign(key_file, age_seconds, port, seconds, command_file):
    command = json.dumps({
        "client_ip": "10.0.0.1", "client_port": int(port), "server_ip": "10.0.0.2", "server_port": 443,
        "seconds": int(seconds), "issued_at_seconds": int(time.time()) - int(age_seconds),
        "nonce": secrets.token_hex(16)}).encode()
    with open(command_file, "wb") as file:
        file.write(command)
    with open(key_file, "rb") as file:
        key = file.read().rstrip(b"\r\n")
    print(hmac.new(key, command, hashlib.sha256).hexdigest())


def frames_of_pcap(data):
    magic, link = struct.unpack_from("=I16xI", data)
    at = 24
    while at < len(data):
        seconds, rest, captured, original = struct.unpack_from("=IIII", data, at)
        yield seconds * 10**9 + rest * (1 if magic == 0xA1B23C4D else 1000), link, original, data[at + 16:at + 16 + captured]
        at += 16 + captured


def frames_of_pcapng(data):
    links, at = [], 0
    while at < len(data):
        kind, length = struct.unpack_from("=II", data, at)
        assert length % 4 == 0 and struct.unpack_from("=I", data, at + length - 4)[0] == length
        if kind == 1:
            links.append(struct.unpack_from("=H", data, at + 8)[0])
            assert struct.pack("=HHB", 9, 1, 9) in data[at:at + length], "stamps are in nanoseconds"
        elif kind == 6:
            interface, high, low, captured, original = struct.unpack_from("=IIIII", data, at + 8)
            yield high << 32 | low, links[interface], original, data[at + 28:at + 28 + captured]
        else:
            assert kind == 0x0A0D0D0A and at == 0
        at += length


def frames(path):
    with open(path, "rb") as file:
        data = file.read()
    return list(frames_of_pcapng(data) if data[:4] == b"\n\r\r\n" else frames_of_pcap(data))


def disorder(path):
    with open(path, "rb") as file:
        data = file.read()
    rows, at = [], 24
    while at < len(data):
        seconds, nanos, captured = struct.unpack_from("=III", data, at)
        delay_ns = len(rows) % 3 * 200_000_000
        rows.append((seconds * 10**9 + nanos + delay_ns, data[at:at + 16 + captured]))
        at += 16 + captured
    sys.stdout.buffer.write(data[:24] + b"".join(row for _, row in sorted(rows, key=lambda row: row[0])))


def print_frames(rows):
    for row in rows:
        print(*row[:3], row[3].hex())


def expect(path, port, since_seconds, cut):
    rows = frames(path)
    since_ns = rows[-1][0] - int(since_seconds) * 10**9
    for time_ns, link, original, frame in rows:
        assert link == ETHERNET
        if struct.pack(">H", int(port)) not in (frame[34:36], frame[36:38]) or time_ns < since_ns:
            continue
        end = 34 + (frame[46] >> 4) * 4 if cut == "HEADERS" else int(cut)
        print_frames([(time_ns, link, original, frame[:end])])


if __name__ == "__main__":
    if sys.argv[1] == "sign":
        sign(*sys.argv[2:])
    elif sys.argv[1] == "disorder":
        disorder(sys.argv[2])
    elif sys.argv[1] == "frames":
        print_frames(frames(sys.argv[2]))
    else:
        expect(*sys.argv[2:])
