#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The probe on ports, in a network namespace of its own: two pairs of virtual interfaces, frames sent into
# one end of each.
#
# usage: run.sh PROBE        exit code 77: skipped
set -u
probe=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
namespace=chokepoint-probe-$$
if [ "$(id -u)" -ne 0 ] || ! ip netns add "$namespace" 2>/dev/null; then
    echo "skipped: needs root, for network namespaces"
    exit 77
fi
work=$(mktemp -d)
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

# start ARGUMENT...: starts the probe and waits until it watches; its process id is left in $pid.
start() {
    rm -f "$work/ledger" "$work/out"
    nsenter "--net=/run/netns/$namespace" "$probe" --tap t --ledger "$work/ledger" --output "$work/out" "$@" 2>"$work/err" &
    pid=$!
    for _ in $(seq 300); do # the output is made once the ports are started
        [ -e "$work/out" ] || ! kill -0 $pid 2>/dev/null && break
        sleep 0.1
    done
}

# end: lets the last frames arrive, stops the probe; the exit code is left in $code.
end() {
    sleep 0.5
    kill -TERM $pid
    wait $pid
    code=$?
    pid=
    [ $code -eq 0 ] || fail "exit code $code: $(cat "$work/err")"
    python3 -c 'import json, sys; assert json.load(open(sys.argv[1]))["balanced"]' "$work/ledger" || fail "the ledger"
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

# packets FILE: all packets of a batch stream, flow by flow, without their times.
packets() {
    python3 "$here/../golden/read_batches.py" <"$1" |
        awk '/^  run/ { flow = $2 " " $3 " " $4 " " $5 } /^    / { $1 = ""; print flow $0 }' | sort -s -k1,4
}

inside ip link set lo up
for pair in 0 1; do
    inside ip link add "send$pair" type veth peer name "watch$pair"
    for interface in send$pair watch$pair; do
        inside sysctl -qw "net.ipv6.conf.$interface.disable_ipv6=1"
        inside ip link set "$interface" up
    done
done
python3 "$here/../kafka/many_flows.py" 1000 >"$work/many.pcap"
"$probe" --output "$work/expected" --ledger "$work/ledger" "$work/many.pcap"
packets "$work/expected" >"$work/expected.packets"
frames=$(counter frames_received)

# watch FRAMES_PER_SECOND "INTERFACE..." ARGUMENT...: sends the capture while the probe watches. What is missed must be
# counted; a machine that was too busy for once gets another try.
watch() {
    rate=$1 interfaces=$2
    shift 2
    for _ in 1 2 3 4 5; do
        start "$@"
        inside python3 "$here/send_frames.py" "$work/many.pcap" "$rate" $interfaces
        end
        missed=$(($(counter frames_missed_port) + $(counter frames_missed_deduced)))
        [ $(($(counter frames_received) + missed)) -eq "$frames" ] ||
            fail "$*: received $(counter frames_received) and missed $missed of $frames"
        [ $missed -gt 0 ] || return
    done
    fail "$*: this machine is too busy to receive $rate frames a second"
}

# --- what is sent is seen, by both drivers ---
for row in KERNEL:net_pcap0,rx_iface_in=watch0 BURST:net_af_packet0,iface=watch0,blocksz=65536,framesz=2048,framecnt=16384; do
    watch 8000 send0 --port "${row#*:}"
    packets "$work/out" | cmp -s "$work/expected.packets" - || fail "$row: other packets than sent"
    python3 "$here/../golden/read_batches.py" <"$work/out" >"$work/text"
    head -n 1 "$work/text" | grep -q " timestamp_source=${row%%:*} " || fail "$row: timestamp source"
done

# --- two ports are feeds of one tap ---
watch 8000 "send0 send1" --port net_pcap0,rx_iface_in=watch0 --port net_pcap1,rx_iface_in=watch1
[ "$(counter packets_delivered) $(counter flows_started)" = "$frames 1000" ] || fail "two ports: $(cat "$work/ledger")"

# --- several workers share the flows, of one port and of two ---
# shared: what two workers have written is what one would have, and each had a part in it.
shared() {
    packets "$work/out" | cmp -s "$work/expected.packets" - || fail "$*: other packets than sent"
    python3 -c '
import json, sys
workers = json.load(open(sys.argv[1]))["workers"]
assert len(workers) == 2 and all(w["flows_started"] > 300 for w in workers), workers
assert sum(w["frames_missed_worker"] for w in workers) == 0, workers' "$work/ledger" || fail "$*: workers"
    grep -q "worker 0 of 2 receives for all, for not every port can spread flows over queues" "$work/err" ||
        fail "$*: said '$(cat "$work/err")'"
}
watch 8000 send0 --workers 2 --port net_pcap0,rx_iface_in=watch0
shared --workers 2
watch 8000 "send0 send1" --workers 2 --port net_pcap0,rx_iface_in=watch0 --port net_pcap1,rx_iface_in=watch1
shared --workers 2, two ports
watch 8000 send0 --workers 2 --eal "--no-huge -m 256 --no-shconf --no-telemetry --lcores 0@(0),1@(0)" --port net_pcap0,rx_iface_in=watch0
shared --workers 2, one core

# --- a packet that finds no place with its worker, which sleeps while a capture is played at full speed, is counted ---
for _ in 1 2 3 4 5 6 7; do tail -c +25 "$work/many.pcap"; done | cat "$work/many.pcap" - >"$work/flood.pcap"
start --workers 2 --idle-sleep 10ms --port "net_pcap0,rx_pcap=$work/flood.pcap"
end
[ "$(counter frames_missed_worker)" -gt 0 ] || fail "every packet found a place: $(cat "$work/ledger")"
[ $(($(counter frames_received) + $(counter frames_missed_worker))) -eq $((8 * frames)) ] ||
    fail "of $((8 * frames)) frames: $(cat "$work/ledger")"
rm "$work/flood.pcap"

# --- a driver that can spread flows gives each worker a queue ---
# null_workers ARGUMENT...: frames of net_null that each of two workers has received.
null_workers() {
    start --workers 2 --port net_null0 "$@"
    end
    python3 -c '
import json, sys
print(*(min(w["frames_not_ip"], 1) for w in json.load(open(sys.argv[1]))["workers"]))' "$work/ledger"
}
[ "$(null_workers) $(cat "$work/err")" = "1 1 " ] || fail "a queue each: $(cat "$work/err" "$work/ledger")"
[ "$(null_workers --queues trusted) $(cat "$work/err")" = "1 1 " ] || fail "--queues trusted: $(cat "$work/err" "$work/ledger")"
[ "$(null_workers --queues one) $(cat "$work/err")" = "1 0 " ] || fail "--queues one: $(cat "$work/err" "$work/ledger")"

# --- the filter ---
watch 8000 send0 --port net_pcap0,rx_iface_in=watch0 --filter 'tcp[tcpflags] & tcp-syn != 0'
[ "$(counter packets_delivered)" = 2000 ] || fail "--filter: $(counter packets_delivered)"

# --- a probe that cannot keep up says so, to the frame ---
for port in net_pcap0,rx_iface_in=watch0 net_af_packet0,iface=watch0,framecnt=64,framesz=2048,blocksz=4096; do
    start --port "$port"
    kill -STOP $pid
    for _ in 1 2 3; do
        inside python3 "$here/send_frames.py" "$work/many.pcap" 1000000 send0
    done
    kill -CONT $pid
    end
    missed=$(($(counter frames_missed_port) + $(counter frames_missed_deduced)))
    [ "$missed" -gt 0 ] || fail "$port: nothing was missed"
    [ $(($(counter frames_received) + missed)) -eq $((3 * frames)) ] ||
        fail "$port: received $(counter frames_received) and missed $missed of $((3 * frames))"
done

# --- and leaves out whole flows for a while, unless told not to ---
for option in "" --no-shed; do
    start --port net_pcap0,rx_iface_in=watch0 --mouse-packets 0 $option
    for _ in 1 2 3 4 5 6; do # one standstill is a hiccup
        kill -STOP $pid
        for _ in 1 2 3; do
            inside python3 "$here/send_frames.py" "$work/many.pcap" 1000000 send0
        done
        kill -CONT $pid
        sleep 0.05
    done
    inside python3 "$here/send_frames.py" "$work/many.pcap" 8000 send0
    end
    shed=$(counter frames_shed)
    if [ -n "$option" ]; then
        [ "$shed" -eq 0 ] || fail "$option: $shed frames left out"
    else
        [ "$shed" -gt 0 ] && [ "$shed" -lt "$(counter frames_received)" ] || fail "left out: $shed frames of $(counter frames_received)"
        python3 "$here/../golden/read_batches.py" <"$work/out" >"$work/text"
        grep -q ' end SHED' "$work/text" ||
            fail "no flow has ended because it was left out"
    fi
done

# --- what the kernel drops before a port could see it counts too ---
mkfifo "$work/orders"
nsenter "--net=/run/netns/$namespace" python3 "$here/drop_frames.py" tun0 <"$work/orders" >"$work/answers" &
exec 4>"$work/orders"
until grep -q up "$work/answers"; do sleep 0.1; done
start --port net_pcap0,rx_iface_in=tun0
echo 5 >&4
until grep -q dropped "$work/answers"; do sleep 0.1; done
end
exec 4>&-
[ "$(counter frames_missed_kernel)" = 5 ] || fail "frames_missed_kernel: $(cat "$work/ledger")"

# --- what is not needed any more is given up, by all threads ---
start --port net_pcap0,rx_iface_in=watch0 --metrics 127.0.0.1:0
[ "$(ls /proc/$pid/task | wc -l)" -gt 2 ] || fail "DPDK and HTTP have threads"
for _ in $(seq 50); do # the output is made a moment before
    [ -n "$(privileged_threads $pid)" ] || break
    sleep 0.1
done
[ -z "$(privileged_threads $pid)" ] || fail "privileges: $(privileged_threads $pid)"
end

# --- capabilities are each thread's own: all that meet frames give them up, also where root stays ---
# armed: threads that meet frames and have some.
armed() {
    grep -lE '^Name:.(chokepoint-prob|rte-worker)' /proc/$pid/task/*/status |
        xargs awk '$1 ~ /^Cap(Prm|Eff|Amb):$/ && $2 !~ /^0+$/ { print FILENAME, $0 }'
}
start --user root --workers 2 --port net_pcap0,rx_iface_in=watch0
for _ in $(seq 50); do
    [ -n "$(armed)" ] || break
    sleep 0.1
done
[ -z "$(armed)" ] || fail "capabilities: $(armed)"
end
# --- an interface that goes away ends the watch, and makes no losses up ---
inside ip link add gone0 type veth peer name gone1
for interface in gone0 gone1; do
    inside sysctl -qw "net.ipv6.conf.$interface.disable_ipv6=1"
    inside ip link set $interface up
done
start --port net_pcap0,rx_iface_in=gone0 --port net_pcap1,rx_iface_in=watch0
inside python3 "$here/send_frames.py" "$work/many.pcap" 8000 send0
inside ip link del gone0
wait $pid
code=$?
pid=
[ "$code $(cat "$work/err")" = "1 chokepoint-probe: port net_pcap0,rx_iface_in=gone0 cannot be watched any more: its interface is gone" ] ||
    fail "an interface that is gone: $code, $(cat "$work/err")"
[ $(($(counter frames_received) + $(counter frames_missed_port))) -eq "$frames" ] && [ "$(counter frames_missed_errors)" = 0 ] ||
    fail "an interface that is gone: $(cat "$work/ledger")"

# --- an idle tap tells that it lives ---
start --port net_pcap0,rx_iface_in=watch0
sleep 11
[ -s "$work/out" ] || fail "no sign of life from an idle tap"
end

# --- one sentence each ---
# sentence CODE "SENTENCE" ARGUMENT...
sentence() {
    expected_code=$1 expected_text="chokepoint-probe: $2"
    shift 2
    inside "$probe" --output "$work/out" "$@" 2>"$work/err"
    code=$?
    [ $code -eq "$expected_code" ] && [ "$(grep '^chokepoint-probe' "$work/err")" = "$expected_text" ] ||
        fail "$*: exit code $code, said '$(cat "$work/err")', expected $expected_code, '$expected_text'"
}
sentence 1 "port net_pcap0,rx_iface_in=nowhere cannot be opened: no such device (open_iface_live(): Couldn't open nowhere: nowhere: No such device exists (No such device exists))" \
    --port net_pcap0,rx_iface_in=nowhere
sentence 2 "option --user: 'nobody-at-all' is no user of this machine" --user nobody-at-all --port net_null0
sentence 2 "option --port: 'eth0' is no device of DPDK, expected one such as net_pcap0,rx_iface_in=eth0 or a PCI address such as 0000:03:00.0" --port eth0
sentence 1 "port net_nothing0 cannot be opened: No such device (EAL: failed to parse device \"net_nothing0\")" --port net_nothing0
sentence 2 "option --port: 'net_null0' is too much, expected either --port or FILE" --port net_null0 "$work/many.pcap"
sentence 2 "option --workers is too much without --port, expected both or neither" --workers 2 "$work/many.pcap"
printf 'tcp and\n' >"$work/filter"
sentence 2 "option --filter-file: '$work/filter' is not a libpcap filter: can't parse filter expression: syntax error" \
    --filter-file "$work/filter" --port net_null0
sentence 2 "option --filter-file: $work/no-filter cannot be read: No such file or directory" --filter-file "$work/no-filter" --port net_null0
sentence 2 "option --filter-file: '$work/filter' is too much, expected either --filter or --filter-file" \
    --filter tcp --filter-file "$work/filter" --port net_null0
sentence 1 "option --eal: '--no-huge -m 64 --no-shconf --no-telemetry -l 0' has 1 cores, expected at least the 2 of --workers" \
    --workers 2 --eal "--no-huge -m 64 --no-shconf --no-telemetry -l 0" --port net_null0
sentence 1 "port net_af_packet0,iface=watch0,qpairs=2 cannot be opened: it has 2 queues, which keep no flow together, expected one" \
    --workers 2 --port net_af_packet0,iface=watch0,qpairs=2

[ $failures -eq 0 ] && echo "all is as expected"
exit $((failures > 0))
