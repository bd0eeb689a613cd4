#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The probe against a real broker, which is frozen, killed and missing in turn. Starts a broker of its own.
#
# usage: run.sh PROBE MAKE_TOPIC        exit code 77: skipped
set -u
probe=$(realpath "$1")
make_topic=$(realpath "$2")
here=$(realpath "$(dirname "$0")")
services=$here/../../../services
command -v kcat >/dev/null && command -v java >/dev/null && [ -x "$services/kafka" ] ||
    { echo "skipped: needs kcat, java and services/kafka" && exit 77; }

work=$(mktemp -d)
CHOKEPOINT_RUN=$work/run CHOKEPOINT_PORTS=free CHOKEPOINT_KAFKA_HEAP_MIB=256
export CHOKEPOINT_RUN CHOKEPOINT_PORTS CHOKEPOINT_KAFKA_HEAP_MIB
trap '"$services/kafka" stop >/dev/null; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
"$services/kafka" start || { echo "skipped: services/kafka does not start" && exit 77; }
. "$CHOKEPOINT_RUN/services.env"
brokers=$CHOKEPOINT_KAFKA
broker_pid=$(cut -d' ' -f1 "$CHOKEPOINT_RUN/kafka/broker.pid")
failures=0

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

counter() {
    grep -o "\"$1\":[0-9]*" "$work/ledger" | cut -d: -f2
}

# Batches by size alone, for a pipe that waits sends its open ones when their delay is over.
batches="--batch-bytes 2KiB --batch-delay 10s"

# play ARGUMENT...: the exit code is left in $code, the sentence in $work/err.
play() {
    "$probe" --session 7 --tap t $batches --ledger "$work/ledger" --kafka "$brokers" "$@" 2>"$work/err"
    code=$?
}

# expect CODE "SENTENCE": of the last play; the sentence may go on.
expect() {
    [ "$code" -eq "$1" ] || fail "exit code $code instead of $1: $(cat "$work/err")"
    case $(cat "$work/err") in
    "$2"*) ;;
    *) fail "said '$(cat "$work/err")' instead of '$2'" ;;
    esac
    python3 -c 'import json, sys; assert json.load(open(sys.argv[1]))["balanced"]' "$work/ledger" || fail "the ledger"
}

# end_offsets NAME: how many records the broker says there are, in all partitions.
end_offsets() {
    seq 0 31 | sed "s/.*/-t $1:&:-1/" | xargs kcat -Q -b "$brokers" 2>/dev/null |
        awk '{ records += $NF } END { print records + 0 }'
}

# read_topic NAME: all its records as "partition bytes", sorted. kcat now and then ends before the last one, so it reads again
# until it has as many as the broker.
read_topic() {
    for _ in 1 2 3; do
        kcat -C -b "$brokers" -t "$1" -e -q -f '%p %R%s' 2>/dev/null | python3 "$here/records.py" >"$work/read"
        [ "$(grep -c . "$work/read")" -ge "$(end_offsets "$1")" ] && break
        echo "kcat read $(grep -c . "$work/read") of $(end_offsets "$1") records of $1" >&2
    done
    cat "$work/read"
}

# expect_records NAME SENTENCE: the topic holds what was expected; else lines that were lost (-) and that came besides (+) are shown.
expect_records() {
    read_topic "$1" >"$work/records"
    cmp -s "$work/expected" "$work/records" && return
    fail "$2"
    diff -U0 "$work/expected" "$work/records" | grep '^[-+][0-9]' | cut -c1-200 | head -n 20
}

python3 "$here/../golden/make_captures.py" "$work"
# 3,000 conversations on ports of their own, 33,000 packets in 6 s.
python3 "$here/many_flows.py" 3000 >"$work/many.pcap"

# --- before there are topics ---
play "$work/ethernet.pcap"
[ "$code $(cat "$work/err")" = "1 chokepoint-probe: topic tcp-segments at $brokers cannot be used: Broker: Unknown topic or partition, make it with chokepoint migrate" ] ||
    fail "no topic: $code $(cat "$work/err")"
"$make_topic" "$brokers" tcp-segments 32 message.timestamp.type LogAppendTime
play "$work/ethernet.pcap"
[ "$code $(cat "$work/err")" = "1 chokepoint-probe: topic tcp-schemas at $brokers cannot be used: Broker: Unknown topic or partition, make it with chokepoint migrate" ] ||
    fail "no schema topic: $code $(cat "$work/err")"
"$make_topic" "$brokers" tcp-schemas 1 cleanup.policy compact

# --- what goes in comes out ---
play "$work/many.pcap"
expect 0 ""
[ "$(counter packets_delivered)" = 33000 ] || fail "delivered $(counter packets_delivered)"
"$probe" --session 7 --tap t $batches --ledger "$work/ledger" --output "$work/many.out" "$work/many.pcap"
read_topic tcp-segments >"$work/records"
python3 "$here/records.py" --stream <"$work/many.out" >"$work/expected"
cmp "$work/expected" "$work/records" || fail "Kafka's records are not the stream's"
python3 "$here/records.py" --packets <"$work/records" | grep -qx 33000 || fail "another client does not read 33,000 packets"

kcat -C -b "$brokers" -t tcp-schemas -e -q -f '%k %s\n' 2>/dev/null | sort -u >"$work/schemas"
python3 - "$work/schemas" "$here/../../../schemas/avro/segment_batch.avsc" "$work/many.out" <<'END' || fail "the schema is not published"
import json, sys
(line,) = open(sys.argv[1])
key, _, text = line.partition(" ")
assert json.loads(text) == json.load(open(sys.argv[2]))
fingerprint = open(sys.argv[3], "rb").read(14)[6:]
assert key == fingerprint[::-1].hex(), (key, fingerprint.hex())
END

"$make_topic" "$brokers" three 3
play --topic three "$work/many.pcap"
expect 0 ""
read_topic three >"$work/records"
python3 "$here/records.py" --partitions <"$work/records" | diff - "$here/three.txt" || fail "partitions of a topic with three"

# --- wrong options ---
play --partitions 16 "$work/ethernet.pcap"
[ "$code $(cat "$work/err")" = "2 chokepoint-probe: option --partitions: '16' is not the 32 of topic tcp-segments" ] ||
    fail "--partitions: $code $(cat "$work/err")"
play --partitions 32 "$work/ethernet.pcap"
expect 0 ""
play --kafka-option queue.size=1 "$work/ethernet.pcap"
[ "$code $(cat "$work/err")" = "2 chokepoint-probe: option --kafka-option: 'queue.size=1' is not a librdkafka setting: No such configuration property: \"queue.size\"" ] ||
    fail "--kafka-option: $code $(cat "$work/err")"
printf '# as for kcat\nlinger.ms = 5\nsasl.pasword=secret\n' >"$work/settings"
play --kafka-options "$work/settings" "$work/ethernet.pcap"
[ "$code $(cat "$work/err")" = "2 chokepoint-probe: option --kafka-options: line 3 of $work/settings has an unknown name" ] ||
    fail "--kafka-options: $code $(cat "$work/err")"
play --kafka-options "$work/missing" "$work/ethernet.pcap"
[ "$code $(cat "$work/err")" = "2 chokepoint-probe: option --kafka-options: $work/missing cannot be read: No such file or directory" ] ||
    fail "--kafka-options without a file: $code $(cat "$work/err")"
echo acks=1 >"$work/settings"
play --kafka-options "$work/settings" "$work/ethernet.pcap"
[ "$code $(cat "$work/err")" = "2 chokepoint-probe: the settings of librdkafka and of $work/settings do not go together" ] ||
    fail "settings of a file that do not go together: $code $(cat "$work/err")"
play --kafka-option acks=1 "$work/ethernet.pcap"
[ "$code $(cat "$work/err")" = "2 chokepoint-probe: the settings of librdkafka do not go together: \`acks\` must be set to \`all\` when \`enable.idempotence\` is true" ] ||
    fail "settings that do not go together: $code $(cat "$work/err")"
play --kafka-options "$work/settings" --kafka-option acks=all "$work/ethernet.pcap"
expect 0 ""
play --output x "$work/ethernet.pcap"
[ "$code $(cat "$work/err")" = "2 chokepoint-probe: option --output: 'x' is too much, expected either --output or --kafka" ] ||
    fail "--output with --kafka: $code $(cat "$work/err")"

# --- a broker that stands still for a while: captures wait, nothing is lost, nothing comes twice ---
"$make_topic" "$brokers" frozen 32
kill -STOP "$broker_pid"
(sleep 4 && kill -CONT "$broker_pid") &
play --topic frozen --kafka-option queue.buffering.max.kbytes=64 "$work/many.pcap"
expect 0 ""
wait
expect_records frozen "a frozen broker lost or repeated records"

# --- one that never comes back: bounded, and counted ---
# The input is a pipe that waits, so that the broker freezes in the middle.
mkfifo "$work/fifo"
{
    head -c 1000000 "$work/many.pcap"
    sleep 2
    kill -STOP "$broker_pid"
    tail -c +1000001 "$work/many.pcap"
} >"$work/fifo" &
play --topic frozen --kafka-timeout 3s --kafka-option queue.buffering.max.kbytes=64 "$work/fifo"
expect 1 "chokepoint-probe: Kafka at $brokers does not answer within 3 s"
[ "$(($(counter packets_undelivered_timed_out) + $(counter packets_undelivered_in_doubt)))" -gt 0 ] || fail "undelivered packets are not counted"
play --kafka-timeout 1s "$work/ethernet.pcap"
[ $code -eq 1 ] || fail "a frozen broker at the start: $code"
kill -CONT "$broker_pid"

# --- kill -9 in the middle ---
"$make_topic" "$brokers" killed 32
{
    # The pipe ends before the broker starts: one that stays silent for the batch delay would cut batches elsewhere.
    {
        head -c 1000000 "$work/many.pcap"
        sleep 2
        "$services/kafka" kill
        tail -c +1000001 "$work/many.pcap"
    } >"$work/fifo"
    "$services/kafka" start >/dev/null
} &
play --topic killed "$work/fifo"
expect 0 ""
wait
expect_records killed "a killed broker lost or repeated records"

# --- no broker at all ---
"$services/kafka" stop >/dev/null
play --kafka-timeout 1s "$work/ethernet.pcap"
[ $code -eq 1 ] && grep -q "^chokepoint-probe: Kafka at $brokers does not answer within 1 s: .*Connection refused" "$work/err" ||
    fail "no broker: $code $(cat "$work/err")"

[ $failures -eq 0 ] && echo "all is as expected"
exit $((failures > 0))
