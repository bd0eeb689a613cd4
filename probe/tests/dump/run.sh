#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The ring of a probe that reads a pipe: who may ask it for a flow, and what comes back.
#
# usage: run.sh PROBE        exit code 77: skipped
set -u
probe=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
command -v curl >/dev/null || { echo "skipped: needs curl" && exit 77; }
work=$(mktemp -d)
pid=
trap '[ -z "$pid" ] || kill -KILL $pid 2>/dev/null; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
failures=0

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

port_is_told() {
    grep -q 'metrics are at port' "$work/err"
}

has_received() {
    curl -s "$url/metrics" | grep -qx "chokepoint_probe_frames_received_total{worker=\"0\"} $1"
}

# start ARGUMENT...: a probe that has read the whole of a pipe whose other end is descriptor 3, and answers at $url.
start() {
    rm -f "$work/pipe"
    mkfifo "$work/pipe"
    "$probe" --tap core-1 --metrics 127.0.0.1:0 --ledger "$work/ledger" --output "$work/out" "$@" "$work/pipe" 2>"$work/err" &
    pid=$!
    exec 3>"$work/pipe"
    cat "$work/many.pcap" >&3
    await 30 port_is_told || fail "no metrics: $(cat "$work/err")"
    url=http://127.0.0.1:$(sed -n 's/.*metrics are at port //p' "$work/err")
    await 30 has_received 11000 || fail "not all is read: $(curl -s "$url/metrics")"
}

# end: the pipe ends, and all is well.
end() {
    exec 3>&-
    wait $pid
    code=$?
    pid=
    [ $code -eq 0 ] || fail "exit code $code: $(cat "$work/err")"
}

with_ring() {
    start --ring-key "$work/key" --ring-audit "$work/audit" "$@"
}

# sign PORT SECONDS [AGE]: leaves a command in $work/command and its signature in $signature.
sign() {
    signature=$(python3 "$here/dump.py" sign "$work/key" "${3:-0}" "$1" "$2" "$work/command")
}

# post [CURL_ARGUMENT...]: status of the answer to the command; its body is in $work/dump.
post() {
    curl -s -o "$work/dump" -D "$work/header" -w '%{http_code}' -H "Chokepoint-Signature: $signature" \
        --data-binary "@$work/command" "$@" "$url/dump"
}

# expect_refusal "STATUS SENTENCE" [CURL_ARGUMENT...]
expect_refusal() {
    expected=$1
    shift
    answer="$(post "$@") $(cat "$work/dump")"
    [ "$answer" = "$expected" ] || fail "answered '$answer' instead of '$expected'"
}

# expect_frames SECONDS HEADERS|SNAP: the dump is that of the flow of port 10500, to the byte.
expect_frames() {
    python3 "$here/dump.py" expect "$work/many.pcap" 10500 "$1" "$2" >"$work/expected"
    python3 "$here/dump.py" frames "$work/dump" | diff "$work/expected" - || fail "other frames than those of the last $1 s"
    [ -s "$work/expected" ] || fail "nothing is expected"
}

# header NAME
header() {
    tr -d '\r' <"$work/header" | sed -n "s/^$1: //p"
}

# audited COUNT "PART": so many lines of the audit file have that part.
audited() {
    [ "$(grep -cF "$2" "$work/audit")" -eq "$1" ] || fail "$1 lines with $2 expected: $(cat "$work/audit")"
}

python3 "$here/../kafka/many_flows.py" 1000 >"$work/many.pcap"
python3 -c 'import secrets; print(secrets.token_hex(32))' >"$work/key"
chmod 600 "$work/key"

# --- off by default ---
start
sign 10500 10
expect_refusal "404 there is no ring of recent packets, for that it takes --ring-memory"
[ "$(curl -s "$url/dump")" = "there are /metrics, /healthz, /readyz" ] || fail "/dump without a ring: $(curl -s "$url/dump")"
end

# --- the last seconds of a flow ---
with_ring --ring-memory 16MiB
sign 10500 10
[ "$(post)" = 200 ] || fail "$(cat "$work/dump")"
expect_frames 10 HEADERS
[ "$(header Chokepoint-Frames) $(header Chokepoint-Covered-Seconds)" = "11 3.008" ] || fail "header: $(cat "$work/header")"
cp "$work/dump" "$work/flow.pcapng"
sign 10500 1
[ "$(post)" = 200 ] || fail "$(cat "$work/dump")"
expect_frames 1 HEADERS
[ "$(header Chokepoint-Frames) $(header Chokepoint-Covered-Seconds)" = "1 1.000" ] || fail "header: $(cat "$work/header")"
audited 2 '"outcome":"dumped","flow":"10.0.0.1:10500>10.0.0.2:443"'
audited 2 '"remote":"127.0.0.1","tap":"core-1","key_id":"'
audited 1 "\"seconds\":10,\"covered_seconds\":3.008,\"frames\":11,\"bytes\":$(stat -c %s "$work/flow.pcapng")}"
key_id=$(python3 -c 'import hmac, sys; print(hmac.new(open(sys.argv[1], "rb").read().strip(), b"chokepoint key id", "sha256").hexdigest()[:8])' "$work/key")
audited 2 "\"key_id\":\"$key_id\""
[ "$(stat -c %a "$work/audit")" = 600 ] || fail "mode of the audit file: $(stat -c %a "$work/audit")"

# --- who may not ask ---
expect_refusal "403 the command was followed before"
signature=$(printf %064d 0)
expect_refusal "403 the signature is not that of the command"
sign 10500 1 61
expect_refusal "403 the command is older than 60 s by the clock of the probe"
sign 10500 0
expect_refusal "400 seconds are not 1 to 3600"
sign 9999 10
expect_refusal "404 the ring holds no frame of this flow in these seconds"
audited 1 '"outcome":"the ring holds no frame of this flow in these seconds","flow":"10.0.0.1:9999>10.0.0.2:443","seconds":10'
audited 1 '"outcome":"the command was followed before"}'

# --- strangers do not fill the audit file, nor do alerts the probe's time ---
signature=
lines=$(wc -l <"$work/audit")
curl -s -X POST -d x "$url/dump?[1-50]" >"$work/dump"
[ "$(sort -u "$work/dump") $(wc -l <"$work/dump")" = "the signature is not that of the command 50" ] || fail "$(cat "$work/dump")"
[ $(($(wc -l <"$work/audit") - lines)) -lt 50 ] || fail "a line for each stranger: $(cat "$work/audit")"
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14; do
    sign 10500 1
    mv "$work/command" "$work/command.$i"
    echo "$signature" >"$work/signature.$i"
done
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14; do
    mv "$work/command.$i" "$work/command"
    signature=$(cat "$work/signature.$i")
    post
done >"$work/answers"
case $(cat "$work/answers") in
*429*) ;;
*) fail "no limit of commands: $(cat "$work/answers")" ;;
esac
head -c 3000 /dev/zero >"$work/command"
[ "$(post)" = 000 ] || fail "a command without end: $(cat "$work/dump")"
[ "$(curl -s "$url/healthz")" = ok ] || fail "it lives on"
[ "$(curl -s -o "$work/body" -w '%{http_code}' -X POST -d x "$url/metrics")" = 405 ] || fail "POST: $(cat "$work/body")"
end
python3 -c 'import json, sys; [json.loads(line) for line in open(sys.argv[1])]' "$work/audit" || fail "the audit file: $(cat "$work/audit")"

# --- what comes back is a capture like others, but for what is cut off: the probe reads of it what it has read before ---
batches() {
    "$probe" --tap one --session 1 --output "$work/one" --ledger "$work/ledger" "$1" 2>"$work/err" || fail "$(cat "$work/err")"
    python3 "$here/../golden/read_batches.py" <"$work/one" | sed 's/ packets_cut=[0-9]*//'
}
if command -v tcpdump >/dev/null; then
    tcpdump --nano -r "$work/many.pcap" -w "$work/flow.pcap" port 10500 2>"$work/err" || fail "$(cat "$work/err")"
    batches "$work/flow.pcap" >"$work/before"
    batches "$work/flow.pcapng" | diff "$work/before" - || fail "the probe reads other packets of the dump"
fi
if command -v capinfos >/dev/null; then
    capinfos -E -c "$work/flow.pcapng" >"$work/infos" 2>&1 || fail "$(cat "$work/infos")"
    grep -q 'Ethernet' "$work/infos" || fail "capinfos: $(cat "$work/infos")"
fi

# --- frames that came out of order are put in order ---
mv "$work/many.pcap" "$work/in-order.pcap"
python3 "$here/dump.py" disorder "$work/in-order.pcap" >"$work/many.pcap"
with_ring --ring-memory 16MiB
mv "$work/in-order.pcap" "$work/many.pcap"
sign 10500 10
[ "$(post)" = 200 ] || fail "$(cat "$work/dump")"
expect_frames 10 HEADERS
end

# --- payload, if it is wanted ---
with_ring --ring-memory 16MiB --ring-payload --ring-snap 64
sign 10500 10
[ "$(post)" = 200 ] || fail "$(cat "$work/dump")"
expect_frames 10 64
end

# --- a ring that is too short keeps the newest, and says how far it reaches ---
with_ring --ring-memory 64KiB
sign 10999 10
[ "$(post)" = 200 ] || fail "$(cat "$work/dump")"
covered=$(header Chokepoint-Covered-Seconds)
awk -v covered="$covered" 'BEGIN { exit covered > 0.1 && covered < 2 ? 0 : 1 }' || fail "covers $covered s"
sign 10000 10
expect_refusal "404 the ring holds no frame of this flow in these seconds"
end

# --- what cannot be audited is not answered ---
if [ -w /dev/full ]; then
    start --ring-memory 1MiB --ring-key "$work/key" --ring-audit /dev/full
    sign 10500 10
    expect_refusal "500 the audit file cannot be written"
    end
fi

# --- mistakes ---
# sentence "SENTENCE" ARGUMENT...
sentence() {
    expected="2 chokepoint-probe: $1"
    shift
    "$probe" --output "$work/out" "$@" "$work/many.pcap" 2>"$work/err"
    code=$?
    [ "$code $(cat "$work/err")" = "$expected" ] || fail "$*: $code $(cat "$work/err")"
}
all="--ring-memory 1MiB --ring-key $work/key --ring-audit $work/audit"
sentence "option --ring-key is too much without --ring-memory, expected both or neither" --ring-key "$work/key"
sentence "option --ring-memory: --metrics is not given, expected --metrics, --ring-key and --ring-audit too" $all
sentence "option --ring-memory: --ring-audit is not given, expected --metrics, --ring-key and --ring-audit too" --ring-memory 1MiB --metrics 127.0.0.1:0 --ring-key "$work/key"
sentence "option --ring-memory is too much with --anonymise: a ring holds the addresses that it hides, expected either" $all --metrics 127.0.0.1:0 --anonymise "$work/key"
sentence "option --metrics: 0.0.0.0:0 is not of loopback, and frames would leave it in the clear: expected --ring-beyond-loopback, if that is a network of your own" $all --metrics 0.0.0.0:0
sentence "option --ring-audit: $work/nowhere/audit cannot be written: No such file or directory" $all --ring-audit "$work/nowhere/audit" --metrics 127.0.0.1:0
sentence "option --ring-key: $work/many.pcap has mode 0644, expected a key that nobody but its owner may open, as by chmod 600" $all --metrics '[::1]:0' --ring-key "$work/many.pcap"

[ $failures -eq 0 ] && echo "all is as expected"
exit $((failures > 0))
