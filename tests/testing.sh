# What the shell tests share; sourced by them after they have gone to a folder of their own. The work is
# done in that folder, with the files output, before and after in it.
# shellcheck shell=sh disable=SC2034
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

finish() {
    [ "$failed" = 0 ] || { echo "$failed of $count failed"; exit 1; }
    echo "$count passed"
    exit 0
}

touch before after output
