#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A probe on a port that goes on running: its filter is read anew, it tells how its ports and its tap are, it is killed
# and started again. In a network namespace of its own: a pair of virtual interfaces, frames sent into one end.
#
# usage: running.sh PROBE        exit code 77: skipped
set -u
probe=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
namespace=chokepoint-probe-$$
if [ "$(id -u)" -ne 0 ] || ! command -v curl >/dev/null || ! ip netns add "$namespace" 2>/dev/null; then
    echo "skipped: needs root, for network namespaces, and curl"
    exit 77
fi
work=$(mktemp -d)
chmod 755 "$work" # the probe is nobody when it reads its filter anew
pid=
trap '[ -z "$pid" ] || kill -KILL $pid 2>/dev/null; ip netns del $namespace; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
failures=0

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

inside() {
    nsenter "--net=/run/netns/$namespace" "$@"
}

counter() {
    grep -o "\"$1\":[0-9]*" "$work/ledger" | head -n 1 | cut -d: -f2
}

missed() {
    echo $(($(counter frames_missed_port) + $(counter frames_missed_deduced)))
}

# start ARGUMENT...: starts the probe and waits until it watches; its process id is left in $pid.
start() {
    rm -f "$work/ledger" "$work/out"
    nsenter "--net=/run/netns/$namespace" "$probe" --tap t --ledger "$work/ledger" --output "$work/out" --metrics 127.0.0.1:0 "$@" 2>"$work/err" &
    pid=$!
    for _ in $(seq 300); do
        [ "$(metric ready)" != 1 ] && kill -0 $pid 2>/dev/null || break
        sleep 0.1
    done
}

# end: stops the probe, whose books must balance.
end() {
    kill -TERM $pid
    wait $pid
    code=$?
    pid=
    [ $code -eq 0 ] || fail "exit code $code: $(cat "$work/err")"
    python3 -c 'import json, sys; assert json.load(open(sys.argv[1]))["balanced"]' "$work/ledger" || fail "the ledger"
}

# metric NAME: summed over labels; empty if there is none.
metric() {
    inside curl -s "http://127.0.0.1:$(sed -n 's/.*metrics are at port //p' "$work/err")/metrics" 2>"$work/curl" |
        awk -v name="chokepoint_probe_$1" '$1 == name || index($1, name "{") == 1 { sum += $NF; seen = 1 } END { if (seen) print sum }'
}

# await_metric NAME VALUE: until it is that.
await_metric() {
    for _ in $(seq 100); do
        [ "$(metric "$1")" = "$2" ] && return
        sleep 0.1
    done
    fail "$1 is $(metric "$1"), expected $2"
}

# all_seen TIMES: until the port has got or missed all frames, sent so often.
all_seen() {
    for _ in $(seq 100); do
        seen=$(($(metric port_frames_received_total) + $(metric port_frames_missed_total) + $(metric port_frames_deduced_total)))
        [ $seen -eq $(($1 * frames)) ] && return
        sleep 0.1
    done
    fail "received and missed $seen frames, expected $(($1 * frames))"
}

send() {
    inside python3 "$here/send_frames.py" "$work/many.pcap" 2000 send0
}

inside ip link set lo up
inside ip link add send0 type veth peer name watch0
for interface in send0 watch0; do
    inside sysctl -qw "net.ipv6.conf.$interface.disable_ipv6=1"
    inside ip link set $interface up
done
python3 "$here/../kafka/many_flows.py" 200 >"$work/many.pcap"
frames=2200

# --- SIGHUP: the filter is read anew while frames come ---
filter() {
    printf '%s\n' "$@" >"$work/filter"
}

# reload WORKERS: false if frames were missed, so that not all counts are known.
reload() {
    filter '# handshakes' 'tcp[tcpflags] &' 'tcp-syn != 0  # and nothing else'
    start --workers "$1" --port net_pcap0,rx_iface_in=watch0 --filter-file "$work/filter"
    [ "$(metric filter_generation)" = 1 ] || fail "filter_generation is $(metric filter_generation)"
    send
    all_seen 1
    filter tcp && kill -HUP $pid
    await_metric filter_generation 2
    send
    filter 'tcp and' && kill -HUP $pid
    await_metric filters_refused_total 1
    filter '# nothing' && kill -HUP $pid
    await_metric filters_refused_total 2
    rm "$work/filter" && kill -HUP $pid
    await_metric filters_refused_total 3
    send &
    sender=$!
    for generation in $(seq 3 8); do
        filter "tcp or len > $generation" && kill -HUP $pid
        await_metric filter_generation "$generation"
    done
    wait $sender
    all_seen 3
    end
    [ "$(grep -c "chokepoint-probe: filter file $work/filter is not taken, the filter before it stays: " "$work/err")" -eq 3 ] ||
        fail "said '$(cat "$work/err")'"
    [ $(($(counter frames_received) + $(missed))) -eq $((3 * frames)) ] || fail "$1 workers: $(cat "$work/ledger")"
    [ "$(missed)" -eq 0 ] || return 1
    [ "$(counter frames_filtered)" -eq $((frames - 400)) ] || fail "$1 workers: $(counter frames_filtered) frames filtered"
}
for workers in 1 2; do
    for try in 1 2 3 4 5; do
        reload $workers && break
        [ $try -lt 5 ] || fail "this machine is too busy to receive 2000 frames a second"
    done
done
start --port net_pcap0,rx_iface_in=watch0
kill -HUP $pid
send
all_seen 1
end

# --- the figures of a port ---
# figures PORT: name and value of all metrics of a port, but for its bytes.
figures() {
    inside curl -s "http://127.0.0.1:$(sed -n 's/.*metrics are at port //p' "$work/err")/metrics" |
        sed -n "s/^chokepoint_probe_port_\([a-z_]*\){port=\"$1\",*\(.*\)} / \1 \2 /p" | grep -v bytes_received | tr -s ' \n' ' '
}
expected=" frames_received_total $frames frames_missed_total 0 frames_no_buffer_total 0 frames_errors_total 0 frames_deduced_total 0\
 interface_frames_received_total $frames interface_frames_dropped_total 0 link_up 1 link_bits_per_second 10000000000\
 driver_total name=\"rx_missed_errors\" 0 driver_total name=\"rx_errors\" 0 driver_total name=\"rx_mbuf_allocation_errors\" 0 "
start --port net_pcap0,rx_iface_in=watch0
send
all_seen 1
[ "$(metric port_frames_missed_total)" -gt 0 ] || [ "$(figures net_pcap0,rx_iface_in=watch0)" = "$expected" ] ||
    fail "figures: $(figures net_pcap0,rx_iface_in=watch0)"
inside ip link set send0 down
await_metric port_link_up 0
inside ip link set send0 up
await_metric port_link_up 1
end

# --- DPDK's telemetry, by who knows nothing but sockets ---
# ask COMMAND FIELD: of the socket that the probe has left.
ask() {
    python3 - "$work/run/dpdk/t/dpdk_telemetry.v2" "$1" "$2" <<'END'
import json, socket, sys
asker = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
asker.connect(sys.argv[1])
asker.recv(1024)
asker.send(sys.argv[2].encode())
answer = json.loads(asker.recv(16384))[sys.argv[2].split(",")[0]]
print(answer and answer[sys.argv[3]])
END
}
mkdir "$work/run"
export RUNTIME_DIRECTORY="$work/run"
start --workers 2 --eal "--no-huge -m 256 --file-prefix t" --port net_pcap0,rx_iface_in=watch0
unset RUNTIME_DIRECTORY
send
all_seen 1
await_metric frames_received_total "$(metric port_frames_received_total)"
[ "$(ask /chokepoint/stats frames_received)" = "$(metric frames_received_total)" ] || fail "telemetry: $(ask /chokepoint/stats frames_received)"
[ $(($(ask /chokepoint/stats,0 flows_started) + $(ask /chokepoint/stats,1 flows_started))) -eq "$(metric flows_started_total)" ] ||
    fail "telemetry of workers: $(ask /chokepoint/stats,0 flows_started), $(ask /chokepoint/stats,1 flows_started)"
[ "$(ask /chokepoint/stats,2 flows_started)" = None ] || fail "telemetry of a worker that there is not"
[ "$(ask /ethdev/info,0 name)" = net_pcap0 ] || fail "DPDK's own commands"
end

# --- killed in the midst of traffic and started again ---
start --mouse-packets 0 --batch-delay 20ms --port net_pcap0,rx_iface_in=watch0 --state-file "$work/state"
inside python3 "$here/send_frames.py" "$work/many.pcap" 300 send0 &
sender=$!
for _ in $(seq 100); do
    [ "$(metric packets_delivered_total)" -lt 300 ] || break
    sleep 0.05
done
received=$(metric frames_received_total)
kill -KILL $pid
wait $pid 2>/dev/null
cp "$work/out" "$work/before"
start --mouse-packets 0 --batch-delay 20ms --port net_pcap0,rx_iface_in=watch0 --state-file "$work/state"
wait $sender
[ "$(metric sessions_settled_total)" = 1 ] || fail "sessions_settled: $(metric sessions_settled_total)"
grep -q "^chokepoint-probe: session [0-9a-f]* of tap t had no good end: [0-9]* frames of [0-9]* were not yet written, and of [0-9]* packets it is not known whether they were delivered; its balance is published$" "$work/err" ||
    fail "said '$(cat "$work/err")'"
end
# What the killed one had received and not written, to the frame, is told by the one after it.
balance=$(python3 "$here/check_balance.py" "$received" "$work/before" "$work/out") || fail "the balance of the killed session"
echo "frames lost and packets missing by the kill: $balance"
python3 - "$here/../golden" "$work/before" "$work/out" <<'END' || fail "restart: see above"
import io, sys
sys.path.insert(0, sys.argv[1])
from read_batches import TornBatch, decode_packets, read_stream

def batches(data):
    read, torn = [], False
    try:
        for _, batch in read_stream(io.BytesIO(data)):
            read.append(batch)
    except TornBatch:
        torn = True
    return read, torn

def packets(batches):
    return {(run["low_address"], run["low_port"], run["high_address"], run["high_port"], packet["time_ns"],
             packet["sequence_number"], packet["acknowledgment_number"], packet["tcp_flags"])
            for batch in batches for run in batch["runs"] for packet in decode_packets(run)}

data = [open(path, "rb").read() for path in sys.argv[2:]]
(before, is_torn), (after, is_after_torn) = map(batches, data)
assert before and after and not is_after_torn
assert len({batch["session"] for batch in before + after}) == 2, "each run has a session of its own"
after = [batch for batch in after if batch["session"] != before[0]["session"]]
for half in before, after:
    assert len({batch["session"] for batch in half}) == 1
    for partition in {batch["partition"] for batch in half}:
        sequences = [batch["sequence"] for batch in half if batch["partition"] == partition]
        assert sequences == list(range(len(sequences))), "sequences start at 0 and have no holes"
assert not packets(before) & packets(after), "a packet of the old session is repeated"
assert max(p[4] for p in packets(before)) < min(p[4] for p in packets(after))
# Whatever was cut off with the old session, the new one begins in the middle of it, as new flows.
first = {}
for batch in after:
    for run in batch["runs"]:
        for packet in decode_packets(run)[:1]:
            first.setdefault((run["low_address"], run["low_port"]), (run["packets_before"], packet["tcp_flags"]))
assert all(before == 0 for before, _ in first.values()), "flows of a new session have nothing before"
assert any(not flags & 2 for _, flags in first.values()), "some flow was under way"
# A torn batch is told, and nothing before it is lost.
whole, torn = batches(data[1][:-5])
assert torn and len(whole) == len(batches(data[1])[0]) - 1
print(f"killed after {len(before)} batches, the last one {'torn' if is_torn else 'whole'}")
END

# --- who was told to end leaves nothing to tell, and no two probes share a state file ---
start --port net_pcap0,rx_iface_in=watch0 --state-file "$work/state"
[ "$(metric sessions_settled_total) $(metric sessions_unsettled_total)" = "0 0" ] || fail "an end was taken for a kill"
inside "$probe" --tap t --output "$work/other" --port net_pcap0,rx_iface_in=watch0 --state-file "$work/state" 2>"$work/other.err"
code=$?
[ "$code $(cat "$work/other.err")" = "1 chokepoint-probe: state file $work/state cannot be used: is in use by another probe" ] ||
    fail "a second probe: $code, $(cat "$work/other.err")"
end

# --- a damaged state file is told and counted, and begun anew ---
printf 'x' | dd of="$work/state" bs=1 seek=40 conv=notrunc status=none
start --port net_pcap0,rx_iface_in=watch0 --state-file "$work/state"
[ "$(metric sessions_unsettled_total)" = 1 ] || fail "a damaged state file: $(cat "$work/err")"
grep -q "^chokepoint-probe: state file $work/state is damaged: what the probe that left it had received and not delivered is not known$" "$work/err" ||
    fail "said '$(cat "$work/err")'"
end

# --- XDP: root is needed at the start alone, losses are counted once, and the next probe takes the port over ---
export ASAN_OPTIONS=detect_leaks=0 # libxdp leaks what it may not remove
if start --port net_af_xdp0,iface=watch0 && [ "$(metric ready)" = 1 ]; then
    send
    all_seen 1
    end
    python3 "$here/../golden/read_batches.py" <"$work/out" >"$work/text"
    grep -q "^batch.* timestamp_source=BURST " "$work/text" || fail "XDP: timestamp source"
    start --port net_af_xdp0,iface=watch0
    kill -STOP $pid
    for _ in 1 2 3 4; do
        inside python3 "$here/send_frames.py" "$work/many.pcap" 1000000 send0
    done
    kill -CONT $pid
    all_seen 4
    end
    [ "$(missed)" -gt 0 ] && [ "$(counter frames_missed_kernel)" -eq 0 ] &&
        [ $(($(counter frames_received) + $(missed))) -eq $((4 * frames)) ] || fail "XDP: $(cat "$work/ledger")"
    inside ip link set watch0 xdp off
else
    echo "without XDP: $(grep '^chokepoint-probe' "$work/err")"
    pid=
fi

[ $failures -eq 0 ] && echo "all is as expected"
exit $((failures > 0))
