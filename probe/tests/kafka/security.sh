#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The probe and a real broker over TLS, and with SASL: who is who is checked by both, no secret is told, and all goes on behind
# the filter of system calls. At the end the name server hangs. Starts a broker of its own, with keys of its own; as
# root in namespaces of its own, for names are changed.
#
# usage: security.sh PROBE MAKE_TOPIC        exit code 77: skipped
set -u
for tool in kcat java openssl python3; do
    command -v $tool >/dev/null || { echo "skipped: needs $tool" && exit 77; }
done
if [ "$(id -u)" -eq 0 ] && [ -z "${CKP_INSIDE:-}" ] && unshare --net --mount true 2>/dev/null; then
    CKP_INSIDE=yes exec unshare --net --mount --propagation private sh "$0" "$@"
fi
probe=$(realpath "$1")
make_topic=$(realpath "$2")
here=$(realpath "$(dirname "$0")")
services=$here/../../../services
work=$(mktemp -d)
pid=
trap '[ -z "$pid" ] || kill -KILL $pid 2>/dev/null; "$services/kafka" stop >/dev/null; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
failures=0
secret=hunter2-is-right

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

counter() {
    grep -o "\"$1\":[0-9]*" "$work/ledger" | cut -d: -f2
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

free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# certify NAME CA: a key and a certificate for broker.test, one after the other in NAME.pem, signed by CA.
certify() {
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$work/$1.key" -subj "/CN=$1" 2>/dev/null |
        openssl x509 -req -days 2 -CA "$work/$2.pem" -CAkey "$work/$2.key" -CAcreateserial -out "$work/$1.crt" \
            -extfile "$work/$1.ext" 2>/dev/null
    cat "$work/$1.key" "$work/$1.crt" >"$work/$1.pem"
}

for authority in ca other-ca; do
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj "/CN=$authority" \
        -keyout "$work/$authority.key" -out "$work/$authority.pem" 2>/dev/null
done
echo "subjectAltName = DNS:broker.test, IP:127.0.0.1" >"$work/broker.ext"
certify broker ca

# --- a broker with two more listeners ---
name=127.0.0.1
if [ -n "${CKP_INSIDE:-}" ]; then
    # Later, a name server that takes questions and answers none: its address is that of a neighbour that is not there.
    ip link set lo up
    ip link add near type veth peer name far
    ip addr add 192.0.2.2/24 dev near
    ip link set near up
    ip link set far up
    ip neigh replace 192.0.2.1 lladdr 02:00:00:00:00:01 dev near
    echo "127.0.0.1 localhost broker.test $(hostname)" >"$work/hosts"
    echo "nameserver 127.0.0.1" >"$work/resolv.conf"
    chmod 711 "$work"
    chmod 644 "$work/hosts" "$work/resolv.conf"
    mount --bind "$work/hosts" /etc/hosts
    mount --bind "$work/resolv.conf" /etc/resolv.conf
    name=broker.test
fi
tls_port=$(free_port)
sasl_port=$(free_port)
tls=$name:$tls_port sasl=$name:$sasl_port
cat >"$work/broker.properties" <<END
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SSL:SSL,SASL_SSL:SASL_SSL
ssl.keystore.type=PEM
ssl.keystore.location=$work/broker.pem
sasl.enabled.mechanisms=PLAIN
listener.name.sasl_ssl.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required user_probe="$secret";
END
CHOKEPOINT_RUN=$work/run CHOKEPOINT_PORTS=free CHOKEPOINT_KAFKA_HEAP_MIB=256
CHOKEPOINT_KAFKA_LISTENERS="SSL://$tls,SASL_SSL://$sasl" CHOKEPOINT_KAFKA_PROPERTIES=$work/broker.properties
export CHOKEPOINT_RUN CHOKEPOINT_PORTS CHOKEPOINT_KAFKA_HEAP_MIB CHOKEPOINT_KAFKA_LISTENERS CHOKEPOINT_KAFKA_PROPERTIES
"$services/kafka" start || { echo "skipped: services/kafka does not start" && exit 77; }
. "$CHOKEPOINT_RUN/services.env"
"$make_topic" "$CHOKEPOINT_KAFKA" tcp-segments 32
"$make_topic" "$CHOKEPOINT_KAFKA" tcp-schemas 1
python3 "$here/../golden/make_captures.py" "$work"
python3 "$here/many_flows.py" 300 >"$work/many.pcap"

# play ARGUMENT...: the exit code is left in $code, the sentence in $work/err.
play() {
    "$probe" --tap t --ledger "$work/ledger" "$@" 2>"$work/err"
    code=$?
}

# expect CODE "SENTENCE": of the last play; the sentence may go on.
expect() {
    case "$code $(cat "$work/err")" in
    "$1 ${2:+chokepoint-probe: }$2"*) ;;
    *) fail "$code '$(cat "$work/err")' instead of $1 '$2'" ;;
    esac
    grep -q hunter2 "$work/err" && fail "a secret is told: $(cat "$work/err")"
}

tls_options="--kafka-option security.protocol=ssl --kafka-option ssl.ca.location=$work/ca.pem"

# --- TLS: the broker shows who it is ---
play --kafka "$tls" $tls_options "$work/many.pcap"
expect 0 ""
[ "$(counter packets_delivered)" = 3300 ] || fail "delivered $(counter packets_delivered) over TLS"
play --kafka "$tls" --kafka-option security.protocol=ssl --kafka-option "ssl.ca.location=$work/other-ca.pem" "$work/ethernet.pcap"
expect 1 "there is no way into Kafka at $tls: "
grep -q "certificate verify failed" "$work/err" || fail "another authority: $(cat "$work/err")"
play --kafka "localhost:$tls_port" --kafka-timeout 2s $tls_options "$work/ethernet.pcap"
expect 1 "there is no way into Kafka at localhost:$tls_port: "
play --kafka "$tls" --kafka-option security.protocol=ssl --kafka-option ssl.ca.location=/nowhere "$work/ethernet.pcap"
expect 2 "the settings of librdkafka do not go together: "

# --- SASL: the probe shows who it is, by a secret from a file ---
# settings PASSWORD
settings() {
    (umask 077 && printf 'security.protocol=sasl_ssl\nssl.ca.location=%s\nsasl.mechanism=PLAIN\nsasl.username=probe\nsasl.password=%s\n' \
        "$work/ca.pem" "$1" >"$work/settings")
}
settings hunter2-is-wrong
play --kafka "$sasl" --kafka-options "$work/settings" "$work/ethernet.pcap"
expect 1 "there is no way into Kafka at $sasl: authentication by the settings of $work/settings has failed"
settings $secret
play --kafka "$sasl" --kafka-options "$work/settings" --ledger "$work/ledger" "$work/ethernet.pcap"
expect 0 ""
[ "$(counter packets_delivered)" = 11 ] || fail "delivered $(counter packets_delivered) with SASL"

# start ARGUMENT...: a probe that reads the pipe whose other end is descriptor 3, and answers at $url.
start() {
    rm -f "$work/pipe"
    mkfifo "$work/pipe"
    exec 3<>"$work/pipe"
    "$probe" --tap t --ledger "$work/ledger" --metrics 127.0.0.1:0 "$@" "$work/pipe" 2>"$work/err" &
    pid=$!
    head -c 100000 "$work/many.pcap" >&3
    await 20 grep -q 'metrics are at port' "$work/err" || fail "no metrics: $(cat "$work/err")"
    url=http://127.0.0.1:$(sed -n 's/.*metrics are at port //p' "$work/err")
}

page() {
    python3 -c 'import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1], timeout=2).read().decode())' "$url/$1"
}

delivers() {
    page metrics >"$work/metrics" && awk '$1 == "chokepoint_probe_packets_delivered_total" { exit !($2 > '"$1"') }' "$work/metrics"
}

# --- an outage: it lets itself be shown, and shows itself, again, without privileges and behind the filter ---
start --kafka "$sasl" --kafka-options "$work/settings"
await 20 delivers 0 || fail "nothing is delivered: $(cat "$work/err")"
grep -l hunter2 /proc/$pid/cmdline /proc/$pid/environ "$work/metrics" && fail "a secret can be read there"
if ! ldd "$probe" | grep -q libasan; then
    awk '$1 == "Seccomp:" { exit $2 != 2 }' /proc/$pid/status || fail "there is no filter"
fi
[ "$(id -u)" -ne 0 ] || awk '$1 == "Uid:" { exit $2 == 0 }' /proc/$pid/status || fail "it is still root"
before=$(awk '$1 == "chokepoint_probe_packets_delivered_total" { print $2 }' "$work/metrics")
"$services/kafka" kill
tail -c +100001 "$work/many.pcap" | head -c 100000 >&3
"$services/kafka" start >/dev/null 3>&-
await 20 delivers $((before + 500)) || fail "delivery does not go on after the outage: $(cat "$work/err")"

# --- told to end while the name server hangs ---
if [ -n "${CKP_INSIDE:-}" ]; then
    "$services/kafka" kill
    echo "127.0.0.1 localhost $(hostname)" >"$work/hosts"
    echo "nameserver 192.0.2.1" >"$work/resolv.conf"
    tail -c +200001 "$work/many.pcap" >&3
    sleep 3 # all connections are closed, and names asked for
fi
from=$(date +%s%N)
kill -TERM $pid
wait $pid
code=$?
pid=
elapsed_ms=$((($(date +%s%N) - from) / 1000000))
exec 3>&-
[ $elapsed_ms -lt 5000 ] || fail "it takes $elapsed_ms ms to end"
python3 -c 'import json, sys; assert json.load(open(sys.argv[1]))["balanced"]' "$work/ledger" || fail "the ledger: $(cat "$work/ledger")"
if [ -n "${CKP_INSIDE:-}" ]; then
    grep -q "did not take all batches within 4 s of the signal" "$work/err" || fail "said '$(cat "$work/err")'"
    undelivered=$(($(counter packets_undelivered_in_doubt) + $(counter packets_undelivered_timed_out)))
    [ $undelivered -gt 0 ] && [ $((undelivered + $(counter packets_delivered))) -eq "$(counter packets_encoded)" ] ||
        fail "$undelivered packets are undelivered: $(cat "$work/ledger")"

    # The same before it has begun: the name of the broker cannot be found.
    "$probe" --tap t --ledger "$work/ledger" --kafka "$sasl" --kafka-options "$work/settings" "$work/ethernet.pcap" 2>"$work/err" &
    pid=$!
    sleep 1
    from=$(date +%s%N)
    kill -TERM $pid
    wait $pid
    code=$?
    pid=
    elapsed_ms=$((($(date +%s%N) - from) / 1000000))
    [ $code -eq 1 ] && [ $elapsed_ms -lt 5000 ] || fail "a start without names ends with $code after $elapsed_ms ms: $(cat "$work/err")"
fi
grep -rl hunter2 "$work/err" "$work/ledger" && fail "a secret is told there"

[ $failures -eq 0 ] && echo "all is as expected"
exit $((failures > 0))
