"""A graph by a published method, for bench/mechanisms: causal-learn, gCastle (pip install causal-learn gcastle torch).

Arguments: an NPZ with x (N, d), the method, seconds of one core that it may take. Columns are standardised; what takes
a kernel matrix gets 200 rows (CAM-UV 500), drawn at random. Prints one line of JSON: graph (d, d) of probabilities, row
= parent, an edge without a direction 1/2 each way; seconds of one core in user mode, without imports. Exit status 3:
what it needs is not installed; SIGXCPU: it was over its time."""
import contextlib
import importlib
import json
import os
import random
import resource
import sys

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy  # noqa: E402

def few(x, rows=200):
    return x[numpy.sort(numpy.random.default_rng(1).permutation(len(x))[:rows])]


def directed(graph):
    """Of causal-learn's marks: [i, j] = -1 and [j, i] = 1 is i -> j; whatever else is an edge has no direction."""
    marks = numpy.asarray(graph)
    arrow = (marks == -1) & (marks.T == 1)
    other = (marks != 0) & (marks.T != 0) & ~arrow & ~arrow.T
    return arrow + 0.5 * other


def ges(x, score):
    from causallearn.search.ScoreBased.GES import ges as search
    return directed(search(x, score)["G"].graph)


def grasp(x, score):
    from causallearn.search.PermutationBased.GRaSP import grasp as search
    return directed(search(x, score, verbose=False).graph)


def boss(x):
    from causallearn.search.PermutationBased.BOSS import boss as search
    return directed(search(x, verbose=False).graph)


def pc(x, test):
    from causallearn.search.ConstraintBased.PC import pc as search
    return directed(search(x, 0.05, test, show_progress=False).G.graph)


def lingam(x):
    from causallearn.search.FCMBased.lingam import DirectLiNGAM
    model = DirectLiNGAM()
    model.fit(x)
    return numpy.abs(model.adjacency_matrix_.T) > 0.05


def camuv(x):
    from causallearn.search.FCMBased.lingam import CAMUV
    parents, _ = CAMUV.execute(x, 0.01, 3)
    graph = numpy.zeros((x.shape[1], x.shape[1]))
    for child, found in enumerate(parents):
        graph[list(found), child] = 1
    return graph


def castle(x, name, **settings):
    import torch
    torch.set_num_threads(1)
    torch.manual_seed(1)
    from castle import algorithms
    model = getattr(algorithms, name)(**settings)
    model.learn(x)
    return numpy.asarray(model.causal_matrix)


SEARCH = "causallearn.search."
METHODS = {  # what is imported before the clock starts, and what is timed
    "GES, BIC": (SEARCH + "ScoreBased.GES", lambda x: ges(x, "local_score_BIC")),
    "GES, generalised score": (SEARCH + "ScoreBased.GES", lambda x: ges(few(x), "local_score_marginal_general")),
    "GRaSP, BIC": (SEARCH + "PermutationBased.GRaSP", lambda x: grasp(x, "local_score_BIC_from_cov")),
    "GRaSP, generalised score": (SEARCH + "PermutationBased.GRaSP",
                                 lambda x: grasp(few(x), "local_score_marginal_general")),
    "BOSS, BIC": (SEARCH + "PermutationBased.BOSS", boss),
    "PC, Fisher z": (SEARCH + "ConstraintBased.PC", lambda x: pc(x, "fisherz")),
    "PC, kernel test": (SEARCH + "ConstraintBased.PC", lambda x: pc(few(x), "kci")),
    "DirectLiNGAM": (SEARCH + "FCMBased.lingam", lingam),
    "CAM-UV": (SEARCH + "FCMBased.lingam.CAMUV", lambda x: camuv(few(x, 500))),
    "GraN-DAG": ("castle.algorithms", lambda x: castle(x, "GraNDAG", input_dim=x.shape[1])),
    "NOTEARS-MLP": ("castle.algorithms", lambda x: castle(x, "NotearsNonlinear")),
}


def main():
    random.seed(1)
    numpy.random.seed(1)
    x = numpy.load(sys.argv[1])["x"]
    x = (x - x.mean(0)) / x.std(0)
    package, method = METHODS[sys.argv[2]]
    try:
        with contextlib.redirect_stdout(sys.stderr):
            importlib.import_module(package)
    except ImportError as why:
        print(why, file=sys.stderr)
        return 3
    start = os.times().user
    resource.setrlimit(resource.RLIMIT_CPU, (int(start) + int(sys.argv[3]), resource.RLIM_INFINITY))
    with contextlib.redirect_stdout(sys.stderr):
        graph = numpy.array(method(x), dtype=float)
    seconds = os.times().user - start
    numpy.fill_diagonal(graph, 0)
    both = graph + graph.T
    print(json.dumps({"graph": (graph / numpy.maximum(both, 1)).tolist(), "seconds": seconds}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
