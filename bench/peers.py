#!/usr/bin/env python3
"""bench/peers.py [CASE...]: steps per second of `lscm fit --method biols` against the paper's algorithm in JAX.

  d5, d20   64 draws a step, order learned: closed form (bar 30x) and sampled z (3x) against JAX on the same threads
  rows      closed form, d = 5, N = 2 500 to 250 000: a step costs the same
  threads   closed form, d = 20: two threads against one (1.7x)
The peer is measured when --peers names a folder, not part of this repository, with biols_jax.py (pip install jax
scipy); without it the cases d5 and d20 give our own times alone."""
import argparse
import contextlib
import io
import os
import re
import sys

import harness

CASES = ["d5", "d20", "rows", "threads"]


def jax_ms(peers, nodes, sets, per_set, steps):
    sys.path.insert(0, peers)
    import biols_jax

    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        biols_jax.run(nodes, 1, 500, sets, per_set, steps, True)
    return float(re.search(r"([\d.]+) ms/step", out.getvalue()).group(1))


class Bench:
    def __init__(self, arguments, folder):
        self.lscm, self.peers, self.smoke, self.folder = arguments.lscm, arguments.peers, arguments.smoke, folder
        self.less = ["--sets", 4, "--per-set", 10, "--observational", 20] if self.smoke else []

    def ms(self, nodes, steps, *options, simulate=()):
        """Milliseconds of a step."""
        data, run = f"{self.folder}/data.nc", f"{self.folder}/run"
        steps, draws = (2, 8) if self.smoke else (steps, 64)
        harness.run(self.lscm, "simulate", "--preset", "paper-linear", "--nodes", nodes, *self.less, *simulate, "--force",
                    "--quiet", "--out", data)
        harness.run(self.lscm, "fit", data, "--method", "biols", "--restarts", 1, "--samples", draws, "--draws", draws,
                    "--steps", steps, "--full-run", "--trace", 1000000, "--checkpoint", 0, *options, "--force", "--quiet",
                    "--out", run)
        return 1e3 * harness.summary(run)["seconds"]["train"] / steps


def against_jax(bench, nodes):
    small = nodes == 5
    closed = bench.ms(nodes, 2000 if small else 100)
    sampled = bench.ms(nodes, 100 if small else 5, "--expectation", "sampled")
    if bench.peers is None:
        harness.say(f"d{nodes}: JAX left out (--peers FOLDER); closed form {closed:.3f} ms/step; sampled {sampled:.2f} ms")
        return
    sets, per_set, steps = (20, 100, 20) if small else (100, 200, 2)
    peer = jax_ms(bench.peers, nodes, sets, per_set, steps)
    harness.say(f"d{nodes}: JAX {peer:.1f} ms/step; closed form {closed:.3f} ms: {peer / closed:.0f}x (bar 30x); sampled "
                f"{sampled:.2f} ms: {peer / sampled:.1f}x (bar 3x)")


def rows(bench):
    for per_set in (100, 1225) if bench.smoke else (100, 1225, 12475):
        ms = bench.ms(5, 2000, simulate=["--sets", 20, "--per-set", per_set])
        harness.say(f"rows: N = {500 + 20 * per_set}: {ms:.3f} ms/step")


def threads(bench):
    one, two = bench.ms(20, 100, "--threads", 1), bench.ms(20, 100, "--threads", 2)
    harness.say(f"threads: d = 20: {one:.1f} ms on one, {two:.1f} ms on two: {one / two:.2f}x (bar 1.7x)")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case", nargs="*", choices=[[], *CASES], metavar="CASE", help=f"of {' '.join(CASES)} (all)")
    parser.add_argument("--peers", help="folder with biols_jax.py")
    parser.add_argument("--lscm", default="build/lscm", help="the program (build/lscm)")
    parser.add_argument("--smoke", action="store_true", help=harness.SMOKE)
    arguments = parser.parse_args()
    if arguments.peers is not None and not os.path.isfile(os.path.join(arguments.peers, "biols_jax.py")):
        parser.error(f"there is no biols_jax.py in {arguments.peers}")
    with harness.scratch("peers") as folder:
        bench = Bench(arguments, folder)
        for case in arguments.case or CASES:
            if case in ("rows", "threads"):
                {"rows": rows, "threads": threads}[case](bench)
            else:
                against_jax(bench, int(case[1:]))


main()
