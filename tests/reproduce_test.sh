#!/bin/sh
# lscm reproduce on the command line: the figure and the table of unseen interventions, what is refused,
# and that nothing is left behind.
set -u
lscm=$1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/lscm-reproduce.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
. "$here/testing.sh"

unseen() {
    "$lscm" reproduce unseen-interventions "$@"
}

linear() {
    unseen --preset paper-linear --nodes 4 "$@"
}

# ---- help and wrong words
succeeds "Examples:" "$lscm" reproduce --help
succeeds ".SH OPTIONS" "$lscm" help --man reproduce
succeeds "reproduce" "$lscm" help --completion
refuses 2 "name what to reproduce" "$lscm" reproduce --out a
refuses 2 "--out DIR" unseen
refuses 2 "one argument too many" unseen more --out a
refuses 2 "did you mean 'unseen-interventions'?" "$lscm" reproduce unseen-intervention --out a
refuses 2 "there is nothing named 'd5-linear' to reproduce; there is: unseen-interventions" \
    "$lscm" reproduce d5-linear --out a
refuses 2 "there is no preset 'paper-imag'; did you mean 'paper-image'?" unseen --preset paper-imag --out a
refuses 2 "--count takes a whole number from 1 to 100, not '0'" unseen --count 0 --out a
refuses 2 "'nodes'" unseen --nodes 0 --out a
refuses 2 "'seed'" unseen --seed -1 --out a
refuses 1 "this folder cannot be made" unseen --out nowhere/a
touch file
refuses 1 "this folder cannot be made" unseen --out file
refuses 2 "the data have every set of targets that can be drawn for 2 nodes" \
    unseen --preset paper-linear --nodes 2 --out a

# ---- vectors: a table and no picture. The posterior is as good as the truth, the empty graph is not.
succeeds "empty graph" linear --count 3 --out v
succeeds "unseen-interventions.csv" ls -A v
succeeds "preset,nodes,degree,seed,samples,do,posterior,empty_graph,true_model" cat v/unseen-interventions.csv
succeeds "paper-linear,4,1,1,100,mean," cat v/unseen-interventions.csv
succeeds "5 v/unseen-interventions.csv" wc -l v/unseen-interventions.csv
count=$((count + 1))
[ "$(ls -A v)" = unseen-interventions.csv ] || bad "something beside the CSV"
awk -F, '/mean,/ { if (!($7 < 10 * $9 && $8 > 100 * $7)) exit 1 }' v/unseen-interventions.csv || bad "errors"
refuses 1 "v/unseen-interventions.csv: this file exists already" linear --out v
cp v/unseen-interventions.csv first.csv
succeeds "" linear --count 3 --out v --force --quiet --threads 1
succeeds "" cmp v/unseen-interventions.csv first.csv
count=$((count + 1))
linear --count 3 --out v --force --quiet >output 2>&1 || bad "--quiet"
[ ! -s output ] || bad "--quiet printed something"
succeeds '{"preset": "paper-linear", "nodes": 4' linear --count 2 --seed 2 --out v --force --json

# ---- pictures: another folder, one that exists, and what stands in the way
mkdir p
succeeds "true means above, predicted means below" unseen --nodes 4 --count 3 --samples 20 --out p
count=$((count + 1))
[ "$(od -An -c -N4 p/unseen-interventions.png | tr -d ' ')" = '211PNG' ] || bad "no PNG"
# 3 tiles of 100 pixels and 2 lines of 4 between them across, 2 and 1 down
[ "$(od -An -tu1 -j16 -N8 p/unseen-interventions.png | tr -s ' ')" = ' 0 0 1 52 0 0 0 204' ] || bad "its size"
rm p/unseen-interventions.csv
refuses 1 "p/unseen-interventions.png: this file exists already" linear --out p
succeeds "" linear --count 1 --out p --force --quiet
count=$((count + 1))
[ ! -e p/unseen-interventions.png ] || bad "a figure of something else was left"
mkdir d d/unseen-interventions.png
refuses 1 "this is not a regular file" linear --out d --force
[ "$(id -u)" = 0 ] || {
    mkdir shut
    chmod a-w shut
    refuses 1 "choose a folder you may write in" linear --out shut
}

# ---- stopped on the way
count=$((count + 1))
"$lscm" reproduce unseen-interventions --preset paper-nonlinear --nodes 12 --out stopped --quiet >output 2>&1 &
job=$!
sleep 1
kill -INT "$job"
wait "$job"
[ $? = 1 ] || bad "stopping"
grep -q "stopped" output || bad "it does not say that it was stopped"
[ ! -e stopped ] || bad "stopping left something behind"
finish
