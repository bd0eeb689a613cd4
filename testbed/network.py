# SPDX-License-Identifier: Apache-2.0
"""Two namespaces joined by the link emulator, and processes in them; all gone when it is closed."""

import json
import os
import select
import signal
import subprocess
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
EMULATOR = HERE.parent / "build" / "testbed" / "link_emulator"
INTERFACE = "eth0"
INTERFACE_QUEUE_FRAMES = 30000  # the host's own queue must never be the one that drops
OFFLOADS = "tso off gso off gro off sg off tx off rx off".split()
START_SECONDS = 20


class NetworkError(Exception):
    """The network did not do what was asked; the text is one sentence for the user."""


def execute(*command):
    """Runs a short command; its output."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise NetworkError(f"`{' '.join(command)}` failed: {done.stderr.strip()}")
    return done.stdout


class Process:
    """A child process whose lines of output can be waited for."""

    def __init__(self, name, command):
        self.name = name
        self.pending = b""
        self.child = subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL,
                                      process_group=0)  # Ctrl-C is for us to handle

    def wait_for_line(self, word, timeout_seconds):
        """The rest of the first line that starts with `word`."""
        deadline = time.monotonic() + timeout_seconds
        while True:
            while b"\n" in self.pending:
                line, self.pending = self.pending.split(b"\n", 1)
                if line.split(b" ", 1)[0] == word.encode():
                    return line.decode()[len(word):]
            remaining = deadline - time.monotonic()
            if remaining <= 0 or not select.select([self.child.stdout], [], [], remaining)[0]:
                raise NetworkError(f"{self.name} did not say \"{word}\" in {timeout_seconds:.0f} s")
            received = os.read(self.child.stdout.fileno(), 1 << 16)
            if not received:
                raise NetworkError(f"{self.name} ended early with status {self.child.wait()}")
            self.pending += received

    def end(self, signal_number=signal.SIGTERM, timeout_seconds=30):
        """Ends the process, by force if need be; its exit status."""
        if self.child.poll() is None:
            self.child.send_signal(signal_number)
            try:
                self.child.wait(timeout_seconds)
            except subprocess.TimeoutExpired:
                self.child.kill()
                self.child.wait()
        self.child.stdout.close()
        return self.child.returncode


class Network:
    """The sending and the receiving host; use as a context manager."""

    def __init__(self, emulator_options):
        prefix = f"ckp-{os.getpid()}"
        self.namespaces = {"sender": f"{prefix}-s", "receiver": f"{prefix}-r"}
        self.emulator_options = emulator_options
        self.created = []
        self.processes = []
        self.emulator = None

    def __enter__(self):
        try:
            for namespace in self.namespaces.values():
                execute("ip", "netns", "add", namespace)
                self.created.append(namespace)
            self.emulator = self.start("link emulator", [
                str(EMULATOR), "--interface", INTERFACE,
                *(f"--{role}-namespace={name}" for role, name in self.namespaces.items()),
                *self.emulator_options])
            self.emulator.wait_for_line("ready", START_SECONDS)
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        for process in reversed(self.processes):
            process.end()
        self.processes.clear()
        for namespace in self.created:
            subprocess.run(["ip", "netns", "delete", namespace], check=False)
        self.created.clear()

    def start(self, name, command):
        process = Process(name, command)
        self.processes.append(process)
        return process

    def execute(self, role, *command):
        return execute("nsenter", "--net=/run/netns/" + self.namespaces[role], *command)

    def set_up_host(self, role, mac, mtu, sysctls, max_segments_per_write):
        """Brings the interface up, with offloads off and without chatter of its own."""
        settings = {
            f"net.ipv6.conf.{INTERFACE}.accept_ra": 0,
            f"net.ipv6.conf.{INTERFACE}.router_solicitations": 0,
            f"net.ipv6.conf.{INTERFACE}.addr_gen_mode": 1,
            "net.ipv4.tcp_no_metrics_save": 1,
            # Linux's own beginnings, but room enough: they limit only where a scenario says so.
            "net.ipv4.tcp_wmem": "4096 16384 33554432",
            "net.ipv4.tcp_rmem": "4096 131072 33554432",
            **sysctls,
        }
        self.execute(role, "sysctl", "-qw", *(f"{key}={value}" for key, value in settings.items()))
        self.execute(role, "ethtool", "-K", INTERFACE, *OFFLOADS)
        self.execute(role, "ip", "link", "set", INTERFACE, "address", mac, "mtu", str(mtu),
                     "txqueuelen", str(INTERFACE_QUEUE_FRAMES),
                     "gso_max_segs", str(max_segments_per_write))
        self.execute(role, "ip", "link", "set", "lo", "up")
        self.execute(role, "ip", "link", "set", INTERFACE, "up")

    def set_addresses(self, role, addresses):
        for address in addresses:
            self.execute(role, "ip", "address", "add", f"{address}/{128 if ':' in address else 32}",
                         "dev", INTERFACE, *(["nodad"] if ":" in address else []))

    def set_peer(self, role, mac, addresses):
        """Static routes and neighbours, so that the captures hold TCP and nothing else."""
        for address in addresses:
            version = "-6" if ":" in address else "-4"
            self.execute(role, "ip", version, "route", "add", address, "dev", INTERFACE)
            self.execute(role, "ip", "neighbour", "add", address, "lladdr", mac, "dev", INTERFACE,
                         "nud", "permanent")

    def change_path_mtu(self, role, addresses, mtu):
        for address in addresses:
            version = "-6" if ":" in address else "-4"
            self.execute(role, "ip", version, "route", "change", address, "dev", INTERFACE,
                         "mtu", str(mtu))

    def dropped_by_interfaces(self):
        """Frames lost between a host and the emulator: must be 0."""
        dropped = 0
        for role in self.namespaces:
            link = json.loads(self.execute(role, "ip", "-s", "-j", "link", "show", INTERFACE))[0]
            dropped += link["stats64"]["tx"]["dropped"] + link["stats64"]["rx"]["dropped"]
        return dropped
