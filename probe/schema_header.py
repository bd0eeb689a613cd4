#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Turns an Avro schema into a C header: its fingerprint and its text.

The fingerprint is CRC-64-AVRO of the parsing canonical form, as the Avro specification lays down
under "Parsing Canonical Form for Schemas" and "Schema Fingerprints".
"""
import json
import sys

PRIMITIVES = {"null", "boolean", "int", "long", "float", "double", "bytes", "string"}
EMPTY = 0xC15D213AA4D7A795


def crc_64_avro(data):
    table = []
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = (value >> 1) ^ (EMPTY if value & 1 else 0)
        table.append(value)
    value = EMPTY
    for byte in data:
        value = (value >> 8) ^ table[(value ^ byte) & 0xFF]
    return value


def full_name(name, namespace):
    return name if "." in name or name in PRIMITIVES or not namespace else f"{namespace}.{name}"


def canonical(schema, namespace=""):
    """The schema without docs, defaults and order, names in full, keys in the specified order."""
    if isinstance(schema, str):
        return json.dumps(full_name(schema, namespace))
    if isinstance(schema, list):
        return "[" + ",".join(canonical(branch, namespace) for branch in schema) + "]"
    kind = schema["type"]
    if isinstance(kind, str) and kind in PRIMITIVES:
        return json.dumps(kind)
    parts = []
    if "name" in schema:
        namespace = schema.get("namespace", namespace)
        name = full_name(schema["name"], namespace)
        namespace = name.rpartition(".")[0]
        parts.append(f'"name":{json.dumps(name)}')
    parts.append(f'"type":{json.dumps(kind)}')
    if "fields" in schema:
        parts.append('"fields":[' + ",".join(
            f'{{"name":{json.dumps(field["name"])},"type":{canonical(field["type"], namespace)}}}'
            for field in schema["fields"]) + "]")
    if "symbols" in schema:
        parts.append('"symbols":' + json.dumps(schema["symbols"], separators=(",", ":")))
    if "items" in schema:
        parts.append(f'"items":{canonical(schema["items"], namespace)}')
    return "{" + ",".join(parts) + "}"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        schema = json.load(file)
    text = json.dumps(schema, separators=(",", ":"))
    lines = [text[at:at + 80] for at in range(0, len(text), 80)]
    with open(sys.argv[2], "w", encoding="utf-8") as out:
        out.write("/* SPDX-License-Identifier: Apache-2.0 */\n/* Made by schema_header.py. */\n")
        out.write(f"#define CKP_SCHEMA_FINGERPRINT UINT64_C(0x{crc_64_avro(canonical(schema).encode()):016x})\n")
        out.write("#define CKP_SCHEMA_TEXT \\\n")
        out.write(" \\\n".join(f"    {json.dumps(line)}" for line in lines) + "\n")


main()
