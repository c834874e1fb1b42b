"""The same kernel matrix in NumPy, as one would write it well: N unit rows of R features, the neural
tangent kernel of two hidden layers of their cosines. Prints one line of JSON: seconds, best of 5."""
import json
import sys
import time

import numpy as np

n, features = (int(a) for a in sys.argv[1:3])
rows = np.random.default_rng(1).standard_normal((n, features))


def kernel(x):
    x = x / np.linalg.norm(x, axis=1)[:, None]
    s = np.clip(x @ x.T, -1, 1)
    t = s.copy()
    for _ in range(2):
        rest = np.pi - np.arccos(s)
        k1 = (s * rest + np.sqrt(np.maximum(1 - s * s, 0))) / np.pi
        t = k1 + t * (rest / np.pi)
        s = np.minimum(k1, 1)
    return t / 3


best = 1e300
for _ in range(5):
    begun = time.perf_counter()
    kernel(rows)
    best = min(best, time.perf_counter() - begun)
print(json.dumps({"matrix": round(best, 6), "numpy": np.__version__}))
