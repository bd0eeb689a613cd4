# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2034,SC2154 # names are shared with the script that sources this
# Downloads, made once a machine and checked by the checksums pinned beside this file. Sourced after process.sh.
# An entry of the cache is named after its checksums and appears complete or not at all, so it needs no stamp.

cache=${CHOKEPOINT_CACHE:-${HOME:-/root}/.cache/chokepoint}

# cached NAME FETCH: sets $entry to the directory NAME of the cache; on a miss FETCH fills an empty directory, given as
# its argument. Several at once take turns; the losers find it done.
cached() {
    entry=$cache/$1
    [ ! -d "$entry" ] || return 0
    mkdir -p "$cache"
    (
        flock 7
        [ ! -d "$entry" ] || exit 0
        fresh=$(mktemp -d "$cache/fetch.XXXXXX")
        trap 'rm -rf "$fresh"' EXIT
        trap 'exit 130' INT TERM
        "$2" "$fresh" 9>&- || exit 1
        chmod 755 "$fresh"
        mv "$fresh" "$entry"
    ) 7>"$cache/$1.lock" || exit 1
}

# jars: sets $jars to the directory with the jars of jars/$service.xml, which are exactly those of jars/$service.sha256.
jars() {
    need "$java" openjdk-17-jdk-headless
    cached "$service-jars-$(sha256sum "$here/jars/$service.sha256" | cut -c 1-12)" fetch_jars
    jars=$entry
}

fetch_jars() {
    need mvn maven
    # Two Mavens that fill the same local repository may damage it.
    exec 6>"$cache/maven.lock"
    flock 6
    say "fetching the jars of services/jars/$service.xml, once" >&2
    mvn -B -q --strict-checksums -f "$here/jars/$service.xml" \
        dependency:copy-dependencies "-DoutputDirectory=$1" >"$1/mvn.log" 2>&1 || {
        tail -n 20 "$1/mvn.log" >&2
        fail "Maven could not fetch the jars of services/jars/$service.xml; is Maven Central reachable?"
    }
    rm "$1/mvn.log"
    pinned=$(grep -c '^[0-9a-f]' "$here/jars/$service.sha256")
    if ! (cd "$1" && sha256sum --check --quiet --strict "$here/jars/$service.sha256" >&2) ||
        [ "$(find "$1" -name '*.jar' | wc -l)" -ne "$pinned" ]; then
        fail "the fetched jars are not those of services/jars/$service.sha256"
    fi
}
