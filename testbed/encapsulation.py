# SPDX-License-Identifier: Apache-2.0
"""Frames as a tap sees them inside a tag or a tunnel: bytes in, bytes out.

Lengths and the checksum of the outer IPv4 header are right for the whole frame, of which only the
first bytes may be there; the UDP checksum is 0, as RFC 7348 §5 and RFC 8926 §3.3 allow.
"""

import struct
import zlib

MAC_BYTES, ETHERNET_BYTES = 12, 14
IPV4_BYTES, UDP_BYTES = 20, 8
TYPE_IPV4, TYPE_VLAN, TYPE_SERVICE_VLAN, TYPE_MPLS = 0x0800, 0x8100, 0x88a8, 0x8847
TYPE_ETHERNET_BRIDGED, TYPE_ERSPAN_II = 0x6558, 0x88be
PROTOCOL_UDP, PROTOCOL_GRE = 17, 47
PORT_VXLAN, PORT_GENEVE = 4789, 6081
PORT_DYNAMIC_FIRST, PORTS_DYNAMIC = 49152, 16384
GRE_SEQUENCE_PRESENT = 0x1000
DONT_FRAGMENT = 0x4000
TIME_TO_LIVE = 64

VLAN, SERVICE_VLAN = 100, 2000
MPLS_LABELS, MPLS_BOTTOM = (16001, 24005), 0x100
NETWORK, ERSPAN_SESSION = 5001, 7
# An option without meaning (RFC 8926 §3.5: experimental class), so that the header is not of the
# least length.
GENEVE_OPTION = struct.pack("!HBBI", 0xff00, 1, 1, 0)
# The two ends of the tunnel, RFC 5737 and RFC 7042 §2.1.2.
ADDRESSES = (bytes((192, 0, 2, 1)), bytes((198, 51, 100, 2)))
MACS = (bytes.fromhex("00005e005301"), bytes.fromhex("00005e005302"))


def ipv4_checksum(header):
    total = sum(struct.unpack(f"!{len(header) // 2}H", header))
    total = (total & 0xffff) + (total >> 16)
    return ~(total + (total >> 16)) & 0xffff


def goes_up(frame):
    """Which of the two directions of its link a frame takes: any two answers that differ."""
    return frame[:6] < frame[6:12]


def _tunnel(frame, original_bytes, number, protocol, header, one_way=False):
    """The frame behind `header`, from one end of the tunnel to the other."""
    source = 0 if one_way or goes_up(frame) else 1
    ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, IPV4_BYTES + len(header) + original_bytes,
                     number & 0xffff, DONT_FRAGMENT, TIME_TO_LIVE, protocol, 0,
                     ADDRESSES[source], ADDRESSES[1 - source])
    outer = MACS[1 - source] + MACS[source] + TYPE_IPV4.to_bytes(2, "big") + ip[:10] + \
        ipv4_checksum(ip).to_bytes(2, "big") + ip[12:] + header
    return outer, len(outer)


def _udp(frame, original_bytes, number, port, header):
    # As RFC 7348 §5 recommends: the same port for all frames of a flow.
    source_port = PORT_DYNAMIC_FIRST + zlib.crc32(frame[26:38]) % PORTS_DYNAMIC
    udp = struct.pack("!HHHH", source_port, port, UDP_BYTES + len(header) + original_bytes, 0)
    outer, outer_bytes = _tunnel(frame, original_bytes, number, PROTOCOL_UDP, udp + header)
    return outer + frame, outer_bytes + original_bytes


def vlan(frame, original_bytes, _number):
    """802.1Q"""
    tag = struct.pack("!HH", TYPE_VLAN, VLAN)
    return frame[:MAC_BYTES] + tag + frame[MAC_BYTES:], original_bytes + len(tag)


def qinq(frame, original_bytes, _number):
    """802.1ad: a service tag before the customer's"""
    tags = struct.pack("!HHHH", TYPE_SERVICE_VLAN, SERVICE_VLAN, TYPE_VLAN, VLAN)
    return frame[:MAC_BYTES] + tags + frame[MAC_BYTES:], original_bytes + len(tags)


def mpls(frame, original_bytes, _number):
    """MPLS, two labels (RFC 3032)"""
    outer, inner = (label << 12 | TIME_TO_LIVE for label in MPLS_LABELS)
    stack = struct.pack("!HII", TYPE_MPLS, outer, inner | MPLS_BOTTOM)
    return frame[:MAC_BYTES] + stack + frame[ETHERNET_BYTES:], original_bytes + len(stack) - 2


def gre(frame, original_bytes, number):
    """IP in GRE (RFC 2784)"""
    header = b"\0\0" + frame[MAC_BYTES:ETHERNET_BYTES]
    ip_bytes = original_bytes - ETHERNET_BYTES
    outer, outer_bytes = _tunnel(frame, ip_bytes, number, PROTOCOL_GRE, header)
    return outer + frame[ETHERNET_BYTES:], outer_bytes + ip_bytes


def vxlan(frame, original_bytes, number):
    """VXLAN (RFC 7348)"""
    return _udp(frame, original_bytes, number, PORT_VXLAN,
                struct.pack("!II", 0x08 << 24, NETWORK << 8))


def geneve(frame, original_bytes, number):
    """Geneve (RFC 8926), one option"""
    header = struct.pack("!BBHI", len(GENEVE_OPTION) // 4, 0, TYPE_ETHERNET_BRIDGED, NETWORK << 8)
    return _udp(frame, original_bytes, number, PORT_GENEVE, header + GENEVE_OPTION)


def erspan(frame, original_bytes, number):
    """ERSPAN II: from a switch to a collector, both directions of the flow alike"""
    # draft-foschiano-erspan-03 §4.2: version 1, VLAN 0, session; index 0.
    header = struct.pack("!HHIHHI", GRE_SEQUENCE_PRESENT, TYPE_ERSPAN_II, number & 0xffffffff,
                         1 << 12, ERSPAN_SESSION, 0)
    outer, outer_bytes = _tunnel(frame, original_bytes, number, PROTOCOL_GRE, header, one_way=True)
    return outer + frame, outer_bytes + original_bytes


ENCAPSULATIONS = {function.__name__: function
                  for function in (vlan, qinq, mpls, gre, vxlan, geneve, erspan)}
