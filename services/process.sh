# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2034,SC2154 # names are shared with the script that sources this
# Starts, knows and ends the processes of one service. Sourced by kafka, flink and clickhouse, which set
# $service (its name). Here are also the directory it may write to and the way it speaks.
#
# A process is known by its pid and its start time: $state/NAME.pid holds both, so a pid that the kernel
# has given to somebody else meanwhile is never taken for ours.

root=$(CDPATH='' cd -- "$here/.." && pwd)
CHOKEPOINT_RUN=${CHOKEPOINT_RUN:-$root/build/run}
case $CHOKEPOINT_RUN in
    /*) ;;
    *) CHOKEPOINT_RUN=$PWD/$CHOKEPOINT_RUN ;;
esac
export CHOKEPOINT_RUN
state=$CHOKEPOINT_RUN/$service
java=${JAVA_HOME:+$JAVA_HOME/bin/}java

# Kafka splits its list of directories at commas, Flink reads its own as URIs.
case $CHOKEPOINT_RUN in
    *[!A-Za-z0-9_./+-]*)
        echo "services/$service: the run directory is '$CHOKEPOINT_RUN', but its path may hold only letters, digits and _./+-;" \
            "choose another with CHOKEPOINT_RUN" >&2
        exit 2
        ;;
esac

# Generated passwords are among the files.
umask 077

say() {
    printf 'services/%s: %s\n' "$service" "$*"
}

fail() {
    say "$*" >&2
    exit 1
}

# need COMMAND PACKAGE
need() {
    command -v "$1" >/dev/null 2>&1 || fail "the command $1 is missing; install the Debian package $2"
}

# Two starts or stops of the same service in one run directory take turns.
lock_state() {
    mkdir -p "$state"
    exec 9>"$state/lock"
    flock 9
}

# start_time PID: in clock ticks since boot; fails for a process that is gone or only waits to be reaped.
start_time() {
    stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 1
    # The second field is the name in parentheses and may hold blanks and parentheses itself.
    # shellcheck disable=SC2086 # the other fields are numbers, to be split
    set -- ${stat##*) }
    # The first thread may be a zombie while the others, field 20, still hold the sockets.
    { [ "$1" != Z ] || [ "${18}" -gt 1 ]; } && echo "${20}"
}

# launch NAME COMMAND [ARGUMENT...]: in a session of its own, so that neither Ctrl-C nor a closed terminal reaches it.
launch() {
    name=$1
    shift
    setsid "$@" </dev/null >>"$state/$name.out" 2>&1 9>&- &
    pid=$!
    # Written even if it has ended already: its log tells why.
    echo "$pid $(start_time "$pid")" >"$state/$name.pid"
}

# running NAME: sets $pid.
running() {
    [ -s "$state/$1.pid" ] || return 1
    read -r pid started <"$state/$1.pid"
    [ -n "$started" ] && [ "$(start_time "$pid")" = "$started" ]
}

# end NAME SECONDS: asks with SIGTERM, insists with SIGKILL after that many seconds.
end() {
    if running "$1"; then
        kill -TERM "$pid" 2>/dev/null || :
        if ! await "$2" ended "$1"; then
            say "$1 (process $pid) did not end within $2 s; killing it" >&2
            kill -KILL "$pid" 2>/dev/null || :
            await 10 ended "$1" || fail "$1 (process $pid) cannot be killed"
        fi
    fi
    rm -f "$state/$1.pid"
}

# kill_now NAME...: SIGKILL, as a crash would, and back when nothing of it is left. For tests.
kill_now() {
    for name in "$@"; do
        running "$name" || fail "$name is not running"
        kill -KILL "$pid"
        await 10 ended "$name" || fail "$name (process $pid) cannot be killed"
    done
}

ended() {
    ! running "$1"
}

# settle NAME...: lets what is dying die, so that a start takes neither it for running nor its port for a stranger's.
settle() {
    for name in "$@"; do
        ! dying "$name" || await 10 ended "$name" || fail "$name (process $pid) was killed and does not end"
    done
}

dying() {
    running "$1" && grep -qs '^State:.Z' "/proc/$pid/status"
}

# await SECONDS COMMAND [ARGUMENT...]: until the command succeeds; fails when the time is over.
await() {
    deadline=$(($(date +%s) + $1))
    shift
    until "$@"; do
        [ "$(date +%s)" -lt "$deadline" ] || return 1
        sleep 0.1
    done
}

# give_up SENTENCE NAME LOG: ends what was started, and shows what it said last.
give_up() {
    end "$2" 10
    say "$1" >&2
    for file in "$state/$2.out" "$3"; do
        if [ -s "$file" ]; then
            say "the last lines of $file:" >&2
            tail -n 15 "$file" >&2
        fi
    done
    exit 1
}

# What the services of this run directory have published; what the environment says already wins.
load_published() {
    [ -r "$CHOKEPOINT_RUN/services.env" ] || return 0
    # shellcheck disable=SC2034 # value is used by eval
    while IFS='=' read -r name value; do
        case $name in
            CHOKEPOINT_*) eval "export $name=\"\${$name:-\$value}\"" ;;
        esac
    done <"$CHOKEPOINT_RUN/services.env"
}

# publish < LINES: the NAME=VALUE lines of this service become part of $CHOKEPOINT_RUN/services.env.
publish() {
    cat >"$state/env"
    (
        flock 8
        {
            echo "# Written by services/*. Readable by sh and by docker compose; values need no quoting."
            cat "$CHOKEPOINT_RUN"/*/env
        } >"$CHOKEPOINT_RUN/services.env.new"
        mv "$CHOKEPOINT_RUN/services.env.new" "$CHOKEPOINT_RUN/services.env"
    ) 8>"$CHOKEPOINT_RUN/lock"
}

print_env() {
    [ -s "$state/env" ] || fail "not started yet in $CHOKEPOINT_RUN"
    cat "$state/env"
}

# usage TEXT: for a wrong or missing command.
usage() {
    printf 'usage: services/%s %s\n' "$service" "$1" >&2
    exit 2
}
