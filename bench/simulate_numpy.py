"""The same data set in NumPy, as one would write it well: vectorised over rows, one node after the
other. Prints one line of JSON: seconds, best of 20, writing excluded."""
import json
import time

import numpy as np

NODES, FEATURES, OBSERVATIONAL, SETS, PER_SET, DEGREE = 20, 100, 500, 100, 200, 2


def simulate(seed):
    r = np.random.default_rng(seed)
    rows = OBSERVATIONAL + SETS * PER_SET
    order = r.permutation(NODES)
    upper = np.triu(r.random((NODES, NODES)) < 2 * DEGREE / (NODES - 1), 1)
    weight = r.uniform(0.5, 2, (NODES, NODES)) * r.choice([-1.0, 1.0], (NODES, NODES))
    w = np.zeros((NODES, NODES))
    w[np.ix_(order, order)] = upper * weight
    targets = np.zeros((rows, NODES), bool)
    for s in range(SETS):
        first = OBSERVATIONAL + s * PER_SET
        chosen = r.choice(NODES, r.integers(1, NODES), replace=False)
        targets[first : first + PER_SET, chosen] = True
    values = np.where(targets, r.uniform(-10, 10, (rows, NODES)), 0)
    noise = 0.1 * r.standard_normal((rows, NODES))
    z = np.zeros((rows, NODES))
    for i in order:
        parents = np.flatnonzero(w[:, i])
        z[:, i] = np.where(targets[:, i], values[:, i], z[:, parents] @ w[parents, i] + noise[:, i])
    x = z @ (10 * r.random((NODES, FEATURES)))
    return x, z, targets, values


best = 1e300
for run in range(20):
    begun = time.perf_counter()
    simulate(run)
    best = min(best, time.perf_counter() - begun)
print(json.dumps({"whole": round(best, 6), "numpy": np.__version__}))
