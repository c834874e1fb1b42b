#!/bin/sh
# Runs side by side, runs looked at, graphs for other programs: lscm compare, info RUN, export to
# .graphml and .json.
# shellcheck source=tests/testing.sh
. "$(dirname "$0")/testing.sh"

succeeds "Examples:" "$lscm" compare --help
succeeds ".SH OPTIONS" "$lscm" help --man compare
refuses 2 "name two runs or more" "$lscm" compare
refuses 2 "name two runs or more" "$lscm" compare one.run
refuses 2 "--edges takes a whole number" "$lscm" compare a b --edges few
refuses 1 "no such run folder" "$lscm" compare nowhere.run elsewhere.run

"$lscm" simulate --preset revised-linear --nodes 3 --degree 1 --features 6 --sets 6 --per-set 20 \
    --observational 60 --seed 3 --out data.nc --quiet
"$lscm" simulate --nodes 2 --features 4 --sets 6 --per-set 20 --observational 60 --out other.nc --quiet
"$lscm" fit data.nc --names raf,mek,erk --draws 100 --seed 1 --out a.run --quiet || exit 1
"$lscm" fit data.nc --names raf,mek,erk --draws 80 --seed 2 --forbid 'raf->mek' --forbid 'mek->raf' \
    --forbid 'raf->erk' --forbid 'erk->raf' --forbid 'mek->erk' --forbid 'erk->mek' --out b.run --quiet || exit 1
"$lscm" fit data.nc --method biols --steps 20 --restarts 1 --samples 8 --draws 16 --out c.run --quiet || exit 1
"$lscm" fit other.nc --draws 50 --out other.run --quiet || exit 1

# ---- compare
succeeds "method                                anchored anchored" "$lscm" compare a.run b.run
succeeds "draws                                      100       80" "$lscm" compare a.run b.run
succeeds "edges over 1/2" "$lscm" compare a.run b.run
succeeds "held out: log likelihood a row" "$lscm" compare a.run b.run
succeeds "Probability of the edges on which they disagree most:" "$lscm" compare a.run b.run
succeeds "->" "$lscm" compare a.run b.run --edges 1
succeeds "a.run b.run" "$lscm" compare a.run b.run c.run
succeeds "b.run c.run" "$lscm" compare a.run b.run c.run
succeeds "e_shd_cpdag" "$lscm" compare a.run b.run --truth data.nc
succeeds "true weight" "$lscm" compare a.run b.run --truth data.nc
succeeds "No edge to show" "$lscm" compare a.run a.run
succeeds "1.000" "$lscm" compare a.run a.run
succeeds "" "$lscm" compare a.run b.run --quiet
succeeds '"weight_correlation": null' "$lscm" compare a.run b.run --json # b has no edges
succeeds '"held_out": null' "$lscm" compare a.run c.run --json
succeeds '"run": "b.run"' "$lscm" compare a.run b.run --json
refuses 1 "a.run and other.run: one run has 3 nodes and the other 2; compare runs of the same nodes" \
    "$lscm" compare a.run other.run
refuses 1 "other.run: the run has 2 nodes but data.nc has 3" "$lscm" compare a.run other.run --truth data.nc
cp -r a.run moved.run
sed 's/data\.nc/elsewhere.nc/' a.run/config.json >moved.run/config.json
succeeds "note: a.run was fitted to data.nc, moved.run to elsewhere.nc" "$lscm" compare a.run moved.run

# a run without edges: what is expected of the other is all that is between them
"$lscm" compare a.run b.run --truth data.nc --json >both.json
if command -v python3 >/dev/null 2>&1; then
    cat >check.py <<'END_OF_PYTHON'
import json
both = json.load(open("both.json"))
a, b = both["runs"]
(pair,) = both["pairs"]
assert b["edges"] == 0 and b["expected_edges"] == 0 and b["spread"]["e_shd"] == 0
assert abs(pair["e_shd_entries"] - a["expected_edges"]) < 1e-9
assert pair["largest_difference"] == max(e["probability"][0] for e in both["disagreements"])
differences = [abs(p - q) for p, q in (e["probability"] for e in both["disagreements"])]
assert differences == sorted(differences, reverse=True)
assert b["scores"]["tp"] == 0 and a["scores"]["e_shd"] < b["scores"]["e_shd"]
print("agreed")
END_OF_PYTHON
    succeeds "agreed" python3 check.py
fi

# ---- info of a run
succeeds "fitted to data.nc: 180 rows, 3 nodes; 100 draws, seed 1" "$lscm" info a.run
succeeds "method anchored, decoder linear" "$lscm" info a.run/
succeeds "files: posterior.nc" "$lscm" info a.run
succeeds 'names=raf,mek,erk' "$lscm" info b.run
succeeds 'forbid=["raf->mek",' "$lscm" info b.run
succeeds "steps=20" "$lscm" info c.run
succeeds "trace.csv" "$lscm" info c.run
succeeds '"format": "run", "rows": 180, "nodes": 3, "draws": 100' "$lscm" info a.run --json
succeeds '"names": ["raf", "mek", "erk"]' "$lscm" info a.run --json
succeeds "" "$lscm" info a.run --quiet
mkdir half.run
touch half.run/checkpoint
refuses 1 "the fit did not finish" "$lscm" info half.run

# ---- graphs for other programs
succeeds "graph of 3 nodes" "$lscm" export a.run run.graphml
succeeds "graph of 3 nodes" "$lscm" export data.nc truth.graphml --names raf,mek,erk
succeeds "graph of 3 nodes" "$lscm" export a.run run.json
succeeds "graph of 3 nodes" "$lscm" export data.nc truth.json --names raf,mek,erk
refuses 1 "--force" "$lscm" export a.run run.json
refuses 2 ".npz, .csv, .dot, .graphml, .json" "$lscm" export a.run run.gexf
refuses 2 "a graph goes to .dot, .graphml, .json" "$lscm" export data.nc truth.csv
"$lscm" convert data.nc plain.csv --quiet 2>/dev/null
refuses 1 "there is no true graph 'w'" "$lscm" export plain.csv plain.graphml
if command -v xmllint >/dev/null 2>&1; then
    succeeds "" xmllint --noout run.graphml truth.graphml
fi
if command -v python3 >/dev/null 2>&1; then
    cat >check.py <<'END_OF_PYTHON'
import json, xml.etree.ElementTree as tree
ns = "{http://graphml.graphdrawing.org/xmlns}"
for name in ("run", "truth"):
    graph = tree.parse(name + ".graphml").getroot().find(ns + "graph")
    data = lambda element: {d.get("key"): d.text for d in element.findall(ns + "data")}
    names = {n.get("id"): data(n)["name"] for n in graph.findall(ns + "node")}
    drawn = {(names[e.get("source")], names[e.get("target")]): data(e) for e in graph.findall(ns + "edge")}
    linked = json.load(open(name + ".json"))
    listed = {(e["source"], e["target"]): e for e in linked["edges"] if e["probability"] > 0.5}
    assert [n["id"] for n in linked["nodes"]] == ["raf", "mek", "erk"] == list(names.values())
    assert sorted(linked["graph"]["order"]) == ["erk", "mek", "raf"]
    assert drawn.keys() == listed.keys() and drawn
    for edge, e in listed.items():
        assert abs(float(drawn[edge]["mean"]) - e["mean"]) < 1e-9
        assert int(drawn[edge]["sign"]) == (1 if e["mean"] > 0 else -1)
        assert e["q05"] <= e["mean"] <= e["q95"] and e["sd"] >= 0
assert json.load(open("run.json"))["graph"]["config"]["seed"] == 1
print("agreed")
END_OF_PYTHON
    succeeds "agreed" python3 check.py
fi
finish
