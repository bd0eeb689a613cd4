# SPDX-License-Identifier: Apache-2.0
"""One end of TCP flows with a known behaviour; runs inside a namespace.

    traffic.py END.json

END.json says which end this is ("sender" or "receiver" of the data), whether it listens or
connects, and for each flow its addresses, the pattern in which data are written or read, and the
socket options. The sending end samples TCP_INFO into a CSV file. Prints "listening" once every
listening socket exists, and "done" with a JSON summary at the end.
"""

import json
import random
import socket
import struct
import sys
import threading
import time

CHUNK_BYTES = 1 << 18
CONNECT_TIMEOUT_SECONDS = 20.0
TICK_SECONDS = 0.005

# struct tcp_info of <linux/tcp.h>, as far as we need it; the numbers below are its fields in order.
TCP_INFO_FORMAT = "=8B24I4Q6I4Q2I2Q4I"
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
}
FAMILIES = {4: socket.AF_INET, 6: socket.AF_INET6}


def read_tcp_info(connection):
    raw = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, TCP_INFO_BYTES)
    values = struct.unpack(TCP_INFO_FORMAT, raw.ljust(TCP_INFO_BYTES, b"\0"))
    return {name: values[index] for name, index in TCP_INFO_FIELDS.items()}


class TcpInfoLog:
    """Samples TCP_INFO of every registered connection until it is closed."""

    def __init__(self, file_name, period_seconds):
        self.file = open(file_name, "w", buffering=1 << 20)
        self.file.write("unix_ns,flow," + ",".join(TCP_INFO_FIELDS) + "\n")
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
        self.file.write(f"{time.time_ns()},{flow}," + ",".join(map(str, info.values())) + "\n")
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


def write_bulk(connection, flow):
    """As fast as the socket takes them, until the time or the bytes are over."""
    chunk = memoryview(bytes(CHUNK_BYTES))
    left = flow.get("bytes") or sys.maxsize
    end = time.monotonic() + flow["duration_seconds"]
    connection.settimeout(0.1)  # so that a full socket does not hold us beyond the end
    while left > 0 and time.monotonic() < end:
        try:
            left -= connection.send(chunk[: min(left, CHUNK_BYTES)])
        except TimeoutError:
            pass
    connection.settimeout(None)


def write_on_off(connection, flow):
    """A burst, then silence, both varied by a quarter."""
    rng = random.Random(flow["seed"])
    end = time.monotonic() + flow["duration_seconds"]
    while time.monotonic() < end:
        connection.sendall(bytes(int(flow["burst_bytes"] * rng.uniform(0.75, 1.25))))
        time.sleep(flow["pause_seconds"] * rng.uniform(0.75, 1.25))


def write_paced(connection, flow):
    """A steady trickle, one write per tick."""
    ticker = Ticker(flow.get("tick_seconds", TICK_SECONDS))
    bits_per_tick = flow["bits_per_second"] * ticker.period_seconds
    end = time.monotonic() + flow["duration_seconds"]
    owed_bits = 0.0
    while time.monotonic() < end:
        owed_bits += bits_per_tick
        num_bytes = int(owed_bits // 8)
        connection.sendall(bytes(num_bytes))
        owed_bits -= 8 * num_bytes
        ticker.wait()


def write_responses(connection, flow):
    """An answer of `response_bytes` to every request, after some time of thinking."""
    rng = random.Random(flow["seed"])
    while read_exactly(connection, flow["request_bytes"]):
        time.sleep(flow["think_seconds"] * rng.uniform(0.5, 1.5))
        connection.sendall(bytes(flow["response_bytes"]))


# ---- how data are read -------------------------------------------------------------------------


def read_exactly(connection, num_bytes):
    """False if the peer has closed before."""
    while num_bytes > 0:
        received = connection.recv(num_bytes)
        if not received:
            return False
        num_bytes -= len(received)
    return True


def read_all(connection, _flow):
    buffer = bytearray(CHUNK_BYTES)
    while connection.recv_into(buffer):
        pass


def read_slowly(connection, flow):
    """At a fixed rate, whatever has arrived."""
    ticker = Ticker(flow.get("tick_seconds", TICK_SECONDS))
    bits_per_tick = flow["bits_per_second"] * ticker.period_seconds
    owed_bits = 0.0
    while True:
        owed_bits = min(owed_bits + bits_per_tick, 4 * bits_per_tick)
        received = connection.recv(int(owed_bits // 8) or 1)
        if not received:
            return
        owed_bits -= 8 * len(received)
        ticker.wait()


def read_responses(connection, flow):
    """Asks, reads the answer, pauses, and asks again."""
    rng = random.Random(flow["seed"])
    end = time.monotonic() + flow["duration_seconds"]
    while time.monotonic() < end:
        connection.sendall(bytes(flow["request_bytes"]))
        if not read_exactly(connection, flow["response_bytes"]):
            return
        time.sleep(flow["pause_seconds"] * rng.uniform(0.5, 1.5))
    connection.shutdown(socket.SHUT_WR)


PATTERNS = {
    "bulk": write_bulk, "on_off": write_on_off, "paced": write_paced,
    "responses": write_responses, "read_all": read_all, "read_slowly": read_slowly,
    "read_responses": read_responses,
}

# ---- the two ends ------------------------------------------------------------------------------


def new_socket(flow):
    """Buffers must be set before the handshake: it fixes the window scale."""
    connection = socket.socket(FAMILIES[flow["ip_version"]], socket.SOCK_STREAM)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if flow.get("congestion_control"):
        connection.setsockopt(
            socket.IPPROTO_TCP, socket.TCP_CONGESTION, flow["congestion_control"].encode()
        )
    for option, key in ((socket.SO_RCVBUF, "receive_buffer_bytes"),
                        (socket.SO_SNDBUF, "send_buffer_bytes")):
        if flow.get(key):
            connection.setsockopt(socket.SOL_SOCKET, option, flow[key])
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


def run_sender(connection, flow, log, summary):
    log.add(flow["name"], connection)
    start = time.monotonic()
    try:
        PATTERNS[flow["pattern"]](connection, flow)
        if flow.get("abort"):
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        else:
            connection.shutdown(socket.SHUT_WR)
            read_all(connection, flow)  # the peer closes when it has everything
    except ConnectionError as error:
        summary["error"] = str(error)
    summary["seconds"] = time.monotonic() - start
    summary["tcp_info"] = log.close(flow["name"])
    connection.close()


def run_receiver(connection, flow, _log, summary):
    try:
        PATTERNS[flow["reader"]](connection, flow)
    except ConnectionError as error:
        if not flow.get("abort"):
            summary["error"] = str(error)
    connection.close()


def connect_and_serve(flow, serve):
    time.sleep(flow.get("start_seconds", 0))
    serve(connect(flow), flow)


def main(file_name):
    with open(file_name) as file:
        end = json.load(file)
    sends = end["role"] == "sender"
    log = TcpInfoLog(end["tcp_info_file"], end["tcp_info_period_seconds"]) if sends else None
    summaries = {flow["name"]: {} for flow in end["flows"]}

    def serve(connection, flow):
        run_end = run_sender if sends else run_receiver
        run_end(connection, flow, log, summaries[flow["name"]])

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
    if log:
        log.finish()
    print("done", json.dumps(summaries), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
