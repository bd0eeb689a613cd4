#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The probe from end to end: captures in, batch streams and sentences out.
#
# usage: run.sh PROBE
set -u
probe=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 "$here/make_captures.py" "$work"
failures=0

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# read_text FILE [RESOLUTION_NS]: the runs and packets of a batch stream, without its headers.
read_text() {
    python3 "$here/read_batches.py" ${2:+"$2"} <"$1" | grep -v '^batch'
}

# counter NAME: its value in the last ledger.
counter() {
    grep -o "\"$1\":[0-9]*" "$work/ledger" | cut -d: -f2
}

# header FILE TEXT: whether the first batch's header holds the text.
header() {
    python3 "$here/read_batches.py" <"$1" >"$work/header"
    head -n 1 "$work/header" | grep -q "$2"
}

# play NAME ARGUMENT...: runs the probe, its stream to NAME.out; the exit code is left in $code.
play() {
    name=$1
    shift
    "$probe" --ledger "$work/ledger" --output "$work/$name.out" "$@" 2>"$work/$name.err"
    code=$?
}

# --- what the conversation means, whatever carries it ---
expected=$here/conversation.txt
for capture in ethernet.pcap big-endian.pcap ns.pcapng ns-big-endian.pcapng raw.pcap ipv4.pcap null.pcap loop.pcap \
    sll.pcap sll2.pcap snapped.pcap; do
    play "$capture" --session 1 "$work/$capture"
    [ $code -eq 0 ] || fail "$capture: exit code $code"
    read_text "$work/$capture.out" >"$work/text"
    diff "$expected" "$work/text" || fail "$capture is not $expected"
done
for capture in "$work"/tunnel-*.pcap; do
    name=$(basename "$capture")
    play "$name" --session 1 "$capture"
    case $name in
    *mpls* | *pseudo* | *pppoe* | tunnel-gre.pcap | *erspan-1* | *4in*) id= ;;
    *) id=" tunnel_id=5" ;;
    esac
    read_text "$work/$name.out" >"$work/text"
    sed "s/^  run [^ ]* [^ ]* [^ ]* [^ ]*/&$id/" "$expected" | diff - "$work/text" || fail "$name is not $expected"
    play "$name" --tunnels outer "$capture"
    case $name in
    *mpls* | *pseudo* | *pppoe*) fates="11 0" ;;
    *) fates="0 11" ;;
    esac
    [ "$(counter packets_encoded) $(counter frames_not_tcp)" = "$fates" ] || fail "$name: --tunnels outer"
done
for row in us.pcap:1000 us-big-endian.pcap:1000 us.pcapng:1000 default.pcapng:1000 ms.pcapng:1000000 ethernet.pcap:1 \
    ns.pcapng:1; do
    capture=${row%:*} resolution=${row#*:}
    play "$capture" --session 1 "$work/$capture"
    read_text "$work/$capture.out" >"$work/text"
    read_text "$work/ethernet.pcap.out" "$resolution" | diff - "$work/text" || fail "$capture differs by more than its resolution"
    header "$work/$capture.out" " timestamp_resolution_ns=$resolution " ||
        fail "$capture: its resolution is not $resolution"
done
play power-of-2 "$work/power-of-2.pcapng"
header "$work/power-of-2.out" " timestamp_resolution_ns=1 " || fail "power of 2"

# --- the stamps of a mirror take out what its queues have added ---
play mirrored --session 1 "$work/mirrored.pcap"
[ "$(counter erspan_stamps_used) $(counter erspan_stamps_unproven) $(counter erspan_stamps_refused)" = "12 2 0" ] ||
    fail "mirrored.pcap: its stamps are not used"
read_text "$work/mirrored.out" 1000 | awk '/^  run/ { keep = $3 != 7 } keep' >"$work/text"
read_text "$work/ethernet.pcap.out" 1000 | sed "s/^  run [^ ]* [^ ]* [^ ]* [^ ]*/& tunnel_id=5/" | diff - "$work/text" ||
    fail "mirrored.pcap has not the times of its mirror"
cat "$work/mirrored.pcap" | "$probe" --session 1 --tap mirrored - 2>"$work/pipe.err" >"$work/pipe.out"
cmp "$work/pipe.out" "$work/mirrored.out" || fail "mirrored.pcap: two runs over one capture differ"
play arrival --session 1 --erspan-time arrival "$work/mirrored.pcap"
[ "$(counter erspan_stamps_used) $(counter erspan_stamps_unproven)" = "0 0" ] || fail "--erspan-time arrival"
read_text "$work/arrival.out" 1000 | awk '/^  run/ { keep = $3 != 7 } keep' | diff -q - "$work/text" >"$work/diff" &&
    fail "--erspan-time arrival: times are not those of arrival"
play still --session 1 "$work/tunnel-erspan-3.pcap"
[ "$(counter erspan_stamps_used)" = 0 ] || fail "stamps that stand still are used"

# --- the same capture gives the same bytes ---
play again --tap ethernet "$work/ethernet.pcap"
cp "$work/again.out" "$work/first.out"
play again --tap ethernet "$work/ethernet.pcap"
cmp "$work/again.out" "$work/first.out" || fail "two runs over one capture differ"
"$probe" --session 1 --tap ethernet --output - "$work/ethernet.pcap" 2>"$work/pipe.err" >"$work/pipe.out"
cmp "$work/pipe.out" "$work/ethernet.pcap.out" || fail "standard output is not the file"
"$probe" --session 1 --tap ethernet --output - - <"$work/ethernet.pcap" 2>"$work/pipe.err" >"$work/pipe.out"
cmp "$work/pipe.out" "$work/ethernet.pcap.out" || fail "redirected standard input gives other bytes than the file"
cat "$work/ethernet.pcap" | "$probe" --session 1 --tap ethernet - 2>"$work/pipe.err" >"$work/pipe.out"
cmp "$work/pipe.out" "$work/ethernet.pcap.out" || fail "a pipe gives other bytes than the file"
cat "$work/ns.pcapng" | "$probe" --session 1 --tap ethernet - 2>"$work/pipe.err" >"$work/pipe.out"
cmp "$work/pipe.out" "$work/ethernet.pcap.out" || fail "a pcapng pipe gives other bytes than the file"
mkfifo "$work/fifo"
cat "$work/ethernet.pcap" >"$work/fifo" &
play fifo --session 1 --tap ethernet "$work/fifo"
cmp "$work/fifo.out" "$work/ethernet.pcap.out" || fail "a FIFO gives other bytes than the file"
play parts --session 1 --tap ethernet "$work/second.pcap" "$work/no-frames.pcap" "$work/first.pcap"
cmp "$work/parts.out" "$work/ethernet.pcap.out" || fail "two captures of one tap, given in the wrong order, are not read in time order"
play default-tap "$work/ethernet.pcap"
header "$work/default-tap.out" '^batch probe=probe tap=ethernet ' || fail "default of --tap"

# --- other addresses, and nothing else ---
# Under this key the order of the endpoints turns: directions are those of the new order.
anonymised='s/10.0.0.1 40000 10.0.0.2 443/246.35.191.208 443 246.35.191.210 40000/; y/<>/></'
(umask 077 && echo 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f >"$work/key")
partitions=
for capture in ethernet.pcap raw.pcap tunnel-4in6.pcap; do
    play "anonymised-$capture" --anonymise "$work/key" "$work/$capture"
    [ "$code $(counter flows_started) $(counter flows_anonymised)" = "0 1 1" ] || fail "--anonymise $capture"
    read_text "$work/anonymised-$capture.out" >"$work/text"
    sed "$anonymised" "$expected" | diff - "$work/text" || fail "--anonymise $capture is not $expected with other addresses"
    header "$work/anonymised-$capture.out" ' flows_anonymised=1 ' || fail "the header does not say that addresses are anonymised"
    partitions="$partitions $(grep -o ' partition=[0-9]*' "$work/header")"
done
[ "$(echo $partitions | tr ' ' '\n' | sort -u | wc -l)" -eq 1 ] || fail "a flow has several partitions:$partitions"
# A hash of the capture, by which guesses could be tried, is no session any more; but still the same one each time.
cp "$work/anonymised-ethernet.pcap.out" "$work/first.out"
play anonymised-ethernet.pcap --anonymise "$work/key" "$work/ethernet.pcap"
cmp "$work/anonymised-ethernet.pcap.out" "$work/first.out" || fail "two runs under one key differ"
header "$work/first.out" " $(python3 "$here/read_batches.py" <"$work/default-tap.out" | grep -o 'session=[-0-9]*') " &&
    fail "the session is a hash of the capture"

# --- every frame has one fate ---
play bad --session 1 "$work/bad-frames.pcap"
[ $code -eq 0 ] || fail "bad frames: exit code $code"
for row in frames_received:49 frames_malformed_tunnel:7 frames_nested_too_deep:8 packets_encoded:13 packets_delivered:13 frames_not_ip:1 frames_not_tcp:2 \
    frames_fragment_not_first:3 frames_truncated:4 frames_malformed_ip:5 frames_malformed_tcp:6 frames_filtered:0; do
    [ "$(counter "${row%:*}")" = "${row#*:}" ] || fail "bad frames: ${row%:*} is $(counter "${row%:*}"), expected ${row#*:}"
done
read_text "$work/bad.out" | awk '/^  run/ { keep = $3 != 7 } keep' | diff "$expected" - || fail "bad frames changed the good flow"
play filter --filter 'tcp[tcpflags] & tcp-syn != 0' "$work/bad-frames.pcap"
[ "$(counter frames_filtered) $(counter packets_encoded)" = "47 2" ] || fail "--filter"
play future "$work/year-2300.pcapng"
[ "$(counter frames_received) $(counter frames_time_out_of_range)" = "11 11" ] || fail "stamps after 2261"
play none "$work/no-frames.pcap"
[ "$code $(counter frames_received) $(wc -c <"$work/none.out")" = "0 0 0" ] || fail "a capture without frames"
for capture in ethernet.pcap bad-frames.pcap ns.pcapng cut-off.pcap; do
    play count "$work/$capture"
    frames=$(tcpdump -r "$work/$capture" -nn 2>/dev/null | wc -l)
    [ "$(counter frames_received)" = "$frames" ] || fail "$capture: received is not tcpdump's $frames"
done

# --- one sentence each ---
# sentence CODE "SENTENCE" ARGUMENT...: what the probe says, and its exit code.
sentence() {
    expected_code=$1 expected_text="${2:+chokepoint-probe: }$2"
    shift 2
    (cd "$work" && "$probe" --ledger ledger --output sentence.out "$@" 2>sentence.err)
    code=$?
    [ $code -eq "$expected_code" ] || fail "$*: exit code $code, expected $expected_code"
    [ "$(cat "$work/sentence.err")" = "$expected_text" ] ||
        fail "$*: said '$(cat "$work/sentence.err")', expected '$expected_text'"
}
sentence 0 "cut-off.pcap is cut off at its end, all whole frames were read" cut-off.pcap
[ "$(counter captures_cut_off)" = 1 ] || fail "captures_cut_off"
sentence 0 "cut-off.pcapng is cut off at its end, all whole frames were read" cut-off.pcapng
sentence 1 "empty.pcap is empty, expected a capture (pcap or pcapng)" empty.pcap
sentence 1 "text.pcap is not a capture (pcap or pcapng)" text.pcap
sentence 1 "three-bytes.pcap is not a capture (pcap or pcapng)" three-bytes.pcap
sentence 1 "half-header.pcap ends within its header" half-header.pcap
sentence 1 "whole.pcap.gz is compressed with gzip: pipe it through zcat" whole.pcap.gz
sentence 1 "whole.pcap.zst is compressed with zstd: pipe it through zstdcat" whole.pcap.zst
sentence 1 "ppp.pcap has link type PPP (9), expected Ethernet, raw IP, Linux cooked or loopback" ppp.pcap
sentence 1 ". cannot be read: Is a directory" .
sentence 1 "missing.pcap cannot be read: No such file or directory" missing.pcap
sentence 1 "nonsense-inside.pcap cannot be read to its end: invalid packet capture length 4294967295, bigger than snaplen of 262144" \
    nonsense-inside.pcap
[ "$(counter frames_received)" = 2 ] || fail "frames before nonsense are read"
sentence 1 "missing.pcap cannot be read: No such file or directory" missing.pcap ethernet.pcap
[ "$(counter packets_delivered)" = 11 ] || fail "the other captures are still read"
sentence 1 "standard input is empty, expected a capture (pcap or pcapng)" - </dev/null
sentence 2 "no FILE is given, expected at least one capture, or - for standard input"
sentence 2 "option --frobnicate is unknown: expected one of those that --help lists" --frobnicate ethernet.pcap
sentence 2 "option --filter: 'tcp port port' is not a libpcap filter: can't parse filter expression: syntax error" \
    --filter 'tcp port port' ethernet.pcap
sentence 2 "option --tunnels: 'both' is not one of inner|outer" --tunnels both ethernet.pcap
sentence 2 "option --anonymise: missing cannot be read: No such file or directory" --anonymise missing ethernet.pcap
(umask 077 && echo 0001 >"$work/short-key")
sentence 2 "option --anonymise: short-key is no key, expected 32 random bytes or 64 hexadecimal digits" \
    --anonymise short-key ethernet.pcap
chmod 644 "$work/key"
rm "$work/sentence.out"
sentence 2 "option --anonymise: key has mode 0644, expected a key that nobody but its owner may open, as by chmod 600" \
    --anonymise key ethernet.pcap
[ ! -e "$work/sentence.out" ] || fail "an output is written without a key"
for broker in b:65536 b:0 b: b:-1 b:port :9092 "[::1]:70000"; do
    sentence 2 "option --kafka: '$broker' is no broker, expected HOST:PORT with a port of 1 to 65535" --kafka "good:65535,$broker,good" ethernet.pcap
done
for option in "--workers 2" "--queues one" "--idle-sleep 0us" "--eal x" --no-shed; do
    sentence 2 "option ${option%% *} is too much without --port, expected both or neither" $option ethernet.pcap
done
sentence 2 "option --kafka-option is too much without --kafka, expected both or neither" --kafka-option acks=all ethernet.pcap
sentence 2 "option --kafka-options is too much without --kafka, expected both or neither" --kafka-options missing ethernet.pcap

sentence 2 "option --kafka-option: sasl.password is a secret, expected in the file of --kafka-options" \
    --kafka 127.0.0.1:1 --kafka-option sasl.password=hunter2 ethernet.pcap
sentence 2 "option --domain-of: 'vlan:1=1,vlan:1=2' is not PLACE=N,... such as vlan:100=7,tunnel:5000=8, with one domain for each place" \
    --domain-of 'vlan:1=1,vlan:1=2' ethernet.pcap
bad_name=$(printf 'a\377')
cp "$work/ethernet.pcap" "$work/$bad_name.pcap"
sentence 2 "option --tap: the name of the first file, '$bad_name', is not text in UTF-8 without control characters, expected another name" \
    "$bad_name.pcap"
echo 'partitions = many' >"$work/wrong.conf"
sentence 2 "option --config: line 1 of wrong.conf: option --partitions: 'many' is not a whole number from 1 to 65536" \
    --config wrong.conf ethernet.pcap

# refuses SETTINGS "CODE SENTENCE": settings in a file, which is a place for secrets: no sentence quotes it.
refuses() {
    printf "$1" >"$work/settings"
    "$probe" --ledger "$work/ledger" --kafka 127.0.0.1:1 --kafka-timeout 1s --kafka-options "$work/settings" \
        "$work/ethernet.pcap" 2>"$work/settings.err"
    code=$?
    [ "$code $(cat "$work/settings.err")" = "$2" ] || fail "settings '$1': $code $(cat "$work/settings.err")"
}
line="2 chokepoint-probe: option --kafka-options: line"
refuses 'linger.ms=5\nsasl.pasword=hunter2\n' "$line 2 of $work/settings has an unknown name"
refuses 'hunter2=\n' "$line 1 of $work/settings has an unknown name"
refuses 'sasl.password: aHVudGVyMg==\n' "$line 1 of $work/settings has an unknown name"
refuses 'security.protocol=hunter2\n' "$line 1 of $work/settings has a value that is refused"
refuses 'security.protocol=sasl_plaintext\nsasl.mechanism=hunter2\n' \
    "2 chokepoint-probe: the settings of librdkafka and of $work/settings do not go together"
refuses 'security.protocol=sasl_plaintext\nsasl.mechanism=OAUTHBEARER\nenable.sasl.oauthbearer.unsecure.jwt=true
sasl.oauthbearer.config=hunter2\n' \
    "1 chokepoint-probe: there is no way into Kafka at 127.0.0.1:1: authentication by the settings of $work/settings has failed"
sentence 1 "output /nowhere/out cannot be written: No such file or directory" --output /nowhere/out ethernet.pcap
# A start that fails leaves an older ledger alone, and a later one takes its place as a whole.
seq 1000 >"$work/old"
cp "$work/old" "$work/ledger"
sentence 1 "output /nowhere/out cannot be written: No such file or directory" --output /nowhere/out ethernet.pcap
cmp "$work/old" "$work/ledger" || fail "a start that failed has changed the ledger"
sentence 0 "" ethernet.pcap
python3 -c 'import json, sys; assert json.load(sys.stdin)["balanced"]' <"$work/ledger" || fail "a ledger over an older one"
"$probe" --ledger /dev/stderr --output "$work/sentence.out" "$work/ethernet.pcap" 2>&1 | grep -q '^{"record":"ledger"' || fail "a ledger into a pipe"
sentence 1 "ledger /nowhere/ledger cannot be written: No such file or directory" --ledger /nowhere/ledger ethernet.pcap
sentence 1 "/dev/full cannot be written: No space left on device" --output /dev/full ethernet.pcap
[ "$(counter packets_undelivered_output_failed)" = 11 ] || fail "packets of a full disk are counted"
"$probe" --help >"$work/help" || fail "--help"
grep -q '^  --partitions N' "$work/help" || fail "--help lists the options"
"$probe" --version | grep -q '^chokepoint-probe [0-9]' || fail "--version"

# A reader that ends at once; the stream is larger than a pipe holds.
python3 -c 'import sys; data = sys.stdin.buffer.read(); sys.stdout.buffer.write(data + 3000 * data[24:])' \
    <"$work/ethernet.pcap" >"$work/long.pcap"
{
    "$probe" --ledger "$work/ledger" "$work/long.pcap" 2>"$work/closed.err"
    echo $? >"$work/closed.code"
} | true
[ "$(cat "$work/closed.code" "$work/closed.err")" = "1
chokepoint-probe: standard output: the reader has ended before the capture" ] ||
    fail "a closed pipe: $(cat "$work/closed.code" "$work/closed.err")"
[ "$(counter packets_undelivered_output_closed)" -gt 0 ] || fail "packets of a closed pipe are counted"
python3 -c 'import json, sys; assert json.load(sys.stdin)["balanced"]' <"$work/ledger" || fail "a closed pipe unbalances the ledger"

python3 "$here/silent_pipe.py" "$probe" "$work/ethernet.pcap" || fail "a silent pipe"

# --- options from a file ---
cat >"$work/probe.conf" <<END
# as on the command line
tap = ethernet
session = 7
partitions = 4
output = $work/config.out
END
"$probe" --config "$work/probe.conf" --session 1 --partitions 32 --ledger "$work/ledger" "$work/ethernet.pcap" 2>"$work/config.err" ||
    fail "--config: $(cat "$work/config.err")"
cmp "$work/config.out" "$work/ethernet.pcap.out" || fail "--config gives other bytes than the same options"

# --- address spaces by VLAN and tunnel ---
for row in "tunnel-vxlan.pcap 6" "ethernet.pcap 3"; do
    play domain --session 1 --domain 3 --domain-of vlan:5=7,tunnel:5=6 "$work/${row% *}"
    read_text "$work/domain.out" | awk '/^  run/ { print $6 }' | sort -u >"$work/text"
    [ "$(cat "$work/text")" = "domain=${row#* }" ] || fail "--domain-of: ${row% *} is in $(cat "$work/text")"
done

# --- privileges are given up before a byte of a capture is read, and the pages are there ---
if [ "$(id -u)" -eq 0 ] && ! ldd "$probe" | grep -q libasan; then
    mkfifo "$work/silent"
    exec 3<>"$work/silent"
    "$probe" --metrics 127.0.0.1:0 --ledger "$work/ledger" --output "$work/silent.out" "$work/silent" 2>"$work/silent.err" &
    pid=$!
    for _ in $(seq 300); do
        grep -q 'Seccomp:.2' /proc/$pid/status && break
        sleep 0.1
    done
    awk '$1 == "Uid:" { exit !($2 == 65534) }' /proc/$pid/status || fail "the head of a capture is read as root"
    port=$(sed -n 's/.*metrics are at port //p' "$work/silent.err")
    [ "$(python3 -c 'import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1]).status)' "http://127.0.0.1:$port/healthz")" = 200 ] ||
        fail "/healthz before the head of a capture has come"
    kill -TERM $pid
    wait $pid
    code=$?
    exec 3>&-
    [ "$code $(sed 1d "$work/silent.err")" = "0 " ] || fail "a signal before the head of a capture: $code $(cat "$work/silent.err")"

    # Root of a container that has lost the right to become another.
    less="setpriv --bounding-set -all --inh-caps -all"
    $less "$probe" --session 1 --ledger "$work/ledger" --output "$work/ethernet.out" "$work/ethernet.pcap" 2>"$work/less.err" ||
        fail "root without capabilities: $(cat "$work/less.err")"
    cmp "$work/ethernet.out" "$work/ethernet.pcap.out" || fail "root without capabilities gives other bytes"
    $less "$probe" --user nobody --output "$work/less.out" "$work/ethernet.pcap" 2>"$work/less.err"
    [ "$? $(cat "$work/less.err")" = "1 chokepoint-probe: this root cannot become nobody: it lacks CAP_SETUID or CAP_SETGID, without which it stays root if there is no --user" ] ||
        fail "root without capabilities, and --user: $(cat "$work/less.err")"
fi

# A signal drains what has come so far, though the input goes on.
sleep 30 >"$work/fifo" &
writer=$!
cat "$work/ethernet.pcap" >"$work/fifo" &
"$probe" --ledger "$work/ledger" --output "$work/signal.out" --session 1 "$work/fifo" 2>"$work/signal.err" &
pid=$!
sleep 1
kill -TERM $pid
wait $pid
code=$?
kill $writer
[ "$code $(counter packets_delivered)" = "0 11" ] ||
    fail "a signal: exit code $code, delivered $(counter packets_delivered): $(cat "$work/signal.err")"

[ $failures -eq 0 ] && echo "all is as expected"
exit $((failures > 0))
