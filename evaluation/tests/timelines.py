# SPDX-License-Identifier: Apache-2.0
"""Cases written down as text, so that a test reads like what happened."""

import csv
import json
from pathlib import Path

from verdicts import FLOW, INTERVAL

MILLI = 1_000_000
MSS = 1000
SECOND = 1_000 * MILLI
# Of a sender that congestion control holds: all that its window allows is on the way.
USUAL = {"busy": 0, "rwnd": 0, "sndbuf": 0, "flight": 10, "cwnd": 10, "unsent": 50, "wnd": 500}


def samples(text):
    """TCP_INFO by lines `MS key=value ...`: times in ms, flight, cwnd, unsent and wnd in segments.
    A value holds until the next line that names it."""
    state = dict(USUAL)
    found = []
    for line in text.strip().splitlines():
        at_ms, *pairs = line.split()
        state.update((key, float(value)) for key, value in (pair.split("=") for pair in pairs))
        found.append({
            "unix_ns": int(at_ms) * MILLI,
            "busy_us": int(state["busy"] * 1000), "rwnd_limited_us": int(state["rwnd"] * 1000),
            "sndbuf_limited_us": int(state["sndbuf"] * 1000),
            "unacked_segments": int(state["flight"]), "cwnd_segments": int(state["cwnd"]),
            "notsent_bytes": int(state["unsent"] * MSS),
            "snd_wnd_bytes": int(state["wnd"] * MSS), "snd_mss_bytes": MSS, "rtt_us": 40_000,
            "bytes_retrans": 0, "bytes_sent": 1})
    return found


def write_csv(path, rows):
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def write_case(folder, tcp_info, busy, standing="", own=1.0, application="", stalls=(),
               **parameters):
    """One flow `a` for as many bins of 10 ms as `busy` has digits: each tells tenths of the bin in
    which the link sent, `*` all of it. `standing` marks bins with a queue by `q`."""
    folder = Path(folder)
    ends = {"name": "a", "client_ip": "10.0.0.1", "client_port": 1, "server_ip": "10.0.0.2",
            "server_port": 2}
    (folder / "truth.json").write_text(json.dumps({
        "scenario": "test", "half": "held_out", "valid": True,
        "expected": {"direction": "client_to_server", "root_cause": "transport"},
        "parameters": {"rate_mbit": 8, "rtt_ms": 40, "flows": 1, "cc": "cubic", "duration": 1,
                       **parameters},
        "files": {}, "truth": {"epoch_unix_ns": 0, "stalls": list(stalls), "flows": [ends]}}))
    shares = [1.0 if digit == "*" else int(digit) / 10 for digit in busy]
    write_csv(folder / "queue.csv", [
        {"unix_ns": 10 * MILLI * i, "busy_ns": int(10 * MILLI * share),
         "min_queue_bytes": 9000 if standing[i:i + 1] == "q" else 0}
        for i, share in enumerate(shares)])
    write_csv(folder / "link.csv", [
        {"unix_ns": 10 * MILLI * i, "flow": flow, "bytes": int(10_000 * share * part)}
        for i, share in enumerate(shares) for flow, part in (("a", own), ("b", 1 - own))])
    write_csv(folder / "tcp_info.csv", [{"flow": "a", **sample} for sample in samples(tcp_info)])
    write_csv(folder / "application.csv", [
        {"unix_ns": int(at_ms) * MILLI, "flow": "a", "event": event, "bytes": 0}
        for at_ms, event in (line.split() for line in (application or "0 wants").splitlines())])


def row(verdict, start_ms=0, end_ms=1000, kind=INTERVAL, confidence=0.9, **columns):
    return {"record": kind, "root_cause": verdict, "sub_cause": None, "confidence": confidence,
            "direction": "client_to_server", "client_ip": "10.0.0.1", "client_port": 1,
            "server_ip": "10.0.0.2", "server_port": 2, "start_ns": start_ms * MILLI,
            "end_ns": end_ms * MILLI, **columns}


def flow_row(verdict, **columns):
    return row(verdict, kind=FLOW, **columns)
