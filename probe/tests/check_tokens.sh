#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# House rules that a search can check.
#
# usage: check_tokens.sh PROBE_FOLDER PURE_FILE...
set -u
folder=$1
shift
failures=0

# forbid MESSAGE PATTERN FILE...
forbid() {
    message=$1 pattern=$2
    shift 2
    if grep -nE "$pattern" "$@" /dev/null; then
        echo "FAILED: $message"
        failures=$((failures + 1))
    fi
}

# Files that say PURE know the C library and each other, and neither clock nor console.
pure_headers=$(grep -lE '^/\* PURE\.' "$folder"/src/*.h)
forbid "a pure file includes something else" \
    '#include <(pcap|rte_|librdkafka|xxhash|openssl|sys/|unistd|time|fcntl|pthread|stdio)' "$@" $pure_headers
forbid "a pure file reads a clock, prints or ends the process" \
    '\<(printf|fprintf|puts|exit|time|gettimeofday|clock_gettime)\(' "$@" $pure_headers
for header in $(grep -hoE '#include "[a-z_]+\.h"' "$@" | sort -u | cut -d'"' -f2); do
    case " $(echo $pure_headers | sed "s|$folder/src/||g") " in
    *" $header "* | *" counters.def "*) ;;
    *) echo "FAILED: a pure file includes $header, which is not" && failures=$((failures + 1)) ;;
    esac
done

# forbid_outside MESSAGE PATTERN SUFFIX FILE...: in sources whose names end so, but for those FILEs.
forbid_outside() {
    message=$1 pattern=$2 suffix=$3
    shift 3
    for source in "$folder"/src/*"$suffix"; do
        case " $* " in
        *" ${source##*/} "*) ;;
        *) forbid "$message" "$pattern" "$source" ;;
        esac
    done
}

forbid_outside "rdkafka belongs into kafka_*.c" '#include <librdkafka' '' kafka_sink.c kafka_check.c
forbid_outside "DPDK belongs into source_dpdk.c, eal.c, rss.c, port_check.c and telemetry.c" '#include <rte_' '' source_dpdk.c eal.c rss.c rss.h port_check.c telemetry.c
forbid_outside "libcrypto belongs into anonymise.c and dump_gate.c" '#include <openssl' '' anonymise.c dump_gate.c
forbid_outside "libpcap belongs into capture_file.c and filter.c" '#include <pcap' '' capture_file.c filter.c
forbid_outside "clocks belong into clock.h" '\<(clock_gettime|gettimeofday|time)\(' '' clock.h
forbid_outside "only main.c ends the process" '\<(exit|_exit)\(' .c main.c
forbid "left behind" '\<(TODO|FIXME|XXX|alloca|__sync_[a-z_]+)\>' "$folder"/src/* "$folder"/tests/unit/*
forbid "volatile is for the stop flag alone" '\<volatile (s[^i]|[^s])' "$folder"/src/*

for file in "$folder"/src/* "$folder"/tests/*/*.c "$folder"/tests/*/*.h "$folder"/tests/*/*.py "$folder"/tests/*/*.sh; do
    head -n 2 "$file" | grep -q 'SPDX-License-Identifier: Apache-2.0' ||
        { echo "FAILED: $file has no licence line" && failures=$((failures + 1)); }
done
for file in "$folder"/src/*; do
    lines=$(wc -l <"$file")
    [ "$lines" -le 600 ] || { echo "FAILED: $file has $lines lines" && failures=$((failures + 1)); }
done
exit $((failures > 0))
