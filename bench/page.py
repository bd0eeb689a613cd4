# SPDX-License-Identifier: Apache-2.0
"""docs/benchmarks.md out of what bench/run measured."""

HEAD = """<!-- SPDX-License-Identifier: Apache-2.0 -->
<!-- Written by bench/run --write: change bench/page.py instead. -->
# Benchmarks

`make bench` prints this page; `bench/run --write` writes it. `bench/run --scale 0.1 cpu` is quick, `--help` tells the
rest. Nothing here is a test: figures are printed, never asserted.

CPU is user and system time of all processes and their children. Start-up does not count: what is told per packet is the
slope between a small and a large capture, and the start column is what the line through both costs at no packets.
Competitors take turns; of each the least of all rounds counts. Other work on the machine makes all of them dearer, by half and more:
compare figures of one table, and look at the load they were taken at.
"""

CAPTURE = """
## The capture

`bench/capture.c` makes it of the samples' taps before the bottleneck: 100 long flows at a time and 100 mice, each copy
of a real Linux flow with addresses, ports, sequence numbers, SACK blocks and timestamps of its own; 128 bytes of each
frame; 120 packets a flow on average. TCP checksums are those of the samples, as no tool can verify them on cut frames.
"""

COMMANDS = """
Commands: `build/probe/tests/read_only FILE`, `chokepoint-probe --tap bench FILE`, `chokepoint analyze --format json FILE`, `tcptrace -n FILE` and with
`-r -l`, `tshark -n -q -z conv,tcp -r FILE`, `tshark -n -T fields -e frame.time_epoch -e ip.src -e tcp.srcport -e
tcp.seq -e tcp.analysis.ack_rtt -r FILE`; all with standard output thrown away. tshark gets a tenth of the packets, once.
"""

RECEIVE = """
## The receive threads

CPU of the probe's receive threads on a `net_ring` device: `build/probe/tests/receive FLOWS WORKERS PACKETS [OPTION]...`,
from `probe/tests/bench/receive.c`. The rings are filled while the clock stands still; from there on it is the probe's own loop,
all features, batches written to `/dev/null`. Source is what taking the same frames and letting them go costs. Each packet is of any flow
with the same chance, which suits no cache; stamps show 5 million packets a second for each worker, and each worker has a queue.
A run is cut short when `--run-memory` (64 MiB) is full: more flows than it has room for take turns in it. Resident memory is that of the
whole process, DPDK's buffers and the generator's flows included.
"""

PIPELINE = """
## The whole pipeline

Kafka, Flink (parallelism 2, state on the heap) and ClickHouse are started anew for each size; counted is from the first
packet until the ledger in ClickHouse has the fate of every delivered packet and no more rows come.
"""

SCALE = """
## Many flows, few slots, one heavy flow

The pipeline once for each line, services started anew: CPU over 20,000,000 packets with the start in it, so compare it within this
table only. Two slots share two cores with everything else. The many flows are all alive at once; their mice last a hundred times, their elephants ten times
as long as those of the samples, so that a packet of a flow comes a second rather than a round trip after the one before: each run brings
few packets, which is what costs here. The probe writes no summaries for captures, so that each mouse takes its place in
the state. Checkpoints every 5 s; size, what had to be written for it, and time are each the largest of all.
"""


STORAGE = """
## Bytes of a row

`bench/run storage` varies the {real_rows:,} interval rows that the pipeline makes of the captures in `samples/` and `evaluation/subset/` until there
are {rows:,}, of {flows:,} flows at 8 taps, and merges each hour of them to a part ({parts}; {gigabytes:.2f} GB). How rows are varied decides what they
compress to; `bench/storage.py` does it to their disadvantage: each flow scales the numbers of a real flow by factors of its own, each row and column
by a further one within 10 %, and every fifth row is another of that flow. What varies in real rows therefore never repeats, and no column tells of another.
Inserted in {insert_seconds} s and merged in {merge_seconds} s.
"""


LATENCY = """
## From the end of an interval to a row that can be queried

`bench/latency.py`, with all of it on this machine: a capture is sent to a veth interface, 50 packets at a time, whose other end a live probe watches
(`net_af_packet`), through Kafka, Flink and ClickHouse. The table is asked ten times a second; a row's latency is when it was first seen less
the end of its interval. A row is written when its flow's next packet comes or, of a silent flow, with the mark a second after the last.
The first 20 s, in which programs are compiled, are left out.
"""


def conditions(part):
    scaled = "" if part["scale"] == 1 else f" Captures of {part['scale']} times the usual size."
    return (
        f"\nMeasured at commit {part['commit']} on a {part['machine']};\n{part['java']}, tcptrace {part['tcptrace']}, "
        f"tshark {part['tshark']};\nrounds: {part['rounds']}; load average at the end {part['load']}.{scaled}\n"
    )


def table(head, rows):
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n" + "".join("| " + " | ".join(str(cell) for cell in line) + " |\n" for line in lines)


def slope_row(name, slope):
    few, many = slope["packets"]
    small, large = slope["cpu_seconds"]
    return [name, f"{few:,}", small, f"{many:,}", large, f"{slope['ns_per_packet']:,.0f}", slope["start_seconds"]]


SLOPE_HEAD = ["", "packets", "CPU s", "packets", "CPU s", "ns a packet", "start s"]


def cpu_text(part):
    if part is None:
        return "\n## CPU per packet\n\nNot measured yet.\n"
    rows = [slope_row(name, slope) for name, slope in part["measured"].items()]
    return "\n## CPU per packet\n" + table(SLOPE_HEAD, rows) + COMMANDS + conditions(part)


RECEIVE_HEAD = ["flows", "workers", "options", "source ns", "probe ns", "beyond the source ns", "runs cut short", "RSS MiB"]


def receive_text(part):
    if part is None:
        return RECEIVE + "\nNot measured yet.\n"
    rows = [
        [
            f"{row['flows']:,}",
            row["workers"],
            f"`{row['options']}`" if row["options"] else "",
            row["source_ns"],
            row["probe_ns"],
            f"**{row['beyond_source_ns']}**",
            f"{row['runs_cut_short'] / row['packets']:.2f} a packet",
            row["rss_mib"],
        ]
        for row in part["measured"]
    ]
    return RECEIVE + table(RECEIVE_HEAD, rows) + conditions(part)


def ratio_rows(pipeline, cpu):
    whole = pipeline["all"]["ns_per_packet"]
    rows = [["pipeline / tcptrace, of this table", f"{whole / pipeline['tcptrace']['ns_per_packet']:.1f}"]]
    for name, slope in (cpu["measured"] if cpu else {}).items():
        if name.startswith("tshark"):
            rows.append([f"{name}, of the table above / pipeline", f"{slope['ns_per_packet'] / whole:.1f}"])
    return rows


def pipeline_text(part, cpu):
    if part is None:
        return PIPELINE + "\nNot measured yet.\n"
    measured = part["measured"]
    rows = [slope_row(name, slope) for name, slope in measured["processes"].items()]
    rows.append(slope_row("**together**", measured["all"]))
    rows.append(slope_row("`tcptrace -n`, between the runs", measured["tcptrace"]))
    text = PIPELINE + table(SLOPE_HEAD, rows)
    if again := measured.get("again"):
        parts = [[name, f"{nanos:,.0f}"] for name, nanos in again.items()]
        text += "\nThe same capture once more, as another tap, through services that are warm by then: no start, little compiling.\n"
        text += table(["once more", "ns a packet"], [*parts, ["**together**", f"{sum(again.values()):,.0f}"]])
    text += table(["ratio of CPU per packet", ""], ratio_rows(measured, cpu))
    sizes = [["Kafka, log segments of the topic, lz4", f"{measured['kafka_bytes_per_packet']} B a packet"]]
    for name, size in measured["tables"].items():
        sizes.append([f"ClickHouse, `{name}` merged, {size['rows']:,} rows", f"{size['bytes_per_row']} B a row"])
    text += table(["stored", ""], sizes)
    return text + (
        f"\nThe large capture took {measured['probe_wall_seconds']} s to play and {measured['wall_seconds']} s until its"
        " last row.\n" + conditions(part)
    )


def latency_text(part):
    if part is None:
        return LATENCY + "\nNot measured yet.\n"
    measured = part["measured"]
    head = ["packets/s", "for s", "frames missed", "rows", "p50 s", "p90 s", "p99 s", "p99.9 s"]
    row = [
        f"{measured['packets_per_second']:,}",
        measured["seconds"],
        f"{measured['frames_missed']:,}",
        f"{measured['rows']:,}",
        *(measured[name] for name in ("p50", "p90", "p99", "p99.9")),
    ]
    return LATENCY + table(head, [row]) + conditions(part)


def module_text(state):
    """Table II of [BAU20], as far as modules can be told apart that share each packet."""
    samples = state.get("module_samples")
    if not samples:
        return ""
    total = sum(samples.values())
    packet_ns = state["module_ns_per_packet"]
    row_us = packet_ns * state["module_packets"] / state["module_rows"] / 1000
    rows = [
        [name, f"{100 * number / total:.1f} %", f"{packet_ns * number / total:.1f}", f"{row_us * number / total:.1f}"]
        for name, number in sorted(samples.items(), key=lambda item: -item[1])
    ]
    rows.append(["**all**", "100 %", f"{packet_ns:.1f}", f"{row_us:.1f}"])
    return (
        f"\nWhere that time goes: Java's Flight Recorder looked at the thread each 10 ms, {total:,} times in all, and"
        " the innermost frame\nof a module got the sample. An interval row comes each"
        f" {state['module_packets'] / state['module_rows']:,.0f} packets here ({state['module_rows']:,} rows, flows'"
        " included), so its column is\nwhat all packets of a row cost. It is the mean of 40 rounds with the recorder on,"
        " so more than the least of rounds above.\n"
        + table(["module", "share", "ns a packet", "µs a row"], rows)
    )


SCALE_HEAD = ["", "slots", "state", "heap MiB", "packets a run", "Kafka B a packet", "TaskManager ns a packet", "all ns a packet", "RSS MiB",
              "checkpoint MiB", "written MiB", "checkpoint s"]  # fmt: skip


def scale_text(part):
    if part is None:
        return SCALE + "\nNot measured yet.\n"
    rows = [
        [
            row["name"],
            row["slots"],
            {"hashmap": "heap", "rocksdb": "RocksDB"}[row["backend"]],
            f"{row['heap_mib']:,}",
            row["packets_per_run"],
            row["kafka_bytes_per_packet"],
            f"{row['task_manager_ns']:,}",
            f"{row['all_ns']:,}",
            f"{row['rss_mib']:,}",
            f"{row['state_size'] / 2**20:,.1f}",
            f"{row['checkpointed_size'] / 2**20:,.1f}",
            f"{row['end_to_end_duration'] / 1000:.1f}",
        ]
        for row in part["measured"]
    ]
    return SCALE + table(SCALE_HEAD, rows) + conditions(part)


def state_text(part):
    if part is None:
        return "\n## State, and the core alone\n\nNot measured yet.\n"
    state = part["measured"]
    sizes = [
        ["mouse, largest of all samples", state["samples_mouse_bytes"], ""],
        ["elephant, largest of all samples", state["samples_elephant_bytes"], ""],
        [f"elephant, 10 minutes of bulk, SACK, 2 % loss ({state['lossy_packets']:,} packets), both taps",
         state["lossy_elephant_bytes"], state["heap_lossy_elephant_bytes"]],
        ["elephant, bulk without random loss", "", state["heap_elephant_bytes"]],
        ["mouse of 12 packets, were it an object; the job keeps the bytes of its runs", "", state["heap_mouse_bytes"]],
    ]  # fmt: skip
    cost = [
        ["decoding a packet", f"{state['decode_ns_per_packet']} ns"],
        ["analysing a packet", f"{state['analysis_ns_per_packet']} ns"],
        ["closing an interval of a flow, all modules and its row", f"{state['interval_us']} µs"],
        ["batch stream, not compressed", f"{state['batch_bytes_per_packet']} B a packet"],
    ]
    return (
        "\n## State, and the core alone\n\nSerialised: bytes of the flow's state, taken after every run. Heap: growth by"
        " 10,000 flows / 10,000, each\nfed with the first 4,000 packets.\n"
        + table(["state", "serialised B", "heap B"], sizes)
        + f"\nCPU of one thread over {state['core_packets']:,} packets of the capture, optimising compiler, least of 8"
        " rounds. An interval's cost is\nthe difference between intervals of 100 ms and of 1 s, by additional row.\n"
        + table(["core", ""], cost)
        + module_text(state)
        + conditions(part)
    )


def storage_text(part):
    if part is None:
        return "\n## Bytes of a row\n\nNot measured yet.\n"
    measured = part["measured"]
    rows = [[f"`{name}`", codec.removeprefix("CODEC"), f"{size:.2f}"] for name, codec, size in measured["columns"] if size >= 0.1]
    rest = sum(size for _, _, size in measured["columns"] if size < 0.1)
    rows.append([f"{len(measured['columns']) - len(rows)} further columns", "", f"{rest:.2f}"])
    rows.append(["**on disk, marks and index included**", "", f"**{measured['bytes_per_row']:.1f}**"])
    flows = round(measured["rows"] / 32.5)
    return (
        STORAGE.format(**measured, flows=round(flows, -3), gigabytes=measured["bytes"] / 1e9)
        + table(["column", "codec", "B a row"], rows)
        + conditions(part)
    )


def text(results):
    return (
        HEAD
        + CAPTURE
        + cpu_text(results.get("cpu"))
        + receive_text(results.get("receive"))
        + pipeline_text(results.get("pipeline"), results.get("cpu"))
        + scale_text(results.get("scale"))
        + storage_text(results.get("storage"))
        + latency_text(results.get("latency"))
        + state_text(results.get("state"))
    )
