"""What a fitted estimator shows of its run: the draws, and answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ._check import Checks
from ._curves import Curve
from ._dataset import Array, Dataset, Path
from ._nodes import Do, Floats, Node
from ._problems import not_fitted
from ._run import PREDICTED_ROWS, Diagnostics, Prediction, Run, Size
from ._summary import Summary

if TYPE_CHECKING:
    import arviz
    import networkx
    import pandas
    import xarray
    from matplotlib.axes import Axes


class Results:
    """Attributes that end in _ and questions, all passed on to `run_`."""

    run_: Run
    threads: int

    def _run(self) -> Run:
        if "run_" not in vars(self):
            raise not_fitted(type(self).__name__)
        return self.run_

    def __sklearn_is_fitted__(self) -> bool:
        return "run_" in vars(self)

    @property
    def edge_probabilities_(self) -> Floats:
        """Posterior probability of each edge (d, d), row = parent."""
        return self._run().edge_probabilities

    @property
    def weights_(self) -> Floats:
        """Edge weights (draws, d, d), row = parent; average slopes where mechanisms bend."""
        return self._run().weights

    @property
    def curves_(self) -> list[Curve]:
        """Effects of likely edges as curves, where mechanisms bend: see `Run.curves`."""
        return self._run().curves

    @property
    def sigma_(self) -> Floats:
        """Sd of each node's noise (draws, d)."""
        return self._run().sigma

    @property
    def intercept_(self) -> Floats:
        """A node without causes and noise (draws, d)."""
        return self._run().intercept

    @property
    def order_(self) -> Array:
        """Causal orders (draws, d), causes first."""
        return self._run().order

    @property
    def latents_(self) -> Floats:
        """Causal variables of the rows that were fitted (N, d), posterior mean."""
        return self._run().latents

    @property
    def latents_sd_(self) -> Floats:
        """Their posterior standard deviation (N, d)."""
        return self._run().latents_sd

    @property
    def diagnostics_(self) -> Diagnostics:
        """How far to trust it: R-hat, warnings, and how interventions held out are predicted."""
        return self._run().diagnostics

    @property
    def node_names_(self) -> tuple[str, ...] | None:
        """Names of the causal variables."""
        return self._run().node_names

    def summary(self) -> Summary:
        """What the fit did, why, and how well: a dict that prints as `lscm fit` does."""
        return self._run().summary()

    def check(self) -> Checks:
        """Named checks of what the fit assumes, and which pairs of nodes the design decides."""
        return self._run().check()

    def sample(
        self, do: Do | None = None, n: int = 100, *, seed: int = 0, size: Size | None = None
    ) -> Dataset:
        """n rows of x and z under do(), each of another posterior draw: see `Run.sample`."""
        return self._run().sample(do, n, seed=seed, size=size)

    def predict(
        self, do: Do | None = None, n: int = PREDICTED_ROWS, *, seed: int = 0
    ) -> Prediction:
        """What would be seen under do(): mean, sd and 90% band of x and z, over n rows of `sample`.

        It prints as a table; `.z.mean`, `.x.lower`, ... are arrays, `to_pandas()` is a DataFrame.
        """
        return self._run().predict_interventional(do, n, seed=seed)

    def predict_interventional(
        self, do: Do | None = None, n: int = PREDICTED_ROWS, *, seed: int = 0
    ) -> Prediction:
        """The longer name of `predict`."""
        return self.predict(do, n, seed=seed)

    def plot_graph(self, threshold: float = 0.5, *, ax: Axes | None = None) -> Axes:
        """Draws the likely edges by matplotlib: see `Run.plot_graph`."""
        return self._run().plot_graph(threshold, ax=ax)

    def plot_effect(self, parent: Node, child: Node, *, axes: Sequence[Axes] | None = None) -> Any:
        """Draws a weight and what do(parent) does to the child: see `Run.plot_effect`."""
        return self._run().plot_effect(parent, child, axes=axes)

    def plot_curve(self, parent: Node, child: Node, *, ax: Axes | None = None) -> Axes:
        """Draws what the parent adds to the child, by its value: see `Run.plot_curve`."""
        return self._run().plot_curve(parent, child, ax=ax)

    def plot_latents(self, nodes: Sequence[Node] | None = None) -> Any:
        """Draws causal variables against each other: see `Run.plot_latents`."""
        return self._run().plot_latents(nodes)

    @property
    def edges_(self) -> pandas.DataFrame:
        """All pairs of nodes with the probability and the weight of the edge: see `Run.edges`."""
        return self._run().edges

    def to_pandas(self) -> pandas.DataFrame:
        """The draws as a DataFrame: see `Run.to_pandas`."""
        return self._run().to_pandas()

    def to_networkx(self, threshold: float = 0.5) -> networkx.DiGraph[Any]:
        """The likely edges as a DiGraph: see `Run.to_networkx`."""
        return self._run().to_networkx(threshold)

    def to_xarray(self) -> xarray.Dataset:
        """All draws as one data set of xarray."""
        return self._run().to_xarray()

    def to_arviz(self) -> arviz.InferenceData:
        """The draws as ArviZ has them."""
        return self._run().to_arviz()

    def report(self, path: Path, *, truth: Dataset | None = None, force: bool = False) -> None:
        """Writes a page about the run for the browser, one file that needs nothing else."""
        self._run().report(path, truth=truth, force=force, threads=int(self.threads))

    def get_feature_names_out(self, input_features: object = None) -> Array:
        """Names of the columns of transform: the nodes, or z0, z1, ... where they have no names."""
        run = self._run()
        names = run.node_names or tuple(f"z{i}" for i in range(run.nodes))
        return np.array(names, object)

    def save(self, folder: Path, *, force: bool = False) -> None:
        """Writes the run folder that `lscm` and `load` read; see docs/formats.md."""
        self._run().save(folder, force=force)
