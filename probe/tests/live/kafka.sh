#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A port never waits for Kafka: while a broker stands still, the newest batches are dropped and counted, and
# frames go on to be received. Broker, port and sender are in a network namespace of their own.
#
# usage: kafka.sh PROBE MAKE_TOPIC        exit code 77: skipped
set -u
probe=$(realpath "$1")
make_topic=$(realpath "$2")
here=$(realpath "$(dirname "$0")")
services=$here/../../../services
namespace=chokepoint-probe-$$
if [ "$(id -u)" -ne 0 ] || ! command -v kcat >/dev/null || ! command -v curl >/dev/null || ! [ -x "$services/kafka" ] || ! ip netns add "$namespace" 2>/dev/null; then
    echo "skipped: needs root, for network namespaces, kcat, curl and services/kafka"
    exit 77
fi
work=$(mktemp -d)
CHOKEPOINT_RUN=$work/run CHOKEPOINT_PORTS=free CHOKEPOINT_KAFKA_HEAP_MIB=256
export CHOKEPOINT_RUN CHOKEPOINT_PORTS CHOKEPOINT_KAFKA_HEAP_MIB
trap '"$services/kafka" stop >/dev/null; ip netns del $namespace; rm -rf "$work"' EXIT
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
    grep -o "\"$1\":[0-9]*" "$work/ledger" | cut -d: -f2
}

# Threads of the process that still are root, have capabilities, may gain some, or are not filtered. A build with
# sanitizers goes without the filter, which is what binds the threads of others.
privileged_threads() {
    filtered=1
    ldd "$probe" | grep -q libasan && filtered=0
    awk -v filtered=$filtered '$1 == "Uid:" && $2 $3 $4 != "655346553465534" ||
        $1 ~ /^Cap(Prm|Eff|Amb):$/ && $2 !~ /^0+$/ ||
        filtered && ($1 == "NoNewPrivs:" && $2 != 1 || $1 == "Seccomp:" && $2 != 2) { print FILENAME, $0 }' "/proc/$1"/task/*/status
}

inside ip link set lo up
inside ip link add send0 type veth peer name watch0
for interface in send0 watch0; do
    inside sysctl -qw "net.ipv6.conf.$interface.disable_ipv6=1"
    inside ip link set $interface up
done
inside "$services/kafka" start || { echo "skipped: services/kafka does not start" && exit 77; }
. "$CHOKEPOINT_RUN/services.env"
broker_pid=$(cut -d' ' -f1 "$CHOKEPOINT_RUN/kafka/broker.pid")
for row in tcp-segments:32 tcp-schemas:1; do
    inside "$make_topic" "$CHOKEPOINT_KAFKA" "${row%:*}" "${row#*:}"
done
python3 "$here/../kafka/many_flows.py" 3000 >"$work/many.pcap"

nsenter "--net=/run/netns/$namespace" "$probe" --tap t --ledger "$work/ledger" --port net_pcap0,rx_iface_in=watch0 \
    --kafka "$CHOKEPOINT_KAFKA" --kafka-timeout 3s --no-shed --state-file "$work/state" --kafka-option queue.buffering.max.kbytes=256 2>"$work/err" &
pid=$!
for _ in $(seq 300); do # the schema is there once the port and Kafka are open
    inside kcat -C -b "$CHOKEPOINT_KAFKA" -t tcp-schemas -e -q 2>/dev/null | grep -q SegmentBatch && break
    sleep 0.1
done
inside python3 "$here/send_frames.py" "$work/many.pcap" 8000 send0
[ -z "$(privileged_threads $pid)" ] || fail "privileges: $(privileged_threads $pid)"
kill -STOP "$broker_pid"
inside python3 "$here/send_frames.py" "$work/many.pcap" 8000 send0
kill -CONT "$broker_pid"
sleep 3
inside python3 "$here/send_frames.py" "$work/many.pcap" 8000 send0
sleep 1
kill -TERM $pid
wait $pid
code=$?

case "$code $(cat "$work/err")" in
"1 chokepoint-probe: Kafka at $CHOKEPOINT_KAFKA did not take all batches"*) ;;
*) fail "exit code $code: $(cat "$work/err")" ;;
esac
python3 -c 'import json, sys; assert json.load(open(sys.argv[1]))["balanced"]' "$work/ledger" || fail "the ledger"
[ $(($(counter frames_received) + $(counter frames_missed_port))) -eq 99000 ] ||
    fail "received $(counter frames_received) and missed $(counter frames_missed_port) of 99000"
[ "$(counter packets_undelivered_queue_full)" -gt 0 ] || fail "the queue of 256 KiB was never full"
read_packets=$(inside kcat -C -b "$CHOKEPOINT_KAFKA" -t tcp-segments -e -q -f '%p %R%s' 2>/dev/null |
    python3 "$here/../kafka/records.py" | python3 "$here/../kafka/records.py" --packets)
[ "$read_packets" -ge "$(counter packets_delivered)" ] &&
    [ "$read_packets" -le $(($(counter packets_delivered) + $(counter packets_undelivered_in_doubt))) ] ||
    fail "another client reads $read_packets, delivered $(counter packets_delivered), in doubt $(counter packets_undelivered_in_doubt)"
[ "$(counter packets_delivered)" -gt 33000 ] || fail "delivery does not go on after the outage: $(cat "$work/ledger")"

# --- a queue that fills is pressure: whole flows are left out ---
nsenter "--net=/run/netns/$namespace" "$probe" --tap t --ledger "$work/ledger" --port net_pcap0,rx_iface_in=watch0 --mouse-packets 0 \
    --kafka "$CHOKEPOINT_KAFKA" --kafka-option queue.buffering.max.kbytes=256 --state-file "$work/other" --metrics 127.0.0.1:9465 2>"$work/err" &
pid=$!
for _ in $(seq 300); do
    [ "$(inside curl -s http://127.0.0.1:9465/readyz)" = ok ] && break
    sleep 0.1
done
kill -STOP "$broker_pid"
inside python3 "$here/send_frames.py" "$work/many.pcap" 8000 send0
kill -CONT "$broker_pid"
kill -TERM $pid
wait $pid
python3 -c 'import json, sys; assert json.load(open(sys.argv[1]))["balanced"]' "$work/ledger" || fail "the ledger"
[ "$(counter frames_shed)" -gt 0 ] || fail "nothing was shed: $(cat "$work/ledger")"

# --- told to end while the broker stands still: within 5 s, and counted ---
nsenter "--net=/run/netns/$namespace" "$probe" --tap t --ledger "$work/ledger" --port net_pcap0,rx_iface_in=watch0 \
    --kafka "$CHOKEPOINT_KAFKA" --state-file "$work/third" --metrics 127.0.0.1:9465 2>"$work/err" &
pid=$!
for _ in $(seq 300); do
    [ "$(inside curl -s http://127.0.0.1:9465/readyz)" = ok ] && break
    sleep 0.1
done
kill -STOP "$broker_pid"
inside python3 "$here/send_frames.py" "$work/many.pcap" 8000 send0
from=$(date +%s%N)
kill -TERM $pid
wait $pid
code=$?
elapsed_ms=$((($(date +%s%N) - from) / 1000000))
kill -CONT "$broker_pid"
[ $code -eq 1 ] && [ $elapsed_ms -lt 5000 ] || fail "exit code $code after $elapsed_ms ms: $(cat "$work/err")"
grep -q "did not take all batches within 4 s of the signal" "$work/err" || fail "said '$(cat "$work/err")'"
python3 -c 'import json, sys; assert json.load(open(sys.argv[1]))["balanced"]' "$work/ledger" || fail "the ledger"
[ "$(counter packets_delivered)" -lt "$(counter packets_encoded)" ] || fail "all is delivered: $(cat "$work/ledger")"

# --- killed while the broker stands still: the next one tells, by partition, of what never came ---
inside "$make_topic" "$CHOKEPOINT_KAFKA" killed 3
# watch: starts a probe, whose state file is the default one, and waits until it watches.
watch() {
    nsenter "--net=/run/netns/$namespace" "$probe" --tap "killed-$$" --ledger "$work/ledger" --port net_pcap0,rx_iface_in=watch0 --mouse-packets 0 \
        --kafka "$CHOKEPOINT_KAFKA" --topic killed --batch-delay 20ms --metrics 127.0.0.1:9465 2>"$work/err" &
    pid=$!
    for _ in $(seq 300); do
        [ "$(inside curl -s http://127.0.0.1:9465/readyz)" = ok ] && return
        sleep 0.1
    done
}
metric() {
    inside curl -s http://127.0.0.1:9465/metrics | awk -v name="chokepoint_probe_$1" '$1 == name || index($1, name "{") == 1 { sum += $NF } END { print sum }'
}
watch
inside python3 "$here/send_frames.py" "$work/many.pcap" 8000 send0
for _ in $(seq 100); do
    [ "$(metric packets_delivered_total)" -eq 0 ] || break
    sleep 0.1
done
kill -STOP "$broker_pid"
inside python3 "$here/send_frames.py" "$work/many.pcap" 8000 send0
received=$(metric frames_received_total)
kill -KILL $pid
wait $pid 2>/dev/null
kill -CONT "$broker_pid"
watch
[ "$(metric sessions_settled_total)" = 1 ] || fail "nothing was settled: $(cat "$work/err")"
kill -TERM $pid
wait $pid
[ "$(counter sessions_settled) $(counter frames_lost_when_killed)" = "1 0" ] || fail "the balance is of the other session: $(cat "$work/ledger")"
inside kcat -C -b "$CHOKEPOINT_KAFKA" -t killed -e -q -f '%p %R%s' >"$work/killed" 2>/dev/null
balance=$(python3 "$here/check_balance.py" "$received" "$work/killed") || fail "the balance of the killed session"
[ "${balance#* }" -gt 0 ] || fail "all batches came although the broker stood still"
rm -f /dev/shm/chokepoint-probe-killed-$$-*

[ $failures -eq 0 ] && echo "all is as expected"
exit $((failures > 0))
