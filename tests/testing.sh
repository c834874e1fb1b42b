# What the shell tests share. Each is given the program and begins by sourcing this, which takes it to a
# folder of its own, removed in the end. Known then: $lscm, the program; $tests, the folder of the tests;
# $work, the folder it is in, with the files output, before and after. A process whose number is in
# $running is killed in the end, and what is at $mounted unmounted.
# shellcheck shell=sh disable=SC2034
set -u
lscm=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
tests=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/lscm-$(basename "$0" .sh).XXXXXX") || exit 1
running=
mounted=
clean_up() {
    [ -z "$running" ] || kill -KILL "$running" 2>/dev/null
    [ -z "$mounted" ] || umount "$mounted"
    rm -rf "$work"
}
trap clean_up EXIT
cd "$work" || exit 1

count=0
failed=0

bad() {
    failed=$((failed + 1))
    echo "FAILED: $1"
    sed 's/^/    /' output
}

has_part() {
    [ -z "$part" ] || grep -qF -- "$part" output
}

# succeeds PART COMMAND...: exit 0 and PART in what it printed
succeeds() {
    count=$((count + 1))
    part=$1
    shift
    "$@" >output 2>&1 || { bad "$* (exit $?)"; return; }
    has_part || bad "$*: '$part' is not in what it printed"
}

# refuses CODE PART COMMAND...: that exit code, PART in the one sentence, and nothing left behind
refuses() {
    count=$((count + 1))
    code=$1
    part=$2
    shift 2
    ls -A >before
    "$@" >output 2>&1
    got=$?
    [ "$got" = "$code" ] || { bad "$*: exit $got instead of $code"; return; }
    has_part || { bad "$*: '$part' is not in what it printed"; return; }
    ls -A >after
    cmp -s before after || { diff before after >output; bad "$*: left something behind"; }
}

# holds FOLDER FILE...: exactly these files are there
holds() {
    count=$((count + 1))
    folder=$1
    shift
    printf '%s\n' "$@" | sort >after
    (cd "$folder" && find . ! -name . -prune | sed 's|^\./||' | sort) >output
    cmp -s output after || bad "$folder should hold: $*"
}

# stops SIGNAL ROWS OPTIONS...: starts a fit of data.nc into `stopped` and ends it when trace.csv has that
# many rows; leaves its exit code in $got
stops() {
    signal=$1
    rows=$2
    shift 2
    "$lscm" fit data.nc --out stopped "$@" >output 2>&1 &
    running=$!
    lines=0
    while kill -0 $running 2>/dev/null && [ "${lines:-0}" -le "$rows" ]; do
        sleep 0.01
        lines=$(grep -c '' stopped/trace.csv 2>/dev/null)
    done
    kill -"$signal" $running 2>/dev/null
    wait $running 2>/dev/null
    got=$?
    running=
}

finish() {
    [ "$failed" = 0 ] || { echo "$failed of $count failed"; exit 1; }
    echo "$count passed"
    exit 0
}

touch before after output
