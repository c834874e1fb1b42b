#!/bin/sh
# lscm fit on the command line: what a run leaves, what it refuses, and that a run which was stopped
# and resumed ends in the same bytes as one that was not.
# shellcheck source=tests/testing.sh
. "$(dirname "$0")/testing.sh"


steps=300
long=6000
if [ "${LSCM_SANITIZED:-0}" = 1 ]; then
    steps=60
    long=1500
fi
small="--method biols --samples 16 --draws 32 --threads 1"
quick="--steps $steps --restarts 1 $small"
whole="config.json posterior.nc report.html summary.json trace.csv"

"$lscm" simulate --preset paper-linear --nodes 4 --observational 60 --sets 6 --per-set 20 --features 8 \
    --seed 1 --out data.nc --quiet
"$lscm" simulate --preset paper-linear --nodes 4 --observational 60 --sets 6 --per-set 20 --features 8 \
    --seed 2 --out other.nc --quiet
"$lscm" convert data.nc whole.csv >output 2>&1
# the same, but nobody wrote down what do() set
awk -F, -v OFS=, 'NR == 1 { for (i = 1; i <= NF; i++) did[i] = $i ~ /^"?do:/ } NR > 1 { for (i = 1; i <= NF; i++) if (did[i] && $i != "") $i = "set" } { print }' whole.csv >data.csv

# ---- a run and what can be done with it
# shellcheck disable=SC2086 # lists of options
{
    succeeds "Examples:" "$lscm" fit --help
    succeeds "data.run: method biols, decoder linear" "$lscm" fit data.nc --steps $steps --restarts 2 $small
    holds data.run $whole
    succeeds '"order": "learned"' cat data.run/config.json
    succeeds '"restarts": 2' cat data.run/config.json
    succeeds '"data": "data.nc"' cat data.run/config.json
    succeeds '"warnings": []' cat data.run/summary.json
    succeeds "restart,step,loss" head -n 1 data.run/trace.csv
    succeeds "given/: method biols" "$lscm" fit data.nc --order given --out given/ $quick
    holds given $whole
    succeeds '"order_given"' cat given/config.json
    succeeds "" "$lscm" fit data.nc --order 2,0,3,1 --quiet --out index $quick
    succeeds "" "$lscm" fit data.nc --order c,0,d,b --names a,b,c,d --quiet --out name $quick
    succeeds '"noise": "equal"' cat index/config.json
    succeeds '"degree": 1.0' cat index/config.json
    mkdir sub && cp data.nc sub/data.v1.nc
    succeeds "sub/data.v1.run" "$lscm" fit sub/data.v1.nc $quick
    holds sub data.v1.nc data.v1.run
}
# the order that was listed, by number or by name, is the order of every draw
succeeds "" cmp index/trace.csv name/trace.csv
if command -v ncdump >/dev/null 2>&1; then
    for run in index name; do
        count=$((count + 1))
        ncdump -v /posterior/order $run/posterior.nc | sed -n '/^ *order =/,/;/p' | tr -d ' \n;' >output
        [ "$(sed 's/order=//; s/2,0,3,1,*//g' output)" = "" ] || bad "$run: not the order 2,0,3,1"
    done
fi

succeeds "expected SHD" "$lscm" evaluate data.run
succeeds "" sh -c '"$0" evaluate data.run --json | grep -q "\"do_mean_error\": [0-9].*\"do_energy\": [-0-9]"' "$lscm"
succeeds '"draws": 32' "$lscm" evaluate given/ --json
succeeds '"draws": 32' "$lscm" evaluate name --json
succeeds "50 rows of x and z" "$lscm" sample data.run --do 0=1.5 --draws 50
succeeds "seen.npz: 50 rows" "$lscm" sample name --do a=1,d=-1 --draws 50 --out seen.npz
succeeds "run.npz: 32 draws of 4 nodes" "$lscm" export data.run run.npz
succeeds '"draws": 32' "$lscm" evaluate run.npz --truth data.nc --json
succeeds '"do_mean_error": null, "do_energy": null' "$lscm" evaluate run.npz --truth data.nc --json
succeeds "graph of 4 nodes" "$lscm" export name graph.dot
succeeds "edges.csv" "$lscm" export data.run edges.csv

# the truth that was named when fitting is the truth of the run
printf 'a,b,c,d\n0,1,1,1\n0,0,1,1\n0,0,0,1\n0,0,0,0\n' >full.csv
# shellcheck disable=SC2086
succeeds "" "$lscm" fit data.nc --truth full.csv --names a,b,c,d --out truth $quick
for use in "" "--truth full.csv"; do
    # shellcheck disable=SC2086
    "$lscm" evaluate truth $use --json | sed 's/.*"e_shd": \([^,]*\),.*/\1/' >"shd$use"
done
succeeds "" cmp shd "shd--truth full.csv"

# ---- what is printed: nothing when quiet, one line of JSON when asked
count=$((count + 1))
# shellcheck disable=SC2086
"$lscm" fit data.nc --out quiet --quiet $quick >output 2>&1 || bad "fit --quiet (exit $?)"
[ ! -s output ] || bad "fit --quiet printed something"
count=$((count + 1))
# shellcheck disable=SC2086
"$lscm" fit data.nc --out json --json $quick >output 2>errors ||
    { cat errors >>output; bad "fit --json"; }
[ "$(wc -l <output)" -eq 1 ] || bad "fit --json: not one line"
cp output line.json
if command -v python3 >/dev/null 2>&1; then
    succeeds '"method": "biols"' python3 -m json.tool line.json
fi

# ---- the same numbers from any number of threads, and from no other seed
# shellcheck disable=SC2086
{
    succeeds "" "$lscm" fit data.nc --decoder mlp --out threads --steps 20 $small --threads 2
    succeeds "" "$lscm" fit data.nc --decoder mlp --out thread --steps 20 $small
    succeeds "" "$lscm" fit data.nc --decoder mlp --out seed --steps 20 $small --seed 1
}
for file in posterior.nc config.json trace.csv; do
    succeeds "" cmp thread/$file threads/$file
done
succeeds "" sh -c '! cmp -s thread/posterior.nc seed/posterior.nc'

# ---- other decoders
# shellcheck disable=SC2086
{
    succeeds "decoder mlp" "$lscm" fit data.nc --decoder mlp --steps 20 --out mlp $small
    holds mlp $whole
    succeeds '"x_mse"' "$lscm" evaluate mlp --json
    "$lscm" simulate --preset paper-image --nodes 3 --observational 20 --sets 2 --per-set 5 --out pictures.nc --quiet
    succeeds "decoder image" "$lscm" fit pictures.nc --method biols --steps 5 --samples 8 --draws 8 --threads 1
    holds pictures.run $whole
    succeeds "seen.png" "$lscm" sample pictures.run --draws 4 --out seen.png
    succeeds "" "$lscm" fit data.nc --expectation sampled --noise unequal --permanent exact --batch 50 \
        --objective mse --optimiser adam --steps 20 --restarts 1 --out all $small
    "$lscm" simulate --nodes 1 --features 3 --observational 20 --sets 2 --per-set 5 --targets single \
        --out single.nc --quiet
    succeeds "between 1 node" "$lscm" fit single.nc --steps 20 $small
}

# ---- what is refused before anything is written
refuses 2 "name the data" "$lscm" fit
refuses 2 "one argument too many" "$lscm" fit data.nc run
refuses 1 "nothing.nc" "$lscm" fit nothing.nc
refuses 1 "data.csv: there are no 'values'" "$lscm" fit data.csv --out none --method biols
refuses 1 "data.csv: there are no 'values'" "$lscm" fit data.csv --out none --decoder mlp
refuses 2 "did you mean --steps" "$lscm" fit data.nc --stesp 3 --out none
refuses 2 "did you mean 'linear'" "$lscm" fit data.nc --decoder linaer --out none
refuses 2 "did you mean 'given'" "$lscm" fit data.nc --order gven --out none
refuses 2 "'draws' is 4; it must lie between 8 and" "$lscm" fit data.nc --draws 4 --out none
refuses 2 "whole number" "$lscm" fit data.nc --steps 2.5 --out none
refuses 2 "each of the 4 nodes once" "$lscm" fit data.nc --order 0,1,2 --out none
refuses 2 "each of the 4 nodes once" "$lscm" fit data.nc --order 0,1,2,2 --out none
refuses 2 "each of the 4 nodes once" "$lscm" fit data.nc --order 0,1,2,3,0 --out none
refuses 2 "each of the 4 nodes once" "$lscm" fit data.nc --order 0,1,2,3, --out none
refuses 2 "no node '4'" "$lscm" fit data.nc --order 0,1,2,4 --out none
refuses 2 "no node '-1'" "$lscm" fit data.nc --order 0,1,2,-1 --out none
refuses 2 "no node ''" "$lscm" fit data.nc --order 0,,1,2 --out none
refuses 2 "did you mean 'mek'" "$lscm" fit data.nc --names raf,mek,erk,akt --order raf,mekk,erk,akt --out none
refuses 2 "the method biols has no identity decoder" "$lscm" fit data.nc --method biols --decoder identity --out none

# ---- background knowledge: what is wrong with it is said, and biols does not take it
knows() {
    part=$1
    shift
    refuses 2 "$part" "$lscm" fit data.nc --names raf,mek,erk,akt --method biols --out none "$@"
}
knows "biols cannot use background knowledge" --forbid 'raf->mek'
knows "biols cannot use background knowledge" --require '0->mek, mek -> 2' --require 'akt->erk'
knows "biols cannot use background knowledge" --tiers 'raf, mek;3'
knows "did you mean 'mek'" --forbid 'raf->mekk'
knows "did you mean 'raf'" --require 'mek->erk,raff->mek'
knows "no node '4'" --forbid '4->mek'
knows "no node ''" --forbid 'raf->'
knows "--forbid takes edges 'A->B', not 'raf-'; put them in quotes" --forbid raf-
knows "--require takes edges 'A->B', not ''" --require 'raf->mek,'
knows "--forbid 1->mek: no node causes itself" --forbid '1->mek'
knows "the edge raf->mek is required, but it is also forbidden" --forbid 'mek->raf' --forbid '0->1' --require 'raf->mek'
knows "the required edges make a cycle: raf->mek->erk->raf" --require 'raf->mek,mek->erk' --require 'erk->raf'
knows "the edge mek->raf is required, but it points from a later tier" --tiers 'raf;erk,mek' --require 'mek->raf'
knows "the edge mek->raf is required, but it points backwards in the order" --order 0,1,2,3 --require 'mek->raf'
knows "tier 2 is empty" --tiers 'raf;;mek'
knows "--tiers names node 'raf' twice" --tiers 'raf;mek,raf'
knows "did you mean 'akt'" --tiers 'raf;aktt'
refuses 2 "biols cannot use background knowledge" "$lscm" fit data.nc --names 'a->b,c,a,b->c' --method biols \
    --forbid 'a->b->c' --out none

# anchored does: what is required has probability 1 and what is forbidden 0, whatever the data say
succeeds "method anchored" "$lscm" fit data.nc --names raf,mek,erk,akt --method anchored --draws 32 --out known \
    --require 'akt->raf' --forbid 'akt->mek' --forbid '1->akt' --tiers 'akt;erk'
succeeds '"require"' cat known/config.json
succeeds '"akt->raf"' cat known/config.json
succeeds '"tiers"' cat known/config.json
succeeds "" "$lscm" export known known.csv
succeeds "akt,raf,1," cat known.csv
succeeds "akt,mek,0,0,0,0,0" cat known.csv
succeeds "mek,akt,0,0,0,0,0" cat known.csv
succeeds "erk,akt,0,0,0,0,0" cat known.csv
rm -r known known.csv
refuses 1 "nowhere/run: " "$lscm" fit data.nc --out nowhere/run
refuses 1 "data.nc/run: " "$lscm" fit data.nc --out data.nc/run
refuses 1 "data.nc is a file" "$lscm" fit data.nc --out data.nc --force
mkdir locked && chmod 555 locked
if [ "$(id -u)" != 0 ]; then
    refuses 1 "locked" "$lscm" fit data.nc --out locked
    refuses 1 "locked/run" "$lscm" fit data.nc --out locked/run
fi

# ---- a run that is there already
cp given/posterior.nc kept.nc
echo thesis >given/thesis.tex
# shellcheck disable=SC2086
{
    refuses 1 "given holds a run already; --force replaces it" "$lscm" fit data.nc --out given $quick
    succeeds "" cmp given/posterior.nc kept.nc
    refuses 1 "given/checkpoint: there is nothing to resume" "$lscm" fit data.nc --order given --out given --resume $quick
    holds given thesis.tex $whole
    succeeds "" "$lscm" fit data.nc --out given --force --order given $quick
    succeeds "" cmp given/posterior.nc kept.nc
    holds given thesis.tex $whole
    refuses 1 "nothing to resume" "$lscm" fit data.nc --out none --resume $quick
}

# ---- stopped and resumed
same="--steps $long --restarts 3 --full-run --trace $((long / 60)) $small"
last=$((1000 * 60 / long)) # rows of trace.csv in one start

# shellcheck disable=SC2086
{
    succeeds "" "$lscm" fit data.nc --out straight $same
    stops INT 3 $same
    count=$((count + 1))
    if [ $got != 130 ] || ! grep -q "of start 1; continue with the same command and --resume" output; then
        bad "stopped in the first start (exit $got)"
    fi
    holds stopped checkpoint trace.csv
    refuses 1 "stopped: the fit did not finish; continue it with lscm fit --resume" "$lscm" evaluate stopped
    refuses 1 "--resume continues it" "$lscm" fit data.nc --out stopped $same
    cp stopped/checkpoint checkpoint

    # not with other data, another order, other settings, or after damage
    for change in "--seed 1" "--order given" "--order 0,1,2,3" "--steps $((long + 1))" "--noise unequal" \
        "--samples 24" "--rate 0.5" "--draws 64"; do
        refuses 2 "stopped/checkpoint was made from other data, with other settings or on another device" \
            "$lscm" fit data.nc --out stopped --resume $same $change
    done
    refuses 2 "other data" "$lscm" fit other.nc --out stopped --resume $same
    head -c 1000 checkpoint >stopped/checkpoint
    refuses 1 "stopped/checkpoint is damaged" "$lscm" fit data.nc --out stopped --resume $same
    { head -c 5000 checkpoint; printf 'damage'; tail -c +5007 checkpoint; } >stopped/checkpoint
    refuses 1 "stopped/checkpoint is damaged" "$lscm" fit data.nc --out stopped --resume $same
    echo "something else, not a checkpoint of a fit" >stopped/checkpoint
    refuses 1 "stopped/checkpoint is not a checkpoint" "$lscm" fit data.nc --out stopped --resume $same
    : >stopped/checkpoint
    refuses 1 "stopped/checkpoint is not a checkpoint" "$lscm" fit data.nc --out stopped --resume $same
    cp checkpoint stopped/checkpoint
    mv stopped/trace.csv trace.csv
    refuses 1 "stopped/trace.csv does not go with the checkpoint" "$lscm" fit data.nc --out stopped --resume $same
    mv trace.csv stopped/trace.csv

    # resumed and stopped once more in the next start, and again when the best start goes on
    stops TERM $((last + 2)) --resume $same
    stops INT $((3 * last + 5)) --resume $same
    if [ $got = 130 ]; then # or it was too quick
        succeeds "" "$lscm" fit data.nc --out stopped --resume $same
    fi
    holds stopped $whole
    for file in posterior.nc config.json trace.csv; do
        succeeds "" cmp straight/$file stopped/$file
    done

    # killed: the last checkpoint that was written is whole
    rm -r stopped
    stops KILL $((2 * last)) --checkpoint 0.05 $same
    if [ $got -gt 128 ] && [ -e stopped/checkpoint ]; then
        succeeds "" "$lscm" fit data.nc --out stopped --resume $same
        succeeds "" cmp straight/posterior.nc stopped/posterior.nc
    fi

    # settings that read the same when written one behind the other are not the same settings
    rm -r stopped
    stops INT 0 --restarts 1 $small --draws 16 --steps 19000 --full-run
    [ $got = 0 ] || refuses 2 "other settings" "$lscm" fit data.nc --out stopped --resume --restarts 1 $small \
        --draws 161 --steps 9000 --full-run
}

finish
