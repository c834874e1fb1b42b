#!/bin/sh
# Noise with heavy tails from a table to samples: found, said, stored, drawn; normal noise is left alone.
# shellcheck source=tests/testing.sh
. "$(dirname "$0")/testing.sh"

# table RATIO: a -> b -> c, one row in ten with noise so many times as wide
table() {
    echo "a,b,c,target"
    awk -v ratio="$1" 'function n(  s, i) { s = 0; for (i = 0; i < 12; i++) s += rand(); return s - 6 }
        function e() { return n() * (rand() < .1 ? ratio : 1) }
        BEGIN { srand(3)
            for (i = 0; i < 400; i++) {
                t = i < 250 ? "" : i < 300 ? "a" : i < 350 ? "b" : "c"
                a = t == "a" ? 2 * n() : e(); b = t == "b" ? 2 * n() : a + e(); c = t == "c" ? 2 * n() : b + e()
                print a "," b "," c "," t } }'
}
table 1 >normal.csv
table 8 >heavy.csv

refuses 2 "student" "$lscm" fit heavy.csv --noise-law cauchy
succeeds "not normal at a (" "$lscm" fit heavy.csv --out heavy --draws 64 --holdout 0
succeeds '"noise_evidence"' cat heavy/summary.json
succeeds "" "$lscm" sample heavy --draws 2000 --out heavy-samples.csv --quiet
# a, which has no causes, is about 0: a share of values beyond 3 sd that normal ones do not have
succeeds "heavy" awk -F, 'NR == 1 { for (k = 1; k <= NF; k++) if ($k == "a") at = k; next }
    { x[NR] = $at; s += $at * $at } END { sd = sqrt(s / (NR - 1)); for (k in x) n += (x[k] > 3 * sd || x[k] < -3 * sd)
    print (n / (NR - 1) > .008 ? "heavy" : "normal: " n) }' heavy-samples.csv

"$lscm" fit heavy.csv --out gaussian --draws 64 --holdout 0 --noise-law gaussian >output 2>&1
succeeds "none" sh -c "grep -c noise_laws gaussian/summary.json | sed 's/^0$/none/'"
succeeds "" "$lscm" fit normal.csv --out auto --draws 64 --holdout 0
succeeds "" "$lscm" fit normal.csv --out asked --draws 64 --holdout 0 --noise-law gaussian
succeeds "" cmp auto/posterior.nc asked/posterior.nc

sed 's/^[^,]*,/,/;4q' heavy.csv | tail -n 3 >gaps && cat heavy.csv gaps >gaps.csv
succeeds "noise-law student was not used" "$lscm" fit gaps.csv --out gaps.run --draws 64 --holdout 0 --noise-law student

# ---- a law that is none
command -v ncdump >/dev/null 2>&1 && command -v ncgen >/dev/null 2>&1 || finish
succeeds "noise_dof" ncdump -h heavy/posterior.nc
ncdump heavy/posterior.nc | sed '/^ *noise_dof =/{n;s/[^,]*,/1,/;}' >odd.cdl
cp -r heavy odd
ncgen -4 -o odd/posterior.nc odd.cdl
refuses 1 "'noise_dof' must be above 2" "$lscm" sample odd
finish
