#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Holds services/* to their README, with the real programs on free ports in a directory of their own.
# CHOKEPOINT_KEEP=1 keeps that directory, which has all logs.
set -u
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
services=$(CDPATH='' cd -- "$here/.." && pwd)
# The caller may have a demo in its environment.
for name in $(env | sed -n 's/^\(CHOKEPOINT_[A-Z_]*\)=.*/\1/p' | grep -v -x -e CHOKEPOINT_CACHE -e CHOKEPOINT_KEEP); do
    unset "$name"
done
CHOKEPOINT_RUN=$(mktemp -d "${TMPDIR:-/tmp}/chokepoint-services.XXXXXX")
export CHOKEPOINT_RUN CHOKEPOINT_PORTS=free
export CHOKEPOINT_FLINK_HA=zookeeper CHOKEPOINT_FLINK_STATE_BACKEND=rocksdb CHOKEPOINT_FLINK_TASK_HEAP_MIB=256
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
passed=0
failed=0

clean_up() {
    "$services/stack" stop >/dev/null 2>&1
    [ -n "${CHOKEPOINT_KEEP:-}" ] || rm -rf "$CHOKEPOINT_RUN"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

# check SENTENCE COMMAND [ARGUMENT...]
check() {
    sentence=$1
    shift
    if output=$("$@" 2>&1); then
        passed=$((passed + 1))
        printf 'ok   %s\n' "$sentence"
    else
        failed=$((failed + 1))
        printf 'FAIL %s\n' "$sentence"
        printf '%s\n' "$output" | sed 's/^/     /'
    fi
}

# says TEXT COMMAND...: the command prints the text, on stdout or stderr.
says() {
    text=$1
    shift
    answer=$("$@" 2>&1)
    case $answer in
        *"$text"*) return 0 ;;
    esac
    printf 'expected: %s\ngot: %s\n' "$text" "$answer"
    return 1
}

# prints_nothing COMMAND...: as ClickHouse does when a statement has been carried out.
prints_nothing() {
    answer=$("$@" 2>&1) && [ -z "$answer" ] && return 0
    printf '%s\n' "$answer"
    return 1
}

not() {
    ! "$@"
}

# eventually COMMAND...: within 60 s; what it printed last is shown if not.
eventually() {
    deadline=$(($(date +%s) + 60))
    until "$@" >"$CHOKEPOINT_RUN/last" 2>&1; do
        if [ "$(date +%s)" -ge "$deadline" ]; then
            cat "$CHOKEPOINT_RUN/last"
            return 1
        fi
        sleep 0.2
    done
}

both() {
    "$1" && "$2"
}

service() {
    name=$1
    shift
    "$services/$name" "$@"
}

# Every process that a service starts carries the run directory in its environment, and so do its children.
started_processes() {
    for directory in /proc/[0-9]*; do
        case ${directory#/proc/} in
            "$$") continue ;;
        esac
        grep -qzx "CHOKEPOINT_RUN=$CHOKEPOINT_RUN\(/.*\)\?" "$directory/environ" 2>/dev/null &&
            grep -qE 'java|clickhouse' "$directory/comm" 2>/dev/null && echo "${directory#/proc/}"
    done
}

no_process_left() {
    left=$(started_processes)
    [ -z "$left" ] || { echo "still running: $left"; return 1; }
}

listen_on_loopback_only() {
    for pid in $(started_processes); do
        find "/proc/$pid/fd" -lname 'socket:*' -printf '%l\n' 2>/dev/null | tr -dc '0-9\n'
    done >"$CHOKEPOINT_RUN/inodes"
    [ -s "$CHOKEPOINT_RUN/inodes" ] || { echo "no process has a socket"; return 1; }
    awk '
        NR == FNR { ours[$1]; next }
        $4 == "0A" && $10 in ours { listening++; if ($2 !~ /^0100007F:/) { print "listens on " $2; open++ } }
        END { exit !listening || open }
    ' "$CHOKEPOINT_RUN/inodes" /proc/net/tcp /proc/net/tcp6
}

# --- Kafka

kafka_record() {
    "$java" -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -cp "$cache/kafka-jars/*" "$here/KafkaRecord.java" \
        "$CHOKEPOINT_KAFKA" "$@"
}

# --- ClickHouse

# sql USER PASSWORD STATEMENT
sql() {
    curl --silent --show-error --max-time 20 --noproxy '*' -H "X-ClickHouse-User: $1" -H "X-ClickHouse-Key: $2" \
        --data-binary "$3" "$CHOKEPOINT_CLICKHOUSE/"
}

as_admin() {
    sql chokepoint_admin "$CHOKEPOINT_CLICKHOUSE_ADMIN_PASSWORD" "$1"
}

as_writer() {
    sql chokepoint_writer "$CHOKEPOINT_CLICKHOUSE_WRITER_PASSWORD" "$1"
}

as_reader() {
    sql chokepoint_reader "$CHOKEPOINT_CLICKHOUSE_READER_PASSWORD" "$1"
}

speaks_native_protocol() {
    # It answers HTTP with advice, which proves that it is not the HTTP port.
    says "is for clickhouse-client program" curl --silent --max-time 5 --noproxy '*' --http0.9 "http://$CHOKEPOINT_CLICKHOUSE_TCP/"
}

# --- Flink

rest() {
    curl --silent --show-error --max-time 10 --noproxy '*' "$CHOKEPOINT_FLINK$1"
}

compile_job() {
    mkdir -p "$CHOKEPOINT_RUN/job"
    javac -d "$CHOKEPOINT_RUN/job" -cp "$cache/flink-jars/*" "$here/CountingJob.java" &&
        (cd "$CHOKEPOINT_RUN/job" && jar --create --file "$CHOKEPOINT_RUN/job.jar" --main-class CountingJob .)
}

submit_job() {
    service flink run "$CHOKEPOINT_RUN/job.jar" for-the-test >"$CHOKEPOINT_RUN/job.id" || return 1
    grep -qxE '[0-9a-f]{32}' "$CHOKEPOINT_RUN/job.id" && [ "$(wc -l <"$CHOKEPOINT_RUN/job.id")" -eq 1 ]
}

job_state() {
    says "\"state\":\"$1\"" rest "/jobs/$job"
}

has_checkpoint() {
    rest "/jobs/$job/checkpoints" | grep -q '"completed":[1-9]'
}

is_running() {
    job_state RUNNING
}

was_restored() {
    rest "/jobs/$job/checkpoints" | grep -q '"restored":{"id"'
}

savepoint_holds_state() {
    service flink savepoint "$job" >"$CHOKEPOINT_RUN/savepoint.out" 2>&1
    cat "$CHOKEPOINT_RUN/savepoint.out"
    find "$CHOKEPOINT_RUN/flink/savepoints" -name _metadata -size +0 | grep -q .
}

# --- One instance of everything, its own ports

# The same directories for both services' jars, whatever their checksums.
cache=$CHOKEPOINT_RUN/cache
mkdir -p "$cache"

check "all three services start together" service stack start
if [ ! -s "$CHOKEPOINT_RUN/services.env" ]; then
    echo "nothing to test without services"
    echo "$passed passed, $((failed + 1)) failed"
    exit 1
fi
set -a
# shellcheck source=/dev/null
. "$CHOKEPOINT_RUN/services.env"
set +a
jars_root=${CHOKEPOINT_CACHE:-$HOME/.cache/chokepoint}
for name in kafka flink; do
    ln -s "$jars_root/$name-jars-$(sha256sum "$services/jars/$name.sha256" | cut -c 1-12)" "$cache/$name-jars"
done

cp "$CHOKEPOINT_RUN/services.env" "$CHOKEPOINT_RUN/services.env.before"

check "services.env is for its owner only" [ "$(stat -c %a "$CHOKEPOINT_RUN/services.env")" = 600 ]
# published PROGRAM: what a script of the services knows once it has loaded services.env.
published() {
    sh -euc 'service=test; here=$1; . "$here/process.sh"; load_published; eval "$2"' - "$services" "$1"
}

# shellcheck disable=SC2016 # the program expands them
check "what runs here finds the services" says "$(sed -n 's/^CHOKEPOINT_KAFKA=//p' "$CHOKEPOINT_RUN/services.env")" published 'echo "$CHOKEPOINT_KAFKA"'
# shellcheck disable=SC2016 # the program expands them
check "but for those that it was told of" says elsewhere env CHOKEPOINT_KAFKA=elsewhere sh -c '
    service=test; here=$1; . "$here/process.sh"; load_published; echo "$CHOKEPOINT_KAFKA"' - "$services"
check "no port is one of the demo's" not grep -qE ':(19092|18081|18123|19000)$' "$CHOKEPOINT_RUN/services.env"
check "nothing listens beyond loopback" listen_on_loopback_only
for name in kafka flink clickhouse; do
    check "$name: a second start says so and changes nothing" says "already running" service "$name" start
    check "$name: status is 0 while it runs" service "$name" status
done

check "kafka: a topic must be made" not kafka_record put unmade x
check "kafka: creates a topic" kafka_record create numbers
check "kafka: takes a record" kafka_record put numbers seventeen
check "kafka: gives it back" says seventeen kafka_record get numbers

check "flink: two slots are free" eventually says '"slots-total":2,"slots-available":2' rest /overview
check "flink: serves its web interface" says "<title>Apache Flink" rest /index.html
check "flink: the JobManager's log is seen there" says "StandaloneSessionClusterEntrypoint" rest /jobmanager/log
check "flink: refuses uploads" not says '"filename"' rest /jars
check "flink: a job compiles against its jars" compile_job
check "flink: run prints the job's id alone" submit_job
job=$(cat "$CHOKEPOINT_RUN/job.id")
check "flink: the job runs" eventually job_state RUNNING
check "flink: its state has 1024 key groups" says '"maxParallelism":1024' rest "/jobs/$job"
check "flink: it is checkpointed" eventually has_checkpoint
check "flink: a savepoint is written" savepoint_holds_state

check "clickhouse: answers its writer" says 1 as_writer "SELECT 1"
check "clickhouse: speaks the native protocol too" speaks_native_protocol
check "clickhouse: refuses a wrong password" says "Code: 516" sql chokepoint_writer wrong "SELECT 1"
check "clickhouse: the database is Atomic" says Atomic as_admin \
    "SELECT engine FROM system.databases WHERE name = 'chokepoint'"
check "clickhouse: the administrator creates" prints_nothing as_admin \
    "CREATE TABLE chokepoint.numbers (n UInt32) ENGINE = MergeTree ORDER BY n"
check "clickhouse: the writer inserts" prints_nothing as_writer "INSERT INTO numbers SELECT number FROM numbers(17)"
check "clickhouse: the reader reads" says 17 as_reader "SELECT count() FROM numbers"
check "clickhouse: the writer creates nothing" says "Code: 497" as_writer \
    "CREATE TABLE chokepoint.other (n UInt32) ENGINE = MergeTree ORDER BY n"
check "clickhouse: the reader inserts nothing" says "Code: 497" as_reader "INSERT INTO numbers VALUES (1)"
check "clickhouse: the reader sees no file" says "Code: 497" as_reader "SELECT * FROM file('/etc/hostname', 'LineAsString')"
check "clickhouse: the reader's memory is bounded" says "Code: 452" as_reader "SELECT 1 SETTINGS max_memory_usage = 0"
check "clickhouse: the reader may set what its clients set" says 2 as_reader \
    "SELECT 2 SETTINGS max_execution_time = 30, max_threads = 1"
# What it could do without a password: read any file through the error message of a parser.
check "clickhouse: nobody logs in as user default" says "Code: 700" sql default "" "SELECT 1"
check "clickhouse: nor creates" says "Code: 700" sql default "" \
    "CREATE TABLE chokepoint.other (n UInt32) ENGINE = MergeTree ORDER BY n"
check "clickhouse: nor inserts from a file" says "Code: 700" sql default "" \
    "INSERT INTO FUNCTION null('n UInt8') FROM INFILE '/etc/passwd' FORMAT TSV"

# --- Ports that are taken, values that are wrong

# on_taken_port SERVICE VARIABLE PORT: a second instance, in a directory of its own.
on_taken_port() {
    says "port $3 is taken by process" env "CHOKEPOINT_RUN=$CHOKEPOINT_RUN/second" "$2=$3" "$services/$1" start &&
        ! env "CHOKEPOINT_RUN=$CHOKEPOINT_RUN/second" "$services/$1" status
}

check "kafka: a taken port is told" on_taken_port kafka CHOKEPOINT_KAFKA_PORT "${CHOKEPOINT_KAFKA##*:}"
check "flink: a taken port is told" on_taken_port flink CHOKEPOINT_FLINK_PORT "${CHOKEPOINT_FLINK##*:}"
check "clickhouse: a taken port is told" on_taken_port clickhouse CHOKEPOINT_CLICKHOUSE_PORT "${CHOKEPOINT_CLICKHOUSE##*:}"
check "a port that is no number is told" says "expected a port number" env "CHOKEPOINT_RUN=$CHOKEPOINT_RUN/second" \
    CHOKEPOINT_KAFKA_PORT=http "$services/kafka" start
check "a state backend that is unknown is told" says "expected hashmap or rocksdb" \
    env "CHOKEPOINT_RUN=$CHOKEPOINT_RUN/second" CHOKEPOINT_FLINK_STATE_BACKEND=memory "$services/flink" start
check "a run directory that would break the services is told" says "may hold only" \
    env "CHOKEPOINT_RUN=$CHOKEPOINT_RUN/with blank" "$services/kafka" status

# failed_start TEXT SERVICE NAME=VALUE...: it says why and leaves nothing running.
failed_start() {
    text=$1
    shift
    says "$text" env "CHOKEPOINT_RUN=$CHOKEPOINT_RUN/third" "$2" "$services/$1" start &&
        ! env "CHOKEPOINT_RUN=$CHOKEPOINT_RUN/third" "$services/$1" status
}

check "kafka: a failed start shows why" failed_start "Invalid maximum heap size" kafka CHOKEPOINT_KAFKA_HEAP_MIB=0
check "flink: a failed start shows why" failed_start "Could not create" flink JAVA_TOOL_OPTIONS=-XX:NoSuchOption
check "clickhouse: a failed start shows why" failed_start "CANNOT_PARSE" clickhouse CHOKEPOINT_CLICKHOUSE_MEMORY_BYTES=much

# --- What is killed comes back as it was

# kill_and_restart SERVICE [PROCESS]
kill_and_restart() {
    "$services/$1" kill ${2:+"$2"} && "$services/$1" start
}

# die_and_restart SERVICE PROCESS: by another hand, while its last threads are still there.
die_and_restart() {
    read -r pid _ <"$CHOKEPOINT_RUN/$1/$2.pid"
    kill -KILL "$pid" || return 1
    while grep -qs '^State:.[^Z]' "/proc/$pid/status"; do :; done
    "$services/$1" start && ! grep "^$pid " "$CHOKEPOINT_RUN/$1/$2.pid"
}

check "kafka: starts again after kill -9" kill_and_restart kafka
check "kafka: still has the record" says seventeen kafka_record get numbers
check "clickhouse: starts again after kill -9" kill_and_restart clickhouse
check "clickhouse: still has the rows" says 17 as_reader "SELECT count() FROM numbers"
check "flink: its TaskManager starts again after kill -9" kill_and_restart flink taskmanager
check "flink: and while the killed one is still dying" die_and_restart flink taskmanager
check "flink: the job goes on from its checkpoint" eventually both was_restored is_running
check "flink: its JobManager starts again after kill -9" kill_and_restart flink jobmanager
check "flink: the job goes on under the new JobManager" eventually both was_restored is_running
check "flink: cancels it" service flink cancel "$job"
check "flink: the job is cancelled" eventually job_state CANCELED

# --- Stopping

check "stop ends all three" service stack stop
check "stop leaves no process" no_process_left
check "a second stop is no error" service stack stop
for name in kafka flink clickhouse; do
    check "$name: status is 3 when it does not run" [ "$(service "$name" status >/dev/null; echo $?)" -eq 3 ]
done
check "all three start again" service stack start
check "the ports are those of before" cmp -s "$CHOKEPOINT_RUN/services.env" "$CHOKEPOINT_RUN/services.env.before"
check "kafka: data outlive a stop" says seventeen kafka_record get numbers
check "clickhouse: data and passwords outlive a stop" says 17 as_reader "SELECT count() FROM numbers"

a_recycled_pid_is_spared() {
    service kafka stop
    # As if the kernel had given the broker's pid to this process.
    sleep 60 &
    stranger=$!
    echo "$stranger 1" >"$CHOKEPOINT_RUN/kafka/broker.pid"
    service kafka stop
    kill -0 "$stranger"
    result=$?
    kill "$stranger"
    return $result
}

check "stop spares a stranger with a recycled pid" a_recycled_pid_is_spared

# --- The cache

one_fetch_for_many() {
    cat >"$CHOKEPOINT_RUN/fetcher" <<EOF
set -eu
here=$services
service=kafka
. "$services/process.sh"
. "$services/cache.sh"
fetch() {
    echo fetched >>"$CHOKEPOINT_RUN/fetches"
    echo content >"\$1/file"
}
cached thing fetch
cat "\$entry/file"
EOF
    children=
    for _ in 1 2 3 4; do
        CHOKEPOINT_CACHE=$CHOKEPOINT_RUN/other-cache sh "$CHOKEPOINT_RUN/fetcher" &
        children="$children $!"
    done
    for child in $children; do
        wait "$child" || return 1
    done
    [ "$(wc -l <"$CHOKEPOINT_RUN/fetches")" -eq 1 ]
}

check "several at once fetch once" one_fetch_for_many

service stack stop >/dev/null
check "stop leaves no process at the end" no_process_left

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
