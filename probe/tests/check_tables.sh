#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Holds the tables of README.md to the code, or writes them anew.
#
# usage: check_tables.sh TABLES README [--write]
tables=$1 readme=$2
made=$(mktemp)
trap 'rm -f "$made"' EXIT
awk -v tables="$tables" '
    /^<!-- end -->$/ { inside = 0 }
    !inside { print }
    /^<!-- table: [a-z]+ -->$/ { inside = 1; system(tables " " $3) }
' "$readme" >"$made"
if [ "${3:-}" = --write ]; then
    cat "$made" >"$readme"
elif ! diff "$readme" "$made"; then
    echo "FAILED: the tables of $readme are not those of the code; write them anew with"
    echo "  $0 $tables $readme --write"
    exit 1
fi
