"""bench/peers.py PEERS LSCM [CASE...]: steps per second of `lscm fit --method biols` against the paper's algorithm in
JAX (PEERS/biols_jax.py), same machine, same threads, 64 draws a step, order learned. PEERS is a folder outside this
repository; Python needs jax and scipy. Cases: d5 d20 (closed form and sampled z), rows (closed form against N), threads."""
import contextlib
import io
import json
import re
import subprocess
import sys
import tempfile

peers, lscm = sys.argv[1], sys.argv[2]
cases = sys.argv[3:] or ["d5", "d20", "rows", "threads"]
scratch = tempfile.mkdtemp(prefix="lscm-peers.")


def jax_ms(nodes, sets, per_set, steps):
    sys.path.insert(0, peers)
    import biols_jax

    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        biols_jax.run(nodes, 1, 500, sets, per_set, steps, True)
    return float(re.search(r"([\d.]+) ms/step", out.getvalue()).group(1))


def ours_ms(nodes, steps, *options, sets=None, per_set=None, threads=None):
    data = f"{scratch}/d{nodes}.nc"
    simulate = [lscm, "simulate", "--preset", "paper-linear", "--nodes", str(nodes), "--force", "--quiet", "--out", data]
    if sets is not None:
        simulate += ["--sets", str(sets), "--per-set", str(per_set)]
    subprocess.run(simulate, check=True)
    fit = [lscm, "fit", data, "--restarts", "1", "--samples", "64", "--steps", str(steps), "--full-run", "--trace",
           "1000000", "--checkpoint", "0", "--force", "--quiet", "--out", f"{scratch}/run", *options]
    if threads is not None:
        fit += ["--threads", str(threads)]
    subprocess.run(fit, check=True)
    summary = json.load(open(f"{scratch}/run/summary.json"))
    return 1e3 * summary["seconds"]["train"] / steps


for case in cases:
    if case in ("d5", "d20"):
        nodes = int(case[1:])
        sets, per_set = (20, 100) if nodes == 5 else (100, 200)
        peer = jax_ms(nodes, sets, per_set, 20 if nodes == 5 else 2)
        closed = ours_ms(nodes, 2000 if nodes == 5 else 100)
        sampled = ours_ms(nodes, 100 if nodes == 5 else 5, "--expectation", "sampled")
        print(f"{case}: JAX {peer:.1f} ms/step; closed form {closed:.3f} ms: {peer / closed:.0f}x (bar 30x); sampled "
              f"{sampled:.2f} ms: {peer / sampled:.1f}x (bar 3x)", flush=True)
    elif case == "rows":
        for per_set in (100, 1225, 12475):
            ms = ours_ms(5, 2000, sets=20, per_set=per_set)
            print(f"rows: N = {500 + 20 * per_set}: {ms:.3f} ms/step", flush=True)
    elif case == "threads":
        one, two = ours_ms(20, 100, threads=1), ours_ms(20, 100, threads=2)
        print(f"threads: d = 20: {one:.1f} ms on one, {two:.1f} ms on two: {one / two:.2f}x (bar 1.7x)", flush=True)
subprocess.run(["rm", "-rf", scratch], check=True)
