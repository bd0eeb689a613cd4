#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What --check tells of interfaces and of a real broker that are not as they should be, and once they are. All in a network
# namespace of its own.
#
# usage: doctor.sh PROBE MAKE_TOPIC        exit code 77: skipped
set -u
probe=$(realpath "$1")
make_topic=$(realpath "$2")
here=$(realpath "$(dirname "$0")")
services=$here/../../../services
namespace=chokepoint-probe-$$
if [ "$(id -u)" -ne 0 ] || ! command -v ethtool >/dev/null || ! ip netns add "$namespace" 2>/dev/null; then
    echo "skipped: needs root, for network namespaces, and ethtool"
    exit 77
fi
work=$(mktemp -d)
CHOKEPOINT_RUN=$work/run CHOKEPOINT_PORTS=free CHOKEPOINT_KAFKA_HEAP_MIB=256
export CHOKEPOINT_RUN CHOKEPOINT_PORTS CHOKEPOINT_KAFKA_HEAP_MIB
trap '"$services/kafka" stop >/dev/null 2>&1; ip netns del $namespace; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
failures=0

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

inside() {
    nsenter "--net=/run/netns/$namespace" "$@"
}

# check CODE ARGUMENT...: what is told is left in $work/out.
check() {
    expected=$1
    shift
    inside "$probe" --check "$@" >"$work/out" 2>"$work/err"
    code=$?
    [ $code -eq "$expected" ] || fail "$*: exit code $code instead of $expected: $(cat "$work/out" "$work/err")"
    [ ! -s "$work/err" ] || fail "$*: said '$(cat "$work/err")' beside"
    [ "$(grep -c '^FAIL ' "$work/out")" -eq 0 ] || [ "$expected" -eq 1 ] || fail "$*: $(cat "$work/out")"
}

# tells "LINE": of the last check; the line may go on.
tells() {
    awk -v line="$1" 'index($0, line) == 1 { found = 1 } END { exit !found }' "$work/out" ||
        fail "not told '$1': $(cat "$work/out")"
}

# --- nothing asked for ---
check 0
tells "-     port       needs --port"
tells "-     kafka      needs --kafka"

# --- interfaces ---
port=net_pcap0,rx_iface_in=watch0
check 1 --port $port
tells "FAIL  interface  watch0 is not there"
tells "FAIL  port       port $port cannot be opened: no such device"

inside ip link set lo up
inside ip link add send0 type veth peer name watch0 numrxqueues 2
for interface in send0 watch0; do
    inside sysctl -qw "net.ipv6.conf.$interface.disable_ipv6=1"
done
check 1 --port $port
tells "FAIL  interface  watch0 is down"
tells "                 ip link set watch0 up"

inside ip link set watch0 up
check 0 --port $port
tells "warn  interface  watch0 is up and has no carrier"

inside ip link set send0 up
inside ethtool -K watch0 gro on >/dev/null
inside ethtool -L watch0 rx 2
check 0 --port $port
tells "ok    interface  watch0 is up"
tells "warn  offloads   watch0: GRO makes merged frames that no wire carries"
tells "                 ethtool -K watch0 gro off"
tells "warn  rss        watch0: 2 queues, the driver does not tell by which key"
tells "ok    port       watch0 opens: net_pcap"
tells "ok    stamps     by the kernel, in steps of 1 us"

# The remedies that were told.
inside sh -c "$(grep -A 1 offloads "$work/out" | tail -n 1)" >/dev/null
inside sh -c "$(grep -A 1 rss "$work/out" | tail -n 1)"
check 0 --port $port
tells "ok    rss        watch0: 1 queue, so both directions meet"
tells "ok    offloads   watch0: frames come as they were on the wire"

check 0 --port net_af_packet0,iface=watch0
tells "warn  queue      watch0: 512 frames, little for a burst"
tells "warn  stamps     when a burst is taken, every 50 us or later"
check 0 --idle-sleep 0us --port "$(grep -o 'net_af_packet0,iface=watch0,[^ ]*' "$work/out")"
tells "ok    queue      watch0: 16384 frames"
tells "ok    stamps     when a burst is taken, all the time"

check 1 --port net_af_xdp0,iface=watch1
tells "FAIL  interface  watch1 is not there"
grep -q 'backlog    needs an interface' "$work/out" && fail "net_af_xdp is not known: $(cat "$work/out")"

# --- arguments of DPDK, and cards ---
check 1 --port $port --eal "--no-huge -m 256 --no-shconf --no-telemetry -l 4095"
tells "FAIL  cores      core 4095 is not online"
check 1 --port 0000:ff:1f.7
tells "FAIL  card       0000:ff:1f.7 is not there"

# --- who is not root learns what he cannot ---
inside setpriv --reuid 65534 --regid 65534 --clear-groups "$probe" --check --port $port >"$work/out" 2>"$work/err" ||
    fail "not root: exit code $?: $(cat "$work/out" "$work/err")"
tells "ok    interface  watch0 is up"
tells "-     port       needs root: port $port cannot be opened"

# --- what it writes to ---
check 1 --metrics 203.0.113.1:9465 --anonymise "$work/key"
tells "FAIL  metrics    "
tells "FAIL  anonymise  "
(umask 077 && head -c 32 /dev/urandom >"$work/key")
check 0 --metrics 127.0.0.1:9465 --anonymise "$work/key"
tells "ok    metrics    127.0.0.1:9465 is free"
tells "ok    anonymise  $work/key holds a key"

# Of files it tells the same as a start, and makes or changes none.
ring="--metrics 127.0.0.1:9465 --ring-memory 64MiB"
mkdir "$work/files"
check 1 $ring --ring-key "$work/no/key" --ring-audit "$work/no/audit" --ledger "$work/no/ledger" --output "$work/files"
tells "FAIL  ring-key   option --ring-key: $work/no/key cannot be read: No such file or directory"
tells "FAIL  ring-audit $work/no/audit cannot be written: No such file or directory"
tells "FAIL  ledger     $work/no/ledger cannot be written: No such file or directory"
tells "FAIL  output     $work/files cannot be written: Is a directory"
echo 'tcp port 443 # alone' >"$work/filter"
echo kept >"$work/files/ledger"
check 0 $ring --ring-key "$work/key" --ring-audit "$work/files/audit" --ledger "$work/files/ledger" \
    --output "$work/files/batches" --filter-file "$work/filter"
tells "ok    filter     $work/filter holds a filter"
tells "ok    ring-key   $work/key holds a key"
tells "ok    ring-audit $work/files/audit can be written"
tells "ok    ledger     $work/files/ledger can be written"
tells "ok    output     $work/files/batches can be written"
[ "$(ls "$work/files") $(cat "$work/files/ledger")" = "ledger kept" ] || fail "asking has left $(ls "$work/files")"
chmod 640 "$work/key"
check 1 $ring --ring-key "$work/key" --ring-audit "$work/files/audit"
tells "FAIL  ring-key   option --ring-key: $work/key has mode 0640"

# --- Kafka ---
check 1 --kafka 127.0.0.1:1
tells "FAIL  kafka      127.0.0.1:1 does not answer: 127.0.0.1:1/bootstrap: Connect to ipv4#127.0.0.1:1 failed: Connection refused"
check 1 --kafka 127.0.0.1:1 --kafka-option no.such.setting=1
tells "FAIL  kafka      option --kafka-option: 'no.such.setting=1' is not a librdkafka setting"
if ! [ -x "$services/kafka" ] || ! command -v java >/dev/null || ! command -v kcat >/dev/null ||
    ! inside "$services/kafka" start; then
    echo "services/kafka does not start: the rest is left out"
    [ $failures -eq 0 ]
    exit
fi
. "$CHOKEPOINT_RUN/services.env"
check 1 --kafka "$CHOKEPOINT_KAFKA"
tells "ok    kafka      $CHOKEPOINT_KAFKA answers, 1 broker"
tells "FAIL  topic      tcp-segments: Broker: Unknown topic or partition"
tells "                 ./chokepoint migrate --kafka $CHOKEPOINT_KAFKA --only topics"
tells "FAIL  schemas    tcp-schemas: Broker: Unknown topic or partition"

inside "$make_topic" "$CHOKEPOINT_KAFKA" tcp-segments 4 retention.ms 60000
inside "$make_topic" "$CHOKEPOINT_KAFKA" tcp-schemas 1 cleanup.policy compact
check 0 --kafka "$CHOKEPOINT_KAFKA"
tells "ok    topic      tcp-segments: 4 partitions, 1 replica"
tells "warn  retention  tcp-segments: 0.0167 h, then what the job has not read is lost"
tells "ok    retention  tcp-schemas: kept for good"
check 1 --kafka "$CHOKEPOINT_KAFKA" --partitions 8
tells "FAIL  partitions --partitions 8 is not the 4 of tcp-segments"
check 1 --kafka "$CHOKEPOINT_KAFKA" --kafka-option security.protocol=ssl
tells "FAIL  kafka      $CHOKEPOINT_KAFKA does not answer: "

# Neither a topic nor a record is made by asking.
check 1 --kafka "$CHOKEPOINT_KAFKA" --topic elsewhere
inside kcat -L -b "$CHOKEPOINT_KAFKA" | grep -q '"elsewhere"' && fail "the topic that was asked for is there"
for topic in tcp-segments tcp-schemas; do
    [ "$(inside kcat -C -b "$CHOKEPOINT_KAFKA" -t $topic -e -q 2>/dev/null | wc -c)" -eq 0 ] || fail "$topic is not empty"
done

[ $failures -eq 0 ] && echo "all is as expected"
exit $((failures > 0))
