#!/bin/sh
# lscm fit where x is not linear in the causal variables: the choice without being told, what a run
# leaves, stopping and resuming to the same bytes, the options of the networks, and what is refused.
# shellcheck source=tests/testing.sh
. "$(dirname "$0")/testing.sh"

steps=300
long=900
if [ "${LSCM_SANITIZED:-0}" = 1 ]; then
    steps=40
    long=120
fi
quick="--width 64 --draws 64 --threads 1"

# score NAME RUN: that number of `lscm evaluate`
score() {
    "$lscm" evaluate "$2" --json | tr ',{}' '[\n*]' | sed -n "s/^ *\"$1\": //p"
}

# within WHAT NUMBER LEAST MOST
within() {
    count=$((count + 1))
    awk -v x="$2" -v a="$3" -v b="$4" 'BEGIN { exit !(x != "" && x + 0 >= a && x + 0 <= b) }' ||
        { echo "$1 is '$2', not within $3 and $4" >output; bad "$1"; }
}

whole="config.json posterior.nc report.html summary.json trace.csv"

simulate="$lscm simulate --preset paper-nonlinear --nodes 4 --sets 12 --per-set 60 --observational 200 --features 40 --quiet"
$simulate --seed 1 --out data.nc
$simulate --seed 2 --out other.nc

# ---- designs of which held-out values say little
$simulate --seed 3 --targets cycle --values three --out poor.nc
# shellcheck disable=SC2086 # a list
succeeds "poor.run: method anchored" "$lscm" fit poor.nc --steps $steps $quick --force
succeeds "set together with no or always the same others: 0, 1, 2, 3" cat poor.run/summary.json
succeeds "set to few different values: 0, 1, 2, 3" cat poor.run/summary.json

# ---- without a flag (but for a hurry under the sanitizers)
if [ "${LSCM_SANITIZED:-0}" = 1 ]; then
    succeeds "decoder mlp" "$lscm" fit data.nc --steps $long
else
    succeeds "data.run: method anchored, decoder mlp" "$lscm" fit data.nc
fi
cp output said
succeeds "why: values set by do() label the causal variables, and x is not linear in them" cat said
# shellcheck disable=SC2086 # a list
holds data.run $whole
succeeds '"decoder": "mlp"' cat data.run/config.json
succeeds '"encoder": "network"' cat data.run/summary.json
succeeds '"family": "homogeneous"' cat data.run/summary.json
succeeds '"r2"' cat data.run/summary.json
succeeds "round,step,misfit,held_out_missed" head -n 1 data.run/trace.csv
within "rounds in trace.csv" "$(grep -c '^[0-9]' data.run/trace.csv)" 5 100
count=$((count + 1)) # steps grow, nothing is missing
awk -F, 'NR > 1 && (NF != 4 || $2 <= last || $3 + 0 <= 0) { bad = 1 } NR > 1 { last = $2 } END { exit bad }' \
    data.run/trace.csv || { cp data.run/trace.csv output; bad "trace.csv"; }
within "MCC" "$(score mcc data.run)" 0.95 1
within "MCC of free variables" "$(score mcc_free data.run)" 0.6 1
within "x_mse" "$(score x_mse data.run)" 0 1
if command -v ncdump >/dev/null 2>&1; then
    succeeds 'kernel' ncdump -h data.run/posterior.nc
fi

# ---- what can be done with it
succeeds "30 rows of x and z" "$lscm" sample data.run --do 0=1 --draws 30
succeeds "seen.npz: 30 rows" "$lscm" sample data.run --do 0=1,2=-3 --draws 30 --out seen.npz
succeeds "run.npz: 1000 draws of 4 nodes" "$lscm" export data.run run.npz
succeeds '"e_shd"' "$lscm" evaluate run.npz --truth data.nc --json
succeeds "graph of 4 nodes" "$lscm" export data.run graph.dot
succeeds "z.csv: z and z_sd of 920 rows" "$lscm" transform data.run data.nc --out z.csv
succeeds "z2.csv: z and z_sd of 920 rows" "$lscm" transform data.run other.nc --out z2.csv
count=$((count + 1))
! grep -qi -e nan -e inf z.csv z2.csv 2>output || bad "z that is not a number"

# ---- stopped and resumed: the same bytes
# shellcheck disable=SC2086 # lists of options
{
    same="--steps $long $quick"
    succeeds "" "$lscm" fit data.nc --out straight $same
    stops INT 3 $same
    if [ $got != 0 ]; then # or it was too quick
        count=$((count + 1))
        if [ $got != 130 ] || ! grep -q "continue with the same command and --resume" output; then
            bad "stopped (exit $got)"
        fi
        holds stopped checkpoint trace.csv
        refuses 1 "stopped: the fit did not finish" "$lscm" evaluate stopped
        refuses 1 "--resume continues it" "$lscm" fit data.nc --out stopped $same
        for change in "--seed 1" "--steps $((long + 50))" "--width 32" "--rate 0.5" "--batch 100" "--encoder kernel"; do
            refuses 2 "other data, with other settings or on another device" "$lscm" fit data.nc --out stopped --resume $same $change
        done
        refuses 2 "other data" "$lscm" fit other.nc --out stopped --resume $same
        # nor with other values, or other background knowledge: x alone does not make a fit
        "$lscm" convert data.nc mixed --quiet && "$lscm" convert other.nc from-other --quiet
        cp from-other/interv_values.npy mixed/
        "$lscm" convert mixed mixed.nc --quiet
        refuses 2 "other data" "$lscm" fit mixed.nc --out stopped --resume $same
        for known in "--forbid 0->1" "--require 0->1" "--tiers 0,1;2,3"; do
            refuses 2 "other data, with other settings or on another device" "$lscm" fit data.nc --out stopped --resume $same $known
        done
        stops INT 6 --resume $same # once more
        if [ $got != 0 ]; then
            succeeds "decoder mlp" "$lscm" fit data.nc --out stopped --resume $same
        fi
    fi
    holds stopped $whole
    for file in posterior.nc config.json trace.csv; do
        succeeds "" cmp straight/$file stopped/$file
    done
    succeeds "" "$lscm" export straight straight.npz
    succeeds "" "$lscm" export stopped stopped.npz
    succeeds "" cmp straight.npz stopped.npz
    refuses 1 "nothing to resume" "$lscm" fit data.nc --out none --resume $same
    refuses 1 "nothing to resume" "$lscm" fit data.nc --out straight --resume $same

    # killed while choosing a network, before there is a row of trace.csv
    rm -r stopped
    "$lscm" fit data.nc --out stopped --checkpoint 0.01 $same >output 2>&1 &
    running=$!
    while kill -0 $running 2>/dev/null && [ ! -e stopped/checkpoint ]; do
        sleep 0.01
    done
    kill -KILL $running 2>/dev/null
    wait $running 2>/dev/null
    running=
    if [ -e stopped/checkpoint ]; then
        succeeds "" "$lscm" fit data.nc --out stopped --resume --checkpoint 0.01 $same
    fi
    for file in posterior.nc trace.csv; do
        succeeds "" cmp straight/$file stopped/$file
    done

    # killed: the last checkpoint that was written is whole
    rm -r stopped
    stops KILL 4 --checkpoint 0.01 $same
    if [ $got -gt 128 ] && [ -e stopped/checkpoint ]; then
        succeeds "" "$lscm" fit data.nc --out stopped --resume --checkpoint 0.01 $same
        succeeds "" cmp straight/posterior.nc stopped/posterior.nc
    fi

    # ---- the same numbers from any number of threads, and from no other seed
    few="--steps $steps --width 64 --draws 64"
    succeeds "" "$lscm" fit data.nc --out one $few --threads 1
    succeeds "" "$lscm" fit data.nc --out two $few --threads 2
    succeeds "" "$lscm" fit data.nc --out seed $few --threads 1 --seed 1
    for file in posterior.nc trace.csv; do
        succeeds "" cmp one/$file two/$file
        succeeds "" sh -c "! cmp -s one/$file seed/$file"
    done
    within "MCC of a narrow network" "$(score mcc one)" 0.95 1

    # ---- the kernel alone
    succeeds "decoder mlp" "$lscm" fit data.nc --encoder kernel --out kernel $few --threads 1
    succeeds '"encoder": "kernel"' cat kernel/summary.json
    within "MCC of the kernel" "$(score mcc kernel)" 0.95 1
    succeeds "10 rows of x and z" "$lscm" sample kernel --do 3=2 --draws 10
    succeeds "of 920 rows" "$lscm" transform kernel data.nc --out kernel.csv
    succeeds "decoder mlp" "$lscm" fit data.nc --encoder network --decoder mlp --batch 100 --rate 0.01 --out asked $few
    cp output said
    succeeds "why: as asked" cat said
    succeeds "decoder linear" "$lscm" fit data.nc --decoder linear --out linear --draws 64
    succeeds "decoder mlp" "$lscm" fit data.nc --steps 1 --width 8 --draws 8 --out hasty --threads 1
    within "MCC of one step" "$(score mcc hasty)" 0.5 1
    succeeds '"e_shd": ' "$lscm" evaluate hasty --json
}

# ---- what is refused
"$lscm" convert data.nc whole.csv >output 2>&1
# the same, but nobody wrote down what do() set
awk -F, -v OFS=, 'NR == 1 { for (i = 1; i <= NF; i++) did[i] = $i ~ /^"?do:/ } NR > 1 { for (i = 1; i <= NF; i++) if (did[i] && $i != "") $i = "set" } { print }' whole.csv >data.csv
refuses 1 "there are no 'values'; finding the causal variables in x needs what do() set" "$lscm" fit data.csv --decoder mlp --out none
$simulate --seed 1 --untouched 1 --out untouched.nc
succeeds "x bends" "$lscm" fit untouched.nc --draws 16 --holdout 0 --out rough
$simulate --seed 1 --values zero --out zero.nc
refuses 1 "always to the same value" "$lscm" fit zero.nc --decoder mlp --out none
refuses 2 "did you mean 'kernel'" "$lscm" fit data.nc --encoder kernle --out none
refuses 2 "'width'" "$lscm" fit data.nc --width -1 --out none

# ---- pictures: linear where they are, and clipping is found
"$lscm" simulate --preset paper-image --nodes 4 --degree 2 --observational 300 --sets 12 --per-set 50 --seed 1 \
    --out pictures.nc --quiet
succeeds "they were clipped there" "$lscm" fit pictures.nc --draws 64
within "clip" "$(sed -n 's/^ *"clip": \([^,]*\),*$/\1/p' pictures.run/summary.json)" 7.99 8.01
within "E-SHD of pictures" "$(score e_shd pictures.run)" 0 1
succeeds "seen.png" "$lscm" sample pictures.run --do 0=1 --draws 4 --out seen.png
# shellcheck disable=SC2086
succeeds "image: method anchored" "$lscm" fit pictures.nc --decoder image --steps $steps $quick --out image
succeeds '"decoder": "image"' cat image/config.json
succeeds "image.png" "$lscm" sample image --do 0=1 --draws 4 --out image.png
finish
