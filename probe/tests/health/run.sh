#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What a running probe tells of itself over HTTP: while it reads a pipe, and while its broker stands still.
#
# usage: run.sh PROBE MAKE_TOPIC        exit code 77: skipped
set -u
probe=$(realpath "$1")
make_topic=$(realpath "$2")
here=$(realpath "$(dirname "$0")")
services=$here/../../../services
command -v curl >/dev/null || { echo "skipped: needs curl" && exit 77; }
work=$(mktemp -d)
CHOKEPOINT_RUN=$work/run CHOKEPOINT_PORTS=free CHOKEPOINT_KAFKA_HEAP_MIB=256
export CHOKEPOINT_RUN CHOKEPOINT_PORTS CHOKEPOINT_KAFKA_HEAP_MIB
pid=
has_kafka=false
trap '[ -z "$pid" ] || kill -KILL $pid 2>/dev/null; ! $has_kafka || "$services/kafka" stop >/dev/null; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
failures=0
# That of Debian has Debian's packages; another one may come first.
python=python3
/usr/bin/python3 -c 'import prometheus_client' 2>/dev/null && python=/usr/bin/python3

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# await SECONDS COMMAND...: until the command succeeds.
await() {
    tries=$(($1 * 10))
    shift
    while ! "$@"; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] || return 1
        sleep 0.1
    done
}

# answer PATH: status and body in one line.
answer() {
    curl -s -w '%{http_code}' -o "$work/body" "$url/$1"
    printf ' %s\n' "$(cat "$work/body")"
}

answers() {
    [ "$(answer "$1")" = "$2" ]
}

# expect_answer PATH "STATUS BODY": within 20 s, for the probe publishes a few times a second.
expect_answer() {
    await 20 answers "$@" || fail "/$1: $(answer "$1"), expected $2"
}

scrape() {
    curl -s "$url/metrics" >"$work/metrics"
    $python "$here/check_metrics.py" "$here/../../src/counters.def" <"$work/metrics" >"$work/values" || fail "/metrics: $(cat "$work/metrics")"
}

metric() {
    awk -v name="$1" '$1 == name { print $2 }' "$work/values"
}

metric_is() {
    scrape && [ "$(metric "$1")" = "$2" ]
}

broker() {
    cut -d' ' -f1 "$CHOKEPOINT_RUN/kafka/broker.pid"
}

port_is_told() {
    grep -q 'metrics are at port' "$work/err"
}

# start ARGUMENT...: a probe that reads the pipe whose other end is descriptor 3, and answers at $url.
start() {
    rm -f "$work/pipe" "$work/ledger"
    mkfifo "$work/pipe"
    "$probe" --tap 'the "tap"' --metrics 127.0.0.1:0 --ledger "$work/ledger" "$@" "$work/pipe" 2>"$work/err" &
    pid=$!
    exec 3>"$work/pipe"
    head -c 3000 "$work/many.pcap" >&3
    await 30 port_is_told || fail "no metrics: $(cat "$work/err")"
    url=http://127.0.0.1:$(sed -n 's/.*metrics are at port //p' "$work/err")
}

# end CODE
end() {
    exec 3>&-
    wait $pid
    code=$?
    pid=
    [ $code -eq "$1" ] || fail "exit code $code instead of $1: $(cat "$work/err")"
}

# told_to_end "SENTENCE": it ends within 5 s, says why not all was delivered, and its books balance.
told_to_end() {
    from=$(date +%s%N)
    kill -TERM $pid
    end 1
    elapsed_ms=$((($(date +%s%N) - from) / 1000000))
    [ $elapsed_ms -lt 5000 ] || fail "it takes $elapsed_ms ms to end"
    grep -qF "chokepoint-probe: $1" "$work/err" || fail "said '$(cat "$work/err")' instead of '$1'"
}

# The ledger balances, and tells of packets that were not delivered.
balances() {
    python3 - "$work/ledger" <<'END' || fail "the ledger: $(cat "$work/ledger")"
import json, sys
ledger = json.load(open(sys.argv[1]))
counters = ledger["counters"]
assert ledger["balanced"] and counters["packets_encoded"] > counters["packets_delivered"]
END
}

loop_is_stuck() {
    scrape && awk -v age="$(metric receive_loop_age_seconds)" 'BEGIN { exit age > 1 ? 0 : 1 }'
}

python3 "$here/../kafka/many_flows.py" 1000 >"$work/many.pcap"

# --- a pipe ---
start --output "$work/out"
expect_answer healthz "200 ok"
expect_answer readyz "200 ok"
expect_answer metric "404 there are /metrics, /healthz, /readyz"
[ "$(curl -s -o "$work/body" -w '%{http_code}' -X POST -d x "$url/metrics")" = 405 ] || fail "POST: $(cat "$work/body")"
tail -c +3001 "$work/many.pcap" >&3
await 20 metric_is frames_received_total 11000 || fail "frames_received_total is $(metric frames_received_total)"
await 20 metric_is packets_encoded_total 11000 || fail "packets_encoded_total is $(metric packets_encoded_total)"
[ "$(metric ready) $(metric info)" = "1 1" ] || fail "ready, info: $(cat "$work/values")"
[ -z "$(metric kafka_silent_seconds)" ] || fail "metrics of Kafka without Kafka"
grep -q 'tap="the \\"tap\\""' "$work/metrics" || fail "the tap: $(grep _info "$work/metrics")"
# Who holds connections, and sends a byte now and then, keeps nobody out.
python3 "$here/trickle.py" "${url##*:}" 200 >"$work/trickle" &
trickle=$!
await 20 grep -q open "$work/trickle" || fail "no connections: $(cat "$work/trickle")"
for page in healthz readyz metrics; do
    [ "$(curl -s -m 2 -o "$work/body" -w '%{http_code}' "$url/$page")" = 200 ] || fail "/$page beside slow clients"
done
kill $trickle
kill -STOP $pid
sleep 0.3
[ "$(curl -s -m 1 "$url/healthz")" = "" ] || fail "a process that stands still answers"
kill -CONT $pid
end 0

# --- told to end while the reader of its output takes nothing ---
mkfifo "$work/unread"
exec 4<>"$work/unread"
start --output "$work/unread"
tail -c +3001 "$work/many.pcap" >&3 &
await 20 loop_is_stuck || fail "it does not wait for the reader: $(cat "$work/values")"
told_to_end "$work/unread cannot be written: Connection timed out"
exec 4>&-
balances

# --- mistakes ---
# sentence CODE "SENTENCE" ADDRESS
sentence() {
    "$probe" --output "$work/out" --metrics "$3" "$work/many.pcap" 2>"$work/err"
    code=$?
    [ "$code $(cat "$work/err")" = "$1 chokepoint-probe: $2" ] || fail "--metrics $3: $code $(cat "$work/err")"
}
for address in 9465 :9465 localhost:9465 127.0.0.1: ::1:9465 127.0.0.1:http 127.0.0.1:65536 127.0.0.1:65537 127.1:9465 1:9465 \
    127.0.0.1:+1 127.0.0.1:0x10 0177.0.0.1:9465 [127.0.0.1]:9465; do
    sentence 2 "option --metrics: '$address' is no address with a port, expected one such as 127.0.0.1:9465 or [::1]:9465" "$address"
done
sentence 1 "metrics cannot be served at 192.0.2.1:9465: Cannot assign requested address" 192.0.2.1:9465

# --- a broker that stands still: the probe lives, but is not ready ---
if command -v java >/dev/null && [ -x "$services/kafka" ] && "$services/kafka" start; then
    has_kafka=true
    . "$CHOKEPOINT_RUN/services.env"
    for row in tcp-segments:32 tcp-schemas:1; do
        "$make_topic" "$CHOKEPOINT_KAFKA" "${row%:*}" "${row#*:}"
    done
    start --kafka "$CHOKEPOINT_KAFKA"
    expect_answer readyz "200 ok"
    await 20 metric_is kafka_brokers_up 1 || fail "kafka_brokers_up: $(cat "$work/values")"
    kill -STOP "$(broker)"
    tail -c +3001 "$work/many.pcap" >&3
    expect_answer readyz "503 Kafka has owed an answer for 5 s"
    expect_answer healthz "200 ok"
    scrape
    [ "$(metric ready)" = 0 ] || fail "ready: $(cat "$work/values")"
    [ "$(metric kafka_queued_records)" -gt 0 ] || fail "kafka_queued_records: $(cat "$work/values")"
    kill -CONT "$(broker)"
    expect_answer readyz "200 ok"
    await 20 metric_is kafka_queued_records 0 || fail "kafka_queued_records: $(cat "$work/values")"
    await 20 metric_is packets_delivered_total 11000 || fail "packets_delivered_total is $(metric packets_delivered_total)"
    "$services/kafka" kill
    expect_answer readyz "503 no broker of Kafka is connected"
    "$services/kafka" start >/dev/null 3>&- # or the pipe would not end
    expect_answer readyz "200 ok"
    end 0

    # --- told to end while the broker stands still ---
    start --kafka "$CHOKEPOINT_KAFKA"
    expect_answer readyz "200 ok"
    kill -STOP "$(broker)"
    tail -c +3001 "$work/many.pcap" >&3
    expect_answer readyz "503 Kafka has owed an answer for 5 s"
    told_to_end "Kafka at $CHOKEPOINT_KAFKA did not take all batches within 4 s of the signal"
    balances
    start --kafka "$CHOKEPOINT_KAFKA"
    expect_answer readyz "503 not all is open yet"
    told_to_end "Kafka at $CHOKEPOINT_KAFKA had not answered when the probe was told to end"
    kill -CONT "$(broker)"
else
    echo "without Kafka: services/kafka does not start"
fi

[ $failures -eq 0 ] && echo "all is as expected"
exit $((failures > 0))
