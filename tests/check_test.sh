#!/bin/sh
# lscm check: data and runs that are well, and that are not; exit codes, JSON, the report.
# shellcheck source=tests/testing.sh
. "$(dirname "$0")/testing.sh"

succeeds "Examples:" "$lscm" check --help
succeeds ".SH OPTIONS" "$lscm" help --man check
refuses 2 "name the data or the run to check" "$lscm" check
refuses 2 "did you mean --json" "$lscm" check data.nc --jsno
refuses 1 "nowhere.nc" "$lscm" check nowhere.nc
echo "not a file of numbers" >broken.csv
refuses 1 "broken.csv" "$lscm" check broken.csv

# ---- a -> b, b never set; bent, as the fit has it unless it is told not to
awk 'BEGIN {
    srand(3); print "a,b,target" >"good.csv"; print "a,b,target" >"bent.csv"; print "a,b,target" >"seen.csv"
    for (r = 0; r < 300; r++) {
        e = 0; f = 0; for (k = 0; k < 12; k++) { e += rand() - .5; f += rand() - .5 }
        set = r % 2; if (set) e = 4 * rand() - 2
        printf "%.6f,%.6f,%s\n", e, e + f, set ? "a" : "-1" >"good.csv"
        printf "%.6f,%.6f,%s\n", e, e + e * e + f, set ? "a" : "-1" >"bent.csv"
        printf "%.6f,%.6f,-1\n", e, e + f >"seen.csv"
    }
}'
succeeds "no problems detected" "$lscm" check good.csv
succeeds "pairs of nodes are decided" "$lscm" check good.csv
succeeds '"verdict": "decided", "edge": "a -> b"' "$lscm" check good.csv --json
succeeds "no problems detected" "$lscm" check bent.csv
succeeds "sets with do() on a or on b, not on both" "$lscm" check seen.csv
succeeds '"undecidable": 1' "$lscm" check seen.csv --json

# ---- a run has its checks from the fit, and the warnings are theirs
succeeds "1 of 2 nodes bends: b" "$lscm" fit bent.csv --draws 100
succeeds "no problems detected" "$lscm" check bent.run
succeeds "not linear in their causes: b (by a: " "$lscm" fit bent.csv --draws 100 --mechanism linear --force
refuses 3 "not linear in their causes: b (by a: " "$lscm" check bent.run
refuses 3 '"check": "bent", "verdict": "found"' "$lscm" check bent.run --json
refuses 3 "" "$lscm" check bent.run --quiet
succeeds '"checks"' cat bent.run/summary.json
succeeds "What was checked" cat bent.run/report.html
succeeds "" "$lscm" fit good.csv --draws 100 --quiet
succeeds "no problems detected" "$lscm" check good.run

# ---- other methods have none
"$lscm" simulate --nodes 2 --features 4 --sets 6 --per-set 20 --observational 60 --out data.nc --quiet
succeeds "" "$lscm" fit data.nc --method biols --steps 20 --restarts 1 --samples 8 --draws 16 --out biols.run --quiet
succeeds "nothing was checked" "$lscm" check biols.run

finish
