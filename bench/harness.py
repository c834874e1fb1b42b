"""What the benchmarks share: running the program, its results as Python objects, jobs, medians."""
import concurrent.futures
import json
import math
import os
import subprocess
import sys
import tempfile


SMOKE = "the smallest size: whether it works at all; its figures say nothing"


class Failed(SystemExit):
    """The program failed; ends the benchmark where it is not caught."""


def run(lscm, *words):
    """The program with these words; what it printed."""
    done = subprocess.run([lscm, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise Failed(f"{lscm} {' '.join(map(str, words))}: {done.stderr.strip() or done.returncode}")
    return done.stdout


def cpu_seconds(lscm, *words):
    """CPU seconds of the program, in user mode: others on the machine do not count."""
    process = subprocess.Popen([lscm, *map(str, words)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = process.stderr.read()
    _, state, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(state)
    if process.returncode != 0:
        raise Failed(f"{lscm} {' '.join(map(str, words))}: {said.decode().strip()}")
    return used.ru_utime


def scratch(name):
    """A folder under $TMPDIR that goes away with its `with` block."""
    return tempfile.TemporaryDirectory(prefix=f"lscm-{name}.")


def summary(folder):
    with open(os.path.join(folder, "summary.json"), encoding="utf-8") as file:
        return json.load(file)


def evaluate(lscm, folder, truth):
    """Scores by name; what is not defined is NaN."""
    scores = json.loads(run(lscm, "evaluate", folder, "--truth", truth, "--json"))
    return {name: math.nan if value is None else value for name, value in scores.items()}


def each(jobs, work, items):
    """work(item) of all items in their order, `jobs` at a time; a failed one is told and left out."""

    def attempt(item):
        try:
            return work(item)
        except Failed as why:
            print(f"FAILED: {why}", file=sys.stderr, flush=True)
            return None

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        yield from (result for result in pool.map(attempt, items) if result is not None)


def remove(*paths):
    subprocess.run(["rm", "-rf", *paths], check=True)


def median(values):
    values = sorted(v for v in values if not math.isnan(v))
    if not values:
        return math.nan
    half = len(values) // 2
    return values[half] if len(values) % 2 else (values[half - 1] + values[half]) / 2


def mean(values):
    return sum(values) / len(values) if values else math.nan


def verdict(met):
    return "met" if met else "MISSED"


def say(text):
    print(text, flush=True)


def options(parser):
    """What every benchmark of fits takes."""
    parser.add_argument("--lscm", default="build/lscm", help="the program (build/lscm)")
    parser.add_argument("--method", default="anchored", help="of `lscm fit` (anchored)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="fits at a time, one thread each")
    parser.add_argument("--first", type=int, default=1, help="first seed: another one gives unseen data")
    parser.add_argument("--fit", default="", help="more options of `lscm fit`, in one word")
    parser.add_argument("--simulate", default="", help="more options of `lscm simulate`, in one word")
    arguments = parser.parse_args()
    if not os.access(arguments.lscm, os.X_OK):
        sys.exit(f"{arguments.lscm}: no such program; ./dev build makes it, or name it with --lscm")
    return arguments
