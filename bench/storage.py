# SPDX-License-Identifier: Apache-2.0
"""What a row of limitation_intervals costs on disk, at a size at which start-up effects are gone.

Real rows, which the whole pipeline made of the captures in samples/ and evaluation/subset/, are varied on the engine until
there are as many as asked for; then each partition is merged to one part, as it is an hour after its day, and measured. Each
partition has one hour: rows are sorted by the hour first, so that the others of a day would add as much again.

How rows are varied decides what they compress to, so on purpose to their disadvantage:

- A new flow has a name, a client, a port and a start of its own, one of 200 servers, and 5 to 60 rows.
- It goes through the rows of one real flow at one tap, from any of them on; each fifth row is any other of that flow, so
  that labels and NULLs do not repeat row by row.
- Every number of a flow, 0 and NULL apart, is scaled by a factor of the flow between 0.5 and 2, which no two flows share,
  and what varies within the flow by another factor of the row, within 10 % and drawn for each column by itself: columns
  tell nothing of each other. What is the same in the rows of a real flow (its capacity, its window scale) stays the same.
- Times by cause still sum to the length of the row, and a 99th percentile is still one of the bins of its histogram.
"""

import gzip
import math
import time

SERVERS = 200
TAPS = 8
MEAN_LENGTH = 32.5
COPIED = ("version", "quality_flags", "mss_bytes", "vlan", "tunnel_id", "client_tenant", "server_tenant")
IDENTITY = ("flow_id", "tap", "client_ip", "client_port", "server_ip", "server_port", "interval_start", "interval_end")
CAUSES = ("application_ns", "send_buffer_ns", "receiver_window_ns", "unshared_bottleneck_ns", "shared_bottleneck_ns",
          "transport_ns", "unknown_ns")  # fmt: skip
CONSTANT_IN_FLOW = ("capacity_bits_per_second", "attainable_bits_per_second", "rtt_min_ns", "receiver_window_max_bytes")
LIMITS = {"confidence_permille": 1000, "capacity_confidence_permille": 1000, "path_position_permille": 1000,
          "retransmission_score_e4": 10_000, "receiver_window_score_e4": 10_000, "dispersion_score_e4": 10_000,
          "b_score_e4": 10_000, "burstiness_score_e4": 10_000, "evidence_a": 100}  # fmt: skip
LARGEST = {"UInt16": 65_534, "UInt32": 4_294_967_294}
SECONDS_PER_HOUR = 3600
SECONDS_PER_DAY = 86_400
FLOWS_PER_HOUR = 128_000  # 4.2 million rows
TABLE = "limitation_intervals_stored"
INSERT_SECONDS = 3600
FIRST_HOUR = "toDateTime64('2026-01-01 00:00:00', 9, 'UTC')"

SOURCE = """
CREATE TABLE bench_source ENGINE = MergeTree ORDER BY (bench_flow, bench_row) AS
SELECT toUInt64(dense_rank() OVER (ORDER BY tap, flow_id, direction) - 1) AS bench_flow,
       toUInt64(row_number() OVER (PARTITION BY tap, flow_id, direction ORDER BY interval_start) - 1) AS bench_row,
       count() OVER (PARTITION BY tap, flow_id, direction) AS bench_rows,
       {columns}
FROM limitation_intervals_stored FINAL
"""


def random_of(*salts):
    """0..1, drawn by the flow and whatever else."""
    return f"(cityHash64({', '.join(map(str, salts))}) % 1000003 / 1000003.)"


def varied(name, kind, number):
    """The SQL of a column: the real value, scaled."""
    source = f"source.{name}"
    if name in COPIED or kind.startswith(("Enum", "Nullable(Enum")):
        return source
    if name in CAUSES:
        return f"toUInt64(shares[{CAUSES.index(name) + 1}])"
    by_flow = f"exp2(2 * {random_of('flow', number // 8)} - 1)"  # columns of a kind scale together
    by_row = "1" if name in CONSTANT_IN_FLOW else f"(0.9 + 0.2 * {random_of('flow', 'second', number)})"
    scaled = f"{source} * {by_flow} * {by_row}"
    if name in LIMITS:
        scaled = f"least({LIMITS[name]}, {scaled})"
    if name == "rtt_p99_ns":  # a bin of the histogram it is taken from
        return f"if({source} = 0, {source}, CAST(exp2(round(8 * log2({scaled})) / 8) AS {kind}))"
    bare = kind.removeprefix("Nullable(").removesuffix(")")
    if bare in LARGEST:
        scaled = f"least({LARGEST[bare]}, {scaled})"
    rounded = f"CAST(floor({scaled} + {random_of('flow', 'second', -number)}) AS {kind})"
    return f"if({source} = 0, {source}, {rounded})"


def insert(columns, hour, flows):
    """An hour of rows; numbers of flows are never used again."""
    start = f"({FIRST_HOUR} + {hour * SECONDS_PER_DAY} + toIntervalNanosecond(began) + second)"
    values = {
        "flow_id": "lower(hex(cityHash64(flow, 'id')))",
        "tap": f"concat('leaf', toString(cityHash64(flow, 'tap') % {TAPS} + 1))",
        "client_ip": "toIPv6(IPv4NumToString(toUInt32(167772160 + cityHash64(flow, 'client') % 65536)))",
        "client_port": "toUInt16(32768 + cityHash64(flow, 'port') % 28232)",
        "server_ip": f"toIPv6(IPv4NumToString(toUInt32(167837696 + cityHash64(flow, 'server') % {SERVERS})))",
        "server_port": f"toUInt16([443, 5432, 9092, 8443, 2049][cityHash64(flow, 'server') % {SERVERS} % 5 + 1])",
        "interval_start": f"if(second = 0, {start}, toStartOfSecond({start}))",
        "interval_end": f"toStartOfSecond({start}) + 1",
    }
    for number, (name, kind) in enumerate(columns):
        if name not in values:
            values[name] = varied(name, kind, number + 1)
    weights = ", ".join(
        f"ifNull(source.{name}, 0) * (0.9 + 0.2 * {random_of('flow', 'second', i + 1000)})" for i, name in enumerate(CAUSES)
    )
    return f"""
INSERT INTO limitation_intervals_stored ({', '.join(name for name, _ in columns)})
WITH
    [{weights}] AS weights,
    if(second = 0, 1000000000 - began % 1000000000, 1000000000) AS length,
    arraySum(weights) AS total,
    arrayMap(weight -> if(total = 0, 0, floor(weight / total * length)), weights) AS parts,
    arrayMap((part, i) -> part + if(i = indexOf(parts, arrayMax(parts)), length - arraySum(parts), 0), parts,
             arrayEnumerate(parts)) AS shares
SELECT {', '.join(values[name] + ' AS new_' + name for name, _ in columns)}
FROM
(
    SELECT number AS flow, bench_flow, bench_rows, cityHash64(flow, 'from') AS offset,
           cityHash64(flow, 'start') % ({SECONDS_PER_HOUR} * 1000000000) AS began,
           arrayJoin(range(5 + cityHash64(flow, 'rows') % 56)) AS second,
           (offset + second + if(cityHash64(flow, second, 'jump') % 5 = 0, cityHash64(flow, second, 'to'), 0)) % bench_rows AS bench_row
    FROM numbers({hour * flows}, {flows}) AS numbers
    INNER JOIN (SELECT bench_flow, any(bench_rows) AS bench_rows FROM bench_source GROUP BY bench_flow) AS real
        ON cityHash64(number, 'of') % (SELECT max(bench_flow) + 1 FROM bench_source) = real.bench_flow
) AS wanted
INNER JOIN
(
    SELECT * FROM bench_source
) AS source USING (bench_flow, bench_row)
SETTINGS max_threads = 2, max_block_size = 2048, min_insert_block_size_rows = 262144
"""


def captures(root, folder):
    """The captures that real rows are made of: (tap, path)."""
    for sample in sorted((root / "samples").glob("*.pcap")):
        yield sample.stem, sample
    for packed in sorted((root / "evaluation/subset").glob("*/*.pcap.gz")):
        path = folder / "unpacked.pcap"
        path.write_bytes(gzip.decompress(packed.read_bytes()))
        yield f"{packed.parent.name}-{packed.name.partition('.')[0]}", path


def measure(stack, rows, say):
    """Varies the rows that are in the tables of the stack until there are so many, merges and measures them."""
    answer = stack.sql(
        "SELECT name, type FROM system.columns WHERE database = currentDatabase() AND default_kind = '' "
        f"AND table = '{TABLE}' ORDER BY position FORMAT TSVRaw",
        "ADMIN",
    )
    columns = [tuple(line.split("\t")) for line in answer.splitlines()]
    stack.sql(SOURCE.format(columns=", ".join(name for name, _ in columns)), "ADMIN")
    real = int(stack.sql("SELECT count() FROM bench_source", "ADMIN"))
    stack.sql(f"TRUNCATE TABLE {TABLE}", "ADMIN")
    hours = math.ceil(rows / FLOWS_PER_HOUR / MEAN_LENGTH)
    started = time.monotonic()
    for hour in range(hours):
        stack.sql(insert(columns, hour, FLOWS_PER_HOUR), "ADMIN", INSERT_SECONDS)
        say(f"hour {hour + 1} of {hours}: {stack.sql(f'SELECT count() FROM {TABLE}')} rows")
    inserted = time.monotonic()
    stack.sql(f"OPTIMIZE TABLE {TABLE} FINAL", "ADMIN", INSERT_SECONDS)
    merged = time.monotonic()
    parts = stack.sql(
        "SELECT count(), sum(rows), sum(bytes_on_disk) FROM system.parts WHERE active AND database = currentDatabase() "
        f"AND table = '{TABLE}'",
        "ADMIN",
    )
    count, stored, size = map(int, parts.split())
    by_column = stack.sql(
        "SELECT name, compression_codec, data_compressed_bytes FROM system.columns WHERE database = currentDatabase() "
        f"AND table = '{TABLE}' ORDER BY data_compressed_bytes DESC FORMAT TSVRaw",
        "ADMIN",
    )
    return {
        "real_rows": real,
        "rows": stored,
        "parts": count,
        "bytes": size,
        "bytes_per_row": round(size / stored, 2),
        "insert_seconds": round(inserted - started),
        "merge_seconds": round(merged - inserted),
        "columns": [
            [name, codec, round(int(used) / stored, 2)]
            for name, codec, used in (line.split("\t") for line in by_column.splitlines())
        ],
    }
