#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A mirror port for a minute: real TCP at 300 Mbit/s through a router whose port is mirrored to the probe. Meanwhile the
# broker stands still for 12 s, and later is killed and started again. In the end the ledger must agree with
# the kernel's counters to the packet, and every batch be in the topic once or counted as not.
#
#   client 10.77.1.2 -- router 10.77.1.1 | 10.77.2.1 -- 10.77.2.2 server
#                       port 1 mirrored --> watch, in the probe's namespace, where the broker is too
#
# usage: mirror.sh PROBE MAKE_TOPIC [SECONDS [MEGABITS_PER_SECOND]]        exit code 77: skipped
set -u
probe=$(realpath "$1")
make_topic=$(realpath "$2")
seconds=${3:-60}
rate=${4:-300}
here=$(realpath "$(dirname "$0")")
services=$here/../../../services
name=chokepoint-mirror-$$
for tool in kcat curl tc ethtool; do
    command -v $tool >/dev/null || { echo "skipped: needs $tool" && exit 77; }
done
if [ "$(id -u)" -ne 0 ] || ! [ -x "$services/kafka" ] || ! ip netns add $name-probe 2>/dev/null; then
    echo "skipped: needs root, for network namespaces, and services/kafka"
    exit 77
fi
work=$(mktemp -d)
CHOKEPOINT_RUN=$work/run CHOKEPOINT_PORTS=free CHOKEPOINT_KAFKA_HEAP_MIB=256
export CHOKEPOINT_RUN CHOKEPOINT_PORTS CHOKEPOINT_KAFKA_HEAP_MIB
pids=
clean_up() {
    for pid in $pids; do kill -KILL "$pid" 2>/dev/null; done
    "$services/kafka" stop >/dev/null
    for side in probe client router server; do ip netns del $name-$side 2>/dev/null; done
    rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT TERM
failures=0

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# inside SIDE COMMAND...: in its network namespace.
inside() {
    side=$1
    shift
    nsenter "--net=/run/netns/$name-$side" "$@"
}

# link SIDE INTERFACE SIDE INTERFACE: frames as they are on a wire, and no chatter of IPv6.
link() {
    ip link add "$2" netns "$name-$1" type veth peer name "$4" netns "$name-$3"
    for end in "$1 $2" "$3 $4"; do
        set -- $end
        inside "$1" sysctl -qw "net.ipv6.conf.$2.disable_ipv6=1"
        inside "$1" ethtool -K "$2" tso off gso off gro off sg off tx off rx off >/dev/null 2>&1
        inside "$1" ip link set "$2" up
    done
}

counter() {
    grep -o "\"$1\":[0-9]*" "$work/ledger" | head -n 1 | cut -d: -f2
}

seen_by_kernel() {
    inside probe cat /proc/net/dev | awk '$1 == "watch:" { print $3 }'
}

for side in client router server; do ip netns add $name-$side; done
inside probe ip link set lo up
link client eth0 router port1
link server eth0 router port2
link router mirror probe watch
inside client ip address add 10.77.1.2/24 dev eth0
inside router ip address add 10.77.1.1/24 dev port1
inside router ip address add 10.77.2.1/24 dev port2
inside server ip address add 10.77.2.2/24 dev eth0
inside client ip route add default via 10.77.1.1
inside server ip route add default via 10.77.2.1
inside router sysctl -qw net.ipv4.ip_forward=1
inside probe ip link set watch arp off
inside router tc qdisc add dev port1 clsact
for way in ingress egress; do
    inside router tc filter add dev port1 $way protocol all u32 match u32 0 0 action mirred egress mirror dev mirror ||
        { echo "skipped: this kernel cannot mirror" && exit 77; }
done

inside probe "$services/kafka" start || { echo "skipped: services/kafka does not start" && exit 77; }
. "$CHOKEPOINT_RUN/services.env"
for row in tcp-segments:32 tcp-schemas:1; do
    inside probe "$make_topic" "$CHOKEPOINT_KAFKA" "${row%:*}" "${row#*:}"
done
nsenter "--net=/run/netns/$name-server" python3 "$here/bulk.py" serve 5001 &
pids=$!
nsenter "--net=/run/netns/$name-probe" "$probe" --tap mirror --ledger "$work/ledger" --port net_pcap0,rx_iface_in=watch \
    --kafka "$CHOKEPOINT_KAFKA" --kafka-timeout 180s --state-file "$work/state" --metrics 127.0.0.1:9465 2>"$work/err" &
probe_pid=$!
pids="$pids $probe_pid"
for _ in $(seq 300); do
    [ "$(inside probe curl -s http://127.0.0.1:9465/readyz)" = ok ] && break
    sleep 0.1
done
before=$(seen_by_kernel)

nsenter "--net=/run/netns/$name-client" python3 "$here/bulk.py" send 10.77.2.2 5001 4 "$rate" "$seconds" &
client_pid=$!
pids="$pids $client_pid"
sleep $((seconds / 8))
broker_pid=$(cut -d' ' -f1 "$CHOKEPOINT_RUN/kafka/broker.pid")
kill -STOP "$broker_pid"
sleep 12
kill -CONT "$broker_pid"
sleep $((seconds / 8))
inside probe "$services/kafka" kill
inside probe "$services/kafka" start >/dev/null || fail "the broker does not come back"
wait $client_pid
sleep 1 # for what is on its way
after=$(seen_by_kernel)
for _ in $(seq 600); do # until Kafka has all that is in whole batches
    inside probe curl -s http://127.0.0.1:9465/metrics | grep -q '^chokepoint_probe_kafka_queued_records{worker="0"} 0$' && break
    sleep 0.1
done
kill -TERM $probe_pid
wait $probe_pid
code=$?

# What the broker may have got before it was killed, and did not confirm, is in doubt: counted, and told.
[ $code -eq 0 ] || { [ $code -eq 1 ] && [ "$(counter batches_undelivered)" -gt 0 ]; } || fail "exit code $code: $(cat "$work/err")"
python3 -c 'import json, sys; assert json.load(open(sys.argv[1]))["balanced"]' "$work/ledger" || fail "the ledger"
missed=$(($(counter frames_missed_port) + $(counter frames_missed_no_buffer) + $(counter frames_missed_errors)))
[ $(($(counter frames_received) + missed)) -eq $((after - before)) ] ||
    fail "received $(counter frames_received) and missed $missed of the kernel's $((after - before))"
inside probe kcat -C -b "$CHOKEPOINT_KAFKA" -t tcp-segments -e -q -f '%p %R%s' 2>/dev/null |
    python3 "$here/../kafka/records.py" >"$work/records"
records=$(wc -l <"$work/records")
[ "$(sort -u "$work/records" | wc -l)" -eq "$records" ] || fail "a batch is in the topic twice"
read_packets=$(python3 "$here/../kafka/records.py" --packets <"$work/records")
in_doubt=$(counter packets_undelivered_in_doubt)
[ "$records" -ge "$(counter batches_delivered)" ] && [ "$records" -le "$(counter batches_encoded)" ] ||
    fail "$records batches in the topic, delivered $(counter batches_delivered) of $(counter batches_encoded)"
[ "$read_packets" -ge "$(counter packets_delivered)" ] && [ "$read_packets" -le $(($(counter packets_delivered) + in_doubt)) ] ||
    fail "another client reads $read_packets packets, delivered $(counter packets_delivered), in doubt $in_doubt"

echo "$((after - before)) frames at the mirror in $seconds s: received $(counter frames_received), missed $missed, shed $(counter frames_shed);" \
    "batches: encoded $(counter batches_encoded), delivered $(counter batches_delivered), in the topic $records"
[ $failures -eq 0 ] && echo "all is as expected"
exit $((failures > 0))
