"""How well x is predicted from nothing but what do() set: one figure to compare settings by.

R2 = 1 - sum (x - E[x | do, posterior])^2 / sum (x - mean)^2 over the rows given. It is in terms of
x, not of z, which every setting reads off in its own way: nothing is gained by reading z badly."""

from __future__ import annotations

import numpy as np

from ._dataset import Dataset
from ._nodes import Floats
from ._problems import wrong
from ._run import Run

_DRAWS = 200  # of each do(); their mean has 1/200 of the variance that no prediction could explain


def r2_under_do(run: Run, data: Dataset) -> float:
    """The mean over the columns of vectors, which may have units of their own; of pictures that of
    all pixels together."""
    x, targets = data.x, data.targets
    if x is None or targets is None or data.nodes != run.nodes:
        raise wrong(f"targets: a score needs x and which of the {run.nodes} nodes do() set")
    seen = np.asarray(x, np.float64).reshape(data.rows, -1)
    observed = run.summary()["decoder"] == "identity"
    values = data.values
    if values is None and not observed:
        raise wrong(
            "values: are missing, and a score needs what do() set; where only targets can be "
            "passed, as in a search over settings, pass them as {node: value} for each row"
        )
    error = (seen - _expected(run, targets, seen if values is None else values)) ** 2
    free = (targets == 0) if observed else np.ones(seen.shape, bool)
    count = np.maximum(free.sum(axis=0), 1)
    mean = (seen * free).sum(axis=0) / count
    left = (error * free).sum(axis=0)
    total = ((seen - mean) ** 2 * free).sum(axis=0)
    varies = total > 1e-12 * count * (1e-300 + mean**2)
    if not varies.any():
        raise wrong("X: no column varies, so there is nothing to predict; score more rows")
    if x.ndim > 2:
        return float(1 - left.sum() / total.sum())
    return float(np.mean(1 - left[varies] / total[varies]))


def _expected(run: Run, targets: Floats, values: Floats) -> Floats:
    """E[x | do] of each row (N, D); rows of the same do() are asked for once."""
    asked = np.hstack([targets, np.where(targets == 1, values, 0)])
    distinct, which = np.unique(asked, axis=0, return_inverse=True)
    means = []
    for row in distinct:
        set_to, value = row[: run.nodes].astype(np.uint8), np.ascontiguousarray(row[run.nodes :])
        rows = Dataset._of(run._core.sample(set_to, value, _DRAWS, 0)).read("x")
        means.append(rows.reshape(_DRAWS, -1).mean(axis=0))
    return np.stack(means)[which.reshape(-1)]
