"""Tables for pandas: edges, draws, rows of data, predictions. pandas is not needed for the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._problems import package

if TYPE_CHECKING:
    import pandas

    from ._dataset import Dataset
    from ._run import Prediction, Run


def edges_frame(run: Run) -> pandas.DataFrame:
    """All pairs, the likeliest edge first; weights over all draws, 0 where one has none."""
    labels = np.array(run._nodes().labels, object)
    parent, child = np.nonzero(~np.eye(run.nodes, dtype=bool))
    weights, probability = run.weights[:, parent, child], run.edge_probabilities[parent, child]
    mean = weights.mean(axis=0)
    lower, upper = np.quantile(weights, (0.05, 0.95), axis=0)
    first = np.lexsort((-np.abs(mean), -probability))
    columns: dict[str, Any] = {
        "parent": labels[parent],
        "child": labels[child],
        "probability": probability,
        "mean": mean,
        "sd": weights.std(axis=0),
        "q05": lower,
        "q95": upper,
    }
    if run._core.any_bends:
        columns["bends"] = [
            run._core.bends(int(j), int(i)) for j, i in zip(parent, child, strict=True)
        ]
    frame = package("pandas", "edges_").DataFrame(columns).iloc[first]
    return frame.infer_objects().reset_index(drop=True)


def draws_frame(run: Run) -> pandas.DataFrame:
    """A row for each draw: weights of all edges that some draw has, sigma and intercept."""
    labels = run._nodes().labels
    weights, columns = run.weights, {}
    for j, i in np.argwhere((weights != 0).any(axis=0)).tolist():
        columns[f"{labels[j]}->{labels[i]}"] = weights[:, j, i]
    for name, draws in (("sigma", run.sigma), ("intercept", run.intercept)):
        columns.update({f"{name} {label}": draws[:, i] for i, label in enumerate(labels)})
    pandas = package("pandas", "to_pandas()")
    return pandas.DataFrame(columns, index=pandas.RangeIndex(run.draws, name="draw"))


def rows_frame(data: Dataset) -> pandas.DataFrame:
    """A row for each of x, flat, and what do() did, as a CSV has it: "target" for observed
    variables, "do:NODE" for each latent node."""
    pandas = package("pandas", "to_pandas()")
    columns: dict[str, Any] = {}
    x, targets, values = data.x, data.targets, data.values
    if x is not None:
        flat = x.reshape(len(x), -1)
        names = data.feature_names or tuple(f"x{i}" for i in range(flat.shape[1]))
        columns.update(zip(names, flat.T, strict=True))
    if targets is not None and _is_observed(data):
        words = np.array(list(columns), object)
        columns["target"] = [";".join(words[row == 1]) for row in targets]
    elif targets is not None:
        for i, label in enumerate(data._nodes().labels):
            set_to = "set" if values is None else values[:, i]
            columns[f"do:{label}"] = np.where(targets[:, i] == 1, set_to, _nothing(values))
    return pandas.DataFrame(columns)


def _nothing(values: Any) -> Any:
    return np.array(None, object) if values is None else np.nan


def _is_observed(data: Dataset) -> bool:
    """Are the nodes the columns of x, so that what do() set stands there?"""
    x, targets, values = data.x, data.targets, data.values
    if x is None or targets is None or x.shape != targets.shape:
        return False
    return values is None or np.array_equal(x[targets == 1], values[targets == 1])


def prediction_frame(seen: Prediction) -> pandas.DataFrame:
    """A row for each node: what it was set to, or NaN, and what it is like."""
    pandas = package("pandas", "to_pandas()")
    labels = seen._labels()
    columns: dict[str, Any] = {"do": [seen.do.get(label, np.nan) for label in labels]}
    columns.update(zip(("mean", "sd", "q05", "q50", "q95"), seen.z, strict=True))
    return pandas.DataFrame(columns, index=pandas.Index(labels, name="node"))
