"""A run for other packages: NetworkX, xarray, ArviZ; none of them is needed for the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._problems import package

if TYPE_CHECKING:
    import arviz
    import networkx
    import xarray

    from ._run import Run


def to_networkx(run: Run, threshold: float) -> networkx.DiGraph[Any]:
    graph: networkx.DiGraph[Any] = package("networkx", "to_networkx()").DiGraph()
    labels = run._nodes().labels
    position = np.argsort(run.order, axis=1).mean(axis=0)
    sigma, intercept = run.sigma.mean(axis=0), run.intercept.mean(axis=0)
    for i, label in enumerate(labels):
        graph.add_node(
            label,
            position=float(position[i]),
            sigma=float(sigma[i]),
            intercept=float(intercept[i]),
        )
    probability = run.edge_probabilities
    mean, sd = run.weights.mean(axis=0), run.weights.std(axis=0)
    undirected = run.undirected
    shown = probability + np.where(undirected, probability.T, 0)
    for j, i in np.argwhere(shown > threshold).tolist():
        graph.add_edge(
            labels[j],
            labels[i],
            probability=float(probability[j, i]),
            mean=float(mean[j, i]),
            sd=float(sd[j, i]),
            sign=1 if mean[j, i] >= 0 else -1,
            directed=not undirected[j, i],
        )
    return graph


def _groups(run: Run, what: str) -> dict[str, xarray.Dataset]:
    """The groups of posterior.nc, without the networks."""
    xarray = package("xarray", what)
    labels = list(run._nodes().labels)
    draws = {"chain": [0], "draw": np.arange(run.draws)}
    ends = {"parent": labels, "child": labels}
    places = {"position": np.arange(run.nodes)}

    def draw(array: Any, *dims: str) -> tuple[tuple[str, ...], Any]:
        return ("chain", "draw", *dims), array[np.newaxis]

    return {
        "posterior": xarray.Dataset(
            {
                "w": draw(run.weights, "parent", "child"),
                "sigma": draw(run.sigma, "node"),
                "intercept": draw(run.intercept, "node"),
                "order": draw(run.order, "position"),
            },
            {**draws, **ends, "node": labels, **places},
        ),
        "sample_stats": xarray.Dataset({"lp": draw(run.log_p), "log_q": draw(run.log_q)}, draws),
        "constant_data": xarray.Dataset(
            {"edge_prob": (("parent", "child"), run.edge_probabilities)},
            ends,
            {"threshold": run.threshold, "x_shape": list(run.x_shape)},
        ),
        "latents": xarray.Dataset(
            {"z": (("sample", "node"), run.latents), "z_sd": (("sample", "node"), run.latents_sd)},
            {"node": labels},
        ),
    }


def to_xarray(run: Run) -> xarray.Dataset:
    groups = _groups(run, "to_xarray()")
    merged: xarray.Dataset = groups.pop("posterior")
    for group in groups.values():
        merged = merged.merge(group)
    return merged.assign_attrs(groups["constant_data"].attrs)


def to_arviz(run: Run) -> arviz.InferenceData:
    theirs = package("arviz", "to_arviz()")
    groups = _groups(run, "to_arviz()")
    data: arviz.InferenceData
    if hasattr(theirs, "InferenceData"):
        data = theirs.InferenceData(**groups)
    else:  # ArviZ 1.0 and later
        data = package("xarray", "to_arviz()").DataTree.from_dict(groups)
    return data
