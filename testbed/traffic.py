# SPDX-License-Identifier: Apache-2.0
"""One end of TCP flows with a known behaviour; runs inside a namespace.

    traffic.py END.json

END.json says which end this is ("sender" or "receiver" of the data), whether it listens or
connects, and for each flow its addresses, the pattern in which data are written or read, and the
socket options. Each end samples TCP_INFO into one CSV file and logs into another when its
application wants to write or to read. Prints "listening" once every listening socket exists, and
"done" with a JSON summary at the end.
"""

import array
import fcntl
import json
import os
import random
import socket
import struct
import sys
import termios
import threading
import time

CHUNK_BYTES = 1 << 18
CONNECT_TIMEOUT_SECONDS = 20.0
TICK_SECONDS = 0.005
NICENESS = -15  # builders beside a run must not make its applications slow
TCP_NOTSENT_LOWAT = 25  # not in Python's socket module

# struct tcp_info of <linux/tcp.h>, as far as we need it; the numbers below are its fields in order.
TCP_INFO_FORMAT = "=8B24I4Q6I4Q2I2Q6I"
TCP_INFO_BYTES = struct.calcsize(TCP_INFO_FORMAT)
TCP_INFO_FIELDS = {
    "ca_state": 1, "rto_us": 8, "snd_mss_bytes": 10, "unacked_segments": 12, "sacked_segments": 13,
    "lost_segments": 14, "retrans_segments": 15, "rtt_us": 23, "rttvar_us": 24,
    "ssthresh_segments": 25, "cwnd_segments": 26, "reordering_segments": 28,
    "total_retrans_segments": 31, "pacing_rate_bytes_per_second": 32, "bytes_acked": 34,
    "notsent_bytes": 38, "min_rtt_us": 39, "data_segments_out": 41,
    "delivery_rate_bytes_per_second": 42, "busy_us": 43, "rwnd_limited_us": 44,
    "sndbuf_limited_us": 45, "bytes_sent": 48, "bytes_retrans": 49, "dsack_dups": 50,
    "reorder_seen": 51, "snd_wnd_bytes": 53,
    "rcv_mss_bytes": 11, "rcv_ssthresh_bytes": 22, "rcv_rtt_us": 29, "rcv_space_bytes": 30,
    "bytes_received": 35, "data_segments_in": 40, "rcv_out_of_order": 52, "rcv_wnd_bytes": 54,
}
FAMILIES = {4: socket.AF_INET, 6: socket.AF_INET6}


def read_tcp_info(connection):
    raw = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, TCP_INFO_BYTES)
    values = struct.unpack(TCP_INFO_FORMAT, raw.ljust(TCP_INFO_BYTES, b"\0"))
    return {name: values[index] for name, index in TCP_INFO_FIELDS.items()}


def unread_bytes(connection):
    """What has arrived and the application has not read."""
    unread = array.array("i", [0])
    fcntl.ioctl(connection.fileno(), termios.FIONREAD, unread)
    return unread[0]


class TcpInfoLog:
    """Samples TCP_INFO of every registered connection until it is closed."""

    def __init__(self, file_name, period_seconds):
        self.file = open(file_name, "w", buffering=1 << 20)
        self.file.write("unix_ns,flow," + ",".join(TCP_INFO_FIELDS) + ",unread_bytes\n")
        self.period_seconds = period_seconds
        self.lock = threading.Lock()
        self.connections = {}
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def add(self, flow, connection):
        with self.lock:
            self.connections[flow] = connection

    def close(self, flow):
        """Takes the last sample of a flow and forgets it."""
        with self.lock:
            return self.sample(flow, self.connections.pop(flow))

    def sample(self, flow, connection):
        info = read_tcp_info(connection)
        self.file.write(f"{time.time_ns()},{flow}," + ",".join(map(str, info.values()))
                        + f",{unread_bytes(connection)}\n")
        return info

    def run(self):
        while not self.ended.wait(self.period_seconds):
            with self.lock:
                for flow, connection in self.connections.items():
                    self.sample(flow, connection)

    def finish(self):
        self.ended.set()
        self.thread.join()
        self.file.close()


class ActivityLog:
    """Writes when an application wants to write (`wants`) and when it has written all that it wants
    for now (`rests`); when it is ready to read (`reads`) and when it leaves data alone (`stalls`).
    `bytes` counts what it had written or read until then."""

    def __init__(self, file_name):
        self.file = open(file_name, "w", buffering=1 << 20)
        self.file.write("unix_ns,flow,event,bytes\n")

    def of(self, flow):
        return Activity(self.file, flow["name"])

    def finish(self):
        self.file.close()


class Activity:
    """The activity of one application; says an event only if it is a change."""

    def __init__(self, file, name):
        self.file, self.name = file, name
        self.event, self.bytes = None, 0

    def becomes(self, event):
        if event != self.event:
            self.event = event
            self.file.write(f"{time.time_ns()},{self.name},{event},{self.bytes}\n")

    def write_all(self, connection, data, flags=0):
        self.becomes("wants")
        connection.sendall(data, flags)
        self.bytes += len(data)
        self.becomes("rests")


class Ticker:
    """Wakes at fixed times; a late wake-up does not shift the later ones."""

    def __init__(self, period_seconds):
        self.period_seconds = period_seconds
        self.due = time.monotonic()

    def wait(self):
        self.due += self.period_seconds
        remaining = self.due - time.monotonic()
        if remaining > 0:
            time.sleep(remaining)


# ---- how data are written: one function for each pattern ---------------------------------


def write_bulk(connection, flow, activity):
    """As fast as the socket takes them, until the time or the bytes are over."""
    message_bytes = flow.get("message_bytes") or CHUNK_BYTES
    flags = socket.MSG_EOR if flow.get("message_bytes") else 0
    chunk = memoryview(bytes(message_bytes))
    left, message_left = flow.get("bytes") or sys.maxsize, message_bytes
    end = time.monotonic() + flow["duration_seconds"]
    connection.settimeout(0.1)  # so that a full socket does not hold us beyond the end
    activity.becomes("wants")
    while left > 0 and time.monotonic() < end:
        try:
            sent = connection.send(chunk[: min(left, message_left)], flags)
        except TimeoutError:
            continue
        left -= sent
        message_left = message_left - sent or message_bytes
        activity.bytes += sent
    activity.becomes("rests")
    connection.settimeout(None)


def write_on_off(connection, flow, activity):
    """A burst, then silence, both varied by a quarter."""
    rng = random.Random(flow["seed"])
    end = time.monotonic() + flow["duration_seconds"]
    while time.monotonic() < end:
        activity.write_all(connection, bytes(int(flow["burst_bytes"] * rng.uniform(0.75, 1.25))))
        time.sleep(flow["pause_seconds"] * rng.uniform(0.75, 1.25))


def write_paced(connection, flow, activity):
    """A steady trickle, one write per tick."""
    ticker = Ticker(flow.get("tick_seconds", TICK_SECONDS))
    bits_per_tick = flow["bits_per_second"] * ticker.period_seconds
    end = time.monotonic() + flow["duration_seconds"]
    owed_bits = 0.0
    while time.monotonic() < end:
        owed_bits += bits_per_tick
        num_bytes = int(owed_bits // 8)
        if num_bytes:
            activity.write_all(connection, bytes(num_bytes))
        owed_bits -= 8 * num_bytes
        ticker.wait()


def write_messages(connection, flow, activity):
    """Messages of varied length that TCP does not join, at a fixed mean rate."""
    rng = random.Random(flow["seed"])
    end = time.monotonic() + flow["duration_seconds"]
    due = time.monotonic()
    while time.monotonic() < end:
        num_bytes = int(flow["message_bytes"] * rng.uniform(0.2, 1.8))
        activity.write_all(connection, bytes(num_bytes), socket.MSG_EOR)
        due += 8 * num_bytes / flow["bits_per_second"]
        time.sleep(max(due - time.monotonic(), 0))


def write_responses(connection, flow, activity):
    """An answer of `response_bytes` to every request, after some time of thinking."""
    rng = random.Random(flow["seed"])
    while read_exactly(connection, flow["request_bytes"]):
        time.sleep(flow["think_seconds"] * rng.uniform(0.5, 1.5))
        activity.write_all(connection, bytes(flow["response_bytes"]))


def write_phases(connection, flow, activity):
    """One pattern after the other; `flow["phases"]` learns when each of them began."""
    for phase in flow["phases"]:
        phase["start_unix_ns"] = time.time_ns()
        PATTERNS[phase["pattern"]](connection, {**flow, **phase}, activity)
        phase["end_unix_ns"] = time.time_ns()


# ---- how data are read -------------------------------------------------------------------------


def read_exactly(connection, num_bytes):
    """False if the peer has closed before."""
    while num_bytes > 0:
        received = connection.recv(num_bytes)
        if not received:
            return False
        num_bytes -= len(received)
    return True


def read_all(connection, flow, activity=None):
    buffer = bytearray(CHUNK_BYTES)
    if activity:
        activity.becomes("reads")
    while received := connection.recv_into(buffer):
        if activity:
            activity.bytes += received
        if flow.get("window_clamp_bytes"):  # Linux forgets it when it learns the size of segments
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_WINDOW_CLAMP,
                                  flow["window_clamp_bytes"])


def read_slowly(connection, flow, activity):
    """At a fixed rate, whatever has arrived, until the peer ends or a phase does."""
    ticker = Ticker(flow.get("tick_seconds", TICK_SECONDS))
    bits_per_tick = flow["bits_per_second"] * ticker.period_seconds
    end = flow.get("reader_end", float("inf"))
    owed_bits = 0.0
    while time.monotonic() < end:
        owed_bits = min(owed_bits + bits_per_tick, 4 * bits_per_tick)
        activity.becomes("reads")
        received = connection.recv(int(owed_bits // 8) or 1)
        if not received:
            return
        activity.bytes += len(received)
        activity.becomes("stalls")
        owed_bits -= 8 * len(received)
        ticker.wait()


def read_with_pauses(connection, flow, activity):
    """Everything for `read_seconds`, nothing for `pause_seconds`, until the time is over."""
    buffer = bytearray(CHUNK_BYTES)
    start = time.monotonic()
    period_seconds = flow["read_seconds"] + flow["pause_seconds"]
    while True:
        elapsed = time.monotonic() - start
        left = period_seconds - elapsed % period_seconds
        if left <= flow["pause_seconds"] and elapsed < flow["duration_seconds"]:
            activity.becomes("stalls")
            time.sleep(left)
        activity.becomes("reads")
        received = connection.recv_into(buffer)
        if not received:
            return
        activity.bytes += received


def read_phases(connection, flow, activity):
    """In the phases that say so slowly, in the others everything."""
    buffer = bytearray(CHUNK_BYTES)
    end = time.monotonic()
    for phase in flow["phases"]:
        end += phase["duration_seconds"]
        if phase["reader"] == "read_slowly":
            read_slowly(connection, {**flow, **phase, "reader_end": end}, activity)
            continue
        activity.becomes("reads")
        while (left := end - time.monotonic()) > 0:
            connection.settimeout(left)
            try:
                received = connection.recv_into(buffer)
            except TimeoutError:
                break
            if not received:
                return
            activity.bytes += received
        connection.settimeout(None)
    read_all(connection, flow, activity)


def read_responses(connection, flow, activity):
    """Asks, reads the answer, pauses, and asks again."""
    rng = random.Random(flow["seed"])
    end = time.monotonic() + flow["duration_seconds"]
    activity.becomes("reads")
    while time.monotonic() < end:
        connection.sendall(bytes(flow["request_bytes"]))
        if not read_exactly(connection, flow["response_bytes"]):
            return
        activity.bytes += flow["response_bytes"]
        time.sleep(flow["pause_seconds"] * rng.uniform(0.5, 1.5))
    connection.shutdown(socket.SHUT_WR)


PATTERNS = {
    "bulk": write_bulk, "on_off": write_on_off, "paced": write_paced, "messages": write_messages,
    "responses": write_responses, "phases": write_phases,
    "read_all": read_all, "read_slowly": read_slowly, "read_with_pauses": read_with_pauses,
    "read_responses": read_responses, "read_phases": read_phases,
}

# ---- the two ends ------------------------------------------------------------------------------


def new_socket(flow):
    """Buffers must be set before the handshake: it fixes the window scale."""
    connection = socket.socket(FAMILIES[flow["ip_version"]], socket.SOCK_STREAM)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, int(not flow.get("nagle")))
    if flow.get("congestion_control"):
        connection.setsockopt(
            socket.IPPROTO_TCP, socket.TCP_CONGESTION, flow["congestion_control"].encode()
        )
    for level, option, key in (
            (socket.SOL_SOCKET, socket.SO_RCVBUF, "receive_buffer_bytes"),
            (socket.SOL_SOCKET, socket.SO_SNDBUF, "send_buffer_bytes"),
            (socket.IPPROTO_TCP, socket.TCP_MAXSEG, "max_segment_bytes"),
            (socket.IPPROTO_TCP, socket.TCP_WINDOW_CLAMP, "window_clamp_bytes"),
            (socket.IPPROTO_TCP, TCP_NOTSENT_LOWAT, "notsent_lowat_bytes")):
        if flow.get(key):
            connection.setsockopt(level, option, flow[key])
    return connection


def listen(flows):
    """One listening socket for each server endpoint, with the flows that will come to it."""
    by_endpoint = {}
    for flow in flows:
        by_endpoint.setdefault((flow["server_ip"], flow["server_port"]), []).append(flow)
    listeners = []
    for endpoint, expected in by_endpoint.items():
        listener = new_socket(expected[0])
        listener.bind(endpoint)
        listener.listen(len(expected))
        listeners.append((listener, expected))
    return listeners


def accept_all(listener, flows, serve):
    """Starts a thread for each expected flow as it arrives."""
    expected = {(flow["client_ip"], flow["client_port"]): flow for flow in flows}
    threads = []
    while expected:
        connection, peer = listener.accept()
        thread = threading.Thread(target=serve, args=(connection, expected.pop(peer[:2])))
        thread.start()
        threads.append(thread)
    for thread in threads:
        thread.join()


def connect(flow):
    connection = new_socket(flow)
    connection.bind((flow["client_ip"], flow["client_port"]))
    connection.settimeout(CONNECT_TIMEOUT_SECONDS)
    connection.connect((flow["server_ip"], flow["server_port"]))
    connection.settimeout(None)
    return connection


def run_sender(connection, flow, logs, summary):
    logs.tcp_info.add(flow["name"], connection)
    start = time.monotonic()
    try:
        PATTERNS[flow["pattern"]](connection, flow, logs.activity.of(flow))
        if flow.get("abort"):
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        else:
            connection.shutdown(socket.SHUT_WR)
            read_all(connection, flow)  # the peer closes when it has everything
    except ConnectionError as error:
        summary["error"] = str(error)
    summary["seconds"] = time.monotonic() - start
    summary["phases"] = flow.get("phases", [])
    summary["tcp_info"] = logs.tcp_info.close(flow["name"])
    connection.close()


def run_receiver(connection, flow, logs, summary):
    logs.tcp_info.add(flow["name"], connection)
    try:
        PATTERNS[flow["reader"]](connection, flow, logs.activity.of(flow))
    except ConnectionError as error:
        if not flow.get("abort"):
            summary["error"] = str(error)
    logs.tcp_info.close(flow["name"])
    connection.close()


class Logs:
    def __init__(self, end):
        self.tcp_info = TcpInfoLog(end["tcp_info_file"], end["tcp_info_period_seconds"])
        self.activity = ActivityLog(end["activity_file"])

    def finish(self):
        self.tcp_info.finish()
        self.activity.finish()


def connect_and_serve(flow, serve):
    time.sleep(flow.get("start_seconds", 0))
    serve(connect(flow), flow)


def main(file_name):
    with open(file_name) as file:
        end = json.load(file)
    try:
        os.setpriority(os.PRIO_PROCESS, 0, NICENESS)
    except PermissionError:
        pass
    sends = end["role"] == "sender"
    logs = Logs(end)
    summaries = {flow["name"]: {} for flow in end["flows"]}

    def serve(connection, flow):
        run_end = run_sender if sends else run_receiver
        run_end(connection, flow, logs, summaries[flow["name"]])

    if end["listens"]:
        listeners = listen(end["flows"])
        print("listening", flush=True)
        threads = [threading.Thread(target=accept_all, args=(*listener, serve))
                   for listener in listeners]
    else:
        threads = [threading.Thread(target=connect_and_serve, args=(flow, serve))
                   for flow in end["flows"]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    logs.finish()
    print("done", json.dumps(summaries), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
