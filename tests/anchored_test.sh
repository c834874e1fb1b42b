#!/bin/sh
# lscm fit by the anchored method on the command line: what it says, what it refuses, and that data
# which are bad in every way we could think of end in a sentence or in a run without NaN.
# shellcheck source=tests/testing.sh
. "$(dirname "$0")/testing.sh"

small="--draws 32 --threads 1"

# sound RUN: exactly the files of a run, and no NaN or infinity in any of them or in what is exported
sound() {
    count=$((count + 1))
    (cd "$1" && find . ! -name . -prune | sed 's|^\./||' | sort | tr '\n' ' ') >output
    [ "$(cat output)" = "config.json posterior.nc report.html summary.json " ] || bad "$1 is not a run"
    "$lscm" export "$1" sound.csv --force --quiet >output 2>&1 || bad "export $1 to CSV"
    cat "$1/summary.json" sound.csv >output
    ! grep -qiE '(^|[^a-z])(nan|inf|infinity)([^a-z]|$)' output || bad "$1: not finite"
    if command -v ncdump >/dev/null 2>&1; then
        # but for Student's degrees of freedom, which are infinite where noise is normal
        ncdump "$1/posterior.nc" | awk '/^ *noise_dof =/ { dof = 1 } !dof; /;/ { dof = 0 }' >output
        ! grep -qE 'NaN|Infinity' output || { grep -E 'NaN|Infinity' output >after; mv after output; bad "$1: not finite"; }
    fi
}

# fits PART DATA OPTIONS...: succeeds, says PART, and leaves a sound run
fits() {
    part=$1
    shift
    # shellcheck disable=SC2086
    succeeds "$part" "$lscm" fit "$@" --out fitted --force $small
    sound fitted
    rm -rf fitted
}

# ---- what is said
"$lscm" simulate --preset revised-linear --nodes 4 --degree 1 --observational 200 --sets 8 --per-set 50 \
    --features 8 --seed 1 --out data.nc --quiet
# shellcheck disable=SC2086
succeeds "data.run: method anchored, decoder linear;" "$lscm" fit data.nc $small
sound data.run
# shellcheck disable=SC2086
"$lscm" fit data.nc --force $small >said 2>&1
for part in "why: values set by do() label the causal variables" "32 draws: " "likely edges: " "judged on " \
    "without edges" "node causes R2 under do in 90% interval R2 of anchor"; do
    succeeds "$part" cat said
done
succeeds '"held_out"' cat data.run/summary.json
succeeds '"reason": "values set' cat data.run/summary.json
succeeds '"e_shd"' "$lscm" evaluate data.run --json
succeeds "100 rows of x and z" "$lscm" sample data.run --do 1=2
count=$((count + 1))
# shellcheck disable=SC2086
"$lscm" fit data.nc --out quiet --quiet $small >output 2>&1 || bad "fit --quiet (exit $?)"
[ ! -s output ] || bad "fit --quiet printed something"
count=$((count + 1))
# shellcheck disable=SC2086
"$lscm" fit data.nc --out json --json --threads 2 --draws 32 >output 2>errors || bad "fit --json"
[ "$(wc -l <output)" -eq 1 ] || bad "fit --json: not one line"
cp output line.json
succeeds '"run":"json"' cat line.json
succeeds "" "$lscm" export json json_edges.csv # the same edges, the likeliest first
first=$(sed -n '2s/^\([^,]*\),\([^,]*\),.*/"edges":[{"parent":"\1","child":"\2","probability":/p' json_edges.csv)
succeeds "$first" cat line.json
succeeds '"q05":' cat line.json
succeeds "" cmp quiet/posterior.nc json/posterior.nc # 1 and 2 threads
# shellcheck disable=SC2086
succeeds "" "$lscm" fit data.nc --out again --quiet $small
succeeds "" cmp quiet/posterior.nc again/posterior.nc
# shellcheck disable=SC2086
succeeds "" sh -c '"$0" fit data.nc --out other --quiet --seed 1 --draws 32 && ! cmp -s quiet/posterior.nc other/posterior.nc' "$lscm"
# shellcheck disable=SC2086 # encoder and graph are drawn by chains here: --steps is how far they go
succeeds "" sh -c '"$0" fit data.nc --out longer --quiet --steps 900 --draws 32 && ! cmp -s quiet/posterior.nc longer/posterior.nc' "$lscm"
fits "why: as asked" data.nc --decoder linear --method anchored
fits "32 draws" data.nc --order given
fits "32 draws" data.nc --noise equal --graph-prior uniform
# shellcheck disable=SC2086
"$lscm" fit data.nc --holdout 0 --force $small >said 2>&1
succeeds "" sh -c '! grep -q "^judged" said'

# ---- chains that got stuck: R-hat is theirs, not that of the copies that took their place
"$lscm" simulate --preset paper-linear --nodes 4 --degree 1 --observational 60 --sets 10 --per-set 20 --features 12 \
    --clip 6 --seed 11 --out stuck.nc --quiet
succeeds "went on from its place (R-hat" "$lscm" fit stuck.nc --draws 200 --clip 6 --seed 1 --threads 1
r_hat=$(sed -n 's/^ *"r_hat": \([^,]*\),*$/\1/p' stuck.run/summary.json)
kept=$(sed -n 's/^ *"r_hat_kept": \([^,]*\),*$/\1/p' stuck.run/summary.json)
count=$((count + 1))
awk "BEGIN { exit !($r_hat > 2 && $kept >= 1 && $kept < $r_hat) }" || bad "R-hat $r_hat before, $kept after"

# ---- observed variables: chain a -> b -> c, do() in turn
awk 'BEGIN { srand(1); print "a,b,c,target"
    for (i = 0; i < 120; i++) { k = i % 4
        a = rand() + rand() + rand() - 1.5; e = rand() + rand() + rand() - 1.5; f = rand() + rand() + rand() - 1.5
        if (k == 1) { a *= 4 }
        b = k == 2 ? 4 * e : 2 * a + e; c = k == 3 ? 4 * f : f - 2 * b
        print a "," b "," c "," (k == 0 ? "" : substr("abc", k, 1)) } }' >chain.csv
fits "method anchored, decoder identity" chain.csv
fits "why: the variables themselves are observed" chain.csv
fits "a->b 1.00, b->c 1.00" chain.csv
fits "32 draws: exact, independent" chain.csv
fits "warning: --steps 700 was not used: draws are exact here" chain.csv --steps 700
fits "warning: --width 64 was not used: x is taken as linear in z" data.nc --width 64
fits "" chain.csv --forbid 'a->b' --tiers 'a;b,c'
awk -F, 'BEGIN { OFS = "," } NR > 1 { $4 = "" } 1' chain.csv >observational.csv
fits "decoder identity" observational.csv
awk -F, 'BEGIN { OFS = "," } NR > 1 { $4 = $4 == "" || $4 == "a" ? "a" : "a;" $4 } 1' chain.csv >always.csv
fits "intervened on in every row: a" always.csv
awk -F, 'BEGIN { OFS = "," } NR > 1 { $4 = "a;b;c" } 1' chain.csv >everything.csv
fits "intervened on in every row: a, b, c" everything.csv
awk -F, 'BEGIN { OFS = "," } NR > 1 { $3 = $2 } 1' chain.csv >duplicate.csv
fits "decoder identity" duplicate.csv
fits "decoder identity" duplicate.csv --noise equal
awk -F, 'BEGIN { OFS = "," } NR > 1 { $2 = 5 } 1' chain.csv >constant.csv
fits "decoder identity" constant.csv
awk -F, 'BEGIN { OFS = "," } NR > 1 { $1 = $2 = $3 = 7 } 1' chain.csv >flat.csv
fits "decoder identity" flat.csv
head -n 3 chain.csv >two.csv
fits "decoder identity" two.csv
head -n 2 chain.csv >one.csv
refuses 1 "there is one sample only" "$lscm" fit one.csv
awk 'BEGIN { srand(2); for (j = 0; j < 25; j++) { printf "v%d,", j } print "target"
    for (i = 0; i < 6; i++) { for (j = 0; j < 25; j++) { printf "%g,", rand() } print "v" i } }' >wide.csv
fits "graphs sampled by MCMC, R-hat" wide.csv
awk -F, 'BEGIN { OFS = "," } NR > 1 { $1 = $1 * 1e200 } 1' chain.csv >huge.csv
refuses 1 "too large to square; rescale" "$lscm" fit huge.csv
awk -F, 'BEGIN { OFS = "," } NR == 9 { $2 = "nan" } 1' chain.csv >nan.csv
fits "likely edges" nan.csv
awk -F, 'BEGIN { OFS = "," } NR == 9 { $4 = "zz" } 1' chain.csv >unknown.csv
refuses 1 "line 9: target 'zz'" "$lscm" fit unknown.csv

# ---- truth that contradicts the data or itself
printf 'a,b,c\n0,1,0\n0,0,1\n1,0,0\n' >cycle.csv
printf 'a,b\n0,1\n0,0\n' >short.csv
printf 'b,a,x\n0,1,0\n0,0,1\n0,0,0\n' >renamed.csv
refuses 1 "cycle" "$lscm" fit chain.csv --truth cycle.csv
refuses 1 "" "$lscm" fit chain.csv --truth short.csv
# shellcheck disable=SC2086
succeeds "" "$lscm" fit chain.csv --out chain --quiet $small
refuses 1 "cycle" "$lscm" evaluate chain --truth cycle.csv
refuses 1 "" "$lscm" evaluate chain --truth short.csv
refuses 1 "" "$lscm" evaluate chain --truth renamed.csv
refuses 1 "" "$lscm" evaluate data.run --truth short.csv

# ---- usage
refuses 2 "there is nothing to resume" "$lscm" fit data.nc --resume
refuses 1 "data.run holds a run already; --force replaces it" "$lscm" fit data.nc
refuses 1 "nowhere/run: " "$lscm" fit data.nc --out nowhere/run
refuses 1 "data.nc is a file" "$lscm" fit data.nc --out data.nc --force
refuses 2 "no node '4'" "$lscm" fit data.nc --forbid '0->4' --out no
refuses 2 "did you mean 'mek'" "$lscm" fit data.nc --names raf,mek,erk,akt --forbid 'raf->mekk' --out no
refuses 2 "--require takes edges" "$lscm" fit data.nc --require 01 --out no
refuses 2 "tier 1 is empty" "$lscm" fit data.nc --tiers ';;' --out no
refuses 2 "no node 'x'" "$lscm" fit data.nc --tiers '0;x' --out no
refuses 2 "twice" "$lscm" fit data.nc --tiers '0,1;1' --out no
refuses 2 "give all tiers at once" "$lscm" fit data.nc --tiers 0 --tiers '1;2' --out no
refuses 2 "make a cycle" "$lscm" fit data.nc --require '0->1,1->0' --out no
refuses 2 "also forbidden" "$lscm" fit data.nc --require '0->1' --forbid '0->1' --out no
refuses 2 "'holdout' is 1" "$lscm" fit data.nc --holdout 1 --out no
refuses 2 "--temperature 0.5 belongs to the method biols, and this fit is by anchored" \
    "$lscm" fit data.nc --temperature 0.5 --out no
refuses 2 "--full-run true belongs to the method biols" "$lscm" fit data.nc --full-run --out no
refuses 2 "--holdout 0.5 belongs to the method anchored, and this fit is by biols" \
    "$lscm" fit data.nc --method biols --holdout 0.5 --out no
refuses 2 "--degree 2 belongs to the method anchored and biols, and this fit is by vae" \
    "$lscm" fit data.nc --method vae --degree 2 --out no
refuses 2 "'ridge' is -1" "$lscm" fit data.nc --ridge=-1 --out no
refuses 1 "have one column each, anything else needs 'values'" "$lscm" fit data.nc --decoder identity --out no
refuses 1 "there are no 'values'" "$lscm" fit chain.csv --decoder linear --out no
if [ "$(id -u)" != 0 ]; then
    mkdir locked && chmod 555 locked
    refuses 1 "locked" "$lscm" fit data.nc --out locked
    refuses 1 "locked/run" "$lscm" fit data.nc --out locked/run
fi

# ---- stopped: nothing is left
if [ "${LSCM_SANITIZED:-0}" = 0 ]; then
    nodes=18
    rows=100
else
    nodes=14
    rows=50
fi
"$lscm" simulate --preset revised-linear --nodes $nodes --observational $rows --sets 40 --per-set $rows --out long.nc --quiet
ls -A >before
"$lscm" fit long.nc --threads 1 >output 2>&1 &
running=$!
while [ ! -d long.run ] && kill -0 $running 2>/dev/null; do
    sleep 0.01
done
kill -INT $running 2>/dev/null
wait $running
got=$?
running=
count=$((count + 1))
if [ $got = 0 ]; then # it was too quick
    sound long.run
elif [ $got != 130 ] || ! grep -q "stopped on request; nothing was written" output; then
    bad "stopped: exit $got"
else
    ls -A >after
    cmp -s before after || { diff before after >output; bad "stopped: left something behind"; }
fi

# ---- vectors with values (by Python, where there is NumPy)
python=
for candidate in python3 /usr/bin/python3; do
    [ -n "$python" ] || ! "$candidate" -c 'import numpy' 2>/dev/null || python=$candidate
done
[ -n "$python" ] || finish
"$python" - <<'END'
import numpy as np

random = np.random.default_rng(1)
d, D, n = 3, 6, 300
W = np.array([[0, 1.5, 0], [0, 0, -1], [0, 0, 0]])
A = random.uniform(-5, 5, (d, D))

def make(rows=n, targets=lambda i: [i % (d + 1)], values=lambda t: random.normal(0, 2, t.shape)):
    t = np.zeros((rows, d + 1), int)
    for i in range(rows):
        t[i, targets(i)] = 1
    t = t[:, :d]
    v = np.where(t, values(t), 0.0)
    z = np.zeros((rows, d))
    for j in range(d):
        z[:, j] = np.where(t[:, j] == 1, v[:, j], z @ W[:, j] + random.normal(0, 1, rows))
    return dict(x=z @ A + 0.1 * random.normal(0, 1, (rows, D)), targets=t, values=v, z=z, w=W)

good = make()

def save(name, base=good, **change):
    np.savez(name + ".npz", **{k: v for k, v in {**base, **change}.items() if v is not None})

def spoilt(field, row, column, value):
    array = good[field].astype(float)
    array[row, column] = value
    return {field: array}

save("good")
target = np.nonzero(good["targets"][:, 1])[0][3]
save("nan_x", **spoilt("x", 7, 2, np.nan))
save("inf_x", **spoilt("x", 200, 5, np.inf))
save("nan_values", **spoilt("values", target, 1, np.nan))
save("inf_values", **spoilt("values", target, 1, -np.inf))
save("half", **spoilt("targets", 5, 0, 0.5))
save("nan_targets", **spoilt("targets", 5, 0, np.nan))
save("twos", targets=2 * good["targets"])
save("nan_off", values=np.where(good["targets"] == 1, good["values"], np.nan))
save("no_values", values=None)
save("pictures", values=None, x=good["x"].reshape(n, 2, 3))
save("observed", values=None, x=good["z"])
x = good["x"].copy()
x[:, 3] = x[:, 4] = x[:, 1]
save("duplicate", x=x)
save("singular", x=good["z"] @ np.outer([1, 2, 3.0], np.ones(D)))
save("flat", x=np.full((n, D), 3.0))
save("huge", x=1e200 * good["x"])
save("noise", x=random.normal(0, 1, (n, D)))
save("narrow", x=good["x"][:, :2])
for name, rows in (("one", 1), ("two", 2), ("three", 3)):
    save(name, **{k: v[:rows] for k, v in good.items() if k != "w"})
save("always", make(targets=lambda i: [0] + [1 + i % 3]))
save("everything", make(targets=lambda i: [0, 1, 2]))
save("observational", make(targets=lambda i: []))
save("zero", make(values=lambda t: np.zeros(t.shape)))
save("same", make(targets=lambda i: [0, 1] if i % 2 else [],
                  values=lambda t: np.repeat(random.normal(0, 2, (len(t), 1)), d, 1)))
save("untouched", make(targets=lambda i: [i % 2]))
save("rare", make(targets=lambda i: [2] if i < 3 else [i % 2]))
save("cycle", w=W + W.T)
save("bytes", x=np.clip(3 * good["x"] + 128, 0, 255).astype(np.uint8))
END

fits "0->1 0.98, 1->2 0.98" good.npz
fits "0->1 0.98, 1->2 0.98" nan_off.npz
fits "0->1 0.98, 1->2 0.98" duplicate.npz
fits "0->1 0.98, 1->2 0.98" bytes.npz
fits "decoder identity" observed.npz
fits "x varies in only 1 direction, fewer than the 3 causal variables" singular.npz
fits "intervened on in every row: 0" always.npz
fits "intervened on in every row: 0, 1, 2" everything.npz
fits "do() always set the same value: 0, 1, 2" zero.npz
fits "never intervened on: 2" untouched.npz
fits "too few to anchor: 2" rare.npz
fits "decoder linear" nan_x.npz
refuses 1 "nan_x.npz: 'x' is NaN at row 7, column 2" "$lscm" fit nan_x.npz --method vae
refuses 1 "inf_x.npz: 'x' is infinite at row 200, column 5" "$lscm" fit inf_x.npz
refuses 1 "nan_values.npz: 'values' is NaN at row 13, column 1" "$lscm" fit nan_values.npz
refuses 1 "inf_values.npz: 'values' is infinite at row 13, column 1" "$lscm" fit inf_values.npz
refuses 1 "half.npz: 'targets' is 0.5 at row 5, column 0" "$lscm" fit half.npz
refuses 1 "nan_targets.npz: 'targets' is nan at row 5, column 0" "$lscm" fit nan_targets.npz
refuses 1 "twos.npz: 'targets' is 2 at row 0, column 0" "$lscm" fit twos.npz
for options in "" "--decoder linear" "--decoder mlp" "--method biols" "--method biols --decoder mlp"; do
    # shellcheck disable=SC2086
    refuses 1 "no_values.npz: there are no 'values'" "$lscm" fit no_values.npz $options
done
for options in "" "--decoder image" "--method biols"; do
    # shellcheck disable=SC2086
    refuses 1 "pictures.npz: there are no 'values'" "$lscm" fit pictures.npz $options
done
refuses 1 "needs what do() set, an array shaped as 'targets'" "$lscm" fit no_values.npz --decoder mlp
refuses 1 "x is constant" "$lscm" fit flat.npz
refuses 1 "huge.npz: the covariance of 'x' cannot be computed" "$lscm" fit huge.npz
refuses 1 "no node can be anchored" "$lscm" fit noise.npz
refuses 1 "no node can be anchored" "$lscm" fit same.npz
refuses 1 "no node can be anchored" "$lscm" fit observational.npz
refuses 1 "narrow.npz: 'x' has 2 features but there are 3 nodes" "$lscm" fit narrow.npz
refuses 1 "there is one sample only" "$lscm" fit one.npz
refuses 1 "the most that there are is 1" "$lscm" fit two.npz
refuses 1 "the most that there are is 1" "$lscm" fit three.npz
refuses 1 "has a cycle" "$lscm" fit cycle.npz

finish
