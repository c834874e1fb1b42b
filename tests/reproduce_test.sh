#!/bin/sh
# lscm reproduce on the command line: grids that stop and go on, their tables and figures; the figure and
# the table of unseen interventions; what is refused, and that nothing is left behind.
# shellcheck source=tests/testing.sh
. "$(dirname "$0")/testing.sh"

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
refuses 2 "did you mean 'd5-linear'?" "$lscm" reproduce d5-liner --out a
refuses 2 "there is nothing named 'x' to reproduce; there is: all, unseen-interventions, d5-linear, d10-linear," \
    "$lscm" reproduce x --out a
refuses 2 "there is no preset 'paper-imag'; did you mean 'paper-image'?" unseen --preset paper-imag --out a
refuses 2 "--count takes a whole number from 1 to 100, not '0'" unseen --count 0 --out a
refuses 2 "'nodes'" unseen --nodes 0 --out a
refuses 2 "'seed'" unseen --seed -1 --out a
refuses 1 "this folder cannot be made" unseen --out nowhere/a
touch file
refuses 1 "this folder cannot be made" unseen --out file
refuses 2 "the data have every set of targets that can be drawn for 2 nodes" \
    unseen --preset paper-linear --nodes 2 --out a

refuses 2 "--methods, --tasks, --seeds and --retry are for grids" unseen --seeds 3 --out a
refuses 2 "choose from a grid with --tasks, --methods and --seeds" "$lscm" reproduce d5-linear --nodes 3 --out a
refuses 2 "there is no method 'vea'; did you mean 'vae'?" "$lscm" reproduce d5-linear --methods auto,vea --out a
refuses 2 "no task of d5-linear has 'ER-3' in its name; the first is 'd5 ER-1'" \
    "$lscm" reproduce d5-linear --tasks ER-1,ER-3 --out a
refuses 2 "--seeds takes a whole number" "$lscm" reproduce d5-linear --seeds 0 --out a
refuses 2 "the first and the last: 101-120" "$lscm" reproduce d5-linear --seeds 5-3 --out a
refuses 1 "this folder cannot be made" "$lscm" reproduce d5-linear --out nowhere/a

# ---- a grid: one cell, then its neighbours; what is done is not done again
grid() {
    "$lscm" reproduce d5-linear --quick --threads 1 --tasks ER-1 "$@"
}
equals() {
    count=$((count + 1))
    [ "$2" = "$3" ] || bad "$1: $2 instead of $3"
}
cell=g/cells/d5-linear.d5-er-1.auto.quick.seed-1.json
# the file of a cell; another one when it was run again
which_file() {
    ls -i "$cell"
}
succeeds "1 of 1 cells done; published medians that ours does not reach: 0" grid --seeds 1 --methods auto --out g
succeeds '"status": "done"' cat $cell
succeeds "e_shd_entries" head -1 g/d5-linear.csv
equals "lines of the CSV" "$(wc -l <g/d5-linear.csv)" 2
succeeds "Quick run" cat g/d5-linear.md
succeeds "| d5 ER-1 | ours (order learned) | 1 of 1 | 0" cat g/d5-linear.md
succeeds "*published: BIOLS, order learned* | | *2.19*" cat g/d5-linear.md
succeeds "| d5 ER-2 = ER-4 | VAE | 0 of 1 | not run |" cat g/d5-linear.md
succeeds "lscm reproduce d5-linear --out g --methods vae --seeds 1 --quick" cat g/d5-linear.md
first=$(which_file)
succeeds "4/4 d5-linear, d5 ER-1, biols-given, seed 2: E-SHD" grid --seeds 2 --methods auto,biols-given --out g
equals "a cell that was done" "$(which_file)" "$first"
equals "lines of the CSV" "$(wc -l <g/d5-linear.csv)" 5
succeeds '"cells": 4, "done": 4, "failed": 0, "not_reached": 0' grid --seeds 2 --methods auto,biols-given --out g --json
equals "what --quiet prints" "$(grid --seeds 2 --methods auto --out g --quiet 2>&1)" ""

# ---- other settings, a damaged file and --force are run again
for damage in 's/"draws": "1000"/"draws": "500"/' 5q; do
    sed "$damage" $cell >other
    cp other $cell
    succeeds "2 of 2 cells done" grid --seeds 2 --methods auto --out g
    equals "settings after $damage" "$(grep -c '"draws": "1000"' $cell)" 1
done
first=$(which_file)
succeeds "" grid --seeds 1 --methods auto --out g --force
count=$((count + 1))
[ "$(which_file)" != "$first" ] || bad "--force did not run the cell again"

# ---- a cell that failed is shown, does not stop the rest, and is tried again when asked
sed 's/"status": "done"/"status": "failed",\n "error": "this went wrong"/' $cell >other
cp other $cell
refuses 1 "1 of 3 cells failed; g/d5-linear.md says why; --retry tries them again" \
    grid --seeds 3 --methods auto --out g
succeeds "- d5 ER-1, ours (order learned), seed 1: this went wrong" cat g/d5-linear.md
succeeds "| d5 ER-1 | ours (order learned) | 2 of 3, 1 failed |" cat g/d5-linear.md
succeeds '"this went wrong"' cat g/d5-linear.csv
succeeds "3 of 3 cells done" grid --seeds 3 --methods auto --out g --retry

# ---- figures, with and without gnuplot
if command -v gnuplot >/dev/null; then
    for figure in g/d5-linear.svg g/d5-linear.pdf; do
        count=$((count + 1))
        [ -s $figure ] || bad "no $figure"
    done
    succeeds "![d5-linear](d5-linear.svg)" cat g/d5-linear.md
    succeeds "" "$lscm" reproduce training-curves --quick --tasks "d6 ER-1 multi-target" --seeds 1 --out c
    succeeds "<svg" cat c/training-curves-ER-1.svg
    # without any locale, as in a bare container, the figures are the same and gnuplot has nothing to say
    cp g/d5-linear.svg first.svg
    equals "what --quiet prints without a locale" \
        "$(env -i PATH="$PATH" HOME="$work" "$lscm" reproduce d5-linear --quick --threads 1 --tasks ER-1 \
            --seeds 3 --methods auto --out g --quiet 2>&1)" ""
    succeeds "" cmp g/d5-linear.svg first.svg
fi
succeeds "gnuplot is not installed" env PATH=/nowhere "$lscm" reproduce d5-linear --quick --tasks ER-1 \
    --seeds 1 --methods auto --out without
count=$((count + 1))
[ -s without/d5-linear.md ] || bad "no table without gnuplot"
[ ! -e without/d5-linear.svg ] || bad "a figure without gnuplot"

# ---- stopped by Ctrl-C and killed: nothing half-written, and the same command continues
for how in INT KILL; do
    count=$((count + 1))
    rm -rf s
    "$lscm" reproduce d5-linear --quick --threads 1 --seeds 2 --methods auto,biols-given --out s >output 2>&1 &
    job=$!
    while [ ! -e s/cells/d5-linear.d5-er-2-er-4.auto.quick.seed-1.json ] && kill -0 $job 2>/dev/null; do
        sleep 0.1
    done
    kill -$how "$job"
    wait "$job" 2>/dev/null
    [ $how = KILL ] || grep -q "cells are done and kept; the same command continues" output || bad "Ctrl-C"
    left=$(grep -lc '"status": "done"' s/cells/*.json | wc -l)
    case $left in
    [3-7]) ;;
    *) bad "$left cells when stopped by $how" ;;
    esac
    first=$(ls -i s/cells/d5-linear.d5-er-1.biols-given.quick.seed-1.json)
done
succeeds "8 of 8 cells done" "$lscm" reproduce d5-linear --quick --threads 1 --seeds 2 --methods auto,biols-given --out s
equals "a cell from before" "$(ls -i s/cells/d5-linear.d5-er-1.biols-given.quick.seed-1.json)" "$first"

# ---- all of them: an overview, which does not replace what somebody wrote
mkdir all
all() {
    "$lscm" reproduce all --quick --methods auto --tasks "d6 ER-1 multi" --seeds 1 --out all
}
succeeds "1 of 1 cells done" all
succeeds "[training-curves](training-curves.md)" cat all/README.md
succeeds "unseen-interventions.png" ls all
echo mine >all/README.md
succeeds "1 of 1 cells done" all
equals "somebody's README" "$(cat all/README.md)" mine
mkdir taken
echo mine >taken/d5-linear.csv
refuses 1 "this file exists already, and not from here" "$lscm" reproduce d5-linear --out taken

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
succeeds "from above, true means, predicted means, difference" unseen --nodes 4 --count 3 --samples 20 --out p
count=$((count + 1))
[ "$(od -An -c -N4 p/unseen-interventions.png | tr -d ' ')" = '211PNG' ] || bad "no PNG"
# 3 tiles of 100 pixels and 2 lines of 8 between them across; 3 and 2 lines of 4 down, and at least one of words
od -An -tu1 -j16 -N8 p/unseen-interventions.png | tr -s ' ' >output
grep -q '^ 0 0 1 60 0 0 1 [6-9][0-9]$' output || bad "its size"
succeeds "" unseen --nodes 4 --count 1 --samples 5 --out p --force --quiet
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
# not before it listens: bit 1 of the signals that it catches
while kill -0 "$job" && ! grep -q '^SigCgt:.*[2367abef]$' "/proc/$job/status"; do
    sleep 0.1
done
sleep 1
kill -INT "$job"
wait "$job"
[ $? = 130 ] || bad "stopping"
grep -q "stopped" output || bad "it does not say that it was stopped"
[ ! -e stopped ] || bad "stopping left something behind"
finish
