"""lscm.evaluate: an estimate against the truth."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._dataset import Dataset, Path
from ._estimator import LatentSCM
from ._numbers import numbers
from ._problems import wrong
from ._run import Run, is_run, weighed

_ARRAYS = ("w", "sigma", "edge_prob", "z", "z_sd")


def evaluate(
    estimate: LatentSCM | Run | Path | Mapping[str, npt.ArrayLike] | npt.ArrayLike,
    truth: Dataset | Path | npt.ArrayLike | None = None,
    *,
    threshold: float | None = None,
    weights: bool = False,
) -> dict[str, float]:
    """Scores an estimate against a truth that is known: docs/metrics.md defines each score.

    Parameters
    ----------
    estimate
        A fitted LatentSCM, a run or its folder; or what any other program found: an array w
        (draws, d, d) or (d, d) with row = parent, a dict with w and, where there are, sigma
        (draws, d), edge_prob (d, d), z and z_sd (N, d), or an .npz of those.
    truth : Dataset, array (d, d) or path, optional
        What to compare with: a data set that has w, edge weights with row = parent, a data file, or
        a CSV matrix of the graph. Of a run it may be left out where the data that were fitted came
        from a file that is still there.
    threshold : float, optional
        A draw has an edge where |w| exceeds it; 0.3 as in the paper. A run knows its own.
    weights : bool
        A truth in which every edge is 1 is taken for a graph alone, and scores that compare weights
        are NaN, with a warning; True says that these are its weights.

    Returns
    -------
    dict
        Every score by name; NaN where the estimate or the truth does not have what it needs.

    Examples
    --------
    >>> import lscm
    >>> data = lscm.simulate(nodes=3, features=5, sets=6, per_set=10, seed=1)
    >>> lscm.evaluate(data.w, data)["e_shd"]
    0.0
    >>> lscm.evaluate({"w": data.w, "z": data.z}, data)["mcc"]
    1.0
    """
    run = _run_of(estimate)
    if run is not None:
        if threshold is not None:
            raise wrong("threshold: a run says itself what an edge is; it is for other estimates")
        known = _fitted_data(run) if truth is None else _truth(truth)
        return run._core.evaluate(weighed(known, weights, stacklevel=3))
    if truth is None:
        raise wrong("truth: is missing; give the data set or the file that has it")
    over = 0.3 if threshold is None else float(threshold)
    core = weighed(_truth(truth), weights, stacklevel=3)
    if isinstance(estimate, (str, os.PathLike)):
        return _core.evaluate_file(os.fspath(estimate), core, over)
    return _core.evaluate_arrays(**_arrays(estimate), threshold=over, truth=core)


def _run_of(estimate: object) -> Run | None:
    if isinstance(estimate, LatentSCM):
        return estimate._run()
    if isinstance(estimate, Run):
        return estimate
    if isinstance(estimate, (str, os.PathLike)) and is_run(estimate):
        return Run.open(estimate)
    return None


def _truth(truth: Dataset | Path | npt.ArrayLike) -> Dataset:
    if isinstance(truth, Dataset):
        return truth
    if isinstance(truth, (str, os.PathLike)):
        return Dataset._read(truth, {}, truth_only=True)
    w = numbers(truth, "truth")
    if w.ndim != 2 or w.shape[0] != w.shape[1]:
        raise wrong(f"truth: has the shape {w.shape}; a graph is d x d, row = parent")
    return Dataset._of(_core.wrap(None, w=w))


def _fitted_data(run: Run) -> Dataset:
    """The data of a run, opened as they were then."""
    config = run.config
    path = config.get("data")
    if path is None or not os.path.exists(path):
        raise wrong(
            f"truth: is missing; the data of this run ({path or 'unknown'}) are not in a file, or "
            "not there any more, so say what to compare with"
        )
    opened = ("ignore", "truth", "names", "target_column", "value_column", "control", "layer")
    return Dataset._read(path, {name: config.get(name) for name in opened})


def _arrays(estimate: Any) -> dict[str, Any]:
    """w (draws, d, d) and what else there is, each in float64."""
    given = dict(estimate) if isinstance(estimate, Mapping) else {"w": estimate}
    if "w" not in given or not set(given) <= set(_ARRAYS):
        raise wrong(f"estimate: needs w, and may have sigma, edge_prob, z and z_sd; it has {list(given)}")
    arrays = {name: numbers(array, name) for name, array in given.items() if array is not None}
    if arrays["w"].ndim == 2:
        arrays["w"] = arrays["w"][np.newaxis]
        if "sigma" in arrays and arrays["sigma"].ndim == 1:
            arrays["sigma"] = arrays["sigma"][np.newaxis]
    return arrays
