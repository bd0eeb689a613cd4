# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2034,SC2154 # names are shared with the script that sources this
# Chooses loopback ports and tells who has a taken one. Sourced after process.sh.

# listener PORT: prints the socket inode of whoever listens on it on 127.0.0.1 or on all addresses.
listener() {
    awk -v port="$(printf '%04X' "$1")" '
        BEGIN {
            any6 = "00000000000000000000000000000000"
            mapped = "0000000000000000FFFF0000"
            taking["0100007F"]; taking["00000000"]; taking[any6]; taking[mapped "0100007F"]; taking[mapped "00000000"]
        }
        $4 == "0A" {
            split($2, local, ":")
            if (local[2] == port && local[1] in taking) { print $10; exit }
        }
    ' /proc/net/tcp /proc/net/tcp6 2>/dev/null
}

# owner INODE: prints "process PID (NAME)", or "another process" if its owner may not be seen.
owner() {
    pid=$(find /proc/[0-9]*/fd -lname "socket:\[$1\]" 2>/dev/null | sed -n '1s|/proc/\([0-9]*\)/.*|\1|p')
    if [ -n "$pid" ]; then
        echo "process $pid ($(cat "/proc/$pid/comm"))"
    else
        echo "another process"
    fi
}

# free_port: one that nobody listens on, below the ports that the kernel gives to outgoing connections.
free_port() {
    while :; do
        port=$((20000 + $(od -An -N2 -tu2 /dev/urandom) % 12000))
        [ -n "$(listener "$port")" ] || break
    done
    echo "$port"
}

# choose_port KEY VARIABLE DEFAULT: sets the shell variable KEY to a port nobody listens on, and remembers it.
# In this order: the environment variable VARIABLE if it is not 0; the port of the last start in this run
# directory; a free one if VARIABLE is 0, CHOKEPOINT_PORTS is "free" or DEFAULT is "free"; DEFAULT.
choose_port() {
    eval "chosen=\${$2:-}"
    case $chosen in
        *[!0-9]*) fail "$2 is '$chosen', expected a port number, or 0 for any free port" ;;
    esac
    if [ "${chosen:-0}" -eq 0 ] && [ -s "$state/$1" ]; then
        chosen=$(cat "$state/$1")
    elif [ "$chosen" = 0 ] || [ "${chosen:-$3}" = free ] ||
        { [ -z "$chosen" ] && [ "${CHOKEPOINT_PORTS:-}" = free ]; }; then
        chosen=$(free_port)
    fi
    chosen=${chosen:-$3}
    [ "$chosen" -le 65535 ] || fail "$2 is '$chosen', expected a port number up to 65535"
    inode=$(listener "$chosen")
    [ -z "$inode" ] || fail "port $chosen is taken by $(owner "$inode"); stop that, or choose another with $2=PORT"
    echo "$chosen" >"$state/$1"
    eval "$1=$chosen"
}
