#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sends the frames of a capture (pcap, little endian) out of interfaces, in their order.

usage: send_frames.py CAPTURE FRAMES_PER_SECOND INTERFACE [INTERFACE]
    With two interfaces frames to port 443 leave by the first, the others by the second, as on a fibre.
"""
import socket
import struct
import sys
import time


def frames(data):
    at = 24
    while at < len(data):
        captured = struct.unpack_from("<I", data, at + 8)[0]
        yield data[at + 16:at + 16 + captured]
        at += 16 + captured


def open_interface(name):
    sender = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    sender.bind((name, 0))
    return sender


def main():
    with open(sys.argv[1], "rb") as file:
        data = file.read()
    rate = float(sys.argv[2])
    senders = [open_interface(name) for name in sys.argv[3:]]
    start = time.monotonic()
    for number, frame in enumerate(frames(data)):
        is_answer = frame[36:38] != b"\x01\xbb"
        senders[is_answer and len(senders) - 1].send(frame)
        ahead = start + number / rate - time.monotonic()
        if ahead > 0.001:
            time.sleep(ahead)


main()
